#!/bin/sh
# Writes the macro for your warehouse, your columns and your slices:
#   sh write_macro.sh snowflake --on id --id-type text --correct correct --by domain > macros/streamcmp_counts.sql
set -eu
dialect=$1
shift
statement=$(streamcmp sql --dialect "$dialect" --left left_relation --right right_relation "$@")
echo '{% macro streamcmp_counts(left, right) %}'
printf '%s\n' "$statement" | sed -e '/^-- /d' -e 's/left_relation/{{ left }}/' -e 's/right_relation/{{ right }}/'
echo '{% endmacro %}'
