# Claim: the bulk update and the bulk upsert of two query builders, Sequelize and
# Knex, in opposite orders from two connections, are both committed when the role
# has ordered_update.order_statements on.  The program is the same one, and knows
# nothing of it.
#
# Control: without the setting the same two programs deadlock, every time: a gate
# holds the row that the first one wants second, until the second one waits.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/lib";

use DemoNode;
use File::Copy;
use IPC::Run;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

# Copy the example and install what it needs.  Returns the copy, or nothing and
# why not.
sub install_example
{
	my $copy = PostgreSQL::Test::Utils::tempdir;
	my ($stdout, $stderr) = ('', '');

	foreach my $file (qw(main.js package.json package-lock.json))
	{
		copy(example_path("orm/$file"), $copy) or die "could not copy $file: $!";
	}
	my $installed = eval {
		local $ENV{npm_config_cache} = "$copy/.npm";
		IPC::Run::run(
			[
				qw(npm ci --ignore-scripts --no-audit --no-fund),
				qw(--fetch-retries=1 --fetch-timeout=30000),
				'--prefix', $copy
			],
			'<' => \undef,
			'>' => \$stdout,
			'2>' => \$stderr,
			IPC::Run::timeout($PostgreSQL::Test::Utils::timeout_default));
	};
	return ($copy) if $installed;
	note($stdout, $stderr, $@ ? $@ : '');
	return (undef, 'needs npm, and what examples/orm/package.json names');
}

my ($example, $reason) = install_example();
if (!defined $example)
{
	plan skip_all => $reason if !$ENV{ORDERED_UPDATE_REQUIRE_ORM};
	fail($reason);
	done_testing();
	exit;
}

# What would hang ends with an error.
my $node = start_demo_node('orm', <<'EOC');
deadlock_timeout = 10ms
lock_timeout = 60s
statement_timeout = 90s
EOC
$node->safe_psql('postgres', <<'EOS');
CREATE ROLE regress_app LOGIN;
GRANT SELECT, INSERT, UPDATE ON deadlock_demo_articles TO regress_app;
GRANT SET ON PARAMETER deadlock_timeout TO regress_app;
ALTER ROLE regress_app SET session_preload_libraries = 'ordered_update';
EOS

# Start a batch.  $settings are those of its session.
sub start_batch
{
	my ($name, $settings, @arguments) = @_;
	my %client = (stdout => '', stderr => '');
	local $ENV{PGHOST} = $node->host;
	local $ENV{PGPORT} = $node->port;
	local $ENV{PGDATABASE} = 'postgres';
	local $ENV{PGUSER} = 'regress_app';
	local $ENV{PGAPPNAME} = $name;
	local $ENV{PGOPTIONS} = $settings;

	$client{run} = IPC::Run::start(
		[ 'node', "$example/main.js", @arguments ],
		'<' => \undef,
		'>' => \$client{stdout},
		'2>' => \$client{stderr},
		IPC::Run::timeout($PostgreSQL::Test::Utils::timeout_default));
	return \%client;
}

# The rows lie in the table in the order 3, 2, 1.
sub fresh_table
{
	$node->safe_psql('postgres', <<'EOS');
TRUNCATE deadlock_demo_articles;
INSERT INTO deadlock_demo_articles (id, title)
	VALUES (3, 'Desk Sketches'), (2, 'Color Notes'), (1, 'Paper Shapes');
EOS
	return;
}

# Run the batches 3,2,1 and 1,3 at the same time, and return what each printed.
# The plan of the first one visits the rows as they lie, that of the second one
# takes the index, as may be for other sizes of table and batch.  The gate holds
# row 2.  The second one does not look for a deadlock, so that the first one ends
# it.
sub run_batches
{
	my ($library, $batch) = @_;

	fresh_table();
	my $gate = $node->background_psql('postgres');
	$gate->query_safe('BEGIN');
	$gate->query_safe(
		'SELECT FROM deadlock_demo_articles WHERE id = 2 FOR UPDATE');

	my $down = start_batch('down', '-c enable_indexscan=off -c enable_bitmapscan=off',
		$library, $batch, '3,2,1');
	wait_for_lock_wait($node, 'down');
	my $up = start_batch('up',
		'-c enable_seqscan=off -c enable_bitmapscan=off -c deadlock_timeout=60s',
		$library, $batch, '1,3');
	wait_for_lock_wait($node, 'up');
	$gate->query_safe('COMMIT');
	$gate->quit;

	my ($down_status, $down_stdout, $down_stderr) = finish_client($down);
	my ($up_status, $up_stdout, $up_stderr) = finish_client($up);
	is("$down_stderr$up_stderr", '', "$library $batch: no other error");
	return "$down_stdout$up_stdout";
}

sub rows
{
	return $node->safe_psql('postgres',
		"SELECT string_agg(title || '|' || revision, ', ' ORDER BY id) FROM deadlock_demo_articles"
	);
}

my %rows = (
	update => {
		off => 'Paper Shapes|1, Color Notes|0, Desk Sketches|1',
		on => 'Paper Shapes|2, Color Notes|1, Desk Sketches|2' },
	upsert => {
		off => 'up 1|0, Color Notes|0, up 3|0',
		on => 'up 1|0, down 2|0, up 3|0' });

foreach my $library (qw(sequelize knex))
{
	foreach my $batch (qw(update upsert))
	{
		$node->safe_psql('postgres',
			'ALTER ROLE regress_app RESET ordered_update.order_statements');
		is( run_batches($library, $batch),
			"failed, 40P01\ncommitted\n",
			"$library $batch: without the setting, a deadlock");
		is(rows(), $rows{$batch}{off}, "$library $batch: one batch counts");

		$node->safe_psql('postgres',
			'ALTER ROLE regress_app SET ordered_update.order_statements = on');
		is( run_batches($library, $batch),
			"committed\ncommitted\n",
			"$library $batch: with it, both are committed");
		is(rows(), $rows{$batch}{on}, "$library $batch: both count");
	}
}

$node->stop;
done_testing();
