# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
"""The cases of stock-guest about /dev/sfjit: each call, each error."""
import array
import contextlib
import ctypes
import errno
import mmap
import os
import signal
import socket
import struct
import sys

NODE = '/dev/sfjit'
NOBODY = 65534
PAGE = mmap.PAGESIZE
PIDFD = 1
V3, PACKED, REPLACE = 0, 4, 1


def ioc(direction, number, size):
    return direction << 30 | size << 16 | 0xe9 << 8 | number


REGISTER, UNREGISTER = ioc(1, 1, 40), ioc(1, 2, 40)
QUERY, FILES = ioc(0, 3, 0), ioc(0, 4, 0)
LIBC = ctypes.CDLL(None, use_errno=True)
LIBC.mmap.restype = ctypes.c_void_p
LIBC.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int,
                      ctypes.c_int, ctypes.c_int, ctypes.c_long]
LIBC.ioctl.argtypes = [ctypes.c_int, ctypes.c_ulong, ctypes.c_ulong]
PR_SET_DUMPABLE = 4


def ioctl(file, call, argument):
    """What the call returns, or the negative errno."""
    if isinstance(argument, bytes):
        memory = ctypes.create_string_buffer(argument)
        argument = ctypes.addressof(memory)
    ret = LIBC.ioctl(file, call, argument)
    return ret if ret >= 0 else -ctypes.get_errno()


class Text:
    """A mapping that windows are for."""

    def __init__(self, pages=1):
        self.pages = pages
        self.start = LIBC.mmap(None, pages * PAGE, 7, mmap.MAP_PRIVATE |
                               mmap.MAP_ANONYMOUS, -1, 0)

    def unmap(self, first=0):
        """Without the pages before this one."""
        LIBC.munmap(ctypes.c_void_p(self.start + first * PAGE),
                    ctypes.c_size_t((self.pages - first) * PAGE))


def outermost():
    """A packed table: all text it is registered for has no caller."""
    unknown, outermost_rule = bytes(16), bytes([4]) + bytes(15)
    table = (struct.pack('HBBBBHQIIQ', 0x5053, 1, 3, 0, 1, 2, 0, 0xffffffff, 0,
                         0) +
             unknown + outermost_rule + struct.pack('I', 1) + bytes(8))
    address = LIBC.mmap(None, PAGE, 3, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS,
                        -1, 0)
    ctypes.memmove(address, table, len(table))
    return address, len(table)


# Mapped before any fork: children have it at the same address.
TABLE = outermost()


class Opts:
    """A struct sframe_window_opts, for ever: requests have only its address."""

    all = []

    def __init__(self, start, length=16, flags=0, form=PACKED, size=40,
                 reserved=0):
        self.memory = ctypes.create_string_buffer(struct.pack(
            'IIQQIIQ', size, flags, start, length, form, reserved,
            start if form == PACKED else 0))
        self.address = ctypes.addressof(self.memory)
        self.all.append(self)


def request(key, opts=0, table=(0, 0), pidfd=0, flags=0):
    return struct.pack('QQQQiI', key, *table, opts and opts.address, pidfd,
                       flags)


def add(file, key, start, pidfd=None, **options):
    """Register a window for this text."""
    opts = Opts(start, **options)
    if pidfd is None:
        return ioctl(file, REGISTER, request(key, opts, TABLE))
    return ioctl(file, REGISTER, request(key, opts, TABLE, pidfd, PIDFD))


def remove(file, key, pidfd=None):
    if pidfd is None:
        return ioctl(file, UNREGISTER, request(key))
    return ioctl(file, UNREGISTER, request(key, pidfd=pidfd, flags=PIDFD))


def opened(flags=os.O_RDONLY):
    return os.open(NODE, flags | os.O_CLOEXEC)


def answer_of(function, user=0, group=None, groups=()):
    """What the function returns in a child with these rights."""
    said, say = os.pipe()
    pid = os.fork()
    if not pid:
        group = user if group is None else group
        os.setgroups(groups)
        os.setresgid(group, group, group)
        os.setresuid(user, user, user)
        try:
            text = repr(function())
        except OSError as error:
            text = repr(-error.errno)
        os.write(say, text.encode())
        os._exit(0)
    os.close(say)
    text = os.read(said, 4096).decode()
    os.close(said)
    os.waitpid(pid, 0)
    return int(text) if text.lstrip('-').isdigit() else text


def register_once(flags=os.O_RDONLY):
    """Open the node, register a window, remove it."""
    file = opened(flags)
    text = Text()
    return add(file, 1, text.start) or remove(file, 1)


class Child:
    """A process with a mapping that the parent shares by its address only."""

    def __init__(self, user=0, work=None):
        self.text = Text(2)
        (said, say), (wait, go) = os.pipe(), os.pipe()
        self.pid = os.fork()
        if not self.pid:
            os.close(go)
            os.setgroups([])
            os.setresgid(user, user, user)
            os.setresuid(user, user, user)
            LIBC.prctl(PR_SET_DUMPABLE, 1, 0, 0, 0)
            if work:
                work(self.text)
            os.write(say, b'x')
            os.read(wait, 1)
            os._exit(0)
        os.close(say)
        os.close(wait)
        os.read(said, 1)
        os.close(said)
        self.go = go
        self.pidfd = os.pidfd_open(self.pid)

    def end(self):
        os.close(self.go)
        os.waitpid(self.pid, 0)


@contextlib.contextmanager
def child(**options):
    process = Child(**options)
    yield process
    process.end()
    os.close(process.pidfd)


@contextlib.contextmanager
def mode(number, group=0):
    """The node has another mode or group."""
    old = os.stat(NODE)
    os.chown(NODE, 0, group)
    os.chmod(NODE, number)
    yield
    os.chown(NODE, 0, old.st_gid)
    os.chmod(NODE, old.st_mode & 0o7777)


def windows_of(pid):
    file = os.open('/proc/sfjit', os.O_RDWR)
    os.write(file, b'%d' % pid)
    text = os.pread(file, 65536, 0).decode()
    os.close(file)
    return [line for line in text.splitlines() if line.startswith('windows ')]


class Node:
    """The cases; check(name, value, want) reports one."""

    def __init__(self, check):
        self.check = check

    def all(self):
        self.rights()
        self.calls()
        self.arguments()
        self.passed()
        self.executed()
        self.others()
        self.others_rights()
        self.others_ended()
        self.others_section()
        self.others_charged()
        self.word_size()
        self.blocked()

    def rights(self):
        stat = os.stat(NODE)
        self.check('root may write to the node, others may read it',
                   (oct(stat.st_mode), stat.st_uid, stat.st_gid),
                   ('0o20644', 0, 0))
        self.check('root may register', answer_of(register_once), 0)
        self.check('a user may not', answer_of(register_once, NOBODY),
                   -errno.EPERM)
        with mode(0o664, 4242):
            self.check('a user outside of the group may not',
                       answer_of(register_once, NOBODY), -errno.EPERM)
            self.check('a member of the group may',
                       answer_of(register_once, NOBODY, groups=[4242]), 0)
            file = opened()
            text = Text()
            self.check('a user has no right of a file that root opened',
                       answer_of(lambda: add(file, 1, text.start), NOBODY),
                       -errno.EPERM)
            self.check('a user may remove with it',
                       answer_of(lambda: remove(file, 1), NOBODY),
                       -errno.ENOENT)
            self.check('a user may ask with it',
                       answer_of(lambda: ioctl(file, QUERY, 0), NOBODY), 1)
            os.close(file)
        with mode(0o666):
            self.check('everybody may if everybody may write to the node',
                       answer_of(register_once, NOBODY), 0)
            file = opened(os.O_RDWR)
        text = Text()
        self.check('the mode counts at the call, not at open()',
                   answer_of(lambda: add(file, 1, text.start), NOBODY),
                   -errno.EPERM)
        os.close(file)
        with mode(0o660):
            self.check('a user who may not read the node does not open it',
                       answer_of(register_once, NOBODY), -errno.EACCES)

    def calls(self):
        file, text = opened(), Text(2)
        formats = ioctl(file, QUERY, 1)
        self.check('flags', ioctl(file, QUERY, 0), 1)
        self.check('formats', formats, 1 << 0 | 1 << 4)
        self.check('limit', ioctl(file, QUERY, 2), 65536)
        self.check('an unknown question', ioctl(file, QUERY, 3), -errno.EINVAL)
        self.check('register', add(file, 1, text.start), 0)
        self.check('the key again', add(file, 1, text.start + 64),
                   -errno.EBUSY)
        self.check('the text again', add(file, 2, text.start + 8),
                   -errno.EEXIST)
        self.check('replace', add(file, 1, text.start, length=32,
                                  flags=REPLACE), 0)
        self.check('replace what is not there',
                   add(file, 2, text.start + 64, flags=REPLACE),
                   -errno.ENOENT)
        self.check('text that is not mapped', add(file, 2, 65536),
                   -errno.EINVAL)
        self.check('remove', remove(file, 1), 0)
        self.check('remove it again', remove(file, 1), -errno.ENOENT)
        self.check('register once more', add(file, 1, text.start), 0)
        with open('/proc/sfjit', encoding='ascii') as proc:
            self.check('/proc/sfjit has the window',
                       [line for line in proc
                        if line.startswith('windows ')][0].split()[1], '1')
        self.check('a child has a copy',
                   answer_of(lambda: remove(file, 1)), 0)
        self.check('the window of the parent stays', remove(file, 1), 0)
        os.close(file)

    def arguments(self):
        file, text = opened(), Text(2)
        good = request(1, Opts(text.start), TABLE)

        def refused(name, want, call, argument):
            self.check(name, ioctl(file, call, argument), -want)
            self.check(f'{name}: there is no window', remove(file, 1),
                       -errno.ENOENT)

        refused('an unknown call', errno.ENOTTY, ioc(1, 4, 40), good)
        refused('a shorter request', errno.ENOTTY, ioc(1, 1, 32), good)
        refused('a longer request', errno.ENOTTY, ioc(1, 1, 48),
                good + bytes(8))
        refused('a call of another device', errno.ENOTTY, 0x5401, bytes(64))
        refused('no request', errno.EFAULT, REGISTER, 0)
        last = Text(2)
        last.unmap(1)
        refused('a request that ends early', errno.EFAULT, REGISTER,
                last.start + PAGE - 39)
        refused('an unknown flag', errno.EINVAL, REGISTER,
                request(1, Opts(text.start), TABLE, flags=2))
        refused('a pidfd without its flag', errno.EINVAL, REGISTER,
                request(1, Opts(text.start), TABLE, pidfd=file))
        refused('a short structure', errno.EINVAL, REGISTER,
                request(1, Opts(text.start, size=31), TABLE))
        refused('a long structure', errno.E2BIG, REGISTER,
                request(1, Opts(text.start, size=PAGE + 1), TABLE))
        refused('an unknown flag of the window', errno.EINVAL, REGISTER,
                request(1, Opts(text.start, flags=8), TABLE))
        refused('an unknown format', errno.EINVAL, REGISTER,
                request(1, Opts(text.start, form=3), TABLE))
        refused('a reserved word', errno.EINVAL, REGISTER,
                request(1, Opts(text.start, reserved=1), TABLE))
        wrong = Opts(text.start)
        wrong.address = last.start + PAGE - 4
        ctypes.memmove(wrong.address, struct.pack('I', 40), 4)
        refused('a structure that ends early', errno.EFAULT, REGISTER,
                request(1, wrong, TABLE))
        refused('a removal with an address', errno.EINVAL, UNREGISTER,
                request(1, table=(1, 0)))
        self.check('what was refused is good otherwise',
                   ioctl(file, REGISTER, good) or remove(file, 1), 0)
        os.close(file)

    def passed(self):
        """A file that another process has opened and sent."""
        ours, theirs = socket.socketpair(socket.AF_UNIX)
        text = Text()
        pid = os.fork()
        if not pid:
            theirs.sendmsg([b'x'], [(socket.SOL_SOCKET, socket.SCM_RIGHTS,
                                     array.array('i', [opened()]))])
            theirs.recv(1)
            os._exit(remove(opened(), 1) == -errno.ENOENT)
        _, rights, _, _ = ours.recvmsg(1, socket.CMSG_SPACE(4))
        file = array.array('i', rights[0][2])[0]
        self.check('a file that another process has opened: register',
                   add(file, 1, text.start), 0)
        ours.send(b'x')
        self.check('the process that has opened it has no window',
                   os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), 1)
        self.check('the process that has it has one', remove(file, 1), 0)
        os.close(file)

    def executed(self):
        """execve() between open() and the call."""
        file, text = opened(), Text()
        program = ('import sys\nsys.path.insert(0, sys.argv[1])\n'
                   'import stock_node as n\nfile, text = int(sys.argv[2]), '
                   'n.Text()\n'
                   'rets = [n.remove(file, 1), n.add(file, 1, text.start), '
                   'n.remove(file, 1)]\nprint(rets)\n')
        said, say = os.pipe()
        pid = os.fork()
        if not pid:
            add(file, 1, text.start)
            os.set_inheritable(file, True)
            os.dup2(say, 1)
            os.execv(sys.executable, [sys.executable, '-B', '-c', program,
                                      os.path.dirname(__file__), str(file)])
        os.close(say)
        os.waitpid(pid, 0)
        self.check('after execve() the file is for the new program',
                   os.read(said, 100).decode().strip(),
                   repr([-errno.ENOENT, 0, 0]))
        os.close(said)
        os.close(file)

    def others(self):
        file = opened()
        with child() as other:
            start = other.text.start
            self.check('register for another process',
                       add(file, 1, start, other.pidfd), 0)
            self.check('that process has the window', windows_of(other.pid),
                       ['windows 1 ' + windows_of(other.pid)[0].split()[2]])
            self.check('this one has not', remove(file, 1), -errno.ENOENT)
            self.check('the key again', add(file, 1, start + 64, other.pidfd),
                       -errno.EBUSY)
            self.check('replace', add(file, 1, start, other.pidfd, length=32,
                                      flags=REPLACE), 0)
            self.check('remove it', remove(file, 1, other.pidfd), 0)
            self.check('remove it again', remove(file, 1, other.pidfd),
                       -errno.ENOENT)
        with child() as other:
            self.check('remove from a process without windows',
                       remove(file, 1, other.pidfd), -errno.ENOENT)
            # The parent unmaps this; the child still has it.
            start = other.text.start
            other.text.unmap()
            self.check('the text is that of the process',
                       add(file, 1, start, other.pidfd), 0)
        own = os.pidfd_open(os.getpid())
        text = Text()
        self.check('a pidfd of the caller', add(file, 1, text.start, own) or
                   remove(file, 1), 0)
        self.check('a file that is no pidfd', add(file, 1, text.start, file),
                   -errno.EBADF)
        self.check('no file', add(file, 1, text.start, -1), -errno.EBADF)
        os.close(own)
        os.close(file)

    def others_rights(self):
        with child() as other:
            start = other.text.start
            with mode(0o666):
                self.check('a process that the caller may not trace',
                           answer_of(lambda: add(opened(), 1, start,
                                                 other.pidfd), NOBODY),
                           -errno.EPERM)
                self.check('a removal there',
                           answer_of(lambda: remove(opened(), 1, other.pidfd),
                                     NOBODY), -errno.EPERM)
        with child(user=NOBODY) as other:
            start = other.text.start
            self.check('a user who may trace it, but not write to the node',
                       answer_of(lambda: add(opened(), 1, start, other.pidfd),
                                 NOBODY), -errno.EPERM)
            self.check('a removal there',
                       answer_of(lambda: remove(opened(), 1, other.pidfd),
                                 NOBODY), -errno.EPERM)
            with mode(0o666):
                self.check('a user who may both', answer_of(
                    lambda: add(opened(), 1, start, other.pidfd) or
                    remove(opened(), 1, other.pidfd), NOBODY), 0)
            self.check('root, for a process that may not register',
                       add(opened(), 1, start, other.pidfd), 0)

    def others_ended(self):
        file, text = opened(), Text()
        other = Child()
        os.close(other.go)
        os.waitid(os.P_PID, other.pid, os.WEXITED | os.WNOWAIT)
        self.check('a zombie', add(file, 1, text.start, other.pidfd),
                   -errno.ESRCH)
        os.waitpid(other.pid, 0)
        self.check('a process that has ended',
                   add(file, 1, text.start, other.pidfd), -errno.ESRCH)
        os.close(other.pidfd)
        kthread = os.pidfd_open(2)
        self.check('a kernel thread', add(file, 1, text.start, kthread),
                   -errno.ESRCH)
        self.check('a removal there', remove(file, 1, kthread), -errno.ESRCH)
        os.close(kthread)
        os.close(file)

    def others_section(self):
        """The table is read in the process, also across pages."""
        file = opened()
        header = struct.pack('<HBBBbbBIIIII', 0xdee2, 3, 5, 3, 0, -8, 0,
                             0, 0, 0, 0, 0)

        def write(text):
            ctypes.memmove(text.start + PAGE - 10, header, len(header))
            ctypes.memmove(text.start + PAGE + 64, *TABLE)

        with child(work=write) as other:
            start = other.text.start
            opts = Opts(start, form=V3)

            def register(address):
                return ioctl(file, REGISTER, request(
                    1, opts, (address, len(header)), other.pidfd, PIDFD))

            self.check('a section of another process across two pages',
                       register(start + PAGE - 10), 0)
            self.check('remove it', remove(file, 1, other.pidfd), 0)
            self.check('a section that is none', register(start),
                       -errno.EINVAL)
            table = start + PAGE + 64, TABLE[1]
            self.check('a packed table of another process',
                       ioctl(file, REGISTER, request(
                           1, Opts(start), table, other.pidfd, PIDFD)), 0)
            self.check('remove that', remove(file, 1, other.pidfd), 0)
            other.text.unmap()
            self.check('it is read in the process only',
                       register(start + PAGE - 10), 0)
            self.check('a section that is not mapped', register(65536),
                       -errno.EFAULT)
            self.check('a section of the kernel', register(-PAGE % 2**64),
                       -errno.EINVAL)
        os.close(file)

    def others_charged(self):
        """The user of the process, not that of the caller."""
        path = '/sys/module/sfjit/parameters/user_windows'
        with open(path, encoding='ascii') as file:
            before = file.read()
        with open(path, 'w', encoding='ascii') as file:
            file.write('1')
        file = opened()
        with child(user=NOBODY) as first, child(user=NOBODY) as second, \
                child() as roots:
            self.check('a window of a user', add(
                file, first.text.start, first.text.start, first.pidfd), 0)
            self.check('the user has no more', add(
                file, second.text.start, second.text.start,
                second.pidfd), -errno.ENOSPC)
            self.check('root has', add(
                file, roots.text.start, roots.text.start, roots.pidfd), 0)
        os.close(file)
        with open(path, 'w', encoding='ascii') as file:
            file.write(before)

    def word_size(self):
        """Programs of 32 bits, as callers and as processes."""
        pause = b'\xb8\x1d\0\0\0\xcd\x80'
        # eax = ioctl(3, REGISTER, 0); exit(-eax)
        call = (b'\xb8\x36\0\0\0\xbb\x03\0\0\0\xb9' +
                struct.pack('I', REGISTER) + b'\x31\xd2\xcd\x80'
                b'\xf7\xd8\x89\xc3\xb8\x01\0\0\0\xcd\x80')
        file, text = opened(), Text()
        for name, code in ('/tmp/call32', call), ('/tmp/pause32', pause):
            image = struct.pack(
                '<16sHHIIIIIHHHHHH', b'\x7fELF\1\1\1', 2, 3, 1, 0x10054, 52,
                0, 0, 52, 32, 1, 0, 0, 0) + struct.pack(
                '<IIIIIIII', 1, 0, 0x10000, 0x10000, 84 + len(code),
                84 + len(code), 5, 0x1000) + code
            with open(name, 'wb') as program:
                program.write(image)
            os.chmod(name, 0o755)

        pid = os.fork()
        if not pid:
            os.dup2(file, 3)
            os.set_inheritable(3, True)
            os.execv('/tmp/call32', ['call32'])
        self.check('a caller of 32 bits',
                   os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]),
                   errno.EOPNOTSUPP)
        said, say = os.pipe2(os.O_CLOEXEC)
        pid = os.fork()
        if not pid:
            os.execv('/tmp/pause32', ['pause32'])
        os.close(say)
        os.read(said, 1)
        pidfd = os.pidfd_open(pid)
        self.check('a process of 32 bits', add(file, 1, text.start, pidfd),
                   -errno.EOPNOTSUPP)
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        for number in said, pidfd, file:
            os.close(number)

    def blocked(self):
        """A process that keeps the caller waiting for its memory."""
        text, (said, say) = Text(2), os.pipe()
        other = os.fork()
        if not other:
            fault = LIBC.syscall(323, os.O_CLOEXEC)
            ioctl(fault, 0xc018aa3f, struct.pack('QQQ', 0xaa, 0, 0))
            start = Text().start
            ioctl(fault, 0xc020aa00,
                  struct.pack('QQQQ', start, PAGE, 1, 0))
            os.write(say, struct.pack('Q', start))
            os.read(fault, 32)
            os.write(say, b'x')
            signal.pause()
        start, = struct.unpack('Q', os.read(said, 8))
        file, pidfd = opened(), os.pidfd_open(other)
        caller = os.fork()
        if not caller:
            ioctl(file, REGISTER, request(1, Opts(text.start, form=V3),
                                          (start, 28), pidfd, PIDFD))
            os._exit(0)
        os.read(said, 1)
        self.check('others register while a caller waits for a page',
                   add(file, 1, text.start) or remove(file, 1), 0)
        with child() as process:
            self.check('also for another process',
                       add(file, 1, process.text.start, process.pidfd), 0)
        self.check('also for the one that keeps it waiting',
                   add(file, 2, text.start, pidfd), 0)
        os.kill(caller, signal.SIGKILL)
        self.check('the caller can be killed',
                   os.waitstatus_to_exitcode(os.waitpid(caller, 0)[1]),
                   -signal.SIGKILL)
        os.kill(other, signal.SIGKILL)
        os.waitpid(other, 0)
        for number in file, pidfd, said, say:
            os.close(number)
