# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
"""padding.py FRAMES DUMP CODE: what lies in an FDE and has no CFI.

FRAMES is readelf --debug-dump=frames, DUMP sframegen --dump and CODE
objdump -d --no-show-raw-insn of one file. Prints the number of bytes, or the
first instructions that are no padding.
"""
import bisect
import re
import sys

# what objdump calls nops, int3, and zeros
PADDING = re.compile(r"(data16 |cs )*(nop[wl]?|xchg +%ax,%ax|int3"
                     r"|add +%al,\(%rax\))\b|\.\.\.|add +%al,\(%rax\)$")


def ranges(path, pattern):
    found = []
    with open(path, encoding="ascii", errors="replace") as lines:
        for line in lines:
            match = re.search(pattern, line)
            if match:
                found.append((int(match[1], 16), int(match[2], 16)))
    return sorted(found)


def gaps(covered, cfi):
    """Parts of the covered ranges that are in no CFI range."""
    starts = [lo for lo, _ in cfi]
    for lo, hi in covered:
        at = max(bisect.bisect_right(starts, lo) - 1, 0)
        while lo < hi and at < len(cfi):
            if cfi[at][0] > lo:
                yield lo, min(cfi[at][0], hi)
            lo = max(lo, cfi[at][1])
            at += 1
        if lo < hi:
            yield lo, hi


def main(frames, dump, code):
    cfi = ranges(frames, r"FDE .*pc=([0-9a-f]+)\.\.([0-9a-f]+)")
    covered = ranges(dump, r"^FDE .* 0x([0-9a-f]+)-0x([0-9a-f]+)")
    bare = list(gaps(covered, cfi))
    starts = [lo for lo, _ in bare]
    wrong = 0
    with open(code, encoding="ascii", errors="replace") as lines:
        for line in lines:
            match = re.match(r" *([0-9a-f]+):\t(.*)", line)
            if not match:
                continue
            addr = int(match[1], 16)
            at = bisect.bisect_right(starts, addr) - 1
            if at < 0 or addr >= bare[at][1] or PADDING.match(match[2]):
                continue
            wrong += 1
            if wrong <= 3:
                print(line.strip())
    print(sum(hi - lo for lo, hi in bare), "bytes")
    return wrong != 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
