# Claim: a batch of a million keys needs less than 200 MB of memory over what
# the idle backend has, puts its results into temporary files beyond work_mem,
# and can be cancelled at any moment.
#
# Memory is the peak that the kernel notes for the backend (VmHWM in
# /proc/<pid>/status).  It counts the pages of shared memory that the backend
# has touched as well, so shared_buffers is small here.  Where there is no
# /proc, it is the sum of pg_backend_memory_contexts at the last changed row.
#
# The time to cancel is taken at moments spread at random over a batch's whole
# run.  The largest is printed; the bound that is tested is generous, as a busy
# machine may let either side wait.
#
# Controls: a million keys as one array of text need more memory than the verbs
# are allowed, and the measure sees it; a small batch writes no temporary file.

use strict;
use warnings;

use IPC::Open3;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(sleep time);

my $nkeys = 1_000_000;
my $memory_limit = 200;    # MB
my $cancel_limit = 1;    # seconds
my $ncancels = 6;    # for each verb

my $has_proc = -r '/proc/self/status';

srand($ENV{ORDERED_UPDATE_SEED} // time);

my $node = PostgreSQL::Test::Cluster->new('memory');
$node->init;
$node->append_conf('postgresql.conf', <<'EOC');
log_statement = none
fsync = off
autovacuum = off
shared_buffers = 16MB
max_wal_size = 4GB
checkpoint_timeout = 1h
work_mem = 4MB
EOC
$node->start;

# Keys and changes are made beforehand, so that making them is not measured;
# they are in no order.
$node->safe_psql('postgres', <<"EOS");
CREATE EXTENSION ordered_update;
CREATE TABLE "Million's" (id integer PRIMARY KEY, "N" integer NOT NULL DEFAULT 0) WITH (fillfactor = 45);
INSERT INTO "Million's" SELECT generate_series(1, $nkeys);
CREATE TABLE input (keys integer[], changes jsonb);
ALTER TABLE input ALTER keys SET STORAGE EXTERNAL, ALTER changes SET STORAGE EXTERNAL;
INSERT INTO input
	SELECT array_agg(id), jsonb_agg(jsonb_build_object('id', id, 'N', id))
	  FROM (SELECT id::bigint * 7919 % $nkeys + 1 AS id FROM generate_series(1, $nkeys) id) k;
VACUUM ANALYZE "Million's";
CREATE UNLOGGED TABLE weight (bytes numeric);
CREATE FUNCTION weigh() RETURNS trigger LANGUAGE plpgsql AS \$\$
BEGIN
	INSERT INTO weight SELECT sum(total_bytes) FROM pg_backend_memory_contexts;
	RETURN NULL;
END \$\$;
EOS
$node->safe_psql('postgres', <<"EOS") unless $has_proc;
CREATE TRIGGER weigh AFTER UPDATE ON "Million's" FOR EACH ROW WHEN (NEW.id = $nkeys) EXECUTE FUNCTION weigh();
EOS

my %calls = (
	ordered_lock =>
	  q{ordered_lock(NULL::"Million's", (SELECT keys FROM input))},
	ordered_increment =>
	  q{ordered_increment(NULL::"Million's", (SELECT keys FROM input), 'N')},
	ordered_update =>
	  q{ordered_update(NULL::"Million's", (SELECT changes FROM input))}
);

# A psql that runs statements one by one: each is answered by its rows and then
# by a line with its SQLSTATE.  Errors and warnings come between the rows, so
# that a warning makes a test fail.
sub open_session
{
	my %session;

	$session{psql} = open3(
		$session{in}, $session{out},
		undef, $node->installed_command('psql'),
		'-XAtq', '-v',
		'VERBOSITY=sqlstate', '-d',
		$node->connstr('postgres')
	);
	$session{in}->autoflush(1);
	$session{pid} =
	  run_statement(\%session, 'SELECT pg_backend_pid()')->{rows};
	return \%session;
}

sub close_session
{
	my ($session) = @_;

	close $session->{in};
	waitpid($session->{psql}, 0);
	return;
}

sub send_statement
{
	my ($session, $statement) = @_;
	print { $session->{in} } "$statement;\n\\echo state :SQLSTATE\n";
	return;
}

sub read_answer
{
	my ($session) = @_;
	my $rows = '';

	while (defined(my $line = readline $session->{out}))
	{
		if ($line =~ /^state (\w+)/)
		{
			chomp $rows;
			return { rows => $rows, state => $1 };
		}
		$rows .= $line;
	}
	die 'psql ended';
}

sub run_statement
{
	my ($session, $statement) = @_;
	send_statement($session, $statement);
	return read_answer($session);
}

# Peak memory of a session so far, in MB; without /proc, that at the last row
# changed.
sub peak_memory
{
	my ($session) = @_;

	return (
		$node->safe_psql('postgres',
			'SELECT coalesce(max(bytes), 0) FROM weight') / 2**20
	) unless $has_proc;
	slurp_file("/proc/$session->{pid}/status") =~ /^VmHWM:\s+(\d+) kB/m
	  or die 'no VmHWM';
	return $1 / 1024;
}

sub temp_bytes
{
	my ($session) = @_;
	run_statement($session, 'SELECT pg_stat_force_next_flush()');
	return run_statement($session,
		'SELECT temp_bytes FROM pg_stat_database WHERE datname = current_database()'
	)->{rows};
}

note 'memory is measured by '
  . (
	$has_proc ? 'VmHWM of /proc/<pid>/status' : 'pg_backend_memory_contexts');

# How long a batch takes, by verb.
my %duration;

foreach my $verb (sort keys %calls)
{
	my $session = open_session();
	my $small =
	  $calls{$verb} =~ s/\(SELECT keys FROM input\)/'{3,1,2}'::integer[]/r =~
	  s/\(SELECT changes FROM input\)/'[{"id": 1, "N": 1}]'/r;

	# The backend loads what it needs for any call before it is weighed.
	run_statement($session, 'BEGIN');
	run_statement($session, "SELECT count(*) FROM $small");
	run_statement($session, 'ROLLBACK');
	my $idle = peak_memory($session);
	is(temp_bytes($session), temp_bytes($session),
		"$verb: control: statistics stand still");
	my $temp = temp_bytes($session);

	my $start = time;
	my $answer =
	  run_statement($session, "SELECT count(*) FROM $calls{$verb}");
	$duration{$verb} = time - $start;
	is($answer->{state}, '00000', "$verb: a batch of $nkeys keys succeeds");
	is($answer->{rows}, $nkeys, "$verb: and returns as many rows");
	$temp = temp_bytes($session) - $temp;

  SKIP:
	{
		skip 'nothing weighs a lock without /proc', 1
		  if !$has_proc && $verb eq 'ordered_lock';
		my $used = peak_memory($session) - $idle;
		note sprintf(
			'%s: %.0f MB over the idle backend, %.0f MB of temporary files, %.1f s',
			$verb, $used, $temp / 2**20,
			$duration{$verb}
		);
		cmp_ok($used, '<', $memory_limit,
			"$verb: memory in MB over the idle backend");
	}
	cmp_ok(
		$temp, '>',
		10 * 2**20,
		"$verb: results are in temporary files beyond work_mem"
	);
	close_session($session);
}

# Controls.
my $session = open_session();
my $idle = peak_memory($session);
my $temp = temp_bytes($session);
run_statement($session,
	q{SELECT count(*) FROM ordered_increment(NULL::"Million's", '{3,1,2}'::integer[], 'N')}
);
is(temp_bytes($session), $temp,
	'control: a small batch writes no temporary file');
SKIP:
{
	skip 'the control is for VmHWM', 1 unless $has_proc;
	run_statement($session,
		"SELECT length(array_agg(repeat('x', 300))::text) FROM generate_series(1, $nkeys)"
	);
	cmp_ok(peak_memory($session) - $idle,
		'>', $memory_limit, 'control: the measure sees memory that is used');
}
close_session($session);

# Cancel each verb at moments spread over its run, and a bit of chance in each.
my $before =
  $node->safe_psql('postgres', q{SELECT sum("N"), count(*) FROM "Million's"});
my $canceller = open_session();
my $worker = open_session();

foreach my $verb (sort keys %calls)
{
	my @times;
	my $missed = 0;

	while (@times < $ncancels && $missed < 5 * $ncancels)
	{
		my $moment = (@times + rand(1)) / $ncancels * $duration{$verb};

		send_statement($worker, "SELECT count(*) FROM $calls{$verb}");
		sleep($moment);
		my $start = time;
		run_statement($canceller, "SELECT pg_cancel_backend($worker->{pid})");
		my $answer = read_answer($worker);
		my $took = time - $start;

		if ($answer->{state} eq '00000')
		{
			# It was quicker than before and done already: try an earlier moment.
			$duration{$verb} *= 0.9;
			run_statement($worker, 'SELECT 1');
			$before = $node->safe_psql('postgres',
				q{SELECT sum("N"), count(*) FROM "Million's"});
			$missed++;
			next;
		}
		is($answer->{state}, '57014',
			sprintf('%s: cancelled after %.2f s', $verb, $moment));
		push @times, { took => $took, moment => $moment };
	}
	my ($slowest) = sort { $b->{took} <=> $a->{took} } @times;
	note sprintf(
		'%s: at most %.0f ms from cancel to error, at %.2f s of %.1f s; all: %s; %d came too late',
		$verb,
		$slowest->{took} * 1000,
		$slowest->{moment},
		$duration{$verb},
		join(' ', map { sprintf '%.0f', $_->{took} * 1000 } @times),
		$missed
	);
	cmp_ok($slowest->{took}, '<', $cancel_limit,
		"$verb: seconds from cancel to error");
	is(scalar @times, $ncancels, "$verb: as many were cancelled as were to be");
}
is(
	$node->safe_psql(
		'postgres', q{SELECT sum("N"), count(*) FROM "Million's"}
	),
	$before,
	'nothing of the cancelled batches is kept'
);
is(
	run_statement($worker,
		q{SELECT count(*) FROM ordered_lock(NULL::"Million's", '{3,1,2}'::integer[])}
	)->{rows},
	3,
	'the session works on'
);
close_session($worker);
close_session($canceller);

$node->stop;
done_testing();
