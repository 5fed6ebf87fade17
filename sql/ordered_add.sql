-- ordered_add adds to each named row its own amounts, to one or several
-- counters.  Amounts for one row are summed exactly before they are added; what
-- cannot be added fails as a whole.
\pset format unaligned
\pset footer off
CREATE DOMAIN "Small Count" AS smallint CHECK (VALUE >= 0);
CREATE DOMAIN "Price" AS numeric(8,2);
CREATE TABLE "Add's ""T""" (
    "Label" text NOT NULL DEFAULT '',
    gone integer,
    id integer PRIMARY KEY,
    "N 'q'" integer NOT NULL DEFAULT 0,
    small smallint NOT NULL DEFAULT 0,
    big bigint NOT NULL DEFAULT 0,
    num numeric NOT NULL DEFAULT 0,
    cents numeric(6,2) NOT NULL DEFAULT 0,
    "Real" real NOT NULL DEFAULT 0,
    double double precision NOT NULL DEFAULT 0,
    few "Small Count" NOT NULL DEFAULT 0,
    price "Price" NOT NULL DEFAULT 0,
    maybe integer,
    doubled bigint GENERATED ALWAYS AS ("N 'q'"::bigint * 2) STORED);
ALTER TABLE "Add's ""T""" DROP gone;
INSERT INTO "Add's ""T""" (id) SELECT generate_series(1, 5);
CREATE TABLE before AS TABLE "Add's ""T""";
CREATE VIEW changed AS
    (TABLE "Add's ""T""" EXCEPT TABLE before) UNION ALL (TABLE before EXCEPT TABLE "Add's ""T""");

-- One counter, an amount for each row; the rows come back whole, in key order.
BEGIN;
SELECT * FROM ordered_add(NULL::"Add's ""T""", '[{"id": 3, "N ''q''": 30}, {"id": 1, "N ''q''": -10}]');
-- Control: the view shows the change.
SELECT count(*) AS changed FROM changed;
ROLLBACK;

-- Several counters at once; a row that does not name a counter keeps it.
BEGIN;
SELECT id, "N 'q'", big, doubled
  FROM ordered_add(NULL::"Add's ""T""", '[{"id": 2, "big": 9000000000}, {"N ''q''": 4, "id": 4, "big": -1}, {"id": 1, "N ''q''": 1}]');
ROLLBACK;

-- Every numeric type, and domains over them.
BEGIN;
SELECT * FROM ordered_add(NULL::"Add's ""T""", '[
    {"id": 1, "N ''q''": 2147483647, "small": 32767, "big": 9223372036854775807,
     "num": 123456789012345678901234567890.000000001, "cents": 9999.99, "Real": 0.5,
     "double": 1e300, "few": 7, "price": 0.01},
    {"id": 2, "N ''q''": -2147483648, "small": -32768, "big": -9223372036854775808,
     "num": -1e-20, "cents": -0.01, "Real": -1.5, "double": -0.25, "few": 0, "price": -2.50}]');
-- They add up.
SELECT num, cents, "Real", double, few, price
  FROM ordered_add(NULL::"Add's ""T""", '[{"id": 1, "num": 0.000000009, "cents": -9999.98, "Real": 0.25, "double": 1e300, "few": 3, "price": 1}]');
-- A number may come as a string, as drivers send large ones.
SELECT big, num FROM ordered_add(NULL::"Add's ""T""", '[{"id": 2, "big": "9223372036854775807", "num": "1e-20"}]');
ROLLBACK;

-- Amounts for one row are summed. Control: UPDATE FROM adds only one of them.
BEGIN;
UPDATE "Add's ""T""" t SET "N 'q'" = t."N 'q'" + v.n FROM (VALUES (1, 5), (1, 5)) v(id, n) WHERE t.id = v.id RETURNING t.id, "N 'q'";
ROLLBACK;
BEGIN;
SELECT id, "N 'q'", small
  FROM ordered_add(NULL::"Add's ""T""", '[{"id": 1, "N ''q''": 5}, {"id": 2, "N ''q''": 1}, {"id": 1, "N ''q''": 5}, {"id": 1, "small": 3}]');
ROLLBACK;

-- Summed exactly: in floating point the three would make 0 or 0.5, by their order.
BEGIN;
SELECT id, double, num
  FROM ordered_add(NULL::"Add's ""T""", '[{"id": 1, "double": 1e20, "num": 1e20}, {"id": 1, "double": 0.5, "num": 0.1}, {"id": 1, "double": -1e20, "num": -1e20}]');
-- Ten times a tenth is one.
SELECT id, double
  FROM ordered_add(NULL::"Add's ""T""", (SELECT jsonb_agg('{"id": 2, "double": 0.1}'::jsonb) FROM generate_series(1, 10)));
-- Rounded to the column's scale once, in the sum: not three times 0.00.
SELECT id, cents
  FROM ordered_add(NULL::"Add's ""T""", '[{"id": 3, "cents": 0.004}, {"id": 3, "cents": 0.004}, {"id": 3, "cents": 0.004}]');
ROLLBACK;

-- Amounts that are too large one by one, but not in their sum.
BEGIN;
SELECT id, "N 'q'", small
  FROM ordered_add(NULL::"Add's ""T""", '[{"id": 1, "N ''q''": 3000000000, "small": 40000}, {"id": 1, "N ''q''": -2999999999, "small": -39999}]');
ROLLBACK;

-- Amounts that are too large only in their sum: 22003. (error)
SELECT error_of($$ SELECT * FROM ordered_add(NULL::"Add's ""T""", '[{"id": 2, "N ''q''": 1}, {"id": 1, "N ''q''": 2000000000}, {"id": 1, "N ''q''": 2000000000}]') $$);
SELECT error_of($$ SELECT * FROM ordered_add(NULL::"Add's ""T""", '[{"id": 1, "big": 9223372036854775807}, {"id": 1, "big": 1}]') $$);
-- Overflow of any type: 22003. (error)
SELECT error_of($$ SELECT * FROM ordered_add(NULL::"Add's ""T""", '[{"id": 1, "small": 32768}]') $$);
SELECT error_of($$ SELECT * FROM ordered_add(NULL::"Add's ""T""", '[{"id": 1, "cents": 10000}]') $$);
SELECT error_of($$ SELECT * FROM ordered_add(NULL::"Add's ""T""", '[{"id": 1, "Real": 1e39}]') $$);
SELECT error_of($$ SELECT * FROM ordered_add(NULL::"Add's ""T""", '[{"id": 1, "price": 1e6}]') $$);
-- The check of a domain: core's 23514. (error)
SELECT error_of($$ SELECT * FROM ordered_add(NULL::"Add's ""T""", '[{"id": 2, "few": 2}, {"id": 1, "few": -1}]') $$);

-- A fraction and a whole-numbered counter: 22023. (error)
SELECT error_of($$ SELECT * FROM ordered_add(NULL::"Add's ""T""", '[{"id": 1, "N ''q''": 0.5}]') $$);
SELECT error_of($$ SELECT * FROM ordered_add(NULL::"Add's ""T""", '[{"id": 1, "few": 1.25}]') $$);
SELECT error_of($$ SELECT * FROM ordered_add(NULL::"Add's ""T""", '[{"id": 1, "small": 1}, {"id": 2, "big": -1e-3}]') $$);
-- Fractions that make a whole, and a whole written as a fraction, are none.
BEGIN;
SELECT id, "N 'q'", small
  FROM ordered_add(NULL::"Add's ""T""", '[{"id": 1, "N ''q''": 0.5}, {"id": 1, "N ''q''": 1.5}, {"id": 2, "small": 3.000}]');
ROLLBACK;

-- A null amount: 22004. (error)
SELECT error_of($$ SELECT * FROM ordered_add(NULL::"Add's ""T""", '[{"id": 1, "big": 1}, {"id": 2, "big": null}]') $$);
-- A null key: 22004. (error)
SELECT error_of($$ SELECT * FROM ordered_add(NULL::"Add's ""T""", '[{"id": null, "big": 1}]') $$);
-- An amount that is no number: 22P02. (error)
SELECT error_of($$ SELECT * FROM ordered_add(NULL::"Add's ""T""", '[{"id": 1, "big": "many"}]') $$);
SELECT error_of($$ SELECT * FROM ordered_add(NULL::"Add's ""T""", '[{"id": 1, "big": [1]}]') $$);

-- A counter that is null in its row: 22004, naming column and key, never a
-- silent NULL. (error)
SELECT error_of($$ SELECT * FROM ordered_add(NULL::"Add's ""T""", '[{"id": 3, "maybe": 1}]') $$);
BEGIN;
UPDATE "Add's ""T""" SET maybe = 1 WHERE id <> 3;
SELECT error_of($$ SELECT * FROM ordered_add(NULL::"Add's ""T""", '[{"id": 1, "maybe": 1}, {"id": 3, "big": 7, "maybe": 1}]') $$);
-- A null in a row that does not name the counter is none of its business.
SELECT id, big, maybe FROM ordered_add(NULL::"Add's ""T""", '[{"id": 1, "maybe": 4}, {"id": 3, "big": 1}]');
ROLLBACK;

-- A column that is no counter: 42804. (error)
SELECT error_of($$ SELECT * FROM ordered_add(NULL::"Add's ""T""", '[{"id": 1, "Label": 1}]') $$);
-- No such column: 42703; names are not folded; a dropped or a system column is
-- none. (error)
SELECT error_of($$ SELECT * FROM ordered_add(NULL::"Add's ""T""", '[{"id": 1, "big": 1}, {"id": 2, "Big": 1}]') $$);
SELECT error_of($$ SELECT * FROM ordered_add(NULL::"Add's ""T""", '[{"id": 1, "gone": 1}]') $$);
SELECT error_of($$ SELECT * FROM ordered_add(NULL::"Add's ""T""", '[{"id": 1, "xmin": 1}]') $$);
-- A generated column: core's 428C9. (error)
SELECT error_of($$ SELECT * FROM ordered_add(NULL::"Add's ""T""", '[{"id": 1, "doubled": 1}]') $$);
-- The key only identifies: changes that name nothing else are refused. (error)
SELECT error_of($$ SELECT * FROM ordered_add(NULL::"Add's ""T""", '[{"id": 1}, {"id": 2}]') $$);
-- A change that does not say which row: 22023. (error)
SELECT error_of($$ SELECT * FROM ordered_add(NULL::"Add's ""T""", '[{"id": 1, "big": 1}, {"big": 2}]') $$);

-- A missing row: P0002. (error)
SELECT error_of($$ SELECT * FROM ordered_add(NULL::"Add's ""T""", '[{"id": 9, "big": 1}, {"id": 1, "big": 1}, {"id": 7, "big": 1}]') $$);
-- Left out on request; all missing is no row.
BEGIN;
SELECT id, big FROM ordered_add(NULL::"Add's ""T""", '[{"id": 9, "big": 1}, {"id": 5, "big": 2}, {"id": 3, "big": 3}, {"id": 7, "big": 1}]', missing_ok => true);
SELECT id, big FROM ordered_add(NULL::"Add's ""T""", '[{"id": 9, "big": 1}]', missing_ok => true);
ROLLBACK;
-- A null argument: 22004. (error)
SELECT error_of($$ SELECT * FROM ordered_add(NULL::"Add's ""T""", NULL) $$);
SELECT error_of($$ SELECT * FROM ordered_add(NULL::"Add's ""T""", '[{"id": 1, "big": 1}]', NULL) $$);

-- After all these errors nothing has changed.
SELECT count(*) AS changed FROM changed;

-- A key of two columns, in another order than the table's.
CREATE TABLE "Add Pair" (a integer, n integer NOT NULL DEFAULT 0, "B b" text COLLATE "C", PRIMARY KEY ("B b", a));
INSERT INTO "Add Pair" (a, "B b") SELECT a, b FROM generate_series(1, 2) a, unnest('{x,y}'::text[]) b;
SELECT * FROM ordered_add(NULL::"Add Pair", '[{"a": 2, "B b": "x", "n": 5}, {"n": 1, "a": 1, "B b": "y"}, {"a": 2, "B b": "x", "n": 5}]');
TABLE "Add Pair" ORDER BY a, "B b";
-- Half a key: 22023. (error)
SELECT error_of($$ SELECT * FROM ordered_add(NULL::"Add Pair", '[{"a": 2, "n": 1}]') $$);

-- Numeric keys: 1 and 1.00 are one row.
CREATE TABLE "Add Numeric" (id numeric PRIMARY KEY, n integer NOT NULL DEFAULT 0);
INSERT INTO "Add Numeric" VALUES (1.0), (2);
SELECT * FROM ordered_add(NULL::"Add Numeric", '[{"id": 1, "n": 1}, {"id": 2.000, "n": 10}, {"id": 1.00, "n": 2}]');

-- A partitioned table whose partitions have their columns in another order.
CREATE TABLE "Add Parts" (id integer PRIMARY KEY, n integer NOT NULL DEFAULT 0, m numeric NOT NULL DEFAULT 0) PARTITION BY RANGE (id);
CREATE TABLE "Add Part 1" (m numeric NOT NULL DEFAULT 0, gone text, id integer NOT NULL, n integer NOT NULL DEFAULT 0);
ALTER TABLE "Add Part 1" DROP gone;
ALTER TABLE "Add Parts" ATTACH PARTITION "Add Part 1" FOR VALUES FROM (10) TO (20);
CREATE TABLE "Add Part 2" PARTITION OF "Add Parts" FOR VALUES FROM (0) TO (10);
INSERT INTO "Add Parts" VALUES (1), (11), (2), (12);
SELECT * FROM ordered_add(NULL::"Add Parts", '[{"id": 11, "n": 1, "m": 0.5}, {"id": 2, "m": 2}, {"id": 11, "n": 2}]');
SELECT * FROM ordered_add(NULL::"Add Part 1", '[{"id": 12, "n": 1, "m": 0.5}]');
TABLE "Add Parts" ORDER BY id;

DROP VIEW changed;
DROP TABLE before, "Add's ""T""", "Add Pair", "Add Numeric", "Add Parts";
DROP DOMAIN "Small Count", "Price";
