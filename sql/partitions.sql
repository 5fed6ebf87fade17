-- A partitioned table is one table: one key order over all partitions, whatever
-- their bounds, levels and column orders.
\pset format unaligned
\pset footer off

-- By range, with partitions whose columns are in another order, or dropped.
CREATE TABLE "Range's" (id integer, "Word" text, "N" integer NOT NULL DEFAULT 0, PRIMARY KEY (id)) PARTITION BY RANGE (id);
CREATE TABLE "Range 1" PARTITION OF "Range's" FOR VALUES FROM (MINVALUE) TO (10);
CREATE TABLE "Range 2" ("N" integer NOT NULL DEFAULT 0, gone date, "Word" text, id integer NOT NULL);
ALTER TABLE "Range 2" DROP gone;
ALTER TABLE "Range's" ATTACH PARTITION "Range 2" FOR VALUES FROM (10) TO (20);
CREATE TABLE "Range D" PARTITION OF "Range's" DEFAULT;
INSERT INTO "Range's" SELECT i, 'w' || i FROM unnest('{25,15,5,11,1,30}'::integer[]) i;
SELECT * FROM ordered_lock(NULL::"Range's", '{30,11,1,25,15,11}'::integer[]);
SELECT * FROM ordered_increment(NULL::"Range's", '{30,11,1,15}'::integer[], 'N', 4);
SELECT * FROM ordered_increment(NULL::"Range's", ARRAY(SELECT r FROM "Range's" r WHERE id > 10), 'N');
SELECT * FROM ordered_delete(NULL::"Range's", '{30,11,1}'::integer[]);
SELECT error_of($$ SELECT * FROM ordered_delete(NULL::"Range's", '{30,15,12}'::integer[]) $$);  -- (error)
SELECT tableoid::regclass, id, "Word", "N" FROM "Range's" ORDER BY id;

-- A partition is a table of its own.
SELECT * FROM ordered_increment(NULL::"Range 2", '{15}'::integer[], 'N');
SELECT error_of($$ SELECT * FROM ordered_increment(NULL::"Range 2", '{5}'::integer[], 'N') $$);  -- (error)

-- By list, where the key order goes to and fro between the partitions.
CREATE TABLE "List's" (k text COLLATE "C" PRIMARY KEY, "N" integer NOT NULL DEFAULT 0) PARTITION BY LIST (k);
CREATE TABLE "List Vowels" PARTITION OF "List's" FOR VALUES IN ('a', 'e', 'i');
CREATE TABLE "List Others" PARTITION OF "List's" FOR VALUES IN ('b', 'f', 'j');
INSERT INTO "List's" SELECT unnest('{j,e,b,i,a,f}'::text[]);
SELECT r.*, t.tableoid::regclass
  FROM ordered_increment(NULL::"List's", '{j,i,f,e,b,a}'::text[], 'N') WITH ORDINALITY AS r(k, "N", o)
  JOIN "List's" t USING (k) ORDER BY o;
SELECT * FROM ordered_delete(NULL::"List's", '{j,a,e,b}'::text[]);

-- By hash.
CREATE TABLE "Hash's" (id integer PRIMARY KEY, "N" integer NOT NULL DEFAULT 0) PARTITION BY HASH (id);
CREATE TABLE "Hash 0" PARTITION OF "Hash's" FOR VALUES WITH (MODULUS 3, REMAINDER 0);
CREATE TABLE "Hash 1" PARTITION OF "Hash's" FOR VALUES WITH (MODULUS 3, REMAINDER 1);
CREATE TABLE "Hash 2" PARTITION OF "Hash's" FOR VALUES WITH (MODULUS 3, REMAINDER 2);
INSERT INTO "Hash's" SELECT generate_series(100, 1, -1);
SELECT count(*), bool_and(id = 2 * o) AS in_order, bool_and("N" = 1) AS once
  FROM ordered_increment(NULL::"Hash's", ARRAY(SELECT 2 * i FROM generate_series(50, 1, -1) i), 'N')
  WITH ORDINALITY AS r(id, "N", o);
SELECT count(*), sum("N"), sum(id) FROM ordered_delete(NULL::"Hash's", ARRAY(SELECT generate_series(1, 10)));

-- Several levels, and a key of several columns.
CREATE TABLE "Deep's" (b integer, "N" integer NOT NULL DEFAULT 0, a text COLLATE "C", PRIMARY KEY (a, b)) PARTITION BY LIST (a);
CREATE TABLE "Deep X" PARTITION OF "Deep's" FOR VALUES IN ('x') PARTITION BY RANGE (b);
CREATE TABLE "Deep X1" PARTITION OF "Deep X" FOR VALUES FROM (0) TO (5);
CREATE TABLE "Deep X2" (a text COLLATE "C" NOT NULL, b integer NOT NULL, "N" integer NOT NULL DEFAULT 0);
ALTER TABLE "Deep X" ATTACH PARTITION "Deep X2" FOR VALUES FROM (5) TO (9);
CREATE TABLE "Deep Y" PARTITION OF "Deep's" FOR VALUES IN ('y', 'w') PARTITION BY HASH (b);
CREATE TABLE "Deep Y0" PARTITION OF "Deep Y" FOR VALUES WITH (MODULUS 2, REMAINDER 0);
CREATE TABLE "Deep Y1" PARTITION OF "Deep Y" FOR VALUES WITH (MODULUS 2, REMAINDER 1);
INSERT INTO "Deep's" (a, b) SELECT a, b FROM unnest('{y,x,w}'::text[]) a, generate_series(8, 1, -1) b;
SELECT * FROM ordered_increment(NULL::"Deep's",
    ARRAY[('y'::text,3),('x'::text,7),('w'::text,8),('x'::text,1),('y'::text,2),('x'::text,7)], 'N');
SELECT * FROM ordered_lock(NULL::"Deep X", ARRAY[('x'::text,7),('x'::text,1)]);
SELECT * FROM ordered_delete(NULL::"Deep's", ARRAY(SELECT d FROM "Deep's" d WHERE "N" = 1));
SELECT count(*) FROM "Deep's";

-- A counter that decides the partition is part of the key, as core demands: so
-- no row ever moves to another partition. 0A000. (error)
CREATE TABLE "Move's" (id integer, "N" integer NOT NULL) PARTITION BY RANGE ("N");
CREATE TABLE "Move 1" PARTITION OF "Move's" FOR VALUES FROM (0) TO (10);
CREATE TABLE "Move 2" PARTITION OF "Move's" FOR VALUES FROM (10) TO (20);
ALTER TABLE "Move's" ADD PRIMARY KEY (id, "N");
INSERT INTO "Move's" VALUES (1, 9);
SELECT error_of($$ SELECT * FROM ordered_increment(NULL::"Move's", ARRAY[(1,9)], 'N') $$);

-- A trigger of one partition that stops its rows: 27000, and the others are as
-- they were. (error)
CREATE FUNCTION "Stop It"() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
CREATE TRIGGER "Stop" BEFORE UPDATE ON "List Others" FOR EACH ROW EXECUTE FUNCTION "Stop It"();
SELECT error_of($$ SELECT * FROM ordered_increment(NULL::"List's", '{f,i}'::text[], 'N') $$);
TABLE "List's" ORDER BY k;

-- A foreign table can only be a partition where there is no primary key: 42P10. (error)
CREATE FOREIGN DATA WRAPPER "Nowhere's";
CREATE SERVER "Nowhere Srv" FOREIGN DATA WRAPPER "Nowhere's";
CREATE TABLE "Mixed" (id integer, "N" integer NOT NULL DEFAULT 0) PARTITION BY RANGE (id);
CREATE TABLE "Mixed 1" PARTITION OF "Mixed" FOR VALUES FROM (0) TO (10);
ALTER TABLE "Mixed 1" ADD PRIMARY KEY (id);
CREATE FOREIGN TABLE "Mixed F" PARTITION OF "Mixed" FOR VALUES FROM (10) TO (20) SERVER "Nowhere Srv";
SELECT error_of($$ SELECT * FROM ordered_lock(NULL::"Mixed", '{1}'::integer[]) $$);

-- A partitioned table without any partition has no row. (error)
CREATE TABLE "Empty's" (id integer PRIMARY KEY, "N" integer NOT NULL DEFAULT 0) PARTITION BY RANGE (id);
SELECT error_of($$ SELECT * FROM ordered_increment(NULL::"Empty's", '{1}'::integer[], 'N') $$);

DROP TABLE "Range's", "List's", "Hash's", "Deep's", "Move's", "Mixed", "Empty's";
DROP FUNCTION "Stop It"();
DROP SERVER "Nowhere Srv";
DROP FOREIGN DATA WRAPPER "Nowhere's";
