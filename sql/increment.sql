-- ordered_increment(target, keys, counter, by, missing_ok) adds an amount to a
-- counter of any table, and returns the rows as they are afterwards, in
-- primary key order.
\pset format unaligned
\pset footer off
CREATE TABLE "Inc's ""T""" (
    "Note" text, "The Key" bigint PRIMARY KEY,
    i2 smallint NOT NULL DEFAULT 0, "I 4" integer NOT NULL DEFAULT 0, i8 bigint NOT NULL DEFAULT 0,
    num numeric NOT NULL DEFAULT 0, "num 2" numeric(6,2) NOT NULL DEFAULT 0,
    r real NOT NULL DEFAULT 0, d double precision NOT NULL DEFAULT 0);
INSERT INTO "Inc's ""T""" ("Note", "The Key") VALUES ('b', 20), ('c', 30), ('a', 10), ('d', 40);

-- By 1, if nothing else is said; typed rows in key order.
SELECT * FROM ordered_increment(NULL::"Inc's ""T""", '{30,10,30}'::bigint[], 'I 4');
SELECT pg_typeof("Row") AS row, pg_typeof("Row"."The Key") AS key, pg_typeof("Row"."num 2") AS num
  FROM ordered_increment(NULL::"Inc's ""T""", '{10}'::bigint[], 'I 4') AS "Row";

-- By other amounts, negative ones and zero, in every type.
SELECT "The Key", i2 FROM ordered_increment(NULL::"Inc's ""T""", '{20,10}'::bigint[], 'i2', 300);
SELECT "The Key", i2 FROM ordered_increment(NULL::"Inc's ""T""", '{20,10}'::bigint[], 'i2', -301);
SELECT "The Key", "I 4" FROM ordered_increment(NULL::"Inc's ""T""", '{20,10}'::bigint[], 'I 4', by => 70000);
SELECT "The Key", "I 4" FROM ordered_increment(NULL::"Inc's ""T""", '{20,10}'::bigint[], 'I 4', by => 0);
SELECT "The Key", i8 FROM ordered_increment(NULL::"Inc's ""T""", '{20,10}'::bigint[], 'i8', 5000000000);
SELECT "The Key", num FROM ordered_increment(NULL::"Inc's ""T""", '{20,10}'::bigint[], 'num', 0.000000000000000000001);
SELECT "The Key", "num 2" FROM ordered_increment(NULL::"Inc's ""T""", '{20,10}'::bigint[], 'num 2', -1.25);
SELECT "The Key", r FROM ordered_increment(NULL::"Inc's ""T""", '{20,10}'::bigint[], 'r', 0.5);
SELECT "The Key", d FROM ordered_increment(NULL::"Inc's ""T""", '{20,10}'::bigint[], 'd', -0.125);

-- A whole number may be written with a fraction of zero.
SELECT "The Key", i8 FROM ordered_increment(NULL::"Inc's ""T""", '{20}'::bigint[], 'i8', 2.000);

-- A fraction on an integer counter: 22023. (error)
SELECT error_of($$ SELECT * FROM ordered_increment(NULL::"Inc's ""T""", '{20}'::bigint[], 'I 4', 0.5) $$);
SELECT error_of($$ SELECT * FROM ordered_increment(NULL::"Inc's ""T""", '{20}'::bigint[], 'i8', -1.0001) $$);

-- The amount is looked at before any row is, there or not. (error)
SELECT error_of($$ SELECT * FROM ordered_increment(NULL::"Inc's ""T""", '{-7}'::bigint[], 'I 4', 0.5, missing_ok => true) $$);
-- An amount beyond the counter's type: its own 22003. (error)
SELECT error_of($$ SELECT * FROM ordered_increment(NULL::"Inc's ""T""", '{20}'::bigint[], 'i2', 32768) $$);
SELECT error_of($$ SELECT * FROM ordered_increment(NULL::"Inc's ""T""", '{20}'::bigint[], 'I 4', 2147483648) $$);
SELECT error_of($$ SELECT * FROM ordered_increment(NULL::"Inc's ""T""", '{20}'::bigint[], 'i8', 9223372036854775808) $$);

-- A sum beyond it: 22003; in a numeric(6,2) as well. (error)
SELECT error_of($$ SELECT * FROM ordered_increment(NULL::"Inc's ""T""", '{10,20}'::bigint[], 'I 4', 2147483647) $$);
SELECT error_of($$ SELECT * FROM ordered_increment(NULL::"Inc's ""T""", '{10,20}'::bigint[], 'num 2', 10002) $$);

-- A null amount, counter, flag or array: 22004. (error)
SELECT error_of($$ SELECT * FROM ordered_increment(NULL::"Inc's ""T""", '{20}'::bigint[], 'I 4', NULL) $$);
SELECT error_of($$ SELECT * FROM ordered_increment(NULL::"Inc's ""T""", '{20}'::bigint[], NULL) $$);
SELECT error_of($$ SELECT * FROM ordered_increment(NULL::"Inc's ""T""", '{20}'::bigint[], 'I 4', 1, NULL) $$);
SELECT error_of($$ SELECT * FROM ordered_increment(NULL::"Inc's ""T""", NULL::bigint[], 'I 4') $$);
SELECT error_of($$ SELECT * FROM ordered_increment(NULL::"Inc's ""T""", '{20,NULL}'::bigint[], 'I 4') $$);
-- Empty: 22023; two dimensions: 2202E. (error)
SELECT error_of($$ SELECT * FROM ordered_increment(NULL::"Inc's ""T""", '{}'::bigint[], 'I 4') $$);
SELECT error_of($$ SELECT * FROM ordered_increment(NULL::"Inc's ""T""", '{{20},{10}}'::bigint[], 'I 4') $$);

-- No such column, a column that is no number, the key: 42703, 42804, 0A000. (error)
SELECT error_of($$ SELECT * FROM ordered_increment(NULL::"Inc's ""T""", '{20}'::bigint[], 'i 4') $$);
SELECT error_of($$ SELECT * FROM ordered_increment(NULL::"Inc's ""T""", '{20}'::bigint[], 'Note') $$);
SELECT error_of($$ SELECT * FROM ordered_increment(NULL::"Inc's ""T""", '{20}'::bigint[], 'The Key') $$);

-- Zero and negative keys are keys here.
INSERT INTO "Inc's ""T""" ("Note", "The Key") VALUES ('z', 0), ('n', -5);
SELECT "The Key", "I 4" FROM ordered_increment(NULL::"Inc's ""T""", '{0,20,-5}'::bigint[], 'I 4');

-- Missing rows: P0002 and nothing done. (error)
SELECT error_of($$ SELECT * FROM ordered_increment(NULL::"Inc's ""T""", '{99,20,15}'::bigint[], 'I 4') $$);
-- With missing_ok the others are changed, and none is fine too.
SELECT "The Key", "I 4" FROM ordered_increment(NULL::"Inc's ""T""", '{99,20,15}'::bigint[], 'I 4', 1, true);
SELECT "The Key", "I 4" FROM ordered_increment(NULL::"Inc's ""T""", '{99,15}'::bigint[], 'I 4', missing_ok => true);

-- The row given as target is not read: only its type counts.
SELECT "The Key", "I 4" FROM ordered_increment(ROW('x',40,0,0,0,0,0,0,0)::"Inc's ""T""", '{10}'::bigint[], 'I 4');

-- In FROM with a join, in a CTE, and in INSERT ... SELECT.
SELECT t."Note", r."I 4" - t."I 4" AS more
  FROM ordered_increment(NULL::"Inc's ""T""", '{30,20}'::bigint[], 'I 4', 100) r
  JOIN "Inc's ""T""" t USING ("The Key")
 ORDER BY t."Note";
WITH up AS (SELECT * FROM ordered_increment(NULL::"Inc's ""T""", '{30,20}'::bigint[], 'I 4', 100))
SELECT count(*), sum("I 4") FROM up;
CREATE TABLE "Inc Log" (LIKE "Inc's ""T""");
INSERT INTO "Inc Log" SELECT * FROM ordered_increment(NULL::"Inc's ""T""", '{30,20}'::bigint[], 'I 4', 100);
TABLE "Inc Log" ORDER BY "The Key";

-- A counter of a domain over a number; its constraint is core's 23514. (error)
CREATE DOMAIN "Up To 5" AS integer CHECK (VALUE <= 5);
CREATE TABLE "Domain's" (id integer PRIMARY KEY, "N" "Up To 5" NOT NULL DEFAULT 0);
INSERT INTO "Domain's" VALUES (1), (2);
SELECT * FROM ordered_increment(NULL::"Domain's", '{2,1}'::integer[], 'N', 5);
SELECT error_of($$ SELECT * FROM ordered_increment(NULL::"Domain's", '{2,1}'::integer[], 'N', 1) $$);

-- A counter under a unique index: fine as long as no value is in the way.
CREATE TABLE "Unique's" (id integer PRIMARY KEY, "N" integer NOT NULL UNIQUE);
INSERT INTO "Unique's" VALUES (1, 10), (2, 20), (3, 30);
SELECT * FROM ordered_increment(NULL::"Unique's", '{3,1}'::integer[], 'N', 5);
SELECT error_of($$ SELECT * FROM ordered_increment(NULL::"Unique's", '{1}'::integer[], 'N', 5) $$);  -- (error)

-- A null counter: 22004 naming column and key. (error)
CREATE TABLE "Nullable" (a text COLLATE "C", b integer, "N" integer, PRIMARY KEY (b, a));
INSERT INTO "Nullable" VALUES ('x y', 1, 0), ('z', 2, NULL);
SELECT error_of($$ SELECT * FROM ordered_increment(NULL::"Nullable", ARRAY[(2,'z'),(1,'x y')], 'N') $$);

-- Infinity and NaN go where the type has them.
SELECT num FROM ordered_increment(NULL::"Inc's ""T""", '{40}'::bigint[], 'num', 'Infinity');
SELECT d FROM ordered_increment(NULL::"Inc's ""T""", '{40}'::bigint[], 'd', 'NaN');
\set VERBOSITY sqlstate
-- For an integer counter they are no whole number: 22023. (error)
SELECT i8 FROM ordered_increment(NULL::"Inc's ""T""", '{40}'::bigint[], 'i8', 'NaN');
\set VERBOSITY default

SELECT "The Key", "I 4" FROM "Inc's ""T""" ORDER BY 1;
TABLE "Nullable" ORDER BY b;
DROP TABLE "Inc's ""T""", "Inc Log", "Domain's", "Unique's", "Nullable";
DROP DOMAIN "Up To 5";
