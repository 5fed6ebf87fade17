-- A row that row security hides is reported as one that does not exist, and
-- nothing about it leaks; a policy that stops a change is an error, not a
-- smaller batch.
\pset format unaligned
\pset footer off
CREATE ROLE "regress_o'u Tenant";
CREATE TABLE "Tenant's Rows" (
    id integer PRIMARY KEY, "Owner" text NOT NULL, "Hits" integer NOT NULL DEFAULT 0);
INSERT INTO "Tenant's Rows" VALUES (1, 'a'), (2, 'b'), (3, 'a'), (4, 'read only'), (5, 'a'), (6, 'keep');
ALTER TABLE "Tenant's Rows" ENABLE ROW LEVEL SECURITY;
CREATE POLICY "See Mine" ON "Tenant's Rows" FOR SELECT USING ("Owner" <> 'b');
CREATE POLICY "Change Mine" ON "Tenant's Rows" FOR UPDATE USING ("Owner" <> 'read only') WITH CHECK ("Hits" < 3);
CREATE POLICY "Delete Mine" ON "Tenant's Rows" FOR DELETE USING ("Owner" <> 'keep');
GRANT SELECT, UPDATE, DELETE ON "Tenant's Rows" TO "regress_o'u Tenant";
SET ordered_update.default_table = '"Tenant''s Rows"';
SET ordered_update.default_counter = 'Hits';

SET ROLE "regress_o'u Tenant";
-- Control: plain SQL sees five rows, and FOR UPDATE four of them.
SELECT count(*) FROM "Tenant's Rows";
SELECT count(*) FROM (SELECT FROM "Tenant's Rows" FOR UPDATE) locked;

-- Rows that may be seen and changed.
SELECT * FROM ordered_increment('{3,1}');
SELECT * FROM ordered_lock(NULL::"Tenant's Rows", '{5,1}'::integer[]);

-- A hidden row and an absent one give the same report. (error)
SELECT error_of('SELECT * FROM ordered_increment(''{1,2}'')');
SELECT error_of('SELECT * FROM ordered_increment(''{1,7}'')');
SELECT error_of($$ SELECT * FROM ordered_delete(NULL::"Tenant's Rows", '{2}'::integer[]) $$);
SELECT error_of($$ SELECT * FROM ordered_lock(NULL::"Tenant's Rows", '{2}'::integer[]) $$);

-- missing_ok skips a hidden row.
SELECT * FROM ordered_increment(NULL::"Tenant's Rows", '{2,5,7}'::integer[], 'Hits', missing_ok => true);

-- A row that may be seen but not locked will not come by trying again: it is
-- P0002 and not 40001. (error)
SELECT error_of('SELECT * FROM ordered_increment(''{1,4}'')');
SELECT error_of($$ SELECT * FROM ordered_lock(NULL::"Tenant's Rows", '{4}'::integer[], 'share') $$);
SELECT * FROM ordered_lock(NULL::"Tenant's Rows", '{4,1}'::integer[], missing_ok => true);

-- A row that may be locked but not deleted: 27000, nothing is deleted. (error)
SELECT error_of($$ SELECT * FROM ordered_delete(NULL::"Tenant's Rows", '{5,6}'::integer[]) $$);

-- A change that the policy's check refuses is core's 42501. (error)
SELECT * FROM ordered_increment('{3,1}');
SELECT error_of('SELECT * FROM ordered_increment(''{5,1}'')');

-- row_security = off refuses rather than filters: core's 42501. (error)
SET row_security = off;
SELECT error_of('SELECT * FROM ordered_increment(''{1}'')');
RESET row_security;
RESET ROLE;

-- The owner is not subject to policies: the plans made under them are not used.
SELECT * FROM ordered_increment('{4,2,1}');

-- A policy made in the session counts from the next call on. (error)
CREATE POLICY "Not Three" ON "Tenant's Rows" AS RESTRICTIVE FOR SELECT USING (id <> 3);
SET ROLE "regress_o'u Tenant";
SELECT error_of($$ SELECT * FROM ordered_lock(NULL::"Tenant's Rows", '{3}'::integer[]) $$);
RESET ROLE;

TABLE "Tenant's Rows" ORDER BY id;
RESET ordered_update.default_table;
RESET ordered_update.default_counter;
DROP TABLE "Tenant's Rows";
DROP ROLE "regress_o'u Tenant";
