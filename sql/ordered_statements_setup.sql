-- The helpers of the tests of ordered statements say what they should on a
-- table of three rows.
\pset format unaligned
\pset footer off
LOAD 'ordered_update';

-- lock_order(statement) returns a line for each node of the plan that locks or
-- changes rows: whether a Sort is directly below it, and by what.  A Result
-- between them, which computes what must not be computed earlier, keeps the
-- order.  Columns are named without their tables, which differ between versions.
CREATE FUNCTION lock_order(statement text) RETURNS SETOF text
LANGUAGE plpgsql AS $$
DECLARE
    plan jsonb;
BEGIN
    EXECUTE 'EXPLAIN (COSTS OFF, FORMAT JSON) ' || statement INTO plan;
    RETURN QUERY
        WITH RECURSIVE nodes(node, path) AS (
            SELECT p->'Plan', ARRAY[n]
              FROM jsonb_array_elements(plan) WITH ORDINALITY AS q(p, n)
            UNION ALL
            SELECT child, path || n
              FROM nodes, jsonb_array_elements(node->'Plans') WITH ORDINALITY AS c(child, n)
        ), locks AS (
            SELECT coalesce((node->>'Operation') || ' on ' || (node->>'Relation Name'), 'Lock') AS what, path,
                   (SELECT CASE child->>'Node Type' WHEN 'Result' THEN child->'Plans'->0 ELSE child END
                      FROM jsonb_array_elements(node->'Plans') AS child
                     WHERE child->>'Parent Relationship' = 'Outer') AS below
              FROM nodes
             WHERE node->>'Node Type' IN ('ModifyTable', 'LockRows')
        )
        SELECT what || ': ' || CASE
                   WHEN below->>'Node Type' IN ('Sort', 'Incremental Sort')
                   THEN 'Sort by ' || (SELECT string_agg(regexp_replace(k, '("[^"]*"|\w+)\.', '', 'g'), ', ' ORDER BY n)
                                         FROM jsonb_array_elements_text(below->'Sort Key') WITH ORDINALITY AS s(k, n))
                   ELSE 'no Sort' END
          FROM locks ORDER BY path;
END $$;

-- left_alone(statement) is true if its plan is the same with the setting on as
-- with the setting off; what log_unordered has to say is shown as it is planned.
CREATE FUNCTION plan_text(statement text) RETURNS text
LANGUAGE plpgsql AS $$
DECLARE
    line text;
    plan text := '';
BEGIN
    FOR line IN EXECUTE 'EXPLAIN (COSTS OFF, VERBOSE) ' || statement LOOP
        plan := concat(plan, line, E'\n');
    END LOOP;
    RETURN plan;
END $$;
CREATE FUNCTION left_alone(statement text) RETURNS boolean
LANGUAGE plpgsql
SET ordered_update.order_statements = off
SET ordered_update.log_unordered = off
SET client_min_messages = log AS $$
DECLARE
    plan_off text := plan_text(statement);
BEGIN
    PERFORM set_config('ordered_update.order_statements', 'on', true);
    PERFORM set_config('ordered_update.log_unordered', 'on', true);
    RETURN plan_text(statement) = plan_off;
END $$;

-- outcome(setting, statements) runs the statements in a subtransaction that is
-- rolled back, with the setting off or on, every sequence starting anew, and
-- returns all that they did: how many rows the last one changed or returned,
-- these rows, and the rows of every table of the current schema.
CREATE FUNCTION outcome(setting text, VARIADIC statements text[]) RETURNS text
LANGUAGE plpgsql AS $$
DECLARE
    last constant text := statements[cardinality(statements)];
    nrows bigint := 0;
    result text;
    more text;
    item record;
BEGIN
    PERFORM set_config('ordered_update.order_statements', setting, true);
    FOR item IN SELECT oid::regclass AS name FROM pg_class
                 WHERE relnamespace::regnamespace::text = quote_ident(current_schema()) AND relkind = 'S' LOOP
        EXECUTE format('ALTER SEQUENCE %s RESTART', item.name);
    END LOOP;
    FOR i IN 1 .. cardinality(statements) - 1 LOOP
        EXECUTE statements[i];
    END LOOP;
    IF last ~* 'RETURNING|^\s*(SELECT|EXECUTE|FETCH)' THEN
        more := '';
        FOR item IN EXECUTE last LOOP
            more := concat(more, item::text, E'\n');
            nrows := nrows + 1;
        END LOOP;
        result := (SELECT string_agg(line, ' ' ORDER BY line COLLATE "C")
                     FROM regexp_split_to_table(more, E'\n') AS line WHERE line <> '');
    ELSE
        EXECUTE last;
        GET DIAGNOSTICS nrows = ROW_COUNT;
    END IF;
    RESET ROLE;
    FOR item IN SELECT oid::regclass AS name FROM pg_class
                 WHERE relnamespace::regnamespace::text = quote_ident(current_schema())
                   AND relkind IN ('r', 'p') AND NOT relispartition
                 ORDER BY relname LOOP
        EXECUTE format('SELECT string_agg(t::text, '' '' ORDER BY t::text COLLATE "C") FROM %s AS t', item.name)
           INTO more;
        result := concat_ws(E'\n', result, format('%s: %s', item.name, more));
    END LOOP;
    RAISE EXCEPTION USING ERRCODE = 'OU000', MESSAGE = concat_ws(E'\n', nrows || ' rows', result);
EXCEPTION
    WHEN SQLSTATE 'OU000' THEN RETURN SQLERRM;
    WHEN OTHERS THEN RETURN concat_ws(': ', SQLSTATE, SQLERRM);
END $$;

-- same_outcome(statements) returns one line, which says whether the last
-- statement is sorted with the setting on, how many rows it changed or
-- returned, and that the setting makes no difference; or else both outcomes.
CREATE FUNCTION same_outcome(VARIADIC statements text[]) RETURNS SETOF text
LANGUAGE plpgsql AS $$
DECLARE
    last constant text := statements[cardinality(statements)];
    v_off text := outcome('off', VARIADIC statements);
    v_on text;
    sorted text := '';
    setting text := current_setting('ordered_update.order_statements');
BEGIN
    v_on := outcome('on', VARIADIC statements);
    IF v_off <> v_on THEN
        RETURN NEXT 'off: ' || v_off;
        RETURN NEXT 'on: ' || v_on;
        RETURN;
    END IF;
    IF last !~* '^\s*(EXECUTE|FETCH|COPY)' THEN
        PERFORM set_config('ordered_update.order_statements', 'on', true);
        sorted := CASE WHEN EXISTS (SELECT FROM lock_order(last) AS line WHERE line LIKE '%: Sort by %')
                       THEN 'sorted, ' ELSE 'not sorted, ' END;
        PERFORM set_config('ordered_update.order_statements', setting, true);
    END IF;
    RETURN NEXT concat(sorted, split_part(v_off, E'\n', 1), ', same');
END $$;

-- On a table in the wrong order the helpers see a Sort, a plan that is left
-- alone and one that is not, an outcome that is the same, a failure that is,
-- and one that the setting changes: numbers given to the rows as they come.
CREATE SCHEMA "Helped";
SET search_path = "Helped", public;
CREATE TABLE "Three Rows" (id integer PRIMARY KEY, n integer NOT NULL DEFAULT 0);
CREATE SEQUENCE "Order";
INSERT INTO "Three Rows" VALUES (3), (2), (1);
SET enable_indexscan = off;
SELECT lock_order('UPDATE "Three Rows" SET n = 1');
SELECT left_alone('UPDATE "Three Rows" SET n = 1');
SELECT left_alone('SELECT * FROM "Three Rows"');
SELECT same_outcome('UPDATE "Three Rows" SET n = 1');
SELECT same_outcome('UPDATE "Three Rows" SET n = nextval(''"Order"'')');
SELECT same_outcome('UPDATE "Three Rows" SET n = 1 / (id - 2)');
SET ordered_update.order_statements = on;
SELECT lock_order('UPDATE "Three Rows" SET n = 1');
SELECT lock_order('SELECT * FROM "Three Rows" FOR UPDATE');
SHOW ordered_update.log_unordered;
SELECT same_outcome('DELETE FROM "Three Rows"');
SHOW ordered_update.order_statements;
DROP TABLE "Three Rows";
DROP SEQUENCE "Order";
DROP SCHEMA "Helped";
