-- Keys are named by values, by untyped arrays, by records or by rows of the
-- table: each form names the same rows, and what does not fit is refused.
\pset format unaligned
\pset footer off
CREATE TABLE "Form's" (id integer PRIMARY KEY, "N" integer NOT NULL DEFAULT 0);
INSERT INTO "Form's" SELECT generate_series(1, 5);

-- Values of the key's type, of other numbers, and of strings.
SELECT array_agg(id) FROM ordered_lock(NULL::"Form's", '{3,1}'::integer[]);
SELECT array_agg(id) FROM ordered_lock(NULL::"Form's", '{3,1}'::smallint[]);
SELECT array_agg(id) FROM ordered_lock(NULL::"Form's", '{3,1}'::bigint[]);
SELECT array_agg(id) FROM ordered_lock(NULL::"Form's", '{3,1.0,3.00}'::numeric[]);
SELECT array_agg(id) FROM ordered_lock(NULL::"Form's", '{3,1}'::double precision[]);
SELECT array_agg(id) FROM ordered_lock(NULL::"Form's", '{3,1}'::text[]);
SELECT array_agg(id) FROM ordered_lock(NULL::"Form's", '{3," 1 ",01}'::varchar[]);

-- An array literal without a type, and an untyped parameter, as drivers send.
SELECT array_agg(id) FROM ordered_lock(NULL::"Form's", '{10,3,1}', missing_ok => true);
PREPARE "Untyped" AS SELECT * FROM ordered_increment(NULL::"Form's", $1, $2, $3);
EXECUTE "Untyped"('{3,1,3}', 'N', 2);
DEALLOCATE "Untyped";

-- Records, of whatever types their fields are, and arrays of composite types.
SELECT array_agg(id) FROM ordered_lock(NULL::"Form's", ARRAY[ROW(3),ROW(1)]);
SELECT array_agg(id) FROM ordered_lock(NULL::"Form's", ARRAY[ROW(3),ROW('1'::text),ROW(2.0),ROW(1::bigint)]);
CREATE TYPE "Id Only" AS ("Some Name" bigint);
SELECT array_agg(id) FROM ordered_lock(NULL::"Form's", ARRAY[ROW(3),ROW(1)]::"Id Only"[]);

-- Rows of the table, of which only the key is read.
SELECT array_agg(id) FROM ordered_lock(NULL::"Form's", ARRAY[ROW(3,NULL),ROW(1,99)]::"Form's"[]);
SELECT array_agg(id) FROM ordered_lock(NULL::"Form's", ARRAY(SELECT f FROM "Form's" f WHERE id > 3));
SELECT array_agg(id) FROM ordered_lock(NULL::"Form's",
    ARRAY(SELECT jsonb_populate_recordset(NULL::"Form's", '[{"id": 4}, {"id": 2, "N": 7, "what": 1}]')));

-- A domain over the key's type, and a domain over an array.
CREATE DOMAIN "Positive" AS integer CHECK (VALUE > 0);
CREATE DOMAIN "Ids" AS integer[] CHECK (cardinality(VALUE) < 3);
SELECT array_agg(id) FROM ordered_lock(NULL::"Form's", ARRAY[3,1]::"Positive"[]);
SELECT array_agg(id) FROM ordered_lock(NULL::"Form's", '{3,1}'::"Ids");
SELECT array_agg(id) FROM ordered_lock(NULL::"Form's", ARRAY[ROW(3::"Positive"),ROW(1)]);

-- A value that the cast would change: 22023, never another row. (error)
SELECT error_of($$ SELECT * FROM ordered_lock(NULL::"Form's", '{1.5}'::numeric[]) $$);
SELECT error_of($$ SELECT * FROM ordered_lock(NULL::"Form's", '{1.5}'::double precision[]) $$);
SELECT error_of($$ SELECT * FROM ordered_lock(NULL::"Form's", '{1,2.4999}'::real[]) $$);
SELECT error_of($$ SELECT * FROM ordered_lock(NULL::"Form's", ARRAY[ROW(1.5)]) $$);
-- A value beyond the key's type: its own 22003; no number: its own 22P02. (error)
SELECT error_of($$ SELECT * FROM ordered_lock(NULL::"Form's", '{3000000000}'::bigint[]) $$);
SELECT error_of($$ SELECT * FROM ordered_lock(NULL::"Form's", '{3000000000}'::text[]) $$);
SELECT error_of($$ SELECT * FROM ordered_lock(NULL::"Form's", '{1,one}') $$);
SELECT error_of($$ SELECT * FROM ordered_lock(NULL::"Form's", '{1.5}') $$);
-- Types that SQL would not assign: 42804. (error)
SELECT error_of($$ SELECT * FROM ordered_lock(NULL::"Form's", '{2000-01-01}'::date[]) $$);
SELECT error_of($$ SELECT * FROM ordered_lock(NULL::"Form's", '{true}'::boolean[]) $$);
SELECT error_of($$ SELECT * FROM ordered_lock(NULL::"Form's", ARRAY[ROW(1),ROW(now())]) $$);
-- A null in a record or a row: 22004; a null record: 22004. (error)
SELECT error_of($$ SELECT * FROM ordered_lock(NULL::"Form's", ARRAY[ROW(1),ROW(NULL::integer)]) $$);
SELECT error_of($$ SELECT * FROM ordered_lock(NULL::"Form's", ARRAY[ROW(NULL,1)]::"Form's"[]) $$);
SELECT error_of($$ SELECT * FROM ordered_lock(NULL::"Form's", ARRAY[NULL]::"Form's"[]) $$);
-- Records of another width, and rows of another table: 42804. (error)
SELECT error_of($$ SELECT * FROM ordered_lock(NULL::"Form's", ARRAY[(1,2)]) $$);

-- A key of several columns, of mixed types, in another order than the
-- table's: records follow the key, rows follow the table.
CREATE TABLE "Order's Lines" (
    "Note" text, "Line No" smallint, "Gone" integer, "Day" date, "Customer" text COLLATE "C",
    "Qty" numeric NOT NULL DEFAULT 1,
    CONSTRAINT "Lines Key" PRIMARY KEY ("Customer", "Day", "Line No"));
ALTER TABLE "Order's Lines" DROP "Gone";
INSERT INTO "Order's Lines" ("Note", "Line No", "Day", "Customer")
SELECT c || d || n, n, d, c
  FROM unnest('{b,a}'::text[]) c, unnest('{2000-02-01,2000-01-01}'::date[]) d, generate_series(2, 1, -1) n;
SET datestyle = iso;
SELECT * FROM ordered_lock(NULL::"Order's Lines",
    ARRAY[('b','2000-01-01'::date,2),('a','2000-02-01'::date,1),('a','2000-01-01'::date,2),('b','2000-01-01'::date,2)]);
-- Strings are read by the key's types; pairs are pairs, not a cross product.
SELECT * FROM ordered_increment(NULL::"Order's Lines",
    ARRAY[('b','2000-01-01','2'),('a','2000-02-01','1')], 'Qty', 0.5);
-- A composite type of another order of names is a record all the same.
CREATE TYPE "Line Id" AS (c text, d date, n integer);
SELECT "Note" FROM ordered_lock(NULL::"Order's Lines", ARRAY[ROW('b','2000-01-01',2),ROW('a','2000-01-01',1)]::"Line Id"[]);
-- An attribute that the composite type has lost is none of its columns.
CREATE TYPE "Lost One" AS (c text, x point, d date, n integer);
ALTER TYPE "Lost One" DROP ATTRIBUTE x;
SELECT "Note" FROM ordered_lock(NULL::"Order's Lines", ARRAY[ROW('b','2000-01-01',2),ROW('a','2000-01-01',1)]::"Lost One"[]);
-- Rows of the table, from JSON.
SELECT "Note" FROM ordered_lock(NULL::"Order's Lines", ARRAY(SELECT jsonb_populate_recordset(NULL::"Order's Lines",
    '[{"Customer": "b", "Day": "2000-02-01", "Line No": 1}, {"Line No": 1, "Day": "2000-01-01", "Customer": "a"}]')));
SELECT "Note", "Qty" FROM ordered_delete(NULL::"Order's Lines", ARRAY(SELECT l FROM "Order's Lines" l WHERE "Line No" = 2 AND "Customer" = 'a'));
-- A missing pair of present parts is missing. (error)
SELECT error_of($$ SELECT * FROM ordered_lock(NULL::"Order's Lines", ARRAY[('a','2000-01-01','2'),('b','2000-01-01','2')]) $$);
SELECT "Note" FROM ordered_lock(NULL::"Order's Lines", ARRAY[('a','2000-01-01','2'),('b','2000-01-01','2')], missing_ok => true);
SELECT "Note" FROM ordered_delete(NULL::"Order's Lines", ARRAY[('a','2000-01-01','2'),('b','2000-01-01','2')], missing_ok => true);
-- Fewer columns, more columns, values without a record: 42804. (error)
SELECT error_of($$ SELECT * FROM ordered_lock(NULL::"Order's Lines", ARRAY[('a','2000-01-01'::date)]) $$);
SELECT error_of($$ SELECT * FROM ordered_lock(NULL::"Order's Lines", ARRAY[('a','2000-01-01'::date,1,1)]) $$);
SELECT error_of($$ SELECT * FROM ordered_lock(NULL::"Order's Lines", ARRAY['a']) $$);
-- A null in one of the columns: 22004. (error)
SELECT error_of($$ SELECT * FROM ordered_lock(NULL::"Order's Lines", ARRAY[('a',NULL::date,1)]) $$);
SELECT error_of($$ SELECT * FROM ordered_lock(NULL::"Order's Lines",
    ARRAY(SELECT jsonb_populate_recordset(NULL::"Order's Lines", '[{"Customer": "b"}]'))) $$);
-- A column's value that the cast would change: 22023. (error)
SELECT error_of($$ SELECT * FROM ordered_lock(NULL::"Order's Lines", ARRAY[('a','2000-01-01'::date,1.5)]) $$);

-- Keys that a column's precision would change name no row: they are not rounded.
CREATE TABLE "Scale's" (k numeric(6,2) PRIMARY KEY, "N" integer NOT NULL DEFAULT 0);
CREATE TABLE "Short Words" (k varchar(3) PRIMARY KEY, "N" integer NOT NULL DEFAULT 0);
INSERT INTO "Scale's" VALUES (1), (1.01), (2.5);
INSERT INTO "Short Words" VALUES ('abc'), ('x');
SELECT * FROM ordered_increment(NULL::"Scale's", '{2.50,1,1.000}'::numeric[], 'N');
SELECT error_of($$ SELECT * FROM ordered_lock(NULL::"Scale's", '{1.005}'::numeric[]) $$);
SELECT * FROM ordered_lock(NULL::"Short Words", '{x,abc}'::text[]);
SELECT error_of($$ SELECT * FROM ordered_lock(NULL::"Short Words", '{abcd}'::text[]) $$);

-- A key whose one column is itself of a composite type is named by its values,
-- and by rows of the table.
CREATE TYPE "Point's" AS (x integer, y integer);
CREATE TABLE "Places" (at "Point's" PRIMARY KEY, "N" integer NOT NULL DEFAULT 0);
INSERT INTO "Places" VALUES ((1,2)), ((1,1)), ((0,5));
SELECT * FROM ordered_lock(NULL::"Places", ARRAY[(1,2),(0,5)]::"Point's"[]);
SELECT * FROM ordered_lock(NULL::"Places", ARRAY(SELECT p FROM "Places" p));

-- Rows of a partition, or of another table, name their key by its columns' names,
-- wherever they are; a table without them: 42804. (error)
CREATE TABLE "Halves" (b integer, a integer, PRIMARY KEY (a, b)) PARTITION BY LIST (a);
CREATE TABLE "Half 1" PARTITION OF "Halves" FOR VALUES IN (1);
CREATE TABLE "Half 2" (a integer NOT NULL, gone integer, b integer NOT NULL);
ALTER TABLE "Half 2" DROP gone;
ALTER TABLE "Halves" ATTACH PARTITION "Half 2" FOR VALUES IN (2);
INSERT INTO "Halves" VALUES (2, 1), (1, 2), (3, 2);
SELECT * FROM ordered_lock(NULL::"Halves", ARRAY(SELECT h FROM "Half 1" h));
SELECT * FROM ordered_lock(NULL::"Halves", ARRAY(SELECT h FROM "Half 2" h));
SELECT error_of($$ SELECT * FROM ordered_lock(NULL::"Halves", ARRAY(SELECT p FROM "Places" p)) $$);

DROP TABLE "Form's", "Order's Lines", "Scale's", "Short Words", "Places", "Halves";
DROP TYPE "Id Only", "Line Id", "Lost One", "Point's";
DROP DOMAIN "Positive", "Ids";
RESET datestyle;
