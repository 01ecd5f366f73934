# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
"""Recordings made by hand, each as it is before and after it is converted."""
import ctypes
import platform
import struct

MAGIC = 0x32454c4946524550
CONTEXT_USER = (1 << 64) - 512
CONTEXT_DEFERRED = (1 << 64) - 640
CONTEXT_KERNEL = (1 << 64) - 128
EXACT = 1 << 62                 # see fake.c

# PERF_SAMPLE_*
(IP, TID, TIME, ADDR, READ, CALLCHAIN, ID, CPU, PERIOD, STREAM_ID, RAW,
 BRANCH_STACK, REGS_USER, STACK_USER, WEIGHT, DATA_SRC, IDENTIFIER,
 TRANSACTION, REGS_INTR, PHYS_ADDR, AUX, CGROUP, DATA_PAGE_SIZE,
 CODE_PAGE_SIZE, WEIGHT_STRUCT) = (1 << i for i in range(25))
DWARF = REGS_USER | STACK_USER
COMMON = IP | TID | TIME | DWARF

# Bits of struct perf_event_attr
SAMPLE_ID_ALL = 1 << 18
EXCLUDE_CALLCHAIN_USER = 1 << 22
USE_CLOCKID = 1 << 25

# PERF_RECORD_*
(MMAP, LOST, COMM, EXIT, THROTTLE, UNTHROTTLE, FORK, READ_RECORD, SAMPLE,
 MMAP2) = range(1, 11)
CALLCHAIN_DEFERRED = 22
HEADER_ATTR, _, TRACING_DATA, BUILD_ID, FINISHED_ROUND = range(64, 69)
AUXTRACE_INFO = 70
TIME_CONV, HEADER_FEATURE, COMPRESSED, FINISHED_INIT, COMPRESSED2 = \
    range(79, 84)
USER = 2                        # PERF_RECORD_MISC_USER

# Sections
F_TRACING_DATA, F_BUILD_ID, F_HOSTNAME = range(1, 4)
F_ARCH, F_EVENT_DESC, F_AUXTRACE = 6, 12, 18
F_DIR_FORMAT, F_COMPRESSED = 24, 27


def words(*values):
    return struct.pack('<%dQ' % len(values), *values)


def halves(*values):
    return struct.pack('<%dI' % len(values), *values)


def string(text):
    """As perf writes one into a section."""
    padded = (text.encode() + b'\0').ljust(64, b'\0')
    return halves(len(padded)) + padded


ARCH = string(platform.machine())


def record(kind, body, misc=0):
    return struct.pack('<IHH', kind, misc, 8 + len(body)) + body


class Attr:
    def __init__(self, sample_type=COMMON, *, size=128, ids=(), kind=1,
                 config=0, read_format=0, flags=SAMPLE_ID_ALL, branch_type=0,
                 regs=(1 << 8) | (1 << 7), stack=64, clockid=0):
        self.sample_type, self.size, self.ids = sample_type, size, ids
        self.kind, self.config = kind, config
        self.read_format, self.flags = read_format, flags
        self.branch_type, self.regs = branch_type, regs
        self.stack, self.clockid = stack, clockid

    def is_converted(self):
        return self.sample_type & DWARF == DWARF

    def raw(self, converted):
        kind, flags = self.sample_type, self.flags
        regs, stack = self.regs, self.stack
        if converted and self.is_converted():
            kind = (kind & ~DWARF) | CALLCHAIN
            flags &= ~EXCLUDE_CALLCHAIN_USER
            regs = stack = 0
        raw = halves(self.kind, self.size) + words(
            self.config, 4000, kind, self.read_format, flags, 7, 0, 0,
            self.branch_type, regs) + halves(stack, self.clockid)
        # What is not looked at has to stay.
        return (raw + bytes(range(100, 255)))[:self.size].ljust(
            self.size, b'\xa5')

    def with_ids(self, converted):
        return self.raw(converted) + words(*self.ids)


def sample_id(attr, values):
    """What is at the end of other records."""
    kind = attr.sample_type
    if not attr.flags & SAMPLE_ID_ALL:
        return b''
    parts = [(TID, halves(values.get('pid', 0), values.get('tid', 0))),
             (TIME, words(values.get('time', 0))),
             (ID, words(values.get('id', 0))),
             (STREAM_ID, words(values.get('stream', 0))),
             (CPU, halves(values.get('cpu', 0), 0)),
             (IDENTIFIER, words(values.get('id', 0)))]
    return b''.join(part for bit, part in parts if kind & bit)


def event(attr, kind, body, misc=0, **values):
    return record(kind, body + sample_id(attr, values), misc)


def path_bytes(path):
    path = path.encode() + b'\0'
    return path + b'\0' * (-len(path) % 8)


def mmap2(attr, pid, start, length, path, *, offset=0, inode=0, device=(0, 0),
          build_id=b'', prot=5, flags=2, misc=USER, **values):
    where = halves(*device) + words(inode, 0)
    if build_id:
        misc |= 1 << 14
        where = bytes([len(build_id), 0, 0, 0]) + build_id.ljust(20, b'\0')
    return event(attr, MMAP2, halves(pid, pid) + words(start, length, offset) +
                 where + halves(prot, flags) + path_bytes(path), misc, **values)


def mmap(attr, pid, start, length, path, *, offset=0, misc=USER, **values):
    return event(attr, MMAP, halves(pid, pid) + words(start, length, offset) +
                 path_bytes(path), misc, **values)


def task(attr, kind, pid, tid, parent, *, misc=0, **values):
    return event(attr, kind, halves(pid, parent, tid, parent) +
                 words(values.get('time', 0)), misc, **values)


def comm(attr, pid, name, *, misc=0, **values):
    return event(attr, COMM, halves(pid, pid) + path_bytes(name), misc,
                 **values)


ROUND = record(FINISHED_ROUND, b'')


def chain(attr, kernel, user):
    ips = [*kernel, CONTEXT_USER, *user]
    return words(len(ips), *ips)


def sample_fields(attr, v):
    """(BIT, BYTES) in the order of <linux/perf_event.h>."""
    kernel = v.get('kernel', [])
    old = [*kernel, *v.get('old_user', [])]
    regs = [v['pc'], *range(1, 65)][:bin(attr.regs).count('1')]
    copied = b''.join(words(ip) for ip in v['stack'])
    stack = (copied + v.get('behind', b'')).ljust(attr.stack, b'\xee')
    stack = words(len(stack)) + stack + words(
        v.get('copied', len(stack))) if stack else words(0)
    abi = v.get('abi', 2)
    return [
        (IDENTIFIER, words(v.get('id', 0))), (IP, words(v.get('ip', 0x1111))),
        (TID, halves(v.get('pid', 0), v.get('tid', 0))),
        (TIME, words(v.get('time', 0))), (ADDR, words(0x2222)),
        (ID, words(v.get('id', 0))), (STREAM_ID, words(0x3333)),
        (CPU, halves(1, 0)), (PERIOD, words(0x4444)),
        (READ, read_values(attr.read_format)),
        (CALLCHAIN, words(len(old), *old)),
        (RAW, halves(len(v.get('raw', b'rawdata12345'))) +
         v.get('raw', b'rawdata12345')),
        (BRANCH_STACK, branches(attr.branch_type)),
        (REGS_USER, words(abi, *regs) if abi else words(0)),
        (STACK_USER, stack),
        (WEIGHT | WEIGHT_STRUCT, words(0x5555)), (DATA_SRC, words(0x6666)),
        (TRANSACTION, words(0x7777)),
        (REGS_INTR, words(2, 0x8888, 0x9999)), (PHYS_ADDR, words(0xaaaa)),
        (CGROUP, words(0xbbbb)), (DATA_PAGE_SIZE, words(0xcccc)),
        (CODE_PAGE_SIZE, words(0xdddd)),
    ]


def read_values(form):
    times = words(*range(bin(form & 3).count('1')))
    each = words(*range(10, 11 + bin(form & 0x14).count('1')))
    return words(3) + times + 3 * each if form & 8 else each[:8] + times + \
        each[8:]


def branches(kind):
    index = words(5) if kind & 1 << 17 else b''
    counters = words(7, 8) if kind & 1 << 19 else b''
    return words(2) + index + words(*range(6)) + counters


def frames_of(attr, v):
    if v.get('abi', 2) != 2 or not attr.sample_type & TID or not attr.regs:
        alone = attr.sample_type & IP and v.get('misc', USER) & 7 == USER
        return [v.get('ip', 0x1111)][:v.get('most')] if alone else []
    callers = v['stack'][:v.get('copied', 1 << 62) // 8]
    callers = callers[:callers.index(0)] if 0 in callers else callers
    return [v['pc'] & ~EXACT] + [
        ip & ~EXACT if ip & EXACT else ip - 1 for ip in callers]


def sample(attr, pc=0x401000, stack=(0x402000, 0x403000, 0), **v):
    """A sample, and the same converted."""
    v |= {'pc': pc, 'stack': list(stack)}
    fields = sample_fields(attr, v)
    misc = v.get('misc', USER)
    before = b''.join(part for bit, part in fields if attr.sample_type & bit)
    if not attr.is_converted():
        return (record(SAMPLE, before, misc),) * 2
    new = chain(attr, v.get('kernel', []), frames_of(attr, v))
    after = b''.join(
        new if bit == CALLCHAIN else part for bit, part in fields
        if bit == CALLCHAIN or (bit & ~DWARF) & attr.sample_type)
    return record(SAMPLE, before, misc), record(SAMPLE, after, misc)


def event_desc(attrs, converted, size=None):
    size = size or attrs[0].size
    return halves(len(attrs), size) + b''.join(
        attr.raw(converted).ljust(size, b'\0') + halves(len(attr.ids)) +
        string('event%d' % i) + words(*attr.ids)
        for i, attr in enumerate(attrs))


def tracing_data(number, addr=16, length=24, size=8, name='addr'):
    """As much of it as is looked at, among other things."""
    other = 'name: sys_enter_mmap\nID: 7\nformat:\n' \
        '\tfield:unsigned long addr;\toffset:8;\tsize:8;\tsigned:0;\n' \
        '\nprint fmt: ""\n'
    return (b'\x17\x08\x44tracing0.6\0' + other.encode() + (
        'name: sys_enter_munmap\nID: %d\nformat:\n'
        '\tfield:int __syscall_nr;\toffset:8;\tsize:4;\tsigned:1;\n'
        '\tfield:unsigned long %s;\toffset:%d;\tsize:%d;\tsigned:0;\n'
        '\tfield:size_t len;\toffset:%d;\tsize:8;\tsigned:0;\n'
        '\nprint fmt: "addr: 0x%%08lx"\n' % (
            number, name, addr, size, length) + other).encode())


def build_id(path, value, *, pid=-1, misc=USER):
    """A record of a section, or of a pipe."""
    body = struct.pack('<i', pid) + value.ljust(20, b'\0') + bytes(
        [len(value), 0, 0, 0]) + path_bytes(path)
    return record(BUILD_ID, body, misc | 1 << 15)


def make_file(attrs, records, converted, *, features=None, after=False,
              header_size=104, magic=MAGIC, tail=b''):
    """Sections: ids, attributes, events, features; or those two at the end."""
    entry = attrs[0].size + 16
    ids = [words(*attr.ids) for attr in attrs]
    front = 0 if after else sum(map(len, ids)) + entry * len(attrs)
    data_at = header_size + front
    data = b''.join(records)
    sections = sorted((features or {}).items())
    at = data_at + len(data) + 16 * len(sections)
    index = contents = b''
    for _, content in sections:
        content = content(converted) if callable(content) else content
        index += words(at, len(content))
        contents += content
        at += len(content)
    table, id_at = b'', at if after else header_size
    attrs_at = id_at + sum(map(len, ids))
    for attr, own in zip(attrs, ids):
        table += attr.raw(converted) + words(id_at, len(own))
        id_at += len(own)
    bits = sum(1 << number for number, _ in sections)
    header = words(magic, header_size, entry, attrs_at, len(table), data_at,
                   len(data), 0, 0) + bits.to_bytes(32, 'little')
    table = b''.join(ids) + table
    return header[:header_size] + (b'' if after else table) + data + index + \
        contents + (table if after else b'') + tail


def make_pipe(attrs, records, converted):
    return words(MAGIC, 16) + b''.join(
        record(HEADER_ATTR, attr.with_ids(converted)) for attr in attrs) + \
        b''.join(records)


def time_conv(shift, mult, zero, last=0, mask=0, narrow=0):
    """How times come of cycles."""
    return record(TIME_CONV, words(shift, mult, zero, last, mask) +
                  bytes([1, narrow]) + bytes(6))


class Zstd:
    """As perf record -z compresses: one stream, flushed for each record.

    OSError: libzstd is not here.
    """
    def __init__(self):
        self.zstd = ctypes.CDLL('libzstd.so.1')
        self.zstd.ZSTD_createCCtx.restype = ctypes.c_void_p
        self.zstd.ZSTD_compressStream2.restype = ctypes.c_size_t
        self.stream = ctypes.c_void_p(self.zstd.ZSTD_createCCtx())

    def pack(self, data):
        out = ctypes.create_string_buffer(len(data) + 1024)
        have = (ctypes.c_void_p * 3)(
            ctypes.cast(ctypes.c_char_p(data), ctypes.c_void_p), len(data), 0)
        room = (ctypes.c_void_p * 3)(
            ctypes.cast(out, ctypes.c_void_p), len(out), 0)
        assert not self.zstd.ZSTD_compressStream2(self.stream, room, have, 1)
        return out.raw[:room[2] or 0]

    def record(self, data, kind=COMPRESSED):
        packed = self.pack(data)
        if kind == COMPRESSED2:
            packed = words(len(packed)) + packed + bytes(-len(packed) % 8)
        return record(kind, packed)


# Jitdumps

def jit_header(pid=1, magic=0x4a695444, version=1, flags=0, time=0):
    return halves(magic, version, 40, 62, 0, pid) + words(time, flags)


def jit_retired(*records):
    """Of (TIME, ADDRESS, SIZE)."""
    return b''.join(words(*one) for one in records)


def jit_record(kind, time, body):
    return halves(kind, 16 + len(body)) + words(time) + body


def jit_load(time, address, size, index=0):
    return jit_record(0, time, halves(1, 1) + words(
        address, address, size, index) + b'name\0' + bytes(size))


def jit_move(time, old, new, size, index=0):
    return jit_record(1, time, halves(1, 1) + words(new, old, new, size,
                                                    index))


def jit_unwinding(time, table, hdr=b'index'):
    return jit_record(4, time, words(len(table + hdr), len(hdr), 0) + table +
                      hdr + bytes(-len(table + hdr) % 8))
