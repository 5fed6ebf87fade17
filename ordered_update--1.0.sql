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

CREATE FUNCTION ordered_lock_all(targets jsonb, strength text DEFAULT 'update',
								 nowait boolean DEFAULT false, missing_ok boolean DEFAULT false)
RETURNS bigint
AS 'MODULE_PATHNAME', 'ordered_lock_all'
LANGUAGE C VOLATILE CALLED ON NULL INPUT PARALLEL UNSAFE;

COMMENT ON FUNCTION ordered_lock_all(jsonb, text, boolean, boolean) IS
'lock rows of several tables, in the order of table names and then of primary keys';

CREATE FUNCTION ordered_contract(target regclass)
RETURNS TABLE (rule text, holds boolean, detail text, advice text)
LANGUAGE SQL STABLE STRICT PARALLEL SAFE ROWS 11
BEGIN ATOMIC
	WITH relation AS (
		-- The table and, if it is partitioned, all its partitions.
		SELECT c.*
		FROM pg_catalog.pg_class c
		WHERE c.oid OPERATOR(pg_catalog.=) target
		   OR c.oid IN (SELECT p.relid FROM pg_catalog.pg_partition_tree(target) p)
	), family AS (
		-- These, and the tables that it is a partition of.
		SELECT r.oid FROM relation r
		UNION
		SELECT a.relid FROM pg_catalog.pg_partition_ancestors(target) a(relid)
	), key AS (
		SELECT i.*, am.amname
		FROM pg_catalog.pg_index i
			JOIN pg_catalog.pg_class ic ON ic.oid OPERATOR(pg_catalog.=) i.indexrelid
			JOIN pg_catalog.pg_am am ON am.oid OPERATOR(pg_catalog.=) ic.relam
		WHERE i.indrelid OPERATOR(pg_catalog.=) target AND i.indisprimary
	), verdict (number, rule, broken, good, advice) AS (
		SELECT 1, 'ordinary or partitioned table',
			(SELECT pg_catalog.format('%s is %s', target,
									  CASE c.relkind
										  WHEN 'r' THEN 'a system catalog'
										  WHEN 'v' THEN 'a view'
										  WHEN 'm' THEN 'a materialized view'
										  WHEN 'f' THEN 'a foreign table'
										  ELSE 'no table'
									  END)
			 FROM pg_catalog.pg_class c
			 WHERE c.oid OPERATOR(pg_catalog.=) target
			   AND (c.relkind NOT IN ('r', 'p')
					OR c.relnamespace OPERATOR(pg_catalog.=) 'pg_catalog'::pg_catalog.regnamespace)),
			'its rows can be locked in order',
			'Lock rows of the tables below a view, foreign table or materialized view.'
		UNION ALL
		SELECT 2, 'immediate primary key',
			CASE WHEN NOT EXISTS (SELECT FROM key) THEN 'there is no primary key'
				 ELSE (SELECT CASE WHEN NOT k.indimmediate THEN 'the primary key is deferrable'
								   WHEN k.amname OPERATOR(pg_catalog.<>) 'btree' THEN 'the primary key has no order'
								   WHEN NOT k.indisvalid THEN 'the primary key is not valid'
							  END FROM key k) END,
			(SELECT pg_catalog.pg_get_constraintdef(c.oid)
			 FROM pg_catalog.pg_constraint c
			 WHERE c.conrelid OPERATOR(pg_catalog.=) target AND c.contype OPERATOR(pg_catalog.=) 'p'),
			'Add a primary key that is not deferrable: rows are locked in its order.'
		UNION ALL
		SELECT 3, 'no row triggers',
			(SELECT pg_catalog.string_agg(DISTINCT pg_catalog.quote_ident(t.tgname), ', ')
			 FROM pg_catalog.pg_trigger t
				JOIN relation r ON r.oid OPERATOR(pg_catalog.=) t.tgrelid
			 WHERE NOT t.tgisinternal AND t.tgenabled OPERATOR(pg_catalog.<>) 'D'
			   AND (t.tgtype OPERATOR(pg_catalog.&) 1::pg_catalog.int2) OPERATOR(pg_catalog.<>) 0),
			'none',
			'See that a trigger locks no row of another batch: what it touches is not locked in order. Move such work into a statement of its own, in key order.'
		UNION ALL
		SELECT 4, 'no foreign keys from the table',
			(SELECT pg_catalog.string_agg(DISTINCT pg_catalog.quote_ident(c.conname) OPERATOR(pg_catalog.||) ' ' OPERATOR(pg_catalog.||)
										  pg_catalog.pg_get_constraintdef(c.oid), '; ')
			 FROM pg_catalog.pg_constraint c
				JOIN family f ON f.oid OPERATOR(pg_catalog.=) c.conrelid
			 WHERE c.contype OPERATOR(pg_catalog.=) 'f'
			   AND c.conparentid OPERATOR(pg_catalog.=) 0::pg_catalog.oid),
			'none',
			'A change of these columns, or an insert, share-locks the referenced row. Lock rows of the referenced table first, with ordered_lock_all.'
		UNION ALL
		SELECT 5, 'no foreign keys to the table',
			(SELECT pg_catalog.string_agg(DISTINCT pg_catalog.format('%s of %s%s', pg_catalog.quote_ident(c.conname),
											c.conrelid::pg_catalog.regclass,
											CASE WHEN c.confdeltype IN ('c', 'n', 'd') OR c.confupdtype IN ('c', 'n', 'd')
												 THEN ' (with an action on its rows)' ELSE '' END), ', ')
			 FROM pg_catalog.pg_constraint c
				JOIN family f ON f.oid OPERATOR(pg_catalog.=) c.confrelid
			 WHERE c.contype OPERATOR(pg_catalog.=) 'f'
			   AND c.conparentid OPERATOR(pg_catalog.=) 0::pg_catalog.oid),
			'none',
			'Lock with strength ''no key update'' unless keys change or rows go: FOR UPDATE waits for inserts of referencing rows. Rows that an action changes are locked in order only by ordered statements.'
		UNION ALL
		SELECT 6, 'no further unique index',
			(SELECT pg_catalog.string_agg(DISTINCT i.indexrelid::pg_catalog.regclass::pg_catalog.text, ', ')
			 FROM pg_catalog.pg_index i
				JOIN relation r ON r.oid OPERATOR(pg_catalog.=) i.indrelid
				JOIN pg_catalog.pg_class ic ON ic.oid OPERATOR(pg_catalog.=) i.indexrelid
			 WHERE (i.indisunique OR i.indisexclusion) AND NOT i.indisprimary
			   AND (NOT ic.relispartition OR r.oid OPERATOR(pg_catalog.=) target)),
			'none',
			'A value set in its columns can wait for another transaction''s row, in no order. Change such columns in transactions of their own.'
		UNION ALL
		SELECT 7, 'no rules',
			(SELECT pg_catalog.string_agg(pg_catalog.quote_ident(w.rulename), ', ' ORDER BY w.rulename)
			 FROM pg_catalog.pg_rewrite w
			 WHERE w.ev_class OPERATOR(pg_catalog.=) target AND w.rulename OPERATOR(pg_catalog.<>) '_RETURN'),
			'none',
			'Replace rules by triggers: the verbs refuse a table with rules on the event.'
		UNION ALL
		SELECT 8, 'no inheritance children',
			(SELECT pg_catalog.string_agg(h.inhrelid::pg_catalog.regclass::pg_catalog.text, ', '
										  ORDER BY h.inhrelid::pg_catalog.regclass::pg_catalog.text)
			 FROM pg_catalog.pg_inherits h
				JOIN pg_catalog.pg_class c ON c.oid OPERATOR(pg_catalog.=) h.inhrelid
			 WHERE h.inhparent OPERATOR(pg_catalog.=) target AND NOT c.relispartition
			   AND c.relkind IN ('r', 'f')),
			'none',
			'Use a partitioned table, whose primary key spans all rows, or name the child that holds the rows.'
		UNION ALL
		SELECT 9, 'all partitions local',
			(SELECT pg_catalog.string_agg(r.oid::pg_catalog.regclass::pg_catalog.text, ', '
										  ORDER BY r.oid::pg_catalog.regclass::pg_catalog.text)
			 FROM relation r WHERE r.relkind OPERATOR(pg_catalog.=) 'f'
			   AND r.oid OPERATOR(pg_catalog.<>) target),
			'yes',
			'A foreign server locks rows in an order of its own. Keep rows that batches change in local partitions.'
		UNION ALL
		SELECT 10, 'no row security',
			(SELECT COALESCE((SELECT pg_catalog.string_agg(DISTINCT pg_catalog.quote_ident(p.polname), ', ')
							  FROM pg_catalog.pg_policy p
							  WHERE p.polrelid OPERATOR(pg_catalog.=) c.oid),
							 'on, and without a policy every row is hidden')
			 FROM pg_catalog.pg_class c
			 WHERE c.oid OPERATOR(pg_catalog.=) target AND c.relrowsecurity),
			'none',
			'See that policies lock no rows. A row that a policy hides counts as missing.'
		UNION ALL
		SELECT 11, 'ordered statements',
			CASE WHEN COALESCE(pg_catalog.current_setting('ordered_update.order_statements', true), 'off')
					  OPERATOR(pg_catalog.<>) 'on' THEN 'off in this session'
				 -- Before the library is loaded any value can be set, to no effect.
				 WHEN NOT EXISTS (SELECT FROM pg_catalog.pg_settings s
								  WHERE s.name OPERATOR(pg_catalog.=) 'ordered_update.order_statements')
				 THEN 'on in this session, but the library is not loaded' END,
			'on in this session',
			'Turn ordered_update.order_statements on for every role that changes these rows, or change them by verbs only.'
	)
	SELECT v.rule, v.broken IS NULL, COALESCE(v.broken, v.good, 'none'),
		   CASE WHEN v.broken IS NOT NULL THEN v.advice END
	FROM verdict v
	WHERE EXISTS (SELECT FROM relation)
	ORDER BY v.number;
END;

COMMENT ON FUNCTION ordered_contract(regclass) IS
'report what locking in primary key order cannot cover for a table';

CREATE VIEW ordered_contract_violations AS
SELECT c.oid::pg_catalog.regclass AS target, r.rule, r.detail, r.advice
FROM pg_catalog.pg_class c
	CROSS JOIN LATERAL ordered_contract(c.oid::pg_catalog.regclass) r
WHERE c.relkind IN ('r', 'p') AND NOT c.relispartition AND NOT r.holds
  AND c.relnamespace OPERATOR(pg_catalog.<>) 'pg_catalog'::pg_catalog.regnamespace
  AND c.relnamespace OPERATOR(pg_catalog.<>) 'information_schema'::pg_catalog.regnamespace
  AND NOT pg_catalog.pg_is_other_temp_schema(c.relnamespace);

GRANT SELECT ON ordered_contract_violations TO PUBLIC;

COMMENT ON VIEW ordered_contract_violations IS
'what locking in primary key order cannot cover, for every table of the database';
