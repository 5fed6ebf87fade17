-- Triggers fire as for plain SQL, and one that stops a change makes the whole
-- batch fail: every locked row is changed exactly once, or nothing is.
\pset format unaligned
\pset footer off
CREATE TABLE "Trig's" (id integer PRIMARY KEY, "N" integer NOT NULL DEFAULT 0, "Note" text);
INSERT INTO "Trig's" SELECT generate_series(1, 5);
SET ordered_update.default_table = '"Trig''s"';
SET ordered_update.default_counter = 'N';
CREATE FUNCTION "Skip Two"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF OLD.id = 2 THEN
        RETURN NULL;
    ELSIF TG_OP = 'DELETE' THEN
        RETURN OLD;
    END IF;
    RETURN NEW;
END $$;

-- A BEFORE trigger that returns NULL. Control: plain SQL changes one row less
-- and says nothing.
CREATE TRIGGER "Skip" BEFORE UPDATE OR DELETE ON "Trig's" FOR EACH ROW EXECUTE FUNCTION "Skip Two"();
BEGIN;
UPDATE "Trig's" SET "N" = "N" + 1 WHERE id IN (1, 2, 3) RETURNING id;
ROLLBACK;
-- The verbs: 27000. (error)
SELECT error_of('SELECT * FROM ordered_increment(''{1,2,3}'')');
SELECT error_of('SELECT * FROM ordered_increment(''{2}'')');
SELECT error_of($$ SELECT * FROM ordered_increment(NULL::"Trig's", '{3,2}'::integer[], 'N', 5, true) $$);
SELECT error_of($$ SELECT * FROM ordered_delete(NULL::"Trig's", '{2,1}'::integer[]) $$);
TABLE "Trig's" ORDER BY id;
-- Rows that the trigger lets pass.
SELECT * FROM ordered_increment('{3,1}');
-- A lock changes nothing and fires no trigger.
SELECT * FROM ordered_lock(NULL::"Trig's", '{3,2}'::integer[]);
DROP TRIGGER "Skip" ON "Trig's";

-- A BEFORE trigger that sets the row: the result is what is stored.
CREATE FUNCTION "Take Note"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW."Note" := format('%s to %s', OLD."N", NEW."N");
    NEW."N" := NEW."N" * 10;
    RETURN NEW;
END $$;
CREATE TRIGGER "Noting" BEFORE UPDATE ON "Trig's" FOR EACH ROW EXECUTE FUNCTION "Take Note"();
SELECT * FROM ordered_increment('{3,1}');
SELECT * FROM ordered_increment(NULL::"Trig's", '{2}'::integer[], 'N');
DROP TRIGGER "Noting" ON "Trig's";
TABLE "Trig's" ORDER BY id;

-- A BEFORE trigger that empties the counter: 22004, no silent NULL. (error)
ALTER TABLE "Trig's" ALTER "N" DROP NOT NULL;
CREATE FUNCTION "Empty It"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW."N" := NULL;
    RETURN NEW;
END $$;
CREATE TRIGGER "Emptying" BEFORE UPDATE ON "Trig's" FOR EACH ROW EXECUTE FUNCTION "Empty It"();
SELECT error_of('SELECT * FROM ordered_increment(''{2}'')');
DROP TRIGGER "Emptying" ON "Trig's";

-- AFTER triggers, of rows and of statements, with transition tables: each row
-- once, the statement once.
CREATE FUNCTION "Tell Row"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE NOTICE '% % row %', TG_WHEN, TG_OP, OLD.id;
    RETURN NULL;
END $$;
CREATE FUNCTION "Tell Statement"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE NOTICE '% % statement of % rows', TG_WHEN, TG_OP, (SELECT count(*) FROM old_rows);
    RETURN NULL;
END $$;
CREATE TRIGGER "Row" AFTER UPDATE ON "Trig's" FOR EACH ROW EXECUTE FUNCTION "Tell Row"();
CREATE TRIGGER "Stmt U" AFTER UPDATE ON "Trig's" REFERENCING OLD TABLE AS old_rows
    FOR EACH STATEMENT EXECUTE FUNCTION "Tell Statement"();
CREATE TRIGGER "Stmt D" AFTER DELETE ON "Trig's" REFERENCING OLD TABLE AS old_rows
    FOR EACH STATEMENT EXECUTE FUNCTION "Tell Statement"();
SELECT * FROM ordered_increment('{4}');
DROP TRIGGER "Row" ON "Trig's";
SELECT count(*) FROM ordered_increment(NULL::"Trig's", '{5,4,5}'::integer[], 'N');
SELECT * FROM ordered_delete(NULL::"Trig's", '{5,4}'::integer[]);
DROP TRIGGER "Stmt U" ON "Trig's";
DROP TRIGGER "Stmt D" ON "Trig's";

-- A BEFORE trigger that changes another row of the batch: 27000, never a row
-- that loses a change. (error)
CREATE FUNCTION "Touch Next"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF pg_trigger_depth() = 1 THEN
        UPDATE "Trig's" SET "N" = "N" + 1000 WHERE id = NEW.id + 1;
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER "Touching" BEFORE UPDATE ON "Trig's" FOR EACH ROW EXECUTE FUNCTION "Touch Next"();
\set VERBOSITY sqlstate
SELECT * FROM ordered_increment('{1,2}');
\set VERBOSITY default
TABLE "Trig's" ORDER BY id;
-- Rows it does not meet are as usual.
SELECT * FROM ordered_increment('{1,3}');
TABLE "Trig's" ORDER BY id;
DROP TRIGGER "Touching" ON "Trig's";

-- A trigger that calls a verb on another table, within the batch of this one.
CREATE TABLE "Totals" (id integer PRIMARY KEY, "Sum" bigint NOT NULL DEFAULT 0);
INSERT INTO "Totals" VALUES (1), (2);
CREATE FUNCTION "Count Total"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM ordered_increment(NULL::"Totals", ARRAY[2, 1], 'Sum', NEW."N" - OLD."N");
    RETURN NULL;
END $$;
CREATE TRIGGER "Totalling" AFTER UPDATE ON "Trig's" FOR EACH ROW EXECUTE FUNCTION "Count Total"();
SELECT * FROM ordered_increment(NULL::"Trig's", '{3,2,1}'::integer[], 'N', 7);
TABLE "Totals" ORDER BY id;

-- An error in there is the batch's error, with both contexts. (error)
DELETE FROM "Totals" WHERE id = 1;
SELECT error_of('SELECT * FROM ordered_increment(''{1}'')');
TABLE "Trig's" ORDER BY id;

-- A deferred constraint trigger fires at the end, as for plain SQL.
CREATE CONSTRAINT TRIGGER "Late" AFTER UPDATE ON "Trig's" DEFERRABLE INITIALLY DEFERRED
    FOR EACH ROW EXECUTE FUNCTION "Tell Row"();
DROP TRIGGER "Totalling" ON "Trig's";
BEGIN;
SELECT * FROM ordered_increment('{2}');
COMMIT;

RESET ordered_update.default_table;
RESET ordered_update.default_counter;
DROP TABLE "Trig's", "Totals";
DROP FUNCTION "Skip Two"(), "Take Note"(), "Empty It"(), "Tell Row"(), "Tell Statement"(),
              "Touch Next"(), "Count Total"();
