# Claim: whatever several sessions do to one table with the verbs at the same
# time, the outcome is that of some serial order.  Every committed batch is
# replayed, one after the other and in plain SQL, and both the final table and
# the rows that each batch returned are the same.  No batch ever deadlocks.
#
# The schema is random: type of the key, kind of table, triggers, order of
# columns; so are the batches.  A batch that fails counts for nothing, so that
# one that failed after half of its work would show.  The client retries 40001.
#
# The serial order: each batch takes a number from a sequence after its verb
# has returned and before it commits, that is, while it holds its row locks.
# Of two batches on one row the later one waited for the earlier one's commit,
# and so has the larger number.  What a verb skipped as missing is taken from
# what it returned, as no lock orders a batch against a row that is not there;
# but a row that no batch ever deletes must never be skipped.
#
# Control: a replay that leaves out one batch comes out different.
#
# ORDERED_UPDATE_SEED repeats a run (the sessions still race as they like);
# ORDERED_UPDATE_BATCHES is the number of batches in all.

use strict;
use warnings;

use IPC::Open3;
use POSIX ();
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $seed = $ENV{ORDERED_UPDATE_SEED} // int(rand(2**31));
my $nbatches = $ENV{ORDERED_UPDATE_BATCHES} // 10_000;
my $batches_per_round = 500;
my $nkeys = 24;

# Keys from 0 to this one are never deleted.
my $last_permanent = 11;

srand($seed);
note "ORDERED_UPDATE_SEED=$seed ORDERED_UPDATE_BATCHES=$nbatches";

sub pick { return $_[ int(rand(@_)) ]; }
sub chance { my ($percent) = @_; return rand(100) < $percent; }
sub ident { my ($name) = @_; $name =~ s/"/""/g; return qq{"$name"}; }
sub literal { my ($text) = @_; $text =~ s/'/''/g; return "'$text'"; }

sub json_string
{
	my ($text) = @_;
	$text =~ s/(["\\])/\\$1/g;
	return qq{"$text"};
}

sub shuffled
{
	my @items = @_;
	for (my $i = @items - 1; $i > 0; $i--)
	{
		my $j = int(rand($i + 1));
		@items[ $i, $j ] = @items[ $j, $i ];
	}
	return @items;
}

# A value has a JSON spelling and an SQL one.
sub number { my ($n) = @_; return { json => $n, sql => $n }; }

sub text
{
	my ($text) = @_;
	return { json => json_string($text), sql => literal($text) };
}

sub null { return { json => 'null', sql => 'NULL' }; }

# What a primary key is made of: its columns in key order, their types, the
# spellings of key number i (each a list of values, one for each column), and
# how a table can be partitioned by it.
my %key_kinds = (
	int4 => {
		columns => ['Id "k"'],
		types => ['integer'],
		spellings => sub { [ number($_[0] * 7 - 50) ] },
		partitions => {
			by => 'RANGE',
			bounds =>
			  [ 'FROM (MINVALUE) TO (-20)', 'FROM (-20) TO (60)', 'DEFAULT' ],
		},
	},
	int8 => {
		columns => ['Id "k"'],
		types => ['bigint'],
		spellings =>
		  sub { [ number(9_000_000_000 - $_[0] * 1_000_000_000) ] },
		partitions => {
			by => 'LIST',
			bounds => [
				'IN (9000000000, 6000000000, 0)',
				'IN (8000000000)',
				'DEFAULT'
			],
		},
	},
	'domain over int2' => {
		columns => ['Id "k"'],
		types => ['"Small Key"'],
		spellings => sub { [ number($_[0] - 10) ] },
	},
	text => {
		columns => ["the 'Key'"],
		types => ['text COLLATE "C"'],
		spellings => sub { [ text(substr("b'\"\\ Za", $_[0] % 7) . $_[0]) ] },
		partitions => {
			by => 'HASH',
			bounds => [
				'WITH (MODULUS 2, REMAINDER 1)',
				'WITH (MODULUS 2, REMAINDER 0)'
			],
		},
	},
	'text, case-insensitive' => {
		columns => ["the 'Key'"],
		types => ['text COLLATE "No Case"'],
		spellings => sub { [ text("Key$_[0]") ], [ text("kEY$_[0]") ] },
	},
	uuid => {
		columns => ['Uuid'],
		types => ['uuid'],
		spellings => sub {
			my $uuid = sprintf('%08x-0000-4000-8000-00000000abcd',
				($_[0] * 2654435761) % 2**32);
			[ text($uuid) ], [ text(uc $uuid) ];
		},
		partitions => {
			by => 'HASH',
			bounds => [
				'WITH (MODULUS 2, REMAINDER 0)',
				'WITH (MODULUS 2, REMAINDER 1)'
			],
		},
	},
	numeric => {
		columns => ['Id "k"'],
		types => ['numeric'],
		spellings => sub {
			my $n = $_[0] - 12;
			[ number("$n") ], [ number("$n.0") ], [ number("$n.00") ];
		},
		partitions => {
			by => 'HASH',
			bounds => [
				'WITH (MODULUS 2, REMAINDER 0)',
				'WITH (MODULUS 2, REMAINDER 1)'
			],
		},
	},
	timestamptz => {
		columns => ['at'],
		types => ['timestamptz'],
		spellings => sub {
			[ text(sprintf('2024-01-%02d 12:00:00+00', $_[0] + 1)) ],
			  [ text(sprintf('2024-01-%02dT14:00:00+02', $_[0] + 1)) ];
		},
	},
	enum => {
		columns => ['Kind'],
		types => ['"Kinds"'],
		spellings => sub { [ text("kind $_[0]") ] },
	},
	'text and int4' => {
		columns => [ "the 'Key'", 'Id "k"' ],
		types => [ 'text COLLATE "C"', 'integer' ],
		spellings =>
		  sub { [ text(chr(ord('e') - $_[0] % 5)), number($_[0] >> 1) ] },
		partitions => {
			column => 1,
			by => 'RANGE',
			bounds => [ 'FROM (MINVALUE) TO (5)', 'FROM (5) TO (MAXVALUE)' ],
		},
	},
	'int8, numeric and uuid' => {
		columns => [ 'Id "k"', 'Nr', 'Uuid' ],
		types => [ 'bigint', 'numeric', 'uuid' ],
		spellings => sub {
			my $uuid = sprintf('00000000-0000-4000-8000-%012d', $_[0] % 3);
			[ number($_[0] % 2), number($_[0] % 5), text($uuid) ],
			  [ number($_[0] % 2), number($_[0] % 5 . '.0'), text($uuid) ];
		},
		partitions => {
			column => 2,
			by => 'HASH',
			bounds => [
				'WITH (MODULUS 2, REMAINDER 0)',
				'WITH (MODULUS 2, REMAINDER 1)'
			],
		},
	}
);

# Columns that can be counted up.  Fractions are multiples of 1/4, which binary
# floating point adds exactly.
sub whole { return number(int(rand(2001)) - 1000); }
sub quarters { return number((int(rand(2001)) - 1000) / 4); }

my %counters = (
	'Int n' => { type => 'integer NOT NULL DEFAULT 0', amount => \&whole },
	big => {
		type => 'bigint NOT NULL DEFAULT -7',
		amount => sub { number(int(rand(2**40))) }
	},
	small => {
		type => 'smallint NOT NULL DEFAULT 0',
		amount => sub { chance(5) ? number(30000) : whole() },
	},
	num => {
		type => 'numeric(20,4) NOT NULL DEFAULT 0.5',
		amount => sub {
			number(int(rand(1_000_000)) . '.' . sprintf('%04d', rand(10_000)));
		},
	},
	'Real' => { type => 'real NOT NULL DEFAULT 1.25', amount => \&quarters },
	double =>
	  { type => 'double precision NOT NULL DEFAULT 0', amount => \&quarters },
	positive =>
	  { type => '"Positive" NOT NULL DEFAULT 5000', amount => \&whole },
	maybe => { type => 'integer', amount => \&whole }
);

# Columns that are only set.
my %plain_columns = (
	"a 'Text'" => {
		type => 'text',
		value =>
		  sub { text(pick('', 'a', "it's", 'back\\slash', '"q"', 'x' x 300)) }
		,
	},
	'Short' => {
		type => "varchar(8) DEFAULT 'fresh'",
		value => sub { text(pick('abc', 'defghijk')) }
	},
	list => {
		type => 'integer[]',
		value => sub {
			pick({ json => '[1,null,3]', sql => "'{1,NULL,3}'" },
				{ json => '[]', sql => "'{}'" });
		},
	},
	doc => {
		type => q(jsonb DEFAULT '{"d": 1}'),
		value => sub {
			my $json =
			  pick('{"a": [1, {"b": null}]}', '"text"', '17', '[]', 'false');
			return { json => $json, sql => literal($json) };
		},
	},
	flag => {
		type => 'boolean',
		value => sub {
			pick(map { { json => $_, sql => $_ } } qw(true false));
		}
	},
	kind => {
		type => '"Kinds"',
		value => sub { text('kind ' . int(rand($nkeys))) }
	},
	pair => {
		type => '"Pair"',
		value => sub {
			pick({ json => '{"a": 1, "b": "x y"}', sql => q('(1,"x y")') },
				{ json => '{"b": null}', sql => "'(,)'" });
		},
	}
);

my $node = PostgreSQL::Test::Cluster->new('differential');
$node->init;
$node->append_conf('postgresql.conf', <<'EOC');
log_statement = none
fsync = off
deadlock_timeout = 100ms
EOC
$node->start;

sub sql { return $node->safe_psql('postgres', join("\n", @_)); }

# What all rounds share.  One sequence numbers the batches of all sessions.
sql(<<'EOS');
CREATE EXTENSION ordered_update;
CREATE DOMAIN "Small Key" AS smallint CHECK (VALUE > -100);
CREATE DOMAIN "Positive" AS bigint CHECK (VALUE > 0);
CREATE TYPE "Pair" AS (a integer, b text);
CREATE SCHEMA tools;
CREATE SEQUENCE tools.turn;
CREATE TABLE tools.log (turn bigint PRIMARY KEY, session integer, batch integer, result jsonb);
CREATE FUNCTION tools.run_batch(session integer, batch integer, call text) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
	result jsonb;
BEGIN
	EXECUTE format('SELECT jsonb_agg(to_jsonb(r) - ''ordinality'' ORDER BY r.ordinality)
					  FROM %s WITH ORDINALITY AS r', call) INTO result;
	INSERT INTO tools.log VALUES (nextval('tools.turn'), session, batch, result);
END $$;
CREATE FUNCTION tools.touch() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	NEW.touched := CASE TG_OP WHEN 'UPDATE' THEN OLD.touched + 1 ELSE 1 END;
	RETURN NEW;
END $$;
CREATE FUNCTION tools.audit() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE format('INSERT INTO %I.audit VALUES ($1, $2)', TG_ARGV[0])
	  USING TG_OP, coalesce(to_jsonb(NEW), to_jsonb(OLD));
	RETURN NULL;
END $$;
EOS
sql(sprintf 'CREATE TYPE "Kinds" AS ENUM (%s)',
	join(', ', map { "'kind $_'" } shuffled(0 .. $nkeys - 1)));

# A collation that takes "a" and "A" for the same is there where ICU is.
my $has_icu = sql(
	"SELECT count(*) FROM pg_collation WHERE collprovider = 'i' AND getdatabaseencoding() = 'UTF8'"
) > 0;
if ($has_icu)
{
	sql(
		q{CREATE COLLATION "No Case" (provider = icu, locale = 'und-u-ks-level2', deterministic = false)}
	);
}
else
{
	delete $key_kinds{'text, case-insensitive'};
}

# Make a schema: its key, its columns in some order, its kind.
sub random_schema
{
	my ($kind) = @_;
	my $key = $key_kinds{$kind};
	my $form =
	  pick('plain', 'plain', $key->{partitions} ? ('partitioned') x 2 : (),
		'unlogged');
	my @counters = (shuffled(sort keys %counters))[ 0 .. 3 ];
	my @plain = (shuffled(sort keys %plain_columns))[ 0 .. 3 ];
	my %types = (
		slot => 'integer NOT NULL',
		touched => 'bigint NOT NULL DEFAULT 0',
		dropped => 'text'
	);

	@types{ @{ $key->{columns} } } = @{ $key->{types} };
	$types{$_} = $counters{$_}->{type} for @counters;
	$types{$_} = $plain_columns{$_}->{type} for @plain;
	$types{twice} = 'bigint GENERATED ALWAYS AS (slot * 2) STORED'
	  if chance(50);
	return {
		kind => $kind,
		key => $key,
		form => $form,
		counters => \@counters,
		plain => \@plain,
		types => \%types,
		order => [ shuffled(sort keys %types) ],
		touching => chance(50),
		auditing => chance(30),
		reference => chance(30),
	};
}

sub key_columns
{
	my ($schema) = @_;
	return map { ident($_) } @{ $schema->{key}->{columns} };
}
sub key_list { my ($schema) = @_; return join(', ', key_columns($schema)); }
sub table_in { my ($where) = @_; return qq{$where."Diff's ""T"""}; }

sub column_list
{
	my ($schema, @names) = @_;
	return join(', ', map { ident($_) . " $schema->{types}->{$_}" } @names);
}

# The partitions of the table in a schema, of which each has its own order of
# columns and lacks the dropped one.
sub partition_statements
{
	my ($schema, $where) = @_;
	my $partitions = $schema->{key}->{partitions};
	my @statements;

	foreach my $i (0 .. $#{ $partitions->{bounds} })
	{
		my $bound = $partitions->{bounds}->[$i];
		my @names = shuffled(grep { $_ ne 'dropped' } @{ $schema->{order} });
		my @keys = map {
			sprintf('ALTER TABLE %s."part %d" ALTER %s SET NOT NULL',
				$where, $i, $_)
		} key_columns($schema);

		$bound = "FOR VALUES $bound" if $bound ne 'DEFAULT';
		push @statements,
		  sprintf('CREATE TABLE %s."part %d" (%s)',
			$where, $i, column_list($schema, @names)),
		  @keys,
		  sprintf('ALTER TABLE %s ATTACH PARTITION %s."part %d" %s',
			table_in($where), $where, $i, $bound);
	}
	return @statements;
}

# The statements that create the table of a schema in the namespace $where.
sub create_statements
{
	my ($schema, $where) = @_;
	my $table = table_in($where);
	my $partitions = $schema->{key}->{partitions};
	my $persistence = $schema->{form} eq 'unlogged' ? 'UNLOGGED' : '';
	my $partition_by = '';
	my @statements = ("CREATE SCHEMA $where");

	$partition_by = sprintf('PARTITION BY %s (%s)',
		$partitions->{by},
		(key_columns($schema))[ $partitions->{column} // 0 ])
	  if $schema->{form} eq 'partitioned';
	push @statements,
	  sprintf(
		'CREATE %s TABLE %s (%s, PRIMARY KEY (%s)) %s',
		$persistence, $table, column_list($schema, @{ $schema->{order} }),
		key_list($schema), $partition_by
	  ),
	  "ALTER TABLE $table DROP dropped",
	  "CREATE TABLE $where.audit (op text, image jsonb)";
	push @statements, partition_statements($schema, $where)
	  if $schema->{form} eq 'partitioned';
	push @statements,
	  "CREATE TRIGGER \"touch it\" BEFORE INSERT OR UPDATE ON $table FOR EACH ROW EXECUTE FUNCTION tools.touch()"
	  if $schema->{touching};
	push @statements,
	  "CREATE TRIGGER audit AFTER INSERT OR UPDATE OR DELETE ON $table FOR EACH ROW EXECUTE FUNCTION tools.audit('$where')"
	  if $schema->{auditing};
	push @statements,
	  sprintf(
		'CREATE %s TABLE %s.child AS SELECT %s FROM %s',
		$persistence, $where, key_list($schema), $table
	  ),
	  sprintf('ALTER TABLE %s.child ADD FOREIGN KEY (%s) REFERENCES %s',
		$where, key_list($schema), $table)
	  if $schema->{reference};

	foreach my $i (0 .. $nkeys - 1)
	{
		next if $i > $last_permanent && $i % 2;
		my ($spelling) = $schema->{key}->{spellings}->($i);
		push @statements,
		  sprintf('INSERT INTO %s (%s, slot) VALUES (%s, %d)',
			$table,
			key_list($schema), join(', ', map { $_->{sql} } @$spelling), $i);
	}
	return map { "$_;" } @statements;
}

# The same random choices must be made for both tables of a round.
sub create_tables
{
	my ($schema) = @_;
	my @live = create_statements($schema, 'live');
	my @replay = map { s/\blive\b/replay/gr } @live;

	sql(@live);
	$schema->{create_replay} = \@replay;
	return;
}

# A key of a batch: its number and one of its spellings.
sub random_key
{
	my ($schema, $deletable) = @_;
	my $i =
		$deletable || chance(25)
	  ? $last_permanent + 1 + int(rand($nkeys - $last_permanent - 1))
	  : int(rand($last_permanent + 1));

	return {
		number => $i,
		values => pick($schema->{key}->{spellings}->($i))
	};
}

sub random_keys
{
	my ($schema, $deletable) = @_;
	return map { random_key($schema, $deletable) } 1 .. 1 + int(rand(8));
}

# An object of a JSON batch: the key, and values by column.
sub object_json
{
	my ($schema, $object) = @_;
	my @columns = @{ $schema->{key}->{columns} };
	my @members =
	  map {
		json_string($columns[$_]) . ': '
		  . $object->{key}->{values}->[$_]->{json}
	  } 0 .. $#columns;

	push @members,
	  map { json_string($_) . ': ' . $object->{set}->{$_}->{json} }
	  sort keys %{ $object->{set} };
	return '{' . join(', ', shuffled(@members)) . '}';
}

sub random_values
{
	my ($schema) = @_;
	my %set;

	foreach my $column (@{ $schema->{plain} })
	{
		$set{$column} =
		  chance(20) ? null() : $plain_columns{$column}->{value}->()
		  if chance(50);
	}
	foreach my $column (@{ $schema->{counters} })
	{
		next unless chance(25);
		$set{$column} = $counters{$column}->{amount}->();
		$set{$column} = number(1 + int(rand(5000))) if $column eq 'positive';
		$set{$column} = null() if $column eq 'maybe' && chance(50);
	}
	return \%set;
}

# Mostly one object for each row; some batches repeat a row, with the same
# values or with others, which is an error.
sub random_objects
{
	my ($schema) = @_;
	my %seen;
	my @objects;

	foreach my $key (random_keys($schema, 0))
	{
		next if $seen{ $key->{number} }++ && !chance(3);
		push @objects, { key => $key, set => random_values($schema) };
	}
	if (chance(20))
	{
		my $object = pick(@objects);
		push @objects,
		  {
			key => {
				number => $object->{key}->{number},
				values => pick(
					$schema->{key}->{spellings}->($object->{key}->{number})
				)
			},
			set => $object->{set}
		  };
	}
	return shuffled(@objects);
}

sub random_amounts
{
	my ($schema) = @_;
	my @objects;

	foreach my $key (random_keys($schema, 0))
	{
		my %set = map { $_ => $counters{$_}->{amount}->() }
		  grep { chance(40) } @{ $schema->{counters} };
		push @objects, { key => $key, set => \%set };
	}
	return @objects;
}

my %generators = (
	ordered_increment => sub {
		my ($schema, $batch) = @_;
		$batch->{keys} = [ random_keys($schema, 0) ];
		$batch->{counter} = pick(@{ $schema->{counters} });
		$batch->{by} = $counters{ $batch->{counter} }->{amount}->()->{sql};
	},
	ordered_add => sub {
		my ($schema, $batch) = @_;
		$batch->{objects} = [ random_amounts($schema) ];
	},
	ordered_update => sub {
		my ($schema, $batch) = @_;
		$batch->{objects} = [ random_objects($schema) ];
	},
	ordered_upsert => sub {
		my ($schema, $batch) = @_;
		my %spelled;
		$batch->{objects} = [ random_objects($schema) ];
		foreach my $object (@{ $batch->{objects} })
		{
			# Of two spellings of a new key either may be stored.
			my $number = $object->{key}->{number};
			$object->{key} = $spelled{$number} //= $object->{key};
			$object->{set} = { %{ $object->{set} }, slot => number($number) };
		}
		$batch->{missing_ok} = 0;
	},
	ordered_delete => sub {
		my ($schema, $batch) = @_;
		$batch->{keys} = [ random_keys($schema, 1) ];
	},
	ordered_lock => sub {
		my ($schema, $batch) = @_;
		$batch->{keys} = [ random_keys($schema, 0) ];
		$batch->{strength} = pick('update', 'no key update', 'share');
		$batch->{nowait} = chance(5) ? 'true' : 'false';
	}
);
my @verbs = ('ordered_increment', 'ordered_add', 'ordered_update') x 4;
push @verbs, ('ordered_upsert') x 4, ('ordered_delete') x 2, 'ordered_lock';

# The keys of a batch as SQL: scalars, records, or rows of the table.
sub keys_sql
{
	my ($schema, $batch) = @_;
	my @columns = @{ $schema->{key}->{columns} };
	my @types = map { s/ COLLATE.*//r } @{ $schema->{key}->{types} };
	my $form = pick('array', 'array', 'rows');

	if ($form eq 'rows')
	{
		my $json = join(', ',
			map { object_json($schema, { key => $_, set => {} }) }
			  @{ $batch->{keys} });
		return sprintf('ARRAY(SELECT jsonb_populate_recordset(NULL::%s, %s))',
			table_in('live'), literal("[$json]"));
	}
	my @keys = map {
		my $values = $_->{values};
		my @sql = map { "$values->[$_]->{sql}::$types[$_]" } 0 .. $#types;
		@sql > 1 ? 'ROW(' . join(', ', @sql) . ')' : @sql;
	} @{ $batch->{keys} };
	return 'ARRAY[' . join(', ', @keys) . ']';
}

# The call of a batch.
sub call_sql
{
	my ($schema, $batch) = @_;
	my @arguments = ('NULL::' . table_in('live'));

	if ($batch->{objects})
	{
		push @arguments,
		  literal(
			'['
			  . join(', ',
				map { object_json($schema, $_) } @{ $batch->{objects} })
			  . ']'
		  );
	}
	else
	{
		push @arguments, keys_sql($schema, $batch);
	}
	push @arguments, literal($batch->{counter}), $batch->{by}
	  if $batch->{counter};
	push @arguments, literal($batch->{strength}), $batch->{nowait}
	  if $batch->{strength};
	push @arguments, 'missing_ok => true' if $batch->{missing_ok};
	return "$batch->{verb}(" . join(', ', @arguments) . ')';
}

sub random_batch
{
	my ($schema) = @_;
	my $batch = {
		verb => pick(@verbs),
		missing_ok => chance(60),
		begin =>
		  pick('', '', 'READ COMMITTED', 'REPEATABLE READ', 'SERIALIZABLE')
	};

	$generators{ $batch->{verb} }->($schema, $batch);
	$batch->{call} = call_sql($schema, $batch);
	return $batch;
}

# What a batch may fail with: a row is missing, an amount overflows, a row is
# given two values, a counter is null, no column is named, a domain's check
# fails, NOWAIT.
my %allowed =
  map { $_ => 1 } qw(00000 P0002 22003 21000 22004 22023 23514 55P03);

# Send one batch through a psql, and return the SQLSTATE it ended with.
sub send_batch
{
	my ($in, $out, $session, $number, $batch) = @_;
	my $text =
	  sprintf("SELECT tools.run_batch(%d, %d, %s);\n\\echo state :SQLSTATE\n",
		$session, $number, literal($batch->{call}));
	my @states;

	$text =
	  "BEGIN ISOLATION LEVEL $batch->{begin};\n${text}COMMIT;\n\\echo state :SQLSTATE\n"
	  if $batch->{begin};
	print {$in} $text;
	while (@states < ($batch->{begin} ? 2 : 1))
	{
		my $line = <$out> // die "psql ended at batch: $batch->{call}\n";
		push @states, $1 if $line =~ /^state (\w+)/;
	}
	return (grep { $_ ne '00000' } @states)[0] // '00000';
}

# Run the batches of a session, and write how each ended into a file.
sub run_session
{
	my ($session, $batches, $file) = @_;
	open my $report, '>', $file or die $!;
	open my $errors, '>', "$file.errors" or die $!;
	my $pid = open3(
		my $in, my $out,
		'>&' . fileno($errors), $node->installed_command('psql'),
		'-XAtq', '-v',
		'VERBOSITY=verbose', '-d',
		$node->connstr('postgres')
	);

	$in->autoflush(1);
	print {$in} "SET lock_timeout = '60s';\n";
	foreach my $number (0 .. $#$batches)
	{
		my $tries = 0;
		my $state;

		do
		{
			$state =
			  send_batch($in, $out, $session, $number, $batches->[$number]);
			print {$report} "$number $state\n";
		} while ($state eq '40001' && ++$tries < 200);
	}
	close $in;
	waitpid($pid, 0);
	close $report;
	return;
}

# Run all sessions at once.  Returns how often each SQLSTATE was seen, and
# fails for one that no batch may end with.
sub race
{
	my ($round, $sessions) = @_;
	my %seen;
	my @children;

	foreach my $session (0 .. $#$sessions)
	{
		my $file =
		  PostgreSQL::Test::Utils::tempdir() . "/round$round.session$session";
		my $pid = fork // die "fork: $!";

		if ($pid == 0)
		{
			eval { run_session($session, $sessions->[$session], $file); 1 }
			  or warn $@;
			POSIX::_exit($@ ? 1 : 0);
		}
		push @children, { pid => $pid, file => $file, session => $session };
	}
	foreach my $child (@children)
	{
		waitpid($child->{pid}, 0);
		die "session $child->{session} of round $round ended with $?" if $?;
		foreach my $line (split /\n/, slurp_file($child->{file}))
		{
			my ($number, $state) = split / /, $line;
			$seen{$state}++;
			next if $allowed{$state} || $state eq '40001';
			fail(
				"round $round: $state of $sessions->[$child->{session}]->[$number]->{call}"
			);
			diag(
				grep { /$state/ } map { "$_\n" } split /\n/,
				slurp_file("$child->{file}.errors")
			);
		}
	}
	return \%seen;
}

# The condition that picks keys, by number, in plain SQL.
sub key_condition
{
	my ($schema, @numbers) = @_;
	my @keys = map {
		my ($spelling) = $schema->{key}->{spellings}->($_);
		'(' . join(', ', map { $_->{sql} } @$spelling) . ')';
	} @numbers;
	return '(' . key_list($schema) . ') IN (' . join(', ', @keys) . ')';
}

# The change of each row by plain SQL.  Objects for a row come together.
my %replays = (
	ordered_increment => sub {
		my ($schema, $batch, $table, @numbers) = @_;
		my $counter = ident($batch->{counter});
		return
		  "UPDATE $table SET $counter = $counter + ($batch->{by}) WHERE "
		  . key_condition($schema, @numbers);
	},
	ordered_add => sub {
		my ($schema, $batch, $table, @numbers) = @_;
		my @statements;

		# All rows of the batch set the counters that any object names.
		my %named = map {
			map { $_ => 1 } keys %{ $_->{set} }
		} @{ $batch->{objects} };
		foreach my $number (@numbers)
		{
			my @objects =
			  grep { $_->{key}->{number} == $number } @{ $batch->{objects} };
			my @sets;
			foreach my $column (sort keys %named)
			{
				my @amounts = map {
					$_->{set}->{$column}
					  ? "($_->{set}->{$column}->{sql})::numeric"
					  : ()
				} @objects;
				push @sets,
				  sprintf(
					'%s = %s',
					ident($column),
					join(' + ',
						ident($column),
						@amounts ? '(' . join(' + ', @amounts) . ')' : ())
				  );
			}
			push @statements,
				"UPDATE $table SET "
			  . join(', ', @sets)
			  . ' WHERE '
			  . key_condition($schema, $number);
		}
		return @statements;
	},
	ordered_update => sub {
		my ($schema, $batch, $table, @numbers) = @_;
		my @statements;

		foreach my $number (@numbers)
		{
			my ($object) =
			  grep { $_->{key}->{number} == $number } @{ $batch->{objects} };
			my $set = $object->{set};
			my @sets =
			  map { ident($_) . " = $set->{$_}->{sql}" } sort keys %$set;
			@sets = ('touched = touched') unless @sets;
			push @statements,
				"UPDATE $table SET "
			  . join(', ', @sets)
			  . ' WHERE '
			  . key_condition($schema, $number);
		}
		return @statements;
	},
	ordered_upsert => sub {
		my ($schema, $batch, $table, @numbers) = @_;
		my @statements;

		foreach my $number (@numbers)
		{
			my ($object) =
			  grep { $_->{key}->{number} == $number } @{ $batch->{objects} };
			my $set = $object->{set};
			my @columns = sort keys %$set;
			push @statements,
			  sprintf(
				'INSERT INTO %s (%s) VALUES (%s) ON CONFLICT (%s) DO UPDATE SET %s',
				$table,
				join(', ', key_columns($schema), map { ident($_) } @columns),
				join(', ',
					map { $_->{sql} } @{ $object->{key}->{values} },
					map { $set->{$_} } @columns),
				key_list($schema),
				join(', ',
					map { ident($_) . ' = EXCLUDED.' . ident($_) } @columns)
			  );
		}
		return @statements;
	},
	ordered_delete => sub {
		my ($schema, $batch, $table, @numbers) = @_;
		return "DELETE FROM $table WHERE " . key_condition($schema, @numbers);
	},
	ordered_lock => sub { return; }
);

# The statements that replay one committed batch, and note it in replay.wrong
# when the rows it returned are not those that the replay has.
sub replay_statements
{
	my ($schema, $batch, $turn, @numbers) = @_;
	my $table = table_in('replay');
	my $check = sprintf(
		'INSERT INTO replay.wrong SELECT turn, result, rows FROM tools.log,
		(SELECT jsonb_agg(to_jsonb(t) ORDER BY %s) AS rows FROM %s AS t WHERE %s) AS r
		WHERE turn = %d AND result IS DISTINCT FROM rows',
		join(', ', map { "t.$_" } key_columns($schema)), $table,
		key_condition($schema, @numbers), $turn
	);
	my @statements =
	  $replays{ $batch->{verb} }->($schema, $batch, $table, @numbers);

	return () unless @numbers;
	return
	  map { "$_;" }
	  $batch->{verb} eq 'ordered_delete'
	  ? ($check, @statements)
	  : (@statements, $check);
}

# Replay the committed batches but the one numbered $left_out.
sub replay
{
	my ($schema, $committed, $left_out) = @_;
	my @statements = (
		'BEGIN;',
		@{ $schema->{create_replay} },
		'CREATE TABLE replay.wrong (turn bigint, result jsonb, rows jsonb);'
	);
	my $file = PostgreSQL::Test::Utils::tempdir() . '/replay.sql';

	foreach my $entry (@$committed)
	{
		next if $entry->{turn} == $left_out;
		push @statements,
		  replay_statements($schema, $entry->{batch}, $entry->{turn},
			@{ $entry->{numbers} });
	}
	push @statements, 'COMMIT;';
	append_to_file($file, join("\n", @statements));
	$node->command_ok(
		[
			'psql', '-XAtq',
			'-v', 'ON_ERROR_STOP=1',
			'-d', $node->connstr('postgres'),
			'-f', $file
		],
		'replay runs'
	);
	unlink $file;
	return;
}

# Rows that are in one of the two tables only, and audited changes too.
sub difference
{
	my ($name) = @_;
	my ($live, $replay) =
	  $name eq 'audit'
	  ? ('live.audit', 'replay.audit')
	  : (table_in('live'), table_in('replay'));

	return sql(<<"EOS");
SELECT 'live', x FROM (SELECT to_jsonb(t) FROM $live AS t EXCEPT ALL SELECT to_jsonb(t) FROM $replay AS t) AS d(x)
UNION ALL
SELECT 'replay', x FROM (SELECT to_jsonb(t) FROM $replay AS t EXCEPT ALL SELECT to_jsonb(t) FROM $live AS t) AS d(x)
EOS
}

# The log in its order: the batch, and the numbers of the keys it returned.
sub read_log
{
	my ($sessions) = @_;
	my @committed;

	foreach my $line (split /\n/, sql(<<'EOS'))
SELECT turn, session, batch,
	   coalesce((SELECT string_agg(r ->> 'slot', ',' ORDER BY o)
				   FROM jsonb_array_elements(result) WITH ORDINALITY AS e(r, o)), '')
  FROM tools.log ORDER BY turn
EOS
	{
		my ($turn, $session, $number, $slots) = split /\|/, $line, -1;
		push @committed,
		  {
			turn => $turn,
			session => $session,
			batch => $sessions->[$session]->[$number],
			numbers => [ split /,/, $slots ],
		  };
	}
	return \@committed;
}

# Rows that a batch asked for, that nobody deletes, and that it did not return.
sub skipped_rows
{
	my ($committed) = @_;
	my @skipped;

	foreach my $entry (@$committed)
	{
		my $batch = $entry->{batch};
		my %returned = map { $_ => 1 } @{ $entry->{numbers} };
		my @wanted =
		  map { $_->{number} }
		  $batch->{keys} ? @{ $batch->{keys} } : map { $_->{key} }
		  @{ $batch->{objects} };

		@wanted = grep { $_ <= $last_permanent } @wanted
		  if $batch->{missing_ok};
		push @skipped,
		  map { "row $_ by $batch->{call}" } grep { !$returned{$_} } @wanted;
	}
	return @skipped;
}

# The last increment of a row that nothing changed afterwards: without it the
# final state must be another.
sub find_control
{
	my ($committed) = @_;
	my %later;

	foreach my $entry (reverse @$committed)
	{
		my $batch = $entry->{batch};
		return $entry->{turn}
		  if $batch->{verb} eq 'ordered_increment'
		  && $batch->{by} != 0
		  && grep { !$later{$_} } @{ $entry->{numbers} };
		$later{$_} = 1 for @{ $entry->{numbers} };
	}
	return;
}

my %totals;
my $ncontrols = 0;
my $ncommitted = 0;
my $nswitches = 0;
my $nrounds = POSIX::ceil($nbatches / $batches_per_round);
my @kinds = shuffled(sort keys %key_kinds);

foreach my $round (1 .. $nrounds)
{
	my $schema = random_schema($kinds[ $round % @kinds ]);
	my $in_round =
		$round < $nrounds
	  ? $batches_per_round
	  : $nbatches - ($nrounds - 1) * $batches_per_round;
	my $nsessions = 2 + int(rand(3));
	my @sessions;
	my $name = join(', ',
		"round $round: key $schema->{kind}",
		$schema->{form},
		$schema->{touching} ? 'BEFORE trigger' : (),
		$schema->{auditing} ? 'AFTER trigger' : (),
		$schema->{reference} ? 'referenced' : (),
		"$nsessions sessions");

	push @{ $sessions[ $_ % $nsessions ] }, random_batch($schema)
	  for 1 .. $in_round;
	sql(
		'TRUNCATE tools.log;',
		'DROP SCHEMA IF EXISTS live CASCADE;',
		'DROP SCHEMA IF EXISTS replay CASCADE;'
	);
	create_tables($schema);
	my $seen = race($round, \@sessions);
	$totals{$_} += $seen->{$_} for keys %$seen;

	my $committed = read_log(\@sessions);
	$ncommitted += @$committed;
	$nswitches += grep {
		$committed->[$_]->{session} != $committed->[ $_ - 1 ]->{session}
	} 1 .. $#$committed;
	is(scalar(@$committed), $seen->{'00000'},
		"$name: every batch that ended well is in the log");
	is(join("\n", skipped_rows($committed)),
		'', "$name: no row was skipped that was there");

	replay($schema, $committed, 0);
	is(difference('table'), '',
		"$name: the table is that of the serial replay");
	is(difference('audit'), '',
		"$name: the audited changes are those of the serial replay");
	is(sql('SELECT * FROM replay.wrong ORDER BY turn LIMIT 3'), '',
		"$name: each batch returned the rows of the serial replay, in key order"
	);

	my $left_out = find_control($committed);
	next if $ncontrols >= 3 || !defined $left_out;
	$ncontrols++;
	sql('DROP SCHEMA replay CASCADE');
	replay($schema, $committed, $left_out);
	isnt(difference('table'), '',
		"$name: control: a replay without one of the batches is different");
}

note
  "$ncommitted batches committed, next to each other from different sessions $nswitches times";
note 'SQLSTATEs: ' . join(', ', map { "$_: $totals{$_}" } sort keys %totals);
ok($ncommitted > $nbatches / 3, 'a good part of the batches was committed');
cmp_ok($nswitches, '>', $ncommitted / 10, 'the sessions took turns');
cmp_ok($ncontrols, '>', 0, 'a control was run');
ok(!$totals{'40P01'}, 'no batch deadlocked');
is(
	$node->safe_psql(
		'postgres',
		"SELECT deadlocks FROM pg_stat_database WHERE datname = 'postgres'"
	),
	0,
	'the server counts no deadlock'
);

$node->stop;
done_testing();
