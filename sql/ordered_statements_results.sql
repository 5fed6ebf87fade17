-- The sort of ordered statements never changes a result: each statement below
-- does the same with the setting off and on, to the rows that it returns, to
-- the table, and to what its triggers write.  A line says whether the statement
-- is sorted with the setting on, how many rows it changed, and that both
-- outcomes are the same; where it may as well be left alone, only the latter.
\pset format unaligned
\pset footer off
\pset tuples_only on
LOAD 'ordered_update';
SET client_min_messages = warning;
SET enable_indexscan = off;
SET enable_indexonlyscan = off;

-- A table with a dropped column and a generated one, whose rows lie in no order.
CREATE SCHEMA "Results' Home";
SET search_path = "Results' Home", public;
CREATE TABLE "Odd Rows" (
    dropped text,
    name text,
    "The Key" integer PRIMARY KEY,
    n integer NOT NULL DEFAULT 0,
    twice integer GENERATED ALWAYS AS (n * 2) STORED);
INSERT INTO "Odd Rows" ("The Key", name) SELECT i * 7 % 11 + 1, 'row ' || i FROM generate_series(0, 10) AS i;
ALTER TABLE "Odd Rows" DROP dropped;

-- UPDATE and DELETE: plain, RETURNING, with FROM, of a join by ctid, of a join with itself, of a list of columns.
SELECT same_outcome($$ UPDATE "Odd Rows" SET n = n + 1 $$);
SELECT same_outcome($$ UPDATE "Odd Rows" SET n = "The Key", name = upper(name) WHERE "The Key" > 3 RETURNING *, "The Key" + n $$);
SELECT same_outcome($$ UPDATE "Odd Rows" AS r SET n = v.n FROM (VALUES (3, 10), (1, 20), (2, 30), (99, 40)) AS v(id, n)
                        WHERE r."The Key" = v.id RETURNING r.*, v.n $$);
SELECT same_outcome($$ UPDATE "Odd Rows" AS r SET n = s.place
                         FROM (SELECT ctid AS tid, row_number() OVER (ORDER BY "The Key" DESC) AS place FROM "Odd Rows") AS s
                        WHERE r.ctid = s.tid RETURNING r.n $$);
SELECT same_outcome($$ UPDATE "Odd Rows" AS a SET n = b."The Key" FROM "Odd Rows" AS b
                        WHERE b."The Key" = a."The Key" + 1 RETURNING a.n, b.n, b.* $$);
SELECT same_outcome($$ UPDATE "Odd Rows" AS a SET (n, name) = (SELECT count(*), max(b.name) FROM "Odd Rows" AS b
                                                              WHERE b."The Key" < a."The Key") $$);
SELECT same_outcome($$ UPDATE "Odd Rows" SET n = n + 1 WHERE "The Key" IN
                         (SELECT "The Key" FROM "Odd Rows" ORDER BY "The Key" DESC LIMIT 3 FOR UPDATE SKIP LOCKED) RETURNING * $$);
SELECT same_outcome($$ DELETE FROM "Odd Rows" WHERE "The Key" % 2 = 0 RETURNING * $$);
SELECT same_outcome($$ DELETE FROM "Odd Rows" AS a USING "Odd Rows" AS b WHERE a."The Key" = b."The Key" * 2 RETURNING a.*, b.* $$);
SELECT same_outcome($$ DELETE FROM "Odd Rows" AS a USING "Odd Rows" AS b WHERE a.ctid = b.ctid AND b."The Key" > 2 RETURNING a.name $$);
SELECT same_outcome($$ SELECT "The Key", name FROM "Odd Rows" WHERE "The Key" > 4 FOR UPDATE $$);
SELECT same_outcome($$ SELECT count(*), sum(l."The Key") FROM (SELECT "The Key" FROM "Odd Rows" FOR SHARE) AS l $$);

-- A failure fails: a value that does not fit one of the rows, a check, a missing right.
SELECT same_outcome($$ UPDATE "Odd Rows" SET n = 1 / ("The Key" - 5) $$);
SELECT same_outcome($$ ALTER TABLE "Odd Rows" ADD CHECK (n < 9) $$, $$ UPDATE "Odd Rows" SET n = "The Key" - 2 WHERE "The Key" <> 10 $$);

-- Volatile expressions: each row gets one number, and no number is drawn twice.
CREATE SEQUENCE "Numbers";
SET ordered_update.order_statements = on;
BEGIN;
SELECT lock_order($$ UPDATE "Odd Rows" SET n = nextval('"Numbers"') $$);
UPDATE "Odd Rows" SET n = nextval('"Numbers"');
SELECT array_agg(n ORDER BY n), currval('"Numbers"') FROM "Odd Rows";
DELETE FROM "Odd Rows" WHERE nextval('"Numbers"') > 0;
SELECT count(*), currval('"Numbers"') FROM "Odd Rows";
ROLLBACK;
RESET ordered_update.order_statements;

-- Data-modifying CTEs, one feeding the other; all see the same snapshot.
CREATE TABLE "Log" (event text, row_was text);
SELECT same_outcome($$ WITH gone AS (DELETE FROM "Odd Rows" WHERE "The Key" < 5 RETURNING *),
                            kept AS (UPDATE "Odd Rows" SET n = n + 1 WHERE "The Key" >= 5 RETURNING *)
                       INSERT INTO "Log" SELECT name, (SELECT count(*) FROM kept)::text FROM gone RETURNING * $$);
SELECT same_outcome($$ WITH wanted AS MATERIALIZED (SELECT "The Key" AS id FROM "Odd Rows" WHERE "The Key" > 7 FOR UPDATE)
                       UPDATE "Odd Rows" AS r SET n = (SELECT count(*) FROM wanted) FROM wanted AS w WHERE r."The Key" = w.id RETURNING * $$);
SELECT same_outcome($$ WITH gone AS (DELETE FROM "Odd Rows" WHERE "The Key" > 6 RETURNING *)
                       INSERT INTO "Odd Rows" ("The Key", name) SELECT "The Key" - 6, 'was ' || name FROM gone
                       ON CONFLICT ("The Key") DO UPDATE SET name = EXCLUDED.name RETURNING * $$);
SELECT same_outcome($$ WITH gone AS (DELETE FROM "Odd Rows" WHERE "The Key" > 6 RETURNING *)
                       INSERT INTO "Odd Rows" ("The Key", name)
                       SELECT "The Key" - 6, (SELECT max(name) FROM gone) FROM gone
                       ON CONFLICT ("The Key") DO NOTHING RETURNING * $$);
SELECT same_outcome($$ WITH RECURSIVE ids(i) AS (SELECT 20 UNION ALL SELECT i - 1 FROM ids WHERE i > 3)
                       INSERT INTO "Odd Rows" ("The Key", name) SELECT i, 'new' FROM ids
                       ON CONFLICT ("The Key") DO NOTHING RETURNING * $$);
SELECT same_outcome($$ WITH outside AS (SELECT 3 AS i)
                       INSERT INTO "Odd Rows" ("The Key", name)
                       WITH inside AS (SELECT i FROM outside UNION ALL SELECT 40 UNION ALL SELECT 30)
                       SELECT i, (SELECT 'of ' || count(*) FROM inside, outside) FROM inside
                       ON CONFLICT ("The Key") DO NOTHING RETURNING *, (SELECT max(i) FROM outside) $$);

-- Triggers that change the row, drop it, and log it; transition tables.
CREATE FUNCTION change_row() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW."The Key" = 5 THEN
        RETURN NULL;
    END IF;
    NEW.name := NEW.name || ' of ' || NEW."The Key";
    RETURN NEW;
END $$;
CREATE FUNCTION log_row() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO "Log" VALUES (TG_OP, CASE TG_OP WHEN 'DELETE' THEN OLD ELSE NEW END::text);
    RETURN NULL;
END $$;
CREATE FUNCTION log_transition() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO "Log" SELECT 'all old', count(*) || ' ' || sum(n) FROM before;
    INSERT INTO "Log" SELECT 'all new', count(*) || ' ' || sum(n) FROM after;
    RETURN NULL;
END $$;
CREATE TRIGGER change_row BEFORE INSERT OR UPDATE ON "Odd Rows" FOR EACH ROW EXECUTE FUNCTION change_row();
CREATE TRIGGER log_row AFTER INSERT OR UPDATE OR DELETE ON "Odd Rows" FOR EACH ROW EXECUTE FUNCTION log_row();
CREATE TRIGGER log_transition AFTER UPDATE ON "Odd Rows" REFERENCING OLD TABLE AS before NEW TABLE AS after
    FOR EACH STATEMENT EXECUTE FUNCTION log_transition();
SELECT same_outcome($$ UPDATE "Odd Rows" SET n = "The Key" RETURNING * $$);
SELECT same_outcome($$ DELETE FROM "Odd Rows" WHERE "The Key" > 3 $$);
SELECT same_outcome($$ INSERT INTO "Odd Rows" ("The Key", name) VALUES (20, 'x'), (5, 'y'), (1, 'z')
                       ON CONFLICT ("The Key") DO UPDATE SET n = "Odd Rows".n + 1 RETURNING * $$);
DROP TRIGGER change_row ON "Odd Rows";
DROP TRIGGER log_row ON "Odd Rows";
DROP TRIGGER log_transition ON "Odd Rows";

-- Views with a check option, and one that joins; rules; row security.
CREATE VIEW "Small" AS SELECT name AS label, "The Key" AS id, n FROM "Odd Rows" WHERE n < 8 WITH CHECK OPTION;
SELECT same_outcome($$ UPDATE "Small" SET n = id - 4 WHERE id > 2 RETURNING * $$);
SELECT same_outcome($$ UPDATE "Small" SET n = id $$);
SELECT same_outcome($$ DELETE FROM "Small" WHERE id > 4 RETURNING label $$);
SELECT same_outcome($$ INSERT INTO "Small" VALUES ('b', 12), ('a', 2), ('c', 3) ON CONFLICT (id) DO UPDATE SET n = "Small".n + 7, label = EXCLUDED.label RETURNING * $$);
SELECT same_outcome($$ INSERT INTO "Small" VALUES ('b', 12, 0), ('a', 13, 8), ('c', 3, 0) ON CONFLICT (id) DO NOTHING $$);
SELECT same_outcome($$ SELECT id FROM "Small" WHERE id > 4 FOR UPDATE $$);
CREATE RULE "Also" AS ON UPDATE TO "Odd Rows" DO ALSO INSERT INTO "Log" VALUES ('rule', OLD."The Key" || ' ' || NEW.n);
SELECT same_outcome($$ UPDATE "Odd Rows" SET n = n + 5 WHERE "The Key" < 4 $$);
DROP RULE "Also" ON "Odd Rows";
CREATE RULE "Instead" AS ON DELETE TO "Odd Rows" DO INSTEAD UPDATE "Odd Rows" SET n = -1 WHERE "The Key" = OLD."The Key";
SELECT same_outcome($$ DELETE FROM "Odd Rows" WHERE "The Key" > 7 $$);
DROP RULE "Instead" ON "Odd Rows";
CREATE ROLE regress_results;
GRANT USAGE ON SCHEMA "Results' Home" TO regress_results;
GRANT ALL ON ALL TABLES IN SCHEMA "Results' Home" TO regress_results;
ALTER TABLE "Odd Rows" ENABLE ROW LEVEL SECURITY;
CREATE POLICY "Even" ON "Odd Rows" TO regress_results USING ("The Key" % 2 = 0) WITH CHECK (n < 8);
CREATE POLICY "All" ON "Odd Rows" TO CURRENT_USER USING (true);
SELECT same_outcome('SET LOCAL ROLE regress_results', $$ UPDATE "Odd Rows" SET n = n + 1 RETURNING * $$);
SELECT same_outcome('SET LOCAL ROLE regress_results', $$ UPDATE "Odd Rows" SET n = "The Key" $$);
SELECT same_outcome('SET LOCAL ROLE regress_results', $$ DELETE FROM "Odd Rows" WHERE "The Key" < 7 $$);
SELECT same_outcome('SET LOCAL ROLE regress_results', $$ SELECT "The Key" FROM "Odd Rows" FOR UPDATE $$);
SELECT same_outcome('SET LOCAL ROLE regress_results',
    $$ INSERT INTO "Odd Rows" ("The Key") VALUES (14), (2), (12) ON CONFLICT ("The Key") DO UPDATE SET n = 3 RETURNING * $$);
SELECT same_outcome('SET LOCAL ROLE regress_results',
    $$ INSERT INTO "Odd Rows" ("The Key") VALUES (14), (3), (12) ON CONFLICT ("The Key") DO UPDATE SET n = 3 $$);
SELECT same_outcome('SET LOCAL ROLE regress_results',
    $$ INSERT INTO "Odd Rows" ("The Key", n) VALUES (14, 1), (3, 1), (12, 1) ON CONFLICT ("The Key") DO NOTHING $$);
ALTER TABLE "Odd Rows" DISABLE ROW LEVEL SECURITY;

-- A right on single columns is enough, as ever; without it the statement fails, as ever.
REVOKE ALL ON "Odd Rows" FROM regress_results;
GRANT SELECT ("The Key"), UPDATE (n) ON "Odd Rows" TO regress_results;
SELECT same_outcome('SET LOCAL ROLE regress_results', $$ UPDATE "Odd Rows" SET n = 1 WHERE "The Key" > 3 $$);
SELECT same_outcome('SET LOCAL ROLE regress_results', $$ SELECT "The Key" FROM "Odd Rows" FOR UPDATE $$);
SELECT same_outcome('SET LOCAL ROLE regress_results', $$ UPDATE "Odd Rows" SET name = 'x' $$);
REVOKE ALL ON "Odd Rows" FROM regress_results;
GRANT UPDATE (n) ON "Odd Rows" TO regress_results;
SELECT same_outcome('SET LOCAL ROLE regress_results', $$ UPDATE "Odd Rows" SET n = 1 $$);
REVOKE ALL ON "Odd Rows" FROM regress_results;
GRANT INSERT (name, "The Key") ON "Odd Rows" TO regress_results;
SELECT same_outcome('SET LOCAL ROLE regress_results',
    $$ INSERT INTO "Odd Rows" ("The Key", name) VALUES (14, 'x'), (13, 'y') ON CONFLICT DO NOTHING $$);

-- Cursors: the row of a cursor, and rows fetched a few at a time.
BEGIN;
SET LOCAL ordered_update.order_statements = on;
DECLARE "The Cursor" CURSOR FOR SELECT "The Key", name FROM "Odd Rows" WHERE "The Key" > 4 FOR UPDATE;
FETCH 2 FROM "The Cursor";
UPDATE "Odd Rows" SET n = 50 WHERE CURRENT OF "The Cursor";
FETCH 1 FROM "The Cursor";
DELETE FROM "Odd Rows" WHERE CURRENT OF "The Cursor";
FETCH 1 FROM "The Cursor";
SELECT "The Key", n FROM "Odd Rows" WHERE n = 50 OR "The Key" = 7;
ROLLBACK;

-- Prepared statements: custom and generic plans give the same.
PREPARE "Change" (integer[], integer) AS UPDATE "Odd Rows" SET n = n + $2 WHERE "The Key" = ANY ($1) RETURNING *;
PREPARE "Upsert" (integer[]) AS INSERT INTO "Odd Rows" ("The Key", name) SELECT i, 'new' FROM unnest($1) AS i
    ON CONFLICT ("The Key") DO UPDATE SET n = 7 RETURNING *;
SET plan_cache_mode = force_custom_plan;
SELECT same_outcome('EXECUTE "Change" (''{7,2,5,1}'', 3)');
SELECT same_outcome('EXECUTE "Upsert" (''{17,2,15,1}'')');
SET plan_cache_mode = force_generic_plan;
SELECT same_outcome('EXECUTE "Change" (''{7,2,5,1}'', 3)');
SELECT same_outcome('EXECUTE "Upsert" (''{17,2,15,1}'')');
RESET plan_cache_mode;
DEALLOCATE "Change";
DEALLOCATE "Upsert";

-- Functions in SQL and in PL/pgSQL.
CREATE FUNCTION change_in_sql(wanted integer[]) RETURNS SETOF "Odd Rows" LANGUAGE sql AS $$
    INSERT INTO "Odd Rows" ("The Key", name) SELECT i, 'new' FROM unnest(wanted) AS i ON CONFLICT ("The Key") DO NOTHING;
    UPDATE "Odd Rows" SET n = n + 1 WHERE "The Key" = ANY (wanted) RETURNING *;
$$;
CREATE FUNCTION change_in_plpgsql(wanted integer[]) RETURNS SETOF "Odd Rows" LANGUAGE plpgsql AS $$
DECLARE
    r "Odd Rows";
BEGIN
    FOR r IN SELECT * FROM "Odd Rows" WHERE "The Key" = ANY (wanted) FOR UPDATE LOOP
        RETURN NEXT r;
    END LOOP;
    RETURN QUERY DELETE FROM "Odd Rows" WHERE "The Key" = ANY (wanted) RETURNING *;
END $$;
SELECT same_outcome('SELECT * FROM change_in_sql(''{15,3,20,2}'')');
SELECT same_outcome('SELECT * FROM change_in_plpgsql(''{5,3,10,2}'')');

-- COPY: rows are inserted as they come.
CREATE TABLE "Copied" (place serial, id integer PRIMARY KEY);
BEGIN;
SET LOCAL ordered_update.order_statements = on;
COPY "Copied" (id) FROM stdin;
30
10
20
\.
SELECT * FROM "Copied" ORDER BY place;
ROLLBACK;
DROP TABLE "Copied", "Log", "Odd Rows" CASCADE;
DROP SEQUENCE "Numbers";

-- INSERT ON CONFLICT.  The numbers that defaults give follow the order of the
-- rows as they were written, not the sort: with DO UPDATE and DO NOTHING, from
-- VALUES, from VALUES with DEFAULT in it, and from SELECT.
CREATE TABLE "Numbered" (
    slug text COLLATE "C" PRIMARY KEY,
    "Serial" serial,
    "Identity" integer GENERATED BY DEFAULT AS IDENTITY,
    n integer NOT NULL DEFAULT 0);
INSERT INTO "Numbered" VALUES ('m', 100, 100, 0);
SELECT same_outcome($$ INSERT INTO "Numbered" (slug) VALUES ('z'), ('m'), ('a') ON CONFLICT (slug) DO UPDATE SET n = EXCLUDED."Serial" RETURNING * $$);
SELECT same_outcome($$ INSERT INTO "Numbered" (slug) VALUES ('z'), ('m'), ('a') ON CONFLICT (slug) DO NOTHING RETURNING * $$);
SELECT same_outcome($$ INSERT INTO "Numbered" VALUES ('z', DEFAULT, DEFAULT), ('b', 7, DEFAULT), ('a', DEFAULT, 9) ON CONFLICT DO NOTHING RETURNING * $$);
SELECT same_outcome($$ INSERT INTO "Numbered" (slug, n) SELECT s, p FROM unnest(ARRAY['z','m','a','q']) WITH ORDINALITY AS u(s, p)
                       ON CONFLICT (slug) DO UPDATE SET n = EXCLUDED.n RETURNING * $$);
SELECT same_outcome($$ INSERT INTO "Numbered" (slug, n) SELECT s, nextval('"Numbered_Serial_seq"') FROM unnest(ARRAY['z','m','a','q']) AS s
                       ON CONFLICT (slug) DO UPDATE SET n = EXCLUDED.n RETURNING * $$);
SELECT same_outcome($$ INSERT INTO "Numbered" (slug) SELECT s FROM unnest(ARRAY['a','q','z','b']) AS s ORDER BY s DESC LIMIT 3
                       ON CONFLICT (slug) DO NOTHING RETURNING * $$);
SELECT same_outcome($$ INSERT INTO "Numbered" OVERRIDING USER VALUE VALUES ('z', 1, 1), ('b', 2, 2), ('a', 3, 3) ON CONFLICT DO NOTHING RETURNING * $$);
DROP TABLE "Numbered";

-- The key itself made up: in the order of VALUES.
CREATE TABLE "Made Up" (id serial PRIMARY KEY, name text);
SELECT same_outcome($$ INSERT INTO "Made Up" VALUES (DEFAULT, 'x'), (10, 'y'), (DEFAULT, 'z') ON CONFLICT (id) DO NOTHING RETURNING * $$);
SELECT same_outcome($$ INSERT INTO "Made Up" (name) VALUES ('x'), ('y'), ('z') ON CONFLICT (id) DO UPDATE SET name = 'seen' RETURNING * $$);
SELECT same_outcome($$ INSERT INTO "Made Up" (name) VALUES ('x'), ('y'), ('z') ON CONFLICT DO NOTHING RETURNING * $$);
DROP TABLE "Made Up";

-- Of rows with the same key the first one wins; DO UPDATE refuses the second one, unless the first one changed nothing.
CREATE TABLE "Twice" (id integer PRIMARY KEY, slug text UNIQUE, n integer NOT NULL DEFAULT 0);
INSERT INTO "Twice" VALUES (5, 'five', 0);
SELECT same_outcome($$ INSERT INTO "Twice" VALUES (9, 'a'), (2, 'b'), (9, 'c'), (2, 'd'), (5, 'e') ON CONFLICT (id) DO NOTHING RETURNING * $$);
SELECT same_outcome($$ INSERT INTO "Twice" SELECT i * 37 % 101 % 13, i::text, i FROM generate_series(0, 100) AS i ON CONFLICT (id) DO NOTHING RETURNING * $$);
SELECT same_outcome($$ INSERT INTO "Twice" VALUES (9, 'a'), (2, 'b'), (9, 'c') ON CONFLICT (id) DO UPDATE SET n = 1 $$);
SELECT regexp_replace(line, '^(not )?sorted, ', '')
  FROM same_outcome($$ INSERT INTO "Twice" SELECT i, NULL, 0 FROM generate_series(0, 12) AS i ON CONFLICT DO NOTHING $$,
    $$ INSERT INTO "Twice" SELECT i % 13, NULL, CASE WHEN i < 26 THEN 0 ELSE i END FROM generate_series(0, 38) AS i
       ON CONFLICT (id) DO UPDATE SET n = EXCLUDED.n WHERE EXCLUDED.n > "Twice".n RETURNING * $$) AS line;

-- Without an arbiter any conflict counts: the first row wins by each unique index.
SELECT regexp_replace(line, '^(not )?sorted, ', '')
  FROM same_outcome($$ INSERT INTO "Twice" VALUES (3, 'x'), (2, 'x'), (1, 'y'), (6, 'five') ON CONFLICT DO NOTHING RETURNING * $$) AS line;
SELECT regexp_replace(line, '^(not )?sorted, ', '')
  FROM same_outcome($$ INSERT INTO "Twice" VALUES (3, 'x'), (2, 'y'), (3, 'z'), (1, 'z') ON CONFLICT DO NOTHING RETURNING * $$) AS line;

-- A conflict with another index than the arbiter is an error, as ever.
SELECT same_outcome($$ INSERT INTO "Twice" VALUES (3, 'x'), (2, 'x') ON CONFLICT (id) DO NOTHING $$);
DROP TABLE "Twice";

-- Text arbiters of several collations, one of them with 'AB' equal to 'ab', and the type's own order of equal values.
CREATE COLLATION "Case Blind" (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
CREATE TABLE "Words" (c text COLLATE "C" UNIQUE, icu text COLLATE "und-x-icu" UNIQUE, blind text COLLATE "Case Blind" UNIQUE,
    amount numeric PRIMARY KEY, n integer NOT NULL DEFAULT 0);
INSERT INTO "Words" VALUES ('m', 'm', 'm', 1.0);
SELECT same_outcome(format($$ INSERT INTO "Words" (%1$I, amount) SELECT w, 10 + p FROM unnest(ARRAY['z','B','a','M','b','é']) WITH ORDINALITY AS u(w, p)
                              ON CONFLICT (%1$I) DO NOTHING RETURNING * $$, col))
  FROM unnest(ARRAY['c','icu','blind']) AS col;
SELECT same_outcome(format($$ INSERT INTO "Words" (%1$I, amount) VALUES ('z', 10), ('M', 11), ('m', 12), ('a', 13)
                              ON CONFLICT (%1$I) DO UPDATE SET n = "Words".n + 1 RETURNING * $$, col))
  FROM unnest(ARRAY['c','icu','blind']) AS col;
SELECT same_outcome($$ INSERT INTO "Words" (c, amount) VALUES ('z', 2.00), ('y', 1.00), ('x', 2) ON CONFLICT (amount) DO NOTHING RETURNING * $$);
DROP TABLE "Words";
DROP COLLATION "Case Blind";

-- Arbiters: an expression, a constraint by name, a partial index, several columns, several indexes of one column.
CREATE TABLE "People" (id integer PRIMARY KEY, email text, team integer, active boolean NOT NULL DEFAULT true, n integer NOT NULL DEFAULT 0,
    CONSTRAINT "One Team" UNIQUE (team, email));
CREATE UNIQUE INDEX ON "People" (lower(email));
CREATE UNIQUE INDEX ON "People" (team) WHERE active;
INSERT INTO "People" VALUES (1, 'Ann@x', 1), (2, 'Bob@x', 2);
SELECT same_outcome($$ INSERT INTO "People" VALUES (9, 'ZOE@x', 9), (8, 'bob@X', 8), (7, 'ANN@x', 7) ON CONFLICT (lower(email)) DO UPDATE SET n = "People".n + 1 RETURNING * $$);
SELECT same_outcome($$ INSERT INTO "People" VALUES (9, 'ZOE@x', 9), (8, 'zoe@X', 8), (7, 'ANN@x', 7) ON CONFLICT (lower(email)) DO NOTHING RETURNING * $$);
SELECT same_outcome($$ INSERT INTO "People" VALUES (9, 'z', 9), (8, 'Bob@x', 2), (7, 'Ann@x', 1) ON CONFLICT ON CONSTRAINT "One Team" DO UPDATE SET n = 5 RETURNING * $$);
SELECT same_outcome($$ INSERT INTO "People" VALUES (9, 'z', 9), (8, 'y', 2), (7, 'x', 1) ON CONFLICT (team) WHERE active DO UPDATE SET n = 5 RETURNING * $$);
SELECT same_outcome($$ INSERT INTO "People" VALUES (9, 'z', 2, false), (8, 'y', 2, true), (7, 'x', 1, false) ON CONFLICT (team) WHERE active DO NOTHING RETURNING * $$);
SELECT same_outcome($$ INSERT INTO "People" VALUES (9, 'Bob@x', 2), (8, 'y', 4) ON CONFLICT (email, team) DO NOTHING RETURNING * $$);
SELECT same_outcome($$ INSERT INTO "People" SELECT id + 10, email, team + 10 FROM "People" ON CONFLICT (lower(email)) DO UPDATE SET n = EXCLUDED.id RETURNING * $$);
DROP TABLE "People";

-- Partitions with other column orders, a dropped column, a domain, a generated column; rows move between them.
CREATE DOMAIN "Positive" AS integer CHECK (VALUE > 0);
CREATE TABLE "Split" (n integer NOT NULL DEFAULT 0, area integer, id "Positive", twice integer GENERATED ALWAYS AS (id * 2) STORED,
    PRIMARY KEY (id, area)) PARTITION BY LIST (area);
CREATE TABLE "Split 1" (id "Positive" NOT NULL, dropped text, twice integer GENERATED ALWAYS AS (id * 2) STORED, area integer NOT NULL, n integer NOT NULL DEFAULT 0);
ALTER TABLE "Split 1" DROP dropped;
ALTER TABLE "Split" ATTACH PARTITION "Split 1" FOR VALUES IN (1);
CREATE TABLE "Split 2" PARTITION OF "Split" FOR VALUES IN (2);
INSERT INTO "Split" (area, id) SELECT i % 2 + 1, i * 7 % 11 + 1 FROM generate_series(0, 10) AS i;
SELECT same_outcome($$ UPDATE "Split" SET n = id RETURNING *, tableoid::regclass $$);
SELECT same_outcome($$ UPDATE "Split" AS s SET n = v.n FROM (VALUES (3, 1), (1, 2), (2, 3)) AS v(id, n) WHERE s.id = v.id RETURNING *, tableoid::regclass $$);
SELECT same_outcome($$ UPDATE "Split" SET area = 3 - area RETURNING *, tableoid::regclass $$);
SELECT same_outcome($$ DELETE FROM "Split" WHERE id > 4 RETURNING *, tableoid::regclass $$);
SELECT same_outcome($$ INSERT INTO "Split" (id, area) VALUES (20, 1), (1, 1), (8, 2), (1, 2) ON CONFLICT (area, id) DO UPDATE SET n = EXCLUDED.id + 1 RETURNING *, tableoid::regclass $$);
SELECT same_outcome($$ INSERT INTO "Split" (id, area) VALUES (20, 1), (1, 1), (20, 1), (8, 2) ON CONFLICT DO NOTHING RETURNING *, tableoid::regclass $$);
SELECT same_outcome($$ INSERT INTO "Split" (id, area) VALUES (20, 1), (1, 1), (-1, 1) ON CONFLICT DO NOTHING $$);
SELECT same_outcome($$ SELECT id, area FROM "Split" WHERE id > 3 FOR NO KEY UPDATE $$);

-- A unique index that only a partition has, or a child of a table, decides on the success of an UPDATE too.
SELECT regexp_replace(line, '^(not )?sorted, ', '')
  FROM same_outcome($$ DELETE FROM "Split" $$, $$ CREATE UNIQUE INDEX ON "Split 1" (n) $$, $$ INSERT INTO "Split" (n, area, id) VALUES (2, 1, 1), (1, 1, 2), (0, 1, 3) $$,
    $$ UPDATE "Split" SET n = n + 1 $$) AS line;
SELECT regexp_replace(line, '^(not )?sorted, ', '')
  FROM same_outcome($$ DELETE FROM "Split" $$, $$ CREATE UNIQUE INDEX ON "Split 1" (n) $$, $$ INSERT INTO "Split" (n, area, id) VALUES (2, 1, 3), (1, 1, 2), (0, 1, 1) $$,
    $$ UPDATE "Split" SET n = n + 1 $$) AS line;
DROP TABLE "Split";
DROP DOMAIN "Positive";
CREATE TABLE "Base" (id integer PRIMARY KEY, n integer);
CREATE TABLE "Child" (UNIQUE (n)) INHERITS ("Base");
SELECT regexp_replace(line, '^(not )?sorted, ', '')
  FROM same_outcome($$ INSERT INTO "Base" VALUES (3, 0), (1, 0) $$, $$ INSERT INTO "Child" VALUES (7, 0), (6, 1), (5, 2) $$,
    $$ UPDATE "Base" SET n = id RETURNING *, tableoid::regclass $$) AS line;
SELECT regexp_replace(line, '^(not )?sorted, ', '')
  FROM same_outcome($$ INSERT INTO "Child" VALUES (3, 2), (2, 1), (1, 0) $$, $$ UPDATE "Base" SET n = n + 1 $$) AS line;
SELECT same_outcome($$ INSERT INTO "Base" VALUES (3, 0) $$, $$ INSERT INTO "Child" VALUES (4, 0), (2, 1) $$, $$ DELETE FROM ONLY "Base" $$);
DROP TABLE "Base" CASCADE;

-- MERGE with every action, from a table, from VALUES and from itself.  Version 16
-- leaves alone what inserts rows.
CREATE TABLE "Stock" (id integer PRIMARY KEY, n integer NOT NULL DEFAULT 0);
INSERT INTO "Stock" VALUES (9, 1), (3, 1), (7, 1), (1, 1), (5, 1);
SELECT regexp_replace(line, '^(not )?sorted, ', '')
  FROM same_outcome($$ MERGE INTO "Stock" AS t USING (VALUES (7, 1), (8, 2), (3, 0), (2, 4), (9, -1)) AS s(id, n) ON t.id = s.id
                       WHEN MATCHED AND s.n = 0 THEN DELETE
                       WHEN MATCHED AND s.n < 0 THEN DO NOTHING
                       WHEN MATCHED THEN UPDATE SET n = t.n + s.n
                       WHEN NOT MATCHED AND s.n > 3 THEN DO NOTHING
                       WHEN NOT MATCHED THEN INSERT (id, n) VALUES (s.id, s.n) $$) AS line;
SELECT regexp_replace(line, '^(not )?sorted, ', '')
  FROM same_outcome($$ MERGE INTO "Stock" AS t USING (SELECT id + 2 AS id, n FROM "Stock") AS s ON t.id = s.id
                       WHEN MATCHED THEN UPDATE SET n = t.n + s.n
                       WHEN NOT MATCHED THEN INSERT (id, n) VALUES (s.id, 10) $$) AS line;
SELECT regexp_replace(line, '^(not )?sorted, ', '')
  FROM same_outcome($$ MERGE INTO "Stock" AS t USING generate_series(10, 1, -1) AS i ON t.id = i
                       WHEN MATCHED THEN DELETE
                       WHEN NOT MATCHED AND i > 5 THEN INSERT (id, n) VALUES (i, 1)
                       WHEN NOT MATCHED THEN INSERT (id, n) VALUES (100 - i, 2) $$) AS line;
SELECT same_outcome($$ MERGE INTO "Stock" AS t USING (VALUES (7), (7)) AS s(id) ON t.id = s.id WHEN MATCHED THEN DELETE $$);
SELECT regexp_replace(line, '^(not )?sorted, ', '')
  FROM same_outcome($$ MERGE INTO "Stock" AS t USING (VALUES (8), (8)) AS s(id) ON t.id = s.id WHEN NOT MATCHED THEN INSERT (id) VALUES (s.id) $$) AS line;
SELECT regexp_replace(line, '^(not )?sorted, ', '')
  FROM same_outcome($$ MERGE INTO "Stock" AS t USING (VALUES (2), (1), (8)) AS s(id) ON false WHEN NOT MATCHED THEN INSERT (id) VALUES (s.id + 20) $$) AS line;
SELECT regexp_replace(line, '^(not )?sorted, ', '')
  FROM same_outcome($$ WITH w AS (SELECT 7 AS id UNION ALL SELECT 4 UNION ALL SELECT 5)
                       MERGE INTO "Stock" AS t USING w ON t.id = w.id WHEN MATCHED THEN UPDATE SET n = (SELECT count(*) FROM w)
                       WHEN NOT MATCHED THEN INSERT (id, n) VALUES (w.id, (SELECT max(id) FROM w)) $$) AS line;
-- The numbers that a MERGE draws follow no order that was asked for; each row still gets one.
CREATE TABLE "Drawn" (id serial PRIMARY KEY, source integer);
SELECT regexp_replace(line, '^(not )?sorted, ', '')
  FROM same_outcome($$ MERGE INTO "Drawn" AS t USING "Stock" AS s ON t.id = s.id + 100 WHEN NOT MATCHED THEN INSERT (source) VALUES (0) $$) AS line;
DROP TABLE "Drawn", "Stock";

-- Referential actions, to the end of a chain of them.
CREATE TABLE "Top" (id integer PRIMARY KEY);
CREATE TABLE "Mid" (id integer PRIMARY KEY, top integer REFERENCES "Top" ON DELETE CASCADE ON UPDATE CASCADE);
CREATE TABLE "Low" (id integer PRIMARY KEY, mid integer REFERENCES "Mid" ON DELETE SET NULL,
    low integer REFERENCES "Low" ON DELETE CASCADE);
INSERT INTO "Top" VALUES (2), (1), (3);
INSERT INTO "Mid" SELECT i, i % 3 + 1 FROM generate_series(9, 1, -1) AS i;
INSERT INTO "Low" SELECT i, i % 9 + 1, CASE WHEN i < 15 THEN i + 1 END FROM generate_series(15, 1, -1) AS i;
SELECT same_outcome($$ DELETE FROM "Top" WHERE id < 3 RETURNING * $$);
SELECT same_outcome($$ DELETE FROM "Low" WHERE id > 5 $$);
SELECT same_outcome($$ UPDATE "Top" SET id = id + 10 RETURNING * $$);
DROP TABLE "Low", "Mid", "Top";

-- Many rows: what is sorted on disk is the same too, and so is a parallel plan below.
CREATE TABLE "Many" (id integer PRIMARY KEY, n integer NOT NULL DEFAULT 0, filler text);
INSERT INTO "Many" SELECT i * 7919 % 20011, 0, repeat('x', 50) FROM generate_series(1, 20000) AS i;
SET work_mem = '64kB';
SELECT same_outcome($$ UPDATE "Many" SET n = id % 7 $$);
SELECT same_outcome($$ DELETE FROM "Many" AS a USING "Many" AS b WHERE a.id = b.id + 1 AND b.id % 3 = 0 $$);
SELECT same_outcome($$ INSERT INTO "Many" SELECT id * 2, 1, '' FROM "Many" ON CONFLICT (id) DO UPDATE SET n = "Many".n + 1 $$);
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SELECT same_outcome($$ UPDATE "Many" SET n = (SELECT count(*) FROM "Many") WHERE id % 2 = 0 $$);

DROP SCHEMA "Results' Home" CASCADE;
DROP ROLE regress_results;
