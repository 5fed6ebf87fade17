-- A JSON batch is a non-empty array of objects that all name the whole key.
-- Every verb refuses every other shape: 22023, and nothing is changed.
\pset format unaligned
\pset footer off
CREATE TABLE "Shape's" (id integer PRIMARY KEY, "N n" integer NOT NULL DEFAULT 0, doc jsonb);
INSERT INTO "Shape's" SELECT generate_series(1, 3);

-- try(call) shows the first line of what a client is told, for each verb, of a
-- batch that is given as text.
CREATE FUNCTION try(batch text) RETURNS TABLE (verb text, outcome text) LANGUAGE sql AS $$
    SELECT v, (SELECT e FROM error_of(format('SELECT * FROM %s(NULL::"Shape''s", %L)', v, batch)) WITH ORDINALITY AS x(e, n)
                ORDER BY n LIMIT 1)
      FROM unnest('{ordered_add,ordered_update,ordered_upsert}'::text[]) v;
$$;

-- Control: the right shape is taken by all.
BEGIN;
SELECT * FROM try('[{"id": 1, "N n": 1}, {"id": 2, "N n": 2}]');
ROLLBACK;

-- A scalar, of each kind. (error)
SELECT * FROM try('1');
SELECT * FROM try('"text"');
SELECT * FROM try('true');
-- JSON's null is not SQL's. (error)
SELECT * FROM try('null');
-- An object, also an empty one. (error)
SELECT * FROM try('{"id": 1, "N n": 1}');
SELECT * FROM try('{}');
-- An empty array. (error)
SELECT * FROM try('[]');
-- An array in an array. (error)
SELECT * FROM try('[[]]');
SELECT * FROM try('[[{"id": 1, "N n": 1}]]');
-- An array with an element that is no object, first, last or between. (error)
SELECT * FROM try('[1, 2]');
SELECT * FROM try('["id"]');
SELECT * FROM try('[null]');
SELECT * FROM try('[{"id": 1, "N n": 1}, null]');
SELECT * FROM try('[7, {"id": 1, "N n": 1}]');
SELECT * FROM try('[{"id": 1, "N n": 1}, [{"id": 2, "N n": 1}], {"id": 3, "N n": 1}]');
SELECT * FROM try('[{"id": 1, "N n": 1}, {"id": 2, "N n": 1}, "three"]');
-- An empty object names no row. (error)
SELECT * FROM try('[{}]');
SELECT * FROM try('[{"id": 1, "N n": 1}, {}]');
-- No key. (error)
SELECT * FROM try('[{"N n": 1}]');
SELECT * FROM try('[{"id": 1, "N n": 1}, {"N n": 1}]');
-- A null key: 22004. (error)
SELECT * FROM try('[{"id": 1, "N n": 1}, {"id": null, "N n": 1}]');
-- A key that is an object or an array: the type's 22P02. (error)
SELECT * FROM try('[{"id": {"id": 1}, "N n": 1}]');
SELECT * FROM try('[{"id": [1], "N n": 1}]');
-- The wrong shape is told before an unknown column of a later object is. (error)
SELECT * FROM try('[1, {"id": 1, "nn": 1}]');
-- No JSON at all: 22P02. (error)
SELECT * FROM try('[{"id": 1, "N n": 1}');
-- Members of a nested object are values, not columns.
BEGIN;
SELECT id, doc FROM ordered_update(NULL::"Shape's", '[{"id": 1, "doc": {"nn": [{"id": 2}], "N n": null}}]');
ROLLBACK;
-- jsonb keeps the last of two members of one name.
BEGIN;
SELECT id, "N n" FROM ordered_update(NULL::"Shape's", '[{"id": 2, "N n": 1, "N n": 2, "id": 1}]');
ROLLBACK;
-- A null argument is no batch: 22004. (error)
SELECT error_of($$ SELECT * FROM ordered_add(NULL::"Shape's", NULL) $$);
SELECT error_of($$ SELECT * FROM ordered_update(NULL::"Shape's", NULL::jsonb) $$);
SELECT error_of($$ SELECT * FROM ordered_upsert(NULL::"Shape's", NULL) $$);
-- A target that is no table's row type: 42809. (error)
SELECT error_of($$ SELECT * FROM ordered_update(NULL::integer, '[{"id": 1}]') $$);
CREATE TYPE "Shape Type" AS (id integer, n integer);
SELECT error_of($$ SELECT * FROM ordered_upsert(NULL::"Shape Type", '[{"id": 1}]') $$);
-- An untyped target. (error)
SELECT error_of($$ SELECT * FROM ordered_update(NULL, '[{"id": 1}]') $$);

-- The hint shows the right shape.
SELECT error_of($$ SELECT * FROM ordered_upsert(NULL::"Shape's", '{"id": 1}') $$);  -- (error)

-- Nothing was changed or inserted.
TABLE "Shape's" ORDER BY id;
DROP FUNCTION try(text);
DROP TABLE "Shape's";
DROP TYPE "Shape Type";
