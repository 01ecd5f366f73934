# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
"""Which x86-64 call instructions can have entered code whose address is only
known at run time?

A trampoline is called through a pointer: by an indirect call, or by a direct
call of a function that jumps through a pointer as its last act. So the frame
after a trampoline must have a return address behind such a call. When an
unwinder drops the trampoline's caller, what follows is that caller's caller,
which called a named function directly, and is found out by this.
"""
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


def direct_call_before(module, address):
    """The function called by a direct call that returns to @address."""
    if module.bytes_at(address - 5, address)[:1] != bytes([CALL]):
        return None
    callee = target(module, address)
    return callee if module.bytes_at(callee, callee + 1) else None


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


def code_of(module, start):
    """The function at @start; of what has no FDE, a PLT entry's length."""
    found = module.cfi.function(start) or (start, start + 16)
    return module.bytes_at(start, found[1])


def is_function(module, address):
    found = module.cfi.function(address)
    return bool(found) and found[0] == address


def direct_jumps(module, start, code):
    """Functions that the one at @start jumps to."""
    for i in range(len(code) - 4):
        if code[i] == JUMP:
            other = target(module, start + i + 5)
            if is_function(module, other):
                yield other


def jumps_through_pointer(module, start, depth=1):
    """
    Has the function at @start an indirect jump, or one that it jumps to?
    Bytes that look like one count: what is code and what an operand is not
    looked into.
    """
    code = code_of(module, start)
    if indirect_jumps(code):
        return True
    return depth > 0 and any(
        jumps_through_pointer(module, other, depth - 1)
        for other in direct_jumps(module, start, code))


def reaches_pointer(module, offset):
    """@offset: file position of a return address in @module."""
    address = module.address(offset)
    if address is None:
        return False
    callee = direct_call_before(module, address)
    if callee is not None:
        return jumps_through_pointer(module, callee)
    return indirect_call_before(module.bytes_at(address - 7, address))
