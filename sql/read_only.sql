-- A verb changes nothing in a read-only transaction: 25006, before any lock.
\pset format unaligned
\pset footer off
CREATE TABLE "Read Only's" (id integer PRIMARY KEY, "N" integer NOT NULL DEFAULT 0);
INSERT INTO "Read Only's" VALUES (1), (2);
SET ordered_update.default_table = '"Read Only''s"';
SET ordered_update.default_counter = 'N';

-- Every verb, a lock too, as core refuses FOR UPDATE there. (error)
BEGIN READ ONLY;
SELECT error_of('SELECT * FROM ordered_increment(''{1}'')');
SELECT error_of($$ SELECT * FROM ordered_increment(NULL::"Read Only's", '{1}'::integer[], 'N') $$);
SELECT error_of($$ SELECT * FROM ordered_delete(NULL::"Read Only's", '{1}'::integer[]) $$);
SELECT error_of($$ SELECT * FROM ordered_lock(NULL::"Read Only's", '{1}'::integer[]) $$);
SELECT error_of($$ SELECT * FROM ordered_lock(NULL::"Read Only's", '{1}'::integer[], 'key share') $$);
-- A mistake in the arguments is told first: it is one on any server. (error)
SELECT error_of('SELECT * FROM ordered_increment(NULL)');
-- No lock on the table was taken.
SELECT count(*) FROM pg_locks WHERE pid = pg_backend_pid() AND relation = '"Read Only''s"'::regclass;
ROLLBACK;

-- The default of the session counts too. (error)
SET default_transaction_read_only = on;
SELECT error_of('SELECT * FROM ordered_increment(''{1}'')');
RESET default_transaction_read_only;

-- A transaction that turns read-only after a change. (error)
BEGIN;
SELECT * FROM ordered_increment('{2,1}');
SET TRANSACTION READ ONLY;
SELECT error_of('SELECT * FROM ordered_increment(''{2,1}'')');
COMMIT;

-- A temporary table is refused like any other: the rule does not depend on
-- which table a name means. (error)
CREATE TEMP TABLE "Temp Only" (id integer PRIMARY KEY, "N" integer NOT NULL DEFAULT 0);
BEGIN READ ONLY;
SELECT error_of($$ SELECT * FROM ordered_increment(NULL::"Temp Only", '{1}'::integer[], 'N') $$);
ROLLBACK;

-- Nothing else has changed.
TABLE "Read Only's" ORDER BY id;
RESET ordered_update.default_table;
RESET ordered_update.default_counter;
DROP TABLE "Read Only's", "Temp Only";
