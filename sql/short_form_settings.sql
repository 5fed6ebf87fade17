-- The two settings lead ordered_increment(integer[]) to any table and counter.
\pset format unaligned
\pset footer off

-- Names with spaces, capitals and quotes, in a schema of such a name that is
-- not on the search_path.
CREATE SCHEMA "Odd ""Schema""";
CREATE TABLE "Odd ""Schema"""."Odd's.Table" (
    "It's the ""Key""" integer PRIMARY KEY, "How Many; --" integer NOT NULL DEFAULT 0);
INSERT INTO "Odd ""Schema"""."Odd's.Table" VALUES (2, 20), (1, 10), (3, 30);
SET ordered_update.default_table = '"Odd ""Schema"""."Odd''s.Table"';
SET ordered_update.default_counter = 'How Many; --';
SELECT * FROM ordered_increment('{3,1}');
TABLE "Odd ""Schema"""."Odd's.Table" ORDER BY 1;

-- An error names schema, table and key column. (error)
SELECT error_of('SELECT * FROM ordered_increment(''{1,7}'')');

-- The name is looked up on the search_path, as SQL would.
SET ordered_update.default_table = '"Odd''s.Table"';
SELECT error_of('SELECT * FROM ordered_increment(''{1}'')');  -- (error)
SET search_path = "Odd ""Schema""", public;
SELECT * FROM ordered_increment('{1}');
RESET search_path;

-- An unquoted name is folded, as in SQL.
CREATE TABLE folded (id integer PRIMARY KEY, revision integer NOT NULL DEFAULT 0);
INSERT INTO folded VALUES (1), (2);
SET ordered_update.default_table = 'PUBLIC.Folded';
RESET ordered_update.default_counter;
SELECT * FROM ordered_increment('{2,1}');

-- A temporary table shadows a permanent one of the same name.
CREATE TEMP TABLE folded (id integer PRIMARY KEY, revision integer NOT NULL DEFAULT 100);
INSERT INTO folded VALUES (1), (2);
SET ordered_update.default_table = 'folded';
SELECT * FROM ordered_increment('{2,1}');
SELECT error_of('SELECT * FROM ordered_increment(''{1,7}'')');  -- (error)
SET ordered_update.default_table = 'pg_temp.folded';
SELECT * FROM ordered_increment('{2,1}');
DROP TABLE pg_temp.folded;
SET ordered_update.default_table = 'folded';
SELECT * FROM ordered_increment('{2,1}');

-- A setting of one function, or of one transaction, ends with it.
CREATE TABLE "Other Counts" (id integer PRIMARY KEY, "Hits" integer NOT NULL DEFAULT 0);
INSERT INTO "Other Counts" VALUES (1);
CREATE FUNCTION "Hit Once"() RETURNS integer LANGUAGE sql
    SET ordered_update.default_table = '"Other Counts"'
    SET ordered_update.default_counter = 'Hits'
    AS 'SELECT revision FROM ordered_increment(ARRAY[1])';
SELECT "Hit Once"();
BEGIN;
SET LOCAL ordered_update.default_table = '"Other Counts"';
SET LOCAL ordered_update.default_counter = 'Hits';
SELECT * FROM ordered_increment('{1}');
ROLLBACK;
SELECT * FROM ordered_increment('{1}');

-- Keys and counters of all integer types; a counter of each numeric type.
CREATE TABLE "Types of Both" (
    k2 smallint NOT NULL, k8 bigint NOT NULL, kn numeric NOT NULL,
    c2 smallint NOT NULL DEFAULT 0, c8 bigint NOT NULL DEFAULT 0, cn numeric(5,1) NOT NULL DEFAULT 0,
    cr real NOT NULL DEFAULT 0, cd double precision NOT NULL DEFAULT 0);
INSERT INTO "Types of Both" SELECT i, i, i FROM generate_series(1, 3) i;
SET ordered_update.default_table = '"Types of Both"';
DO $$
DECLARE
    "Key" text;
    "Counter" text;
    "Result" text;
BEGIN
    FOREACH "Key" IN ARRAY ARRAY['k2', 'k8', 'kn'] LOOP
        EXECUTE format('ALTER TABLE "Types of Both" ADD CONSTRAINT "By Key" PRIMARY KEY (%I)', "Key");
        FOREACH "Counter" IN ARRAY ARRAY['c2', 'c8', 'cn', 'cr', 'cd'] LOOP
            PERFORM set_config('ordered_update.default_counter', "Counter", true);
            SELECT string_agg(r::text, ' ' ORDER BY ordinality) INTO "Result"
              FROM ordered_increment('{3,1,3}') WITH ORDINALITY AS r;
            RAISE NOTICE '% %: %', "Key", "Counter", "Result";
        END LOOP;
        ALTER TABLE "Types of Both" DROP CONSTRAINT "By Key";
    END LOOP;
END $$;
TABLE "Types of Both" ORDER BY k2;

-- A partitioned table is a table like any other.
CREATE TABLE "Parted" (id integer PRIMARY KEY, revision integer NOT NULL DEFAULT 0) PARTITION BY LIST (id);
CREATE TABLE "Parted Odd" PARTITION OF "Parted" FOR VALUES IN (1, 3);
CREATE TABLE "Parted Even" PARTITION OF "Parted" FOR VALUES IN (2, 4);
INSERT INTO "Parted" SELECT generate_series(1, 4);
SET ordered_update.default_table = '"Parted"';
RESET ordered_update.default_counter;
SELECT * FROM ordered_increment('{4,3,1}');
SELECT tableoid::regclass, * FROM "Parted" ORDER BY id;

RESET ordered_update.default_table;
DROP TABLE folded, "Other Counts", "Types of Both", "Parted";
DROP FUNCTION "Hit Once"();
DROP SCHEMA "Odd ""Schema""" CASCADE;
