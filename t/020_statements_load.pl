# Claim: 32 clients that run five kinds of unordered batch at once, and delete
# and insert rows besides, on a plain, a partitioned and a foreign-keyed table,
# see no deadlock and no other error while ordered_update.order_statements is
# on, and every increment is in the tables afterwards.  The setting comes from
# the role; the statements are those of a client that knows nothing of it.
#
# Control: the same scripts under a role without the setting deadlock, and what
# they committed is in the tables.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/lib";

use DemoNode;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $clients = 32;
my $batch_size = 8;

# With a short deadlock_timeout nearly every wait is looked at.
my $node = start_demo_node('statements_load', <<"EOC");
max_connections = 50
deadlock_timeout = 10ms
lock_timeout = 60s
statement_timeout = 120s
EOC

# 61 is a prime: see random_batch().  The rows lie in the tables from the last
# to the first.
$node->safe_psql('postgres', <<"EOS");
CREATE ROLE regress_unordered LOGIN;
CREATE ROLE regress_ordered LOGIN;
ALTER ROLE regress_ordered SET session_preload_libraries = 'ordered_update';
ALTER ROLE regress_ordered SET ordered_update.order_statements = on;

CREATE TABLE "Plain" (id integer PRIMARY KEY, "N" integer NOT NULL);
CREATE TABLE "Split" ("N" integer NOT NULL, id integer PRIMARY KEY)
	PARTITION BY HASH (id);
CREATE TABLE "Split 1" PARTITION OF "Split" FOR VALUES WITH (MODULUS 3, REMAINDER 0);
CREATE TABLE "Split 2" PARTITION OF "Split" FOR VALUES WITH (MODULUS 3, REMAINDER 1);
CREATE TABLE "Split 3" PARTITION OF "Split" FOR VALUES WITH (MODULUS 3, REMAINDER 2);
CREATE TABLE "Parents" (id integer PRIMARY KEY, "N" integer NOT NULL DEFAULT 0);
CREATE TABLE "Children" (id integer PRIMARY KEY, "N" integer NOT NULL,
	parent integer NOT NULL DEFAULT 1 REFERENCES "Parents");
CREATE TABLE "Refilled" (id integer PRIMARY KEY);

INSERT INTO "Parents" SELECT generate_series(7, 1, -1);
INSERT INTO "Plain" (id, "N") SELECT generate_series(61, 1, -1), 0;
INSERT INTO "Split" (id, "N") SELECT generate_series(61, 1, -1), 0;
INSERT INTO "Children" (id, "N") SELECT generate_series(61, 1, -1), 0;
INSERT INTO "Refilled" (id) SELECT generate_series(61, 1, -1);

-- What was committed, written by the transaction itself.
CREATE TABLE "Committed" (name text, increments integer);
GRANT ALL ON ALL TABLES IN SCHEMA public TO regress_ordered, regress_unordered;
EOS

# Put a statement on a random batch into a transaction that accounts for it.
# {list} and {values} in it become the ids of the batch: $batch_size different
# ones out of 1 .. 61, in an order that differs from batch to batch.
sub random_batch
{
	my ($name, $increments, $statements) = @_;
	my @ids =
	  map { "(:start::integer + :stride::integer * $_) % 61 + 1" }
	  (0 .. $batch_size - 1);
	my $list = join(', ', @ids);
	my $values = join(', ', map { "($_)" } @ids);

	$statements =~ s/\{list\}/$list/g;
	$statements =~ s/\{values\}/$values/g;
	return <<"EOS";
\\set start random(0, 60)
\\set stride random(1, 60)
BEGIN;
$statements
INSERT INTO "Committed" VALUES ('$name', $increments);
COMMIT;
EOS
}

my %scripts;

sub add_script
{
	my ($name, $increments, $statements) = @_;
	$scripts{$name} = random_batch($name, $increments, $statements);
	return;
}

# What else an increment sets in a table: a child moves to another parent, which
# the foreign key locks.
my %also_set = (
	Plain => '',
	Split => '',
	Children => ', parent = t.parent % 7 + 1');

# A MERGE that could insert rows; version 16 leaves such a one alone.
my $not_matched =
  $node->pg_version->major == 16
  ? ''
  : 'WHEN NOT MATCHED THEN INSERT (id, "N") VALUES (v.id, 0)';

foreach my $table (sort keys %also_set)
{
	my $set = qq{SET "N" = t."N" + 1$also_set{$table}};

	add_script("$table by VALUES", $batch_size, <<"EOS");
UPDATE "$table" AS t $set FROM (VALUES {values}) AS v(id) WHERE t.id = v.id;
EOS
	add_script("$table by bitmap", $batch_size, <<"EOS");
SET LOCAL enable_indexscan = off;
SET LOCAL enable_seqscan = off;
UPDATE "$table" AS t $set WHERE t.id IN ({list});
EOS
	add_script("$table by MERGE", $batch_size, <<"EOS");
MERGE INTO "$table" AS t USING (VALUES {values}) AS v(id) ON t.id = v.id
	WHEN MATCHED THEN UPDATE SET "N" = t."N" + 1
	$not_matched;
EOS
	add_script("$table by upsert", $batch_size, <<"EOS");
INSERT INTO "$table" AS t (id, "N")
	SELECT id, 1 FROM (VALUES {values}) AS v(id)
	ON CONFLICT (id) DO UPDATE SET "N" = t."N" + EXCLUDED."N";
EOS
	# The second statement finds all of its rows locked.
	add_script("$table by lock", $batch_size, <<"EOS");
SELECT FROM "$table" AS t JOIN (VALUES {values}) AS v(id) USING (id) FOR UPDATE OF t;
UPDATE "$table" AS t $set FROM (VALUES {values}) AS v(id) WHERE t.id = v.id;
EOS
}

# The foreign key's own table, and rows that come and go.
add_script('Parents', 0,
	'UPDATE "Parents" AS t SET "N" = t."N" + 1 FROM (VALUES {values}) AS v(id) WHERE t.id = v.id;'
);
add_script('delete', 0, 'DELETE FROM "Refilled" WHERE id IN ({list});');
add_script('refill', 0,
	'INSERT INTO "Refilled" (id) VALUES {values} ON CONFLICT DO NOTHING;');

# The scripts under the names of files, which differ from run to run.
sub name_files
{
	my ($run) = @_;
	my %files;

	foreach my $name (keys %scripts)
	{
		my $file = lc "${run}_$name";
		$file =~ s/ /_/g;
		$files{$file} = $scripts{$name};
	}
	return \%files;
}

# Run all scripts as the given role.  Returns the number of deadlocks, which
# must be the only errors.
sub run_load
{
	my ($run, $role, $options, @expected) = @_;
	my $log_start = -s $node->logfile;

	$node->safe_psql('postgres', <<'EOS');
SELECT pg_stat_reset();
TRUNCATE "Committed";
UPDATE "Plain" SET "N" = 0;
UPDATE "Split" SET "N" = 0;
UPDATE "Children" SET "N" = 0;
EOS
	{
		local $ENV{PGAPPNAME} = 'load';
		local $ENV{PGUSER} = $role;
		$node->pgbench("--no-vacuum --client=$clients --jobs=2 $options",
			0, \@expected, [qr{^}], $run, name_files($run));
	}

	# A session hands in its statistics when it ends.
	$node->poll_query_until('postgres',
		"SELECT count(*) = 0 FROM pg_stat_activity WHERE application_name = 'load'"
	) or die 'the sessions of the load did not end';

	my $log = substr(slurp_file($node->logfile), $log_start);
	my $logged = () = $log =~ /ERROR:  deadlock detected/g;
	my $errors = () = $log =~ /(?:ERROR|FATAL|PANIC):  /g;

	is($errors, $logged, "$run: no error but deadlocks");
	is( $node->safe_psql(
			'postgres',
			"SELECT deadlocks FROM pg_stat_database WHERE datname = 'postgres'"),
		$logged,
		"$run: the statistics and the log agree");
	return $logged;
}

sub check_increments
{
	my ($name) = @_;

	foreach my $table (sort keys %also_set)
	{
		my ($found, $expected) = split /\|/,
		  $node->safe_psql('postgres', <<"EOS");
SELECT (SELECT sum("N") FROM "$table"),
       (SELECT sum(increments) FROM "Committed" WHERE name LIKE '$table %')
EOS
		is($found, $expected, "$name: every increment of \"$table\" counts");
		cmp_ok($found, '>', 0, "$name: there are some");
	}
	is( $node->safe_psql(
			'postgres', 'SELECT count(DISTINCT name) FROM "Committed"'),
		scalar(keys %scripts),
		"$name: every kind of batch has been committed");
	return;
}

# The promise.
foreach my $protocol (qw(simple prepared))
{
	my $run = "ordered_$protocol";
	my $deadlocks = run_load(
		$run, 'regress_ordered',
		"--time=8 --protocol=$protocol",
		qr{number of failed transactions: 0 });

	is($deadlocks, 0, "$run: no deadlock");
	check_increments($run);
}

# The control.
my $deadlocks = run_load('unordered', 'regress_unordered', '--time=6',
	qr{number of failed transactions: [1-9]});
note("$deadlocks deadlocks");
cmp_ok($deadlocks, '>', 10, 'the same batches without order deadlock');
check_increments('unordered');

$node->stop;
done_testing();
