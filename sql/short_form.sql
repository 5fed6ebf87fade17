-- ordered_increment(integer[]) adds 1 to each named row, once, and returns
-- the rows in id order, whatever the order of the ids.
\pset format unaligned
\set script `cat "$PG_ABS_SRCDIR/examples/deadlock_demo_articles.sql"`
-- The set-up script of the example table makes it, with three rows.
:script
SELECT * FROM deadlock_demo_articles ORDER BY id;

-- Run again it must not replace the table. (error)
UPDATE deadlock_demo_articles SET revision = 7 WHERE id = 1;
\set VERBOSITY sqlstate
:script
\set VERBOSITY default
SELECT * FROM deadlock_demo_articles ORDER BY id;
UPDATE deadlock_demo_articles SET revision = 0;

-- The two batches of the demo: revisions 1, 2, 2.
SELECT * FROM ordered_increment('{3,1,2}');
SELECT * FROM ordered_increment('{3,2}');
SELECT * FROM deadlock_demo_articles ORDER BY id;

-- The columns are named and typed as documented.
SELECT pg_typeof(id) AS id, pg_typeof(revision) AS revision
  FROM ordered_increment('{1}');

-- Descending ids come back ascending.
SELECT * FROM ordered_increment('{3,2,1}');

-- An id given several times counts once.
SELECT * FROM ordered_increment('{2,3,2,2,3}');

-- One id, once and twice.
SELECT * FROM ordered_increment('{2}');
SELECT * FROM ordered_increment('{2,2}');

-- An array whose subscripts do not start at 1 is one-dimensional still.
SELECT * FROM ordered_increment('[5:6]={3,1}');

-- A column of the result can be asked for alone, and the rows be counted.
SELECT revision FROM ordered_increment(ARRAY[2]);
SELECT count(*) FROM ordered_increment(ARRAY[1,2,3]);

-- In the select list the function returns one composite per row.
SELECT ordered_increment('{3,1}');

-- LIMIT and EXISTS do not cut a batch short: all three rows are counted up.
SELECT id FROM ordered_increment('{1,2,3}') LIMIT 1;
SELECT EXISTS (SELECT FROM ordered_increment('{1,2,3}'));
SELECT * FROM deadlock_demo_articles ORDER BY id;

-- 1,000 ids out of 3,000 rows that lie in no order on disk, given in no order
-- and with repetitions: in id order, each once, and no other row.
CREATE TABLE "Thousand's Rows" (id integer PRIMARY KEY, "Rev ""N""" integer NOT NULL DEFAULT 0);
INSERT INTO "Thousand's Rows" (id)
    SELECT i FROM generate_series(1, 3000) i ORDER BY hashint4(i);
SET ordered_update.default_table = '"Thousand''s Rows"';
SET ordered_update.default_counter = 'Rev "N"';
SELECT count(*), count(DISTINCT id), min(id), max(id),
       bool_and(id = 3 * ordinality) AS in_order, bool_and(revision = 1) AS once
  FROM ordered_increment(ARRAY(SELECT 3 * i FROM generate_series(1, 1000) i, generate_series(1, 2)
                                ORDER BY hashint4(i))) WITH ORDINALITY;
SELECT count(*) FILTER (WHERE id % 3 = 0 AND "Rev ""N""" = 1) AS counted_up,
       count(*) FILTER (WHERE id % 3 <> 0 AND "Rev ""N""" = 0) AS left_alone
  FROM "Thousand's Rows";

-- Rows that lie in the order of the ids, and rows that do so up to some point,
-- from which on they lie the other way round: in id order, each once. The few
-- that fit into work_mem are moved to the sort from memory, the others from a
-- file.
CREATE FUNCTION in_order_up_to(point integer) RETURNS TABLE (rows bigint, in_order boolean, once boolean)
LANGUAGE plpgsql AS $$
BEGIN
    TRUNCATE "Thousand's Rows";
    INSERT INTO "Thousand's Rows" (id)
        SELECT i FROM generate_series(1, 3000) i ORDER BY CASE WHEN i < point THEN i ELSE 10000 - i END;
    RETURN QUERY SELECT count(*), bool_and(id = ordinality), bool_and(revision = 1)
        FROM ordered_increment(ARRAY(SELECT generate_series(1, 3000))) WITH ORDINALITY;
END $$;
SET work_mem = '64kB';
SELECT point, r.* FROM unnest(ARRAY[1, 2, 3, 1500, 2999, 3000, 3001]) AS point, in_order_up_to(point) AS r;
RESET work_mem;
DROP FUNCTION in_order_up_to;

-- A million ids of one row are one row.
SELECT * FROM ordered_increment(array_fill(42, ARRAY[1000000]));

RESET ordered_update.default_table;
RESET ordered_update.default_counter;
DROP TABLE "Thousand's Rows", deadlock_demo_articles;
