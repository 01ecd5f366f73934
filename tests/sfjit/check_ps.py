# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
"""check_ps.py PID: is this JSON of sfjit ps (stdin) what /proc says?"""
import json
import sys

pid = int(sys.argv[1])


def lines(name):
    with open('/proc/%d/%s' % (pid, name), encoding='utf-8') as file:
        return [line.split(None, 5) for line in file]


def mapping(address):
    for words in lines('maps'):
        start, end = (int(word, 16) for word in words[0].split('-'))
        if start <= address < end:
            return {'name': words[5].strip() if len(words) > 5 else '[anon]',
                    'offset': hex(int(words[2], 16) + address - start)}
    return None


def window(words):
    start, end = words[0].split('-')
    return {'text_start': '0x' + start, 'text_end': '0x' + end,
            'key': '0x' + words[1], 'section': '0x' + words[2],
            'length': int(words[3], 16), 'flags': words[4],
            'text_in': mapping(int(start, 16)),
            'section_in': mapping(int(words[2], 16))}


def main():
    process, = json.load(sys.stdin)
    for found in process['windows']:
        del found['names'], found['first_name']
    want = lines('sframe')
    windows = [window(words) for words in want if '-' in words[0]]
    counts = {words[0]: int(words[1]) for words in want
              if len(words) == 2 and words[0] != 'windows'}
    assert process['pid'] == pid
    assert process['windows'] == windows, (process['windows'], windows)
    assert process['refused'] == counts, (process['refused'], counts)
    print(len(windows))


main()
