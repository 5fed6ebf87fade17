-- A verb needs the privileges of the statements it stands for, on the columns
-- it reads and changes, and no others; a refused one changes nothing.
\pset format unaligned
\pset footer off
CREATE ROLE "regress_o'u Worker";
CREATE SCHEMA "Priv's";
CREATE TABLE "Priv's"."Ledger ""A""" (
    id integer PRIMARY KEY, "Counter" integer NOT NULL DEFAULT 0, "Secret" text DEFAULT 'secret');
INSERT INTO "Priv's"."Ledger ""A""" SELECT generate_series(1, 6);
GRANT USAGE ON SCHEMA "Priv's" TO "regress_o'u Worker";
SET ordered_update.default_table = '"Priv''s"."Ledger ""A"""';
SET ordered_update.default_counter = 'Counter';

SET ROLE "regress_o'u Worker";
-- Without any privilege: 42501 from every verb. (error)
SELECT error_of('SELECT * FROM ordered_increment(''{1}'')');
SELECT error_of($$ SELECT * FROM ordered_increment(NULL::"Priv's"."Ledger ""A""", '{1}'::integer[], 'Counter') $$);
SELECT error_of($$ SELECT * FROM ordered_delete(NULL::"Priv's"."Ledger ""A""", '{1}'::integer[]) $$);
SELECT error_of($$ SELECT * FROM ordered_lock(NULL::"Priv's"."Ledger ""A""", '{1}'::integer[]) $$);
-- A missing row is not told from a present one. (error)
SELECT error_of('SELECT * FROM ordered_increment(''{99}'')');
RESET ROLE;

-- SELECT alone does not lock. (error)
GRANT SELECT ON "Priv's"."Ledger ""A""" TO "regress_o'u Worker";
SET ROLE "regress_o'u Worker";
SELECT error_of('SELECT * FROM ordered_increment(''{1}'')');
SELECT error_of($$ SELECT * FROM ordered_lock(NULL::"Priv's"."Ledger ""A""", '{1}'::integer[], 'key share') $$);
SELECT error_of($$ SELECT * FROM ordered_delete(NULL::"Priv's"."Ledger ""A""", '{1}'::integer[]) $$);
RESET ROLE;
REVOKE SELECT ON "Priv's"."Ledger ""A""" FROM "regress_o'u Worker";

-- UPDATE alone does not read the key. (error)
GRANT UPDATE ON "Priv's"."Ledger ""A""" TO "regress_o'u Worker";
SET ROLE "regress_o'u Worker";
SELECT error_of('SELECT * FROM ordered_increment(''{1}'')');
RESET ROLE;
REVOKE UPDATE ON "Priv's"."Ledger ""A""" FROM "regress_o'u Worker";

-- Column privileges are enough for the short form: key and counter.
GRANT SELECT (id, "Counter"), UPDATE ("Counter") ON "Priv's"."Ledger ""A""" TO "regress_o'u Worker";
SET ROLE "regress_o'u Worker";
SELECT * FROM ordered_increment('{3,1}');
SELECT error_of('SELECT * FROM ordered_increment(''{3,99}'')');  -- (error)
-- A verb that returns whole rows reads every column: 42501. (error)
SELECT error_of($$ SELECT * FROM ordered_increment(NULL::"Priv's"."Ledger ""A""", '{1}'::integer[], 'Counter') $$);
SELECT error_of($$ SELECT * FROM ordered_lock(NULL::"Priv's"."Ledger ""A""", '{1}'::integer[]) $$);
-- Another column cannot be changed. (error)
SET ordered_update.default_counter = 'id';
SELECT error_of('SELECT * FROM ordered_increment(''{1}'')');
SET ordered_update.default_counter = 'Counter';
RESET ROLE;

-- The counter must be readable, as counter = counter + 1 reads it. (error)
REVOKE SELECT ("Counter") ON "Priv's"."Ledger ""A""" FROM "regress_o'u Worker";
SET ROLE "regress_o'u Worker";
SELECT error_of('SELECT * FROM ordered_increment(''{1}'')');
RESET ROLE;
REVOKE ALL (id, "Counter") ON "Priv's"."Ledger ""A""" FROM "regress_o'u Worker";

-- The plans of a session do not outlive a privilege: granted, used, revoked
-- (error), granted again.
GRANT SELECT, UPDATE ON "Priv's"."Ledger ""A""" TO "regress_o'u Worker";
SET ROLE "regress_o'u Worker";
SELECT * FROM ordered_increment('{2,1}');
RESET ROLE;
REVOKE UPDATE ON "Priv's"."Ledger ""A""" FROM "regress_o'u Worker";
SET ROLE "regress_o'u Worker";
SELECT error_of('SELECT * FROM ordered_increment(''{2,1}'')');
RESET ROLE;
GRANT UPDATE ON "Priv's"."Ledger ""A""" TO "regress_o'u Worker";
SET ROLE "regress_o'u Worker";
SELECT * FROM ordered_increment('{2,1}');

-- SELECT and UPDATE on the table: every verb but ordered_delete.
SELECT * FROM ordered_increment(NULL::"Priv's"."Ledger ""A""", '{4,3}'::integer[], 'Counter', 10);
SELECT * FROM ordered_lock(NULL::"Priv's"."Ledger ""A""", '{4,3}'::integer[]);
SELECT error_of($$ SELECT * FROM ordered_delete(NULL::"Priv's"."Ledger ""A""", '{6,5}'::integer[]) $$);  -- (error)
RESET ROLE;

-- With DELETE too, ordered_delete.
GRANT DELETE ON "Priv's"."Ledger ""A""" TO "regress_o'u Worker";
SET ROLE "regress_o'u Worker";
SELECT * FROM ordered_delete(NULL::"Priv's"."Ledger ""A""", '{6,5}'::integer[]);
RESET ROLE;

-- A schema that may not be used hides its tables from the short form. (error)
REVOKE USAGE ON SCHEMA "Priv's" FROM "regress_o'u Worker";
SET ROLE "regress_o'u Worker";
SELECT error_of('SELECT * FROM ordered_increment(''{1}'')');
RESET ROLE;

-- A SECURITY DEFINER function lends its owner's privileges, for its own time,
-- and plans made by the owner are not used for others.
CREATE FUNCTION "Bump For All"(ids integer[]) RETURNS SETOF integer
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS 'SELECT revision FROM public.ordered_increment(ids)';
GRANT USAGE ON SCHEMA "Priv's" TO "regress_o'u Worker";
REVOKE ALL ON "Priv's"."Ledger ""A""" FROM "regress_o'u Worker";
SET ROLE "regress_o'u Worker";
SELECT * FROM "Bump For All"('{4,1}');
SELECT error_of('SELECT * FROM ordered_increment(''{1}'')');  -- (error)
SELECT * FROM "Bump For All"('{4,1}');
RESET ROLE;

-- A privilege on the partitioned table is enough, as in SQL.
CREATE TABLE "Priv's"."Parts" (id integer PRIMARY KEY, "Counter" integer NOT NULL DEFAULT 0) PARTITION BY RANGE (id);
CREATE TABLE "Priv's"."Parts 1" PARTITION OF "Priv's"."Parts" FOR VALUES FROM (0) TO (10);
CREATE TABLE "Priv's"."Parts 2" PARTITION OF "Priv's"."Parts" FOR VALUES FROM (10) TO (20);
INSERT INTO "Priv's"."Parts" VALUES (1), (11);
GRANT SELECT, UPDATE, DELETE ON "Priv's"."Parts" TO "regress_o'u Worker";
SET ROLE "regress_o'u Worker";
SELECT * FROM ordered_increment(NULL::"Priv's"."Parts", '{11,1}'::integer[], 'Counter');
SELECT * FROM ordered_delete(NULL::"Priv's"."Parts", '{11}'::integer[]);
SELECT error_of($$ SELECT * FROM ordered_increment(NULL::"Priv's"."Parts 1", '{1}'::integer[], 'Counter') $$);  -- (error)
RESET ROLE;

-- A cast of the keys is called only for who may call it. (error)
CREATE TYPE "Number" AS ENUM ('one', 'two');
CREATE FUNCTION "To Id"("Number") RETURNS integer LANGUAGE sql AS 'SELECT CASE $1 WHEN ''one'' THEN 1 ELSE 2 END';
CREATE CAST ("Number" AS integer) WITH FUNCTION "To Id"("Number") AS ASSIGNMENT;
SELECT id FROM ordered_lock(NULL::"Priv's"."Parts", '{one}'::"Number"[]);
REVOKE EXECUTE ON FUNCTION "To Id"("Number") FROM PUBLIC;
SET ROLE "regress_o'u Worker";
SELECT error_of($$ SELECT * FROM ordered_lock(NULL::"Priv's"."Parts", '{one}'::"Number"[]) $$);
SELECT error_of($$ SELECT * FROM ordered_lock(NULL::"Priv's"."Parts", ARRAY[ROW('one'::"Number")]) $$);
RESET ROLE;
DROP CAST ("Number" AS integer);
DROP FUNCTION "To Id"("Number");
DROP TYPE "Number";

TABLE "Priv's"."Ledger ""A""" ORDER BY id;
RESET ordered_update.default_table;
RESET ordered_update.default_counter;
DROP FUNCTION "Bump For All"(integer[]);
DROP TABLE "Priv's"."Ledger ""A""", "Priv's"."Parts";
DROP SCHEMA "Priv's";
DROP ROLE "regress_o'u Worker";
