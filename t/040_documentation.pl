# Claim: every example in README.md and doc/ does what the page says.  The ```sql
# blocks of a page are run in order, in one session of a fresh database, and
# what psql prints of each is the ```text block behind it.  The reference has
# every function, view, setting, rule and reason that there is, and what it says
# of them is what the server says.
#
# A block in another language is not run, but for the shell function of
# doc/retrying.md.  Errors are printed with VERBOSITY verbose, without the line
# that tells where in the source they come from.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/lib";

use DemoNode;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $top = "$FindBin::RealBin/..";
my @pages = ('README.md', 'doc/ordered_update.md', 'doc/finding-the-cause.md');
my $node = start_demo_node('documentation', '');

# The blocks of a page in order, each with its language, its text and the line
# it begins in.
sub read_blocks
{
	my ($page) = @_;
	my @blocks;
	my $block;
	my $line = 0;

	foreach (split /^/, slurp_file("$top/$page"))
	{
		$line++;
		if (!defined $block)
		{
			$block = { language => $1, text => '', line => $line }
			  if /^```(\w+)$/;
		}
		elsif (/^```$/)
		{
			push @blocks, $block;
			undef $block;
		}
		else
		{
			$block->{text} .= $_;
		}
	}
	die "$page: block in line $block->{line} has no end" if defined $block;
	return @blocks;
}

# What is compared of the output of psql: no empty lines around, no blanks at the
# ends of lines.
sub tidy
{
	my ($output) = @_;

	$output =~ s/^LOCATION:.*\n//mg;
	$output =~ s/[ \t]+$//mg;
	$output =~ s/\A\n+//;
	$output =~ s/\n+\z/\n/;
	return $output;
}

# Run blocks in one session, and return the output of each.
sub run_blocks
{
	my ($database, @blocks) = @_;
	my $mark = 'end of block';
	my $input = join('',
		"\\set VERBOSITY verbose\n",
		map { "$_->{text}\\echo $mark\n" } @blocks);
	my $output;

	IPC::Run::run(
		[ 'psql', '-Xq', '-d', $node->connstr($database) ],
		'<' => \$input,
		'>&' => \$output);
	return map { tidy($_) } split /^$mark\n/m, $output, -1;
}

# Run the examples of a page.
sub check_page
{
	my ($page) = @_;
	my @blocks = read_blocks($page);
	my @run = grep { $_->{language} eq 'sql' } @blocks;
	my $database = lc($page =~ s/\W/_/gr);

	$node->safe_psql('postgres', "CREATE DATABASE $database");
	my @outputs = run_blocks($database, @run);
	cmp_ok(scalar(@run), '>', 0, "$page has examples");
	is(scalar(@outputs), @run + 1, "$page: the session ran to its end");

	for (my $i = 0; $i < @blocks; $i++)
	{
		next if $blocks[$i]{language} ne 'sql';
		my $next = $blocks[ $i + 1 ];
		my $shown =
		  defined $next && $next->{language} eq 'text' ? $next->{text} : '';
		is(shift @outputs, $shown, "$page, line $blocks[$i]{line}");
	}
	# A role that a page makes is made by the next page too.
	$node->safe_psql('postgres', 'DROP ROLE IF EXISTS app');
	return;
}

# Links of a page to files and headings of the tree.
sub check_links
{
	my ($page) = @_;
	my ($folder) = "$top/$page" =~ m{^(.*)/};
	my $text = slurp_file("$top/$page");

	while ($text =~ /\]\((?![a-z]+:)([^)#\s]*)(?:#([^)\s]+))?\)/g)
	{
		my ($file, $anchor) = ($1, $2);
		my $path = $file eq '' ? "$top/$page" : "$folder/$file";

		ok(-e $path, "$page: $path exists") or next;
		next if !defined $anchor;
		my %anchors =
		  map { heading_anchor($_) => 1 } slurp_file($path) =~ /^#+ (.*)$/mg;
		ok($anchors{$anchor}, "$page: $path has heading #$anchor");
	}
	return;
}

# The name that a heading is linked by.
sub heading_anchor
{
	my ($heading) = @_;

	$heading = lc $heading;
	$heading =~ s/[^\w\- ]//g;
	$heading =~ s/ /-/g;
	return $heading;
}

# A page with all white space turned into single blanks.
sub flat
{
	my ($text) = @_;

	$text =~ s/\s+/ /g;
	return $text;
}

# Whether the reference has a text, flattened.
my $reference = flat(slurp_file("$top/doc/ordered_update.md"));

sub in_reference
{
	my ($text, $name) = @_;

	ok(index($reference, flat($text)) >= 0, $name)
	  or diag("not in the reference: $text");
	return;
}

sub query_lines
{
	my ($query) = @_;

	return split /\n/, $node->safe_psql('postgres', $query);
}

# Functions: signature and comment.  The view: columns and comment.
sub check_objects
{
	my @functions = query_lines(<<'EOS');
SELECT proname || '(' ||
       regexp_replace(pg_get_function_arguments(p.oid), '::[a-z]+', '', 'g') ||
       ') RETURNS ' || pg_get_function_result(p.oid) || '|' ||
       obj_description(p.oid, 'pg_proc')
FROM pg_proc p JOIN pg_depend d ON d.objid = p.oid AND d.classid = 'pg_proc'::regclass
WHERE d.deptype = 'e' AND d.refobjid =
      (SELECT oid FROM pg_extension WHERE extname = 'ordered_update')
ORDER BY p.oid
EOS
	my @views = query_lines(<<'EOS');
SELECT c.relname || '(' ||
       (SELECT string_agg(attname || ' ' || format_type(atttypid, atttypmod), ', ' ORDER BY attnum)
        FROM pg_attribute WHERE attrelid = c.oid AND attnum > 0) || ')|' ||
       obj_description(c.oid, 'pg_class')
FROM pg_class c JOIN pg_depend d ON d.objid = c.oid AND d.classid = 'pg_class'::regclass
WHERE d.deptype = 'e' AND d.refobjid =
      (SELECT oid FROM pg_extension WHERE extname = 'ordered_update')
ORDER BY c.oid
EOS

	cmp_ok(scalar(@functions), '>', 0, 'there are functions');
	cmp_ok(scalar(@views), '>', 0, 'there are views');
	foreach (@functions, @views)
	{
		my ($signature, $comment) = split /\|/;

		in_reference($signature, "reference: $signature");
		in_reference(ucfirst("$comment."), "reference: its comment");
	}
	return;
}

# Settings: type and default.
sub check_settings
{
	my @settings = query_lines(<<'EOS');
LOAD 'ordered_update';
SELECT format('| `%s` | %s | `%s` |', name, vartype, boot_val)
FROM pg_settings WHERE name LIKE 'ordered\_update.%' ORDER BY name
EOS

	cmp_ok(scalar(@settings), '>', 0, 'there are settings');
	in_reference($_, "reference: $_") foreach @settings;
	return;
}

# Rules of the contract, and the reasons to leave a statement alone.
sub check_rules_and_reasons
{
	my @rules = query_lines(
		"SELECT rule FROM ordered_contract('deadlock_demo_articles')");
	my @reasons = slurp_file("$top/src/statements.c") =~
	  /^#define REASON_\w+\s+"(.*)"$/mg;

	cmp_ok(scalar(@rules), '>', 0, 'there are rules');
	cmp_ok(scalar(@reasons), '>', 0, 'there are reasons');
	in_reference("| `$_` |", "reference: $_") foreach @rules, @reasons;
	return;
}

# The shell function of doc/retrying.md tries a deadlock again, twice at most,
# and nothing else.
sub check_shell_function
{
	my ($function) =
	  grep { $_->{language} eq 'bash' } read_blocks('doc/retrying.md');
	my $file = PostgreSQL::Test::Utils::tempdir() . '/batch.sql';

	$node->safe_psql('postgres', <<'EOS');
CREATE SEQUENCE attempts;
CREATE TABLE failures (number bigint, sqlstate text);
CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
	attempt bigint := nextval('attempts');
	failure text := (SELECT f.sqlstate FROM failures f WHERE f.number = attempt);
BEGIN
	IF failure IS NOT NULL THEN
		RAISE EXCEPTION 'failed on purpose' USING ERRCODE = failure;
	END IF;
	RETURN NULL;
END $$;
CREATE TRIGGER fail BEFORE UPDATE ON deadlock_demo_articles
	FOR EACH STATEMENT EXECUTE FUNCTION fail();
EOS
	append_to_file($file, "SELECT * FROM ordered_increment('{3,1}');\n");

	foreach my $case (
		[ 0, 1, '' ],
		[ 0, 3, '40P01', '40001' ],
		[ 3, 3, '40P01', '40P01', '40P01' ],
		[ 3, 1, '23514' ])
	{
		my ($expected, $attempts, @failures) = @$case;
		my $name = "run_batch after (@failures)";
		my $number = 0;

		$node->safe_psql('postgres',
			"TRUNCATE failures; ALTER SEQUENCE attempts RESTART;");
		foreach (@failures)
		{
			$number++;
			$node->safe_psql('postgres',
				"INSERT INTO failures VALUES ($number, nullif('$_', ''))");
		}
		{
			local $ENV{PGHOST} = $node->host;
			local $ENV{PGPORT} = $node->port;
			local $ENV{PGDATABASE} = 'postgres';
			IPC::Run::run(
				[ 'bash', '-c', "$function->{text}run_batch '$file'" ],
				'>' => \my $output,
				'2>' => \my $errors);
		}
		is($? >> 8, $expected, "$name: status");
		is($node->safe_psql('postgres', 'SELECT last_value FROM attempts'),
			$attempts, "$name: attempts");
	}
	return;
}

check_page($_) foreach @pages;
check_links($_) foreach @pages, 'doc/retrying.md', 'src/README.md';
check_objects();
check_settings();
check_rules_and_reasons();
check_shell_function();

# The page for a first look stays short.
cmp_ok(scalar(() = slurp_file("$top/README.md") =~ /\n/g),
	'<', 300, 'README.md has less than 300 lines');

$node->stop;
done_testing();
