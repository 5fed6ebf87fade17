-- A verb works wherever a query can stand: savepoints, PL/pgSQL, prepared
-- statements, CTEs, views, and once for each row of a query.
\pset format unaligned
\pset footer off
CREATE TABLE "Nest's" (id integer PRIMARY KEY, "Rev" integer NOT NULL DEFAULT 0);
INSERT INTO "Nest's" SELECT generate_series(1, 4);
SET ordered_update.default_table = '"Nest''s"';
SET ordered_update.default_counter = 'Rev';

-- A savepoint takes back what came after it, and nothing before.
BEGIN;
SELECT * FROM ordered_increment('{2,1}');
SAVEPOINT "Half Way";
SELECT * FROM ordered_increment('{3,2}');
ROLLBACK TO "Half Way";
SELECT * FROM ordered_increment('{4,2}');
SAVEPOINT "Half Way";
SELECT * FROM ordered_increment('{5}');  -- (error)
ROLLBACK TO "Half Way";
SELECT * FROM ordered_increment('{1}');
COMMIT;
TABLE "Nest's" ORDER BY id;

-- An error that is not caught takes back the transaction.
BEGIN;
SELECT * FROM ordered_increment('{1}');
SELECT * FROM ordered_increment('{1,5}');  -- (error)
SELECT * FROM ordered_increment('{1}');  -- (error)
COMMIT;
TABLE "Nest's" ORDER BY id;

-- PL/pgSQL reads the rows in order, and an EXCEPTION block can go on.
DO $$
DECLARE
    "Row" record;
BEGIN
    FOR "Row" IN SELECT * FROM ordered_increment('{4,1,3}') LOOP
        RAISE NOTICE 'id %, revision %', "Row".id, "Row".revision;
    END LOOP;
    BEGIN
        PERFORM ordered_increment('{2,9}');
    EXCEPTION WHEN no_data_found THEN
        RAISE NOTICE 'caught %: %', SQLSTATE, SQLERRM;
    END;
    PERFORM ordered_increment('{2}');
END $$;
TABLE "Nest's" ORDER BY id;

-- In a function called again and again the plans stay good.
CREATE FUNCTION "Up By"(ids integer[], times integer) RETURNS SETOF integer LANGUAGE plpgsql AS $$
BEGIN
    FOR i IN 1 .. times LOOP
        RETURN QUERY SELECT r.revision FROM ordered_increment(ids) r;
    END LOOP;
END $$;
SELECT string_agg(u::text, ' ') FROM "Up By"('{2,1}', 8) u;

-- An assignment to one variable of the table's type reads a row.
DO $$
DECLARE
    "Row" "Nest's";
BEGIN
    "Row" := ordered_increment(NULL::"Nest's", ARRAY[4], 'Rev', 10);
    RAISE NOTICE '%', "Row";
END $$;

-- A cursor reads a batch that was done as a whole when it was opened to read.
BEGIN;
DECLARE "Cur" CURSOR FOR SELECT * FROM ordered_increment('{3,2,1}');
FETCH 1 FROM "Cur";
TABLE "Nest's" ORDER BY id;
FETCH ALL FROM "Cur";
ROLLBACK;

-- A prepared statement with a parameter, under generic and custom plans.
PREPARE "Prep" (integer[]) AS SELECT * FROM ordered_increment($1);
EXECUTE "Prep"('{4,3}');
SET plan_cache_mode = force_generic_plan;
EXECUTE "Prep"('{1,2,1}');
EXECUTE "Prep"('{5}');  -- (error)
EXECUTE "Prep"('{3}');
SET plan_cache_mode = force_custom_plan;
EXECUTE "Prep"('{2}');
RESET plan_cache_mode;
DEALLOCATE "Prep";

-- A CTE runs once, though it is read twice.
WITH bumped AS (SELECT * FROM ordered_increment('{2,4}'))
SELECT a.id, a.revision, b.revision FROM bumped a JOIN bumped b USING (id) ORDER BY id;

-- The result joins with other tables.
SELECT n.id, r.revision, r.revision - n."Rev" AS more
  FROM ordered_increment('{1,3}') r JOIN "Nest's" n USING (id) ORDER BY n.id;

-- Its rows can be stored by the same statement.
CREATE TABLE "Log of It" (id integer, revision integer);
WITH bumped AS (SELECT * FROM ordered_increment('{3,2}'))
INSERT INTO "Log of It" SELECT * FROM bumped;
TABLE "Log of It" ORDER BY id;

-- A view runs a batch each time it is read.
CREATE VIEW "Always Up" AS SELECT * FROM ordered_increment(ARRAY[4,1]);
TABLE "Always Up";
TABLE "Always Up";

-- Called for each row of a query, each call sees what the calls before it
-- did: row 1 counts up three times.
SELECT q.n, r.*
  FROM (VALUES (1, '{1,2}'::integer[]), (2, '{3,1}'), (3, '{1}')) q(n, ids)
 CROSS JOIN LATERAL ordered_increment(q.ids) r
 ORDER BY q.n, r.id;

-- In a data-modifying statement, beside a change of another row.
UPDATE "Nest's" SET "Rev" = 0 WHERE id = 4
RETURNING id, (SELECT revision FROM ordered_increment('{1}')) AS one;

-- A row that the statement around it has changed already gets both changes.
UPDATE "Nest's" SET "Rev" = 100 WHERE id = 2
RETURNING (SELECT revision FROM ordered_increment('{2}'));

-- A row that the statement around it is going to change cannot get both, and
-- core's 27000 says so: nothing is lost silently. (error)
SELECT error_of($$
    UPDATE "Nest's" SET "Rev" = 200
     WHERE id = 2 AND (SELECT revision FROM ordered_increment('{2}')) > 0 $$);
TABLE "Nest's" ORDER BY id;

-- A function that a batch calls while it reads its keys cannot change the
-- table under it. (error)
CREATE TYPE "Number" AS ENUM ('1', '2');
CREATE FUNCTION "To Id"("Number") RETURNS integer LANGUAGE plpgsql AS $$
BEGIN
    ALTER TABLE "Nest's" ALTER "Rev" DROP DEFAULT, ALTER "Rev" TYPE text;
    RETURN 1;
END $$;
CREATE CAST ("Number" AS integer) WITH FUNCTION "To Id"("Number") AS ASSIGNMENT;
SELECT error_of($$ SELECT * FROM ordered_lock(NULL::"Nest's", '{1,2}'::"Number"[]) $$);
DROP CAST ("Number" AS integer);
DROP FUNCTION "To Id"("Number");
DROP TYPE "Number";
RESET ordered_update.default_table;
RESET ordered_update.default_counter;
DROP VIEW "Always Up";
DROP FUNCTION "Up By"(integer[], integer);
DROP TABLE "Nest's", "Log of It";
