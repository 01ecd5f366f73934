# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# CPython's asm_trampoline.S has no .cfi_*: they are written behind its
# instructions, whose rows they are.

function directive(text) { print "\t.cfi_" text }

/^_Py_trampoline_func_end:/ {
	directive("endproc")
	print "\t.size _Py_trampoline_func_start, . - _Py_trampoline_func_start"
}
{ print }
/^_Py_trampoline_func_start:/ {
	print "\t.type _Py_trampoline_func_start, @function"
	directive("startproc")
}
/^ *sub +\$8, %rsp/ { directive("def_cfa_offset 16") }
/^ *add +\$8, %rsp/ { directive("def_cfa_offset 8") }
/^ *stp +x29, x30, \[sp, -16\]!/ {
	directive("def_cfa_offset 16")
	directive("offset x29, -16")
	directive("offset x30, -8")
}
/^ *ldp +x29, x30, \[sp\], 16/ {
	directive("restore x29")
	directive("restore x30")
	directive("def_cfa_offset 0")
}
