-- ordered_lock_all locks rows of several tables in one call: by schema-qualified
-- name and then by key, whatever the order in the JSON.  (That another session
-- waits accordingly is shown by isolation tests.)
\pset format unaligned
\pset footer off
CREATE SCHEMA "Shop's";
CREATE TABLE "Shop's"."Items" ("Item Id" integer PRIMARY KEY, "On Hand" integer NOT NULL DEFAULT 0);
CREATE TABLE "All Names'" (name text PRIMARY KEY, n integer NOT NULL DEFAULT 0);
CREATE TABLE "All Pairs" ("B" text, a integer, n integer NOT NULL DEFAULT 0, PRIMARY KEY (a, "B"));
CREATE TABLE "All Parts" (id integer PRIMARY KEY, n integer NOT NULL DEFAULT 0) PARTITION BY RANGE (id);
CREATE TABLE "All Parts 1" PARTITION OF "All Parts" FOR VALUES FROM (0) TO (10);
CREATE TABLE "All Parts 2" PARTITION OF "All Parts" FOR VALUES FROM (10) TO (20);
INSERT INTO "Shop's"."Items" SELECT generate_series(1, 4);
INSERT INTO "All Names'" VALUES ('pear'), ('fig'), ('it''s "x"'), ('17');
INSERT INTO "All Pairs" VALUES ('x', 1), ('y', 1), ('x', 2), ('y', 2);
INSERT INTO "All Parts" VALUES (1), (2), (11), (12);

-- The rows that this transaction has locked, and how: those with its xid in xmax.
CREATE VIEW locked AS
SELECT 'items' AS name, "Item Id"::text AS key FROM "Shop's"."Items" WHERE xmax = pg_current_xact_id()::xid
UNION ALL
SELECT 'names', name FROM "All Names'" WHERE xmax = pg_current_xact_id()::xid
UNION ALL
SELECT 'pairs', a || ', ' || "B" FROM "All Pairs" WHERE xmax = pg_current_xact_id()::xid
UNION ALL
SELECT 'parts', id::text FROM "All Parts" WHERE xmax = pg_current_xact_id()::xid;

-- Keys are values, or, for a key of several columns, objects; a duplicate is one row.
BEGIN;
SELECT ordered_lock_all($$ {
    "\"Shop's\".\"Items\"": [4, 2, 4],
    "\"All Names'\"": ["pear", "it's \"x\"", "17"],
    "public.\"All Parts\"": [12, 1],
    "\"All Pairs\"": [{"a": 2, "B": "x"}, {"B": "y", "a": 1}, {"a": 2, "B": "x"}]
} $$);
SELECT * FROM locked ORDER BY name COLLATE "C", key COLLATE "C";

-- Verbs that follow, in any order, find their rows held and do not complain.
SELECT * FROM ordered_increment(NULL::"Shop's"."Items", '{4,2}'::integer[], 'On Hand');
SELECT * FROM ordered_add(NULL::"All Pairs", '[{"a": 2, "B": "x", "n": 5}]');
SELECT * FROM ordered_delete(NULL::"All Names'", '{pear,17}'::text[]);
SELECT * FROM ordered_update(NULL::"All Parts", '[{"id": 12, "n": 7}, {"id": 1, "n": 6}]');
SELECT * FROM ordered_increment(NULL::"Shop's"."Items", '{2}'::integer[], 'On Hand');
ROLLBACK;

-- Keys of one column can be objects too, and a number finds a text.
SELECT ordered_lock_all('{"\"Shop''s\".\"Items\"": [{"Item Id": 1}, {"Item Id": 3}]}');
SELECT ordered_lock_all('{"\"All Names''\"": [17, "fig"]}');

-- The schema is that of the search_path.
BEGIN;
SET LOCAL search_path = "Shop's", public;
SELECT ordered_lock_all('{"\"Items\"": [1], "\"All Parts\"": [11]}');
ROLLBACK;

-- A big batch.
BEGIN;
INSERT INTO "Shop's"."Items" SELECT generate_series(5, 5000);
SELECT ordered_lock_all(jsonb_build_object('"Shop''s"."Items"', (SELECT jsonb_agg(i) FROM generate_series(5000, 1, -1) i),
                                           '"All Parts"', '[2]'::jsonb));
ROLLBACK;

-- Missing rows of all tables are one error, in the order of the tables, and
-- nothing stays locked. (error)
BEGIN;
SELECT error_of($$ SELECT ordered_lock_all('{"\"Shop''s\".\"Items\"": [9, 1, 8], "\"All Parts\"": [1],
    "\"All Pairs\"": [{"a": 1, "B": "z"}], "\"All Names''\"": ["plum"]}') $$);
SELECT count(*) FROM locked;
ROLLBACK;
-- One missing row. (error)
SELECT error_of($$ SELECT ordered_lock_all('{"\"All Parts\"": [1, 15]}') $$);
-- More than ten are counted. (error)
SELECT error_of($$ SELECT ordered_lock_all(jsonb_build_object('"All Parts"',
    (SELECT jsonb_agg(i) FROM generate_series(1, 19) i))) $$);

-- Where missing rows may be, they are not counted.
SELECT ordered_lock_all('{"\"Shop''s\".\"Items\"": [9, 1, 8], "\"All Parts\"": [1, 99]}', missing_ok => true);
SELECT ordered_lock_all('{"\"Shop''s\".\"Items\"": [9], "\"All Parts\"": [99]}', missing_ok => true);

-- The strength is one for all tables. (An isolation test probes it.)
SELECT ordered_lock_all('{"\"Shop''s\".\"Items\"": [1], "\"All Parts\"": [1]}', 'key share');
SELECT ordered_lock_all('{"\"Shop''s\".\"Items\"": [1], "\"All Parts\"": [1]}', 'share');
SELECT ordered_lock_all('{"\"Shop''s\".\"Items\"": [1], "\"All Parts\"": [1]}', 'no key update');
SELECT ordered_lock_all('{"\"Shop''s\".\"Items\"": [1], "\"All Parts\"": [1]}', 'update');
SELECT error_of($$ SELECT ordered_lock_all('{"\"All Parts\"": [1]}', 'for update') $$);  -- (error)

-- JSON of another shape. (error)
SELECT error_of($$ SELECT ordered_lock_all('[1, 2]') $$);
SELECT error_of($$ SELECT ordered_lock_all('7') $$);
SELECT error_of($$ SELECT ordered_lock_all('null') $$);
SELECT error_of($$ SELECT ordered_lock_all('{}') $$);
SELECT error_of($$ SELECT ordered_lock_all('{"\"All Parts\"": 1}') $$);
SELECT error_of($$ SELECT ordered_lock_all('{"\"All Parts\"": {"id": 1}}') $$);
SELECT error_of($$ SELECT ordered_lock_all('{"\"All Parts\"": null}') $$);
SELECT error_of($$ SELECT ordered_lock_all('{"\"All Parts\"": []}') $$);
SELECT error_of($$ SELECT ordered_lock_all('{"\"All Parts\"": [1, null]}') $$);
SELECT error_of($$ SELECT ordered_lock_all('{"\"All Parts\"": [1, {"id": 2}]}') $$);
SELECT error_of($$ SELECT ordered_lock_all('{"\"All Parts\"": [[1]]}') $$);
SELECT error_of($$ SELECT ordered_lock_all('{"\"All Parts\"": ["one"]}') $$);
SELECT error_of($$ SELECT ordered_lock_all('{"\"All Parts\"": [1.5]}') $$);
SELECT error_of($$ SELECT ordered_lock_all('{"\"All Parts\"": [true]}') $$);
-- A value for a key of two columns, and objects that name too little or too much. (error)
SELECT error_of($$ SELECT ordered_lock_all('{"\"All Pairs\"": [1]}') $$);
SELECT error_of($$ SELECT ordered_lock_all('{"\"All Pairs\"": [{"a": 1}]}') $$);
SELECT error_of($$ SELECT ordered_lock_all('{"\"All Pairs\"": [{"a": 1, "B": null}]}') $$);
SELECT error_of($$ SELECT ordered_lock_all('{"\"All Pairs\"": [{"a": 1, "B": "x", "c": 1}]}') $$);

-- Nulls. (error)
SELECT error_of($$ SELECT ordered_lock_all(NULL) $$);
SELECT error_of($$ SELECT ordered_lock_all('{"\"All Parts\"": [1]}', NULL) $$);
SELECT error_of($$ SELECT ordered_lock_all('{"\"All Parts\"": [1]}', nowait => NULL) $$);
SELECT error_of($$ SELECT ordered_lock_all('{"\"All Parts\"": [1]}', missing_ok => NULL) $$);

-- A table that does not exist, names that are none. (error)
SELECT error_of($$ SELECT ordered_lock_all('{"nowhere": [1]}') $$);
SELECT error_of($$ SELECT ordered_lock_all('{"Items": [1]}') $$);
SELECT error_of($$ SELECT ordered_lock_all('{"nowhere.items": [1]}') $$);
SELECT error_of($$ SELECT ordered_lock_all('{"": [1]}') $$);
SELECT error_of($$ SELECT ordered_lock_all('{"a b": [1]}') $$);
SELECT error_of($$ SELECT ordered_lock_all('{"elsewhere.public.items": [1]}') $$);

-- The same table under two names. (error)
SELECT error_of($$ SELECT ordered_lock_all('{"\"All Parts\"": [1], "public.\"All Parts\"": [2]}') $$);

-- Two tables whose qualified names are alike are two.
CREATE SCHEMA "A.b";
CREATE SCHEMA "A";
CREATE TABLE "A.b"."c" (id integer PRIMARY KEY);
CREATE TABLE "A"."b.c" (id integer PRIMARY KEY);
INSERT INTO "A.b"."c" VALUES (1);
INSERT INTO "A"."b.c" VALUES (1), (2);
SELECT ordered_lock_all('{"\"A.b\".c": [1], "\"A\".\"b.c\"": [1, 2]}');
DROP TABLE "A.b"."c", "A"."b.c";
DROP SCHEMA "A.b";
DROP SCHEMA "A";

-- A partition can be named beside its parent: its rows are those.
BEGIN;
SELECT ordered_lock_all('{"\"All Parts 1\"": [1], "\"All Parts\"": [11, 2]}');
SELECT * FROM locked ORDER BY name COLLATE "C", key COLLATE "C";
ROLLBACK;

-- What has no rows that can be locked in order. (error)
CREATE VIEW "Items View" AS TABLE "Shop's"."Items";
CREATE TABLE "No Key" (id integer);
SELECT error_of($$ SELECT ordered_lock_all('{"\"Items View\"": [1]}') $$);
SELECT error_of($$ SELECT ordered_lock_all('{"\"No Key\"": [1]}') $$);
SELECT error_of($$ SELECT ordered_lock_all('{"pg_catalog.pg_class": [1]}') $$);
SELECT error_of($$ SELECT ordered_lock_all('{"\"All Names''_pkey\"": [1]}') $$);

-- Who may not lock a table gets nothing of the others either. (error)
CREATE ROLE regress_ou_all;
GRANT USAGE ON SCHEMA "Shop's" TO regress_ou_all;
GRANT SELECT, UPDATE ON "Shop's"."Items" TO regress_ou_all;
GRANT SELECT ON "All Parts" TO regress_ou_all;
SET ROLE regress_ou_all;
SELECT ordered_lock_all('{"\"Shop''s\".\"Items\"": [1]}');
SELECT error_of($$ SELECT ordered_lock_all('{"\"Shop''s\".\"Items\"": [1], "\"All Parts\"": [1]}') $$);
RESET ROLE;

-- A transaction that may not write. (error)
BEGIN READ ONLY;
SELECT error_of($$ SELECT ordered_lock_all('{"\"All Parts\"": [1]}') $$);
ROLLBACK;

-- All tables are locked before any row, as strongly as a change needs, and
-- those tables only.
BEGIN;
SELECT ordered_lock_all('{"\"Shop''s\".\"Items\"": [1], "\"All Parts\"": [1]}', 'key share');
SELECT c.relname, l.mode
  FROM pg_locks l JOIN pg_class c ON c.oid = l.relation
 WHERE l.pid = pg_backend_pid() AND c.relkind IN ('r', 'p') AND l.mode NOT IN ('AccessShareLock', 'RowShareLock')
 ORDER BY c.relname COLLATE "C", l.mode;
ROLLBACK;
DROP OWNED BY regress_ou_all;
DROP ROLE regress_ou_all;
DROP VIEW locked, "Items View";
DROP TABLE "Shop's"."Items", "All Names'", "All Pairs", "All Parts", "No Key";
DROP SCHEMA "Shop's";
