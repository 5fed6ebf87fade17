# Claim: on a hot standby and in a read-only transaction, ordered_increment()
# raises 25006, names itself in the message, and changes nothing.  A proxy that
# sends SELECTs to a standby causes this, so the message has to be readable.
#
# Control: the same call works on the primary, and on the standby once it is
# promoted.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/lib";

use DemoNode;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $call = 'SELECT * FROM ordered_increment(ARRAY[3,1,2])';

my $primary =
  start_demo_node('primary', "lock_timeout = 60s\n", allows_streaming => 1);
$primary->backup('start');

my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($primary, 'start', has_streaming => 1);
$standby->start;

sub refused_as_read_only
{
	my ($node, $name, @statements) = @_;
	my $before = revisions($node);
	my ($status, $stdout, $stderr) =
	  finish_client(start_psql($node, 'reader', @statements));

	isnt($status, 0, "$name: the call fails");
	like(
		$stderr,
		qr/ERROR:  25006: cannot execute .*ordered_increment.* in a read-only transaction/,
		"$name: 25006, readable");
	is($stdout, '', "$name: no row is returned");
	is(revisions($node), $before, "$name: nothing changed");
	return;
}

# The primary writes, and the standby follows.
is($primary->safe_psql('postgres', $call),
	"1|1\n2|1\n3|1", 'the call works on the primary');
$primary->wait_for_catchup($standby);
is(revisions($standby), '1,1,1', 'the standby has the change');

# Neither of these may write.
refused_as_read_only($standby, 'standby', $call);
refused_as_read_only(
	$standby,
	'standby, in a transaction',
	'BEGIN ISOLATION LEVEL REPEATABLE READ', $call);
refused_as_read_only(
	$primary,
	'read-only transaction',
	'BEGIN READ ONLY', $call);
refused_as_read_only(
	$primary,
	'read-only by default',
	'SET default_transaction_read_only = on', $call);

# The refusal ends with the transaction that was read-only.
$primary->safe_psql('postgres', "BEGIN READ ONLY; COMMIT; $call");
is(revisions($primary), '2,2,2', 'a later transaction works');

# A session that was refused before the promotion can write after it, with
# whatever the session has remembered of the table.
$primary->wait_for_catchup($standby);
my $session = $standby->background_psql('postgres', on_error_stop => 0);
$session->query($call);
$primary->stop;
$standby->promote;
$standby->poll_query_until('postgres', 'SELECT NOT pg_is_in_recovery()')
  or die 'the standby was not promoted';
$session->{stderr} = '';
is($session->query_safe($call),
	"1|3\n2|3\n3|3", 'after promotion, in a session from before it');
$session->quit;
is($standby->safe_psql('postgres', $call),
	"1|4\n2|4\n3|4", 'after promotion, in a new session');

$standby->stop;
done_testing();
