# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors

# Six seconds of patterns, sorting, recursion, closures and evals.
use strict;
use warnings;

my $end = time + 6;

sub fib {
	my $n = shift;
	return $n < 2 ? $n : fib($n - 1) + fib($n - 2);
}

sub nested {
	my ($depth, $code) = @_;
	return $depth ? nested($depth - 1, $code) : $code->();
}

while (time < $end) {
	my %count;
	fib(12);
	my $numbers = join ' ', 1 .. 2000;
	$count{$1}++ while $numbers =~ /(\d)\d*5/g;
	my @sorted = sort { nested(3, sub { $b <=> $a }) } map { ($_ * 7919) % 1009 } 1 .. 200;
	(my $text = "a stack of frames " x 50) =~ s/([aeiou]+)/uc($1) . length($1)/ge;
	eval { nested(10, sub { die "out\n" }) } for 1 .. 100;
	my $packed = pack('N*', @sorted);
	my @back = unpack('N*', $packed);
	my $line = sprintf('%s %d %.3f', $text, scalar(@back), 1 / 3);
	$line =~ tr/a-z/b-za/;
	eval 'my @x = map { $_ ** 2 } 1 .. 50; 1' or die;
}
