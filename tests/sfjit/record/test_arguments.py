# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
"""usage: test_arguments.py SFJIT DIRECTORY

Where the options of sfjit record end, and what perf and the command get.
"""
import os
import re
import shutil
import subprocess

# pylint: disable=wildcard-import,unused-wildcard-import
from recorder import *  # noqa: F403
# pylint: disable=wrong-import-order
from tap import check, check_each, finish, skip

ROOT = os.geteuid() == 0
USUAL = ['record', '--call-graph=dwarf,' + ('32768' if ROOT else '8192'),
         '-o', '-', '-q', *(['-m', '2M'] if ROOT else []),
         '-k', 'CLOCK_MONOTONIC']


def split(words):
    """Options of perf, and the command."""
    if '--' not in words:
        return words, None
    at = words.index('--')
    same(words[at + 2:at + 4], ['record', '--become'])
    return words[:at], words[at + 6:]


def gives(words, options, command, output='perf.data'):
    begin()
    status, _, said = record(*words)
    same((status, said), (0, ''))
    same(split(perf_words()), (USUAL + options, command))
    same(files(), {output: RECORDED})


def test_perf_does_not_wait_for_room():
    gives(['true'], [], ['true'])
    with open(os.path.join(FAKE, 'pipe'), encoding='utf-8') as file:
        assert int(file.read()) >= 1 << 20


def test_the_command_has_options():
    begin(foo=OLD)
    script = 'test "$1 $2 $3" = "-o foo foo.c"'
    same(record('sh', '-c', script, 'sh', '-o', 'foo', 'foo.c')[0], 0)
    same(files(), {'foo': OLD, 'perf.data': RECORDED})
    gives(['true', '-o', 'foo'], [], ['true', '-o', 'foo'])
    gives(['true', '--help'], [], ['true', '--help'])
    gives(['-a', 'true', '--quiet', '--', '-o'], ['-a'],
          ['true', '--quiet', '--', '-o'])
    gives(['--', 'true', '-o', 'foo'], [], ['true', '-o', 'foo'])


def test_the_output():
    for words in (['-oone'], ['-o', 'one'], ['--output=one'],
                  ['--output', 'one'], ['--out=one'], ['-o', 'two', '-oone']):
        gives([*words, 'true'], [], ['true'], 'one')
    gives(['-aoone', 'true'], ['-a'], ['true'], 'one')
    gives(['-ago', 'one', 'true'], ['-a', '-g'], ['true'], 'one')
    gives(['-o', '-p', 'true'], [], ['true'], '-p')


def test_values_of_perfs_options():
    gives(['-F', '99', 'true', '1'], ['-F', '99'], ['true', '1'])
    gives(['-F99', 'true'], ['-F', '99'], ['true'])
    gives(['-aF', '99', 'true'], ['-a', '-F', '99'], ['true'])
    gives(['-e', '', 'true'], ['-e', ''], ['true'])
    gives(['-D', '-1', 'true'], ['-D', '-1'], ['true'])
    gives(['-I', 'true'], ['-I'], ['true'])
    gives(['-Iax', 'true'], ['-Iax'], ['true'])
    gives(['--freq', '99', 'true'], ['--freq', '99'], ['true'])
    gives(['--freq=99', 'true'], ['--freq=99'], ['true'])
    gives(['--user-regs', 'true'], ['--user-regs'], ['true'])
    gives(['--no-buffering', 'true'], ['--no-buffering'], ['true'])
    gives(['-vvv', 'true'], ['-v', '-v', '-v'], ['true'])
    gives(['-p', '1'], ['-p', '1'], None)


def test_options_that_nobody_knows_are_for_perf():
    gives(['--new=1', '--other', '-X', 'true'], ['--new=1', '--other', '-X'],
          ['true'])
    gives(['-aXg', 'true'], ['-a', '-X', '-g'], ['true'])
    gives(['--all-user=1', 'true'], ['--all-user=1'], ['true'])


def test_a_clock():
    for words in (['-k', 'raw'], ['-kraw'], ['--clockid=raw'],
                  ['--clockid', 'raw'], ['-ak', 'raw']):
        begin()
        same(record(*words, 'true')[0], 0)
        assert 'CLOCK_MONOTONIC' not in perf_words(), perf_words()
        same(split(perf_words())[1], ['true'])


def wrong(words, why):
    begin(**{'perf.data': OLD})
    status, out, said = record(*words)
    same((status, out), (125, b''))
    same(said, 'sfjit record: %s; sfjit record --help prints the options\n' %
         why)
    same(perf_words(), None)
    same(files(), {'perf.data': OLD})


def test_wrong_arguments_are_named():
    wrong(['-o'], '-o: its value is missing')
    wrong(['-ao'], '-ao: its value is missing')
    wrong(['--output'], '--output: its value is missing')
    wrong(['-o', '--', 'true'], '-o: its value is missing')
    wrong(['-o', '', 'true'], '-o: its value is empty')
    wrong(['--output=', 'true'], '--output=: its value is empty')
    wrong(['-F'], '-F: its value is missing')
    wrong(['--'], '--: the command is missing')
    for value in ('0', '7', '65536', '8x', '-8', ''):
        wrong(['--stack=' + value, 'true'], '--stack=%s: not a multiple of 8 '
              'from 8 to 65528' % value)
    for word in ('-z', '-z3', '--compression-level=3'):
        wrong([word, 'true'], word + ': leave it out: perf writes to a pipe, '
              'and the recording has no copies of stacks')
    for word in ('--threads', '-S', '--aux-sample', '--switch-output=1s'):
        wrong([word, 'true'], word + ': sfjit cannot convert such '
              'recordings; use perf record for them')


def test_other_commands_name_wrong_arguments():
    begin()
    for words, why in (
            (['inject', '-i', 'a'], 'sfjit inject: -o FILE is missing'),
            (['inject', 'a', '-o', 'b'], 'sfjit inject: a: unexpected; the '
             'input is given by -i'),
            (['inject', '-i'],
             "sfjit inject: option requires an argument -- 'i'"),
            (['inject', '--wrong'],
             "sfjit inject: unrecognized option '--wrong'"),
            (['explain', 'a', 'b'], 'sfjit explain: b: unexpected after a'),
            (['explain', '-i', 'a', 'b'],
             'sfjit explain: b: unexpected after a'),
            (['run', '--wrong', 'true'],
             "sfjit run: unrecognized option '--wrong'"),
            (['run', '-o'],
             "sfjit run: option requires an argument -- 'o'"),
            (['run'], 'sfjit run: the command is missing')):
        status, out, said = run(*words)
        same((status, out, said.split('\n')[0]), (125, b'', why))
    same(files(), {})


def test_inject_takes_each_form():
    for words in (['-o', 'out'], ['-oout'], ['--output=out'],
                  ['--output', 'out'], ['-qoout']):
        begin(first=FILE, data=FILE)
        same(run('inject', '-q', '-idata', *words), (0, b'', ''))
        same(files(), {'data': FILE, 'out': FILE})


def test_explain_takes_each_form():
    wanted = None
    for words in (['perf.data'], [], ['-i', 'perf.data'], ['-iperf.data'],
                  ['--input=perf.data'], ['--input', 'perf.data']):
        begin(**{'perf.data': FILE})
        got = run('explain', '--json', *words)
        wanted = wanted or got
        same(got[0], 0)
        same(got, wanted)


def test_commands_that_cannot_run():
    begin(**{'perf.data': OLD, 'plain': b'x'})
    for words, status, said in (
            (['no-such-command'], 127, 'no-such-command: command not found'),
            (['./none'], 127, './none: command not found'),
            (['./plain'], 126, './plain: Permission denied'),
            (['.'], 126, '.: Permission denied')):
        same(record(*words), (status, b'', 'sfjit: %s\n' % said))
        same(perf_words(), None)
        same(files(), {'perf.data': OLD, 'plain': b'x'})


def test_the_command_is_as_without():
    """Its output, its descriptors, and which signals it ignores."""
    script = 'grep SigIgn /proc/self/status; ls /proc/self/fd; exit 3'
    begin()
    with subprocess.Popen(['sh', '-c', script], stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE) as process:
        plain = process.communicate()[0]
    same(record('sh', '-c', script), (3, plain, ''))
    begin()
    same(record('sh', '-c', 'echo out; echo err >&2'), (0, b'out\n', 'err\n'))
    begin()
    put('script', b'echo "$0 $1"', 0o700)
    same(record('./script', 'a'), (0, b'./script a\n', ''))


def test_options_of_this_machines_perf():
    """Each that has a value takes it away from the command."""
    perf = shutil.which('perf')
    if not perf:
        return
    usage = subprocess.run([perf, 'record', '-h'], capture_output=True,
                           check=False, text=True)
    options = re.findall(r'^ {4,8}(?:-(\w), )?(?:--([\w-]+) |    )?<',
                         usage.stdout + usage.stderr, re.M)
    assert len(options) > 20, usage
    for brief, full in options:
        for word in ['-' + brief] * bool(brief) + ['--' + full] * bool(full):
            begin()
            record(word, 'value', 'true')
            words = perf_words()
            if words is None:
                assert full.startswith('switch-output'), word
                continue
            same(split(words)[1], ['true'])


check_each('record', list(globals().items()))
if not shutil.which('perf'):
    skip('record options of this machines perf', 'perf is not installed')
check('all tests', True, '')
finish()
