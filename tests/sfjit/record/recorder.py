# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
"""sfjit with a perf of the tests, in a directory with known files.

The samples of its recordings have no copies of stacks, so that what is written
is what was recorded, byte for byte.
"""
import contextlib
import os
import shutil
import stat
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, '../../lib'), os.path.join(HERE, '../inject')]
# pylint: disable=wrong-import-position
from recording import (Attr, CALLCHAIN, CONTEXT_USER, IP, ROUND, TID, TIME,
                       make_file, make_pipe, sample)

SFJIT = os.path.abspath(sys.argv[1])
DIR = os.path.abspath(sys.argv[2])
FAKE, WORK = (os.path.join(DIR, name) for name in ('fake', 'work'))
OLD = b'what was there'
ATTR = Attr(IP | TID | TIME | CALLCHAIN)


def samples(count):
    return b''.join(sample(ATTR, pid=1, time=i + 1, old_user=[
        CONTEXT_USER, 0x401000 + i])[0] for i in range(count)) + ROUND


FIRST = make_pipe([ATTR], [samples(10)], False)
REST = samples(5)
WHOLE = FIRST + REST
# In a file.
FILE = make_file([ATTR], [samples(10)], False)
RECORDED = make_file([ATTR], [samples(10), REST], False)


def part(data):
    """A file of records up to a failure."""
    return make_file([ATTR], [data], False)


def put(name, data=OLD, mode=0o600):
    with open(os.path.join(WORK, name), 'wb') as file:
        file.write(data)
    os.chmod(os.path.join(WORK, name), mode)


def get(name, directory=WORK):
    with open(os.path.join(directory, name), 'rb') as file:
        return file.read()


def files(directory=WORK):
    """What is there: of files what they have, of others their kind."""
    found = {}
    for name in sorted(os.listdir(directory)):
        path = os.path.join(directory, name)
        mode = os.lstat(path).st_mode
        if stat.S_ISREG(mode):
            found[name] = get(name, directory)
        elif stat.S_ISLNK(mode):
            found[name] = '-> ' + os.readlink(path)
        else:
            found[name] = stat.filemode(mode)[0]
    return found


def begin(mode='end', *, first=FIRST, rest=REST, **there):
    """An empty directory with these files, and perf as it shall be."""
    for directory in (FAKE, WORK):
        shutil.rmtree(directory, ignore_errors=True)
        os.mkdir(directory)
    for name, data in (('mode', mode.encode()), ('first', first),
                       ('rest', rest)):
        with open(os.path.join(FAKE, name), 'wb') as file:
            file.write(data)
    os.mkfifo(os.path.join(FAKE, 'ready'))
    for name, data in there.items():
        put(name, data)


def environment(**values):
    """A directory that cannot be searched might have each command."""
    path = [HERE] + [name for name in os.environ['PATH'].split(':')
                     if os.access(name or '.', os.X_OK)]
    return dict(os.environ, FAKE=FAKE, PATH=':'.join(path), **values)


def start(*words, env=None, **options):
    options = {'stdin': subprocess.DEVNULL, 'stdout': subprocess.PIPE,
               'stderr': subprocess.PIPE, **options}
    return subprocess.Popen([SFJIT, *words], cwd=WORK,
                            env=env or environment(), **options)


def run(*words, **options):
    """Status, standard output, standard error."""
    with start(*words, **options) as process:
        out, err = process.communicate()
    return process.returncode, out, (err or b'').decode()


def record(*words, **options):
    return run('record', '--quiet', *words, **options)


def perf_words():
    """What perf was started with; None: it was not."""
    with contextlib.suppress(FileNotFoundError):
        return get('arguments', FAKE).decode().split('\n')
    return None


def ready():
    with open(os.path.join(FAKE, 'ready'), encoding='utf-8') as file:
        return file.read().strip()


def same(got, want):
    assert got == want, '%r, wanted %r' % (got, want)
