# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
"""usage: check_go.py CHAIN SAMPLES [DUMP]

Reads what tests/golang/chain.go has printed, and "perf script -F
comm,pid,tid,ip,sym" of it. Prints "KIND EXACT OTHER" for code with a frame, a leaf
without one, assembly without one, C that Go has called, and Go that C has called
there. Exact: below the worker is the known chain. The first ones that are not go to
stderr.

DUMP is "perf script -D" of a recording of sfjit record, with the addresses of all
samples: perf before 6.5 prints offsets in files. Those of callers are in the call,
as perf's own of --call-graph=dwarf.
"""
import collections
import os
import sys

sys.path.append(os.path.join(sys.path[0], '../lib'))
import perfscript

CONTEXT = 2 ** 64 - 4095
ASSEMBLY = ('countbody', 'indexbytebody', 'runtime.memmove', 'internal/bytealg.')


# And the worker that is below, how many frames at most. A signal, by which Go's
# scheduler preempts, may interrupt any of them.
def kind_of(names):
    if 'runtime.sigtramp' in names:
        return None, None, 0
    if 'main.called_back' in names or 'called_back' in names:
        return 'back', 'main.back', 64
    if names[0] in ('spin', 'in_c'):
        return 'native', 'main.native', 64
    if names[0] == 'main.compute':
        return 'frame', 'main.compute', 0
    if names[0] == 'main.leaf':
        return 'leaf', 'main.compute', 1
    # Assembly calls assembly.
    if names[0].startswith(ASSEMBLY) and 'main.inner' in names:
        return 'assembly', 'main.memory', 3
    return None, None, 0


def dumped(path):
    """Addresses of each sample."""
    chains = []
    with open(path, encoding='utf-8', errors='replace') as lines:
        for line in lines:
            words = line.split()
            if line.startswith('... FP chain: nr:'):
                chains.append([])
            elif chains and len(words) == 3 and words[0] == '.....' and \
                    words[1] == '%d:' % len(chains[-1]):
                chains[-1].append(int(words[2], 16))
    return [[ip for ip in chain if ip < CONTEXT] for chain in chains]


def with_addresses(samples, chains):
    samples = list(samples)
    assert [len(sample.frames) for sample in samples] == \
        [len(chain) for chain in chains]
    for sample, chain in zip(samples, chains):
        sample.frames[:] = [frame._replace(ip=ip)
                            for frame, ip in zip(sample.frames, chain)]
    return samples


def is_exact(frames, names, worker, most, chain):
    if worker not in names[:most + 1]:
        return False
    at = names.index(worker)
    return [frame.ip for frame in frames[at + 1:]] == chain


def main():
    with open(sys.argv[1], encoding='ascii') as said:
        line = next(line for line in said if line.startswith('chain: '))
    chain = [int(word, 16) for word in line.split()[1:]]
    counts = collections.defaultdict(lambda: [0, 0])
    with open(sys.argv[2], encoding='utf-8') as text:
        samples = perfscript.samples(text, 'comm,pid,tid,ip,sym')
        if len(sys.argv) > 3:
            samples = with_addresses(samples, dumped(sys.argv[3]))
            chain = [ip - 1 for ip in chain]
        for sample in samples:
            frames = [frame for frame in sample.frames
                      if frame.ip < perfscript.KERNEL]
            names = [frame.name.removesuffix('.abi0') for frame in frames]
            kind, worker, most = kind_of(names or [''])
            if not kind or len(frames) != len(sample.frames):
                continue
            exact = is_exact(frames, names, worker, most, chain)
            counts[kind][not exact] += 1
            if not exact and counts[kind][1] < 4:
                print(' '.join('%x:%s' % pair for pair in zip(
                    (frame.ip for frame in frames), names)), file=sys.stderr)
    for kind in 'frame', 'leaf', 'assembly', 'native', 'back':
        print(kind, *counts[kind])


main()
