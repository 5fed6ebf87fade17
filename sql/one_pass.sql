-- A verb locks and changes its rows in one statement where the change locks
-- nothing but the rows and nobody looks on, and in two everywhere else. The
-- context of an error tells which.
\pset format unaligned
\pset footer off
\set VERBOSITY terse
CREATE TABLE "One's" (id integer PRIMARY KEY, "N" integer NOT NULL DEFAULT 1, "Note" text,
                      CONSTRAINT "Not Empty" CHECK ("Note" <> ''));
INSERT INTO "One's" SELECT generate_series(1, 5);
-- passes(statement) runs a statement that must fail, as a role that may lock and
-- update rows, and tells in how many passes it was at work.
CREATE ROLE "regress_one's";
GRANT SELECT, UPDATE ON "One's" TO "regress_one's";
CREATE FUNCTION passes(statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    line text;
BEGIN
    SET LOCAL ROLE "regress_one's";
    SELECT l INTO line FROM error_of(statement) AS l WHERE l LIKE 'context: ordered%';
    RESET ROLE;
    RETURN CASE WHEN line LIKE '%: locking and %' THEN 'one'
                WHEN line ~ ': (updating|deleting)$' THEN 'two'
                ELSE line END;
END $$;
-- breaks(verb) is a call of that verb that fails for a value out of range, a null,
-- or as the role may not delete rows.
CREATE FUNCTION breaks(verb text) RETURNS text LANGUAGE sql AS $$
    SELECT 'SELECT * FROM ' || CASE verb
        WHEN 'increment' THEN $q$ordered_increment(NULL::"One's", '{3,1}'::integer[], 'N', 2147483647)$q$
        WHEN 'add' THEN $q$ordered_add(NULL::"One's", '[{"id": 3, "N": 2147483647}, {"id": 1, "N": 2147483647}]')$q$
        WHEN 'update' THEN $q$ordered_update(NULL::"One's", '[{"id": 3, "N": null}, {"id": 1, "N": null}]')$q$
        WHEN 'delete' THEN $q$ordered_delete(NULL::"One's", '{3,1}'::integer[])$q$ END
$$;
-- one_or_two() tells it of each of them.
CREATE FUNCTION one_or_two() RETURNS TABLE (verb text, passes text) LANGUAGE sql AS $$
    SELECT v, passes(breaks(v)) FROM unnest(ARRAY['increment', 'add', 'update', 'delete']) AS v
$$;

-- A plain table, with a CHECK of a column that is not changed: one pass for each
-- verb.
SELECT * FROM one_or_two();
-- The short form locks FOR UPDATE, as it was specified: two.
SET ordered_update.default_table = '"One''s"';
SET ordered_update.default_counter = 'N';
UPDATE "One's" SET "N" = 2147483647;
SELECT passes('SELECT * FROM ordered_increment(''{3,1}'')');
UPDATE "One's" SET "N" = 1;
-- The same rows come back as in two passes, in key order, and the same is missing.
BEGIN;
SELECT * FROM ordered_increment(NULL::"One's", '{5,2,4,2}'::integer[], 'N', 7);
COMMIT;
BEGIN;
UPDATE "One's" SET "Note" = "Note" WHERE id = 1;
SELECT * FROM ordered_increment(NULL::"One's", '{5,2,4,2}'::integer[], 'N', -7);
COMMIT;
SELECT * FROM ordered_add(NULL::"One's", '[{"id": 9, "N": 1}, {"id": 5, "N": 2}, {"id": 2, "N": 3}, {"id": 5, "N": -2}]', true);
SELECT * FROM ordered_update(NULL::"One's", '[{"id": 4, "Note": "four"}, {"id": 2, "N": 0}, {"id": 0, "N": 1}]', true);
SELECT error_of($$ SELECT * FROM ordered_increment(NULL::"One's", '{9,5,2,0}'::integer[], 'N') $$);  -- (error)
SELECT error_of($$ SELECT * FROM ordered_delete(NULL::"One's", '{9,5,2,0}'::integer[]) $$);  -- (error)
TABLE "One's" ORDER BY id;
-- None there is no error either.
SELECT * FROM ordered_delete(NULL::"One's", '{9,0}'::integer[], true);

-- With a foreign key to it: two for a delete, as its check waits for rows of the
-- other table, and its action changes some.
CREATE TABLE "Refers" (of integer REFERENCES "One's");
INSERT INTO "Refers" VALUES (1), (3);
SELECT * FROM one_or_two();

-- A transaction that holds the table to write, as after a change and after any
-- verb: two. One that has only locked some of its rows, as the check of a
-- foreign key does: one.
BEGIN;
UPDATE "One's" SET "Note" = "Note" WHERE id = 5;
SELECT * FROM one_or_two();
ROLLBACK;
BEGIN;
SELECT count(*) FROM ordered_lock(NULL::"One's", '{1,2,3}'::integer[]);
SELECT * FROM one_or_two();
ROLLBACK;
BEGIN;
INSERT INTO "Refers" VALUES (2);
SELECT * FROM one_or_two();
ROLLBACK;
DROP TABLE "Refers";
-- The watch knows of rows that were locked before a batch in one pass. (warning)
BEGIN;
SELECT FROM "One's" WHERE id = 4 FOR UPDATE;
SELECT id FROM ordered_increment(NULL::"One's", '{2,4}'::integer[], 'N');
ROLLBACK;
-- A row that the transaction has inserted itself holds up nobody: going back
-- from it to a lower key is no fault. (no warning)
BEGIN;
INSERT INTO "One's" VALUES (8);
SELECT id FROM ordered_increment(NULL::"One's", '{8}'::integer[], 'N');
SELECT id FROM ordered_increment(NULL::"One's", '{2}'::integer[], 'N');
ROLLBACK;
-- Control: going back from a row that was there is one. (warning)
BEGIN;
SELECT id FROM ordered_increment(NULL::"One's", '{5}'::integer[], 'N');
SELECT id FROM ordered_increment(NULL::"One's", '{2}'::integer[], 'N');
ROLLBACK;
-- What one pass has locked is remembered, as in two: coming back is no fault.
BEGIN;
SELECT id FROM ordered_increment(NULL::"One's", '{2,5}'::integer[], 'N');
SELECT id FROM ordered_increment(NULL::"One's", '{2}'::integer[], 'N');
ROLLBACK;
-- With ordered statements on it is the same.
SET ordered_update.order_statements = on;
SELECT * FROM one_or_two();
BEGIN;
SELECT id FROM ordered_increment(NULL::"One's", '{5}'::integer[], 'N');
SELECT id FROM ordered_increment(NULL::"One's", '{2}'::integer[], 'N');
ROLLBACK;
RESET ordered_update.order_statements;

-- A trigger of any kind on the event: two, and it does not see changes that
-- are undone as a row is missing.
CREATE FUNCTION "Tell"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE NOTICE '% % %', TG_WHEN, TG_OP, TG_LEVEL;
    RETURN CASE TG_OP WHEN 'DELETE' THEN OLD ELSE NEW END;
END $$;
CREATE TRIGGER "Before" BEFORE UPDATE ON "One's" FOR EACH ROW EXECUTE FUNCTION "Tell"();
SELECT * FROM one_or_two() WHERE verb <> 'delete';
SELECT error_of($$ SELECT * FROM ordered_increment(NULL::"One's", '{1,9}'::integer[], 'N') $$);  -- (error)
SELECT * FROM one_or_two() WHERE verb = 'delete';
DROP TRIGGER "Before" ON "One's";
SELECT * FROM one_or_two();
CREATE TRIGGER "After" AFTER DELETE ON "One's" FOR EACH ROW EXECUTE FUNCTION "Tell"();
SELECT * FROM one_or_two();
SELECT error_of($$ SELECT * FROM ordered_delete(NULL::"One's", '{2,9}'::integer[]) $$);  -- (error)
DROP TRIGGER "After" ON "One's";
CREATE TRIGGER "Whole" AFTER UPDATE ON "One's" FOR EACH STATEMENT EXECUTE FUNCTION "Tell"();
SELECT * FROM one_or_two();
SELECT error_of($$ SELECT * FROM ordered_increment(NULL::"One's", '{1,9}'::integer[], 'N') $$);  -- (error)
DROP TRIGGER "Whole" ON "One's";

-- A further index that rows exclude each other by, whatever it looks at, unique or
-- not, deferrable or not: two, for a delete too, as others could wait for what is
-- changed or deleted already.
CREATE UNIQUE INDEX "U" ON "One's" ("Note");
SELECT * FROM one_or_two();
DROP INDEX "U";
CREATE UNIQUE INDEX "U" ON "One's" ("Note") WHERE "N" > 1;
SELECT * FROM one_or_two();
DROP INDEX "U";
ALTER TABLE "One's" ADD CONSTRAINT "Later" UNIQUE ("Note", id) DEFERRABLE INITIALLY DEFERRED;
SELECT * FROM one_or_two();
ALTER TABLE "One's" DROP CONSTRAINT "Later";
ALTER TABLE "One's" ADD CONSTRAINT "Excl" EXCLUDE USING btree ("Note" WITH =);
SELECT * FROM one_or_two();
ALTER TABLE "One's" DROP CONSTRAINT "Excl";
-- Another index: one.
CREATE INDEX "I" ON "One's" ("N", lower("Note")) WHERE "N" > 0;
SELECT * FROM one_or_two();
DROP INDEX "I";

-- A CHECK or a generated column that looks at a changed column: two for a change,
-- as it could fail for a value that is there no more.
ALTER TABLE "One's" ADD CONSTRAINT "Some" CHECK ("N" >= 0);
SELECT * FROM one_or_two();
SELECT passes($$ SELECT * FROM ordered_update(NULL::"One's", '[{"id": 3, "Note": ""}]') $$);
ALTER TABLE "One's" DROP CONSTRAINT "Some";
ALTER TABLE "One's" ADD CONSTRAINT "Whole" CHECK ("One's" IS NOT NULL) NOT VALID;
SELECT * FROM one_or_two();
ALTER TABLE "One's" DROP CONSTRAINT "Whole";
ALTER TABLE "One's" ADD COLUMN "Double" integer GENERATED ALWAYS AS ("N" * 2) STORED;
SELECT * FROM one_or_two();
ALTER TABLE "One's" DROP COLUMN "Double";
ALTER TABLE "One's" ADD COLUMN "Length" integer GENERATED ALWAYS AS (length("Note")) STORED;
SELECT * FROM one_or_two();
ALTER TABLE "One's" DROP COLUMN "Length";
-- A sum of a narrow or bounded type: two. What is set is not computed from what
-- is there: one.
ALTER TABLE "One's" ADD COLUMN small smallint DEFAULT 1, ADD COLUMN "Real" real DEFAULT 3e38, ADD COLUMN cents numeric(6, 2) DEFAULT 1,
    ADD COLUMN big bigint DEFAULT 1, ADD COLUMN "Double" double precision DEFAULT 1e308, ADD COLUMN num numeric DEFAULT 1;
SELECT v AS counter, passes(format($$ SELECT * FROM ordered_increment(NULL::"One's", '{3,1}'::integer[], %L, %s) $$, v, a)),
       passes(format($$ SELECT * FROM ordered_add(NULL::"One's", '[{"id": 3, "%s": %s}]') $$, v, a))
  FROM (VALUES ('small', '32767'), ('Real', '3e38'), ('cents', '9999'), ('big', '9223372036854775807'), ('Double', '1.7e308')) AS c(v, a);
ALTER TABLE "One's" ALTER small SET NOT NULL, ALTER cents SET NOT NULL;
SELECT v AS counter, passes(format($$ SELECT * FROM ordered_update(NULL::"One's", '[{"id": 3, "%s": null}]') $$, v))
  FROM unnest(ARRAY['small', 'cents']) AS v;
ALTER TABLE "One's" DROP COLUMN small, DROP COLUMN "Real", DROP COLUMN cents, DROP COLUMN big, DROP COLUMN "Double", DROP COLUMN num;

-- A CHECK, a generated column or an index that calls a function that is not the
-- server's, or a volatile one, can lock something: two, whatever the function is
-- declared to be.
CREATE FUNCTION "Asks"(text) RETURNS boolean LANGUAGE plpgsql AS 'BEGIN RETURN $1 <> ''''; END';
ALTER TABLE "One's" ADD CONSTRAINT "Asks" CHECK ("Asks"("Note"));
SELECT * FROM one_or_two();
ALTER FUNCTION "Asks" IMMUTABLE;
SELECT * FROM one_or_two();
ALTER TABLE "One's" DROP CONSTRAINT "Asks";
CREATE INDEX "I" ON "One's" ("Asks"("Note"));
SELECT * FROM one_or_two();
DROP INDEX "I";
ALTER TABLE "One's" ADD CONSTRAINT "Locks" CHECK (pg_advisory_xact_lock(length("Note"))::text = '');
SELECT * FROM one_or_two();
ALTER TABLE "One's" DROP CONSTRAINT "Locks";
-- So can the constraint of a domain: two where a column of the domain is changed,
-- or generated, or where a CHECK or an index casts to it.
CREATE DOMAIN "Word" AS text CHECK ("Asks"(VALUE));
ALTER TABLE "One's" ADD COLUMN "D" "Word" NOT NULL DEFAULT 'd';
SELECT * FROM one_or_two();
SELECT passes($$ SELECT * FROM ordered_update(NULL::"One's", '[{"id": 3, "D": null}]') $$);
ALTER TABLE "One's" DROP COLUMN "D";
ALTER TABLE "One's" ADD COLUMN "D" "Word" GENERATED ALWAYS AS ("Note" || '.') STORED;
SELECT * FROM one_or_two();
ALTER TABLE "One's" DROP COLUMN "D";
ALTER TABLE "One's" ADD CONSTRAINT "Casts" CHECK (("Note" || '.')::"Word" <> '');
SELECT * FROM one_or_two();
ALTER TABLE "One's" DROP CONSTRAINT "Casts";
CREATE INDEX "I" ON "One's" ((("Note" || '.')::"Word"));
SELECT * FROM one_or_two();
DROP INDEX "I";

-- A foreign key from it: two where a column of it is changed, as its check waits
-- for the row that is referenced.
CREATE TABLE "Referred" (id integer PRIMARY KEY);
ALTER TABLE "One's" ADD COLUMN "Ref" integer REFERENCES "Referred";
SELECT * FROM one_or_two();
SELECT passes($$ SELECT * FROM ordered_update(NULL::"One's", '[{"id": 3, "Ref": 1}]') $$);
ALTER TABLE "One's" DROP COLUMN "Ref";
DROP TABLE "Referred";

-- A CHECK that rows need not have passed, as it is not valid or depends on more
-- than the row: two, whatever it looks at.
ALTER TABLE "One's" ADD CONSTRAINT "New" CHECK ("Note" <> 'old') NOT VALID;
SELECT * FROM one_or_two();
ALTER TABLE "One's" VALIDATE CONSTRAINT "New";
SELECT * FROM one_or_two();
ALTER TABLE "One's" DROP CONSTRAINT "New";
-- The same of NOT NULL, which cannot be so before 18.
SELECT format('ALTER TABLE "One''s" ADD CONSTRAINT "Not Null" %s NOT VALID',
              CASE WHEN current_setting('server_version_num')::integer >= 180000 THEN 'NOT NULL "Note"'
                   ELSE 'CHECK ("Note" IS NOT NULL)' END) AS add_not_null \gset
:add_not_null;
SELECT * FROM one_or_two();
ALTER TABLE "One's" DROP CONSTRAINT "Not Null";
ALTER TABLE "One's" ADD COLUMN "Until" timestamptz CHECK ("Until" > now());
SELECT * FROM one_or_two();
ALTER TABLE "One's" DROP COLUMN "Until";

-- Row security: two, for the owner too.
ALTER TABLE "One's" ENABLE ROW LEVEL SECURITY;
CREATE POLICY "All" ON "One's" USING (true);
SELECT * FROM one_or_two();
ALTER TABLE "One's" DISABLE ROW LEVEL SECURITY;
SELECT * FROM one_or_two();

-- Who may delete and not lock is refused, in one pass as in two. (error)
REVOKE UPDATE ON "One's" FROM "regress_one's";
GRANT DELETE ON "One's" TO "regress_one's";
SET ROLE "regress_one's";
SELECT error_of($$ SELECT * FROM ordered_delete(NULL::"One's", '{2}'::integer[]) $$);
RESET ROLE;
-- UPDATE on one column is enough to lock.
GRANT UPDATE ("Note") ON "One's" TO "regress_one's";
SET ROLE "regress_one's";
BEGIN;
SELECT id FROM ordered_delete(NULL::"One's", '{2}'::integer[]);
ROLLBACK;
RESET ROLE;

-- A key of several columns, of a type with a collation: one pass, in key order.
CREATE TABLE "Two Keys" ("K" text, k integer, v integer NOT NULL, PRIMARY KEY ("K", k));
GRANT SELECT, UPDATE ON "Two Keys" TO "regress_one's";
INSERT INTO "Two Keys" SELECT k, n, 0 FROM unnest(ARRAY['b', 'a', 'c']) AS k, generate_series(1, 2) AS n;
SELECT * FROM ordered_increment(NULL::"Two Keys", ARRAY[('c', 1), ('a', 2), ('b', 1), ('a', 2)], 'v');
SELECT * FROM ordered_update(NULL::"Two Keys", '[{"K": "c", "k": 2, "v": 9}, {"K": "a", "k": 1, "v": 8}]');
SELECT passes($$ SELECT * FROM ordered_increment(NULL::"Two Keys", ARRAY[('c', 1), ('a', 2)], 'v', 2147483647) $$);
-- In two, rows that are not there and rows that lie in other order, or partly in
-- key order.
BEGIN;
UPDATE "Two Keys" SET v = 0;
SELECT * FROM ordered_increment(NULL::"Two Keys", ARRAY[('c', 1), ('b', 7), ('a', 2), ('b', 2), ('b', 1), ('0', 0), ('a', 1)], 'v', missing_ok => true);
SELECT * FROM ordered_add(NULL::"Two Keys", '[{"K": "b", "k": 1, "v": 2}, {"K": "b", "k": 2, "v": 3}, {"K": "b", "k": 3, "v": 4}, {"K": "c", "k": 1, "v": 5}]', true);
ROLLBACK;
SELECT * FROM ordered_delete(NULL::"Two Keys", ARRAY[('c', 1), ('a', 2), ('b', 1), ('a', 2)]);

-- The order is the statement's, whatever delivers the rows: here a bitmap does, in
-- the order in which they are stored. Control: the same change without an order.
CREATE TABLE "Back" (id integer PRIMARY KEY, v integer NOT NULL DEFAULT 0);
INSERT INTO "Back" SELECT 101 - i FROM generate_series(1, 100) AS i;
ANALYZE "Back";
SET enable_indexscan = off;
SET enable_seqscan = off;
UPDATE "Back" SET v = 1 WHERE id = ANY ('{2,99,50}') RETURNING id;
SELECT * FROM ordered_increment(NULL::"Back", '{2,99,50}'::integer[], 'v');
SELECT * FROM ordered_add(NULL::"Back", '[{"id": 2, "v": 1}, {"id": 99, "v": 2}, {"id": 50, "v": 3}]');
SELECT * FROM ordered_delete(NULL::"Back", '{2,99,50}'::integer[]);
RESET enable_indexscan;
RESET enable_seqscan;
DROP TABLE "Back";

-- A partitioned table, whose partitions can have triggers of their own: two.
CREATE TABLE "Parted" (id integer PRIMARY KEY, v integer) PARTITION BY RANGE (id);
CREATE TABLE "Parted 1" PARTITION OF "Parted" FOR VALUES FROM (1) TO (10);
INSERT INTO "Parted" VALUES (1, 1), (2, 1);
GRANT SELECT, UPDATE ON "Parted", "Parted 1" TO "regress_one's";
SELECT passes($$ SELECT * FROM ordered_increment(NULL::"Parted", '{2,1}'::integer[], 'v', 2147483647) $$);
-- So is a partition by its own name, as its bounds are like a CHECK: two.
SELECT passes($$ SELECT * FROM ordered_increment(NULL::"Parted 1", '{2,1}'::integer[], 'v', 2147483647) $$);

DROP TABLE "One's", "Two Keys", "Parted";
DROP FUNCTION "Tell"(), passes, breaks, one_or_two;
DROP DOMAIN "Word";
DROP FUNCTION "Asks";
DROP ROLE "regress_one's";
