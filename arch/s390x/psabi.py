# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
"""What the psABI says, and how qemu numbers the registers: tests/arch."""
from machines import Machine

# pswm and pswa, which has the address, are the first.
MACHINE = Machine(
    triple='s390x-linux-gnu', entry='s390x',
    sp=15, fp=11, ra=14, saved=range(6, 14),
    stub={n: n + 2 for n in range(16)}, pc=1, argument=2,
    order='big', bias=160, keeps_slots=True, abi=4,
)
