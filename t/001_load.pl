# Claim: 32 clients that run 60,000 random, overlapping batches through
# ordered_increment() see no deadlock and no other error, every call returns
# its rows in id order, and every increment is in the table afterwards.
#
# Control: the same batches, one UPDATE per row in the random order of the
# batch, deadlock.

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
my $table = '"Load ""Test"" Schema"."Odd Articles"';

# With a short deadlock_timeout nearly every wait is looked at, not only the
# long ones: a cycle cannot pass unseen by being resolved first.
my $node = start_demo_node('load', <<"EOC");
max_connections = 50
deadlock_timeout = 10ms
lock_timeout = 60s
statement_timeout = 120s
ordered_update.default_table = '$table'
ordered_update.default_counter = 'Revision "n"'
EOC

# 97 is a prime: the start and the stride below give $batch_size different ids
# out of 1 .. 97, in an order that differs from batch to batch.
$node->safe_psql('postgres', <<"EOS");
CREATE SCHEMA "Load ""Test"" Schema";
CREATE TABLE $table (
	"Title" text NOT NULL DEFAULT 'untitled',
	"Id" integer PRIMARY KEY,
	"Revision ""n""" integer NOT NULL DEFAULT 0);
INSERT INTO $table ("Id") SELECT generate_series(1, 97);
EOS

my $random_batch = <<'EOS';
\set start random(0, 96)
\set stride random(1, 96)
EOS

# Element $i of the batch.
sub batch_element
{
	my ($i) = @_;
	return "(:start::integer + :stride::integer * $i) % 97 + 1";
}

# The first id is named twice: it must count once.  The division fails unless
# the rows come back complete and in id order.
my $ordered =
	$random_batch
  . "SELECT 1 / (cardinality(ids) = $batch_size AND ids = ARRAY(SELECT unnest(ids) ORDER BY 1))::integer\n"
  . 'FROM (SELECT ARRAY(SELECT id FROM ordered_increment(ARRAY['
  . join(', ', map { batch_element($_) } (0 .. $batch_size - 1, 0))
  . "])) AS ids OFFSET 0) AS batch;\n";

my $unordered = join(
	"\n",
	$random_batch . 'BEGIN;',
	(   map {
			qq{UPDATE $table SET "Revision ""n""" = "Revision ""n""" + 1 WHERE "Id" = }
			  . batch_element($_) . ';'
		} (0 .. $batch_size - 1)),
	"COMMIT;\n");

# Run a script and return the number of transactions that failed with a
# deadlock, according to the server: once by its statistics, once by its log.
sub run_load
{
	my ($name, $options, $script, @expected) = @_;
	my $log_start = -s $node->logfile;

	$node->safe_psql('postgres', 'SELECT pg_stat_reset()');
	{
		local $ENV{PGAPPNAME} = 'load';
		$node->pgbench("--no-vacuum --client=$clients --jobs=2 $options",
			0, \@expected, [qr{^}], $name, { $name => $script });
	}

	# A session hands in its statistics when it ends, which may be a moment
	# after its client has gone.
	$node->poll_query_until('postgres',
		"SELECT count(*) = 0 FROM pg_stat_activity WHERE application_name = 'load'"
	) or die 'the sessions of the load did not end';

	my $log = substr(slurp_file($node->logfile), $log_start);
	my $logged = () = $log =~ /ERROR:  deadlock detected/g;
	my $errors = () = $log =~ /(?:ERROR|FATAL|PANIC):  /g;
	my $counted = $node->safe_psql('postgres',
		"SELECT deadlocks FROM pg_stat_database WHERE datname = 'postgres'");

	is($counted, $logged, "$name: the statistics and the log agree");
	is($errors, $logged, "$name: no error but deadlocks");
	return $counted;
}

sub sum_of_revisions
{
	return $node->safe_psql('postgres',
		qq{SELECT sum("Revision ""n""") FROM $table});
}

# The promise.
my $expected = 0;
foreach my $mode (qw(simple extended prepared))
{
	my $transactions = 625;
	my $total = $clients * $transactions;

	my $deadlocks = run_load(
		"ordered_$mode",
		"--protocol=$mode --transactions=$transactions",
		$ordered,
		qr{number of transactions actually processed: $total/$total\b},
		qr{number of failed transactions: 0 });
	is($deadlocks, 0, "$mode protocol: no deadlock");

	$expected += $total * $batch_size;
	is(sum_of_revisions(), $expected,
		"$mode protocol: every increment counts");
}

# The control.
my $transactions = 25;
my $deadlocks = run_load(
	'unordered', "--transactions=$transactions",
	$unordered, qr{number of failed transactions: [1-9]});
cmp_ok($deadlocks, '>', 0, 'the same batches without order deadlock');
is( sum_of_revisions(),
	$expected + ($clients * $transactions - $deadlocks) * $batch_size,
	'and only the batches that did not are in the table');

$node->stop;
done_testing();
