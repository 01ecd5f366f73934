# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
"""ask.py N: asks the service on this machine for its page N times, compressed;
prints cksum's line of it if it is always the same.
"""
import gzip
import http.client
import subprocess
import sys


def ask(connection):
    connection.request('GET', '/', headers={'Accept-Encoding': 'gzip'})
    answer = connection.getresponse()
    body = answer.read()
    if answer.status != 200:
        sys.exit('status %d' % answer.status)
    if answer.getheader('Content-Encoding') != 'gzip':
        sys.exit('it is not compressed')
    return gzip.decompress(body)


def main():
    connection = http.client.HTTPConnection('127.0.0.1')
    bodies = {ask(connection) for _ in range(int(sys.argv[1]))}
    if len(bodies) != 1:
        sys.exit('%d different answers' % len(bodies))
    subprocess.run(['cksum'], input=bodies.pop(), check=True)


main()
