-- A statement whose sources depend on what it has changed so far does the same
-- with ordered statements on as with them off.
LOAD 'ordered_update';
CREATE SCHEMA "Own's";
SET search_path = "Own's", public;
SET enable_indexscan = off;
SET enable_bitmapscan = off;

-- Run a statement with the setting off and on, each time undone, and compare what
-- is in a table then, or the SQLSTATE.
CREATE FUNCTION off_and_on(statement text, tab text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	outcome text[] := '{}';
	setting text;
BEGIN
	FOREACH setting IN ARRAY ARRAY['off', 'on'] LOOP
		BEGIN
			PERFORM set_config('ordered_update.order_statements', setting, true);
			EXECUTE statement;
			EXECUTE format('SELECT $1 || string_agg(x::text, '' '' ORDER BY x::text COLLATE "C") FROM %s x', tab)
				INTO outcome USING outcome;
			RAISE EXCEPTION 'undo';
		EXCEPTION
			WHEN raise_exception THEN NULL;
			WHEN OTHERS THEN outcome := outcome || SQLSTATE;
		END;
	END LOOP;
	RETURN CASE WHEN outcome[1] = outcome[2] THEN 'same: ' || outcome[2]
		ELSE format('off: %s on: %s', outcome[1], outcome[2]) END;
END $$;

-- Plan a statement with the setting on, and say whether it is sorted by the key.
CREATE FUNCTION is_sorted(statement text) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
	line text;
	found boolean := false;
BEGIN
	PERFORM set_config('ordered_update.order_statements', 'on', true);
	FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || statement LOOP
		found := found OR line ~ 'Sort Key: [td]\.id$';
	END LOOP;
	RETURN found;
END $$;

CREATE TABLE t (id integer PRIMARY KEY, v integer);
INSERT INTO t SELECT i, i * 10 FROM generate_series(4, 1, -1) i;
CREATE FUNCTION total(integer) RETURNS SETOF integer LANGUAGE plpgsql AS $$
BEGIN
	RETURN QUERY SELECT sum(v)::integer FROM t;
END $$;
CREATE FUNCTION total1(integer) RETURNS integer LANGUAGE plpgsql AS $$
BEGIN
	RETURN (SELECT sum(v) FROM t);
END $$;

-- A function that sees the changes, called in FROM of a subquery for each row, in a
-- branch of a UNION, or in a subquery that computes a new value.
SELECT off_and_on('UPDATE t SET v = v + 100 WHERE EXISTS (SELECT FROM total(t.id) x WHERE x < 300)', 't');
SELECT off_and_on('UPDATE t SET v = v + 100 WHERE (SELECT x FROM total(t.id) x) < 300', 't');
SELECT off_and_on('DELETE FROM t WHERE (SELECT x FROM total(t.id) x) > 50', 't');
SELECT off_and_on('UPDATE t SET v = v + (SELECT total1(t.id))', 't');
SELECT off_and_on('INSERT INTO t SELECT i, (SELECT x FROM total(i) x) FROM generate_series(1, 6) i ON CONFLICT (id) DO UPDATE SET v = excluded.v', 't');
-- Called once in FROM of the statement, it is done before the first change: such a
-- statement is ordered.
SELECT off_and_on('UPDATE t SET v = v + x FROM total(1) x', 't');
SELECT is_sorted('UPDATE t SET v = v + x FROM total(1) x');

-- A query that locks rows passes by those that the statement has changed.
SELECT off_and_on('UPDATE t SET v = (SELECT b.v FROM t b WHERE b.id = t.id + 1 FOR SHARE)', 't');
SELECT off_and_on('DELETE FROM t WHERE id IN (SELECT b.id FROM t b WHERE b.id / 4 = t.id / 4 AND b.id < 4 LIMIT 1 FOR UPDATE SKIP LOCKED)', 't');
SELECT off_and_on('INSERT INTO t SELECT i, (SELECT v FROM t WHERE id = i - 1 FOR UPDATE) FROM generate_series(2, 6) i ON CONFLICT (id) DO UPDATE SET v = excluded.v', 't');
CREATE TABLE worker (id integer PRIMARY KEY);
INSERT INTO worker VALUES (2), (1);
SELECT off_and_on('UPDATE t SET v = w.id FROM worker w CROSS JOIN LATERAL (SELECT id FROM t WHERE v > 9 AND w.id > 0 ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED) j WHERE t.id = j.id', 't');

-- A statement in WITH makes its changes as the other one takes rows from it.
SELECT off_and_on('WITH d AS (DELETE FROM t WHERE id < 4 RETURNING *) INSERT INTO t SELECT id + 1, v + 1 FROM d ON CONFLICT (id) DO NOTHING', 't');
SELECT off_and_on('WITH d AS (UPDATE t SET v = v + 1 RETURNING *) UPDATE t SET v = d.v FROM d WHERE t.id = d.id + 1', 't');
-- From another table, it does not matter: such a statement is ordered.
SELECT is_sorted('WITH d AS (DELETE FROM worker RETURNING *) UPDATE t SET v = d.id FROM d WHERE t.id = d.id');

-- A trigger makes rows equal that were not, or an expression computable.
CREATE TABLE l (id integer, k text COLLATE "C" PRIMARY KEY);
CREATE FUNCTION lower_k() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	NEW.k := lower(NEW.k);
	RETURN NEW;
END $$;
CREATE TRIGGER lower_k BEFORE INSERT ON l FOR EACH ROW EXECUTE FUNCTION lower_k();
SELECT off_and_on($$INSERT INTO l (k, id) VALUES ('a1', 1), ('A1', 2), ('B', 3), ('b', 4) ON CONFLICT (k) DO NOTHING$$, 'l');
CREATE TABLE e (k integer, v integer);
CREATE UNIQUE INDEX ON e ((100 / k));
CREATE FUNCTION no_zero() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	NEW.k := CASE NEW.k WHEN 0 THEN 1 ELSE NEW.k END;
	RETURN NEW;
END $$;
CREATE TRIGGER no_zero BEFORE INSERT ON e FOR EACH ROW EXECUTE FUNCTION no_zero();
SELECT off_and_on('INSERT INTO e VALUES (0, 1), (5, 2) ON CONFLICT ((100 / k)) DO NOTHING', 'e');

-- Each is said in the log.
SET ordered_update.log_unordered = on;
SET client_min_messages = log;
SELECT is_sorted('UPDATE t SET v = (SELECT total1(t.id))');
SELECT is_sorted('UPDATE t SET v = (SELECT b.v FROM t b WHERE b.id = t.id + 1 FOR SHARE)');
SELECT is_sorted('WITH d AS (UPDATE t SET v = 1 RETURNING *) UPDATE t SET v = d.v FROM d WHERE t.id = d.id');
SELECT is_sorted($$INSERT INTO l (k) VALUES ('b'), ('a') ON CONFLICT (k) DO NOTHING$$);
RESET client_min_messages;
RESET ordered_update.log_unordered;

SET client_min_messages = warning;
DROP SCHEMA "Own's" CASCADE;
RESET client_min_messages;
RESET search_path;
RESET enable_indexscan;
RESET enable_bitmapscan;
