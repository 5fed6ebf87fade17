-- ordered_contract says what locking in primary key order cannot cover for a
-- table, rule by rule, and ordered_contract_violations says it for all tables.
\pset format unaligned
\pset footer off

-- What holds is left out: the rules that a table breaks, and what breaks them.
CREATE FUNCTION broken_by(target regclass) RETURNS TABLE (rule text, detail text) LANGUAGE sql
AS $$ SELECT rule, detail FROM ordered_contract(target) WHERE NOT holds AND rule <> 'ordered statements' $$;

-- A table that holds to the whole contract, once ordered statements are on.
CREATE TABLE "Plain's" (id integer PRIMARY KEY, a integer NOT NULL, b text NOT NULL CHECK (b <> ''),
                        c integer GENERATED ALWAYS AS (a + 1) STORED);
CREATE INDEX "Plain Index" ON "Plain's" (b);
SELECT rule, holds, detail, advice IS NULL AS no_advice FROM ordered_contract('"Plain''s"');

-- Every rule that is broken comes with advice.
SELECT rule, holds, detail, advice FROM ordered_contract('pg_views') WHERE NOT holds;

-- A primary key that is absent, deferrable, or of two columns.
CREATE TABLE "No Key" (id integer NOT NULL UNIQUE);
SELECT * FROM broken_by('"No Key"');
CREATE TABLE "Late Key" (id integer PRIMARY KEY DEFERRABLE);
SELECT * FROM broken_by('"Late Key"');
CREATE TABLE "Two Columns" ("B" text, a integer, PRIMARY KEY (a, "B"));
SELECT holds, detail FROM ordered_contract('"Two Columns"') WHERE rule = 'immediate primary key';

-- Row triggers count, if they are not disabled; statement triggers do not.
CREATE FUNCTION "Do It"() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NEW; END $$;
CREATE TABLE "Pulled" (id integer PRIMARY KEY, n integer);
CREATE TRIGGER "By Statement" BEFORE UPDATE ON "Pulled" EXECUTE FUNCTION "Do It"();
SELECT * FROM broken_by('"Pulled"');
CREATE TRIGGER "By Row" BEFORE UPDATE ON "Pulled" FOR EACH ROW EXECUTE FUNCTION "Do It"();
CREATE CONSTRAINT TRIGGER "At End" AFTER INSERT ON "Pulled" DEFERRABLE FOR EACH ROW EXECUTE FUNCTION "Do It"();
SELECT * FROM broken_by('"Pulled"');
ALTER TABLE "Pulled" DISABLE TRIGGER "By Row";
SELECT * FROM broken_by('"Pulled"');
ALTER TABLE "Pulled" ENABLE ALWAYS TRIGGER "By Row", DISABLE TRIGGER "At End";
SELECT * FROM broken_by('"Pulled"');
ALTER TABLE "Pulled" DISABLE TRIGGER ALL;
SELECT * FROM broken_by('"Pulled"');

-- Foreign keys from the table and to it, with and without actions.  The
-- triggers that enforce them are not named among the row triggers.
CREATE TABLE "Parent's" (id integer PRIMARY KEY, "Self" integer);
CREATE TABLE "Child" (id integer PRIMARY KEY, "P" integer CONSTRAINT "Has Parent" REFERENCES "Parent's");
SELECT * FROM broken_by('"Parent''s"');
SELECT * FROM broken_by('"Child"');
CREATE TABLE "Child 2" (id integer PRIMARY KEY, p integer CONSTRAINT "Dies Too" REFERENCES "Parent's" ON DELETE CASCADE);
CREATE TABLE "Child 3" (id integer PRIMARY KEY, p integer CONSTRAINT "Follows" REFERENCES "Parent's" ON UPDATE CASCADE);
CREATE TABLE "Child 4" (id integer PRIMARY KEY, p integer CONSTRAINT "Let Go" REFERENCES "Parent's" ON DELETE SET NULL ON UPDATE SET DEFAULT);
SELECT * FROM broken_by('"Parent''s"');
DROP TABLE "Child 2", "Child 3", "Child 4";
-- A table that references itself is told both.
ALTER TABLE "Parent's" ADD CONSTRAINT "Self Made" FOREIGN KEY ("Self") REFERENCES "Parent's" ON DELETE CASCADE;
SELECT * FROM broken_by('"Parent''s"');

-- Further unique indexes, also partial, on expressions, and exclusion constraints.
CREATE TABLE "Unique's" (id integer PRIMARY KEY, a integer, b integer, r int4range);
ALTER TABLE "Unique's" ADD CONSTRAINT "A U" UNIQUE (a);
CREATE UNIQUE INDEX "B U" ON "Unique's" (b) WHERE b > 0;
CREATE UNIQUE INDEX "C U" ON "Unique's" ((a + b));
ALTER TABLE "Unique's" ADD CONSTRAINT "D Excl" EXCLUDE USING gist (r WITH &&);
SELECT * FROM broken_by('"Unique''s"');

-- Rules.
CREATE TABLE "Ruled" (id integer PRIMARY KEY);
CREATE RULE "Do Both" AS ON UPDATE TO "Ruled" DO ALSO NOTHING;
CREATE RULE "Do Not" AS ON DELETE TO "Ruled" DO INSTEAD NOTHING;
SELECT * FROM broken_by('"Ruled"');

-- Inheritance: the parent is told, the child is a table like any other.
CREATE TABLE "Old" (id integer PRIMARY KEY);
CREATE TABLE "Old B" (PRIMARY KEY (id)) INHERITS ("Old");
CREATE TABLE "Old A" (PRIMARY KEY (id)) INHERITS ("Old");
SELECT * FROM broken_by('"Old"');
SELECT * FROM broken_by('"Old A"');

-- Partitions: of a trigger, a foreign key or a unique index that all have, the
-- partitioned table's is named; those of one partition are named too.
CREATE TABLE "Parts" (id integer PRIMARY KEY, n integer) PARTITION BY RANGE (id);
CREATE TABLE "Part 1" PARTITION OF "Parts" FOR VALUES FROM (0) TO (10);
CREATE TABLE "Part 2" PARTITION OF "Parts" FOR VALUES FROM (10) TO (20) PARTITION BY RANGE (id);
CREATE TABLE "Part 2a" PARTITION OF "Part 2" FOR VALUES FROM (10) TO (15);
SELECT * FROM broken_by('"Parts"');
CREATE TRIGGER "All Rows" AFTER UPDATE ON "Parts" FOR EACH ROW EXECUTE FUNCTION "Do It"();
CREATE TRIGGER "Deep Rows" AFTER UPDATE ON "Part 2a" FOR EACH ROW EXECUTE FUNCTION "Do It"();
ALTER TABLE "Parts" ADD CONSTRAINT "To Plain" FOREIGN KEY (n) REFERENCES "Plain's";
ALTER TABLE "Part 1" ADD CONSTRAINT "To Parent" FOREIGN KEY (n) REFERENCES "Parent's";
ALTER TABLE "Parts" ADD CONSTRAINT "All U" UNIQUE (n, id);
CREATE UNIQUE INDEX "Deep U" ON "Part 2a" (n);
CREATE TABLE "Refers" (id integer PRIMARY KEY, p integer CONSTRAINT "To Parts" REFERENCES "Parts" ON DELETE CASCADE);
CREATE TABLE "Refers 1" (id integer PRIMARY KEY, p integer CONSTRAINT "To Part 1" REFERENCES "Part 1");
SELECT * FROM broken_by('"Parts"');
-- A partition is told what it has from above.
SELECT * FROM broken_by('"Part 1"');
SELECT * FROM broken_by('"Part 2"') WHERE rule NOT LIKE 'no foreign%';
-- A trigger can be disabled in one partition only, then in all.
ALTER TABLE "Part 1" DISABLE TRIGGER "All Rows";
SELECT detail FROM broken_by('"Part 1"') WHERE rule = 'no row triggers';
SELECT detail FROM broken_by('"Parts"') WHERE rule = 'no row triggers';
ALTER TABLE "Parts" DISABLE TRIGGER "All Rows";
SELECT detail FROM broken_by('"Parts"') WHERE rule = 'no row triggers';
-- A referenced and a referencing table are both partitioned: one foreign key each.
CREATE TABLE "Many" (id integer PRIMARY KEY, p integer CONSTRAINT "Many To Many" REFERENCES "Parts") PARTITION BY HASH (id);
CREATE TABLE "Many 0" PARTITION OF "Many" FOR VALUES WITH (MODULUS 2, REMAINDER 0);
CREATE TABLE "Many 1" PARTITION OF "Many" FOR VALUES WITH (MODULUS 2, REMAINDER 1);
SELECT * FROM broken_by('"Many"');
SELECT * FROM broken_by('"Many 1"');
SELECT detail FROM broken_by('"Parts"') WHERE rule = 'no foreign keys to the table';

-- A foreign partition, and a foreign table among the inheritance children.
CREATE FOREIGN DATA WRAPPER "Ou Fdw";
CREATE SERVER "Ou Server" FOREIGN DATA WRAPPER "Ou Fdw";
CREATE TABLE "Afar" (id integer, n integer) PARTITION BY RANGE (id);
CREATE TABLE "Afar 1" PARTITION OF "Afar" FOR VALUES FROM (0) TO (10);
CREATE FOREIGN TABLE "Afar 2" PARTITION OF "Afar" FOR VALUES FROM (10) TO (20) SERVER "Ou Server";
SELECT * FROM broken_by('"Afar"');
SELECT * FROM broken_by('"Afar 1"');
CREATE FOREIGN TABLE "Old F" () INHERITS ("Old") SERVER "Ou Server";
SELECT * FROM broken_by('"Old"');

-- Row security: on with policies, on without, off again.
CREATE TABLE "Hidden" (id integer PRIMARY KEY);
CREATE POLICY "Own Rows" ON "Hidden" USING (id > 0);
CREATE POLICY "Few Rows" ON "Hidden" AS RESTRICTIVE USING (id < 9);
SELECT * FROM broken_by('"Hidden"');
ALTER TABLE "Hidden" ENABLE ROW LEVEL SECURITY;
SELECT * FROM broken_by('"Hidden"');
DROP POLICY "Own Rows" ON "Hidden";
DROP POLICY "Few Rows" ON "Hidden";
SELECT * FROM broken_by('"Hidden"');
ALTER TABLE "Hidden" DISABLE ROW LEVEL SECURITY;
SELECT * FROM broken_by('"Hidden"');

-- Ordered statements on and off in this session: on counts only once the library is loaded.
SET ordered_update.order_statements = on;
SELECT holds, detail FROM ordered_contract('"Plain''s"') WHERE rule = 'ordered statements';
LOAD 'ordered_update';
SELECT holds, detail FROM ordered_contract('"Plain''s"') WHERE rule = 'ordered statements';
SET ordered_update.order_statements = off;
SELECT holds, detail FROM ordered_contract('"Plain''s"') WHERE rule = 'ordered statements';
RESET ordered_update.order_statements;

-- What is no table: its rows cannot be locked in order.
CREATE VIEW "Plain View" AS TABLE "Plain's";
CREATE MATERIALIZED VIEW "Plain Stock" AS TABLE "Plain's";
CREATE SEQUENCE "Plain Numbers";
SELECT v, b.*
  FROM unnest(ARRAY['"Plain View"', '"Plain Stock"', '"Plain Numbers"', '"Plain Index"', '"Afar 2"', 'pg_class']::regclass[])
       WITH ORDINALITY u(v, n)
 CROSS JOIN LATERAL broken_by(v) b
 WHERE b.rule = 'ordinary or partitioned table'
 ORDER BY n;
SELECT * FROM broken_by('"Plain View"');

-- Nothing is said of nothing, and of a table that is gone.
SELECT * FROM ordered_contract(NULL);
SELECT * FROM ordered_contract(0::regclass);

-- It takes no lock but ACCESS SHARE, and works where nothing can be written.
BEGIN;
SELECT count(*) > 0 AS called FROM ordered_contract('"Parts"');
SELECT count(*) > 0 AS called FROM ordered_contract_violations;
SELECT DISTINCT mode FROM pg_locks WHERE pid = pg_backend_pid() AND locktype = 'relation';
COMMIT;
BEGIN READ ONLY;
SELECT count(*) > 0 AS called FROM ordered_contract_violations;
COMMIT;

-- It tells a role that has no privileges on the table what it tells the owner.
CREATE TABLE told AS SELECT c.*, t AS target
  FROM unnest(ARRAY['"Parts"', '"Hidden"', '"Unique''s"', '"Parent''s"']::regclass[]) t CROSS JOIN LATERAL ordered_contract(t) c;
CREATE ROLE regress_ou_nobody;
GRANT SELECT ON told TO regress_ou_nobody;
SET ROLE regress_ou_nobody;
SELECT count(*) FROM "Hidden";  -- (error)
SELECT count(*) AS other FROM told t
 WHERE NOT EXISTS (SELECT FROM ordered_contract(t.target) c
                    WHERE (c.rule, c.holds, c.detail) = (t.rule, t.holds, t.detail)
                      AND c.advice IS NOT DISTINCT FROM t.advice);
SELECT count(*) > 0 AS reads_view FROM ordered_contract_violations WHERE target = '"Parts"'::regclass;
RESET ROLE;

-- Nothing on the search_path leads it astray.
CREATE SCHEMA regress_ou_shadow;
CREATE FUNCTION regress_ou_shadow.string_agg(text, text) RETURNS text LANGUAGE sql AS $$ SELECT 'shadow' $$;
CREATE FUNCTION regress_ou_shadow.eq(oid, oid) RETURNS boolean LANGUAGE sql AS $$ SELECT false $$;
CREATE OPERATOR regress_ou_shadow.= (LEFTARG = oid, RIGHTARG = oid, FUNCTION = regress_ou_shadow.eq);
CREATE VIEW regress_ou_shadow.pg_class AS SELECT 1 AS oid;
SET search_path = regress_ou_shadow, pg_catalog, public;
SELECT count(*) AS other FROM public.told t
 WHERE NOT EXISTS (SELECT FROM public.ordered_contract(t.target) c
                    WHERE (c.rule, c.holds, c.detail) OPERATOR(pg_catalog.=) (t.rule, t.holds, t.detail));
RESET search_path;
DROP SCHEMA regress_ou_shadow CASCADE;

-- The view: each table of the database once, its partitions with it.
CREATE TEMPORARY TABLE "Of Session" (id integer);
SELECT v.target, v.rule, v.detail, v.advice <> '' AS advised
  FROM ordered_contract_violations v JOIN pg_class c ON c.oid = v.target
 WHERE c.relnamespace IN ('public'::regnamespace, pg_my_temp_schema()) AND v.rule <> 'ordered statements'
   AND c.relname IN ('Plain''s', 'No Key', 'Late Key', 'Child', 'Old', 'Old A', 'Afar', 'Afar 1', 'Afar 2', 'Part 1', 'Ruled', 'Of Session', 'Plain View')
 ORDER BY c.relname COLLATE "C", v.rule COLLATE "C";
SELECT count(*) FROM ordered_contract_violations v JOIN pg_class c ON c.oid = v.target
 WHERE c.relnamespace IN ('pg_catalog'::regnamespace, 'information_schema'::regnamespace, 'pg_toast'::regnamespace);

-- With ordered statements on, what holds to the contract is not there.
SET ordered_update.order_statements = on;
SELECT count(*) FROM ordered_contract_violations WHERE target = '"Two Columns"'::regclass;
RESET ordered_update.order_statements;
DROP TABLE told, "Of Session", "Plain's", "No Key", "Late Key", "Two Columns", "Pulled", "Parent's", "Child", "Unique's", "Ruled", "Old", "Old A", "Old B", "Hidden", "Parts", "Refers", "Refers 1", "Many", "Afar" CASCADE;
DROP FOREIGN DATA WRAPPER "Ou Fdw" CASCADE;
DROP SEQUENCE "Plain Numbers";
DROP FUNCTION broken_by(regclass), "Do It"();
DROP ROLE regress_ou_nobody;
