-- A transaction that locks rows out of order is told so; one that does not, is
-- not.  What it holds and what it wants are named.
\pset format unaligned
\pset footer off
\pset tuples_only on
CREATE TABLE "Watch's" (id integer PRIMARY KEY, n integer NOT NULL DEFAULT 0, "U" integer UNIQUE);
INSERT INTO "Watch's" SELECT i, 0, i FROM generate_series(1, 9) i;
CREATE TABLE "Zoo" ("B" text, a integer, n integer NOT NULL DEFAULT 0, PRIMARY KEY (a, "B"));
INSERT INTO "Zoo" VALUES ('ant', 1), ('bee', 1), ('ant', 2);
CREATE TABLE "Child" (id integer PRIMARY KEY, p integer REFERENCES "Watch's");
-- up(ids) increments, as a verb that is called again and again.
CREATE FUNCTION up(VARIADIC ids integer[]) RETURNS bigint LANGUAGE sql
AS $$ SELECT count(*) FROM ordered_increment(NULL::"Watch's", ids, 'n') $$;

--
-- Faults.
--

-- Two calls, the second one lower: by the key, with the first too-low one named. (warning)
BEGIN;
SELECT up(4, 3);
SELECT up(6, 2, 1);
COMMIT;
SHOW ordered_update.order_check;

-- Once for each row of a query, in descending order. (two warnings)
SELECT up(id) FROM "Watch's" WHERE id < 4 ORDER BY id DESC;

-- Of a batch that is held in part, the lowest row that is not is named. (warning)
BEGIN;
SELECT up(1, 5);
SELECT up(1, 2, 5);
COMMIT;

-- A row held by a plain statement, inside the batch: no verb has told the order. (warning)
BEGIN;
UPDATE "Watch's" SET n = n + 1 WHERE id = 5;
SELECT up(3, 5);
COMMIT;
BEGIN;
SELECT id FROM "Watch's" WHERE id IN (4, 6) FOR UPDATE;
SELECT up(2, 4, 5, 6);
COMMIT;

-- Every verb is watched, and every verb is held against the next. (warnings)
BEGIN;
SELECT ordered_update(NULL::"Watch's", '[{"id": 9, "n": 5}]');
SELECT ordered_add(NULL::"Watch's", '[{"id": 8, "n": 5}]');
SELECT ordered_upsert(NULL::"Watch's", '[{"id": 7, "n": 5}]');
SELECT ordered_lock(NULL::"Watch's", ARRAY[6]);
SELECT ordered_delete(NULL::"Watch's", ARRAY[5]);
SELECT ordered_lock_all('{"\"Watch''s\"": [4]}');
ROLLBACK;

-- A row that was deleted, and one that was inserted by an upsert, count. (warnings)
BEGIN;
SELECT ordered_delete(NULL::"Watch's", ARRAY[8]);
SELECT up(7);
ROLLBACK;
BEGIN;
SELECT ordered_upsert(NULL::"Watch's", '[{"id": 20, "n": 5}]');
SELECT up(7);
ROLLBACK;

-- Composite keys, of columns in another order than the table's. (warning)
BEGIN;
SELECT ordered_add(NULL::"Zoo", '[{"a": 1, "B": "bee", "n": 1}]');
SELECT ordered_add(NULL::"Zoo", '[{"a": 1, "B": "ant", "n": 1}, {"a": 2, "B": "ant", "n": 1}]');
COMMIT;

-- Two tables, the later one first: by its name, where no row of the other was
-- held before, and by its row, where it was. (warnings)
BEGIN;
SELECT ordered_add(NULL::"Zoo", '[{"a": 1, "B": "bee", "n": 1}]');
SELECT up(1);
SELECT up(2);
COMMIT;

-- The table is held, but not all rows. (warning)
BEGIN;
SELECT up(3);
SELECT ordered_add(NULL::"Zoo", '[{"a": 1, "B": "bee", "n": 1}]');
SELECT up(3);
SELECT up(4);
COMMIT;

-- A lock is taken in a stronger mode than it is held: with verbs. (warning)
BEGIN;
SELECT ordered_lock(NULL::"Watch's", ARRAY[1,2], 'no key update');
SELECT ordered_delete(NULL::"Watch's", ARRAY[2]);
ROLLBACK;
BEGIN;
SELECT ordered_lock(NULL::"Watch's", ARRAY[1,2], 'share');
SELECT up(1);
ROLLBACK;
-- A key of another index is changed, which takes more than its counter. (warning)
BEGIN;
SELECT ordered_lock(NULL::"Watch's", ARRAY[1,2], 'no key update');
SELECT ordered_update(NULL::"Watch's", '[{"id": 1, "U": 30}]');
ROLLBACK;
-- With a plain statement, and in a savepoint. (warnings)
BEGIN;
SELECT id FROM "Watch's" WHERE id = 3 FOR SHARE;
SAVEPOINT s;
SELECT up(3);
ROLLBACK;
-- A child insert that share-locked the parent, and then a lock FOR UPDATE. (warning)
BEGIN;
INSERT INTO "Child" VALUES (1, 3);
SELECT ordered_lock(NULL::"Watch's", ARRAY[3], 'update');
ROLLBACK;
BEGIN;
INSERT INTO "Child" VALUES (1, 3);
SELECT ordered_update(NULL::"Watch's", '[{"id": 3, "U": 30}]');
ROLLBACK;

-- A savepoint that was released: its rows count as its parent's. (warning)
BEGIN;
SAVEPOINT a;
SAVEPOINT b;
SELECT up(5);
RELEASE b;
RELEASE a;
SELECT up(4);
COMMIT;

-- PL/pgSQL: a block without an exception counts. (warning)
DO $$
BEGIN
    BEGIN
        PERFORM up(5);
    EXCEPTION WHEN no_data_found THEN
        NULL;
    END;
    PERFORM up(4);
END $$;

-- A verb in a row trigger of another verb's table. (warning)
CREATE TABLE "Log" (id integer PRIMARY KEY, n integer NOT NULL DEFAULT 0);
INSERT INTO "Log" VALUES (1), (2);
CREATE FUNCTION "Log It"() RETURNS trigger LANGUAGE plpgsql
AS $$ BEGIN PERFORM ordered_increment(NULL::"Log", ARRAY[3 - NEW.id], 'n'); RETURN NEW; END $$;
CREATE TRIGGER "Log It" AFTER UPDATE ON "Watch's" FOR EACH ROW WHEN (NEW.id < 3) EXECUTE FUNCTION "Log It"();
SELECT up(1);
SELECT up(1, 2);
DROP TRIGGER "Log It" ON "Watch's";

-- Partitions: the order is the partitioned table's, whichever partition holds a row. (warning)
CREATE TABLE "Parts" (id integer PRIMARY KEY, n integer NOT NULL DEFAULT 0) PARTITION BY RANGE (id);
CREATE TABLE "Part 1" PARTITION OF "Parts" FOR VALUES FROM (10) TO (20);
CREATE TABLE "Part 2" PARTITION OF "Parts" FOR VALUES FROM (0) TO (10);
INSERT INTO "Parts" VALUES (1), (2), (11), (12);
BEGIN;
SELECT ordered_increment(NULL::"Parts", ARRAY[11], 'n');
SELECT ordered_increment(NULL::"Parts", ARRAY[2], 'n');
COMMIT;
BEGIN;
UPDATE "Parts" SET n = 1 WHERE id = 12;
SELECT ordered_increment(NULL::"Parts", ARRAY[1, 12], 'n');
COMMIT;

-- A table that was dropped with the type of its key is named without the key. (warning)
CREATE TYPE mood AS ENUM ('good', 'bad');
CREATE TABLE "Wild" (m mood PRIMARY KEY, n integer NOT NULL DEFAULT 0);
INSERT INTO "Wild" VALUES ('good');
BEGIN;
SELECT ordered_increment(NULL::"Wild", ARRAY['good']::mood[], 'n');
DROP TABLE "Wild";
DROP TYPE mood;
SELECT up(3);
ROLLBACK;
DROP TABLE "Wild";
DROP TYPE mood;

-- Text keys come in the order of their collation, and the held key is a copy.  (warning)
CREATE TABLE "Words" (w text COLLATE "C" PRIMARY KEY, n integer NOT NULL DEFAULT 0);
INSERT INTO "Words" VALUES ('B'), ('a'), (repeat('c', 50));
BEGIN;
SELECT ordered_increment(NULL::"Words", ARRAY['B'], 'n');
SELECT count(*) FROM ordered_increment(NULL::"Words", ARRAY['a', repeat('c', 50)], 'n');
SELECT ordered_increment(NULL::"Words", ARRAY['B', 'a'], 'n');
SAVEPOINT s;
SELECT count(*) FROM ordered_increment(NULL::"Words", ARRAY['a', repeat('c', 50)], 'n');
RELEASE s;
ROLLBACK;
BEGIN;
SELECT ordered_increment(NULL::"Words", ARRAY['a'], 'n');
SELECT ordered_increment(NULL::"Words", ARRAY['B'], 'n');
ROLLBACK;

-- Of rows that were locked for another role, which this one may not read, or
-- that row security could hide from it, no key is shown. (warnings)
CREATE ROLE regress_ou_other;
GRANT SELECT, UPDATE ON "Watch's" TO regress_ou_other;
BEGIN;
SELECT ordered_add(NULL::"Zoo", '[{"a": 1, "B": "bee", "n": 1}]');
SET LOCAL ROLE regress_ou_other;
SELECT up(3);
ROLLBACK;
BEGIN;
ALTER TABLE "Watch's" ENABLE ROW LEVEL SECURITY;
CREATE POLICY "Low" ON "Watch's" TO regress_ou_other USING (id < 4);
COMMIT;
BEGIN;
SELECT up(5);
SET LOCAL ROLE regress_ou_other;
SELECT up(3);
SELECT up(2, 3);
ROLLBACK;
DROP POLICY "Low" ON "Watch's";
ALTER TABLE "Watch's" DISABLE ROW LEVEL SECURITY;
DROP OWNED BY regress_ou_other;
DROP ROLE regress_ou_other;

-- As an error it is 55U01, with the table as a client wants it, and nothing is
-- changed by it. (error)
SET ordered_update.order_check = error;
BEGIN;
SELECT up(4);
SELECT error_of('SELECT up(3)');
SELECT n FROM "Watch's" WHERE id = 3;
SELECT error_of($$ SELECT ordered_lock(NULL::"Watch's", ARRAY[4, 3]) $$);
SELECT up(5);
ROLLBACK;
BEGIN;
SELECT ordered_add(NULL::"Zoo", '[{"a": 1, "B": "bee", "n": 1}]');
SELECT error_of('SELECT up(1)');
-- The error took back the table lock: as before.
SELECT error_of('SELECT up(1)');
ROLLBACK;
BEGIN;
SELECT ordered_lock(NULL::"Watch's", ARRAY[1], 'share');
SELECT error_of('SELECT up(1)');
ROLLBACK;
BEGIN;
UPDATE "Watch's" SET n = n WHERE id = 5;
SELECT error_of('SELECT up(3, 5)');
ROLLBACK;
RESET ordered_update.order_check;

-- Off is silent, and leaves nothing to be compared with later.
BEGIN;
SET LOCAL ordered_update.order_check = off;
SELECT up(4);
SELECT up(3);
SET LOCAL ordered_update.order_check = warning;
SELECT up(2);
SET LOCAL ordered_update.order_check = off;
SELECT up(1);
ROLLBACK;

--
-- Innocent transactions: an error would show where one is taken for guilty.
--
SET ordered_update.order_check = error;

-- Ascending calls, each row again, all rows again, in other words.
BEGIN;
SELECT up(2, 1);
SELECT up(3);
SELECT up(3);
SELECT up(5, 4, 6);
SELECT up(5);
SELECT up(1, 2, 3, 4, 5, 6, 7);
SELECT ordered_delete(NULL::"Watch's", ARRAY[9, 8]);
ROLLBACK;

-- Everything is locked first, in any way, and then used in any order.
BEGIN;
SELECT count(*) FROM ordered_lock(NULL::"Watch's", ARRAY[3,1,2]);
SELECT up(3);
SELECT up(1);
SELECT ordered_update(NULL::"Watch's", '[{"id": 2, "U": 30}]');
SELECT ordered_delete(NULL::"Watch's", ARRAY[1]);
ROLLBACK;
BEGIN;
SELECT ordered_lock_all('{"\"Zoo\"": [{"a": 1, "B": "bee"}], "\"Watch''s\"": [2, 5]}');
SELECT ordered_add(NULL::"Zoo", '[{"a": 1, "B": "bee", "n": 1}]');
SELECT up(5);
SELECT up(2);
ROLLBACK;
BEGIN;
SELECT count(*) FROM (SELECT FROM "Watch's" FOR UPDATE) w;
SELECT up(5);
SELECT up(1, 2);
ROLLBACK;

-- An UPDATE of rows that a verb locks for it.
UPDATE "Watch's" w SET n = w.n + 1 FROM ordered_lock(NULL::"Watch's", ARRAY[3,1,2]) l WHERE w.id = l.id;

-- Two tables in order; a lock of the weaker kind after the stronger one.
BEGIN;
SELECT up(5);
SELECT ordered_add(NULL::"Zoo", '[{"a": 1, "B": "bee", "n": 1}]');
ROLLBACK;
BEGIN;
SELECT ordered_delete(NULL::"Watch's", ARRAY[5]);
SELECT ordered_lock(NULL::"Watch's", ARRAY[6], 'key share');
SELECT up(6);
ROLLBACK;

-- A savepoint that was rolled back held nothing, also where the rows had been
-- held in a weaker mode before.
BEGIN;
SAVEPOINT s;
SELECT up(5);
ROLLBACK TO s;
SELECT up(4);
SAVEPOINT s;
SELECT up(9);
SAVEPOINT t;
SELECT up(9);
RELEASE t;
ROLLBACK TO s;
SELECT up(8, 5);
ROLLBACK;
DO $$
BEGIN
    BEGIN
        PERFORM up(5, 99);
    EXCEPTION WHEN no_data_found THEN
        PERFORM up(1);
    END;
    PERFORM up(2);
END $$;

-- A row inserted by this transaction, alone and among others: nobody else can
-- wait for it.
BEGIN;
INSERT INTO "Watch's" VALUES (40, 0, 40);
SELECT up(3, 40);
SELECT up(40);
ROLLBACK;
BEGIN;
SELECT up(5);
INSERT INTO "Watch's" VALUES (0, 0, 0);
SELECT up(0);
SELECT up(6);
ROLLBACK;

-- A child insert share-locks the parent, and its counter is counted up.
BEGIN;
INSERT INTO "Child" VALUES (1, 3), (2, 4);
SELECT up(3);
SELECT up(4, 3);
SELECT ordered_update(NULL::"Watch's", '[{"id": 3, "n": 30}]');
ROLLBACK;
-- Another row's counter below it too: no such batch waits for a KEY SHARE.
BEGIN;
INSERT INTO "Child" VALUES (1, 5);
SELECT up(4, 5);
ROLLBACK;

-- A row that was counted up can be deleted.
BEGIN;
SELECT up(3);
SELECT ordered_delete(NULL::"Watch's", ARRAY[3]);
ROLLBACK;

-- Rows that do not exist were not locked.
BEGIN;
SELECT ordered_delete(NULL::"Watch's", ARRAY[3, 60, 50], missing_ok => true);
SELECT up(4);
SELECT ordered_delete(NULL::"Watch's", ARRAY[60, 50], missing_ok => true);
SELECT up(5);
ROLLBACK;

-- One transaction does not count in the next, however it ended.
SELECT up(5);
SELECT up(4);
BEGIN; SELECT up(5); ROLLBACK; SELECT up(3);
BEGIN; SELECT up(5); COMMIT AND CHAIN; SELECT up(3); COMMIT;
DO $$
BEGIN
    PERFORM up(5);
    COMMIT;
    PERFORM up(3);
    ROLLBACK;
    PERFORM up(1);
END $$;

-- A prepared transaction takes its rows with it: they are not ours any more.
BEGIN;
SELECT up(5);
PREPARE TRANSACTION 'regress_ou_check';
SELECT up(3);
BEGIN;
SELECT up(3);
SELECT error_of($$ SELECT ordered_lock(NULL::"Watch's", ARRAY[5], nowait => true) $$);
ROLLBACK;
COMMIT PREPARED 'regress_ou_check';

-- A cursor that outlives its transaction is read at the end of it.
BEGIN;
DECLARE c CURSOR WITH HOLD FOR SELECT * FROM ordered_increment(NULL::"Watch's", ARRAY[5,6], 'n');
SELECT up(2);
COMMIT;
SELECT up(1);
FETCH ALL FROM c;
CLOSE c;

-- A table that nobody else can use: locked as a whole, created, altered or
-- emptied by this transaction, or temporary.
BEGIN;
LOCK TABLE "Watch's" IN EXCLUSIVE MODE;
SELECT up(5);
SELECT up(3);
ROLLBACK;
BEGIN;
SELECT up(5);
ALTER TABLE "Watch's" ADD COLUMN x integer;
SELECT up(3);
ALTER TABLE "Watch's" DROP CONSTRAINT "Watch's_pkey" CASCADE;
ALTER TABLE "Watch's" ALTER id TYPE text;
ALTER TABLE "Watch's" ADD PRIMARY KEY (id);
SELECT ordered_increment(NULL::"Watch's", ARRAY['2'], 'n') IS NOT NULL;
ROLLBACK;
BEGIN;
CREATE TABLE "Fresh" (id integer PRIMARY KEY, n integer NOT NULL DEFAULT 0);
INSERT INTO "Fresh" SELECT generate_series(1, 5);
SELECT ordered_increment(NULL::"Fresh", ARRAY[5], 'n');
SELECT ordered_increment(NULL::"Fresh", ARRAY[3], 'n');
TRUNCATE "Fresh";
COPY "Fresh" (id) FROM STDIN (FREEZE);
1
2
\.
SELECT ordered_increment(NULL::"Fresh", ARRAY[2], 'n');
SELECT ordered_increment(NULL::"Fresh", ARRAY[1], 'n');
ROLLBACK;
CREATE TEMPORARY TABLE "Own" (id integer PRIMARY KEY, n integer NOT NULL DEFAULT 0);
INSERT INTO "Own" SELECT generate_series(1, 5);
BEGIN;
SELECT ordered_increment(NULL::"Own", ARRAY[5], 'n');
SELECT ordered_increment(NULL::"Own", ARRAY[3], 'n');
SELECT up(1);
SELECT ordered_increment(NULL::"Own", ARRAY[1], 'n');
ROLLBACK;

-- A table that was dropped and made anew is another one.
BEGIN;
SELECT ordered_increment(NULL::"Log", ARRAY[2], 'n');
DROP TABLE "Log";
CREATE TABLE "Log" (id integer PRIMARY KEY, n integer NOT NULL DEFAULT 0);
INSERT INTO "Log" VALUES (1);
SELECT ordered_increment(NULL::"Log", ARRAY[1], 'n');
ROLLBACK;

-- Rows that move to another partition.
BEGIN;
SELECT ordered_update(NULL::"Parts", '[{"id": 1, "n": 1}, {"id": 12, "n": 1}]');
UPDATE "Parts" SET id = 3 WHERE id = 12;
SELECT ordered_increment(NULL::"Parts", ARRAY[3, 1], 'n');
ROLLBACK;

-- Who may not read a whole row is not told, as its header cannot be read.
CREATE ROLE regress_ou_columns;
GRANT SELECT (id, n), UPDATE (n) ON "Watch's" TO regress_ou_columns;
SET ROLE regress_ou_columns;
BEGIN;
SELECT count(*) FROM ordered_lock_all('{"\"Watch''s\"": [5]}');
SELECT count(*) FROM ordered_lock_all('{"\"Watch''s\"": [3]}');
ROLLBACK;
RESET ROLE;
DROP OWNED BY regress_ou_columns;
DROP ROLE regress_ou_columns;

-- A table that was emptied after a statement that is watched.
SET ordered_update.order_statements = on;
BEGIN;
UPDATE "Words" SET n = 1;
TRUNCATE "Words";
SELECT up(3);
ROLLBACK;
-- A row of one's own, changed by a statement that is watched.
BEGIN;
INSERT INTO "Words" VALUES ('d');
UPDATE "Words" SET n = 1 WHERE w = 'd';
SELECT ordered_increment(NULL::"Words", ARRAY['a'], 'n');
ROLLBACK;
RESET ordered_update.order_statements;

-- A table that this transaction has created, before one that comes earlier, and a
-- batch that waits for nobody: silent.
SET ordered_update.order_check = error;
BEGIN;
CREATE TABLE "Zzz" (id integer PRIMARY KEY);
INSERT INTO "Zzz" VALUES (1);
SELECT id FROM ordered_lock(NULL::"Zzz", '{1}'::integer[]);
SELECT up(1);
ROLLBACK;
BEGIN;
SELECT up(5);
SELECT id FROM ordered_lock(NULL::"Watch's", '{1}'::integer[], nowait => true);
ROLLBACK;
-- A row that this transaction inserted, before lower ones: silent.
BEGIN;
INSERT INTO "Watch's" (id) VALUES (1000);
SELECT id FROM ordered_lock(NULL::"Watch's", '{1000}'::integer[]);
SELECT up(3);
SELECT up(1000);
SELECT up(4);
ROLLBACK;
SET ordered_update.order_check = warning;

-- A new row that is inserted below what is held is not seen: it could be one
-- that this transaction deleted.
BEGIN;
SELECT up(5);
SELECT ordered_upsert(NULL::"Watch's", '[{"id": 0, "n": 5}]');
ROLLBACK;
BEGIN;
SELECT count(*) FROM ordered_delete(NULL::"Watch's", ARRAY[3, 5]);
SELECT ordered_upsert(NULL::"Watch's", '[{"id": 3, "n": 5}]');
ROLLBACK;

-- A loop with a savepoint in each turn, as long as you like.
DO $$
BEGIN
    FOR i IN 1 .. 2000 LOOP
        BEGIN
            PERFORM up(1 + i / 250);
            IF i % 2 = 0 THEN
                RAISE EXCEPTION 'taken back';
            END IF;
        EXCEPTION WHEN raise_exception THEN
            NULL;
        END;
    END LOOP;
END $$;
RESET ordered_update.order_check;
DROP TABLE "Child", "Watch's", "Zoo", "Log", "Parts", "Words", "Own";
DROP FUNCTION up(integer[]), "Log It"();
