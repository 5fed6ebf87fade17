-- A key of an extension's type, with operators outside pg_catalog, is ordered
-- and matched as its own operator class says.
\pset format unaligned
\pset footer off
CREATE SCHEMA "Ext's";
CREATE EXTENSION citext SCHEMA "Ext's";
CREATE TABLE "Mail's" (addr "Ext's".citext PRIMARY KEY, "N" integer NOT NULL DEFAULT 0);
INSERT INTO "Mail's" VALUES ('Bob@x'), ('alice@x'), ('Carol@x');

-- Values, strings, an untyped literal, records and rows; the extension's schema
-- is not on the search_path.
SELECT * FROM ordered_increment(NULL::"Mail's", '{BOB@x,bob@X,ALICE@x}'::"Ext's".citext[], 'N');
SELECT * FROM ordered_increment(NULL::"Mail's", '{BOB@x,bob@X,ALICE@x}'::text[], 'N');
SELECT * FROM ordered_increment(NULL::"Mail's", '{BOB@x,bob@X,ALICE@x}', 'N');
SELECT * FROM ordered_increment(NULL::"Mail's", ARRAY[ROW('BOB@x'::text),ROW('bob@x'::"Ext's".citext),ROW('ALICE@x'::varchar)], 'N');
SELECT * FROM ordered_lock(NULL::"Mail's", ARRAY[ROW('carol@x',0),ROW('BOB@x',0)]::"Mail's"[]);
SELECT error_of($$ SELECT * FROM ordered_lock(NULL::"Mail's", '{DAVE@x,dave@x,bob@x}'::text[]) $$);  -- (error)
SELECT * FROM ordered_delete(NULL::"Mail's", '{CAROL@X,alice@x}'::text[]);
TABLE "Mail's" ORDER BY addr;

-- As one column of several.
CREATE TABLE "Mail's Tags" (tag "Ext's".citext, "N" integer NOT NULL DEFAULT 0, id smallint, PRIMARY KEY (id, tag));
INSERT INTO "Mail's Tags" VALUES ('b', 0, 1), ('A', 0, 1), ('a', 0, 2);
SELECT * FROM ordered_increment(NULL::"Mail's Tags", ARRAY[(2,'A'::text),(1,'B'::text),(1,'a'::text),(1,'b'::text)], 'N');

DROP TABLE "Mail's", "Mail's Tags";
DROP EXTENSION citext;
DROP SCHEMA "Ext's";
