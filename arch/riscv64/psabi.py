# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
"""What the psABI says, and how qemu numbers the registers: tests/arch."""
from machines import Machine

MACHINE = Machine(
    triple='riscv64-linux-gnu', entry='RISC-V',
    sp=2, fp=8, ra=1, saved=[8, 9, *range(18, 28)],
    stub={n: n for n in range(32)}, pc=32, argument=10, trial_abi=255,
)
