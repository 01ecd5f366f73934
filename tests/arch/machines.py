# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
"""What the psABIs say, and how qemu numbers the registers."""
from dataclasses import dataclass, field


@dataclass
class Machine:
    triple: str
    sp: int                 # DWARF numbers, as all below
    fp: int
    ra: int
    saved: list             # what a callee keeps
    stub: dict              # number in qemu's stub, of each DWARF number
    pc: int                 # there
    argument: int           # the first one
    order: str = 'little'
    bias: int = 0           # CFA - stack pointer of the caller
    red_zone: int = 0       # below the stack pointer, and still one's own
    keeps_slots: bool = False   # what is saved is not below it on return
    signature: int = 0      # bits of an address that may be one
    abi: int = 0            # SFrame's number
    options: list = field(default_factory=list)


MACHINES = {
    # PAC keys come from random numbers: always the same.
    'aarch64': Machine('aarch64-linux-gnu', sp=31, fp=29, ra=30,
                       saved=range(19, 30), stub={n: n for n in range(32)},
                       pc=32, argument=0, signature=0x7f << 48, abi=2,
                       options=['-cpu', 'max', '-seed', '1']),
    'riscv64': Machine('riscv64-linux-gnu', sp=2, fp=8, ra=1,
                       saved=[8, 9, *range(18, 28)],
                       stub={n: n for n in range(32)}, pc=32, argument=10),
    # The stub has 32 floating-point registers before the pc.
    'ppc64le': Machine('powerpc64le-linux-gnu', sp=1, fp=31, ra=65,
                       saved=range(14, 32),
                       stub={**{n: n for n in range(32)}, 65: 67}, pc=64,
                       argument=3, red_zone=288, keeps_slots=True),
    # pswm and pswa, which has the address, are the first.
    's390x': Machine('s390x-linux-gnu', sp=15, fp=11, ra=14,
                     saved=range(6, 14), stub={n: n + 2 for n in range(16)},
                     pc=1, argument=2, order='big', bias=160,
                     keeps_slots=True, abi=4),
}
