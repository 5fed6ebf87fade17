-- Every verb finds, orders and reports the rows of a table with any type of
-- primary key exactly as plain SQL does.
\pset format unaligned
\pset footer off
SET timezone = 'UTC';
CREATE TYPE "Mood's" AS ENUM ('so so', 'Bad', 'good ''n'' "new"');
CREATE DOMAIN "Id's" AS integer CHECK (VALUE > -100);
CREATE DOMAIN "Id's Id" AS "Id's";
CREATE DOMAIN "Word's" AS text COLLATE "C";
CREATE DOMAIN "Price's" AS numeric(6,2);
CREATE TYPE "Floats" AS RANGE (subtype = float8);
CREATE COLLATION "Any Case" (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
CREATE COLLATION "Upper First" (provider = icu, locale = 'und-u-kf-upper');

-- What is tested: a type, the values in the table, the values asked for (some
-- twice, some in another writing, in no order), and a value that is not there.
CREATE TABLE cases (n integer GENERATED ALWAYS AS IDENTITY, type text, stored text[], wanted text[], absent text);
INSERT INTO cases (type, stored, wanted, absent) VALUES
('smallint', '{3,-1,32767,0,7}', '{7,-1,7,32767}', '8'),
('integer', '{3,-1,2147483647,0,7}', '{7,-1,7,2147483647}', '8'),
('bigint', '{3,-1,9223372036854775807,0,7}', '{7,-1,7,9223372036854775807}', '8'),
('numeric', '{3,-1.50,1e30,0,7.1,NaN,Infinity}', '{7.10,NaN,-1.5,7.1,Infinity,1000000000000000000000000000000}', '8'),
('numeric(6,2)', '{3,-1.5,10,0}', '{10,-1.500,10.0,3.00}', '1.505'),
('real', '{3,-1.5,1e10,0,NaN,Infinity}', '{NaN,-0,1e10,0,-1.5}', '8'),
('double precision', '{3,-1.5,1e100,0,NaN,-Infinity}', '{NaN,-0,1e100,0,-Infinity}', '8'),
('text COLLATE "C"', '{b,B,a,A,"",ä,"a b","it''s","\"q\""}', '{b,a,B,ä,b,"","\"q\"","it''s"}', 'c'),
('text COLLATE "und-x-icu"', '{b,B,a,A,"",ä,"a b",ab}', '{b,a,B,ä,b,"a b",ab}', 'c'),
('text COLLATE "Upper First"', '{b,B,a,A,"",ä}', '{b,a,B,A,b,ä}', 'c'),
('text COLLATE "Any Case"', '{b,a,Ä,"",C}', '{B,A,ä,b,a}', 'd'),
('text', '{b,B,a,A,"",_x,x_}', '{b,a,B,_x,x_}', 'c'),
('varchar', '{b,B,a,"a "}', '{b,"a ",a,b}', 'c'),
('varchar(3)', '{abc,B,a}', '{a,abc,a}', 'abcd'),
('char(4)', '{b,abcd,"","a b"}', '{"b  ",abcd,b," ","a b"}', 'c'),
('char(4) COLLATE "und-x-icu"', '{b,B,a,A}', '{"b  ",B,b,a}', 'c'),
('"char"', '{b,B,a}', '{b,a,b}', 'c'),
('name', '{b,B,a}', '{b,B,a,b}', 'c'),
('uuid', '{b0000000-0000-0000-0000-000000000001,a0000000-0000-0000-0000-000000000002,00000000-0000-0000-0000-000000000003}',
         '{B0000000-0000-0000-0000-000000000001,00000000000000000000000000000003,b0000000-0000-0000-0000-000000000001}',
         'c0000000-0000-0000-0000-000000000001'),
('timestamptz', '{2000-01-01 00:00+00,2000-01-01 12:00+00,infinity,1999-01-01 00:00+00}',
                '{2000-01-01 02:00+02,infinity,2000-01-01 00:00+00,1999-01-01 00:00+00}', '2000-01-02 00:00+00'),
('timestamp', '{2000-01-01 00:00,2000-01-01 12:00,-infinity}', '{2000-01-01 12:00:00.0,-infinity}', '2000-01-02 00:00'),
('date', '{2000-01-01,1999-12-31,2000-01-02}', '{2000-01-02,1999-12-31,20000102}', '2000-01-03'),
('time', '{12:00,00:00,24:00}', '{24:00,00:00,12:00:00}', '13:00'),
('timetz', '{12:00+00,12:00+01,00:00+00}', '{12:00+01,12:00+00}', '13:00+00'),
('interval', '{1 day,2 hours,1 mon}', '{24:00:00,30 days,1 day}', '3 days'),
('bytea', '{"\\x00ff","\\x00","\\x","\\xff"}', '{"\\xff","\\x","\\x00FF","\\xff"}', '\x01'),
('inet', '{10.0.0.1,10.0.0.0/8,::1,9.0.0.1}', '{::1,10.0.0.1/32,10.0.0.0/8,10.0.0.1}', '1.1.1.1'),
('cidr', '{10.0.0.0/16,10.0.0.0/8,9.0.0.0/8}', '{10.0.0.0/16,9.0.0.0/8,9/8}', '1.0.0.0/8'),
('macaddr', '{08:00:2b:01:02:03,00:00:00:00:00:01}', '{08002b:010203,00:00:00:00:00:01,08-00-2b-01-02-03}', '00:00:00:00:00:02'),
('boolean', '{true,false}', '{true,f,t}', NULL),
('bit(3)', '{101,001}', '{101,001,101}', '111'),
('varbit', '{101,1,0010}', '{101,0010,101}', '111'),
('oid', '{3000000000,1,2}', '{3000000000,1}', '7'),
('pg_lsn', '{1/0,0/1,FF/FF}', '{ff/ff,0/1}', '2/2'),
('jsonb', '{"{\"a\": 1, \"b\": 2}","[1]","\"x\"","1"}', '{"{\"b\": 2, \"a\": 1}","1","[1]"}', '2'),
('"Mood''s"', '{Bad,"good ''n'' \"new\"","so so"}', '{"good ''n'' \"new\"","so so",Bad,Bad}', NULL),
('"Id''s"', '{3,-1,10,0,7}', '{7,10,7,-1}', '8'),
('"Id''s Id"', '{3,-1,10,0,7}', '{7,10,7,-1}', '8'),
('"Word''s"', '{b,B,a,A}', '{b,B,a,b}', 'c'),
('"Price''s"', '{3,-1.5,10,0}', '{10,-1.50,10.0,3.00}', '8'),
('int4range', '{"[1,5)","[1,4)",empty,"(,3)"}', '{"[1,4]","(,2]","[1,3]",empty}', '[7,8)'),
('tstzrange', '{"[2000-01-01 00:00+00,2001-01-01 00:00+00)","[1999-01-01 00:00+00,)"}',
              '{"[1999-01-01 01:00+01,)","[2000-01-01 00:00+00,2001-01-01 00:00+00)"}', '[2002-01-01 00:00+00,)'),
('"Floats"', '{"[1,5)","[1,4)",empty}', '{"[1,5)","[1.0,4.0)","[1,5)"}', '[7,8)'),
('int4multirange', '{"{[1,5)}","{[1,2),[4,5)}","{}"}', '{"{[1,2],[3,4]}","{}","{[4,5),[1,2)}"}', '{[7,8)}');

-- One case: a table, the verbs, and what plain SQL says.  Every verb gets the
-- keys in each of the four forms.
CREATE FUNCTION run_case(c cases) RETURNS TABLE (failed text) LANGUAGE plpgsql AS $$
DECLARE
    -- Without a length, which would cut the values asked for, and a collation.
    bare text := CASE WHEN c.type LIKE 'char(%' THEN 'bpchar' WHEN c.type LIKE 'bit(%' THEN c.type
                      ELSE regexp_replace(c.type, '\(.*\)| COLLATE .*', '', 'g') END;
    form text;
    asked text;
    want text[];
    got text[];
    absent_error text;
    absent_report text;
BEGIN
    FOREACH form IN ARRAY ARRAY['values', 'strings', 'records', 'rows'] LOOP
        asked := CASE form
            WHEN 'values' THEN format('%L::%s[]', c.wanted, bare)
            WHEN 'strings' THEN format('%L::text[]', c.wanted)
            WHEN 'records' THEN format('ARRAY(SELECT ROW(k::%s) FROM unnest(%L::text[]) k)', bare, c.wanted)
            WHEN 'rows' THEN format('ARRAY(SELECT ROW(NULL, k::%s, NULL)::"Case''s" FROM unnest(%L::text[]) k)', bare, c.wanted)
        END;
        EXECUTE format('CREATE TABLE "Case''s" ("Other" text, "The Key" %s PRIMARY KEY, "N" integer NOT NULL DEFAULT 0)', c.type);
        EXECUTE format('INSERT INTO "Case''s" ("Other", "The Key") SELECT k, k::%s FROM unnest(%L::text[]) k', bare, c.stored);
        EXECUTE format('SELECT array_agg("Other" ORDER BY "The Key") FROM "Case''s" WHERE "The Key" = ANY (%L::%s[])', c.wanted, bare) INTO want;
        IF cardinality(want) < 2 THEN
            failed := form || ': the case is too small'; RETURN NEXT;
        END IF;

        EXECUTE format('SELECT array_agg("Other" ORDER BY o) FROM ordered_lock(NULL::"Case''s", %s) WITH ORDINALITY AS r("Other", "The Key", "N", o)', asked) INTO got;
        IF got IS DISTINCT FROM want THEN
            failed := format('%s: locked %s, not %s', form, got, want); RETURN NEXT;
        END IF;
        EXECUTE format('SELECT array_agg("Other" ORDER BY o) FROM ordered_increment(NULL::"Case''s", %s, ''N'', 3) WITH ORDINALITY AS r("Other", "The Key", "N", o) WHERE "N" = 3', asked) INTO got;
        IF got IS DISTINCT FROM want THEN
            failed := format('%s: incremented %s, not %s', form, got, want); RETURN NEXT;
        END IF;
        SELECT array_agg("Other" ORDER BY "The Key") FROM "Case's" WHERE "N" = 3 INTO got;
        IF got IS DISTINCT FROM want THEN
            failed := format('%s: stored %s, not %s', form, got, want); RETURN NEXT;
        END IF;
        IF c.absent IS NOT NULL THEN
            absent_error := NULL;
            EXECUTE format('SELECT format(''The missing key is (The Key)=(%%s).'', %L::%s)', c.absent, bare) INTO absent_report;
            BEGIN
                EXECUTE format('SELECT count(*) FROM ordered_lock(NULL::"Case''s", ARRAY[%L::%s])', c.absent, bare);
            EXCEPTION WHEN no_data_found THEN
                GET STACKED DIAGNOSTICS absent_error = PG_EXCEPTION_DETAIL;
            END;
            IF absent_error IS DISTINCT FROM absent_report THEN
                failed := format('%s: missing key reported as %s', form, coalesce(absent_error, 'present')); RETURN NEXT;
            END IF;
        END IF;

        EXECUTE format('SELECT array_agg("Other" ORDER BY o) FROM ordered_delete(NULL::"Case''s", %s) WITH ORDINALITY AS r("Other", "The Key", "N", o)', asked) INTO got;
        IF got IS DISTINCT FROM want THEN
            failed := format('%s: deleted %s, not %s', form, got, want); RETURN NEXT;
        END IF;
        SELECT array_agg("Other" ORDER BY "Other" COLLATE "C") FROM unnest(c.stored) "Other" WHERE "Other" <> ALL (want) INTO want;
        SELECT array_agg("Other" ORDER BY "Other" COLLATE "C") FROM "Case's" INTO got;
        IF got IS DISTINCT FROM want THEN
            failed := format('%s: left %s, not %s', form, got, want); RETURN NEXT;
        END IF;

        DROP TABLE "Case's";
    END LOOP;
EXCEPTION WHEN OTHERS THEN
    failed := format('%s: %s: %s', form, SQLSTATE, SQLERRM);
    RETURN NEXT;
END $$;

-- Control: a wrong answer is noticed, here a value said to be absent that is not.
SELECT failed FROM run_case(ROW(0, 'integer', '{1,2}', '{2,1}', '1')::cases);

-- Every case, and what failed of it: nothing.
SELECT c.n, c.type, r.failed FROM cases c LEFT JOIN LATERAL run_case(c) r ON true ORDER BY c.n, r.failed COLLATE "C";

-- One nondeterministic key is one row, however it is written.
CREATE TABLE "Case's" (k text COLLATE "Any Case" PRIMARY KEY, "N" integer NOT NULL DEFAULT 0);
INSERT INTO "Case's" VALUES ('ab'), ('Cd');
SELECT * FROM ordered_increment(NULL::"Case's", '{AB,ab,aB,cd}'::text[], 'N');
SELECT error_of($$ SELECT * FROM ordered_lock(NULL::"Case's", '{xy,XY,Cd}'::text[]) $$);  -- (error)

-- A collation given to the keys is not that of the key: the key's counts.
SELECT * FROM ordered_lock(NULL::"Case's", ARRAY['CD' COLLATE "C", 'AB']);

DROP TABLE "Case's", cases CASCADE;
DROP COLLATION "Any Case", "Upper First";
DROP TYPE "Mood's", "Floats";
DROP DOMAIN "Id's Id", "Id's", "Word's", "Price's";
