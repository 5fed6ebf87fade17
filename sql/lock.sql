-- ordered_lock(target, keys, strength, nowait, missing_ok) locks the rows and
-- returns them as they are, in primary key order, and changes nothing.
\pset format unaligned
\pset footer off
CREATE TABLE "Lock's ""T""" (id integer PRIMARY KEY, "Word" text NOT NULL);
INSERT INTO "Lock's ""T""" SELECT i, 'w' || i FROM generate_series(5, 1, -1) i;

-- Rows in key order, each once.
SELECT * FROM ordered_lock(NULL::"Lock's ""T""", '{4,2,4,1}'::integer[]);

-- Every strength, in SQL's words and any case.
SELECT s, array_agg(r.id) AS ids
  FROM unnest('{update,no key update,share,key share,UPDATE,No Key Update,SHARE,Key Share}'::text[]) WITH ORDINALITY AS u(s, n)
 CROSS JOIN LATERAL ordered_lock(NULL::"Lock's ""T""", '{3,2}'::integer[], s) r
 GROUP BY n, s ORDER BY n;

-- Any other word: 22023. (error)
SELECT error_of($$ SELECT * FROM ordered_lock(NULL::"Lock's ""T""", '{1}'::integer[], 'exclusive') $$);
SELECT error_of($$ SELECT * FROM ordered_lock(NULL::"Lock's ""T""", '{1}'::integer[], '') $$);
SELECT error_of($$ SELECT * FROM ordered_lock(NULL::"Lock's ""T""", '{1}'::integer[], 'for update') $$);
SELECT error_of($$ SELECT * FROM ordered_lock(NULL::"Lock's ""T""", '{1}'::integer[], 'no  key update') $$);
SELECT error_of($$ SELECT * FROM ordered_lock(NULL::"Lock's ""T""", '{1}'::integer[], 'update of t') $$);

-- Nulls: 22004. (error)
SELECT error_of($$ SELECT * FROM ordered_lock(NULL::"Lock's ""T""", NULL::integer[]) $$);
SELECT error_of($$ SELECT * FROM ordered_lock(NULL::"Lock's ""T""", '{NULL}'::integer[]) $$);
SELECT error_of($$ SELECT * FROM ordered_lock(NULL::"Lock's ""T""", '{1}'::integer[], NULL) $$);
SELECT error_of($$ SELECT * FROM ordered_lock(NULL::"Lock's ""T""", '{1}'::integer[], nowait => NULL) $$);
SELECT error_of($$ SELECT * FROM ordered_lock(NULL::"Lock's ""T""", '{1}'::integer[], missing_ok => NULL) $$);
-- Empty: 22023; two dimensions: 2202E. (error)
SELECT error_of($$ SELECT * FROM ordered_lock(NULL::"Lock's ""T""", '{}'::integer[]) $$);
SELECT error_of($$ SELECT * FROM ordered_lock(NULL::"Lock's ""T""", '{{1,2}}'::integer[]) $$);

-- With nowait, where nobody is in the way, nothing is different.
SELECT * FROM ordered_lock(NULL::"Lock's ""T""", '{4,2}'::integer[], nowait => true);

-- Missing rows: P0002; with missing_ok the others, or none. (error)
SELECT error_of($$ SELECT * FROM ordered_lock(NULL::"Lock's ""T""", '{9,2,8}'::integer[]) $$);
SELECT * FROM ordered_lock(NULL::"Lock's ""T""", '{9,2,8}'::integer[], missing_ok => true);
SELECT * FROM ordered_lock(NULL::"Lock's ""T""", '{9,8}'::integer[], 'share', true, true);

-- Locked rows are as this transaction has left them.
BEGIN;
UPDATE "Lock's ""T""" SET "Word" = 'changed' WHERE id = 2;
SELECT * FROM ordered_lock(NULL::"Lock's ""T""", '{3,2}'::integer[]);
DELETE FROM "Lock's ""T""" WHERE id = 2;
SELECT error_of($$ SELECT * FROM ordered_lock(NULL::"Lock's ""T""", '{3,2}'::integer[]) $$);  -- (error)
INSERT INTO "Lock's ""T""" VALUES (2, 'again');
SELECT * FROM ordered_lock(NULL::"Lock's ""T""", '{3,2}'::integer[]);
ROLLBACK;

-- A stronger lock after a weaker one of the same transaction.
BEGIN;
SELECT count(*) FROM ordered_lock(NULL::"Lock's ""T""", '{3,2}'::integer[], 'key share');
SELECT count(*) FROM ordered_lock(NULL::"Lock's ""T""", '{3,2}'::integer[], 'update');
ROLLBACK;

-- Rows that are locked are changed by any statement after it.
BEGIN;
SELECT count(*) FROM ordered_lock(NULL::"Lock's ""T""", '{3,2}'::integer[], 'no key update');
UPDATE "Lock's ""T""" SET "Word" = upper("Word") WHERE id IN (2, 3);
COMMIT;

-- In a join, a subquery that is read in part, and a CTE that is not read.
SELECT t.id FROM ordered_lock(NULL::"Lock's ""T""", '{3,2}'::integer[]) l JOIN "Lock's ""T""" t USING (id) ORDER BY id;
SELECT id FROM "Lock's ""T""" WHERE id IN (SELECT id FROM ordered_lock(NULL::"Lock's ""T""", '{3,2}'::integer[])) ORDER BY id;
SELECT EXISTS (SELECT FROM ordered_lock(NULL::"Lock's ""T""", '{5,1}'::integer[]));

-- The target must be the row type of a table. (error)
SELECT error_of($$ SELECT * FROM ordered_lock(NULL::integer, '{1}'::integer[]) $$);
SELECT error_of($$ SELECT * FROM ordered_lock(NULL::record, '{1}'::integer[]) AS r(id integer) $$);
SELECT error_of($$ SELECT * FROM ordered_lock(NULL, '{1}'::integer[]) $$);

TABLE "Lock's ""T""" ORDER BY id;
DROP TABLE "Lock's ""T""";
