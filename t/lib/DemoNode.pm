# The throwaway server of the tests in t/: a node with the extension and the
# example table, and clients that run beside the test.
#
# Nothing here waits for a time to pass: a state of the server is polled for,
# and a client that hangs runs into the timeout of the test framework.
package DemoNode;

use strict;
use warnings;

use Exporter 'import';
use FindBin;
use IPC::Run;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

our @EXPORT = qw(example_path start_demo_node create_demo
  start_psql finish_client wait_for_lock_wait revisions);

# The path of a file under examples/.
sub example_path
{
	my ($file) = @_;
	return "$FindBin::RealBin/../examples/$file";
}

# Start a server with the given lines of configuration and create the example
# in its database postgres.  Takes the parameters of the node's init() too.
sub start_demo_node
{
	my ($name, $conf, %init) = @_;
	my $node = PostgreSQL::Test::Cluster->new($name);

	$node->init(%init);
	# The framework logs every statement, which would be most of a load test.
	$node->append_conf('postgresql.conf', "log_statement = none\n$conf");
	$node->start;
	create_demo($node);
	return $node;
}

# Create the extension and the example table.
sub create_demo
{
	my ($node) = @_;

	$node->safe_psql('postgres', 'CREATE EXTENSION ordered_update');
	$node->safe_psql('postgres',
		slurp_file(example_path('deadlock_demo_articles.sql')));
	return;
}

# Start a psql that runs the given statements one by one, stops at the first
# error and ends.  It reports errors with their SQLSTATE and context, and is
# found in pg_stat_activity by its name.  Returns the client, to be given to
# finish_client().
sub start_psql
{
	my ($node, $name, @statements) = @_;
	my %client = (stdout => '', stderr => '');
	local $ENV{PGAPPNAME} = $name;

	$client{run} = IPC::Run::start(
		[
			$node->installed_command('psql'), '-XAtq',
			'-v', 'VERBOSITY=verbose',
			'-v', 'ON_ERROR_STOP=1',
			'-d', $node->connstr('postgres'),
			map { ('-c', $_) } @statements
		],
		'<' => \undef,
		'>' => \$client{stdout},
		'2>' => \$client{stderr},
		IPC::Run::timeout($PostgreSQL::Test::Utils::timeout_default));
	return \%client;
}

# Wait for the end of a client.  Returns its exit status, its output and its
# error output.
sub finish_client
{
	my ($client) = @_;

	$client->{run}->finish;
	return ($client->{run}->result(0), $client->{stdout}, $client->{stderr});
}

# Wait until the named session waits for a lock.
sub wait_for_lock_wait
{
	my ($node, $name) = @_;

	$node->poll_query_until(
		'postgres',
		"SELECT count(*) > 0 FROM pg_stat_activity
		 WHERE application_name = '$name' AND wait_event_type = 'Lock'"
	) or die "session $name never waited for a lock";
	return;
}

# The revisions of the example table in id order, as one string.
sub revisions
{
	my ($node) = @_;

	return $node->safe_psql('postgres',
		"SELECT string_agg(revision::text, ',' ORDER BY id) FROM deadlock_demo_articles"
	);
}

1;
