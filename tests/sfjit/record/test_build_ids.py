# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
"""usage: test_build_ids.py SFJIT DIRECTORY

Build-ids of the files that were mapped, and copies in perf's build-id cache.
"""
import signal
import struct
import time

# pylint: disable=wildcard-import,unused-wildcard-import
from recorder import *  # noqa: F403
from recording import (F_BUILD_ID, FORK, SAMPLE_ID_ALL, USE_CLOCKID, build_id,
                       comm, halves, mmap2, task)
# pylint: disable=wrong-import-order
from tap import check, check_each, finish, skip

PROG = os.path.join(WORK, 'prog')
ID, OTHER = b'1' * 20, b'2' * 20
# More than the pipe has room for: what comes before is read when it is written.
FILLER = [ROUND, comm(ATTR, 9, 'x' * 60000, time=1), ROUND] * 10
CACHE = 'home/.debug'


def note(owner, kind, value, align=4):
    name = (owner + b'\0').ljust(-(-(len(owner) + 1) // align) * align, b'\0')
    return halves(len(owner) + 1, len(value), kind) + name + value.ljust(
        -(-len(value) // align) * align, b'\0')


def elf(notes, *, bits=64, align=4, size=None):
    """An ELF file with one segment of notes."""
    size = len(notes) if size is None else size
    ident = b'\x7fELF' + bytes([2 if bits == 64 else 1, 1, 1]) + bytes(9)
    if bits == 64:
        head = ident + struct.pack('<HHIQQQIHHHHHH', 3, 62, 1, 0, 64, 0, 0, 64,
                                   56, 1, 0, 0, 0)
        head += struct.pack('<IIQQQQQQ', 4, 4, 120, 0, 0, size, size, align)
    else:
        head = ident + struct.pack('<HHIIIIIHHHHHH', 3, 3, 1, 0, 52, 0, 0, 52,
                                   32, 1, 0, 0, 0)
        head += struct.pack('<IIIIIIII', 4, 84, 0, 0, size, size, 4, align)
    return head + notes


def with_id(value, **options):
    return elf(note(b'GNU', 3, value), **options)


def put_program(data, name='prog'):
    put(name, data, 0o755)


def mapping(path=PROG, inode=None, attr=ATTR, **more):
    there = os.stat(os.path.dirname(path) or '/')
    inode = os.stat(path).st_ino if inode is None else inode
    return mmap2(attr, 1, 0x400000, 4096, path, inode=inode, **{
        'time': 1, 'device': (os.major(there.st_dev), os.minor(there.st_dev)),
        **more})


def record_it(*words, command=('true',), **settings):
    env = environment(HOME=os.path.join(WORK, 'home'), **settings)
    return record('-o', 'out', *words, '--', *command, env=env)


def section(name='out'):
    """Of build-ids: its bytes, or None."""
    data = get(name)
    bits = struct.unpack_from('<Q', data, 72)[0]
    if not bits:
        return None
    same(bits, 1 << F_BUILD_ID)
    at = sum(struct.unpack_from('<2Q', data, 40))
    offset, size = struct.unpack_from('<2Q', data, at)
    same(offset, at + 16)
    same(len(data), offset + size)
    return data[offset:]


def copies(cache=CACHE):
    """What is there below .build-id, by build-id."""
    top = os.path.join(WORK, cache, '.build-id')
    found = {}
    for two in os.listdir(top) if os.path.isdir(top) else []:
        for rest in os.listdir(os.path.join(top, two)):
            path = os.path.join(top, two, rest)
            same(os.path.relpath(os.path.realpath(path), os.path.join(
                os.path.realpath(WORK), cache)).rsplit('/', 1)[1], two + rest)
            found[bytes.fromhex(two + rest)] = get('elf', path)
    return found


def prepare(data=None, **settings):
    """A program that is mapped, and perf's settings."""
    begin()
    os.mkdir(os.path.join(WORK, 'home'))
    put_program(with_id(ID) if data is None else data)
    put_first(mapping())
    put_settings(**settings)


def put_first(*records, rest=b''):
    with open(os.path.join(FAKE, 'first'), 'wb') as file:
        file.write(make_pipe([ATTR], [*records, *FILLER], False))
    with open(os.path.join(FAKE, 'rest'), 'wb') as file:
        file.write(rest + samples(1))


def put_settings(**settings):
    with open(os.path.join(FAKE, 'config'), 'w', encoding='utf-8') as file:
        for name, value in settings.items():
            file.write('%s=%s\n' % (name.replace('__', '.').replace(
                '_', '-'), value))


# ---- What is written ---------------------------------------------------

def test_a_file():
    prepare()
    same(record_it('--buildid-all'), (0, b'', ''))
    same(section(), build_id(PROG, ID))
    same(copies(), {ID: with_id(ID)})
    same(run('inject', '-q', '-i', 'out', '-o', 'again'), (0, b'', ''))
    same(get('again'), get('out'))


def test_only_those_with_stacks_are_copied():
    """No sample here has one in the file."""
    prepare()
    same(record_it(), (0, b'', ''))
    same(section(), build_id(PROG, ID))
    same(copies(), {})


def test_notes():
    """Of 32 bits, of other alignment, after others; none is not a mistake."""
    go = note(b'Go', 4, b'x' * 83)
    for want, data in (
            (ID, with_id(ID, bits=32)), (b'12345678', with_id(b'12345678')),
            (ID, elf(go + note(b'GNU', 3, ID))),
            (ID, elf(note(b'GNU', 5, b'p' * 12, 8) + note(
                b'GNU', 3, ID, 8), align=8)),
            (None, elf(go)), (None, b'no ELF file'), (None, b''),
            (None, with_id(b'1' * 21)), (None, with_id(b'')),
            (None, elf(note(b'GNU', 3, ID), size=12)),
            (None, elf(note(b'GNU', 3, ID), size=1 << 20)),
            (None, elf(halves(1 << 31, 1 << 31, 3) + bytes(64)))):
        prepare(data)
        same(record_it('--buildid-all'), (0, b'', ''))
        same(section(), want and build_id(PROG, want))
        same(copies(), {want: data} if want else {})


# ---- What is wanted ----------------------------------------------------

def test_options_and_settings():
    """They mean what they mean for perf record."""
    whole, none = build_id(PROG, ID), {}
    copied = {ID: with_id(ID)}
    for words, settings, want in (
            ((), {}, (whole, copied)),
            (('-N',), {}, (whole, none)),
            (('--no-buildid-cache',), {}, (whole, none)),
            (('-B',), {}, (None, none)),
            (('-qB',), {}, (None, none)),
            (('--no-buildid',), {}, (None, none)),
            (('--buildid-mmap',), {}, (None, none)),
            ((), {'record__build_id': 'cache'}, (whole, copied)),
            ((), {'record__build_id': 'no-cache'}, (whole, none)),
            ((), {'record__build_id': 'skip'}, (None, none)),
            ((), {'record__build_id': 'mmap'}, (None, none)),
            ((), {'buildid__dir': '/dev/null'}, (whole, none))):
        prepare(**settings)
        same(record_it('--buildid-all', *words), (0, b'', ''))
        same((section(), copies()), want)
        for word in words:
            same(word.replace('q', '') in perf_words(), True)


def test_another_directory():
    prepare(buildid__dir=os.path.join(WORK, 'other one'))
    same(record_it('--buildid-all'), (0, b'', ''))
    same((copies(), copies('other one')), ({}, {ID: with_id(ID)}))


def test_a_pipe_has_none():
    prepare()
    status, out, said = run('record', '--quiet', '--buildid-all', '-o', '-',
                            'true', env=environment(HOME=os.path.join(
                                WORK, 'home')))
    same((status, said), (0, ''))
    same(out, get('first', FAKE) + get('rest', FAKE))
    same(copies(), {})


# ---- Files that change -------------------------------------------------

def test_replaced_after_it_was_mapped():
    prepare()
    put_program(with_id(OTHER), 'new')
    same(record_it('--buildid-all', command=('mv', 'new', PROG)),
         (0, b'', ''))
    same(section(), build_id(PROG, ID))
    same(copies(), {ID: with_id(ID)})


def test_two_files_of_a_path():
    """The header has the first; the record of the other one has its own."""
    prepare()
    put_program(with_id(OTHER), 'new')
    second = mapping(inode=os.stat(os.path.join(WORK, 'new')).st_ino, time=5)
    put_first(mapping(), mapping(time=3), rest=second + mapping(
        inode=os.stat(os.path.join(WORK, 'new')).st_ino, time=6) + ROUND)
    first = mapping(), mapping(time=3)
    own = [mapping(build_id=OTHER, time=when) for when in (5, 6)]
    same(record_it('--buildid-all', command=('mv', 'new', PROG)),
         (0, b'', ''))
    same(section(), build_id(PROG, ID))
    same(copies(), {ID: with_id(ID), OTHER: with_id(OTHER)})
    for one in (*first, *own):
        same(get('out').count(one), 1)
    same(get('out').count(second), 0)


REPLACED = 'sfjit: %s: gone before its build-id was read: perf report ' \
    'may show names of the file that is there now\n' % PROG


def test_replaced_before_it_was_read():
    prepare()
    put_first(mapping(inode=1))
    same(record_it('--buildid-all'), (0, b'', REPLACED))
    same((section(), copies()), (None, {}))


def test_written_to_before_it_was_read():
    """It has its inode, and was changed after the mapping."""
    prepare()
    attr = Attr(ATTR.sample_type, flags=SAMPLE_ID_ALL | USE_CLOCKID, clockid=1)
    for when, said in ((1, REPLACED), ((1 << 62), '')):
        with open(os.path.join(FAKE, 'first'), 'wb') as file:
            file.write(make_pipe([attr], [mapping(attr=attr, time=when),
                                          *FILLER], False))
        same(record_it('--buildid-all'), (0, b'', said))
        same(section(), None if said else build_id(PROG, ID))


def test_a_child_in_another_root():
    """It has ended, its parent leads to the file, and our path to another."""
    if os.geteuid():
        skip('record a child in another root', 'not root')
        return
    prepare(with_id(OTHER))
    top = os.path.join(WORK, 'root')
    os.makedirs(top + WORK)
    put_program(with_id(ID), top + PROG)
    there = os.stat(top + PROG)
    begun, tell = os.pipe()
    parent = os.fork()
    if not parent:
        try:
            os.chroot(top)
            os.write(tell, b'.')
            while True:
                signal.pause()
        finally:
            os._exit(1)
    os.close(tell)
    began = os.read(begun, 1)
    os.close(begun)
    ended = (1 << 22) + 1
    put_first(*(part for child in (ended, ended + 1) for part in (
        task(ATTR, FORK, child, child, parent, time=2),
        mmap2(ATTR, child, 0x400000, 4096, PROG, time=3,
              inode=there.st_ino, device=(os.major(there.st_dev),
                                          os.minor(there.st_dev))))))
    done = record_it()
    os.kill(parent, signal.SIGKILL)
    os.waitpid(parent, 0)
    same((began, *done), (b'.', 0, b'', ''))
    same(section(), build_id(PROG, ID))
    same(copies(), {ID: with_id(ID)})


def test_a_file_from_the_future():
    """Its time says nothing of when it was written to."""
    prepare()
    os.utime(PROG, (1 << 33, 1 << 33))
    attr = Attr(ATTR.sample_type, flags=SAMPLE_ID_ALL | USE_CLOCKID, clockid=1)
    now = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
    with open(os.path.join(FAKE, 'first'), 'wb') as file:
        file.write(make_pipe([attr], [mapping(attr=attr, time=now),
                                      *FILLER], False))
    same(record_it(), (0, b'', ''))
    same(section(), build_id(PROG, ID))


def test_nothing_is_there():
    """Without a file there are no names: nothing is wrong."""
    prepare()
    put_first(mapping(path=PROG + '.none', inode=1), mapping(
        path='//anon', inode=0), mapping(path='[vdso]', inode=0))
    same(record_it('--buildid-all'), (0, b'', ''))
    same((section(), copies()), (None, {}))


# ---- The cache ---------------------------------------------------------

def test_a_copy_that_was_written_to():
    """It is a link to a file that has become another one."""
    prepare()
    same(record_it('--buildid-all'), (0, b'', ''))
    with open(PROG, 'r+b') as file:
        file.write(with_id(OTHER))
    same(copies(), {ID: with_id(OTHER)})
    os.unlink(PROG)
    put_program(with_id(ID))
    put_first(mapping())
    same(record_it('--buildid-all'), (0, b'', ''))
    same(copies(), {ID: with_id(ID)})


def test_a_program_with_privileges_is_copied():
    """A link would keep it after an update."""
    prepare()
    for mode, links in ((0o4755, 1), (0o2755, 1), (0o755, 2)):
        shutil.rmtree(os.path.join(WORK, CACHE), ignore_errors=True)
        os.chmod(PROG, mode)
        same(record_it('--buildid-all'), (0, b'', ''))
        same(copies(), {ID: with_id(ID)})
        same(os.stat(PROG).st_nlink, links)


def test_a_path_that_leads_up():
    path = os.path.join(WORK, '..', 'work', 'prog')
    prepare()
    put_first(mmap2(ATTR, 1, 0x400000, 4096, path, time=1))
    same(record_it('--buildid-all'), (
        0, b'', 'sfjit: %s: not added to perf\'s build-id cache: Invalid '
        'argument; perf archive will lack it (-N: add nothing)\n' % path))
    same(sorted(os.listdir(os.path.join(WORK, 'home'))), [])


def test_no_cache():
    """One line, and the recording is as it would be."""
    prepare()
    put_program(with_id(OTHER), 'more')
    put_first(mapping(), mapping(path=os.path.join(WORK, 'more')))
    put(CACHE)
    same(record_it('--buildid-all'), (
        0, b'', 'sfjit: %s and 1 more: not added to perf\'s build-id cache: '
        'Not a directory; perf archive will lack it (-N: add nothing)\n' %
        PROG))
    same(section(), build_id(PROG, ID) + build_id(
        os.path.join(WORK, 'more'), OTHER))
    same(get(CACHE), OLD)


def test_the_kernel():
    """If it was sampled; its symbols, too, if they have addresses here."""
    try:
        with open('/sys/kernel/notes', 'rb') as file:
            file.read()
    except OSError as error:
        skip('record the kernel', str(error))
        return
    prepare()
    put_first(sample(ATTR, pid=1, time=2, misc=1)[0])
    same(record_it(), (0, b'', ''))
    got = section()
    name = b'[kernel.kallsyms]\0'
    same(got[36:36 + len(name)], name)
    same(struct.unpack_from('<IHHi', got), (67, 1 | 1 << 15, len(got), -1))
    copy = os.path.join(WORK, CACHE, name[:-1].decode(),
                        got[12:12 + got[32]].hex(), 'kallsyms')
    with open('/proc/kallsyms', 'rb') as file:
        start_of_it = file.read(1000)
    if start_of_it.startswith(16 * b'0'):
        same(os.path.exists(copy), False)
        return
    with open(copy, 'rb') as file:
        same(file.read(1000), start_of_it)
    shutil.rmtree(os.path.join(WORK, CACHE))
    same(record_it('-N'), (0, b'', ''))
    same((section(), os.path.exists(copy)), (got, False))


check_each('record', list(globals().items()))
check('all tests', True, '')
finish()
