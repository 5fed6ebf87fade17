-- The tables of the benchmark: a in key order, b the same rows in random order,
-- with :rows rows, and hot with 200.
CREATE EXTENSION IF NOT EXISTS ordered_update;
CREATE TABLE a AS
	SELECT id, 'title of article ' || id AS title, 0 AS revision
	FROM generate_series(1, :rows) AS id;
CREATE TABLE b AS SELECT * FROM a ORDER BY hashint4(id);
CREATE TABLE hot AS SELECT * FROM a WHERE id <= 200;
ALTER TABLE a ALTER title SET NOT NULL, ALTER revision SET NOT NULL, ADD PRIMARY KEY (id);
ALTER TABLE b ALTER title SET NOT NULL, ALTER revision SET NOT NULL, ADD PRIMARY KEY (id);
ALTER TABLE hot ALTER title SET NOT NULL, ALTER revision SET NOT NULL, ADD PRIMARY KEY (id);
CREATE FUNCTION bench_increment(ids integer[])
RETURNS TABLE (id integer, revision integer)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
BEGIN
	PERFORM a.id FROM a WHERE a.id = ANY (ids) ORDER BY a.id FOR UPDATE;
	RETURN QUERY UPDATE a SET revision = a.revision + 1 WHERE a.id = ANY (ids)
		RETURNING a.id, a.revision;
END $$;
VACUUM ANALYZE a, b, hot;
CHECKPOINT;
