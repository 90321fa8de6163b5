{% macro streamcmp_counts(left, right) %}
WITH streamcmp_rows_a AS (
  SELECT
    CASE
      WHEN "id" IS NULL OR REGEXP_MATCHES(LOWER(CAST("id" AS TEXT)), '^[+-]?nan$')
      THEN NULL
      WHEN REGEXP_MATCHES(CAST("id" AS TEXT), '^[+-]?[0-9]+$')
      THEN CAST(CAST("id" AS TEXT) AS BIGINT)
      WHEN CASE
        WHEN REGEXP_MATCHES(LOWER(CAST("id" AS TEXT)), '^[+-]?[0-9]+[.]0*(e[+]?0+)?$')
        THEN CASE
          WHEN ABS(CAST(CAST("id" AS TEXT) AS DOUBLE)) < CAST(9007199254740992.0 AS DOUBLE)
          THEN 1
          ELSE 0
        END
        ELSE 0
      END = 1
      THEN CAST(CAST(CAST("id" AS TEXT) AS DOUBLE) AS BIGINT)
      ELSE CAST('streamcmp: --id-type int, but this id is no whole number; id is ' || CAST("id" AS TEXT) AS INT)
    END AS "id0",
    CASE
      WHEN "correct" IS NULL
      THEN 2
      WHEN TRIM(LOWER(CAST("correct" AS TEXT))) IN ('true', 'yes', 'correct', 'c', '1', '1.0')
      OR REGEXP_MATCHES(TRIM(LOWER(CAST("correct" AS TEXT))), '^[+]?0*1([.]0*)?(e[+-]?0+)?$')
      THEN 1
      WHEN TRIM(LOWER(CAST("correct" AS TEXT))) IN ('false', 'no', 'incorrect', 'i', '0', '0.0')
      OR REGEXP_MATCHES(TRIM(LOWER(CAST("correct" AS TEXT))), '^[+-]?(0+([.]0*)?|[.]0+)(e[+-]?[0-9]+)?$')
      THEN 0
      WHEN REGEXP_MATCHES(TRIM(LOWER(CAST("correct" AS TEXT))), '^[+-]?nan$')
      THEN 2
      ELSE CAST('streamcmp: neither correct nor wrong (true, false, 1, 0, ...); correct is ' || CAST("correct" AS TEXT) AS INT)
    END AS "outcome",
    0 AS "filtered",
    CASE
      WHEN LOWER(CAST(TYPEOF("domain") AS TEXT)) IN ('double', 'float')
      AND LOWER(CAST("domain" AS TEXT)) = 'nan'
      THEN NULL
      ELSE "domain"
    END AS "slice0_0"
  FROM {{ left }}
), streamcmp_rows_b AS (
  SELECT
    CASE
      WHEN "id" IS NULL OR REGEXP_MATCHES(LOWER(CAST("id" AS TEXT)), '^[+-]?nan$')
      THEN NULL
      WHEN REGEXP_MATCHES(CAST("id" AS TEXT), '^[+-]?[0-9]+$')
      THEN CAST(CAST("id" AS TEXT) AS BIGINT)
      WHEN CASE
        WHEN REGEXP_MATCHES(LOWER(CAST("id" AS TEXT)), '^[+-]?[0-9]+[.]0*(e[+]?0+)?$')
        THEN CASE
          WHEN ABS(CAST(CAST("id" AS TEXT) AS DOUBLE)) < CAST(9007199254740992.0 AS DOUBLE)
          THEN 1
          ELSE 0
        END
        ELSE 0
      END = 1
      THEN CAST(CAST(CAST("id" AS TEXT) AS DOUBLE) AS BIGINT)
      ELSE CAST('streamcmp: --id-type int, but this id is no whole number; id is ' || CAST("id" AS TEXT) AS INT)
    END AS "id0",
    CASE
      WHEN "correct" IS NULL
      THEN 2
      WHEN TRIM(LOWER(CAST("correct" AS TEXT))) IN ('true', 'yes', 'correct', 'c', '1', '1.0')
      OR REGEXP_MATCHES(TRIM(LOWER(CAST("correct" AS TEXT))), '^[+]?0*1([.]0*)?(e[+-]?0+)?$')
      THEN 1
      WHEN TRIM(LOWER(CAST("correct" AS TEXT))) IN ('false', 'no', 'incorrect', 'i', '0', '0.0')
      OR REGEXP_MATCHES(TRIM(LOWER(CAST("correct" AS TEXT))), '^[+-]?(0+([.]0*)?|[.]0+)(e[+-]?[0-9]+)?$')
      THEN 0
      WHEN REGEXP_MATCHES(TRIM(LOWER(CAST("correct" AS TEXT))), '^[+-]?nan$')
      THEN 2
      ELSE CAST('streamcmp: neither correct nor wrong (true, false, 1, 0, ...); correct is ' || CAST("correct" AS TEXT) AS INT)
    END AS "outcome",
    0 AS "filtered",
    CASE
      WHEN LOWER(CAST(TYPEOF("domain") AS TEXT)) IN ('double', 'float')
      AND LOWER(CAST("domain" AS TEXT)) = 'nan'
      THEN NULL
      ELSE "domain"
    END AS "slice0_0"
  FROM {{ right }}
), streamcmp_ids AS (
  SELECT
    "id0",
    SUM("one_a_kept") AS "a_kept",
    SUM("one_a_filtered") AS "a_filtered",
    SUM("one_b_kept") AS "b_kept",
    SUM("one_b_filtered") AS "b_filtered"
  FROM (
    SELECT
      "id0",
      1 - "filtered" AS "one_a_kept",
      "filtered" AS "one_a_filtered",
      0 AS "one_b_kept",
      0 AS "one_b_filtered"
    FROM streamcmp_rows_a
    WHERE
      NOT "id0" IS NULL
    UNION ALL
    SELECT
      "id0",
      0 AS "one_a_kept",
      0 AS "one_a_filtered",
      1 - "filtered" AS "one_b_kept",
      "filtered" AS "one_b_filtered"
    FROM streamcmp_rows_b
    WHERE
      NOT "id0" IS NULL
  ) AS "streamcmp_both"
  GROUP BY
    "id0"
), streamcmp_fates AS (
  SELECT
    "id0",
    "a_kept",
    "b_kept",
    CASE WHEN "a_kept" = 1 AND "b_kept" = 1 THEN 1 ELSE 0 END AS "single",
    CASE
      WHEN "a_kept" = 1 AND "b_kept" = 1
      THEN 'pair'
      WHEN (
        "a_kept" = 0 AND "a_filtered" > 0
      )
      OR (
        "b_kept" = 0 AND "b_filtered" > 0
      )
      THEN 'filtered'
      WHEN "a_kept" > 1 OR "b_kept" > 1
      THEN 'duplicate'
      ELSE 'unmatched'
    END AS "fate"
  FROM streamcmp_ids
), streamcmp_unpaired AS (
  SELECT
    CAST(COALESCE(SUM(CASE WHEN "fate" = 'filtered' THEN "a_kept" ELSE 0 END), 0) AS BIGINT) AS "a_filtered",
    CAST(COALESCE(SUM(CASE WHEN "fate" = 'duplicate' THEN "a_kept" ELSE 0 END), 0) AS BIGINT) AS "a_duplicate",
    CAST(COALESCE(SUM(CASE WHEN "fate" = 'unmatched' THEN "a_kept" ELSE 0 END), 0) AS BIGINT) AS "a_unmatched",
    CAST(COALESCE(SUM(CASE WHEN "fate" = 'filtered' THEN "b_kept" ELSE 0 END), 0) AS BIGINT) AS "b_filtered",
    CAST(COALESCE(SUM(CASE WHEN "fate" = 'duplicate' THEN "b_kept" ELSE 0 END), 0) AS BIGINT) AS "b_duplicate",
    CAST(COALESCE(SUM(CASE WHEN "fate" = 'unmatched' THEN "b_kept" ELSE 0 END), 0) AS BIGINT) AS "b_unmatched"
  FROM streamcmp_fates
), streamcmp_pairs AS (
  SELECT
    "a"."id0",
    "a"."outcome" AS "a_outcome",
    "b"."outcome" AS "b_outcome",
    "a"."slice0_0" AS "slice0_0",
    CASE
      WHEN "a"."slice0_0" = "b"."slice0_0"
      THEN 0
      WHEN "a"."slice0_0" IS NULL AND "b"."slice0_0" IS NULL
      THEN 0
      ELSE 1
    END AS "differs0"
  FROM streamcmp_fates AS "fates"
  INNER JOIN streamcmp_rows_a AS "a"
    ON "a"."id0" = "fates"."id0" AND "a"."filtered" <> 1
  INNER JOIN streamcmp_rows_b AS "b"
    ON "b"."id0" = "fates"."id0" AND "b"."filtered" <> 1
  WHERE
    "fates"."single" <> 0
), streamcmp_counted AS (
  SELECT
    "slice0_0",
    "differs0",
    CASE WHEN 0 = 0 AND "a_outcome" = 1 AND "b_outcome" = 1 THEN 1 ELSE 0 END AS "one_both_correct",
    CASE WHEN 0 = 0 AND "a_outcome" = 1 AND "b_outcome" = 0 THEN 1 ELSE 0 END AS "one_n_ab",
    CASE WHEN 0 = 0 AND "a_outcome" = 0 AND "b_outcome" = 1 THEN 1 ELSE 0 END AS "one_n_ba",
    CASE WHEN 0 = 0 AND "a_outcome" = 0 AND "b_outcome" = 0 THEN 1 ELSE 0 END AS "one_both_wrong",
    CASE WHEN 0 = 0 AND (
      "a_outcome" = 2 OR "b_outcome" = 2
    ) THEN 1 ELSE 0 END AS "one_unscored",
    CASE WHEN 0 = 0 AND NOT (
      "a_outcome" = 2 OR "b_outcome" = 2
    ) THEN 1 ELSE 0 END AS "one_paired",
    CASE WHEN NOT (
      0 = 0
    ) THEN 1 ELSE 0 END AS "one_dropped",
    CASE WHEN "a_outcome" = 2 THEN 1 ELSE 0 END AS "one_a_missing",
    CASE WHEN "b_outcome" = 2 THEN 1 ELSE 0 END AS "one_b_missing",
    0 AS "one_guard_mismatch",
    "differs0" AS "one_slice_differs"
  FROM streamcmp_pairs
), streamcmp_matched AS (
  SELECT
    CAST(COALESCE(SUM("one_dropped"), 0) AS BIGINT) AS "guard_mismatch",
    CAST(COALESCE(SUM("one_unscored"), 0) AS BIGINT) AS "unscored",
    CAST(COALESCE(SUM("one_paired"), 0) AS BIGINT) AS "paired",
    CAST(COALESCE(SUM("one_a_missing"), 0) AS BIGINT) AS "a_missing",
    CAST(COALESCE(SUM("one_b_missing"), 0) AS BIGINT) AS "b_missing"
  FROM streamcmp_counted
), streamcmp_rows_a_total AS (
  SELECT
    CAST(COALESCE(SUM(1), 0) AS BIGINT) AS "rows",
    CAST(COALESCE(SUM("filtered"), 0) AS BIGINT) AS "excluded",
    CAST(COALESCE(SUM(CASE WHEN "filtered" = 0 AND NOT (
      NOT "id0" IS NULL
    ) THEN 1 ELSE 0 END), 0) AS BIGINT) AS "null_id"
  FROM streamcmp_rows_a
), streamcmp_rows_b_total AS (
  SELECT
    CAST(COALESCE(SUM(1), 0) AS BIGINT) AS "rows",
    CAST(COALESCE(SUM("filtered"), 0) AS BIGINT) AS "excluded",
    CAST(COALESCE(SUM(CASE WHEN "filtered" = 0 AND NOT (
      NOT "id0" IS NULL
    ) THEN 1 ELSE 0 END), 0) AS BIGINT) AS "null_id"
  FROM streamcmp_rows_b
)
SELECT
  'count' AS "record",
  CAST(NULL AS TEXT) AS "side",
  CAST('overall' AS TEXT) AS "family",
  "slice0_0" AS "slice.domain",
  CAST(0 AS BIGINT) AS "both_correct",
  CAST(0 AS BIGINT) AS "n_ab",
  CAST(0 AS BIGINT) AS "n_ba",
  CAST(0 AS BIGINT) AS "both_wrong",
  CAST(0 AS BIGINT) AS "guard_mismatch",
  CAST(0 AS BIGINT) AS "unscored",
  CAST(0 AS BIGINT) AS "slice_differs",
  CAST(0 AS BIGINT) AS "rows",
  CAST(0 AS BIGINT) AS "filtered",
  CAST(0 AS BIGINT) AS "null_id",
  CAST(0 AS BIGINT) AS "duplicate",
  CAST(0 AS BIGINT) AS "unmatched",
  CAST(0 AS BIGINT) AS "paired",
  CAST(0 AS BIGINT) AS "missing",
  CAST(NULL AS TEXT) AS "rule"
FROM streamcmp_counted
WHERE
  1 = 0
UNION ALL
SELECT
  'count' AS "record",
  CAST(NULL AS TEXT) AS "side",
  CAST('overall' AS TEXT) AS "family",
  NULL AS "slice.domain",
  CAST(COALESCE(SUM("one_both_correct"), 0) AS BIGINT) AS "both_correct",
  CAST(COALESCE(SUM("one_n_ab"), 0) AS BIGINT) AS "n_ab",
  CAST(COALESCE(SUM("one_n_ba"), 0) AS BIGINT) AS "n_ba",
  CAST(COALESCE(SUM("one_both_wrong"), 0) AS BIGINT) AS "both_wrong",
  CAST(COALESCE(SUM("one_guard_mismatch"), 0) AS BIGINT) AS "guard_mismatch",
  CAST(COALESCE(SUM("one_unscored"), 0) AS BIGINT) AS "unscored",
  CAST(COALESCE(SUM("one_slice_differs"), 0) AS BIGINT) AS "slice_differs",
  NULL AS "rows",
  NULL AS "filtered",
  NULL AS "null_id",
  NULL AS "duplicate",
  NULL AS "unmatched",
  NULL AS "paired",
  NULL AS "missing",
  CAST(NULL AS TEXT) AS "rule"
FROM streamcmp_counted
UNION ALL
SELECT
  'count' AS "record",
  CAST(NULL AS TEXT) AS "side",
  CAST('domain' AS TEXT) AS "family",
  "slice0_0" AS "slice.domain",
  CAST(COALESCE(SUM("one_both_correct"), 0) AS BIGINT) AS "both_correct",
  CAST(COALESCE(SUM("one_n_ab"), 0) AS BIGINT) AS "n_ab",
  CAST(COALESCE(SUM("one_n_ba"), 0) AS BIGINT) AS "n_ba",
  CAST(COALESCE(SUM("one_both_wrong"), 0) AS BIGINT) AS "both_wrong",
  CAST(COALESCE(SUM("one_guard_mismatch"), 0) AS BIGINT) AS "guard_mismatch",
  CAST(COALESCE(SUM("one_unscored"), 0) AS BIGINT) AS "unscored",
  CAST(COALESCE(SUM("differs0"), 0) AS BIGINT) AS "slice_differs",
  NULL AS "rows",
  NULL AS "filtered",
  NULL AS "null_id",
  NULL AS "duplicate",
  NULL AS "unmatched",
  NULL AS "paired",
  NULL AS "missing",
  CAST(NULL AS TEXT) AS "rule"
FROM streamcmp_counted
GROUP BY
  "slice0_0"
UNION ALL
SELECT
  'ledger' AS "record",
  CAST('a' AS TEXT) AS "side",
  CAST(NULL AS TEXT) AS "family",
  NULL AS "slice.domain",
  NULL AS "both_correct",
  NULL AS "n_ab",
  NULL AS "n_ba",
  NULL AS "both_wrong",
  "matched"."guard_mismatch" AS "guard_mismatch",
  "matched"."unscored" AS "unscored",
  NULL AS "slice_differs",
  "totals"."rows" AS "rows",
  "totals"."excluded" + "unpaired"."a_filtered" AS "filtered",
  "totals"."null_id" AS "null_id",
  "unpaired"."a_duplicate" AS "duplicate",
  "unpaired"."a_unmatched" AS "unmatched",
  "matched"."paired" AS "paired",
  "matched"."a_missing" AS "missing",
  CAST('{"on": ["id"], "id_type": "int", "outcome": {"a": {"kind": "correct", "correct": "correct"}, "b": {"kind": "correct", "correct": "correct"}}, "where": null, "by": [["domain"]], "guards": [], "missing": "exclude", "mismatch": "exclude", "measures": ["cells"]}' AS TEXT) AS "rule"
FROM streamcmp_rows_a_total AS "totals"
CROSS JOIN streamcmp_unpaired AS "unpaired"
CROSS JOIN streamcmp_matched AS "matched"
UNION ALL
SELECT
  'ledger' AS "record",
  CAST('b' AS TEXT) AS "side",
  CAST(NULL AS TEXT) AS "family",
  NULL AS "slice.domain",
  NULL AS "both_correct",
  NULL AS "n_ab",
  NULL AS "n_ba",
  NULL AS "both_wrong",
  "matched"."guard_mismatch" AS "guard_mismatch",
  "matched"."unscored" AS "unscored",
  NULL AS "slice_differs",
  "totals"."rows" AS "rows",
  "totals"."excluded" + "unpaired"."b_filtered" AS "filtered",
  "totals"."null_id" AS "null_id",
  "unpaired"."b_duplicate" AS "duplicate",
  "unpaired"."b_unmatched" AS "unmatched",
  "matched"."paired" AS "paired",
  "matched"."b_missing" AS "missing",
  CAST('{"on": ["id"], "id_type": "int", "outcome": {"a": {"kind": "correct", "correct": "correct"}, "b": {"kind": "correct", "correct": "correct"}}, "where": null, "by": [["domain"]], "guards": [], "missing": "exclude", "mismatch": "exclude", "measures": ["cells"]}' AS TEXT) AS "rule"
FROM streamcmp_rows_b_total AS "totals"
CROSS JOIN streamcmp_unpaired AS "unpaired"
CROSS JOIN streamcmp_matched AS "matched"
{% endmacro %}
