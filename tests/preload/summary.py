# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
"""usage: summary.py COMM END CHAIN SAMPLES [only=REGEX] [even]

Of the user stacks of COMM whose frames include END, prints for each process
"PID stacks N complete N exact N", and the first two that are not to stderr.
CHAIN: names from END outwards, separated by spaces. Frames whose names do not
match REGEX are left out; with "even" those at odd addresses, too: what perf adds
itself on AArch64, an address less one, is not the kernel's.
SAMPLES is what perf script -F comm,pid,ip,sym says.
"""
import re
import sys
from collections import Counter

sys.path.append(sys.path[0] + '/../lib')

import perfscript


def main(comm, end, chain, path, *options):
    only = next((option[5:] for option in options
                 if option.startswith('only=')), '')
    total, exact, complete = Counter(), Counter(), Counter()
    shown, want = 0, chain.split()
    for sample in perfscript.read(path, 'comm,pid,ip,sym'):
        names = [frame.name for frame in sample.frames
                 if re.search(only, frame.name) and
                 not ('even' in options and frame.ip % 2)]
        if sample.comm != comm or end not in names:
            continue
        start = names.index(end) + 1
        is_exact = names[start:start + len(want)] == want
        is_complete = names[-1] == '_start'
        total[sample.pid] += 1
        exact[sample.pid] += is_exact
        complete[sample.pid] += is_complete
        if not (is_exact and is_complete) and shown < 2:
            print(comm, sample.pid, *names, '', sep='\n', file=sys.stderr)
            shown += 1
    for pid in total:
        print(pid, 'stacks', total[pid], 'complete', complete[pid], 'exact',
              exact[pid])


main(*sys.argv[1:])
