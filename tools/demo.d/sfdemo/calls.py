# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
"""Which call instructions can have entered code whose address is only known at
run time?

A trampoline is called through a pointer: by an indirect call, or by a direct
call of a function that jumps through a pointer as its last act. So the frame
after a trampoline must have a return address behind such a call. When an
unwinder drops the trampoline's caller, what follows is that caller's caller,
which called a named function directly, and is found out by this.
"""
from . import aarch64, elf, s390x, x86_64

MACHINES = {elf.EM_X86_64: x86_64, elf.EM_AARCH64: aarch64,
            elf.EM_S390: s390x}


def machine(module):
    return MACHINES[module.machine]


def indirect_call(module, address):
    """Is there an indirect call that returns to @address?"""
    return machine(module).indirect_call(module, address)


def direct_call(module, address):
    """The function called by a direct call that returns to @address."""
    callee = machine(module).direct_call(module, address)
    if callee is None or not module.bytes_at(callee, callee + 1):
        return None
    return callee


def code_of(module, start):
    """The function at @start; of what has no FDE, a PLT entry's length."""
    found = module.cfi.function(start) or (
        start, start + machine(module).PLT_ENTRY)
    return module.bytes_at(start, found[1])


def is_function(module, address):
    found = module.cfi.function(address)
    return bool(found) and found[0] == address


def direct_jumps(module, start, code):
    """Functions that the one at @start jumps to."""
    for other in machine(module).direct_jumps(module, start, code):
        if is_function(module, other):
            yield other


def jumps_through_pointer(module, start, depth=1):
    """
    Has the function at @start an indirect jump, or one that it jumps to?
    Bytes that look like one count: what is code and what an operand is not
    looked into.
    """
    code = code_of(module, start)
    if machine(module).indirect_jumps(code):
        return True
    return depth > 0 and any(
        jumps_through_pointer(module, other, depth - 1)
        for other in direct_jumps(module, start, code))


def reaches_pointer(module, offset):
    """@offset: file position of a return address in @module."""
    address = module.address(offset)
    if address is None:
        return False
    callee = direct_call(module, address)
    if callee is not None:
        return jumps_through_pointer(module, callee)
    return indirect_call(module, address)
