# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
"""What the psABI says, and how qemu numbers the registers: tests/arch."""
from machines import Machine

# PAC keys come from random numbers: always the same.
MACHINE = Machine(
    triple='aarch64-linux-gnu', entry='AArch64',
    sp=31, fp=29, ra=30, saved=range(19, 30),
    stub={n: n for n in range(32)}, pc=32, argument=0,
    signature=0x7f << 48, abi=2,
    options=['-cpu', 'max', '-seed', '1'],
)
