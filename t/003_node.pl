# Claim: the node-postgres example works as it is, in both of its variants: two
# overlapping batches at the same time end with revisions 1, 2, 2; a deadlock
# (40P01) and a serialization failure (40001) are tried again, three attempts at
# most; any other error is reported at once, and a lost connection does not end
# the program.
#
# Controls: each of these errors is caused on purpose, and the attempts are
# counted by the server.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/lib";

use DemoNode;
use IPC::Run;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $timeout = $PostgreSQL::Test::Utils::timeout_default;
my $program = example_path('node-postgres/main.js');

# Look for pg where the program looks for it: beside it, where npm puts it, and
# then where Debian's package node-pg puts it.
sub find_pg
{
	my $resolve =
	  'require.resolve("pg", { paths: [process.argv[1]].concat(module.paths) })';

	foreach my $path ($ENV{NODE_PATH}, '/usr/share/nodejs')
	{
		next if !defined $path;
		local $ENV{NODE_PATH} = $path;
		return $path
		  if eval {
			run_log([ 'node', '-e', $resolve, example_path('node-postgres') ]);
		  };
	}
	return;
}

$ENV{NODE_PATH} = '' if !defined $ENV{NODE_PATH};
my $node_path = find_pg();
if (!defined $node_path)
{
	my $reason =
	  'needs node and its package pg: run npm ci in examples/node-postgres';

	plan skip_all => $reason
	  if !$ENV{CI} && !$ENV{ORDERED_UPDATE_REQUIRE_NODE};
	fail($reason);
	done_testing();
	exit;
}
$ENV{NODE_PATH} = $node_path;

# Retry and clients, without a server.
my ($unit_stdout, $unit_stderr);
my $unit_result = run_log(
	[ 'node', example_path('node-postgres/test/batch.test.js') ],
	'>' => \$unit_stdout,
	'2>' => \$unit_stderr);
note($unit_stdout, $unit_stderr);
ok($unit_result, 'node test/batch.test.js passes');
like($unit_stdout, qr/^1\.\.[1-9]/m, 'and has run to its end');

# What would hang ends with an error.
my $node =
  start_demo_node('node', "lock_timeout = 60s\nstatement_timeout = 90s\n");
# Counts attempts: a sequence is not rolled back.
$node->safe_psql('postgres', 'CREATE SEQUENCE attempts');

sub fresh_table
{
	$node->safe_psql('postgres', <<'EOS');
DROP TRIGGER IF EXISTS fail ON deadlock_demo_articles;
UPDATE deadlock_demo_articles SET revision = 0;
ALTER SEQUENCE attempts RESTART;
EOS
	return;
}

# Make every change of the table fail with the given SQLSTATE.
sub fail_with
{
	my ($sqlstate) = @_;

	fresh_table();
	$node->safe_psql('postgres', <<"EOS");
CREATE OR REPLACE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS \$\$
BEGIN
	PERFORM nextval('attempts');
	RAISE EXCEPTION 'failed on purpose' USING ERRCODE = '$sqlstate';
END \$\$;
CREATE TRIGGER fail BEFORE UPDATE ON deadlock_demo_articles
	FOR EACH STATEMENT EXECUTE FUNCTION fail();
EOS
	return;
}

# Start the program with the given settings of its sessions.  Returns a client
# for finish_client().
sub start_program
{
	my ($settings, @arguments) = @_;
	my %client = (stdout => '', stderr => '');
	local $ENV{PGHOST} = $node->host;
	local $ENV{PGPORT} = $node->port;
	local $ENV{PGDATABASE} = 'postgres';
	# pg takes the user from USER, which need not be who we are.
	local $ENV{PGUSER} = getpwuid($>);
	local $ENV{PGAPPNAME} = 'program';
	local $ENV{PGOPTIONS} = $settings;

	$client{run} = IPC::Run::start(
		[ 'node', $program, @arguments ],
		'<' => \undef,
		'>' => \$client{stdout},
		'2>' => \$client{stderr},
		IPC::Run::timeout($timeout));
	return \%client;
}

sub run_program
{
	return finish_client(start_program('', @_));
}

sub table_with
{
	my @revisions = @_;
	return
		"id | title | revision\n"
	  . "1 | Paper Shapes | $revisions[0]\n"
	  . "2 | Color Notes | $revisions[1]\n"
	  . "3 | Desk Sketches | $revisions[2]\n";
}

# Two batches at the same time.
sub test_overlapping_batches
{
	my ($variant) = @_;

	fresh_table();
	my ($status, $stdout, $stderr) = run_program($variant);
	is($status, 0, "$variant: exit status");
	is( $stdout,
		"batch {3,1,2}: committed, 3 rows\nbatch {3,2}: committed, 2 rows\n"
		  . table_with(1, 2, 2),
		"$variant: both batches are in the table");
	is($stderr, '', "$variant: at the first attempt");
	return;
}

# The program holds row 1 and waits for row 2; another session, which is
# patient, holds row 3 and waits for row 1.  When the program gets row 2 and
# goes on to row 3, the circle closes, and the program is the one to notice.
sub test_deadlock
{
	my ($variant) = @_;

	fresh_table();
	my $gate = $node->background_psql('postgres');
	$gate->query_safe('BEGIN');
	$gate->query_safe(
		'SELECT FROM deadlock_demo_articles WHERE id = 2 FOR UPDATE');

	my $opponent = $node->background_psql('postgres');
	$opponent->query_safe("SET deadlock_timeout = '10min'");
	$opponent->query_safe('BEGIN');
	$opponent->query_safe(
		'SELECT FROM deadlock_demo_articles WHERE id = 3 FOR UPDATE');
	$opponent->query_safe("SET application_name = 'opponent'");

	my $client = start_program('-c deadlock_timeout=10ms', $variant, '3,1,2');
	wait_for_lock_wait($node, 'program');
	$opponent->query_until(qr/asking/,
			"\\echo asking\n"
		  . "SELECT FROM deadlock_demo_articles WHERE id = 1 FOR UPDATE;\n"
		  . "ROLLBACK;\n");
	wait_for_lock_wait($node, 'opponent');
	$gate->query_safe('ROLLBACK');

	my ($status, $stdout, $stderr) = finish_client($client);
	$opponent->quit;
	$gate->quit;
	is($status, 0, "$variant, deadlock: exit status");
	like(
		$stderr,
		qr/^batch \{3,1,2\}: attempt 1 failed with 40P01, next in \d+ ms$/m,
		"$variant, deadlock: the first attempt was the victim");
	is( $stdout,
		"batch {3,1,2}: committed, 3 rows\n" . table_with(1, 1, 1),
		"$variant, deadlock: a later one counts once");
	return;
}

# Under REPEATABLE READ the program waits for a row that another session then
# commits a change of.
sub test_serialization_failure
{
	my ($variant) = @_;

	fresh_table();
	my $other = $node->background_psql('postgres');
	$other->query_safe('BEGIN');
	$other->query_safe(
		'UPDATE deadlock_demo_articles SET revision = revision + 10 WHERE id = 1'
	);

	my $client =
	  start_program('-c default_transaction_isolation=repeatable\ read',
		$variant, '3,1,2');
	wait_for_lock_wait($node, 'program');
	$other->query_safe('COMMIT');
	$other->quit;

	my ($status, $stdout, $stderr) = finish_client($client);
	is($status, 0, "$variant, serialization failure: exit status");
	like(
		$stderr,
		qr/^batch \{3,1,2\}: attempt 1 failed with 40001, next in \d+ ms\n\z/,
		"$variant, serialization failure: one attempt failed");
	is( $stdout,
		"batch {3,1,2}: committed, 3 rows\n" . table_with(11, 1, 1),
		"$variant, serialization failure: no change is lost");
	return;
}

# Errors that come back every time: how often does the program try?
sub test_attempts
{
	my ($variant, $sqlstate, $attempts) = @_;

	fail_with($sqlstate);
	my ($status, $stdout, $stderr) = run_program($variant, '2,1');
	is($status, 1, "$variant, $sqlstate: exit status");
	like(
		$stdout,
		qr/^batch \{2,1\}: failed, $sqlstate: failed on purpose\n\Q@{[ table_with(0, 0, 0) ]}\E\z/,
		"$variant, $sqlstate: the batch failed, and nothing changed");
	is($node->safe_psql('postgres', 'SELECT last_value FROM attempts'),
		$attempts, "$variant, $sqlstate: attempts");
	is( scalar(() = $stderr =~ /failed with $sqlstate, next in/g),
		$attempts - 1,
		"$variant, $sqlstate: retries");
	fresh_table();
	return;
}

# The connection is lost while the batch waits.  The table is printed over
# another one.
sub test_lost_connection
{
	my ($variant) = @_;

	fresh_table();
	my $holder = $node->background_psql('postgres');
	$holder->query_safe('BEGIN');
	$holder->query_safe(
		'SELECT FROM deadlock_demo_articles WHERE id = 2 FOR UPDATE');

	my $client = start_program('', $variant, '3,1,2');
	wait_for_lock_wait($node, 'program');
	$node->safe_psql('postgres',
		"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'program'"
	);

	my ($status, $stdout, $stderr) = finish_client($client);
	$holder->quit;
	is($status, 1, "$variant, lost connection: exit status");
	like(
		$stdout,
		qr/^batch \{3,1,2\}: failed, 57P01: .*\n\Q@{[ table_with(0, 0, 0) ]}\E\z/,
		"$variant, lost connection: reported once, and the pool goes on");
	return;
}

# A batch with a missing row fails as a whole; the one beside it does not.
sub test_missing_row
{
	my ($variant) = @_;

	fresh_table();
	my ($status, $stdout, $stderr) = run_program($variant, '1,99', '1,2');
	is($status, 1, "$variant, missing row: exit status");
	like(
		$stdout,
		qr/^batch \{1,99\}: failed, P0002: .*\nbatch \{1,2\}: committed, 2 rows\n\Q@{[ table_with(1, 1, 0) ]}\E\z/,
		"$variant, missing row: that batch fails as a whole, the other does not"
	);
	is($stderr, '', "$variant, missing row: no retry");
	return;
}

foreach my $variant (qw(recipe extension))
{
	test_overlapping_batches($variant);
	test_deadlock($variant);
	test_serialization_failure($variant);
	test_attempts($variant, '40P01', 3);
	test_attempts($variant, '40001', 3);
	test_attempts($variant, '40003', 1);
	test_attempts($variant, '55P03', 1);
	test_attempts($variant, '23514', 1);
	test_lost_connection($variant);
	test_missing_row($variant);
}

# Arguments that must not reach the server.
fresh_table();
foreach my $arguments ([], ['other'],
	map { [ 'extension', $_ ] }
	('', '1,', '0', '-1', '1.5', '1,x', '2147483648'))
{
	my ($status, $stdout, $stderr) = run_program(@$arguments);
	is($status, 2, "exit status of: main.js @$arguments");
	is($stdout, '', 'no output');
	isnt($stderr, '', 'a message');
}
is(revisions($node), '0,0,0', 'and no change');

# The recipe needs no extension.
$node->safe_psql('postgres', 'DROP EXTENSION ordered_update');
test_overlapping_batches('recipe');
my ($status, $stdout, $stderr) = run_program('extension', '1');
like($stdout, qr/^batch \{1\}: failed, 42883: /, 'the one-call form does');

$node->stop;
done_testing();
