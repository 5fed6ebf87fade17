-- With ordered_update.order_statements on, every kind of statement that locks
-- rows is planned so that it locks them in key order: by an index that delivers
-- the order, or by one Sort directly below the node that locks.  A statement on
-- a single row has no Sort.
\pset format unaligned
\pset footer off
LOAD 'ordered_update';
SET ordered_update.order_statements = on;
CREATE SCHEMA "Ordered Home";
SET search_path = "Ordered Home", public;
CREATE TABLE "Rows" ("The Key" integer PRIMARY KEY, name text, n integer NOT NULL DEFAULT 0);
INSERT INTO "Rows" SELECT i, 'row ' || i, 0 FROM generate_series(100, 1, -1) AS i;
CREATE TABLE "Pairs" (b integer, a integer, n integer NOT NULL DEFAULT 0, PRIMARY KEY (a, b));
INSERT INTO "Pairs" SELECT i, j, 0 FROM generate_series(10, 1, -1) AS i, generate_series(10, 1, -1) AS j;
CREATE TABLE "Wanted" ("The Key" integer, n integer);
INSERT INTO "Wanted" SELECT i, 1 FROM generate_series(100, 1, -1) AS i;
CREATE TABLE "Split" (n integer NOT NULL DEFAULT 0, id integer PRIMARY KEY) PARTITION BY RANGE (id);
CREATE TABLE "Split 2" PARTITION OF "Split" FOR VALUES FROM (50) TO (101);
CREATE TABLE "Split 1" (id integer NOT NULL, dropped text, n integer NOT NULL DEFAULT 0);
ALTER TABLE "Split 1" DROP dropped;
ALTER TABLE "Split" ATTACH PARTITION "Split 1" FOR VALUES FROM (0) TO (50);
INSERT INTO "Split" (id) SELECT generate_series(100, 1, -1);
ANALYZE "Rows", "Pairs", "Wanted", "Split";

-- The plans below are those without an index that delivers the order: one Sort each.
SET enable_indexscan = off;
SET enable_indexonlyscan = off;
SET enable_mergejoin = off;

-- UPDATE: plain, of a list, with FROM, of a composite key in key order, of a partitioned table.
EXPLAIN (COSTS OFF) UPDATE "Rows" SET n = n + 1;
SELECT lock_order($$ UPDATE "Rows" SET n = n + 1 WHERE "The Key" IN (3, 1, 2) $$);
SELECT lock_order($$ UPDATE "Rows" AS r SET n = r.n + w.n FROM "Wanted" AS w WHERE r."The Key" = w."The Key" $$);
SELECT lock_order($$ UPDATE "Rows" AS r SET n = v.n FROM (VALUES (3, 1), (1, 1), (2, 1)) AS v(id, n) WHERE r."The Key" = v.id $$);
SELECT lock_order($$ UPDATE "Rows" SET n = 1 WHERE name IN (SELECT 'row ' || "The Key" FROM "Wanted") $$);
SELECT lock_order($$ UPDATE "Pairs" SET n = n + 1 $$);
SELECT lock_order($$ UPDATE "Split" SET n = n + 1 $$);
SELECT lock_order($$ UPDATE "Rows" SET n = n + 1 WHERE n = 0 RETURNING * $$);

-- DELETE: plain, with USING, of a partitioned table.
SELECT lock_order($$ DELETE FROM "Rows" WHERE n = 0 $$);
SELECT lock_order($$ DELETE FROM "Rows" AS r USING "Wanted" AS w WHERE r."The Key" = w."The Key" $$);
SELECT lock_order($$ DELETE FROM "Split" $$);

-- MERGE: by the key of the target, and where it inserts by the key that the new
-- rows will have, except by version 16, which leaves it alone.
SELECT lock_order($$ MERGE INTO "Rows" AS r USING "Wanted" AS w ON r."The Key" = w."The Key"
                     WHEN MATCHED THEN UPDATE SET n = w.n $$);
SELECT bool_and(line LIKE 'Merge on Rows: Sort by %' OR current_setting('server_version') LIKE '16%') AS sorted
  FROM lock_order($$ MERGE INTO "Rows" AS r USING "Wanted" AS w ON r."The Key" = w."The Key"
                     WHEN MATCHED AND w.n > 1 THEN DELETE WHEN MATCHED THEN UPDATE SET n = w.n
                     WHEN NOT MATCHED THEN INSERT VALUES (w."The Key", 'new', 0) $$) AS line;
SELECT lock_order($$ MERGE INTO "Split" AS r USING "Wanted" AS w ON r.id = w."The Key"
                     WHEN MATCHED THEN DELETE WHEN NOT MATCHED THEN DO NOTHING $$);

-- INSERT ON CONFLICT: by the columns of the arbiter, of VALUES and of SELECT.
SELECT lock_order($$ INSERT INTO "Rows" VALUES (3), (1), (2) ON CONFLICT ("The Key") DO UPDATE SET n = "Rows".n + 1 $$);
SELECT lock_order($$ INSERT INTO "Rows" SELECT "The Key" FROM "Wanted" ON CONFLICT ("The Key") DO UPDATE SET n = 1 $$);
SELECT lock_order($$ INSERT INTO "Pairs" SELECT n, "The Key" FROM "Wanted" ON CONFLICT (b, a) DO UPDATE SET n = 1 $$);
SELECT lock_order($$ INSERT INTO "Split" (id) VALUES (3), (99), (2) ON CONFLICT (id) DO UPDATE SET n = 1 $$);
SELECT count(*) AS sorts
  FROM lock_order($$ INSERT INTO "Rows" VALUES (3), (1), (2) ON CONFLICT ("The Key") DO NOTHING $$) AS line
 WHERE line LIKE 'Insert on Rows: Sort by %';

-- SELECT FOR UPDATE, NO KEY UPDATE, SHARE and KEY SHARE: at the top, and at every other level.
EXPLAIN (COSTS OFF) SELECT name FROM "Rows" WHERE n = 0 FOR UPDATE;
SELECT lock_order($$ SELECT FROM "Rows" WHERE n = 0 FOR NO KEY UPDATE $$);
SELECT lock_order($$ SELECT n FROM "Split" FOR SHARE NOWAIT $$);
SELECT lock_order($$ SELECT n FROM "Pairs" FOR KEY SHARE $$);
SELECT lock_order($$ SELECT r.n FROM "Rows" AS r JOIN "Wanted" AS w USING ("The Key") FOR UPDATE OF r $$);
SELECT lock_order($$ WITH locked AS (SELECT "The Key" FROM "Rows" WHERE n = 0 FOR UPDATE) SELECT count(*) FROM locked $$);
SELECT lock_order($$ SELECT count(*) FROM (SELECT FROM "Rows" WHERE n = 0 FOR UPDATE) AS locked $$);
SELECT lock_order($$ SELECT ARRAY(SELECT "The Key" FROM "Rows" WHERE n = 0 FOR UPDATE) $$);
SELECT lock_order($$ SELECT 1 WHERE 5 IN (SELECT "The Key" FROM "Rows" WHERE n = 0 FOR UPDATE) $$);
SELECT lock_order($$ SELECT 1 FROM (VALUES ((SELECT count(*) FROM (SELECT FROM "Rows" FOR UPDATE) AS l)), (2)) AS v $$);
SELECT lock_order($$ SELECT count(*) FROM (SELECT FROM "Rows" FOR UPDATE) AS r, (SELECT FROM "Pairs" FOR SHARE) AS p $$);

-- CTEs that change rows, also inside of a statement that is left alone.
SELECT lock_order($$ WITH gone AS (DELETE FROM "Rows" WHERE n = 0 RETURNING *) SELECT count(*) FROM gone $$);
SELECT lock_order($$ WITH gone AS (DELETE FROM "Rows" WHERE n = 0 RETURNING *), done AS (UPDATE "Pairs" SET n = 1)
                     INSERT INTO "Wanted" SELECT "The Key", n FROM gone $$);

-- Views: the rows of the table behind them.
CREATE VIEW "Seen" AS SELECT name AS label, n, "The Key" AS id FROM "Rows" WHERE n < 1000 WITH CHECK OPTION;
SELECT lock_order($$ UPDATE "Seen" SET n = n + 1 $$);
SELECT lock_order($$ DELETE FROM "Seen" $$);
SELECT lock_order($$ INSERT INTO "Seen" (id) VALUES (2), (1) ON CONFLICT (id) DO UPDATE SET n = 1 $$);
SELECT lock_order($$ SELECT FROM "Seen" FOR UPDATE $$);

-- Other statements that hold one of these.
SELECT lock_order($$ CREATE TABLE "Copy" AS SELECT n FROM "Rows" FOR UPDATE $$);
SELECT lock_order($$ DECLARE c CURSOR FOR SELECT n FROM "Rows" FOR UPDATE $$);

-- An index that delivers the order makes the Sort vanish, also over the partitions of a table.
SET enable_indexscan = on;
SET enable_seqscan = off;
SET enable_bitmapscan = off;
SET enable_hashjoin = off;
SET enable_sort = off;
EXPLAIN (COSTS OFF) UPDATE "Rows" SET n = n + 1;
EXPLAIN (COSTS OFF) DELETE FROM "Rows" WHERE "The Key" > 10;
EXPLAIN (COSTS OFF) SELECT name FROM "Rows" FOR UPDATE;
EXPLAIN (COSTS OFF) UPDATE "Pairs" SET n = n + 1 WHERE a = 5;
EXPLAIN (COSTS OFF) UPDATE "Split" SET n = n + 1;
SELECT lock_order($$ INSERT INTO "Rows" SELECT a, '', n FROM "Pairs" WHERE b = 1 ON CONFLICT ("The Key") DO UPDATE SET n = 1 $$);
RESET enable_seqscan;
RESET enable_bitmapscan;
RESET enable_hashjoin;
RESET enable_sort;
RESET enable_indexonlyscan;
RESET enable_mergejoin;

-- A statement on one row has none.
EXPLAIN (COSTS OFF) UPDATE "Rows" SET n = n + 1 WHERE "The Key" = 5;
SELECT lock_order($$ UPDATE "Rows" SET n = n + 1 WHERE "The Key" = 5 $$);
SELECT lock_order($$ DELETE FROM "Rows" WHERE "The Key" = 5 $$);
SELECT lock_order($$ UPDATE "Pairs" SET n = n + 1 WHERE a = 5 AND b = 6 $$);
SELECT lock_order($$ SELECT n FROM "Rows" WHERE "The Key" = 5 FOR UPDATE $$);
SELECT lock_order($$ UPDATE "Split" SET n = n + 1 WHERE id = 5 $$);
SELECT lock_order($$ INSERT INTO "Rows" VALUES (1) ON CONFLICT ("The Key") DO UPDATE SET n = 1 $$);
SELECT lock_order($$ INSERT INTO "Rows" VALUES (1) ON CONFLICT DO NOTHING $$);
SET plan_cache_mode = force_generic_plan;
PREPARE "One" AS UPDATE "Rows" SET n = n + 1 WHERE "The Key" = $1;
SELECT lock_order('EXECUTE "One"(5)');
DEALLOCATE "One";
RESET plan_cache_mode;

-- What locks no rows is planned as ever.
SELECT left_alone($$ SELECT * FROM "Rows" $$);
SELECT left_alone($$ INSERT INTO "Wanted" SELECT "The Key", n FROM "Rows" $$);
SELECT left_alone($$ INSERT INTO "Wanted" VALUES (2, 1), (1, 1) $$);
SELECT left_alone($$ WITH RECURSIVE t(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM t WHERE i < 5) SELECT * FROM t $$);

-- The setting reaches statements prepared before it was set, and leaves them when it is reset.
SET ordered_update.order_statements = off;
SET enable_indexscan = off;
PREPARE "Prepared" AS UPDATE "Rows" SET n = n + 1;
SELECT lock_order('EXECUTE "Prepared"');
SET ordered_update.order_statements = on;
SELECT lock_order('EXECUTE "Prepared"');
RESET ordered_update.order_statements;
SELECT lock_order('EXECUTE "Prepared"');
BEGIN;
SET LOCAL ordered_update.order_statements = on;
SELECT lock_order('EXECUTE "Prepared"');
ROLLBACK;
SELECT lock_order('EXECUTE "Prepared"');
BEGIN;
SAVEPOINT s;
SET ordered_update.order_statements = on;
SELECT lock_order('EXECUTE "Prepared"');
ROLLBACK TO s;
SELECT lock_order('EXECUTE "Prepared"');
COMMIT;
DEALLOCATE "Prepared";

-- It reaches the plans that PL/pgSQL and referential actions keep: a trigger
-- tells in which order the rows come, which lie in the table from 3 to 1.
CREATE TABLE "Parents" (id integer PRIMARY KEY);
CREATE TABLE "Children" (id integer PRIMARY KEY, parent integer REFERENCES "Parents" ON DELETE SET NULL, n integer DEFAULT 0);
INSERT INTO "Parents" VALUES (1), (2), (3);
INSERT INTO "Children" VALUES (3, 1), (2, 1), (1, 1), (6, 2), (5, 2), (4, 2), (9, 3), (8, 3), (7, 3);
CREATE FUNCTION tell() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE NOTICE 'row %', NEW.id;
    RETURN NEW;
END $$;
CREATE TRIGGER tell BEFORE UPDATE ON "Children" FOR EACH ROW EXECUTE FUNCTION tell();
CREATE FUNCTION bump(wanted integer) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    UPDATE "Children" SET n = n + 1 WHERE parent = wanted;
END $$;
CREATE FUNCTION bump_in_sql(wanted integer) RETURNS void LANGUAGE sql
    AS $$ UPDATE "Children" SET n = n + 1 WHERE parent = wanted $$;
SELECT bump(2);
SELECT bump_in_sql(2);
DELETE FROM "Parents" WHERE id = 1;
SET ordered_update.order_statements = on;
SELECT bump(3);
SELECT bump_in_sql(3);
DELETE FROM "Parents" WHERE id = 3;
DELETE FROM "Parents" WHERE id = 2;
RESET ordered_update.order_statements;
INSERT INTO "Parents" VALUES (1);
ALTER TABLE "Children" DISABLE TRIGGER tell;
TRUNCATE "Children";
INSERT INTO "Children" VALUES (3, 1), (2, 1), (1, 1);
ALTER TABLE "Children" ENABLE TRIGGER tell;
DELETE FROM "Parents" WHERE id = 1;

-- A function may bring its own setting.
INSERT INTO "Parents" VALUES (1);
ALTER TABLE "Children" DISABLE TRIGGER tell;
TRUNCATE "Children";
INSERT INTO "Children" VALUES (3, 1), (2, 1), (1, 1);
ALTER TABLE "Children" ENABLE TRIGGER tell;
ALTER FUNCTION bump SET ordered_update.order_statements = on;
SELECT bump(1);
SHOW ordered_update.order_statements;

-- Settings of a role and of a database reach a new session, whose library
-- session_preload_libraries loads before the first statement; without it the
-- setting waits for a first LOAD or call.
CREATE ROLE regress_ordered LOGIN;
GRANT USAGE ON SCHEMA "Ordered Home" TO regress_ordered;
GRANT ALL ON ALL TABLES IN SCHEMA "Ordered Home" TO regress_ordered;
SELECT current_database() AS database, current_user AS admin \gset
ALTER ROLE regress_ordered SET ordered_update.order_statements = on;
ALTER ROLE regress_ordered SET enable_indexscan = off;
ALTER ROLE regress_ordered SET search_path = "Ordered Home", public;
\c :database regress_ordered
SELECT lock_order($$ UPDATE "Rows" SET n = n + 1 $$);
\c :database :admin
ALTER ROLE regress_ordered SET session_preload_libraries = 'ordered_update';
\c :database regress_ordered
SELECT lock_order($$ UPDATE "Rows" SET n = n + 1 $$);
SET ordered_update.order_statements = off;
SELECT lock_order($$ UPDATE "Rows" SET n = n + 1 $$);
RESET ordered_update.order_statements;
SELECT lock_order($$ UPDATE "Rows" SET n = n + 1 $$);
\c :database :admin
ALTER ROLE regress_ordered RESET ordered_update.order_statements;
ALTER DATABASE :"database" SET ordered_update.order_statements = on;
\c :database regress_ordered
SELECT lock_order($$ UPDATE "Rows" SET n = n + 1 $$);
\c :database :admin
ALTER DATABASE :"database" RESET ordered_update.order_statements;
\c :database regress_ordered
SELECT lock_order($$ UPDATE "Rows" SET n = n + 1 $$);
\c :database :admin
SET client_min_messages = warning;
DROP SCHEMA "Ordered Home" CASCADE;
DROP OWNED BY regress_ordered;
DROP ROLE regress_ordered;
