-- ordered_delete(target, keys, missing_ok) deletes the rows and returns them
-- as they were, in primary key order.
\pset format unaligned
\pset footer off
CREATE TABLE "Del's ""T""" (id integer PRIMARY KEY, "Word" text NOT NULL);
INSERT INTO "Del's ""T""" SELECT i, 'w' || i FROM generate_series(9, 1, -1) i;

-- Rows as they were, in key order, each once.
SELECT * FROM ordered_delete(NULL::"Del's ""T""", '{8,3,8}'::integer[]);
TABLE "Del's ""T""" ORDER BY id;

-- Missing rows: P0002, and nothing is deleted. (error)
SELECT error_of($$ SELECT * FROM ordered_delete(NULL::"Del's ""T""", '{8,1,3}'::integer[]) $$);
-- With missing_ok the others are, and none is fine too.
SELECT * FROM ordered_delete(NULL::"Del's ""T""", '{8,1,3}'::integer[], true);
SELECT * FROM ordered_delete(NULL::"Del's ""T""", '{8,1,3}'::integer[], missing_ok => true);

-- The usual refusals of a batch. (error)
SELECT error_of($$ SELECT * FROM ordered_delete(NULL::"Del's ""T""", NULL::integer[]) $$);
SELECT error_of($$ SELECT * FROM ordered_delete(NULL::"Del's ""T""", '{2,NULL}'::integer[]) $$);
SELECT error_of($$ SELECT * FROM ordered_delete(NULL::"Del's ""T""", '{}'::integer[]) $$);
SELECT error_of($$ SELECT * FROM ordered_delete(NULL::"Del's ""T""", '{{2}}'::integer[]) $$);
SELECT error_of($$ SELECT * FROM ordered_delete(NULL::"Del's ""T""", '{2}'::integer[], NULL) $$);

-- A row that is referenced: core's 23503, with the batch's context. (error)
CREATE TABLE "Del Child" (id integer PRIMARY KEY, "Of" integer,
    CONSTRAINT "Child Of" FOREIGN KEY ("Of") REFERENCES "Del's ""T""");
INSERT INTO "Del Child" VALUES (1, 4), (2, 5), (3, 5);
SELECT error_of($$ SELECT * FROM ordered_delete(NULL::"Del's ""T""", '{2,4}'::integer[]) $$);
TABLE "Del's ""T""" ORDER BY id;

-- Cascades run as for a plain DELETE; ON DELETE SET NULL too.
ALTER TABLE "Del Child" DROP CONSTRAINT "Child Of",
    ADD CONSTRAINT "Child Of" FOREIGN KEY ("Of") REFERENCES "Del's ""T""" ON DELETE CASCADE;
SELECT * FROM ordered_delete(NULL::"Del's ""T""", '{2,4}'::integer[]);
TABLE "Del Child" ORDER BY id;
ALTER TABLE "Del Child" DROP CONSTRAINT "Child Of",
    ADD CONSTRAINT "Child Of" FOREIGN KEY ("Of") REFERENCES "Del's ""T""" ON DELETE SET NULL;
SELECT * FROM ordered_delete(NULL::"Del's ""T""", '{5}'::integer[]);
TABLE "Del Child" ORDER BY id;

-- A row that references its own table: both in one batch, or a cascade within it.
CREATE TABLE "Tree" (id integer PRIMARY KEY, "Up" integer REFERENCES "Tree" ON DELETE CASCADE);
INSERT INTO "Tree" VALUES (1, NULL), (2, 1), (3, 2), (4, 1);
SELECT * FROM ordered_delete(NULL::"Tree", '{3,2}'::integer[]);
SELECT * FROM ordered_delete(NULL::"Tree", '{4,1}'::integer[]);
SELECT count(*) FROM "Tree";

-- Deleted rows move to another table by one statement.
CREATE TABLE "Archive" (LIKE "Del's ""T""");
INSERT INTO "Archive" SELECT * FROM ordered_delete(NULL::"Del's ""T""", '{7,6}'::integer[]);
TABLE "Archive" ORDER BY id;
WITH gone AS (SELECT * FROM ordered_delete(NULL::"Del's ""T""", '{9}'::integer[]))
SELECT g."Word", (SELECT count(*) FROM "Archive" a WHERE a.id < g.id) FROM gone g;
SELECT count(*) FROM "Del's ""T""";

-- Rolled back, the rows are there again.
BEGIN;
SELECT * FROM ordered_delete(NULL::"Archive", '{7}'::integer[]);  -- (error)
ROLLBACK;
ALTER TABLE "Archive" ADD PRIMARY KEY (id);
BEGIN;
SELECT * FROM ordered_delete(NULL::"Archive", '{7}'::integer[]);
-- Within the transaction the row is gone. (error)
SELECT error_of($$ SELECT * FROM ordered_delete(NULL::"Archive", '{7}'::integer[]) $$);
ROLLBACK;
TABLE "Archive" ORDER BY id;

DROP TABLE "Del Child", "Del's ""T""", "Tree", "Archive";
