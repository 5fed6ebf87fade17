# Claim: after a backend or the whole server was killed with SIGKILL in the
# middle of a load, the table holds what the clients were told: every batch
# that was acknowledged, at most one more of each client (the one whose answer
# was lost on the way), and nothing of any other; and every batch is there as
# a whole.
#
# Controls: a batch whose transaction was still open when the server died is
# not there; and with synchronous_commit = off, where the server does not
# promise as much, the same count finds the loss.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/lib";

use DemoNode;
use IPC::Run;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(usleep);

my $clients = 16;
my $shared_per_batch = 4;
my $timeout = $PostgreSQL::Test::Utils::timeout_default;
my $tempdir = PostgreSQL::Test::Utils::tempdir;

my $node = start_demo_node('crash', <<'EOC');
restart_after_crash = on
lock_timeout = 60s
statement_timeout = 600s
wal_buffers = 16MB
EOC

# Rows 1 .. 97 are shared, row 1001 + n belongs to client n alone and counts
# the batches of that client, and row 5000 belongs to the open transaction.
$node->safe_psql('postgres', <<'EOS');
INSERT INTO deadlock_demo_articles (id, title)
SELECT id, 'crash test' FROM generate_series(4, 97) AS id
UNION ALL SELECT id, 'crash test' FROM generate_series(1001, 1016) AS id
UNION ALL VALUES (5000, 'crash test');
EOS

my $script = "$tempdir/batch.sql";
append_to_file(
	$script,
	"\\set start random(0, 96)\n\\set stride random(1, 96)\n"
	  . 'SELECT count(*) FROM ordered_increment(ARRAY[1001 + :client_id'
	  . join('',
		map { ", (:start + :stride * $_) % 97 + 1" } (1 .. $shared_per_batch))
	  . "]);\n");

# Start a load whose acknowledged batches are written to the files of the
# given prefix, one line each.
sub start_load
{
	my ($prefix, $settings) = @_;
	my %load = (output => '');
	local $ENV{PGAPPNAME} = 'load';
	local $ENV{PGOPTIONS} = $settings;

	$load{run} = IPC::Run::start(
		[
			$node->installed_command('pgbench'), '--no-vacuum',
			"--client=$clients", '--jobs=2',
			'--protocol=prepared', '--time=600',
			'--log', "--log-prefix=$prefix",
			"--file=$script", $node->connstr('postgres')
		],
		'<' => \undef,
		'>&' => \$load{output},
		IPC::Run::timeout($timeout));
	return \%load;
}

# Per client, the number of batches that it was told are committed.
sub acknowledged
{
	my ($prefix) = @_;
	my @count = (0) x $clients;

	foreach my $file (glob("$prefix.*"))
	{
		foreach my $line (split(/\n/, slurp_file($file)))
		{
			# client, transaction number, time taken, script, seconds, microseconds
			die "unexpected line in $file: $line"
			  if $line !~ /^(\d+) \d+ \d+ \d+ \d+ \d+$/;
			$count[$1]++;
		}
	}
	return @count;
}

# Per client, the number of batches in the table.
sub committed
{
	return split(
		/\n/,
		$node->safe_psql(
			'postgres',
			'SELECT revision FROM deadlock_demo_articles
			 WHERE id BETWEEN 1001 AND 1016 ORDER BY id'));
}

sub sum_of_shared
{
	return $node->safe_psql('postgres',
		'SELECT sum(revision) FROM deadlock_demo_articles WHERE id <= 97');
}

sub wait_for_batches
{
	my ($count) = @_;

	$node->poll_query_until(
		'postgres',
		"SELECT sum(revision) >= $count FROM deadlock_demo_articles
		 WHERE id BETWEEN 1001 AND 1016"
	) or die "the load never came to $count batches";
	return;
}

# Whether a process is over.  One that waits to be collected by its parent still
# takes signals, and in a container nobody may ever collect it.
sub is_over
{
	my ($pid) = @_;

	return 1 if !kill(0, $pid);
	# It may end, and its file with it, while we look.
	my $stat = eval { slurp_file("/proc/$pid/stat") };
	return defined $stat && $stat =~ /\) Z /;
}

# Kill the server: the postmaster first, so that it cannot see its children die
# and put things in order, then every process it had.  Returns when all are over.
sub kill_server
{
	my $postmaster =
	  (split(/\n/, slurp_file($node->data_dir . '/postmaster.pid')))[0];
	my @children = split(/\n/,
		$node->safe_psql('postgres', 'SELECT pid FROM pg_stat_activity'));

	$node->kill9;
	kill('KILL', @children);
	foreach (1 .. 10 * $timeout)
	{
		last if !grep { !is_over($_) } ($postmaster, @children);
		usleep(100_000);
	}
	# What keeps two servers apart looks at the process number only.
	if (kill(0, $postmaster))
	{
		unlink $node->data_dir . '/postmaster.pid',
		  $node->host . '/.s.PGSQL.' . $node->port . '.lock';
	}
	return;
}

# Kill one backend of the load that is at work.  The server ends the others.
sub kill_backend
{
	my $pid = $node->safe_psql('postgres', <<'EOS');
SELECT pid FROM pg_stat_activity
WHERE application_name = 'load'
ORDER BY state = 'active' DESC, pid LIMIT 1
EOS
	is(kill('KILL', $pid), 1, 'a backend was killed');
	return;
}

# Run a load with an open transaction beside it, wait until it is under way,
# kill, recover.  Returns per client how many batches it was told of and how
# many are in the table.
sub crash_in_mid_run
{
	my ($name, $settings, $kill, $recover) = @_;
	my $prefix = "$tempdir/$name";
	my @before = committed();
	my $shared_before = sum_of_shared();

	my $open = start_psql(
		$node, 'open transaction',
		'BEGIN',
		'SELECT ordered_increment(ARRAY[5000])',
		'SELECT pg_sleep(600)');
	$node->poll_query_until(
		'postgres',
		"SELECT count(*) = 1 FROM pg_stat_activity
		 WHERE application_name = 'open transaction' AND wait_event = 'PgSleep'"
	) or die 'the open transaction did not come so far';

	my $load = start_load($prefix, $settings);
	wait_for_batches(sum(@before) + 1000);
	$kill->();
	$load->{run}->finish;
	finish_client($open);
	$recover->();

	like($load->{output}, qr/aborted/, "$name: the clients saw it happen");
	like($open->{stdout}, qr/^\(5000,1\)$/m,
		"$name: the open transaction had made its change");
	is( $node->safe_psql(
			'postgres',
			'SELECT revision FROM deadlock_demo_articles WHERE id = 5000'),
		0,
		"$name: and it is gone");

	my @after = committed();
	my @told = acknowledged($prefix);
	my @found = map { $after[$_] - $before[$_] } (0 .. $clients - 1);
	is( sum_of_shared() - $shared_before,
		$shared_per_batch * sum(@found),
		"$name: every batch is there as a whole");
	cmp_ok(sum(@told), '>', 500, "$name: the load was under way");
	note("told:  @told\nfound: @found");
	return (\@told, \@found);
}

sub sum
{
	my $sum = 0;
	$sum += $_ foreach @_;
	return $sum;
}

# The clients whose number of batches is not the one they were told, give or
# take the answer that was lost.
sub differing_clients
{
	my ($told, $found) = @_;
	return
	  grep { $found->[$_] < $told->[$_] || $found->[$_] > $told->[$_] + 1 }
	  (0 .. $clients - 1);
}

# A backend is killed: the postmaster restarts the others and recovers.
my ($told, $found) = crash_in_mid_run(
	'backend',
	'',
	\&kill_backend,
	sub {
		$node->poll_query_until('postgres', 'SELECT NOT pg_is_in_recovery()')
		  or die 'the server did not recover';
	});
is(join(' ', differing_clients($told, $found)),
	'', 'backend killed: the table holds what the clients were told');

# Everything is killed.
($told, $found) =
  crash_in_mid_run('server', '', \&kill_server, sub { $node->start });
is(join(' ', differing_clients($told, $found)),
	'', 'server killed: the table holds what the clients were told');

# The control: acknowledged before it is safe.  A commit that is not waited for
# stays in memory until the WAL writer comes by, and it is held back here.
kill(
	'STOP',
	$node->safe_psql(
		'postgres',
		q{SELECT pid FROM pg_stat_activity WHERE backend_type = 'walwriter'})
);
($told, $found) = crash_in_mid_run(
	'control', '-c synchronous_commit=off',
	\&kill_server, sub { $node->start });
cmp_ok(sum(@$found), '<', sum(@$told),
	'without synchronous commit, the count finds the loss');

$node->stop;
done_testing();
