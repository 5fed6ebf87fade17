#!/usr/bin/env perl
#
# delay.pl FROM TO SECONDS: pass on what comes through the Unix socket FROM to
# the Unix socket TO, and back, each way SECONDS later.  Ends when FROM is gone.
#
# All that is read goes into one queue, which is in the order in which it is
# due, as the delay is the same for all.

use strict;
use warnings;
use IO::Select;
use IO::Socket::UNIX;
use Time::HiRes qw(time);

my ($from, $to, $delay) = @ARGV;
my $door = IO::Socket::UNIX->new(Local => $from, Listen => 128) or die "$from: $!\n";
my $sockets = IO::Select->new($door);
my (%peer, @queue);

$SIG{PIPE} = 'IGNORE';

sub connect_through
{
	my $client = $door->accept or return;
	my $server = IO::Socket::UNIX->new(Peer => $to) or return;
	$peer{$client} = $server;
	$peer{$server} = $client;
	$sockets->add($client, $server);
}

# End of file is passed on too, as undef.
sub take_from
{
	my ($socket) = @_;
	my $length = sysread($socket, my $data, 65536);
	push @queue, [ time + $delay, $socket, $length ? $data : undef ];
	$sockets->remove($socket) unless $length;
}

sub hand_on
{
	my ($due, $socket, $data) = @_;
	if (defined $data)
	{
		syswrite($peer{$socket}, $data);
		return;
	}
	shutdown($peer{$socket}, 1);
	delete $peer{$socket};
}

while (@queue || -e $from)
{
	my $wait = @queue ? $queue[0][0] - time : 0.5;
	$wait = 0 if $wait < 0;
	$_ == $door ? connect_through() : take_from($_) for $sockets->can_read($wait);
	hand_on(@{ shift @queue }) while @queue && $queue[0][0] <= time;
}
