// SPDX-License-Identifier: MIT
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * cfi EH_FRAME CODE: writes the CFI that libsfjit puts into a jitdump for
 * CPython's trampoline, made from its rows, and the trampoline. Compiled after
 * the header of sframegen --template, with -DABI.
 */
#include <stdio.h>

#include <sframegen.h>

#define NAME(suffix)	_Py_trampoline_func_start_ ## suffix
#define SIZE		_PY_TRAMPOLINE_FUNC_START_CODE_SIZE

static int put(const char *path, const void *data, size_t length)
{
	FILE *file = fopen(path, "w");

	return !file || fwrite(data, length, 1, file) != 1 || fclose(file);
}

int main(int argc, char **argv)
{
	const struct sfjit_function function = {
		.size = SIZE,
		.nr_rows = sizeof(NAME(rows)) / sizeof(NAME(rows)[0]),
		.rows = NAME(rows),
	};
	size_t length, hdr;
	uint8_t cfi[1024];

	/* perf puts .eh_frame there, after the code. */
	if (argc != 3 ||
	    sfg_write_cfi(ABI, &function, (SIZE + 7) & ~7, cfi, sizeof(cfi),
			  &length, &hdr))
		return 1;
	return put(argv[1], cfi, length - hdr) ||
	       put(argv[2], NAME(code), SIZE);
}
