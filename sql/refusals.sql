-- What cannot be locked in primary key order is refused by every verb, with
-- its own SQLSTATE and advice.
\pset format unaligned
\pset footer off
CREATE TABLE "Base's" (id integer PRIMARY KEY, "N" integer NOT NULL DEFAULT 0);
INSERT INTO "Base's" VALUES (1), (2);
SET ordered_update.default_counter = 'N';

-- Every verb on one thing, by its row type.
CREATE FUNCTION refusals_of(thing text) RETURNS TABLE (verb text, error text) LANGUAGE plpgsql AS $$
DECLARE
    call text;
BEGIN
    FOREACH call IN ARRAY ARRAY[
        'ordered_lock(NULL::%s, ARRAY[1])',
        'ordered_increment(NULL::%s, ARRAY[1], ''N'')',
        'ordered_delete(NULL::%s, ARRAY[1])'] LOOP
        verb := split_part(call, '(', 1);
        FOR error IN SELECT error_of(format('SELECT * FROM ' || call, thing)) LOOP
            RETURN NEXT;
            verb := '';
        END LOOP;
    END LOOP;
END $$;

-- Control: nothing is refused of a plain table.
BEGIN;
SELECT * FROM refusals_of('"Base''s"');
ROLLBACK;

-- A view, though it could be updated: 42809. (error)
CREATE VIEW "View's" AS TABLE "Base's";
SELECT * FROM refusals_of('"View''s"');

-- A materialized view: 42809. (error)
CREATE MATERIALIZED VIEW "Mat's" AS TABLE "Base's";
SELECT * FROM refusals_of('"Mat''s"');

-- A foreign table: 42809. (error)
CREATE FOREIGN DATA WRAPPER "Wrap's";
CREATE SERVER "Srv's" FOREIGN DATA WRAPPER "Wrap's";
CREATE FOREIGN TABLE "Far's" (id integer, "N" integer) SERVER "Srv's";
SELECT * FROM refusals_of('"Far''s"');

-- A system catalog: 42809. (error)
SELECT error_of('SELECT * FROM ordered_lock(NULL::pg_namespace, ARRAY[1]::oid[])');
SELECT error_of('SELECT * FROM ordered_increment(NULL::pg_class, ARRAY[1]::oid[], ''relpages'')');
SELECT error_of('SELECT * FROM ordered_delete(NULL::pg_class, ARRAY[1]::oid[])');

-- A composite type, a number, a row without a type, an enum: 42809. (error)
CREATE TYPE "Comp's" AS (id integer, "N" integer);
SELECT * FROM refusals_of('"Comp''s"');
SELECT error_of('SELECT * FROM ordered_delete(NULL::integer, ARRAY[1])');
SELECT error_of('SELECT * FROM ordered_delete(ROW(1, 2), ARRAY[1]) AS r(id integer, "N" integer)');
-- A domain over a row type, whose constraint the result would not have: 42809. (error)
CREATE DOMAIN "Domain's" AS "Base's";
SELECT error_of($$ SELECT * FROM ordered_lock(NULL::"Domain's", ARRAY[1]) $$);
DROP DOMAIN "Domain's";

-- A sequence, an index and a TOAST table have no row type; by name: 42809. (error)
CREATE SEQUENCE "Seq's";
SET ordered_update.default_table = '"Seq''s"';
SET ordered_update.default_counter = 'last_value';
SELECT error_of('SELECT * FROM ordered_increment(''{1}'')');
SET ordered_update.default_counter = 'id';
SET ordered_update.default_table = '"Base''s_pkey"';
SELECT error_of('SELECT * FROM ordered_increment(''{1}'')');
SET ordered_update.default_counter = 'N';
SET ordered_update.default_table = '"View''s"';
SELECT error_of('SELECT * FROM ordered_increment(''{1}'')');
SET ordered_update.default_table = '"Far''s"';
SELECT error_of('SELECT * FROM ordered_increment(''{1}'')');
SET ordered_update.default_table = '"Mat''s"';
SELECT error_of('SELECT * FROM ordered_increment(''{1}'')');
SET ordered_update.default_table = '"Comp''s"';
SELECT error_of('SELECT * FROM ordered_increment(''{1}'')');
SET ordered_update.default_table = 'pg_catalog.pg_class';
SET ordered_update.default_counter = 'relpages';
SELECT error_of('SELECT * FROM ordered_increment(''{1}'')');
RESET ordered_update.default_table;

-- A table with inheritance children: 42809, as long as it has them. (error)
CREATE TABLE "Inh's" (id integer PRIMARY KEY, "N" integer NOT NULL DEFAULT 0);
CREATE TABLE "Inh Child" () INHERITS ("Inh's");
INSERT INTO "Inh's" VALUES (1);
INSERT INTO "Inh Child" VALUES (1);
-- Control: plain SQL changes two rows for one key.
SELECT count(*) FROM "Inh's" WHERE id = 1;
SELECT * FROM refusals_of('"Inh''s"');
ALTER TABLE "Inh Child" NO INHERIT "Inh's";
SELECT * FROM ordered_increment(NULL::"Inh's", ARRAY[1], 'N');

-- A rule on the event: 42809 for the verbs of that event, and for no other.
CREATE TABLE "Rule's" (id integer PRIMARY KEY, "N" integer NOT NULL DEFAULT 0);
INSERT INTO "Rule's" VALUES (1), (2), (3);
CREATE RULE "No Change" AS ON UPDATE TO "Rule's" DO INSTEAD NOTHING;
BEGIN;
SELECT * FROM refusals_of('"Rule''s"');
ROLLBACK;
DROP RULE "No Change" ON "Rule's";
CREATE RULE "Also Log" AS ON DELETE TO "Rule's" DO ALSO NOTIFY "Rule's";
SELECT * FROM refusals_of('"Rule''s"');
-- A rule that is disabled, or for INSERT, is none.
ALTER TABLE "Rule's" DISABLE RULE "Also Log";
SELECT * FROM ordered_delete(NULL::"Rule's", ARRAY[2]);
CREATE RULE "On Insert" AS ON INSERT TO "Rule's" DO ALSO NOTIFY "Rule's";
SELECT * FROM ordered_increment(NULL::"Rule's", ARRAY[3], 'N');

-- No primary key, only a unique one: 42P10. (error)
CREATE TABLE "Keyless" (id integer NOT NULL UNIQUE, "N" integer NOT NULL DEFAULT 0);
INSERT INTO "Keyless" VALUES (1);
SELECT * FROM refusals_of('"Keyless"');
CREATE TABLE "Keyless Parts" (id integer, "N" integer NOT NULL DEFAULT 0) PARTITION BY RANGE (id);
SELECT error_of('SELECT * FROM ordered_lock(NULL::"Keyless Parts", ARRAY[1])');

-- A deferrable primary key: 42P10, deferred or not. (error)
CREATE TABLE "Later's" (id integer CONSTRAINT "Later's Key" PRIMARY KEY DEFERRABLE, "N" integer NOT NULL DEFAULT 0);
INSERT INTO "Later's" VALUES (1);
SELECT * FROM refusals_of('"Later''s"');
ALTER TABLE "Later's" DROP CONSTRAINT "Later's Key", ADD PRIMARY KEY (id) DEFERRABLE INITIALLY DEFERRED;
SELECT error_of('SELECT * FROM ordered_lock(NULL::"Later''s", ARRAY[1])');

-- A key of a type that has no arrays: 0A000. (error)
CREATE TABLE "Path's" (path integer[] PRIMARY KEY, "N" integer NOT NULL DEFAULT 0);
SELECT error_of($$ SELECT * FROM ordered_update(NULL::"Path's", '[{"path": [1], "N": 1}]') $$);

-- Refused even where missing rows would be skipped. (error)
SELECT error_of('SELECT * FROM ordered_lock(NULL::"Keyless", ARRAY[7], missing_ok => true)');

-- Nothing has changed but what was allowed.
TABLE "Base's" ORDER BY id;
TABLE "Rule's" ORDER BY id;
TABLE "Keyless";
TABLE "Later's";

RESET ordered_update.default_counter;
DROP FUNCTION refusals_of(text);
DROP VIEW "View's";
DROP MATERIALIZED VIEW "Mat's";
DROP FOREIGN TABLE "Far's";
DROP SERVER "Srv's";
DROP FOREIGN DATA WRAPPER "Wrap's";
DROP SEQUENCE "Seq's";
DROP TYPE "Comp's";
DROP TABLE "Base's", "Inh's", "Inh Child", "Rule's", "Keyless", "Keyless Parts", "Later's", "Path's";
