-- The extension installs, its functions declare what they are, and the tests
-- get their helper.
\pset format unaligned
CREATE EXTENSION ordered_update;

-- Every function that locks is volatile, called on null input, parallel unsafe, and has a comment.
SELECT DISTINCT p.provolatile, p.proisstrict, p.proparallel,
       obj_description(p.oid, 'pg_proc') IS NOT NULL AS has_comment
  FROM pg_proc p
  JOIN pg_depend d ON d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'e'
  JOIN pg_extension e ON d.refclassid = 'pg_extension'::regclass AND d.refobjid = e.oid
 WHERE e.extname = 'ordered_update' AND p.proname <> 'ordered_contract'
 ORDER BY 1, 2, 3, 4;

-- The settings of the short form have their documented defaults, once the
-- library is loaded by a first call.
SELECT * FROM ordered_increment(NULL);  -- (error)
SHOW ordered_update.default_table;
SHOW ordered_update.default_counter;

-- The prefix is reserved: a misspelt setting is refused. (error)
SET ordered_update.defualt_table = 'articles';

-- error_of(statement) runs a statement that must fail, in a subtransaction,
-- and returns what a client would be told, a line for each field.  Of the
-- context it returns the lines that this extension adds.  The search_path is
-- the caller's for the statement, and only for it.
CREATE FUNCTION error_of(statement text) RETURNS SETOF text
LANGUAGE plpgsql AS $$
DECLARE
    fields text[] := '{}';
    v_state text; v_message text; v_detail text; v_hint text; v_schema text;
    v_table text; v_column text; v_constraint text; v_context text;
    line text;
    path text := pg_catalog.current_setting('search_path');
BEGIN
    BEGIN
        EXECUTE statement;
    EXCEPTION WHEN OTHERS THEN
        GET STACKED DIAGNOSTICS
            v_state = RETURNED_SQLSTATE,
            v_message = MESSAGE_TEXT,
            v_detail = PG_EXCEPTION_DETAIL,
            v_hint = PG_EXCEPTION_HINT,
            v_schema = SCHEMA_NAME,
            v_table = TABLE_NAME,
            v_column = COLUMN_NAME,
            v_constraint = CONSTRAINT_NAME,
            v_context = PG_EXCEPTION_CONTEXT;
        PERFORM pg_catalog.set_config('search_path', 'pg_catalog', true);
        fields := ARRAY[
            v_state || ': ' || v_message,
            'detail: ' || nullif(v_detail, ''),
            'hint: ' || nullif(v_hint, ''),
            'schema: ' || nullif(v_schema, ''),
            'table: ' || nullif(v_table, ''),
            'column: ' || nullif(v_column, ''),
            'constraint: ' || nullif(v_constraint, '')];
        FOREACH line IN ARRAY string_to_array(v_context, E'\n') LOOP
            IF line LIKE 'ordered\_%: %' THEN
                fields := fields || ('context: ' || line);
            END IF;
        END LOOP;
        FOREACH line IN ARRAY fields LOOP
            IF line IS NOT NULL THEN
                RETURN NEXT regexp_replace(line, 'pg_temp_\d+', 'pg_temp_N', 'g');
            END IF;
        END LOOP;
        PERFORM pg_catalog.set_config('search_path', path, true);
        RETURN;
    END;
    RETURN NEXT 'no error';
END $$;

-- A helper that finds no error says so.
SELECT error_of('SELECT 1');
SELECT error_of('SELECT 1/0');

GRANT EXECUTE ON FUNCTION error_of(text) TO PUBLIC;
