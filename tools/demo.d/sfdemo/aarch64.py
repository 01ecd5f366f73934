# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
"""Calls and jumps of AArch64, of which each instruction has four bytes."""

# Bytes of an entry of a PLT that begins with a landing pad.
PLT_ENTRY = 24
B, BL = 0x05, 0x25


def words(code):
    return [int.from_bytes(code[i:i + 4], 'little')
            for i in range(0, len(code) - 3, 4)]


def before(module, address):
    return (words(module.bytes_at(address - 4, address)) or [0])[0]


def target(word, at):
    """Where the b or bl at @at leads to."""
    return at + 4 * ((word & 0x3ffffff ^ 0x2000000) - 0x2000000)


def indirect_call(module, address):
    """blr, or a relative of it that authenticates"""
    return before(module, address) & 0xfefff000 == 0xd63f0000


def direct_call(module, address):
    """Where a bl leads to that returns to @address, or None."""
    word = before(module, address)
    return target(word, address - 4) if word >> 26 == BL else None


def indirect_jumps(code):
    """Is there a br, or a relative of it that authenticates?"""
    return any(word & 0xfefff000 == 0xd61f0000 for word in words(code))


def direct_jumps(module, start, code):
    """Where each b in @code, which is at @start, leads to."""
    for i, word in enumerate(words(code)):
        if word >> 26 == B:
            yield target(word, start + 4 * i)
