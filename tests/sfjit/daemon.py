#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
"""sfjit daemon with a library in the place of the kernel (daemon/kernel.c): each
table that it gives is what sframegen makes of the file.
"""
import contextlib
import ctypes
import mmap
import os
import re
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, '..', 'lib')]
sys.dont_write_bytecode = True

from tap import check_each, finish

BUILD = os.path.abspath(os.environ.get('O', 'build'))
PROGRAMS = BUILD + '/tests/sfjit/programs/'
HELLO = BUILD + '/tests/preload/programs/'
SFJIT = BUILD + '/bin/sfjit'
TMP = tempfile.mkdtemp()
HANG = 600                      # seconds: a timeout only ends a hang
PAGE = mmap.PAGESIZE
RING = 64 << 10
MMAP2, LOST = 10, 2


def wait_for(condition, what):
    end = time.monotonic() + HANG
    while time.monotonic() < end:
        value = condition()
        if value:
            return value
        time.sleep(0.02)
    raise TimeoutError(what())


def mmap2(path, inode=None, pid=None, generation=0, device=None):
    """The record of an executable mapping of a file."""
    st = os.stat(path) if inode is None or device is None else None
    inode = st.st_ino if inode is None else inode
    device = st.st_dev if device is None else device
    name = path.encode() + b'\0'
    name += bytes(-len(name) % 8)
    body = struct.pack('=IIQQQIIQQII', os.getpid() if pid is None else pid, 0,
                       0x1000, 0x1000, 0, os.major(device), os.minor(device),
                       inode, generation, 5, 2) + name
    return struct.pack('=IHH', MMAP2, 2, 8 + len(body)) + body


class Daemon:
    """One that runs, its kernel, and its systemd."""
    count = 0

    def __init__(self, *options, state=None, env=None, kept=None):
        Daemon.count += 1
        self.state = state or f'{TMP}/kernel{Daemon.count}'
        os.makedirs(self.state + '/proc', exist_ok=True)
        self.log = f'{TMP}/log{Daemon.count}'
        self.notify = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        name = f'{TMP}/notify{Daemon.count}'
        self.notify.bind(name)
        self.notify.settimeout(HANG)
        environ = dict(os.environ, KERNEL=self.state, NOTIFY_SOCKET=name,
                       LD_PRELOAD=PROGRAMS + 'daemon-kernel.so', **(env or {}))
        self.pid = self.spawn(options, environ, kept)
        self.status = None
        self.clock = 0

    def spawn(self, options, environ, kept):
        pid = os.fork()
        if pid:
            return pid
        # It ends with the test, however that ends.
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)
        log = os.open(self.log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        os.dup2(log, 2)
        if kept is not None:
            os.dup2(kept, 4)
            os.dup2(os.open('/dev/null', os.O_RDONLY), 3)
            os.set_inheritable(3, True)
            environ.update(LISTEN_PID=str(os.getpid()), LISTEN_FDS='2',
                           LISTEN_FDNAMES='other:tables')
        os.execve(SFJIT, ('sfjit', 'daemon', '-v') + options, environ)

    def ready(self):
        """The descriptor that it gives its manager, or None."""
        kept = None
        while True:
            text, fds, _, _ = socket.recv_fds(self.notify, 256, 1)
            if text == b'READY=1':
                return kept
            if text != b'FDSTORE=1\nFDNAME=tables':
                raise ValueError(text)
            kept, = fds

    def said(self):
        with open(self.log, encoding='utf-8', errors='replace') as file:
            return file.read()

    def says(self, pattern, times=1):
        """Waits for lines that match."""
        return wait_for(lambda: len(re.findall(pattern, self.said(), re.M)) >=
                        times, lambda: f'{pattern!r} x {times}: {self.said()}')

    def times_out(self, pattern):
        """Lets hours pass until a line matches."""
        def later():
            self.clock += 7200
            with open(self.state + '/new', 'w', encoding='utf-8') as file:
                file.write(str(self.clock))
            os.rename(self.state + '/new', self.state + '/clock')
            return re.search(pattern, self.said(), re.M)
        wait_for(later, lambda: f'{pattern!r}: {self.said()}')

    def works(self):
        """Is a file at work?"""
        return subprocess.run(('pgrep', '-P', str(self.pid)), check=False,
                              stdout=subprocess.DEVNULL).returncode == 0

    @contextlib.contextmanager
    def stopped(self):
        os.kill(self.pid, signal.SIGSTOP)
        yield
        os.kill(self.pid, signal.SIGCONT)

    def put(self, *records, cpu=0):
        """Writes them to a ring once there is room."""
        with open(f'{self.state}/ring.{cpu}', 'r+b') as file:
            with mmap.mmap(file.fileno(), PAGE + RING) as ring:
                for record in records:
                    self.put_one(ring, record)

    @staticmethod
    def put_one(ring, record):
        def numbers():
            return struct.unpack_from('=QQ', ring, 1024)
        wait_for(lambda: numbers()[0] + len(record) - numbers()[1] <= RING,
                 lambda: 'the ring stays full')
        head = numbers()[0]
        for i, byte in enumerate(record):
            ring[PAGE + (head + i) % RING] = byte
        struct.pack_into('=Q', ring, 1024, head + len(record))

    def files(self):
        """{path: (inode, bytes, bias, id)} of the tables that the kernel has."""
        found = {}
        for name in os.listdir(self.state):
            if not name.endswith('.file'):
                continue
            with open(f'{self.state}/{name}', encoding='utf-8') as file:
                words = file.read().split()
            found.setdefault(words[9], []).append(
                (int(words[3]), int(words[5]), int(words[6], 16), int(words[1])))
        return found

    def table(self, ident):
        with open(f'{self.state}/{ident}.table', 'rb') as file:
            return file.read()

    def maps(self, pid):
        os.mkdir(f'{self.state}/proc/{pid}')

    def end(self, how=signal.SIGTERM):
        if self.status is None:
            os.kill(self.pid, how)
            self.wait()
        return self.status

    def wait(self):
        _, status = os.waitpid(self.pid, 0)
        self.status = os.waitstatus_to_exitcode(status)
        return self.status


def sframegen(path):
    out = TMP + '/table'
    subprocess.run((BUILD + '/bin/sframegen', '--elf', path, '--format',
                    'packed', '-o', out), check=True,
                   stdout=subprocess.DEVNULL)
    with open(out, 'rb') as file:
        return file.read()


def biases(path):
    """p_offset - p_vaddr of the executable segments."""
    with open(path, 'rb') as file:
        data = file.read()
    phoff, = struct.unpack_from('=Q', data, 32)
    size, nr = struct.unpack_from('=HH', data, 54)
    found = []
    for i in range(nr):
        kind, flags, offset, address = struct.unpack_from('=IIQQ', data,
                                                          phoff + i * size)
        if kind == 1 and flags & 1:
            found.append((offset - address) % 2**64)
    return found


def copy(name, source=HELLO + 'hello-static', changes=(), length=None):
    """A file of the test with bytes changed, or cut short."""
    path = f'{TMP}/{name}'
    with open(source, 'rb') as file:
        data = bytearray(file.read()[:length])
    for at, byte in changes:
        data[at] = byte
    with open(path, 'wb') as file:
        file.write(data)
    os.chmod(path, 0o755)
    return path


@contextlib.contextmanager
def running(path):
    """The process of a copy of sleep(1)."""
    with subprocess.Popen((path, '1000')) as process:
        def maps():
            with open(f'/proc/{process.pid}/maps', encoding='utf-8') as file:
                return path in file.read()
        try:
            wait_for(maps, lambda: f'{path} does not run')
            yield process.pid
        finally:
            process.kill()


def line(path, text):
    return '^sfjit daemon: ' + re.escape(path) + ': ' + text + '$'


def expect(good, *what):
    if not good:
        raise AssertionError(' '.join(map(str, what)))


def expect_table(daemon, path):
    (_, length, bias, ident), = daemon.files()[path]
    want = sframegen(path)
    expect(daemon.table(ident) == want, path, 'differs from sframegen\'s')
    expect(length == len(want), length, len(want))
    expect([bias] == biases(path), bias, biases(path))


def run(*options, env=None):
    """One that must end by itself: its status and message."""
    daemon = Daemon(*options, env=env)
    status = daemon.wait()
    return status, daemon.said()


# ---- Files that are converted ------------------------------------------------

def test_each_kind_of_file_has_sframegens_table():
    daemon = Daemon()
    daemon.ready()
    libc = os.path.realpath(next(line.split()[5] for line in open(
        '/proc/self/maps', encoding='utf-8') if '/libc' in line))
    paths = [copy('static'), copy('pie', HELLO + 'hello'), SFJIT, libc]
    for cpu, path in enumerate(paths):
        daemon.put(mmap2(path), cpu=cpu % 2)
    for path in paths:
        daemon.says(line(path, r'1 table, \d+ bytes'))
        expect_table(daemon, path)
    expect(daemon.end() == 0, daemon.said())
    daemon.says(r'^sfjit daemon: 4 files converted, 0 skipped, 0 without')


def test_each_segment_has_a_table():
    daemon = Daemon()
    daemon.ready()
    path = PROGRAMS + 'daemon-two-segments'
    daemon.put(mmap2(path))
    daemon.says(line(path, r'2 tables, \d+ bytes'))
    tables = sorted(daemon.files()[path], key=lambda table: table[3])
    expect([table[2] for table in tables] == biases(path), tables)
    rows = b''
    for table in tables:
        rows += dump(daemon.table(table[3]))
    expect(rows == dump(sframegen(path)), rows.decode())
    daemon.end()


def dump(table):
    """Its rows."""
    with open(TMP + '/dump', 'wb') as file:
        file.write(table)
    text = subprocess.run((BUILD + '/bin/sframegen', '--dump', TMP + '/dump'),
                          check=True, stdout=subprocess.PIPE).stdout
    return text.split(b'\n\n', 1)[1]


def test_what_runs_at_the_start_is_found():
    path = copy('early', '/bin/sleep')
    gone = copy('gone', '/bin/sleep')
    with running(path) as early, running(gone) as other:
        os.unlink(gone)
        state = TMP + '/start'
        os.makedirs(f'{state}/proc/{early}')
        os.makedirs(f'{state}/proc/{other}')
        daemon = Daemon(state=state)
        daemon.ready()
        daemon.says(line(path, r'1 table, \d+ bytes'))
        expect_table(daemon, path)
        daemon.says(line(gone + ' (deleted)', r'1 table, \d+ bytes'))
    daemon.end()


def test_lost_records_make_it_look_at_processes():
    daemon = Daemon()
    daemon.ready()
    path = copy('lost', '/bin/sleep')
    with running(path) as process:
        daemon.maps(process)
        daemon.put(struct.pack('=IHHQQ', LOST, 0, 24, 1, 5))
        daemon.says('^sfjit daemon: events were lost: looks at all processes$')
        daemon.says(line(path, r'1 table, \d+ bytes'))
    daemon.end()


def test_records_that_wrap_around_are_whole():
    daemon = Daemon()
    daemon.ready()
    path = copy('wrap')
    none = mmap2('/' + 'x' * 4000, inode=0, device=0)
    daemon.put(*[none] * 40, mmap2(path))
    daemon.says(line(path, r'1 table, \d+ bytes'))
    # Half a record ends the look at the ring, and processes are looked at.
    daemon.put(struct.pack('=IHH', MMAP2, 0, 4000) + bytes(8))
    again = copy('wrap2')
    wait_for(lambda: (daemon.put(mmap2(again)),
                      '/wrap2: 1 table' in daemon.said())[1], daemon.said)
    daemon.end()


def test_a_known_file_is_not_converted_again():
    daemon = Daemon()
    daemon.ready()
    path, last = copy('known'), copy('after')
    daemon.put(*[mmap2(path)] * 100, mmap2(last))
    daemon.says(line(last, r'1 table, \d+ bytes'))
    expect(daemon.said().count('/known: ') == 1, daemon.said())
    daemon.end()


# ---- Files that are not ------------------------------------------------------

def test_other_files_have_none():
    daemon = Daemon()
    daemon.ready()
    os.mkfifo(TMP + '/fifo')
    skipped = r'skipped: no 64-bit program or library of this machine'
    nothing = r'no table: nothing to convert, or damaged'
    cases = [
        (copy('class32', changes=[(4, 1)]), skipped),
        (copy('machine', changes=[(18, 0), (19, 9)]), skipped),
        (copy('object', changes=[(16, 1)]), skipped),
        (copy('text', __file__), skipped),
        (copy('empty', length=0), skipped),
        (copy('cut', length=4096), nothing),
        (copy('bare', HELLO + 'hello-bare'), nothing),
        (TMP + '/fifo', r'cannot be opened: No such file or directory'),
    ]
    for path, text in cases:
        daemon.put(mmap2(path))
    for path, text in cases:
        daemon.says(line(path, text))
    # Memory, a file that another has taken the place of, another namespace's.
    daemon.put(mmap2('/memfd:x (deleted)', inode=5, device=1),
               mmap2('//anon', inode=0, device=0),
               mmap2(copy('other'), inode=1),
               mmap2('/not/here', inode=7, device=7, pid=0))
    daemon.says(line('/not/here', 'cannot be opened: No such file or directory'))
    daemon.says(line(TMP + '/other', 'cannot be opened: No such .*'))
    expect(not daemon.files(), daemon.files())
    expect('memfd' not in daemon.said(), daemon.said())
    daemon.end()
    daemon.says(r'^sfjit daemon: 0 files converted, 5 skipped, 2 without')


def test_what_cannot_be_opened_is_tried_again():
    daemon = Daemon()
    daemon.ready()
    path = copy('later')
    record = mmap2(path)
    os.rename(path, path + '.away')
    daemon.put(record)
    daemon.says(line(path, 'cannot be opened: .*'))
    os.rename(path + '.away', path)
    daemon.put(record)
    daemon.says(line(path, r'1 table, \d+ bytes'))
    daemon.end()


def test_a_conversion_that_ends_badly_does_no_harm():
    daemon = Daemon('--timeout=1')
    daemon.ready()
    killed = 'no table: its conversion was killed'
    cases = [copy('crash', changes=[(9, ord('c'))]),
             copy('call', changes=[(9, ord('s'))]),
             copy('loop', changes=[(9, ord('l'))])]
    last = copy('last')
    daemon.put(*map(mmap2, cases), mmap2(last))
    for path in cases:
        daemon.says(line(path, killed))
    daemon.says(line(last, r'1 table, \d+ bytes'))
    expect(daemon.end() == 0, daemon.said())


def test_a_converter_that_lies_does_no_harm():
    daemon = Daemon()
    daemon.ready()
    killed = 'no table: its conversion was killed'
    cases = {'n': killed, 'o': killed, 'u': killed, 'e': killed,
             't': 'no table: Invalid argument'}
    for kind, text in cases.items():
        path = copy('lie-' + kind, changes=[(9, ord(kind))])
        daemon.put(mmap2(path))
        daemon.says(line(path, text))
    expect(not daemon.files(), daemon.files())
    expect(daemon.end() == 0, daemon.said())


def test_a_file_that_blocks_is_given_up():
    daemon = Daemon('--timeout=1')
    daemon.ready()
    path, last = copy('blocks'), copy('unblocked')
    daemon.put(mmap2(path), mmap2(last))
    daemon.says(line(path, 'no table: opening took too long'))
    daemon.says(line(last, r'1 table, \d+ bytes'))
    daemon.end()


def test_others_do_not_wait_for_a_device_again():
    daemon = Daemon('--timeout=3600')
    daemon.ready()
    os.mkdir(TMP + '/slow')
    blocks = []
    for i in range(3):
        os.mkdir(f'{TMP}/slow/{i}')
        blocks.append(copy(f'slow/{i}/blocks'))
    slow = os.makedev(9, 9)
    late = 'no table: opening took too long'
    daemon.put(mmap2(blocks[0], device=slow))
    daemon.times_out(line(blocks[0], late))
    with daemon.stopped():
        daemon.put(mmap2(blocks[1], device=slow), mmap2(blocks[2], device=slow),
                   mmap2(copy('waits')))
    daemon.says(line(TMP + '/waits', r'1 table, \d+ bytes'))
    wait_for(daemon.works, lambda: 'it does not open ' + blocks[1])
    daemon.put(mmap2(copy('passes')))
    daemon.says(line(TMP + '/passes', r'1 table, \d+ bytes'))
    expect(daemon.said().count(late) == 1, daemon.said())
    for path in blocks[1:]:
        daemon.times_out(line(path, late))
    daemon.end()


# ---- Changes -----------------------------------------------------------------

def test_a_file_that_changes_is_converted_again():
    daemon = Daemon()
    daemon.ready()
    path = copy('changes')
    with open(path, 'r+b') as file:
        text = mmap.mmap(file.fileno(), PAGE, flags=mmap.MAP_SHARED,
                         prot=mmap.PROT_READ | mmap.PROT_EXEC)
        daemon.maps(os.getpid())
        daemon.put(mmap2(path))
        daemon.says(line(path, r'1 table, \d+ bytes'))
        first = daemon.files()[path]
        with open(HELLO + 'hello', 'rb') as other:
            file.write(other.read())
            file.truncate()
            file.flush()
        daemon.put(mmap2(SFJIT))
        daemon.says(line(path, r'1 table, \d+ bytes'), times=2)
        expect_table(daemon, path)
        expect(daemon.files()[path] != first, first)
        text.close()
    daemon.end()


def test_a_file_in_the_place_of_another_is_another():
    daemon = Daemon()
    daemon.ready()
    path, new = copy('place'), copy('new', HELLO + 'hello')
    daemon.put(mmap2(path))
    daemon.says(line(path, r'1 table, \d+ bytes'))
    os.rename(new, path)
    daemon.put(mmap2(path))
    daemon.says(line(path, r'1 table, \d+ bytes'), times=2)
    expect(len(daemon.files()[path]) == 2, daemon.files())
    expect([table for table in daemon.files()[path] if
            daemon.table(table[3]) == sframegen(path)], daemon.files())
    daemon.end()


def test_an_inode_of_another_generation_is_another_file():
    daemon = Daemon()
    daemon.ready()
    path = copy('generation')
    for generation in 0, 7, 0, 7:
        daemon.put(mmap2(path, generation=generation))
    daemon.put(mmap2(copy('between')))
    daemon.says(line(TMP + '/between', r'1 table, \d+ bytes'))
    expect(daemon.said().count('/generation: 1 table') == 1, daemon.said())
    daemon.put(mmap2(path, generation=8))
    daemon.says(line(path, r'1 table, \d+ bytes'), times=2)
    expect_table(daemon, path)
    daemon.end()


# ---- Bounds ------------------------------------------------------------------

def test_memory_is_bounded():
    daemon = Daemon('--memory=1')
    daemon.ready()
    each = len(sframegen(SFJIT))
    fit = (1 << 20) // each
    paths = [copy(f'copy{i}', SFJIT) for i in range(fit + 2)]
    expect(fit >= 2, each)
    for path in paths[:fit]:
        daemon.put(mmap2(path))
        daemon.says(line(path, r'1 table, \d+ bytes'))
    expect(len(daemon.files()) == fit, daemon.files())
    # The first is mapped again, so that the second and third have to go.
    daemon.put(mmap2(paths[0]))
    for path in paths[fit:]:
        daemon.put(mmap2(path))
        daemon.says(line(path, r'1 table, \d+ bytes'))
    left = set(daemon.files())
    expect(left == {paths[0], *paths[3:]}, sorted(left))
    expect(len(re.findall('tables reached 1 MiB', daemon.said())) == 1,
           daemon.said())
    # One that is gone comes back when it is mapped.
    daemon.put(mmap2(paths[1]))
    daemon.says(line(paths[1], r'1 table, \d+ bytes'), times=2)
    daemon.end()


# ---- Service -----------------------------------------------------------------

def test_a_restart_keeps_the_tables():
    first = Daemon()
    kept = first.ready()
    path, gone = copy('kept'), copy('changed')
    first.put(mmap2(path), mmap2(gone))
    first.says(line(gone, r'1 table, \d+ bytes'))
    expect(first.end(signal.SIGKILL) == -signal.SIGKILL, first.status)
    before = first.files()
    with open(gone, 'ab') as file:
        file.write(b'more')
    second = Daemon(state=first.state, kept=kept)
    expect(second.ready() is None, 'the descriptor was given again')
    last = copy('later-file')
    second.put(mmap2(path), mmap2(last))
    second.says(line(last, r'1 table, \d+ bytes'))
    expect(second.files()[path] == before[path], before, second.files())
    expect(gone not in second.files(), second.files())
    expect(path not in second.said(), second.said())
    expect(second.end() == 0, second.said())
    os.close(kept)


def test_another_daemon_has_the_file():
    first = Daemon()
    os.close(first.ready())
    path = copy('shared')
    first.put(mmap2(path))
    first.says(line(path, r'1 table, \d+ bytes'))
    first.end()
    second = Daemon(state=first.state)
    os.close(second.ready())
    second.put(mmap2(path))
    second.says(line(path, 'no table: another daemon has given it one'))
    second.end()


def test_the_node_of_the_module_does_too():
    daemon = Daemon(env={'KERNEL_FAILS': 'prctl=22'})
    daemon.ready()
    path = copy('node')
    daemon.put(mmap2(path))
    daemon.says(line(path, r'1 table, \d+ bytes'))
    daemon.end()


def test_ps_and_doctor_tell_of_it():
    daemon = Daemon()
    daemon.ready()
    path = copy('listed')
    daemon.put(mmap2(path), mmap2(PROGRAMS + 'daemon-two-segments'))
    daemon.says('2 tables')
    daemon.maps(daemon.pid)
    environ = dict(os.environ, KERNEL=daemon.state,
                   LD_PRELOAD=PROGRAMS + 'daemon-kernel.so')
    text = subprocess.run((SFJIT, 'ps', '--files'), env=environ, text=True,
                          check=True, stdout=subprocess.PIPE).stdout
    expect(re.search(r'^3 tables of 2 files, \d+ bytes$', text, re.M), text)
    text = subprocess.run((SFJIT, 'doctor'), env=environ, text=True,
                          check=False, stdout=subprocess.PIPE).stdout
    expect(re.search(r'^ok +daemon +sfjit daemon has given 2 files a table$',
                     text, re.M), text)
    daemon.end()


# ---- Messages ----------------------------------------------------------------

def test_messages():
    start = 'sfjit daemon: '
    root = ': run it as root, or with CAP_PERFMON\n'
    for fails, want in (
            ('prctl=1', start + 'tables of files: Operation not permitted' +
             root),
            ('prctl=12', start + 'tables of files: Cannot allocate memory\n'),
            ('events=13', start + 'perf_event_open: Permission denied: run it '
             'as root or with CAP_PERFMON, and let seccomp pass it\n'),
            ('events=38', start + 'perf_event_open: Function not implemented: '
             'the kernel needs PERF_EVENTS=y\n')):
        got = run(env={'KERNEL_FAILS': fails})
        expect(got == (125, want), fails, got)


def test_a_kernel_without_the_interface():
    got = subprocess.run((SFJIT, 'daemon'), stderr=subprocess.PIPE, text=True,
                         check=False)
    expect(got.returncode == 125 and got.stderr ==
           'sfjit daemon: this kernel has no tables of files: load the module of '
           'this version on Linux 6.12, or boot a kernel with its patches '
           '(sfjit doctor)\n', got)


def test_usage():
    for options in (('-m', '0'), ('--memory=x',), ('--timeout=0',), ('more',),
                    ('--wrong',), ('-m', '-1')):
        status, text = run(*options)
        expect(status == 125 and 'Usage: sfjit daemon' in text, options, text)


def main():
    check_each('daemon:', [test for test in globals().items()
                           if sys.argv[1:] in ([], [test[0]])])
    shutil.rmtree(TMP)
    finish()


main()
