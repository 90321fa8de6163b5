"""Gates: conditions on a report that a pipeline acts on. docs/gates.md has the language."""
