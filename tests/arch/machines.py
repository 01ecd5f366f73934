# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
"""arch/NAME/psabi.py: what a machine is, by hand.

machines.py NAME: prints some of it, for shells.
"""
import runpy
import sys
from dataclasses import dataclass, field


@dataclass
class Machine:
    triple: str
    entry: str              # its name in the table of machines
    sp: int                 # DWARF numbers, as all below
    fp: int
    ra: int
    saved: list             # what a callee keeps
    stub: dict              # number in qemu's stub, of each DWARF number
    pc: int                 # there
    argument: int           # the first one
    emulator: str = ''      # qemu- and the triple's first word
    order: str = 'little'
    bias: int = 0           # CFA - stack pointer of the caller
    pushed: int = 0         # by a call: the return address is on the stack
    red_zone: int = 0       # below the stack pointer, and still one's own
    keeps_slots: bool = False   # what is saved is not below it on return
    signature: int = 0      # bits of an address that may be one
    abi: int = 0            # SFrame's number
    trial_abi: int = 0      # else the one that sframegen has made up
    options: list = field(default_factory=list)

    def __post_init__(self):
        self.emulator = self.emulator or f'qemu-{self.triple.split("-")[0]}'


def machine(name):
    return runpy.run_path(f'arch/{name}/psabi.py')['MACHINE']


if __name__ == '__main__':
    named = machine(sys.argv[1])
    for what in ('triple', 'entry', 'emulator', 'abi'):
        print(f"{what}='{getattr(named, what)}'")
