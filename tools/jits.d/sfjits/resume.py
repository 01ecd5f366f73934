# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
"""Where call frame information is false: in functions that go on elsewhere.

An unwinder goes on in a handler by __builtin_eh_return(). For that, libgcc calls
a function that overwrites what the caller's registers and return address are
restored from, and one that is empty, for debuggers; until the stack pointer is
set, the rows go on to say that all of this is the caller's. Whoever follows them,
as any unwinder does, is led to a frame that is not the caller's.
"""
from sfdemo import calls, elf

# DW_CFA_def_cfa: rcx, 8; and mov %rcx,%rsp
TAKES_STACK = b'\x0c\x02\x08'
SETS_STACK = b'\x48\x89\xcc'


class Ends(elf.RaRule):
    """Where the stack of the handler is taken from rcx."""

    def find(self, code, location):
        at = 0
        while at < len(code):
            advance, after = self.advance(code, at, code[at])
            if advance is None:
                if code.startswith(TAKES_STACK, at):
                    yield location
                after = self.instruction(code, at, code[at])
            else:
                location += advance * self.cie.code_align
            at = after


def returns_to(module, address):
    """Is there a call in front of it? Bytes that look like one count."""
    return calls.indirect_call(module, address) or \
        calls.direct_call(module, address) is not None


def false_range(module, start, end):
    """
    From the last call but one in front of @end on, where its return address is
    looked up; or None.
    """
    found = [address for address in range(start + 1, end + 1)
             if returns_to(module, address)]
    return (found[-2] - 1, end) if len(found) > 1 else None


def find(module, address):
    """[start, end) of false rows in the function at @address, or None."""
    fde = module.cfi.find(address)
    if not fde:
        return None
    start, _, cie_at, program, end = fde
    rule = Ends(module.cfi.cie(cie_at), False)
    for at in rule.find(module.cfi.data[program:end], start):
        if module.bytes_at(at, at + len(SETS_STACK)) == SETS_STACK:
            return false_range(module, start, at)
    return None
