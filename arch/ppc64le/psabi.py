# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
"""What the psABI says, and how qemu numbers the registers: tests/arch."""
from machines import Machine

# The stub has 32 floating-point registers before the pc.
MACHINE = Machine(
    triple='powerpc64le-linux-gnu', entry='PowerPC ELFv2',
    emulator='qemu-ppc64le',
    sp=1, fp=31, ra=65, saved=range(14, 32),
    stub={**{n: n for n in range(32)}, 65: 67}, pc=64, argument=3,
    red_zone=288, keeps_slots=True, trial_abi=254,
)
