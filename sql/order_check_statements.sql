-- The watch sees ordered statements: a verb that comes after one in the same
-- transaction, and wants lower keys or an earlier table, is told so, and only
-- if the statement did lock the row.
CREATE TABLE "Watch's" ("Id" integer PRIMARY KEY, n integer NOT NULL DEFAULT 0);
INSERT INTO "Watch's" SELECT g FROM generate_series(1, 9) g;
CREATE TABLE "Names" (name text COLLATE "C" PRIMARY KEY, n integer NOT NULL DEFAULT 0);
INSERT INTO "Names" VALUES ('a'), ('b'), ('c');
CREATE TABLE "Pieces" ("Id" integer PRIMARY KEY, n integer NOT NULL DEFAULT 0) PARTITION BY RANGE ("Id");
CREATE TABLE "Piece 2" PARTITION OF "Pieces" FOR VALUES FROM (5) TO (50);
CREATE TABLE "Piece 1" PARTITION OF "Pieces" FOR VALUES FROM (0) TO (5);
INSERT INTO "Pieces" SELECT g FROM generate_series(1, 9) g;

-- The control: with statements in no order nobody knows how far one went.
BEGIN;
UPDATE "Watch's" SET n = n + 1 WHERE "Id" IN (4, 3);
SELECT count(*) FROM ordered_increment(NULL::"Watch's", '{1,2}'::integer[], 'n');
ROLLBACK;

SET ordered_update.order_statements = on;

-- UPDATE {3,4}, then a verb on {1,2}: a warning.
BEGIN;
UPDATE "Watch's" SET n = n + 1 WHERE "Id" IN (4, 3);
SELECT count(*) FROM ordered_increment(NULL::"Watch's", '{1,2}'::integer[], 'n');
ROLLBACK;
-- A verb on higher keys, or on the same ones: none.
BEGIN;
UPDATE "Watch's" SET n = n + 1 WHERE "Id" IN (4, 3);
SELECT count(*) FROM ordered_increment(NULL::"Watch's", '{5}'::integer[], 'n');
ROLLBACK;
BEGIN;
UPDATE "Watch's" SET n = n + 1 WHERE "Id" IN (4, 3);
SELECT count(*) FROM ordered_increment(NULL::"Watch's", '{3,4}'::integer[], 'n');
ROLLBACK;
-- A statement that found no row: none.
BEGIN;
UPDATE "Watch's" SET n = n + 1 WHERE "Id" > 100;
SELECT count(*) FROM ordered_increment(NULL::"Watch's", '{1}'::integer[], 'n');
ROLLBACK;
-- SELECT FOR UPDATE, DELETE and MERGE: a warning each.
BEGIN;
SELECT count(*) FROM "Names" WHERE name > 'a' FOR UPDATE;
SELECT count(*) FROM ordered_increment(NULL::"Names", '{a,b}'::text[], 'n');
ROLLBACK;
BEGIN;
DELETE FROM "Watch's" WHERE "Id" IN (8, 7);
SELECT count(*) FROM ordered_increment(NULL::"Watch's", '{6}'::integer[], 'n');
ROLLBACK;
BEGIN;
MERGE INTO "Watch's" w USING (VALUES (8), (7)) v (id) ON w."Id" = v.id
	WHEN MATCHED THEN UPDATE SET n = n + 1;
SELECT count(*) FROM ordered_increment(NULL::"Watch's", '{6}'::integer[], 'n');
ROLLBACK;
-- A row locked FOR SHARE and wanted with more: an upgrade, if the row itself
-- is wanted.
BEGIN;
SELECT count(*) FROM "Watch's" WHERE "Id" = 5 FOR SHARE;
SELECT count(*) FROM ordered_increment(NULL::"Watch's", '{5}'::integer[], 'n');
ROLLBACK;
-- Partitions count as their table: a warning.
BEGIN;
UPDATE "Pieces" SET n = n + 1 WHERE "Id" IN (7, 3);
SELECT count(*) FROM ordered_increment(NULL::"Pieces", '{1,2}'::integer[], 'n');
ROLLBACK;
-- Another table: a warning if it comes later, none if it comes first.
BEGIN;
UPDATE "Watch's" SET n = n + 1 WHERE "Id" IN (4, 3);
SELECT count(*) FROM ordered_increment(NULL::"Names", '{a}'::text[], 'n');
ROLLBACK;
BEGIN;
UPDATE "Names" SET n = n + 1;
SELECT count(*) FROM ordered_increment(NULL::"Watch's", '{1}'::integer[], 'n');
ROLLBACK;
-- A part of a statement, and one in a function: a warning each.
BEGIN;
WITH changed AS (UPDATE "Watch's" SET n = n + 1 WHERE "Id" IN (8, 3) RETURNING 1)
SELECT count(*) FROM changed;
SELECT count(*) FROM ordered_increment(NULL::"Watch's", '{1}'::integer[], 'n');
ROLLBACK;
DO $$
BEGIN
	UPDATE "Watch's" SET n = n + 1 WHERE "Id" IN (8, 3);
	PERFORM FROM ordered_increment(NULL::"Watch's", '{1}'::integer[], 'n');
END $$;
-- What went with a savepoint, or was no part of this transaction: none.
BEGIN;
SAVEPOINT a;
UPDATE "Watch's" SET n = n + 1 WHERE "Id" IN (4, 3);
ROLLBACK TO a;
SELECT count(*) FROM ordered_increment(NULL::"Watch's", '{1,2}'::integer[], 'n');
COMMIT;
UPDATE "Watch's" SET n = n + 1 WHERE "Id" IN (4, 3);
SELECT count(*) FROM ordered_increment(NULL::"Watch's", '{1,2}'::integer[], 'n');
-- The watch off: none.
SET ordered_update.order_check = off;
BEGIN;
UPDATE "Watch's" SET n = n + 1 WHERE "Id" IN (4, 3);
SELECT count(*) FROM ordered_increment(NULL::"Watch's", '{1,2}'::integer[], 'n');
ROLLBACK;
RESET ordered_update.order_check;
-- A table that is gone since: none.
BEGIN;
UPDATE "Names" SET n = n + 1;
DROP TABLE "Names";
SELECT count(*) FROM ordered_increment(NULL::"Watch's", '{1}'::integer[], 'n');
ROLLBACK;
-- A table that is empty or stored anew since, and one that was empty for a
-- while, when the last row noted was in a block that is not there now: none.
CREATE TABLE "Wide's" ("Id" integer PRIMARY KEY, pad text);
BEGIN;
INSERT INTO "Wide's" SELECT g, repeat('x', 1000) FROM generate_series(1, 60) g;
UPDATE "Wide's" SET pad = upper(pad);
SELECT count(*) FROM ordered_increment(NULL::"Watch's", '{1}'::integer[], 'n');
ROLLBACK;
INSERT INTO "Wide's" SELECT g, repeat('x', 1000) FROM generate_series(1, 60) g;
BEGIN;
UPDATE "Wide's" SET pad = upper(pad);
TRUNCATE "Wide's";
SELECT count(*) FROM ordered_increment(NULL::"Watch's", '{1}'::integer[], 'n');
ROLLBACK;
BEGIN;
UPDATE "Wide's" SET pad = upper(pad);
ALTER TABLE "Wide's" ALTER pad TYPE varchar(1) USING left(pad, 1);
SELECT count(*) FROM ordered_increment(NULL::"Watch's", '{1}'::integer[], 'n');
ROLLBACK;
TRUNCATE "Wide's";
BEGIN;
UPDATE "Wide's" SET pad = '';
SAVEPOINT a;
TRUNCATE "Wide's";
INSERT INTO "Wide's" SELECT g, repeat('x', 1000) FROM generate_series(1, 60) g;
UPDATE "Wide's" SET pad = upper(pad);
ROLLBACK TO a;
SELECT count(*) FROM ordered_increment(NULL::"Watch's", '{1}'::integer[], 'n');
ROLLBACK;
-- A key so long that it is stored out of line is reported when it is there no
-- more.
CREATE TABLE "Words" (word text PRIMARY KEY, n integer NOT NULL DEFAULT 0);
ALTER TABLE "Words" ALTER word SET STORAGE EXTERNAL;
INSERT INTO "Words" SELECT string_agg(md5(g::text), '') FROM generate_series(1, 70) g;
SELECT pg_relation_size(reltoastrelid) > 0 AS out_of_line FROM pg_class WHERE oid = '"Words"'::regclass;
\set VERBOSITY terse
BEGIN;
UPDATE "Words" SET n = n + 1;
SELECT count(*) FROM ordered_lock(NULL::"Watch's", '{99}'::integer[], missing_ok => true);
TRUNCATE "Words";
SELECT count(*) FROM ordered_lock(NULL::"Pieces", '{1}'::integer[]);
ROLLBACK;
\set VERBOSITY default
DROP TABLE "Words";
-- A savepoint in a savepoint that went: none; one that stayed: a warning.
BEGIN;
SAVEPOINT a;
SAVEPOINT b;
UPDATE "Watch's" SET n = n + 1 WHERE "Id" IN (4, 3);
RELEASE b;
ROLLBACK TO a;
SELECT count(*) FROM ordered_increment(NULL::"Watch's", '{1,2}'::integer[], 'n');
ROLLBACK;
BEGIN;
SAVEPOINT a;
UPDATE "Watch's" SET n = n + 1 WHERE "Id" IN (4, 3);
SAVEPOINT b;
ROLLBACK TO b;
SELECT count(*) FROM ordered_increment(NULL::"Watch's", '{1,2}'::integer[], 'n');
ROLLBACK;
-- More statements than are remembered: the last ones count.
BEGIN;
DO $$
BEGIN
	FOR i IN 1 .. 40 LOOP
		UPDATE "Names" SET n = n + 1 WHERE name = 'a';
	END LOOP;
	UPDATE "Names" SET n = n + 1 WHERE name = 'c';
END $$;
SELECT count(*) FROM ordered_increment(NULL::"Names", '{b}'::text[], 'n');
ROLLBACK;
-- EXPLAIN shows no more than the order.
EXPLAIN (COSTS OFF) UPDATE "Watch's" SET n = n + 1 WHERE n = 0;

RESET ordered_update.order_statements;
DROP TABLE "Watch's", "Names", "Pieces", "Wide's";
