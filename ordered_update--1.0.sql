-- complain if script is sourced in psql, rather than via CREATE EXTENSION
\echo Use "CREATE EXTENSION ordered_update" to load this file. \quit

CREATE FUNCTION ordered_increment(ids integer[])
RETURNS TABLE (id integer, revision integer)
AS 'MODULE_PATHNAME', 'ordered_increment_ids'
LANGUAGE C VOLATILE CALLED ON NULL INPUT PARALLEL UNSAFE;

COMMENT ON FUNCTION ordered_increment(integer[]) IS
'add 1 to the configured counter of the configured table''s rows with these ids, locked in id order';

CREATE FUNCTION ordered_increment(target anyelement, keys anycompatiblearray, counter name,
								  by numeric DEFAULT 1, missing_ok boolean DEFAULT false)
RETURNS SETOF anyelement
AS 'MODULE_PATHNAME', 'ordered_increment'
LANGUAGE C VOLATILE CALLED ON NULL INPUT PARALLEL UNSAFE;

COMMENT ON FUNCTION ordered_increment(anyelement, anycompatiblearray, name, numeric, boolean) IS
'add an amount to a counter of the rows with these primary keys, locked in key order';

CREATE FUNCTION ordered_add(target anyelement, changes jsonb, missing_ok boolean DEFAULT false)
RETURNS SETOF anyelement
AS 'MODULE_PATHNAME', 'ordered_add'
LANGUAGE C VOLATILE CALLED ON NULL INPUT PARALLEL UNSAFE;

COMMENT ON FUNCTION ordered_add(anyelement, jsonb, boolean) IS
'add amounts to counters, row by row as the JSON objects say, locked in key order';

CREATE FUNCTION ordered_update(target anyelement, changes jsonb, missing_ok boolean DEFAULT false)
RETURNS SETOF anyelement
AS 'MODULE_PATHNAME', 'ordered_update'
LANGUAGE C VOLATILE CALLED ON NULL INPUT PARALLEL UNSAFE;

COMMENT ON FUNCTION ordered_update(anyelement, jsonb, boolean) IS
'set columns to new values, row by row as the JSON objects say, locked in key order';

CREATE FUNCTION ordered_upsert(target anyelement, changes jsonb)
RETURNS SETOF anyelement
AS 'MODULE_PATHNAME', 'ordered_upsert'
LANGUAGE C VOLATILE CALLED ON NULL INPUT PARALLEL UNSAFE;

COMMENT ON FUNCTION ordered_upsert(anyelement, jsonb) IS
'insert rows or update them by primary key, as the JSON objects say, in key order';

CREATE FUNCTION ordered_delete(target anyelement, keys anycompatiblearray,
							   missing_ok boolean DEFAULT false)
RETURNS SETOF anyelement
AS 'MODULE_PATHNAME', 'ordered_delete'
LANGUAGE C VOLATILE CALLED ON NULL INPUT PARALLEL UNSAFE;

COMMENT ON FUNCTION ordered_delete(anyelement, anycompatiblearray, boolean) IS
'delete the rows with these primary keys, locked in key order';

CREATE FUNCTION ordered_lock(target anyelement, keys anycompatiblearray,
							 strength text DEFAULT 'update', nowait boolean DEFAULT false,
							 missing_ok boolean DEFAULT false)
RETURNS SETOF anyelement
AS 'MODULE_PATHNAME', 'ordered_lock'
LANGUAGE C VOLATILE CALLED ON NULL INPUT PARALLEL UNSAFE;

COMMENT ON FUNCTION ordered_lock(anyelement, anycompatiblearray, text, boolean, boolean) IS
'lock the rows with these primary keys in key order';
