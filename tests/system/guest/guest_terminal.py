#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
"""tools/guest --shell on a terminal: its size and its keys reach the guest, and
it is as before when the guest ends, however that is."""
import fcntl
import os
import select
import signal
import struct
import sys
import termios
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), '../../lib'))
from tap import check, finish

SECONDS = 900
# Not the shell: it loses a SIGINT that comes while it starts a program.
SLEEPER = """perl -e '$| = 1; print "run" . "ning"; sleep'\r"""


class Guest:
    """tools/guest on a terminal of its own.  A marker that is expected has quotes
    in what is typed, as the terminal shows that, too."""

    def __init__(self, *options):
        self.screen = b''
        # The other end stays open, so that it has settings after the last process.
        self.terminal, self.held = os.openpty()
        fcntl.ioctl(self.held, termios.TIOCSWINSZ, size(33, 111))
        self.settings = termios.tcgetattr(self.held)
        self.pid = os.fork()
        if not self.pid:
            os.environ['TERM'] = 'xterm'
            os.login_tty(self.held)
            os.execv('tools/guest', ['tools/guest', '--shell', *options])

    def read(self):
        ready, _, _ = select.select([self.terminal], [], [], 1)
        if ready:
            self.screen += os.read(self.terminal, 4096)

    def expect(self, text):
        """Returns what came before."""
        end = time.monotonic() + SECONDS
        while text.encode() not in self.screen:
            if time.monotonic() > end or self.ended():
                raise EOFError(f'no {text!r} in {self.screen!r}')
            self.read()
        before, self.screen = self.screen.split(text.encode(), 1)
        return before.decode()

    def type(self, text):
        os.write(self.terminal, text.encode())

    def said(self, command):
        """What a command prints."""
        self.type(f"echo be''gin; {command}; echo e''nd\r")
        self.expect('begin')
        return self.expect('end').split()

    def ended(self):
        return os.waitid(os.P_PID, self.pid,
                         os.WEXITED | os.WNOHANG | os.WNOWAIT)

    def status(self):
        end = time.monotonic() + SECONDS
        while not self.ended() and time.monotonic() < end:
            self.read()
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])

    def restored(self):
        return termios.tcgetattr(self.held) == self.settings


def size(rows, columns):
    return struct.pack('HHHH', rows, columns, 0, 0)


def qemu_below(pid):
    """The process that runs QEMU for tools/guest."""
    with open(f'/proc/{pid}/task/{pid}/children') as children:
        for child in map(int, children.read().split()):
            with open(f'/proc/{child}/comm') as comm:
                if comm.read().startswith('qemu'):
                    return child
            found = qemu_below(child)
            if found:
                return found
    return None


def keys():
    guest = Guest('--name=terminal')
    check('says how to leave', "`exit' powers it off" in guest.expect('# '),
          guest.screen)
    said = guest.said('tty; stty size; echo $TERM')
    check('a terminal of its size', said == ['/dev/hvc0', '33', '111', 'xterm'],
          said)
    guest.type(SLEEPER)
    guest.expect('running')
    check('raw meanwhile', not guest.restored(), guest.settings)
    guest.type('\x03')
    guest.type('status=$?\r')
    said = guest.said('echo $status')
    check('Ctrl-C ends a command of the guest', said == ['130'], said)
    guest.type(SLEEPER)
    guest.expect('running')
    guest.type('\x1a')
    guest.expect('Stopped')
    said = guest.said('jobs -s | wc -l')
    check('Ctrl-Z stops one', said == ['1'], said)
    guest.type('kill %1; wait\r')
    fcntl.ioctl(guest.terminal, termios.TIOCSWINSZ, size(44, 122))
    said = guest.said('until [ "$(stty size)" = "44 122" ]; do sleep 0.1; done;'
                      'stty size')
    # The shell says before or after it what became of the job.
    check('a new size', '44 122' in ' '.join(said), said)
    guest.type('exit 5\r')
    status = guest.status()
    check("exit's status", status == 5, (status, guest.screen))
    check('exit: terminal as before', guest.restored(), guest.settings)


def escape():
    guest = Guest('--rootfs=none', '--name=terminal-escape')
    guest.expect('# ')
    guest.type('\x1dx')
    status = guest.status()
    check('Ctrl-] x ends it', status == 98, (status, guest.screen))
    check('Ctrl-] x: terminal as before', guest.restored(), guest.settings)


def killed(name, whom, want):
    guest = Guest('--rootfs=none', '--name=terminal-killed')
    guest.expect('# ')
    qemu = qemu_below(guest.pid)
    raw = not guest.restored()
    os.kill(qemu if whom == 'qemu' else guest.pid,
            signal.SIGKILL if whom == 'qemu' else signal.SIGTERM)
    status = guest.status()
    check(f'{name}: status', status == want, (status, guest.screen))
    check(f'{name}: terminal as before', raw and guest.restored(), raw)
    check(f'{name}: no QEMU is left', not os.path.exists(f'/proc/{qemu}'), qemu)


keys()
escape()
killed('QEMU is killed', 'qemu', 98)
killed('the script is ended', 'script', 130)
finish()
