// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/*
 * Registration: options, header, text range, from any addresses and while they
 * change. model_register() compares.
 */
#include <linux/sframe.h>

#include "input.h"

static int wanted_answer(u64 what, u64 a, u64 b, u64 c)
{
	static const int answers[] = {
		1, 1 << SFRAME_FORMAT_V3 | 1 << SFRAME_FORMAT_PACKED, MAX_WINDOWS,
	};

	if (a || b || c)
		return -EINVAL;
	if (shim_compat)
		return -EOPNOTSUPP;
	return what > PR_SFRAME_QUERY_LIMIT ? -EINVAL : answers[what];
}

/* The other calls: only their arguments can be wrong. */
static void other_calls(const u64 *args)
{
	bool zero = !args[1] && !args[2] && !args[3];
	int want = !zero ? -EINVAL : shim_compat ? -EOPNOTSUPP : -ENOENT;

	if (sframe_prctl_unregister(args[0], args[1], args[2], args[3]) != want)
		finding("an unregistration is decided otherwise");
	if (sframe_prctl_query(args[0], args[1], args[2], args[3]) !=
	    wanted_answer(args[0], args[1], args[2], args[3]))
		finding("a query is answered otherwise");
	want = zero && !(args[0] & 1) ? NO_FILES_DESCRIPTOR : -EINVAL;
	if (sframe_prctl_files(args[0] & 1, args[1], args[2], args[3]) != want)
		finding("a descriptor is opened otherwise");
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	unsigned long addr, length;
	u64 args[4];
	struct input in;

	input_memory();
	input_load(&in, data, size);
	/* Anywhere, or where the section is. */
	addr = in.regs[0] >> 56 == TAG_SECTION ?
	       input_address(&in, in.regs[0]) : in.regs[0];
	length = in.regs[1] ? in.regs[1] : input_length(&in);
	shim_compat = in.state & STATE_COMPAT;
	model.regions[REGION_OPTS].pages[0] = in.state & STATE_NO_REGS ?
					      PAGE_ABSENT : PAGE_PRESENT;
	model.no_memory = in.state & STATE_KTHREAD;
	input_events(&in);
	model_register(in.signals & 1, addr, length, input_opts(&in));
	memcpy(args, in.regs + 4, sizeof(args));
	other_calls(args);
	return 0;
}
