-- The plans that a session keeps follow every change of the table: each call
-- below is right although one before it was planned for another table.
\pset format unaligned
\pset footer off
CREATE SCHEMA "First Home";
CREATE SCHEMA "Second's Home";
CREATE TABLE "First Home"."Moves" (id integer PRIMARY KEY, "N" integer NOT NULL DEFAULT 0, "Extra" text DEFAULT 'x');
INSERT INTO "First Home"."Moves" SELECT generate_series(1, 4);
SET ordered_update.default_table = '"First Home"."Moves"';
SET ordered_update.default_counter = 'N';
SELECT * FROM ordered_increment('{3,1}');
SELECT * FROM ordered_increment(NULL::"First Home"."Moves", '{3,1}'::integer[], 'N', 10);

-- A renamed table is found by its row type, and no longer by its old name. (error)
ALTER TABLE "First Home"."Moves" RENAME TO "Moved";
SELECT error_of('SELECT * FROM ordered_increment(''{3,1}'')');
SELECT * FROM ordered_increment(NULL::"First Home"."Moved", '{3,1}'::integer[], 'N', 10);
SET ordered_update.default_table = '"First Home"."Moved"';
SELECT * FROM ordered_increment('{3,1}');

-- A new table under the old name is another table.
CREATE TABLE "First Home"."Moves" (id integer PRIMARY KEY, "N" integer NOT NULL DEFAULT 500);
INSERT INTO "First Home"."Moves" VALUES (1), (3);
SET ordered_update.default_table = '"First Home"."Moves"';
SELECT * FROM ordered_increment('{3,1}');
DROP TABLE "First Home"."Moves";
SET ordered_update.default_table = '"First Home"."Moved"';
SELECT * FROM ordered_increment('{3,1}');

-- Two tables swap their names.
CREATE TABLE "First Home"."Twin" (id integer PRIMARY KEY, "N" integer NOT NULL DEFAULT 900, "Extra" text);
INSERT INTO "First Home"."Twin" VALUES (1), (3);
PREPARE "Swap" AS SELECT * FROM ordered_increment('{3,1}');
EXECUTE "Swap";
BEGIN;
ALTER TABLE "First Home"."Moved" RENAME TO "Spare";
ALTER TABLE "First Home"."Twin" RENAME TO "Moved";
EXECUTE "Swap";
ROLLBACK;
EXECUTE "Swap";
DROP TABLE "First Home"."Twin";

-- A renamed schema, and a table moved to another one.
ALTER SCHEMA "First Home" RENAME TO "New Home";
SET ordered_update.default_table = '"New Home"."Moved"';
EXECUTE "Swap";
ALTER TABLE "New Home"."Moved" SET SCHEMA "Second's Home";
SELECT error_of('SELECT * FROM ordered_increment(''{3,1}'')');  -- (error)
SET ordered_update.default_table = '"Second''s Home"."Moved"';
EXECUTE "Swap";
SELECT * FROM ordered_lock(NULL::"Second's Home"."Moved", '{3,1}'::integer[]);

-- A new schema and table under the old names do not get the old plans.
CREATE SCHEMA "First Home";
CREATE TABLE "First Home"."Moved" (id integer PRIMARY KEY, "N" integer NOT NULL DEFAULT 0);
INSERT INTO "First Home"."Moved" VALUES (1), (3);
EXECUTE "Swap";
SELECT * FROM ordered_lock(NULL::"Second's Home"."Moved", '{3,1}'::integer[]);
TABLE "First Home"."Moved" ORDER BY id;
DROP SCHEMA "First Home" CASCADE;

-- A renamed key column, and a renamed counter. (error, then not)
ALTER TABLE "Second's Home"."Moved" RENAME id TO "The ""Key""";
EXECUTE "Swap";
ALTER TABLE "Second's Home"."Moved" RENAME "N" TO "M";
SELECT error_of('EXECUTE "Swap"');
SET ordered_update.default_counter = 'M';
EXECUTE "Swap";

-- Counter and another column swap their names.
ALTER TABLE "Second's Home"."Moved" ADD "Other" integer NOT NULL DEFAULT -100;
SELECT * FROM ordered_lock(NULL::"Second's Home"."Moved", '{3,1}'::integer[]);
ALTER TABLE "Second's Home"."Moved" RENAME "M" TO "Tmp";
ALTER TABLE "Second's Home"."Moved" RENAME "Other" TO "M";
ALTER TABLE "Second's Home"."Moved" RENAME "Tmp" TO "Other";
EXECUTE "Swap";
TABLE "Second's Home"."Moved" ORDER BY 1;

-- A dropped column, and one added.
ALTER TABLE "Second's Home"."Moved" DROP "Extra";
EXECUTE "Swap";
SELECT * FROM ordered_increment(NULL::"Second's Home"."Moved", '{3,1}'::integer[], 'Other');
ALTER TABLE "Second's Home"."Moved" ADD "Late" date DEFAULT '2000-01-01';
SELECT * FROM ordered_increment(NULL::"Second's Home"."Moved", '{3,1}'::integer[], 'Other');
ALTER TABLE "Second's Home"."Moved" DROP "M";
SELECT error_of('EXECUTE "Swap"');  -- (error)
SET ordered_update.default_counter = 'Other';

-- Another type for the counter, one too large for the result, and back.
EXECUTE "Swap";
ALTER TABLE "Second's Home"."Moved" ALTER "Other" TYPE bigint;
EXECUTE "Swap";
SELECT * FROM ordered_increment(NULL::"Second's Home"."Moved", '{1}'::integer[], 'Other', 5000000000);
SELECT error_of('EXECUTE "Swap"');  -- (error)
SELECT * FROM ordered_increment(NULL::"Second's Home"."Moved", '{1}'::integer[], 'Other', -5000000000);
ALTER TABLE "Second's Home"."Moved" ALTER "Other" TYPE text;
SELECT error_of('EXECUTE "Swap"');  -- (error)
ALTER TABLE "Second's Home"."Moved" ALTER "Other" TYPE smallint USING "Other"::smallint;
EXECUTE "Swap";

-- Another type for the key: the order follows it.
ALTER TABLE "Second's Home"."Moved" ALTER "The ""Key""" TYPE text COLLATE "C";
UPDATE "Second's Home"."Moved" SET "The ""Key""" = '10' WHERE "The ""Key""" = '4';
SELECT * FROM ordered_lock(NULL::"Second's Home"."Moved", '{3,10,2,10}'::text[]);
EXECUTE "Swap";
ALTER TABLE "Second's Home"."Moved" ALTER "The ""Key""" TYPE numeric USING "The ""Key"""::numeric;
SELECT * FROM ordered_lock(NULL::"Second's Home"."Moved", '{3,10,2,10}'::integer[]);
ALTER TABLE "Second's Home"."Moved" ALTER "The ""Key""" TYPE bigint;
SELECT * FROM ordered_lock(NULL::"Second's Home"."Moved", '{3,10,2,10}'::integer[]);
EXECUTE "Swap";

-- Another collation for the key.
CREATE TABLE "Second's Home"."Words" (w text COLLATE "C" PRIMARY KEY, "N" integer NOT NULL DEFAULT 0);
INSERT INTO "Second's Home"."Words" VALUES ('a'), ('B'), ('c');
SELECT w FROM ordered_lock(NULL::"Second's Home"."Words", '{c,B,a}'::text[]);
ALTER TABLE "Second's Home"."Words" ALTER w TYPE text COLLATE "und-x-icu";
SELECT w FROM ordered_lock(NULL::"Second's Home"."Words", '{c,B,a}'::text[]);

-- The primary key is dropped (error), made on another column, and made deferrable (error).
ALTER TABLE "Second's Home"."Moved" DROP CONSTRAINT "Moves_pkey";
SELECT error_of('EXECUTE "Swap"');
SELECT error_of($$ SELECT * FROM ordered_lock(NULL::"Second's Home"."Moved", '{3}'::integer[]) $$);
ALTER TABLE "Second's Home"."Moved" ADD "Alt" integer NOT NULL GENERATED BY DEFAULT AS IDENTITY;
UPDATE "Second's Home"."Moved" SET "Alt" = 100 - "The ""Key""";
ALTER TABLE "Second's Home"."Moved" ADD CONSTRAINT "Alt Key" PRIMARY KEY ("Alt");
SELECT "The ""Key""", "Alt" FROM ordered_lock(NULL::"Second's Home"."Moved", '{99,97,98}'::integer[]);
ALTER TABLE "Second's Home"."Moved" DROP CONSTRAINT "Alt Key",
    ADD CONSTRAINT "Alt Key" PRIMARY KEY ("Alt") DEFERRABLE;
SELECT error_of($$ SELECT * FROM ordered_lock(NULL::"Second's Home"."Moved", '{99}'::integer[]) $$);
ALTER TABLE "Second's Home"."Moved" DROP CONSTRAINT "Alt Key",
    ADD CONSTRAINT "Alt Key" PRIMARY KEY ("The ""Key""", "Alt");
SELECT "The ""Key""", "Alt" FROM ordered_lock(NULL::"Second's Home"."Moved", ARRAY[(3,97),(1,99)]);

-- A rule, a child, and each of them gone again.
SELECT count(*) FROM ordered_delete(NULL::"Second's Home"."Words", '{c}'::text[]);
CREATE RULE "Keep" AS ON DELETE TO "Second's Home"."Words" DO INSTEAD NOTHING;
SELECT error_of($$ SELECT * FROM ordered_delete(NULL::"Second's Home"."Words", '{B}'::text[]) $$);  -- (error)
DROP RULE "Keep" ON "Second's Home"."Words";
CREATE TABLE "Second's Home"."Child" () INHERITS ("Second's Home"."Words");
SELECT error_of($$ SELECT * FROM ordered_delete(NULL::"Second's Home"."Words", '{B}'::text[]) $$);  -- (error)
DROP TABLE "Second's Home"."Child";
SELECT count(*) FROM ordered_delete(NULL::"Second's Home"."Words", '{B}'::text[]);

-- A truncated table, and one rewritten.
VACUUM FULL "Second's Home"."Words";
SELECT w FROM ordered_lock(NULL::"Second's Home"."Words", '{a}'::text[]);
TRUNCATE "Second's Home"."Words";
SELECT error_of($$ SELECT * FROM ordered_delete(NULL::"Second's Home"."Words", '{a}'::text[]) $$);  -- (error)

-- A partition attached after the plan was made, one with another column order.
CREATE TABLE "Second's Home"."Grows" (id integer PRIMARY KEY, "N" integer NOT NULL DEFAULT 0) PARTITION BY RANGE (id);
CREATE TABLE "Second's Home"."Grows 1" PARTITION OF "Second's Home"."Grows" FOR VALUES FROM (0) TO (10);
INSERT INTO "Second's Home"."Grows" VALUES (1);
SELECT * FROM ordered_increment(NULL::"Second's Home"."Grows", '{1}'::integer[], 'N');
CREATE TABLE "Second's Home"."Grows 2" ("N" integer NOT NULL DEFAULT 0, id integer PRIMARY KEY);
INSERT INTO "Second's Home"."Grows 2" VALUES (70, 11);
ALTER TABLE "Second's Home"."Grows" ATTACH PARTITION "Second's Home"."Grows 2" FOR VALUES FROM (10) TO (20);
SELECT * FROM ordered_increment(NULL::"Second's Home"."Grows", '{11,1}'::integer[], 'N');
ALTER TABLE "Second's Home"."Grows" DETACH PARTITION "Second's Home"."Grows 1";
SELECT * FROM ordered_increment(NULL::"Second's Home"."Grows", '{11,1}'::integer[], 'N', missing_ok => true);

-- More tables than the cache has room for: each is still found, and again.
DO $$
DECLARE
    "Sum" bigint := 0;
BEGIN
    FOR i IN 1 .. 100 LOOP
        EXECUTE format('CREATE TABLE "Second''s Home"."Many %s" (id integer PRIMARY KEY, "N" integer NOT NULL DEFAULT 0)', i);
        EXECUTE format('INSERT INTO "Second''s Home"."Many %s" VALUES (1), (2)', i);
    END LOOP;
    FOR round IN 1 .. 2 LOOP
        FOR i IN 1 .. 100 LOOP
            EXECUTE format('SELECT $1 + sum("N") FROM ordered_increment(NULL::"Second''s Home"."Many %s", ARRAY[2,1], ''N'')', i)
               INTO "Sum" USING "Sum";
        END LOOP;
    END LOOP;
    RAISE NOTICE 'sum of % calls: %', 200, "Sum";
END $$;

-- More shapes of rows in one upsert than the cache has room for: what is left of
-- it goes while the upsert runs, not after it.
CREATE TABLE "Second's Home"."Wide" (
    id integer PRIMARY KEY, a integer, b integer, c integer, d integer, e integer, f integer, g integer, "Plans" bigint);
CREATE FUNCTION "Second's Home"."Count Plans"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    SELECT count(*) INTO NEW."Plans" FROM pg_backend_memory_contexts WHERE name = 'ordered_update batch plans';
    RETURN NEW;
END $$;
CREATE TRIGGER "Last" BEFORE INSERT ON "Second's Home"."Wide"
    FOR EACH ROW WHEN (NEW.id = 254) EXECUTE FUNCTION "Second's Home"."Count Plans"();
SELECT count(*), max("Plans") BETWEEN 1 AND 70 AS bounded
  FROM ordered_upsert(NULL::"Second's Home"."Wide",
    (SELECT jsonb_agg(jsonb_strip_nulls(jsonb_build_object('id', i, 'a', nullif(i & 1, 0), 'b', nullif(i & 2, 0),
        'c', nullif(i & 4, 0), 'd', nullif(i & 8, 0), 'e', nullif(i & 16, 0), 'f', nullif(i & 32, 0), 'g', nullif(i & 64, 0))))
       FROM generate_series(1, 254) i));

-- A function that a batch calls while it reads keys or changes, and that renames
-- columns under it: 55006, and nothing is done to the wrong column. (error)
CREATE TABLE "Second's Home"."Turned" (id integer PRIMARY KEY, v text, w integer NOT NULL DEFAULT 0);
INSERT INTO "Second's Home"."Turned" VALUES (1, 'a'), (2, 'b');
CREATE TYPE "Second's Home"."One Or Two" AS ENUM ('1', '2');
CREATE FUNCTION "Second's Home"."Turn"("Second's Home"."One Or Two") RETURNS integer LANGUAGE plpgsql AS $$
BEGIN
    ALTER TABLE "Second's Home"."Turned" RENAME v TO q;
    ALTER TABLE "Second's Home"."Turned" RENAME w TO v;
    ALTER TABLE "Second's Home"."Turned" RENAME q TO w;
    RETURN $1::text::integer;
END $$;
CREATE CAST ("Second's Home"."One Or Two" AS integer)
    WITH FUNCTION "Second's Home"."Turn"("Second's Home"."One Or Two") AS ASSIGNMENT;
SELECT error_of($$ SELECT * FROM ordered_lock(NULL::"Second's Home"."Turned", ARRAY['1']::"Second's Home"."One Or Two"[]) $$);
SELECT error_of($$ SELECT * FROM ordered_increment(NULL::"Second's Home"."Turned", ARRAY['1']::"Second's Home"."One Or Two"[], 'w') $$);
TABLE "Second's Home"."Turned" ORDER BY id;

-- No verb reads a table from end to end, or its index, however few rows it has
-- when the plan is made: the plan is kept, and the table grows. Each call names
-- two rows of 1,000, in one pass and in two. Control: the statement does.
CREATE TABLE "Second's Home"."Few" (id integer PRIMARY KEY, v integer NOT NULL DEFAULT 0);
CREATE TABLE "Second's Home"."Pairs" ("A" integer, b integer, v integer NOT NULL DEFAULT 0, PRIMARY KEY ("A", b));
INSERT INTO "Second's Home"."Few" SELECT generate_series(1, 1000);
INSERT INTO "Second's Home"."Pairs" SELECT 1, generate_series(1, 1000);
ANALYZE "Second's Home"."Few", "Second's Home"."Pairs";
SET ordered_update.default_table = '"Second''s Home"."Few"';
SET ordered_update.default_counter = 'v';
CREATE FUNCTION "Second's Home"."Rows Read"(OUT few bigint, OUT pairs bigint) LANGUAGE sql AS $$
    SELECT sum(seq_tup_read + idx_tup_fetch) FILTER (WHERE relname = 'Few'),
           sum(seq_tup_read + idx_tup_fetch) FILTER (WHERE relname = 'Pairs')
      FROM pg_stat_user_tables WHERE schemaname = 'Second''s Home'
$$;
SELECT pg_stat_force_next_flush();
SELECT few AS few_before, pairs AS pairs_before FROM "Second's Home"."Rows Read"() \gset
SELECT count(*) FROM ordered_increment(NULL::"Second's Home"."Few", '{3,1}'::integer[], 'v');
SELECT count(*) FROM ordered_increment('{3,1}');
SELECT count(*) FROM ordered_add(NULL::"Second's Home"."Few", '[{"id": 3, "v": 1}, {"id": 1, "v": 2}]');
SELECT count(*) FROM ordered_update(NULL::"Second's Home"."Few", '[{"id": 3, "v": 1}, {"id": 1, "v": 2}]');
SELECT count(*) FROM ordered_upsert(NULL::"Second's Home"."Few", '[{"id": 3, "v": 1}, {"id": 4, "v": 2}]');
SELECT count(*) FROM ordered_lock(NULL::"Second's Home"."Few", '{3,1}'::integer[]);
SELECT count(*) FROM ordered_delete(NULL::"Second's Home"."Few", '{3,1}'::integer[]);
SELECT count(*) FROM ordered_increment(NULL::"Second's Home"."Pairs", ARRAY[(1,2), (1,1)], 'v');
SELECT count(*) FROM ordered_add(NULL::"Second's Home"."Pairs", '[{"A": 1, "b": 3, "v": 1}, {"A": 1, "b": 1, "v": 1}]');
BEGIN;
SELECT count(*) FROM ordered_lock(NULL::"Second's Home"."Pairs", ARRAY[(1,2), (1,1)]);
SELECT count(*) FROM ordered_increment(NULL::"Second's Home"."Pairs", ARRAY[(1,2), (1,1)], 'v');
SELECT count(*) FROM ordered_add(NULL::"Second's Home"."Pairs", '[{"A": 1, "b": 2, "v": 1}, {"A": 1, "b": 1, "v": 1}]');
SELECT count(*) FROM ordered_delete(NULL::"Second's Home"."Pairs", ARRAY[(1,2), (1,1)]);
COMMIT;
SELECT pg_stat_force_next_flush();
SELECT few - :few_before AS few_read, pairs - :pairs_before AS pairs_read FROM "Second's Home"."Rows Read"();
UPDATE "Second's Home"."Few" AS t SET v = t.v + r.v
  FROM jsonb_to_recordset('[{"id": 5, "v": 1}, {"id": 6, "v": 2}]') AS r(id integer, v integer) WHERE t.id = r.id;
SELECT pg_stat_force_next_flush();
SELECT few - :few_before > 500 AS many_read FROM "Second's Home"."Rows Read"();
-- The settings of the session are what they were.
SELECT name, setting FROM pg_settings WHERE name IN ('enable_seqscan', 'enable_hashjoin', 'enable_mergejoin') ORDER BY 1;

DEALLOCATE "Swap";
RESET ordered_update.default_table;
RESET ordered_update.default_counter;
SET client_min_messages = warning;
DROP SCHEMA "New Home", "Second's Home" CASCADE;
