-- Whatever ordered_increment(integer[]) cannot do, it refuses with the
-- documented SQLSTATE and changes nothing.
\pset format unaligned
\pset footer off
CREATE TABLE "Error's ""Cases""" (
    id integer PRIMARY KEY,
    "Rev" integer NOT NULL DEFAULT 0,
    "Label" text NOT NULL DEFAULT '',
    "Maybe" integer,
    "Full" integer NOT NULL DEFAULT 2147483646,
    "Small" smallint NOT NULL DEFAULT 32766,
    "Doubled" integer GENERATED ALWAYS AS ("Full") STORED,
    "Ident" integer GENERATED ALWAYS AS IDENTITY,
    "Checked" integer NOT NULL DEFAULT 0,
    "Unique" integer NOT NULL,
    "Parent" integer NOT NULL DEFAULT 1,
    CONSTRAINT "Not 2" CHECK ("Checked" < 2),
    CONSTRAINT "One Each" UNIQUE ("Unique"));
INSERT INTO "Error's ""Cases""" (id, "Unique") SELECT i, i FROM generate_series(1, 3) i;
CREATE TABLE before AS SELECT * FROM "Error's ""Cases""";
CREATE VIEW changed AS
    (TABLE "Error's ""Cases""" EXCEPT TABLE before) UNION ALL (TABLE before EXCEPT TABLE "Error's ""Cases""");
SET ordered_update.default_table = '"Error''s ""Cases"""';
SET ordered_update.default_counter = 'Rev';

-- Control: without an error the view shows the change.
BEGIN;
SELECT * FROM ordered_increment('{1}');
SELECT count(*) AS changed FROM changed;
ROLLBACK;

-- A null batch, a null element: 22004. (error)
SELECT error_of('SELECT * FROM ordered_increment(NULL)');
SELECT error_of('SELECT * FROM ordered_increment(ARRAY[1,NULL,2])');

-- An empty batch: 22023. (error)
SELECT error_of('SELECT * FROM ordered_increment(''{}'')');
SELECT error_of('SELECT * FROM ordered_increment(ARRAY[ARRAY[]::integer[]])');

-- More than one dimension: 2202E. (error)
SELECT error_of('SELECT * FROM ordered_increment(''{{1,2},{3,1}}'')');
SELECT error_of('SELECT * FROM ordered_increment(''{{{1}}}'')');
-- A null in two dimensions is refused for the dimensions. (error)
SELECT error_of('SELECT * FROM ordered_increment(''{{1,NULL}}'')');

-- An id that is not positive: 22023. (error)
SELECT error_of('SELECT * FROM ordered_increment(''{1,0}'')');
SELECT error_of('SELECT * FROM ordered_increment(''{-5,1}'')');
SELECT error_of('SELECT * FROM ordered_increment(''{-2147483648}'')');

-- The largest id is an id like any other: P0002. (error)
SELECT error_of('SELECT * FROM ordered_increment(''{2147483647}'')');

-- What is no integer does not reach the function: 22P02, 22003. (error)
SELECT error_of('SELECT * FROM ordered_increment(''{1,two}'')');
SELECT error_of('SELECT * FROM ordered_increment(''{2147483648}'')');

-- Missing rows: P0002, naming up to ten ids in order, then a count. (error)
SELECT error_of('SELECT * FROM ordered_increment(''{4,2}'')');
SELECT error_of('SELECT * FROM ordered_increment(''{9,1,2,8,3,9}'')');
SELECT error_of('SELECT * FROM ordered_increment(ARRAY(SELECT generate_series(13, 2, -1)))');
SELECT error_of('SELECT * FROM ordered_increment(ARRAY(SELECT generate_series(1, 100)))');

-- No such table: 42P01, no such schema: 3F000 or 42P01, not a name: 42602. (error)
SET ordered_update.default_table = 'Error''s "Cases"';
SELECT error_of('SELECT * FROM ordered_increment(''{1}'')');
SET ordered_update.default_table = 'nowhere_to_be_found';
SELECT error_of('SELECT * FROM ordered_increment(''{1}'')');
SET ordered_update.default_table = '"No Schema".articles';
SELECT error_of('SELECT * FROM ordered_increment(''{1}'')');
SET ordered_update.default_table = '';
SELECT error_of('SELECT * FROM ordered_increment(''{1}'')');
SET ordered_update.default_table = 'a; DROP TABLE before';
SELECT error_of('SELECT * FROM ordered_increment(''{1}'')');
SET ordered_update.default_table = '"Error''s ""Cases"""';

-- No such column: 42703; a name is not folded, a system column is none. (error)
SET ordered_update.default_counter = 'rev';
SELECT error_of('SELECT * FROM ordered_increment(''{1}'')');
SET ordered_update.default_counter = '"Rev"';
SELECT error_of('SELECT * FROM ordered_increment(''{1}'')');
SET ordered_update.default_counter = 'xmin';
SELECT error_of('SELECT * FROM ordered_increment(''{1}'')');
SET ordered_update.default_counter = '';
SELECT error_of('SELECT * FROM ordered_increment(''{1}'')');

-- A column that is not a number: 42804. (error)
SET ordered_update.default_counter = 'Label';
SELECT error_of('SELECT * FROM ordered_increment(''{1}'')');

-- The primary key itself: 0A000. (error)
SET ordered_update.default_counter = 'id';
SELECT error_of('SELECT * FROM ordered_increment(''{1}'')');

-- A counter that is null: 22004, naming column and key. (error)
SET ordered_update.default_counter = 'Maybe';
SELECT error_of('SELECT * FROM ordered_increment(''{1,2}'')');
BEGIN;
UPDATE "Error's ""Cases""" SET "Maybe" = 1 WHERE id <> 3;
SELECT error_of('SELECT * FROM ordered_increment(''{3,2,1}'')');
ROLLBACK;

-- Overflow: 22003, and the context says which table. (error)
BEGIN;
SET LOCAL ordered_update.default_counter = 'Full';
SELECT * FROM ordered_increment('{1,2}');
SELECT error_of('SELECT * FROM ordered_increment(''{1,2}'')');
SELECT id, "Full" FROM "Error's ""Cases""" ORDER BY id;
SET LOCAL ordered_update.default_counter = 'Small';
SELECT * FROM ordered_increment('{1,2}');
SELECT error_of('SELECT * FROM ordered_increment(''{1,2}'')');
ROLLBACK;

-- Generated and identity columns: core's own 428C9. (error)
SET ordered_update.default_counter = 'Doubled';
SELECT error_of('SELECT * FROM ordered_increment(''{1}'')');
SET ordered_update.default_counter = 'Ident';
SELECT error_of('SELECT * FROM ordered_increment(''{1}'')');

-- A CHECK constraint: 23514, with its name. (error)
SET ordered_update.default_counter = 'Checked';
BEGIN;
SELECT * FROM ordered_increment('{1,3}');
SELECT error_of('SELECT * FROM ordered_increment(''{3,2,1}'')');
ROLLBACK;

-- A unique constraint: 23505, with its name. (error)
SET ordered_update.default_counter = 'Unique';
SELECT error_of('SELECT * FROM ordered_increment(''{1}'')');

-- A foreign key: 23503, with its name. (error)
CREATE TABLE "Par'ent" (id integer PRIMARY KEY);
INSERT INTO "Par'ent" VALUES (1);
ALTER TABLE "Error's ""Cases""" ADD CONSTRAINT "Has Parent" FOREIGN KEY ("Parent") REFERENCES "Par'ent";
SET ordered_update.default_counter = 'Parent';
SELECT error_of('SELECT * FROM ordered_increment(''{1}'')');
SET ordered_update.default_counter = 'Rev';

-- A key that an integer does not fit into: the key type's 22003. (error)
CREATE TABLE "Small Keys" (id smallint PRIMARY KEY, "Rev" integer NOT NULL DEFAULT 0);
INSERT INTO "Small Keys" VALUES (1), (32767);
SET ordered_update.default_table = '"Small Keys"';
SELECT error_of('SELECT * FROM ordered_increment(''{1,32768}'')');
SELECT * FROM "Small Keys" ORDER BY id;

-- A key that is no number: 42804. (error)
CREATE TABLE "Uuid Keys" (id uuid PRIMARY KEY, "Rev" integer NOT NULL DEFAULT 0);
SET ordered_update.default_table = '"Uuid Keys"';
SELECT error_of('SELECT * FROM ordered_increment(''{1}'')');

-- A key of two columns: 42804. (error)
CREATE TABLE "Two Keys" (a integer, b integer, "Rev" integer NOT NULL DEFAULT 0, PRIMARY KEY (a, b));
SET ordered_update.default_table = '"Two Keys"';
SELECT error_of('SELECT * FROM ordered_increment(''{1}'')');

-- A counter that has outgrown the result's integer: 22003. (error)
CREATE TABLE "Big Counters" (id integer PRIMARY KEY, "Rev" bigint NOT NULL);
INSERT INTO "Big Counters" VALUES (1, 1), (2, 2147483647);
SET ordered_update.default_table = '"Big Counters"';
SELECT error_of('SELECT * FROM ordered_increment(''{1,2}'')');
SELECT * FROM "Big Counters" ORDER BY id;

-- A view: 42809. (error)
CREATE VIEW "A View" AS TABLE "Error's ""Cases""";
SET ordered_update.default_table = '"A View"';
SELECT error_of('SELECT * FROM ordered_increment(''{1}'')');

-- No primary key: 42P10. (error)
SET ordered_update.default_table = 'before';
SELECT error_of('SELECT * FROM ordered_increment(''{1}'')');

-- After all this nothing has changed.
SELECT count(*) AS changed FROM changed;

-- And the session goes on working.
SET ordered_update.default_table = '"Error''s ""Cases"""';
SELECT * FROM ordered_increment('{3,1}');
SELECT count(*) AS changed FROM changed;

RESET ordered_update.default_table;
RESET ordered_update.default_counter;
DROP VIEW "A View", changed;
DROP TABLE before, "Error's ""Cases""", "Par'ent", "Small Keys", "Uuid Keys", "Two Keys", "Big Counters";
