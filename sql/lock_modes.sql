-- Every verb holds ROW EXCLUSIVE on its table to the end of the transaction,
-- nothing stronger, and no lock on any other table.  (That it comes first is
-- shown by an isolation test.)
\pset format unaligned
\pset footer off
CREATE TABLE "Modes'" (id integer PRIMARY KEY, "N" integer NOT NULL DEFAULT 0);
CREATE TABLE "Modes' Child" ("Parent" integer REFERENCES "Modes'");
INSERT INTO "Modes'" SELECT generate_series(1, 3);
CREATE TABLE "Modes' Parts" (id integer PRIMARY KEY, "N" integer NOT NULL DEFAULT 0) PARTITION BY RANGE (id);
CREATE TABLE "Modes' Part 1" PARTITION OF "Modes' Parts" FOR VALUES FROM (0) TO (10);
CREATE TABLE "Modes' Part 2" PARTITION OF "Modes' Parts" FOR VALUES FROM (10) TO (20) PARTITION BY RANGE (id);
CREATE TABLE "Modes' Part 2a" PARTITION OF "Modes' Part 2" FOR VALUES FROM (10) TO (15);
INSERT INTO "Modes' Parts" VALUES (1), (11);

-- The tables that this transaction holds locks on, with the strongest mode.
CREATE VIEW held AS
SELECT c.relname,
       bool_or(l.mode = 'RowExclusiveLock') AS row_exclusive,
       bool_or(l.mode NOT IN ('AccessShareLock', 'RowShareLock', 'RowExclusiveLock')) AS stronger
  FROM pg_locks l JOIN pg_class c ON c.oid = l.relation
 WHERE l.pid = pg_backend_pid() AND l.locktype = 'relation' AND c.relkind IN ('r', 'p')
   AND c.relnamespace = 'public'::regnamespace
 GROUP BY c.relname;
SET ordered_update.default_table = '"Modes''"';
SET ordered_update.default_counter = 'N';

-- Before any call.
BEGIN;
SELECT * FROM held ORDER BY relname COLLATE "C";
-- Each verb, twice: when its plans are made, and when they are there.
SELECT count(*) FROM ordered_increment('{2,1}');
SELECT * FROM held ORDER BY relname COLLATE "C";
ROLLBACK;
BEGIN;
SELECT count(*) FROM ordered_increment('{2,1}');
SELECT * FROM held ORDER BY relname COLLATE "C";
ROLLBACK;
BEGIN;
SELECT count(*) FROM ordered_increment(NULL::"Modes'", '{2,1}'::integer[], 'N');
SELECT * FROM held ORDER BY relname COLLATE "C";
ROLLBACK;
BEGIN;
SELECT count(*) FROM ordered_increment(NULL::"Modes'", '{2,1}'::integer[], 'N');
SELECT * FROM held ORDER BY relname COLLATE "C";
ROLLBACK;
BEGIN;
SELECT count(*) FROM ordered_lock(NULL::"Modes'", '{2,1}'::integer[], 'key share');
SELECT * FROM held ORDER BY relname COLLATE "C";
ROLLBACK;
BEGIN;
SELECT count(*) FROM ordered_lock(NULL::"Modes'", '{2,1}'::integer[], 'key share');
SELECT * FROM held ORDER BY relname COLLATE "C";
ROLLBACK;

-- A delete reads the tables that reference this one, as a plain DELETE does.
BEGIN;
SELECT count(*) FROM ordered_delete(NULL::"Modes'", '{2,1}'::integer[]);
SELECT relname, row_exclusive, stronger FROM held WHERE relname = 'Modes''';
ROLLBACK;

-- All partitions are held alike, also those without a wanted row.
BEGIN;
SELECT count(*) FROM ordered_increment(NULL::"Modes' Parts", '{1}'::integer[], 'N');
SELECT * FROM held ORDER BY relname COLLATE "C";
ROLLBACK;
BEGIN;
SELECT count(*) FROM ordered_lock(NULL::"Modes' Parts", '{11}'::integer[]);
SELECT * FROM held ORDER BY relname COLLATE "C";
ROLLBACK;

-- An error and a rolled back savepoint release it.
BEGIN;
SELECT count(*) FROM error_of('SELECT * FROM ordered_increment(''{7}'')');
SAVEPOINT "Here";
SELECT count(*) FROM ordered_increment('{2,1}');
ROLLBACK TO "Here";
SELECT * FROM held ORDER BY relname COLLATE "C";
ROLLBACK;

-- Arguments are checked before anything is locked.
BEGIN;
SELECT count(*) FROM error_of('SELECT * FROM ordered_increment(''{}'')');
SELECT * FROM held ORDER BY relname COLLATE "C";
ROLLBACK;

-- The function works within a statement that has the table locked already.
BEGIN;
LOCK TABLE "Modes'" IN ACCESS EXCLUSIVE MODE;
SELECT * FROM ordered_increment('{2,1}');
ROLLBACK;

RESET ordered_update.default_table;
RESET ordered_update.default_counter;
DROP VIEW held;
DROP TABLE "Modes' Child", "Modes'", "Modes' Parts";
