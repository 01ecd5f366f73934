# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
"""usage: vdso.py SAMPLES

Of stacks that end in the vDSO, prints those that are not all of clock.c, and how many are.
SAMPLES is what perf script -F comm,pid,ip,sym,dso says.
"""
import os
import sys

sys.path.append(sys.path[0] + '/../../lib')

import perfscript

CALLERS = ['tick', 'work', 'main']


def is_exact(frames):
    callers = [frame for frame in frames if frame.dso != '[vdso]']
    return (os.path.basename(callers[0].dso or '').startswith('libc.so') and
            [frame.name for frame in callers[1:4]] == CALLERS and
            frames[-1].name == '_start')


def main(path):
    stacks = [sample.frames
              for sample in perfscript.read(path, 'comm,pid,ip,sym,dso')
              if sample.comm == 'clock' and sample.frames and
              sample.frames[0].dso == '[vdso]']
    exact = [frames for frames in stacks if is_exact(frames)]
    for frames in [frames for frames in stacks if frames not in exact][:2]:
        print(*frames, '', sep='\n')
    print(len(exact), 'of', len(stacks))


main(*sys.argv[1:])
