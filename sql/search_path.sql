-- Nothing that a search_path brings in is used: no operator, function, cast,
-- type or table planted in front of pg_catalog changes what a verb does.
\pset format unaligned
\pset footer off
CREATE SCHEMA "Plant's";
CREATE TABLE public."Safe ""T""" (id integer PRIMARY KEY, "N" integer NOT NULL DEFAULT 0);
CREATE TABLE public."Safe Pairs" (a integer, b text COLLATE "C", "N" integer NOT NULL DEFAULT 0, PRIMARY KEY (a, b));
INSERT INTO public."Safe ""T""" SELECT generate_series(1, 4);
INSERT INTO public."Safe Pairs" VALUES (1, 'x'), (1, 'y'), (2, 'x');
SET ordered_update.default_table = 'public."Safe ""T"""';
SET ordered_update.default_counter = 'N';

CREATE FUNCTION "Plant's".shout(text) RETURNS void LANGUAGE plpgsql AS
    'BEGIN RAISE EXCEPTION ''planted % was used'', $1; END';
CREATE FUNCTION "Plant's".eq(integer, integer) RETURNS boolean LANGUAGE plpgsql AS
    'BEGIN PERFORM "Plant''s".shout(''=''); RETURN true; END';
CREATE FUNCTION "Plant's".eqtext(text, text) RETURNS boolean LANGUAGE plpgsql AS
    'BEGIN PERFORM "Plant''s".shout(''= of text''); RETURN true; END';
CREATE FUNCTION "Plant's".lt(integer, integer) RETURNS boolean LANGUAGE plpgsql AS
    'BEGIN PERFORM "Plant''s".shout(''<''); RETURN true; END';
CREATE FUNCTION "Plant's".plus(integer, integer) RETURNS integer LANGUAGE plpgsql AS
    'BEGIN PERFORM "Plant''s".shout(''+''); RETURN 1000; END';
CREATE FUNCTION "Plant's".eqtid(tid, tid) RETURNS boolean LANGUAGE plpgsql AS
    'BEGIN PERFORM "Plant''s".shout(''= of tid''); RETURN true; END';
CREATE FUNCTION "Plant's".unnest(anyarray) RETURNS SETOF anyelement LANGUAGE plpgsql AS
    'BEGIN PERFORM "Plant''s".shout(''unnest''); RETURN; END';
CREATE FUNCTION "Plant's".int4(integer) RETURNS integer LANGUAGE plpgsql AS
    'BEGIN PERFORM "Plant''s".shout(''int4''); RETURN 1000; END';
CREATE FUNCTION "Plant's".array_agg(anyelement) RETURNS anyelement LANGUAGE plpgsql AS
    'BEGIN PERFORM "Plant''s".shout(''array_agg''); RETURN NULL; END';
CREATE OPERATOR "Plant's".= (FUNCTION = "Plant's".eq, LEFTARG = integer, RIGHTARG = integer);
CREATE OPERATOR "Plant's".= (FUNCTION = "Plant's".eqtext, LEFTARG = text, RIGHTARG = text);
CREATE OPERATOR "Plant's".= (FUNCTION = "Plant's".eqtid, LEFTARG = tid, RIGHTARG = tid);
CREATE OPERATOR "Plant's".< (FUNCTION = "Plant's".lt, LEFTARG = integer, RIGHTARG = integer);
CREATE OPERATOR "Plant's".+ (FUNCTION = "Plant's".plus, LEFTARG = integer, RIGHTARG = integer);
CREATE DOMAIN "Plant's".int4 AS integer CHECK (VALUE IS NULL);
CREATE TABLE "Plant's"."Safe ""T""" (id integer PRIMARY KEY, "N" integer NOT NULL DEFAULT 666);

SET search_path = "Plant's", pg_catalog, public;

-- Control: plain SQL does use what was planted. (error)
SELECT public.error_of('SELECT 1 = 1');
SELECT public.error_of('SELECT 1 < 2');
SELECT public.error_of('SELECT 1 + 1');
SELECT public.error_of('SELECT ''a''::text = ''a''::text');
SELECT public.error_of('SELECT ''(0,1)''::tid = ''(0,1)''::tid');
SELECT public.error_of('SELECT * FROM unnest(ARRAY[1])');
SELECT public.error_of('SELECT int4(1)');
SELECT public.error_of('SELECT 1::"Plant''s".int4');
SELECT public.error_of($$ UPDATE public."Safe ""T""" SET "N" = "N" + 1 WHERE id = 1 $$);

-- The verbs do not, whether they find rows by ctid,
SELECT * FROM public.ordered_increment('{3,1}');
SELECT * FROM public.ordered_increment(NULL::public."Safe ""T""", '{3,1}'::integer[], 'N', 10);
SELECT * FROM public.ordered_lock(NULL::public."Safe ""T""", '{3,1}'::integer[]);
SELECT * FROM public.ordered_lock(NULL::public."Safe ""T""", '{3,1}'::text[]);
SELECT * FROM public.ordered_delete(NULL::public."Safe ""T""", '{4}'::integer[]);
-- look for missing ones, (error)
SELECT public.error_of('SELECT * FROM public.ordered_increment(''{7,1}'')');
-- have a key of several columns,
SELECT * FROM public.ordered_increment(NULL::public."Safe Pairs", ARRAY[(2,'x'),(1,'y')], 'N');
SELECT * FROM public.ordered_lock(NULL::public."Safe Pairs", ARRAY[(2,'x'),(1,'y')]);
-- or find rows by key, as for who may read some columns only.
RESET search_path;
CREATE ROLE "regress_o'u Column";
GRANT SELECT (id, "N"), UPDATE ("N") ON public."Safe ""T""" TO "regress_o'u Column";
GRANT USAGE ON SCHEMA "Plant's" TO "regress_o'u Column";
SET search_path = "Plant's", pg_catalog, public;
SET ROLE "regress_o'u Column";
SELECT * FROM public.ordered_increment('{3,1}');
RESET ROLE;

-- A path without pg_catalog has it first; the verbs do not care.
SET search_path = '';
SELECT * FROM public.ordered_increment('{3,1}');
SELECT * FROM public.ordered_delete(NULL::public."Safe Pairs", ARRAY[(2,'x')]);

-- The table of the short form is the one thing that is looked up: the setting
-- is written as in SQL, and an unqualified name follows the path. (error)
SET search_path = "Plant's", pg_catalog, public;
SET ordered_update.default_table = '"Safe ""T"""';
SELECT public.error_of('SELECT * FROM public.ordered_increment(''{3,1}'')');

RESET search_path;
RESET ordered_update.default_table;
RESET ordered_update.default_counter;
TABLE public."Safe ""T""" ORDER BY id;
TABLE public."Safe Pairs" ORDER BY a, b;
SET client_min_messages = warning;
DROP TABLE public."Safe ""T""", public."Safe Pairs";
DROP SCHEMA "Plant's" CASCADE;
DROP ROLE "regress_o'u Column";
