// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/* Calls, by the bytes of files. */
#include <string.h>

#include "code.h"

/* Bytes of a function without a symbol. */
#define FUNCTION_MOST	4096
#define CALL_MOST	7

/* mov $15, %rax; syscall */
static const unsigned char restorer[] = {
	0x48, 0xc7, 0xc0, 15, 0, 0, 0, 0x0f, 0x05
};

/* Bytes of a call by a pointer that has this ModRM byte, and SIB byte. */
static unsigned int indirect_length(unsigned char modrm, unsigned char sib)
{
	unsigned int mod = modrm >> 6, rm = modrm & 7;
	unsigned int length = 2 + (mod != 3 && rm == 4);

	if ((modrm >> 3 & 7) != 2)
		return 0;
	if (mod == 1)
		return length + 1;
	if (mod == 2 || (!mod && rm == 5) ||
	    (!mod && rm == 4 && (sib & 7) == 5))
		return length + 4;
	return length;
}

static bool ends_with_call(const unsigned char *end)
{
	unsigned int length;

	if (end[-5] == 0xe8)
		return true;
	for (length = 2; length <= CALL_MOST; length++)
		if (end[-(int)length] == 0xff &&
		    indirect_length(end[1 - (int)length],
				    length > 2 ? end[2 - (int)length] : 0) ==
		    length)
			return true;
	return false;
}

bool is_return_address(const struct process *process, uint64_t addr)
{
	unsigned char bytes[CALL_MOST], at[sizeof(restorer)];

	if (read_code(process, addr, at, sizeof(at)) &&
	    !memcmp(at, restorer, sizeof(at)))
		return true;
	if (!read_code(process, addr - CALL_MOST, bytes, sizeof(bytes)))
		return map_of(process, addr - 1);
	return ends_with_call(bytes + sizeof(bytes));
}

bool is_direct_call(struct process *process, uint64_t addr, uint64_t callee)
{
	unsigned char bytes[5];
	Dwfl_Module *mod;
	GElf_Off offset;
	uint64_t target;
	GElf_Sym symbol;
	int32_t by;

	if (!read_code(process, addr - sizeof(bytes), bytes, sizeof(bytes)) ||
	    bytes[0] != 0xe8)
		return false;
	memcpy(&by, bytes + 1, sizeof(by));
	target = addr + by;
	if (callee < target)
		return false;
	mod = dwfl_of(process) ? dwfl_addrmodule(dwfl_of(process), callee) :
		NULL;
	callee -= target;
	if (mod && dwfl_module_addrinfo(mod, callee + target, &offset, &symbol,
					NULL, NULL, NULL) && offset <= callee)
		return offset == callee;
	return callee < FUNCTION_MOST;
}
