# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
"""A small recording as tools/demo.d/record.sh leaves it, made up so that each
figure of the analysis is known: ELF files with symbols and CFI, perf script
texts in perf's own layout, truth files.

Usage: recording.py DIRECTORY
"""
import os
import struct
import sys

PROGRAM = '/demo/c-trampolines'
LIBC = '/lib/libc.so.6'
PYTHON = '/usr/bin/python3.13'
CLIENT = '/lib/sfjit-client.so'
ANSWER = '/lib/libsfjit.so.0'

# Link-time addresses. File offset = address - 0x400000 + 0x1000.
LINK, FILE = 0x400000, 0x1000
BIAS = 0x10000000          # run-time address - link-time address
SLOTS = 0x7f0000000000
LEVELS = 3
SIZE = 0x100               # of each function

MAIN, START, SPIN, NEXT = 0x400100, 0x400200, 0x400300, 0x400400
LEVEL = [0x401000 + SIZE * n for n in range(LEVELS)]
LIBC_CALL_MAIN, LIBC_MAIN, CLONE3 = 0x400100, 0x400200, 0x400300
EVAL, HELPER, JUMPS, FAR = 0x400100, 0x400300, 0x400400, 0x400500
EVALUATOR = 0x400100
HANDLER = 0x400100

BEGIN, END = 100 * 10 ** 9, 200 * 10 ** 9


def uleb(value):
    out = b''
    while value >= 0x80:
        out += bytes([value & 0x7f | 0x80])
        value >>= 7
    return out + bytes([value])


def padded(body):
    return body + b'\0' * (-len(body) % 8)


def record(body, order):
    body = padded(body + b'\0' * 4)[:-4]
    return struct.pack(order + 'I', len(body)) + body


def eh_frame(functions, outermost, order='<'):
    """CIE (CFA rsp+8, ra at CFA-8) and an FDE each, addresses absolute."""
    cie = record(struct.pack(order + 'I', 0) + b'\x01zR\0' + b'\x01\x78\x10' +
                 uleb(1) + b'\x00' + b'\x0c\x07\x08\x90\x01', order)
    out = cie
    for start in sorted(functions):
        program = b'\x07\x10' if start in outermost else b'\x44\x0e\x10'
        out += record(struct.pack(order + 'IQQ', len(out) + 4, start, SIZE) +
                      uleb(0) + program, order)
    return out + b'\0\0\0\0'


def code_bytes(code):
    """@code: address -> instructions"""
    out = bytearray(0x10000)
    for address, content in code.items():
        out[address - LINK:address - LINK + len(content)] = content
    return bytes(out)


def direct(opcode, end, target):
    """The five bytes of a direct call or jump that ends at @end."""
    return bytes([opcode]) + struct.pack('<i', target - end)


# Instructions of python3.13: HELPER jumps nowhere, JUMPS to a pointer, FAR to
# JUMPS; the loop calls each of them and a pointer.
PYTHON_CODE = {
    EVAL + 0x4b: direct(0xe8, EVAL + 0x50, HELPER),
    EVAL + 0x5b: direct(0xe8, EVAL + 0x60, JUMPS),
    EVAL + 0x6b: direct(0xe8, EVAL + 0x70, FAR),
    EVAL + 0x7d: b'\xff\x50\x18',
    JUMPS + 0x30: b'\x41\xff\xe1',
    FAR + 0x10: b'\xe8\x00\xff\xff\xe0',     # no jump: end of a displacement
    FAR + 0x20: direct(0xe9, FAR + 0x25, JUMPS),
}


def branch(opcode, at, target):
    """AArch64's b (5) or bl (0x25) at @at."""
    return struct.pack('<I', opcode << 26 | (target - at) // 4 & 0x3ffffff)


# The same for AArch64: blr x1 and blraaz x1, ret, br x16.
AARCH64_CODE = {
    EVAL + 0x4c: branch(0x25, EVAL + 0x4c, HELPER),
    EVAL + 0x5c: branch(0x25, EVAL + 0x5c, JUMPS),
    EVAL + 0x6c: branch(0x25, EVAL + 0x6c, FAR),
    EVAL + 0x7c: b'\x20\x00\x3f\xd6',
    EVAL + 0x8c: b'\x3f\x08\x3f\xd6',
    HELPER + 0x20: b'\xc0\x03\x5f\xd6',
    JUMPS + 0x30: b'\x00\x02\x1f\xd6',
    FAR + 0x20: branch(5, FAR + 0x20, JUMPS),
}


def relative(opcode, at, target):
    """s390x's brasl %r14 (e5), or jg (f4), at @at."""
    return b'\xc0' + bytes([opcode]) + struct.pack('>i', (target - at) // 2)


# The same for s390x: basr %r14,%r1, basr %r14,%r0; ret is br %r14.
S390X_CODE = {
    EVAL + 0x4a: relative(0xe5, EVAL + 0x4a, HELPER),
    EVAL + 0x5a: relative(0xe5, EVAL + 0x5a, JUMPS),
    EVAL + 0x6a: relative(0xe5, EVAL + 0x6a, FAR),
    EVAL + 0x7e: b'\x0d\xe1',
    EVAL + 0x8e: b'\x0d\xe0',
    EVAL + 0x9c: b'\xa7\xe5' + struct.pack('>h', (JUMPS - EVAL - 0x9c) // 2),
    HELPER + 0x20: b'\x07\xfe',
    # No jump but the end of a number: lgfi %r1
    HELPER + 0x22: b'\xc0\x11\x00\x00\x07\xf1',
    JUMPS + 0x30: b'\x07\xf1',
    FAR + 0x20: relative(0xf4, FAR + 0x20, JUMPS),
}
CLIENT_CODE = {EVALUATOR + 0x1e: b'\xff\xd0'}


def elf(symbols, more=(), outermost=(), entry=0, code={}, machine=62,
        order='<'):
    """@symbols: name -> address; @more: functions without symbol."""
    names = b'\0.symtab\0.strtab\0.eh_frame\0.shstrtab\0'
    strings, table = b'\0', b'\0' * 24
    for name, address in symbols.items():
        table += struct.pack(order + 'IBBHQQ', len(strings), 0x12, 0, 1,
                             address, SIZE)
        strings += name.encode() + b'\0'
    cfi = eh_frame(list(symbols.values()) + list(more), outermost, order)
    parts = [cfi, table, strings, names]
    at, places = FILE + 0x10000, []
    for part in parts:
        places.append((at, len(part)))
        at += len(padded(part))
    headers = [(0, 0, 0, 0, 0)] + [
        (names.index(name), kind, places[i][0], places[i][1], link)
        for i, (name, kind, link) in enumerate((
            (b'.eh_frame', 1, 0), (b'.symtab', 2, 3), (b'.strtab', 3, 0),
            (b'.shstrtab', 3, 0)))]
    header = b'\x7fELF\x02' + (b'\1' if order == '<' else b'\2')
    header += b'\x01' + b'\0' * 9 + struct.pack(
        order + 'HHIQQQIHHHHHH', 2, machine, 1, entry, 64, at, 0, 64, 56, 1,
        64, 5, 4)
    header += struct.pack(order + 'IIQQQQQQ', 1, 5, FILE, LINK, LINK, 0x10000,
                          0x10000, 0x1000)
    out = header + b'\0' * (FILE - len(header)) + code_bytes(code)
    out += b''.join(padded(part) for part in parts)
    for name, kind, offset, size, link in headers:
        address = LINK + 0x100000 if kind == 1 else 0
        out += struct.pack(order + 'IIQQQQIIQQ', name, kind, 0, address,
                           offset, size, link, 0, 1, 24)
    return out


def line(ip, sym, dso):
    return '\t%16x %s (%s)\n' % (ip, sym, dso)


def code(dso, address, delta, name=None):
    """A frame in a file: address is that of the function."""
    sym = '%s+0x%x' % (name, delta) if name else '[unknown]'
    return line(address + delta + BIAS, sym,
                '%s+0x%x' % (dso, address + delta - LINK + FILE))


def slot(n, delta, name=None):
    ip = SLOTS + 16 * n + delta
    return line(ip, '%s+0x%x' % (name or 'tramp:f%d' % n, delta),
                '/tmp/perf-77.map+0x%x' % ip)


def garbage(value):
    return line(value, '[unknown]', '[unknown]')


def sample(frames, time=BEGIN + 10 ** 9, mode='U', comm='demo'):
    return '%s %d/%d %s %6d.%09d: cpu-clock: \n%s\n' % (
        comm, 77, 77, mode.center(9), time // 10 ** 9, time % 10 ** 9,
        ''.join(frames))


# ---- c-trampolines ----

OUTER = [code(LIBC, LIBC_CALL_MAIN, 0x20), code(LIBC, LIBC_MAIN, 0x30),
         code(PROGRAM, START, 0x21, '_start')]
MAIN_FRAME = code(PROGRAM, MAIN, 0x40, 'main')


def caller(n):
    """The frame that a trampoline returns to."""
    if n == 0:
        return MAIN_FRAME
    return code(PROGRAM, LEVEL[n - 1], 0x60, 'f%d' % (n - 1))


def above(n):
    frames = []
    for k in range(n, -1, -1):
        frames += [slot(k, 9), caller(k)]
    return frames + OUTER


def leaf(n, delta=0x10):
    return code(PROGRAM, LEVEL[n], delta, 'f%d' % n)


def ip_of(text):
    return text.split()[0]


def c_truth(windows):
    lines = ['pid 77', 'windows %d' % windows, 'f0 %x' % (LEVEL[0] + BIAS)]
    for n in range(LEVELS):
        lines.append('level %d arg %x 16 %s %s %x' % (
            n, SLOTS + 16 * n, ip_of(slot(n, 9)), ip_of(caller(n)),
            LEVEL[n] + 0x50 + BIAS))
    lines += ['outer ' + ' '.join(ip_of(frame) for frame in OUTER),
              'begin 100.000000000', 'end 200.000000000']
    return '\n'.join(lines) + '\n'


def c_after():
    spin = [code(PROGRAM, SPIN, 4, 'spin'), code(PROGRAM, LEVEL[1], 0x50, 'f1')]
    return [
        sample([garbage(0x1234)], time=BEGIN - 1),          # startup
        sample([leaf(2)] + above(2)),
        sample(spin + above(1)),
        sample([slot(2, 4)] + above(2)[1:]),                # in a trampoline
        sample([code(PROGRAM, MAIN, 0x44, 'main')] + OUTER),
        sample([line(0xffffffff81000000, 'k+0x1', '[kernel.kallsyms]'),
                leaf(0)] + above(0), mode='K'),
        sample([garbage(0x1234), code(PROGRAM, NEXT, 9, 'next_phase'),
                MAIN_FRAME] + OUTER),                       # between the parts
        sample([garbage(0x1234)], time=END + 1),            # shutdown
    ]


def c_before():
    dropped = [leaf(1), slot(1, 9)] + above(0)[1:]          # callers dropped
    return [
        sample([garbage(0x1234)], time=BEGIN - 1),
        sample(dropped),                          # complete, not exact
        sample([leaf(2), slot(2, 9), leaf(1), garbage(1)]), # cut
        sample([leaf(2)] + above(2)[:-1]),                  # one frame short
        sample([leaf(0)] + above(0)),                       # all right
    ]


# ---- python ----

def py(n, name):
    return slot(100 + n, 9, 'py::' + name)


def loop(delta=0x50):
    return code(PYTHON, EVAL, delta, '_PyEval_EvalFrameDefault')


def evaluator():
    return code(CLIENT, EVALUATOR, 0x20)


LAUNCHER = [code(PYTHON, HELPER, 0x10), loop(),
            code(PYTHON, HELPER, 0x10, 'Py_RunMain'),
            code(PYTHON, START, 0x21)]


def program():
    return [py(0, '<module>:/demo/workload.py'), evaluator()] + LAUNCHER


def py_after():
    call = [loop(), py(1, 'work:/demo/workload.py'), evaluator()]
    thread = [loop(), py(2, 'run:/lib/threading.py'), evaluator(),
              code(LIBC, CLONE3, 0x8)]
    return [
        sample([garbage(0x1234)], time=BEGIN - 1),
        sample([code(PYTHON, HELPER, 0x10)] + call + [loop()] + program()),
        sample([slot(101, 4, 'py::work:/demo/workload.py'),
                evaluator(), loop()] + program()),
        sample(thread),
        sample(call + thread),
    ]


ASSISTED_OUTER = [py(0, '<module>:/demo/workload.py'),
                  py(4, 'run_file:/x/sfjit/_launch.py'),
                  code(PYTHON, HELPER, 0x10, 'Py_RunMain'),
                  code(PYTHON, START, 0x21)]


def py_assisted():
    """Two functions in one loop, one in the other."""
    inner = [py(1, 'work:/demo/workload.py'), py(3, 'part:/demo/workload.py')]
    return [
        sample([garbage(0x1234)], time=BEGIN - 1),
        sample([loop()] + inner + [loop()] + ASSISTED_OUTER),
        sample([loop()] + ASSISTED_OUTER),
    ]


def py_answering():
    return sample([code(ANSWER, HANDLER, 0x10), loop(), loop()] +
                  ASSISTED_OUTER[2:])


def py_bare(loops):
    """The outermost of the loops has a function."""
    return sample([loop()] * loops + ASSISTED_OUTER)


def py_before():
    return [
        sample([garbage(0x1234)], time=BEGIN - 1),
        sample([code(PYTHON, HELPER, 0x10)]),
        sample([loop(), garbage(5), garbage(6)]),
        sample([loop(), py(1, 'work:/demo/workload.py'), garbage(7)]),
        sample([loop(), py(1, 'work:/demo/workload.py'),
                code(CLIENT, EVALUATOR, 0x20)]),
    ]


def py_truth():
    return 'begin 100.000000000\n'


def perf_data(size, order='<'):
    magic = b'PERFILE2'[::1 if order == '<' else -1]
    return magic + struct.pack(order + 'QQQQQQ', 104, 144, 104, 144, 248,
                                     size) + b'\0' * 48


def put(path, content):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, 'wb') as file:
        file.write(content if isinstance(content, bytes) else content.encode())


def put_recording(directory, name, samples, truth):
    put('%s/%s.txt' % (directory, name), ''.join(samples))
    put('%s/%s.truth' % (directory, name), truth)
    put('%s/%s.cmd' % (directory, name), 'perf record -- %s\n' % name)
    put('%s/%s.data' % (directory, name), perf_data(100 * len(samples)))


def make(directory):
    root = directory + '/root'
    program_symbols = {'main': MAIN, '_start': START, 'spin': SPIN,
                       'next_phase': NEXT}
    program_symbols.update(('f%d' % n, LEVEL[n]) for n in range(LEVELS))
    put(root + PROGRAM, elf(program_symbols, outermost=[START], entry=START))
    put(root + LIBC, elf({}, [LIBC_CALL_MAIN, LIBC_MAIN, CLONE3], [CLONE3]))
    put(root + PYTHON, elf({'_PyEval_EvalFrameDefault': EVAL},
                           [HELPER, JUMPS, FAR, START], [START], START,
                           PYTHON_CODE))
    put(root + ANSWER, elf({}, [HANDLER]))
    put(root + CLIENT, elf({}, [EVALUATOR], code=CLIENT_CODE))
    put(directory + '/kernel', '7.3.0-test\n')
    put_recording(directory, 'c-trampolines.before', c_before(), c_truth(0))
    put_recording(directory, 'c-trampolines.after', c_after(), c_truth(9))
    put_recording(directory, 'python-defer.assisted', py_assisted(), py_truth())
    for name in ('python', 'python-defer'):
        put_recording(directory, name + '.before', py_before(), py_truth())
        put_recording(directory, name + '.after', py_after(), py_truth())


if __name__ == '__main__':
    make(sys.argv[1])
