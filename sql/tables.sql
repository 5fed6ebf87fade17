-- Columns and tables of every kind keep their values: dropped, generated,
-- identity and toasted columns, temporary, unlogged and typed tables.
\pset format unaligned
\pset footer off

-- Columns dropped before, between and after the others, and one added later.
CREATE TABLE "Drop's" (d1 text, a text, d2 integer, "Key" integer, d3 point, "N" integer NOT NULL DEFAULT 0, d4 text);
INSERT INTO "Drop's" VALUES ('x', 'one', 1, 1, '(0,0)', 0, 'y'), ('x', 'two', 2, 2, '(0,0)', 0, 'y');
ALTER TABLE "Drop's" DROP d1, DROP d2, DROP d3, DROP d4, ADD PRIMARY KEY ("Key"), ADD "New" text DEFAULT 'new';
INSERT INTO "Drop's" VALUES ('three', 3, 0, 'given');
SELECT * FROM ordered_increment(NULL::"Drop's", '{3,1}'::integer[], 'N', 5);
SELECT * FROM ordered_lock(NULL::"Drop's", '{3,2}'::integer[]);
SELECT (r).* FROM (SELECT ordered_lock(NULL::"Drop's", '{3,2}'::integer[]) AS r OFFSET 0) s;
SELECT * FROM ordered_lock(NULL::"Drop's", ARRAY(SELECT d FROM "Drop's" d WHERE "Key" < 3));
SELECT * FROM ordered_delete(NULL::"Drop's", '{3,2}'::integer[]);
SELECT * FROM ordered_increment(NULL::"Drop's", ARRAY[ROW('x',1,0,'y')]::"Drop's"[], 'N');

-- Generated columns follow the counter.
CREATE TABLE "Gen's" (id integer PRIMARY KEY, "N" integer NOT NULL DEFAULT 1,
    "Twice" integer GENERATED ALWAYS AS ("N" * 2) STORED, "Seq" integer GENERATED ALWAYS AS IDENTITY);
INSERT INTO "Gen's" VALUES (2), (1);
SELECT * FROM ordered_increment(NULL::"Gen's", '{2,1}'::integer[], 'N', 10);
SELECT * FROM ordered_lock(NULL::"Gen's", '{2,1}'::integer[]);
SELECT * FROM ordered_delete(NULL::"Gen's", '{2}'::integer[]);

-- A generated column can be the key.
CREATE TABLE "Gen Key" ("From" integer NOT NULL, "N" integer NOT NULL DEFAULT 0,
    "Key" integer GENERATED ALWAYS AS ("From" * -1) STORED PRIMARY KEY);
INSERT INTO "Gen Key" VALUES (1), (2), (3);
SELECT * FROM ordered_increment(NULL::"Gen Key", '{-1,-3}'::integer[], 'N');

-- Toasted values, in a row, in a deleted row, and as a key.
CREATE TABLE "Toast's" (id integer PRIMARY KEY, "N" integer NOT NULL DEFAULT 0, "Long" text, "Plain" text);
ALTER TABLE "Toast's" ALTER "Long" SET STORAGE EXTERNAL;
INSERT INTO "Toast's" SELECT i, 0, repeat(i::text, 100000), repeat(md5(i::text), 1000) FROM generate_series(1, 3) i;
SELECT id, "N", "Long" = repeat(id::text, 100000) AS long, "Plain" = repeat(md5(id::text), 1000) AS plain
  FROM ordered_increment(NULL::"Toast's", '{3,1}'::integer[], 'N');
SELECT id, "Long" = repeat(id::text, 100000) AS long FROM ordered_lock(NULL::"Toast's", '{3,1}'::integer[]);
SELECT id, "Long" = repeat(id::text, 100000) AS long, "Plain" = repeat(md5(id::text), 1000) AS plain
  FROM ordered_delete(NULL::"Toast's", '{3,1}'::integer[]);
SELECT id FROM ordered_lock(NULL::"Toast's", ARRAY(SELECT t FROM "Toast's" t));
CREATE TABLE "Toast Key" (k text COLLATE "C" PRIMARY KEY, "N" integer NOT NULL DEFAULT 0);
INSERT INTO "Toast Key" SELECT repeat(c, 50000) FROM unnest('{b,a,c}'::text[]) c;
SELECT left(k, 1) AS k, length(k), "N"
  FROM ordered_increment(NULL::"Toast Key", ARRAY(SELECT k FROM "Toast Key"), 'N');

-- A temporary table, one that is emptied at commit, and an unlogged one.
CREATE TEMP TABLE "Temp's" (id integer PRIMARY KEY, "N" integer NOT NULL DEFAULT 0);
INSERT INTO "Temp's" VALUES (2), (1);
SELECT * FROM ordered_increment(NULL::"Temp's", '{2,1}'::integer[], 'N');
SELECT * FROM ordered_delete(NULL::"Temp's", '{2}'::integer[]);
CREATE TEMP TABLE "Temp Gone" (id integer PRIMARY KEY, "N" integer NOT NULL DEFAULT 0) ON COMMIT DELETE ROWS;
BEGIN;
INSERT INTO "Temp Gone" VALUES (2), (1);
SELECT * FROM ordered_increment(NULL::"Temp Gone", '{2,1}'::integer[], 'N');
COMMIT;
SELECT error_of($$ SELECT * FROM ordered_increment(NULL::"Temp Gone", '{2,1}'::integer[], 'N') $$);  -- (error)
CREATE UNLOGGED TABLE "Fast's" (id integer PRIMARY KEY, "N" integer NOT NULL DEFAULT 0);
INSERT INTO "Fast's" VALUES (2), (1);
SELECT * FROM ordered_increment(NULL::"Fast's", '{2,1}'::integer[], 'N');

-- A table of a composite type.
CREATE TYPE "Thing's" AS (id integer, "N" integer);
CREATE TABLE "Typed" OF "Thing's" (PRIMARY KEY (id));
INSERT INTO "Typed" VALUES (2, 0), (1, 0);
SELECT * FROM ordered_increment(NULL::"Typed", '{2,1}'::integer[], 'N');

-- A child of an inheritance tree that has no children itself.
CREATE TABLE "Parent's" (id integer, "N" integer NOT NULL DEFAULT 0);
CREATE TABLE "Child's" (PRIMARY KEY (id)) INHERITS ("Parent's");
INSERT INTO "Child's" VALUES (2), (1);
SELECT * FROM ordered_increment(NULL::"Child's", '{2,1}'::integer[], 'N');

-- A primary key with columns that are only included.
CREATE TABLE "Incl's" (id integer, extra integer, "N" integer NOT NULL DEFAULT 0, PRIMARY KEY (id) INCLUDE (extra));
INSERT INTO "Incl's" VALUES (2, 7), (1, 9);
SELECT * FROM ordered_increment(NULL::"Incl's", '{2,1}'::integer[], 'N');
SELECT * FROM ordered_increment(NULL::"Incl's", '{2,1}'::integer[], 'extra');

-- Columns named like what a statement might use, and like keywords.
CREATE TABLE "select" (t integer, w text, k1 integer, ctid_ integer, "order" integer NOT NULL DEFAULT 0, "$1" integer,
    PRIMARY KEY (k1, w));
INSERT INTO "select" VALUES (1, 'w', 2, 3, 0, 4), (1, 'v', 2, 3, 0, 4);
SELECT * FROM ordered_increment(NULL::"select", ARRAY[(2,'w'::text),(2,'v'::text)], 'order');
SELECT * FROM ordered_increment(NULL::"select", ARRAY[(2,'w'::text)], '$1');
SELECT * FROM ordered_lock(NULL::"select", ARRAY[(2,'w'::text),(2,'v'::text)]);
SELECT * FROM ordered_delete(NULL::"select", ARRAY[(2,'w'::text),(2,'v'::text)]);

-- The longest names.
DO $$
DECLARE
    "Result" text;
BEGIN
    EXECUTE format('CREATE TABLE %I (%I integer PRIMARY KEY, %I integer NOT NULL DEFAULT 0)',
                   repeat('T', 63), repeat('k', 63), repeat('"', 63));
    EXECUTE format('INSERT INTO %I VALUES (1)', repeat('T', 63));
    EXECUTE format('SELECT r::text FROM ordered_increment(NULL::%I, ARRAY[1], repeat(''"'', 63)::name) r', repeat('T', 63)) INTO "Result";
    RAISE NOTICE '%', "Result";
    EXECUTE format('DROP TABLE %I', repeat('T', 63));
END $$;

-- 200 columns in the table, 32 in the key.
DO $$
DECLARE
    "Result" integer;
BEGIN
    EXECUTE 'CREATE TABLE "Wide''s" (' || (SELECT string_agg(format('c%s integer NOT NULL DEFAULT 0', i), ', ') FROM generate_series(1, 200) i)
            || ', PRIMARY KEY (' || (SELECT string_agg(format('c%s', 201 - i), ', ') FROM generate_series(1, 32) i) || '))';
    EXECUTE 'INSERT INTO "Wide''s" (c200) VALUES (2), (1)';
    EXECUTE 'SELECT sum(c100) FROM ordered_increment(NULL::"Wide''s", ARRAY(SELECT w FROM "Wide''s" w), ''c100'', 7)' INTO "Result";
    RAISE NOTICE 'sum %', "Result";
    DROP TABLE "Wide's";
END $$;

DROP TABLE "Drop's", "Gen's", "Gen Key", "Toast's", "Toast Key", "Temp's", "Temp Gone", "Fast's", "Typed",
           "Parent's", "Child's", "Incl's", "select";
DROP TYPE "Thing's";
