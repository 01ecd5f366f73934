# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
"""Calls and jumps of x86-64."""

# Bytes of an entry of a PLT.
PLT_ENTRY = 16
CALL, JUMP = 0xe8, 0xe9


def indirect_call_before(code):
    """Does @code end with an indirect near call (FF /2)?"""
    for length in (2, 3, 4, 6, 7):
        if len(code) >= length and code[-length] == 0xff and \
                operand_size(code[-length + 1:]) == length - 1 and \
                code[-length + 1] >> 3 & 7 == 2:
            return True
    return False


def operand_size(code):
    """Bytes of ModRM, SIB and displacement at the start of @code."""
    mode, base = code[0] >> 6, code[0] & 7
    if mode == 3:
        return 1
    size = 1
    if base == 4:
        size += 1
        base = code[1] & 7 if len(code) > 1 else 0
    if mode == 0:
        return size + (4 if base == 5 else 0)
    return size + (1 if mode == 1 else 4)


def target(module, end):
    """Where the direct call or jump that ends at @end goes to."""
    field = module.bytes_at(end - 4, end)
    return end + int.from_bytes(field, 'little', signed=True)


def indirect_call(module, address):
    """Is there an indirect call that returns to @address?"""
    return indirect_call_before(module.bytes_at(address - 7, address))


def direct_call(module, address):
    """Where a direct call leads to that returns to @address, or None."""
    if module.bytes_at(address - 5, address)[:1] != bytes([CALL]):
        return None
    return target(module, address)


def indirect_jumps(code):
    """
    Are there bytes of a jump through a register, or of a PLT entry? FF before
    them is the end of a negative displacement, whose last byte they start with.
    """
    for i in range(len(code) - 1):
        if code[i] == 0xff and code[i - 1:i] != b'\xff' and (
                0xe0 <= code[i + 1] <= 0xe7 or code[i + 1] == 0x25):
            return True
    return False


def direct_jumps(module, start, code):
    """Where jumps in @code, which is at @start, lead to, and what looks so."""
    for i in range(len(code) - 4):
        if code[i] == JUMP:
            yield target(module, start + i + 5)
