# Claim: a wait that is cut short, by lock_timeout, by statement_timeout or by
# a cancel request, ends with the server's own SQLSTATE and a context line that
# names the verb, the table, the phase and the size of the batch; and nothing
# of the batch is kept.
#
# Control: the same wait under the same limits, set higher, ends with success
# once the other transaction is over.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/lib";

use DemoNode;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = start_demo_node('cancel', <<'EOC');
ordered_update.default_table = '"Cancel ""Test"" Schema"."Odd Articles"'
ordered_update.default_counter = 'Revision "n"'
EOC

# Changing a row waits for advisory lock 42 when it is titled so: the way to
# hold up a batch after it has locked its rows.
$node->safe_psql('postgres', <<'EOS');
CREATE SCHEMA "Cancel ""Test"" Schema"
	CREATE TABLE "Odd Articles" (
		"Id" integer PRIMARY KEY,
		"Title" text NOT NULL,
		"Revision ""n""" integer NOT NULL DEFAULT 0);
SET search_path = "Cancel ""Test"" Schema";
INSERT INTO "Odd Articles" VALUES (1, 'quick'), (2, 'quick'), (3, 'quick'),
	(11, 'quick'), (12, 'held up'), (13, 'quick');
CREATE FUNCTION "Hold Up"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	PERFORM pg_advisory_xact_lock(42);
	RETURN NEW;
END $$;
CREATE TRIGGER "hold up" BEFORE UPDATE ON "Odd Articles" FOR EACH ROW
	WHEN (NEW."Title" = 'held up') EXECUTE FUNCTION "Hold Up"();
EOS

sub odd_revisions
{
	return $node->safe_psql('postgres', <<'EOS');
SELECT string_agg("Revision ""n"""::text, ',' ORDER BY "Id")
FROM "Cancel ""Test"" Schema"."Odd Articles"
EOS
}

sub cancel_waiter
{
	$node->safe_psql(
		'postgres',
		"SELECT pg_cancel_backend(pid) FROM pg_stat_activity
		 WHERE application_name = 'waiter'");
	return;
}

# What the other session holds, the batch that waits for it, and the phase
# that the batch is in then.
my %waits = (
	'table lock' => {
		hold =>
		  'LOCK TABLE "Cancel ""Test"" Schema"."Odd Articles" IN SHARE MODE',
		batch => 'ARRAY[3,1,2]',
		phase => 'locking the table',
	},
	'row lock' => {
		hold =>
		  'SELECT FROM "Cancel ""Test"" Schema"."Odd Articles" WHERE "Id" = 2 FOR UPDATE',
		batch => 'ARRAY[3,1,2,3]',
		phase => 'locking',
	},
	'change' => {
		hold => 'SELECT FROM pg_advisory_xact_lock(42)',
		batch => 'ARRAY[13,11,12]',
		phase => 'updating',
	});

# How the wait is cut short: the settings of the waiting session, what is done
# while it waits, and what it must end with.
my %cuts = (
	'lock_timeout' => {
		settings => q{SET lock_timeout = '1s'},
		error => qr/ERROR:  55P03: canceling statement due to lock timeout/,
	},
	'statement_timeout' => {
		settings => q{SET statement_timeout = '1s'},
		error =>
		  qr/ERROR:  57014: canceling statement due to statement timeout/,
	},
	'pg_cancel_backend' => {
		settings => q{SET lock_timeout = '60s'},
		act => \&cancel_waiter,
		error => qr/ERROR:  57014: canceling statement due to user request/,
	});

foreach my $wait_name (sort keys %waits)
{
	my $wait = $waits{$wait_name};
	my $call = "SELECT * FROM ordered_increment($wait->{batch})";
	my $before = odd_revisions();
	my $holder = $node->background_psql('postgres');

	$holder->query_safe('BEGIN');
	$holder->query_safe($wait->{hold});

	foreach my $cut_name (sort keys %cuts)
	{
		my $cut = $cuts{$cut_name};
		my $name = "$wait_name, $cut_name";
		my $waiter = start_psql($node, 'waiter', $cut->{settings}, $call);

		if ($cut->{act})
		{
			wait_for_lock_wait($node, 'waiter');
			$cut->{act}->();
		}
		my ($status, $stdout, $stderr) = finish_client($waiter);

		isnt($status, 0, "$name: the call fails");
		like($stderr, $cut->{error}, "$name: SQLSTATE of the server");
		like(
			$stderr,
			qr/^(?:CONTEXT:  )?(?=.*\bordered_increment\b)(?=.*Odd Articles)(?=.*\b$wait->{phase}\b)(?=.*\b3\b).*$/m,
			"$name: verb, table, phase and batch size in the context"
		);
		is($stdout, '', "$name: no row is returned");
		is(odd_revisions(), $before, "$name: nothing changed");
	}

	# The control.
	my $waiter = start_psql(
		$node, 'waiter',
		q{SET lock_timeout = '60s'},
		q{SET statement_timeout = '60s'}, $call);
	wait_for_lock_wait($node, 'waiter');
	$holder->query_safe('ROLLBACK');
	$holder->quit;
	my ($status, $stdout, $stderr) = finish_client($waiter);
	is($stderr, '', "$wait_name: no error when the wait is long enough");
	is($status, 0, "$wait_name: and the call succeeds");
	like(
		$stdout,
		qr/^1?1\|\d\n1?2\|\d\n1?3\|\d$/,
		"$wait_name: with its rows");
}
is(odd_revisions(), '2,2,2,1,1,1',
	'each batch that was let through counts once');

# The cut leaves the session usable, and a savepoint keeps what came before.
my $holder = $node->background_psql('postgres');
$holder->query_safe('BEGIN');
$holder->query_safe($waits{'row lock'}->{hold});
my ($status, $stdout, $stderr) = finish_client(
	start_psql(
		$node,
		'waiter',
		q{SET lock_timeout = '100ms'},
		'BEGIN',
		'SELECT id FROM ordered_increment(ARRAY[1])',
		'SAVEPOINT before_batch',
		'\set ON_ERROR_STOP 0',
		'SELECT id FROM ordered_increment(ARRAY[11,3,2])',
		'ROLLBACK TO before_batch',
		'SELECT id FROM ordered_increment(ARRAY[3])',
		'COMMIT'));
$holder->query_safe('ROLLBACK');
$holder->quit;
like($stderr, qr/55P03/, 'savepoint: the second batch is cut short');
is($stdout, "1\n3\n", 'savepoint: the batches around it work');
is(odd_revisions(), '3,2,3,1,1,1', 'savepoint: and are all that is kept');

$node->stop;
done_testing();
