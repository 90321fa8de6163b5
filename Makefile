# `make demo` and `make test` work from a fresh clone: each makes .venv and installs what it needs.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# Pytest runs in as many processes as there are cores, up to 8.
WORKERS ?= logical
PYTEST := $(BIN)/python -m pytest
PARALLEL := -n $(WORKERS) --maxprocesses 8
ARGS ?=

.DEFAULT_GOAL := help
.PHONY: help demo test check format-check lint types format goldens properties fuzz bench wheel clean

help:  ## show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-13s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

# Two steps, so that the demo needs what the package needs and nothing more.
$(VENV)/.runtime: pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "streamcmp needs Python 3.11 or newer; '$(PYTHON)' is $$($(PYTHON) --version 2>&1). Try: make PYTHON=python3.11 ..." >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet -c constraints.txt -e .
	@touch $@

$(VENV)/.dev: $(VENV)/.runtime
	$(BIN)/python -m pip install --quiet -c constraints.txt -e '.[dev]'
	@touch $@

demo: $(VENV)/.runtime  ## write two logs of 2 million rows, compare them, show truth beside estimate
	$(BIN)/python -m scripts.demo $(ARGS)

test: $(VENV)/.dev  ## run the tests (ARGS='-k name' to choose)
	$(PYTEST) $(PARALLEL) -m "not slow" $(ARGS)

check: format-check lint types test  ## what CI runs first: format, lint, types, tests

format-check: $(VENV)/.dev  ## is everything formatted?
	$(BIN)/ruff format --check .

lint: $(VENV)/.dev  ## ruff
	$(BIN)/ruff check .

types: $(VENV)/.dev  ## mypy, strict
	$(BIN)/mypy

format: $(VENV)/.dev  ## format, and fix what ruff can fix
	$(BIN)/ruff check --fix-only .
	$(BIN)/ruff format .

goldens: $(VENV)/.dev  ## write the stored outputs anew; look at the diff before committing
	STREAMCMP_UPDATE_GOLDENS=1 $(PYTEST) -k golden $(ARGS)

properties: $(VENV)/.dev  ## the slow tests, and the property tests with many more examples
	HYPOTHESIS_PROFILE=ci $(PYTEST) $(PARALLEL) --timeout 3600 -m "slow or hypothesis" $(ARGS)

fuzz: $(VENV)/.dev  ## 5,000 damaged logs of every format (ARGS='--inputs 100000')
	$(BIN)/python -m scripts.fuzz $(ARGS)

$(VENV)/.bench: $(VENV)/.runtime
	$(BIN)/python -m pip install --quiet -c constraints.txt -e '.[bench]'
	@touch $@

bench: $(VENV)/.bench  ## measure speed and memory beside other engines (ARGS=--quick, ARGS=--list)
	$(BIN)/python -m scripts.bench $(ARGS)

wheel: $(VENV)/.dev  ## build the sdist and the wheel into dist/
	rm -rf dist
	$(BIN)/python -m build --no-isolation

clean:  ## remove what the other targets made
	rm -rf $(VENV) build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis
	find . -name __pycache__ -prune -exec rm -rf {} +
