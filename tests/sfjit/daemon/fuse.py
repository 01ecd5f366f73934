# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
"""usage: fuse.py DIRECTORY PROGRAM

Mounts a file system there, whose files have the contents of PROGRAM, and maps each as
text. After that it does not answer an open of `open', a read of `read', or a close of
`close'; it always answers for `good'. Prints a line when all are mapped, and ends at the
end of its input.
"""
import ctypes
import mmap
import os
import stat
import struct
import sys

LOOKUP, FORGET, GETATTR, OPEN, READ, RELEASE = 1, 2, 3, 14, 15, 18
FLUSH, INIT, INTERRUPT, BATCH_FORGET = 25, 26, 36, 42
ENOENT, ENOSYS = 2, 38
KEPT = 3600                     # seconds that the kernel may keep an answer
NAMES = ('open', 'read', 'close', 'good')
FIRST = 2                       # node of the first name; 1 is the directory


class Server:
    def __init__(self, fd, data):
        self.fd, self.data = fd, data
        self.opened = set()

    def reply(self, unique, data=b'', error=0):
        os.write(self.fd, struct.pack('=IiQ', 16 + len(data), -error, unique) +
                 data)

    def attributes(self, node):
        is_file = node >= FIRST
        mode = stat.S_IFREG | 0o755 if is_file else stat.S_IFDIR | 0o755
        size = len(self.data) if is_file else 0
        return struct.pack('=QQQQQQIIIIIIIIII', node, size, 0, 1, 1, 1, 0, 0, 0,
                           mode, 1, 0, 0, 0, mmap.PAGESIZE, 0)

    def lookup(self, unique, name):
        if name not in NAMES:
            self.reply(unique, error=ENOENT)
            return
        node = FIRST + NAMES.index(name)
        self.reply(unique, struct.pack('=QQQQII', node, 1, KEPT, KEPT, 0, 0) +
                   self.attributes(node))

    def answers(self, operation, node):
        """Does it?"""
        name = NAMES[node - FIRST]
        first = node not in self.opened
        if operation == OPEN:
            self.opened.add(node)
        return first or (operation, name) not in (
            (OPEN, 'open'), (READ, 'read'), (FLUSH, 'close'))

    def serve(self, operation, unique, node, body):
        if operation in (FORGET, BATCH_FORGET, INTERRUPT):
            return
        if node >= FIRST and not self.answers(operation, node):
            return
        if operation == INIT:
            self.reply(unique, struct.pack('=IIIIHHIIHHI28x', 7, 31, 1 << 16, 0,
                                           0, 0, 1 << 16, 1, 0, 0, 0))
        elif operation == LOOKUP:
            self.lookup(unique, body.split(b'\0')[0].decode())
        elif operation == GETATTR:
            self.reply(unique, struct.pack('=QII', KEPT, 0, 0) +
                       self.attributes(node))
        elif operation == OPEN:
            self.reply(unique, bytes(16))
        elif operation == READ:
            at, size = struct.unpack_from('=QI', body, 8)
            self.reply(unique, self.data[at:at + size])
        elif operation in (FLUSH, RELEASE):
            self.reply(unique)
        else:
            self.reply(unique, error=ENOSYS)

    def run(self):
        while True:
            request = os.read(self.fd, 1 << 17)
            operation, unique, node = struct.unpack_from('=4xIQQ', request)
            self.serve(operation, unique, node, request[40:])


def mount(fd, directory):
    libc = ctypes.CDLL(None, use_errno=True)
    options = b'fd=%d,rootmode=40000,user_id=0,group_id=0,allow_other' % fd
    if libc.mount(b'blocked', directory.encode(), b'fuse', 0, options):
        sys.exit('mount: ' + os.strerror(ctypes.get_errno()))


def start_server(directory, program):
    fd = os.open('/dev/fuse', os.O_RDWR)
    mount(fd, directory)
    with open(program, 'rb') as file:
        data = file.read()
    if not os.fork():
        Server(fd, data).run()
    os.close(fd)


def main(directory, program):
    start_server(directory, program)
    held = []
    for name in NAMES:
        # It stays open: to close it would wait for an answer.
        fd = os.open(f'{directory}/{name}', os.O_RDONLY)
        held.append(mmap.mmap(fd, mmap.PAGESIZE, flags=mmap.MAP_PRIVATE,
                              prot=mmap.PROT_READ | mmap.PROT_EXEC))
    print(len(held), flush=True)
    sys.stdin.read()


main(*sys.argv[1:])
