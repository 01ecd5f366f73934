# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
"""Calls and jumps of s390x. Distances are in halfwords."""

# Bytes of an entry of a PLT.
PLT_ENTRY = 32
BRASL, JG = b'\xc0\xe5', b'\xc0\xf4'
BRAS, J = b'\xa7\xe5', b'\xa7\xf4'


def instructions(code):
    """(position, bytes); the two uppermost bits are how long each is."""
    at = 0
    while at < len(code):
        size = (2, 4, 4, 6)[code[at] >> 6]
        yield at, code[at:at + size]
        at += size


def target(insn, at):
    return at + 2 * int.from_bytes(insn[2:], 'big', signed=True)


def indirect_call(module, address):
    """basr of r14 and another register that is not r0, which calls nothing"""
    code = module.bytes_at(address - 2, address)
    return code[:1] == b'\x0d' and code[1] >> 4 == 14 and code[1] & 15 != 0


def direct_call(module, address):
    """Where a brasl or bras leads to that returns to @address, or None."""
    for call, size in ((BRASL, 6), (BRAS, 4)):
        code = module.bytes_at(address - size, address)
        if code[:2] == call:
            return target(code, address - size)
    return None


def indirect_jumps(code):
    """Is there a br of a register other than r14, which returns?"""
    return any(insn[0] == 0x07 and insn[1] >> 4 == 15 and
               insn[1] & 15 not in (0, 14) for _, insn in instructions(code))


def direct_jumps(module, start, code):
    """Where each jg or j in @code, which is at @start, leads to."""
    for at, insn in instructions(code):
        if insn[:2] in (JG, J):
            yield target(insn, start + at)
