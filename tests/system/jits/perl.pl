# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
# Subroutines, blocks called by sort and s///e, eval, strings, patterns.
use strict;
use warnings;
use Time::HiRes qw(clock_gettime CLOCK_MONOTONIC);

my ($file, $seconds) = @ARGV;

sub stamp {
	my $now = clock_gettime(CLOCK_MONOTONIC);

	open(my $out, '>>', $file) or die "$file: $!";
	printf $out "%s %.9f\n", shift, $now;
	close $out;
	return $now;
}

sub fib { my $n = shift; return $n < 2 ? $n : fib($n - 1) + fib($n - 2) }
sub below { my $n = shift; die "out\n" if !$n; below($n - 1) }

sub work {
	my %seen;

	fib(12);
	my @sorted = sort { $b <=> $a } map { $_ * 7919 % 1009 } 1 .. 300;
	eval { below(20) };
	my $text = 'a stack of frames ' x 40;
	$text =~ s/([aeiou]+)/uc $1/ge;
	$seen{$_}++ for split /\s+/, $text;
	my $packed = pack 'N*', @sorted;
	my $joined = join ',', map { sprintf '%05d', $_ } unpack 'N*', $packed;
	tie my $tied, 'Counter';
	$tied = $_ for 1 .. 20;
}

sub Counter::TIESCALAR { my $value = 0; return bless \$value, shift }
sub Counter::STORE { my ($self, $new) = @_; $$self = $new }
sub Counter::FETCH { my $self = shift; return $$self }

my $last = stamp('begin') + $seconds;
work() while clock_gettime(CLOCK_MONOTONIC) < $last;
stamp('end');
