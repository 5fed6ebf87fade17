-- Claim: statements whose success or result depends on the order of their rows
-- do with ordered statements on what they do with them off; and no order makes
-- a SELECT lock more rows.
LOAD 'ordered_update';
SET ordered_update.order_statements = on;
SET client_min_messages = warning;
CREATE SCHEMA "Un""changed";
SET search_path = "Un""changed";

-- The first of overlapping ranges excludes the second: 1 stays
CREATE TABLE "Ranges" (id integer PRIMARY KEY, during int4range, CONSTRAINT apart EXCLUDE USING gist (during WITH &&));
INSERT INTO "Ranges" VALUES (1, '[5,10)'), (2, '[1,6)') ON CONFLICT ON CONSTRAINT apart DO NOTHING;
SELECT * FROM "Ranges" ORDER BY id;

-- The index finds equal what the column does not: b stays
CREATE COLLATION ignore_case (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
CREATE TABLE "Names" (id integer PRIMARY KEY, name text COLLATE "C");
CREATE UNIQUE INDEX ON "Names" (name COLLATE ignore_case);
INSERT INTO "Names" VALUES (1, 'b'), (2, 'B') ON CONFLICT (name) DO NOTHING;
SELECT * FROM "Names" ORDER BY id;

-- The expression of a partial index is not computed outside of it: all stay
CREATE TABLE "Parts" (id integer, parts integer);
CREATE UNIQUE INDEX ON "Parts" ((10 / parts)) WHERE parts <> 0;
INSERT INTO "Parts" VALUES (1, 0), (2, 5), (3, 1) ON CONFLICT ((10 / parts)) WHERE parts <> 0 DO NOTHING;
SELECT * FROM "Parts" ORDER BY id;

-- A function that returns several rows stands in for a row
CREATE TABLE "Articles" (id integer PRIMARY KEY, code integer UNIQUE, revision integer DEFAULT 0);
INSERT INTO "Articles" VALUES (generate_series(5, 3, -1)) ON CONFLICT (id) DO NOTHING RETURNING id;

-- There is no such index (error)
ALTER TABLE "Articles" ADD CONSTRAINT positive CHECK (id > 0);
INSERT INTO "Articles" VALUES (2), (1) ON CONFLICT ON CONSTRAINT positive DO NOTHING;

-- The key is computed only for rows that are inserted
CREATE TABLE "Source" (id integer, n integer);
INSERT INTO "Source" VALUES (3, 0), (7, 0), (8, 5), (9, 20);
MERGE INTO "Articles" a USING "Source" s ON a.id = s.id
  WHEN MATCHED THEN UPDATE SET revision = 1
  WHEN NOT MATCHED AND s.n = 0 THEN DO NOTHING
  WHEN NOT MATCHED AND s.n < 20 THEN INSERT (id) VALUES (100 / s.n);
SELECT * FROM "Articles" ORDER BY id;

-- A row is deleted before the row is inserted that has its unique code
UPDATE "Articles" SET code = 1 WHERE id = 5;
SET enable_hashjoin = off;
SET enable_mergejoin = off;
MERGE INTO "Articles" a USING (VALUES (5, 0), (2, 1)) s (id, code) ON a.id = s.id
  WHEN MATCHED THEN DELETE
  WHEN NOT MATCHED THEN INSERT (id, code) VALUES (s.id, s.code);
SELECT * FROM "Articles" ORDER BY id;

-- The same where the key itself is that of the deleted row
CREATE TABLE "Codes" (code integer PRIMARY KEY);
INSERT INTO "Codes" VALUES (1), (2), (3);
MERGE INTO "Codes" c USING (VALUES (1, 9), (2, 8), (10, 1), (11, 2)) s (id, code) ON c.code = s.id
  WHEN MATCHED THEN DELETE
  WHEN NOT MATCHED THEN INSERT VALUES (s.code);
SELECT * FROM "Codes" ORDER BY code;

-- Actions that read the key, rows inserted with and without a key to sort by
CREATE SEQUENCE "Numbers" START 50;
MERGE INTO "Articles" a USING (VALUES (2), (3), (4), (30)) s (id) ON a.id = s.id
  WHEN MATCHED AND a.id > 2 THEN UPDATE SET revision = a.id * 10
  WHEN NOT MATCHED THEN INSERT (id) VALUES (s.id);
MERGE INTO "Articles" a USING (VALUES (2), (3), (40)) s (id) ON a.id = s.id
  WHEN MATCHED AND a.id > 2 THEN UPDATE SET revision = a.id * 20
  WHEN NOT MATCHED THEN INSERT (id) VALUES (nextval('"Numbers"'));
MERGE INTO "Articles" a USING (VALUES (2), (4)) s (id) ON a.id = s.id
  WHEN MATCHED AND EXISTS (SELECT FROM "Source" n WHERE n.id > a.id) THEN UPDATE SET revision = a.id * 30;
SELECT * FROM "Articles" ORDER BY id;

-- Rows of the target that no row of the source matches, from version 17 on
SELECT current_setting('server_version_num')::integer >= 170000 AS has_by_source \gset
\if :has_by_source
MERGE INTO "Articles" a USING (VALUES (30), (60), (61)) s (id) ON a.id = s.id
  WHEN MATCHED AND a.id > 2 THEN UPDATE SET revision = a.id
  WHEN NOT MATCHED BY SOURCE AND a.id < 4 THEN DELETE
  WHEN NOT MATCHED THEN INSERT (id) VALUES (s.id);
\else
DELETE FROM "Articles" WHERE id < 4;
UPDATE "Articles" SET revision = id WHERE id = 30;
INSERT INTO "Articles" VALUES (60), (61);
\endif
SELECT * FROM "Articles" ORDER BY id;

-- A function that sees the changes made so far is called between them: one of
-- each group stays.  One that only makes the new value is called so anyway.
CREATE TABLE "Twins" (id integer PRIMARY KEY, pair integer, n bigint);
INSERT INTO "Twins" SELECT i, i / 2 FROM generate_series(2, 7) AS i;
CREATE FUNCTION size(integer) RETURNS bigint LANGUAGE plpgsql AS $$
BEGIN RETURN (SELECT count(*) FROM "Twins" WHERE pair = $1 AND n IS NULL); END $$;
EXPLAIN (COSTS OFF) DELETE FROM "Twins" WHERE size(pair) > 1;
DELETE FROM "Twins" WHERE size(pair) > 1;
SELECT * FROM "Twins" ORDER BY id;
INSERT INTO "Twins" SELECT i, i / 2 FROM generate_series(2, 6, 2) AS i;
EXPLAIN (COSTS OFF) UPDATE "Twins" SET n = size(pair) WHERE pair < 3;
UPDATE "Twins" SET n = size(pair) WHERE pair < 3;
SELECT * FROM "Twins" ORDER BY id;
EXPLAIN (COSTS OFF) UPDATE "Twins" t SET n = 0 FROM (SELECT id AS other FROM "Twins" WHERE size(pair) > 1) o WHERE other = t.id;

-- Through views and subqueries, only what the whole query returns is locked
CREATE VIEW "View" AS SELECT id AS "Id", revision FROM "Articles";
CREATE VIEW "Keyless" AS SELECT revision FROM "Articles";
EXPLAIN (COSTS OFF) SELECT * FROM "View" WHERE "Id" = 4 FOR UPDATE;
EXPLAIN (COSTS OFF) SELECT * FROM "View" v JOIN "Source" s ON v.revision = s.n FOR UPDATE OF v;
EXPLAIN (COSTS OFF) SELECT * FROM (SELECT id, revision FROM "Articles") a WHERE revision > 3 FOR UPDATE;
EXPLAIN (COSTS OFF) SELECT * FROM "Keyless" WHERE revision > 3 FOR UPDATE;
EXPLAIN (COSTS OFF) SELECT * FROM (SELECT * FROM "Articles" FOR UPDATE) a WHERE revision > 3;
RESET enable_hashjoin;
RESET enable_mergejoin;

DROP SCHEMA "Un""changed" CASCADE;
