# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# Output of prove(1) for the tests that tests/lib/run runs:
#
#   PERL5LIB=tests/lib prove --formatter Report --exec tests/lib/run NAME...
#
# Prints a line for each test, the failures, and sums.  Counts cases at each depth
# of subtests; each subtest must be complete, whatever the line after it says.  With
# SFJIT_STRICT=1 a skipped case has failed, unless a line of tools/allowed-skips
# matches why.  In a directory $SFJIT_RESULTS each test gets a file "PASSED FAILED
# SKIPPED SECONDS".

package Report;

use strict;
use warnings;
use base 'TAP::Formatter::Base';
use TAP::Parser;

sub prepare {
	my ($self, @tests) = @_;

	$self->SUPER::prepare(@tests);
	@{$self->{tests}} = @tests;
	$self->{allowed} = allowed_skips();
	$| = 1;
	for my $signal ('INT', 'TERM', 'HUP') {
		$SIG{$signal} = sub {
			$self->summary;
			exit 1;
		};
	}
}

sub allowed_skips {
	open my $file, '<', 'tools/allowed-skips' or return [];
	return [map { qr/$_/ } grep { !/^#/ && /./ } map { chomp; $_ } <$file>];
}

sub open_test {
	my ($self, $name, $parser) = @_;

	return Report::Test->new($self, $name, $parser);
}

sub say_line {
	my ($self, @text) = @_;

	$self->_output(join('', @text) . "\n");
}

# The nonzero parts of "PASSED FAILED SKIPPED".
sub counts {
	my ($counts, $all) = @_;
	my @words = ('passed', 'failed', 'skipped');

	return join ', ', map { "$counts->[$_] $words[$_]" }
		grep { $all || $counts->[$_] } 0 .. 2;
}

# A test that did not run to its end has failed.
sub summary {
	my ($self) = @_;
	my (%groups, @order);
	my $sum = [0, 0, 0];

	for my $name (@{$self->{tests}}) {
		my ($group) = split m{/}, $name;

		$self->ended($name, 'FAIL', [0, 1, 0], 0, 'not run')
			unless $self->{results}{$name};
		push @order, $group unless $groups{$group};
		$groups{$group} ||= [0, 0, 0];
		for (0 .. 2) {
			$groups{$group}[$_] += $self->{results}{$name}[$_];
			$sum->[$_] += $self->{results}{$name}[$_];
		}
	}
	if (@order > 1) {
		$self->say_line("$_: ", counts($groups{$_}, 1)) for @order;
	}
	# tools/check adds up several runs, and sets this.
	$self->say_line(counts($sum, 1)) unless $ENV{SFJIT_PART};
}

sub ended {
	my ($self, $name, $verdict, $counts, $seconds, $note) = @_;
	my $width = $self->_longest;

	$self->{results}{$name} = $counts;
	$self->say_line(sprintf("%-4s %-*s   %s (%d:%02d)%s", $verdict, $width,
		$name, counts($counts), $seconds / 60, $seconds % 60,
		$note ? ", $note" : ''));
	return unless $ENV{SFJIT_RESULTS};
	open my $file, '>', "$ENV{SFJIT_RESULTS}/" . $name =~ tr{/}{-}r
		or die "$ENV{SFJIT_RESULTS}: $!\n";
	print $file "@$counts $seconds\n";
	close $file or die "$ENV{SFJIT_RESULTS}: $!\n";
}

package Report::Test;

sub new {
	my ($class, $report, $name, $parser) = @_;

	return bless {
		report => $report, name => $name, parser => $parser,
		began => time, lines => [], passed => 0, failed => [],
		skipped => [],
	}, $class;
}

sub result {
	my ($self, $result) = @_;

	push @{$self->{lines}}, split /\n/, $result->raw;
}

sub close_test {
	my ($self) = @_;
	my $parser = $self->{parser};
	my $note;

	$self->judge($self->{lines});
	# They are those found above, but for TAP that this does not look for.
	if (!@{$self->{failed}}) {
		$self->fail([], $_) for $parser->parse_errors;
	}
	if ($parser->wait) {
		my $end = 'exit status ' . ($parser->exit || $parser->wait);

		$self->fail([], $end) unless @{$self->{failed}};
		$note //= $end;
	}
	if (@{$self->{failed}} && !$parser->has_problems) {
		$parser->_add_error('a subtest or a skipped case');
	}
	$self->show($note);
}

sub show {
	my ($self, $note) = @_;
	my $report = $self->{report};
	my $O = $ENV{O} || 'build';
	my $log = "$O/logs/" . $self->{name} =~ tr{/}{-}r . '.log';
	my @failed = @{$self->{failed}};
	my @lines = @{$self->{lines}};

	$report->ended($self->{name}, @failed ? 'FAIL' : 'ok',
		[$self->{passed}, @failed + 0, @{$self->{skipped}} + 0],
		time - $self->{began}, $note);
	$self->show_skipped;
	for (@failed) {
		my ($path, @why) = @$_;

		$report->say_line('     not ok ', text($path));
		$report->say_line("       $_") for @why;
	}
	return unless @failed;
	$report->say_line("     see $log, which ends with");
	splice @lines, 0, -10 if @lines > 10;
	$report->say_line("     | $_") for @lines;
}

# Skips that strict mode would not allow, by reason.
sub show_skipped {
	my ($self) = @_;
	my (%names, @reasons);

	for (@{$self->{skipped}}) {
		my ($path, $why) = @$_;

		next if $self->allowed($why);
		push @reasons, $why unless $names{$why};
		push @{$names{$why}}, text($path);
	}
	for my $why (@reasons) {
		my ($first, @more) = @{$names{$why}};

		$self->{report}->say_line("     skipped $first",
			@more ? ', ' . @more . ' more' : '', ": $why");
	}
}

# Names of subtests and of the case; KTAP repeats that of a suite.
sub text {
	my ($path) = @_;
	my @names;

	for (@$path) {
		push @names, $_ unless @names && $names[-1] eq $_;
	}
	return join ': ', @names;
}

sub allowed {
	my ($self, $why) = @_;

	return grep { $why =~ $_ } @{$self->{report}{allowed}};
}

sub fail {
	my ($self, $path, @why) = @_;

	push @{$self->{failed}}, [@$path ? $path : [$self->{name}], @why];
}

sub skip {
	my ($self, $path, $why) = @_;

	if (($ENV{SFJIT_STRICT} || '') eq '1' && !$self->allowed($why)) {
		$self->fail($path, "skipped: $why");
	} else {
		push @{$self->{skipped}},
			[@$path ? $path : [$self->{name}], $why];
	}
}

# Cases are lines of this depth, each with the text before and after it, and with
# the lines of its subtest: the further indented ones before it.  kselftest says
# why a case failed after a line "#  RUN", and before "not ok".
sub split_block {
	my ($lines) = @_;
	my (@own, @cases, @said, @inner);
	my ($announced, $open) = (0, 0);

	for my $i (0 .. $#$lines) {
		my $line = $lines->[$i];

		if ($line =~ s/^ {4}//) {
			push @inner, $line;
			push @said, $line;
			$open = 0;
			next;
		}
		next if $line =~ /^K?TAP version /;
		push @own, $line;
		if ($line =~ /^(?:not )?ok\b/) {
			push @cases, {
				inner => subtest($announced, @inner),
				before => [@said > 8 ? @said[-8 .. -1] : @said],
				after => [],
			};
			@said = @inner = ();
			$announced = 0;
			$open = 1;
		} elsif ($open && $line =~ /^# ?(.*)/ && $1 !~ /^Subtest: |^ RUN /) {
			push @{$cases[-1]{after}}, $1;
		} else {
			$announced ||= $line =~ /^# Subtest: / &&
				($lines->[$i + 1] // '') =~ /^ {4}/;
			push @said, $line;
			$open = 0;
		}
	}
	return \@own, \@cases, subtest($announced, @inner);
}

# Indented lines may also be text.
sub subtest {
	my ($announced, @lines) = @_;
	my $is_tap = grep { /^(?:# Subtest: |1\.\.\d|K?TAP version )/ } @lines;

	return ($announced && @lines) || $is_tap ? \@lines : undef;
}

sub unescaped {
	return $_[0] =~ s/\\([\\#])/$1/gr =~ s/\s+\z//r;
}

# Counts the cases of a block.
sub judge {
	my ($self, $lines, @path) = @_;
	my ($own, $cases, $rest) = split_block($lines);
	# It takes no text without a line.
	my $parser = TAP::Parser->new({tap => join("\n", @$own, '#', '')});
	my $nr = 0;

	while (my $result = $parser->next) {
		if ($result->is_test) {
			my $name = $result->description =~ s/^- //r;

			$nr += $self->judge_case($result, shift @$cases, @path,
				unescaped($name));
		}
	}
	my $why = $parser->skip_all // '';

	if ($rest) {
		$nr += $self->judge($rest, @path);
		$self->fail([@path], 'a subtest did not end');
	}
	if ($why ne '' && $why ne '(no reason given)') {
		$self->skip([@path], unescaped($why));
		$nr++;
	}
	if (!$nr) {
		$self->fail([@path], 'no case');
		return 1;
	}
	# KUnit does not know how many parameters a case will have.
	for my $error ($parser->parse_errors) {
		$self->fail([@path], $error) unless $error =~ /^No plan/ &&
			grep { /^KTAP version / } @$lines;
	}
	return $nr;
}

sub judge_case {
	my ($self, $result, $case, @path) = @_;
	my @why = (@{$case->{before}}, @{$case->{after}});
	my $failed = @{$self->{failed}};
	my $nr = 1;

	if ($case->{inner}) {
		$nr = $self->judge($case->{inner}, @path);
		$self->fail(\@path, @{$case->{after}})
			if !$result->is_actual_ok && @{$self->{failed}} == $failed;
	} elsif (!$result->is_actual_ok) {
		$self->fail(\@path, @why);
	} elsif ($result->has_skip) {
		$self->skip(\@path, unescaped($result->explanation));
	} else {
		$self->{passed}++;
	}
	return $nr;
}

1;
