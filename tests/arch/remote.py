# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
"""A client of gdb's remote protocol, for the stub in qemu-user."""
import socket
import subprocess
import time


class Remote:
    """A program that stands at its first instruction."""

    def __init__(self, command, path, output):
        # By a socket in the file system: no port that another test may have.
        self.process = subprocess.Popen(
            [*command[:1], '-g', path, *command[1:]], stdout=output)
        self.socket = self._connect(path)
        self.buffer = b''
        # Before, the stub does not answer 'p'.
        self.ask('qXfer:features:read:target.xml:0,ffb')

    def _connect(self, path):
        for _ in range(12000):
            client = socket.socket(socket.AF_UNIX)
            try:
                client.connect(path)
                client.settimeout(600)
                return client
            except OSError:
                client.close()
            if self.process.poll() is not None:
                break
            time.sleep(0.05)
        raise RuntimeError('qemu does not answer')

    def close(self):
        self.socket.close()
        self.process.kill()
        self.process.wait()

    def _byte(self):
        if not self.buffer:
            self.buffer = self.socket.recv(65536)
            if not self.buffer:
                raise RuntimeError('qemu has ended')
        byte, self.buffer = self.buffer[:1], self.buffer[1:]
        return byte

    def ask(self, packet):
        """$packet#sum; '+' before the answer says that it was understood."""
        total = sum(packet.encode()) % 256
        self.socket.sendall(f'${packet}#{total:02x}'.encode())
        while self._byte() != b'$':
            pass
        answer = b''
        while not answer.endswith(b'#'):
            answer += self._byte()
        self._byte(), self._byte()
        self.socket.sendall(b'+')
        return answer[:-1].decode()

    def register(self, number, order):
        answer = bytes.fromhex(self.ask(f'p{number:x}'))
        if len(answer) != 8:
            raise RuntimeError(f'register {number} is {answer.hex()}')
        return int.from_bytes(answer, order)

    def set_register(self, number, value, order):
        text = value.to_bytes(8, order).hex()
        if self.ask(f'P{number:x}={text}') != 'OK':
            raise RuntimeError(f'register {number} cannot be written')

    def memory(self, address, length):
        answer = self.ask(f'm{address:x},{length:x}')
        return b'' if answer.startswith('E') else bytes.fromhex(answer)

    def _go(self, how):
        """Whether the program goes on: W and X say that it has ended."""
        answer = self.ask(how)
        # O: output of the program
        while answer[:1] == 'O':
            answer = self.ask('')
        if answer[:3] not in ('T05', 'S05') and answer[:1] not in 'WX':
            raise RuntimeError(f'{how}: {answer}')
        return answer[0] not in 'WX'

    def step(self):
        return self._go('s')

    def run_to(self, *places):
        for place in places:
            self.ask(f'Z0,{place:x},1')
        goes_on = self._go('c')
        for place in places:
            if goes_on:
                self.ask(f'z0,{place:x},1')
        return goes_on
