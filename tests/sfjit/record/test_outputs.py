# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
"""usage: test_outputs.py SFJIT DIRECTORY

What sfjit record and sfjit inject make of an output that is there.
"""
import resource
import socket
import threading

# pylint: disable=wildcard-import,unused-wildcard-import
from recorder import *  # noqa: F403
from recording import (ARCH, F_ARCH, F_BUILD_ID, F_TRACING_DATA,
                       HEADER_ATTR, HEADER_FEATURE, IDENTIFIER, TRACING_DATA,
                       build_id, halves, string, words)
from recording import record as record_of
# pylint: disable=wrong-import-order
from tap import check, check_each, finish, skip

IS_ROOT = os.geteuid() == 0
LARGE = samples(20000)


def refused(name, why, **there):
    """By both; perf is not even started."""
    found = files()
    same(record('-o', name, 'true', **there), (
        125, b'', 'sfjit: %s: %s\n' % (name, why)))
    same(perf_words(), None)
    same(files(), found)
    put('data', FILE)
    same(run('inject', '-i', 'data', '-o', name), (
        1, b'', 'sfjit: %s: %s\n' % (name, why)))
    same(files(), dict(found, data=FILE))


# ---- Files -------------------------------------------------------------

def test_a_file():
    begin(out=OLD)
    same(record('-o', 'out', 'true'), (0, b'', ''))
    same(files(), {'out': RECORDED, 'out.old': OLD})
    same(record('-o', 'out', 'true'), (0, b'', ''))
    same(files(), {'out': RECORDED, 'out.old': RECORDED})
    same(os.stat(os.path.join(WORK, 'out')).st_mode & 0o777, 0o600)


def test_sections():
    """What perf describes in records of a pipe is in sections of a file."""
    attrs = [Attr(IP | TID | TIME | CALLCHAIN | IDENTIFIER, ids=ids, size=size)
             for ids, size in (((1, 2), 128), ((), 128), ((3,), 112))]
    data = sample(attrs[0], pid=1, id=1, time=5)[0] + ROUND
    later = sample(attrs[2], pid=1, id=3, time=9)[0] + sample(
        attrs[0], pid=1, id=2, time=7)[0] + ROUND
    sections = {F_TRACING_DATA: b'\x17\x08\x44tracing'.ljust(24, b'\0'),
                F_BUILD_ID: build_id('/a', b'1' * 20) + build_id('/b', b'2'),
                F_ARCH: ARCH, 21: words(5, 9), 31: string('the last')}
    features = [record_of(HEADER_FEATURE, words(number) + content)
                for number, content in (
                    (F_ARCH, ARCH), (21, bytes(16)), (31, b'before'),
                    (31, sections[31]), (32, b''), (1 << 40, b'what'))]
    begin(first=make_pipe(attrs[:2], [
        *features, record_of(TRACING_DATA, halves(24)) +
        sections[F_TRACING_DATA], build_id('/a', b'1' * 20), data], False),
          rest=record_of(HEADER_ATTR, attrs[2].with_ids(False)) +
          build_id('/b', b'2') + later)
    same(record('-o', 'out', 'true'), (0, b'', ''))
    got = get('out')
    # An event that is described late moves all of them to the end.
    want = make_file(attrs[:2], [data, later], False, features=sections)
    at, entry = len(want) + 24, 144
    want += words(1, 2, 3)
    for i, (attr, ids) in enumerate(zip(attrs, (0, 16, 16))):
        raw = attr.raw(False)
        want += (raw[:4] + halves(128) + raw[8:]).ljust(128, b'\0') + words(
            at - 24 + ids, 8 * len(attr.ids))
    want = want[:24] + words(at, 3 * entry) + want[40:]
    same([i for i, both in enumerate(zip(got, want)) if both[0] != both[1]],
         [])
    same(got, want)
    same(run('inject', '-q', '-i', 'out', '-o', 'again'), (0, b'', ''))
    same(get('again'), got)


def test_an_empty_file():
    begin(out=b'', **{'out.old': OLD})
    same(record('-o', 'out', 'true'), (0, b'', ''))
    same(files(), {'out': RECORDED, 'out.old': OLD})


def test_links():
    """They stay, and the file is beside the one they lead to."""
    begin()
    os.mkdir(os.path.join(WORK, 'large'))
    put('large/data')
    os.symlink('large/data', os.path.join(WORK, 'link'))
    os.symlink('link', os.path.join(WORK, 'out'))
    os.symlink('large/new', os.path.join(WORK, 'none'))
    same(record('-o', 'out', 'true'), (0, b'', ''))
    same(record('-o', 'none', 'true'), (0, b'', ''))
    same(files(), {'large': 'd', 'link': '-> large/data', 'out': '-> link',
                   'none': '-> large/new'})
    same(files(os.path.join(WORK, 'large')), {
        'data': RECORDED, 'data.old': OLD, 'new': RECORDED})


def test_inject_keeps_mode_and_link():
    begin(data=FILE)
    put('file', OLD, 0o640)
    os.symlink('file', os.path.join(WORK, 'out'))
    same(run('inject', '-q', '-i', 'data', '-o', 'out'), (0, b'', ''))
    same(files(), {'data': FILE, 'file': FILE, 'out': '-> file'})
    same(os.stat(os.path.join(WORK, 'file')).st_mode & 0o777, 0o640)


def test_a_file_that_the_command_makes():
    begin()
    same(record('-o', 'out', 'sh', '-c', 'printf "what was there" >out'),
         (0, b'', ''))
    same(files(), {'out': RECORDED, 'out.old': OLD})


def test_what_the_command_puts_there_is_no_file():
    """What was recorded is not lost."""
    begin()
    status, _, said = record('-o', 'out', 'mkfifo', 'out')
    found = files()
    (kept,) = [name for name in found if name.startswith('.sfjit-')]
    same(status, 125)
    same(said, 'sfjit: out: is not a regular file any more\n'
         'sfjit: the recording is in %s\n' % os.path.join(WORK, kept)
         .replace(WORK + '/', ''))
    same(found, {'out': 'p', kept: RECORDED})


def test_old_is_no_file():
    begin(out=OLD)
    os.mkfifo(os.path.join(WORK, 'out.old'))
    same(record('-o', 'out', 'true'), (
        125, b'', 'sfjit: out: what is there cannot be renamed to FILE.old, '
        'which is not a regular file\n'))
    same(perf_words(), None)
    same(files(), {'out': OLD, 'out.old': 'p'})


def test_a_directory():
    begin()
    os.mkdir(os.path.join(WORK, 'out'))
    put('out/file')
    refused('out', 'Is a directory')
    same(get('out/file'), OLD)


def test_no_directory():
    begin()
    refused('none/out', 'No such file or directory')


def test_a_long_name():
    begin()
    refused('a' * 300, 'File name too long')


def test_a_directory_that_cannot_be_written():
    begin()
    if IS_ROOT:
        same(record('-o', '/proc/out', 'true')[0], 125)
        same(perf_words(), None)
        return
    os.mkdir(os.path.join(WORK, 'dir'), 0o500)
    refused('dir/out', 'Permission denied')


# ---- Ends --------------------------------------------------------------

ENDS = b'sfjit ends 1\nof 1 2 3\n0 0 0\n'


def test_ends_of_others_stay():
    """Of the file's name, and of that which it gets."""
    begin(out=OLD, **{'out.ends': b'mine', 'out.old.ends': b'mine, too'})
    same(record('-o', 'out', 'true'), (0, b'', ''))
    same(files(), {'out': RECORDED, 'out.old': OLD, 'out.ends': b'mine',
                   'out.old.ends': b'mine, too'})


def test_ends_go_with_their_recording():
    begin(out=OLD, **{'out.ends': ENDS, 'out.old.ends': ENDS + b'before'})
    same(record('-o', 'out', 'true'), (0, b'', ''))
    same(files(), {'out': RECORDED, 'out.old': OLD, 'out.old.ends': ENDS})


# ---- What is no file ---------------------------------------------------

def written(name, **found):
    """It stays what it is."""
    same(record('-o', name, 'true'), (0, b'', ''))
    same(files(), found)
    put('data', FILE)
    same(run('inject', '-q', '-i', 'data', '-o', name), (0, b'', ''))
    same(files(), dict(found, data=FILE))


def device(name, minor):
    """Root could rename the machine's own."""
    path = os.path.join(DIR, name)
    if not IS_ROOT:
        return '/dev/' + name
    if not os.path.exists(path):
        os.mknod(path, 0o666 | stat.S_IFCHR, os.makedev(1, minor))
    return path


def stays_device(path):
    assert stat.S_ISCHR(os.lstat(path).st_mode), path
    assert not os.path.lexists(path + '.old')


def test_a_device():
    null = device('null', 3)
    begin()
    os.symlink(null, os.path.join(WORK, 'link'))
    written('link', link='-> ' + null)
    begin()
    written(null)
    stays_device(null)


def test_a_device_that_is_full():
    full = device('full', 7)
    begin(data=FILE)
    said = 'sfjit: %s: No space left on device\n' % full
    same(record('-o', full, 'true'), (125, b'', said))
    same(run('inject', '-i', 'data', '-o', full), (1, b'', said))
    same(files(), {'data': FILE})
    stays_device(full)


def test_a_block_device():
    if not IS_ROOT:
        skip('record a block device', 'only root can make one')
        return
    begin()
    # Nothing has this number.
    os.mknod(os.path.join(WORK, 'disk'), 0o600 | stat.S_IFBLK,
             os.makedev(240, 77))
    refused('disk', 'is a block device')


def test_a_socket():
    begin()
    with socket.socket(socket.AF_UNIX) as one:
        here = os.getcwd()
        os.chdir(WORK)
        one.bind('socket')
        os.chdir(here)
        refused('socket', 'is a socket')


def read_fifo(name, got):
    with open(os.path.join(WORK, name), 'rb') as file:
        got.append(file.read())


def test_a_fifo():
    begin()
    os.mkfifo(os.path.join(WORK, 'fifo'))
    os.symlink('fifo', os.path.join(WORK, 'link'))
    got = []
    for name in ('fifo', 'link'):
        reader = threading.Thread(target=read_fifo, args=('fifo', got))
        reader.start()
        same(record('-o', name, 'true'), (0, b'', ''))
        reader.join()
    same(got, [WHOLE, WHOLE])
    same(files(), {'fifo': 'p', 'link': '-> fifo'})


def test_a_fifo_whose_reader_goes():
    begin(rest=LARGE)
    os.mkfifo(os.path.join(WORK, 'fifo'))

    def take_some():
        with open(os.path.join(WORK, 'fifo'), 'rb') as file:
            file.read(1)

    reader = threading.Thread(target=take_some)
    reader.start()
    same(record('-o', 'fifo', 'true'), (
        125, b'', 'sfjit: fifo: Broken pipe\n'))
    reader.join()
    same(files(), {'fifo': 'p'})


def test_standard_output():
    """What the command writes goes elsewhere."""
    for name in ('-', 'link', '/proc/self/fd/1', '/dev/fd/1'):
        begin(**{'-': OLD})
        os.symlink('/proc/self/fd/1', os.path.join(WORK, 'link'))
        same(record('-o', name, 'echo', 'out'), (0, WHOLE, 'out\n'))
        same(files(), {'-': OLD, 'link': '-> /proc/self/fd/1'})


def test_standard_output_is_a_file():
    for name in ('-', '/dev/fd/1'):
        begin(**{'-': OLD})
        with open(os.path.join(WORK, 'out'), 'wb') as out:
            same(record('-o', name, 'true', stdout=out), (0, None, ''))
        same(files(), {'-': OLD, 'out': RECORDED})


def test_another_descriptor():
    begin()
    with open(os.path.join(WORK, 'out'), 'wb') as out:
        out.write(OLD)
        out.flush()
        same(record('-o', '/dev/fd/%d' % out.fileno(), 'echo', 'out',
                    pass_fds=[out.fileno()]), (0, b'out\n', ''))
    same(files(), {'out': OLD + WHOLE})


def test_a_terminal():
    begin(data=FILE)
    manager, terminal = os.openpty()
    name = os.ttyname(terminal)
    for words in (['record', '-o', name, 'true'],
                  ['inject', '-i', 'data', '-o', name]):
        same(run(*words)[2], 'sfjit: %s: is a terminal\n' % name)
    same(run('record', '-o', '-', 'true', stdout=terminal)[0], 125)
    same(perf_words(), None)
    os.close(terminal)
    os.close(manager)


def test_closed_standard_streams():
    """No message goes where the recording is."""
    for closed in ('>&-', '2>&-', '>&- 2>&-', '<&- >&- 2>&-'):
        begin()
        subprocess.run(['sh', '-c', '"$0" record -o out sh -c "echo out; '
                        'echo err >&2" ' + closed, SFJIT], cwd=WORK,
                       env=environment(), capture_output=True, check=False)
        same(files(), {'out': RECORDED})


# ---- No room -----------------------------------------------------------

FREE = '; free some space, or choose another file by -o\n'


def limit():
    resource.setrlimit(resource.RLIMIT_FSIZE, (100000, 100000))


def whole_part(got, first=part):
    """As many records as fit."""
    length = len(got) - len(first(samples(10)))
    assert first(samples(10) + LARGE[:length]) == got
    one = len(samples(1)) - len(ROUND)
    same(length % one, 0)


def test_record_keeps_what_has_room():
    begin(rest=LARGE, out=OLD)
    same(record('-o', 'out', 'true', preexec_fn=limit), (
        125, b'', 'sfjit: out: File too large\n'
        'sfjit: out has what was recorded before that' + FREE))
    found = files()
    same((sorted(found), found['out.old']), (['out', 'out.old'], OLD))
    whole_part(found['out'])
    assert len(found['out']) > 99900, len(found['out'])


def test_record_without_any_room():
    begin(out=OLD)
    same(record('-o', 'out', 'true', preexec_fn=lambda: resource.setrlimit(
        resource.RLIMIT_FSIZE, (30, 30))), (
            125, b'', 'sfjit: out: File too large\n'
            'sfjit: out was not changed' + FREE))
    same(files(), {'out': OLD})


def test_inject_keeps_what_is_there():
    large = make_file([ATTR], [LARGE], False)
    for there in ({}, {'out': OLD}):
        begin(data=large, **there)
        same(run('inject', '-i', 'data', '-o', 'out', preexec_fn=limit), (
            1, b'', 'sfjit: out: File too large\n'
            'sfjit: out was not changed' + FREE))
        same(files(), dict(there, data=large))


def test_inject_of_a_pipe_keeps_both():
    """What was read is nowhere else."""
    begin(out=OLD)
    with start('inject', '-i', '-', '-o', 'out', preexec_fn=limit,
               stdin=subprocess.PIPE) as process:
        said = process.communicate(FIRST + LARGE)[1].decode()
    found = files()
    (kept,) = [name for name in found if name.startswith('.sfjit-')]
    same(process.returncode, 1)
    same(said, 'sfjit: out: File too large\nsfjit: out was not changed; what '
         'was read before that is in %s\n' % kept)
    same(found['out'], OLD)
    whole_part(found[kept], lambda data: make_pipe([ATTR], [data], False))


def test_inject_of_what_is_damaged():
    """A record of no length, after some that are sound."""
    bad = make_file([ATTR], [samples(3), bytes(16)], False)
    begin(data=bad, out=OLD)
    status, _, said = run('inject', '-i', 'data', '-o', 'out')
    assert said.startswith('sfjit: data: damaged at offset'), said
    same((status, files()), (1, {'data': bad, 'out': OLD}))


def test_record_of_what_is_damaged():
    """Three rounds are sound, of which the first is written at once."""
    sound = samples(5) + ROUND
    begin(rest=sound + bytes(16) + samples(5), out=OLD)
    status, _, said = record('-o', 'out', 'true')
    same(said, 'sfjit: perf record: damaged at offset 0x%x: a record of 0 '
         'bytes\nsfjit: out has what was recorded before that\n' %
         len(FIRST + sound))
    same((status, files()), (125, {'out': part(samples(10) + sound),
                                   'out.old': OLD}))


def test_record_of_what_cannot_be_converted():
    """It is there as it is, all of it; perf goes on to its end."""
    aux = make_pipe([ATTR], [record_of(70, bytes(16))], False)
    begin(first=aux, rest=LARGE, out=OLD)
    status, out, said = record('-o', 'out', 'sh', '-c', 'echo out; exit 3')
    same(said, 'sfjit: perf record: recordings with AUX area data are not '
         'converted\nsfjit: out has what perf recorded, as it is: perf '
         'report reads it\n')
    same((status, out), (125, b'out\n'))
    same(files(), {'out': aux + LARGE, 'out.old': OLD})


def test_record_of_what_cannot_be_converted_without_room():
    aux = make_pipe([ATTR], [record_of(70, bytes(16))], False)
    begin(first=aux, rest=LARGE, out=OLD)
    status, _, said = record('-o', 'out', 'true', preexec_fn=limit)
    same(said, 'sfjit: perf record: recordings with AUX area data are not '
         'converted\nsfjit: out: File too large\nsfjit: out has what perf '
         'recorded, as it is: perf report reads it' + FREE)
    found = files()
    same((status, sorted(found)), (125, ['out', 'out.old']))
    assert found['out'] and (aux + LARGE).startswith(found['out'])


def in_namespace(script):
    """A script of a shell where file systems can be mounted."""
    return subprocess.run(
        ['unshare', '-m', 'sh', '-ec', script, SFJIT], cwd=WORK,
        env=environment(), capture_output=True, check=False, text=True)


def test_a_disk_that_is_full():
    begin(rest=LARGE)
    os.mkdir(os.path.join(WORK, 'disk'))
    done = in_namespace('mount -t tmpfs -o size=128k none disk; '
                        'printf old >disk/out; '
                        'if "$0" record --quiet -o disk/out true; then exit 9;'
                        ' else echo $?; fi; ls -A disk >names; '
                        'cp disk/out disk/out.old .')
    if done.returncode == 32 or not IS_ROOT:
        skip('record a disk that is full', 'nothing can be mounted here')
        return
    same((done.stdout, done.stderr), (
        '125\n', 'sfjit: disk/out: No space left on device\n'
        'sfjit: disk/out has what was recorded before that' + FREE))
    same((get('names'), get('out.old')), (b'out\nout.old\n', b'old'))
    whole_part(get('out'))


def test_a_file_system_that_is_read_only():
    begin()
    os.mkdir(os.path.join(WORK, 'disk'))
    done = in_namespace('mount -t tmpfs none disk; printf old >disk/out; '
                        'mount -o remount,ro disk; '
                        'if "$0" record -o disk/out true; then exit 9;'
                        ' else echo $?; fi; ls -A disk; cat disk/out')
    if done.returncode == 32 or not IS_ROOT:
        skip('record a file system that is read only',
             'nothing can be mounted here')
        return
    same((done.stdout, done.stderr), (
        '125\nout\nold', 'sfjit: disk/out: Read-only file system\n'))
    same(perf_words(), None)


# ---- perf --------------------------------------------------------------

def test_perf_fails():
    begin('fail', out=OLD)
    same(record('-o', 'out', 'true'), (255, b'', 'perf: no such event\n'))
    same(files(), {'out': OLD})


def test_perf_writes_nothing():
    begin('nothing', out=OLD)
    same(record('-o', 'out', 'true'), (
        125, b'', 'sfjit: perf record wrote nothing\n'))
    same(files(), {'out': OLD})


def test_perf_is_missing():
    begin(out=OLD)
    os.mkdir(os.path.join(WORK, 'bin'))
    same(record('-o', 'out', '/bin/true', env=dict(
        os.environ, PATH=os.path.join(WORK, 'bin'))), (
            127, b'', 'sfjit: perf is not installed: apt-get install '
            'linux-perf\n'))
    same(files(), {'bin': 'd', 'out': OLD})


def test_perf_cannot_be_run():
    begin(out=OLD)
    os.mkdir(os.path.join(WORK, 'bin'))
    put('bin/perf', b'', 0o600)
    same(record('-o', 'out', '/bin/true', env=dict(
        os.environ, PATH=os.path.join(WORK, 'bin')))[0], 126)
    same(files(), {'bin': 'd', 'out': OLD})


def test_the_command_fails():
    begin(out=OLD)
    same(record('-o', 'out', 'sh', '-c', 'exit 3'), (3, b'', ''))
    same(files(), {'out': RECORDED, 'out.old': OLD})


def test_the_command_is_killed():
    begin(out=OLD)
    same(record('-o', 'out', 'sh', '-c', 'kill -9 $$'), (137, b'', ''))
    same(files(), {'out': RECORDED, 'out.old': OLD})


check_each('record', list(globals().items()))
check('all tests', True, '')
finish()
