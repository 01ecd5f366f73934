// SPDX-License-Identifier: MIT
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Linked with the selftests of sections. Converts each section that they
 * register to a packed table with the same rows, so that the tests also cover
 * this format. Registers a section unchanged if it cannot be converted.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

#include <sframegen.h>
#include <sfjit/sframe.h>

#define MAX_FUNCTIONS	1024
#define MAX_ROWS	4096

int __real_prctl(int option, ...);
int __wrap_prctl(int option, ...);

static struct sfjit_function functions[MAX_FUNCTIONS];
static struct sfjit_row rows[MAX_ROWS];

static bool read_function(struct sfg_row_reader *reader,
			  struct sfjit_function *function, size_t *used)
{
	int ret = 0;

	*function = reader->fde;
	function->rows = &rows[*used];
	function->nr_rows = 0;
	while (*used < MAX_ROWS &&
	       !(ret = sfg_read_row(reader, &rows[*used], NULL))) {
		function->nr_rows++;
		++*used;
	}
	return ret == -ENOENT;
}

static bool read_functions(const struct sfg_section *section)
{
	struct sfg_row_reader reader;
	size_t used = 0;
	uint32_t i;

	if (!section->header.num_fdes || section->header.num_fdes > MAX_FUNCTIONS)
		return false;
	for (i = 0; i < section->header.num_fdes; i++)
		if (sfg_read_fde(section, i, &reader, NULL) ||
		    !read_function(&reader, &functions[i], &used))
			return false;
	return true;
}

/* The table is never freed: a process makes only a few. */
static bool pack(const void *data, size_t length, uint64_t bias,
		 struct sfg_output *out, size_t *nr)
{
	struct sfg_section section;

	if (sfg_open_section(&section, data, length, (uintptr_t)data + bias,
			     NULL) ||
	    sfg_check_section(&section, NULL) || !read_functions(&section))
		return false;
	*nr = section.header.num_fdes;
	return !sfg_write_packed(SFG_HOST_ABI, functions, *nr, out, NULL);
}

static int register_packed(const unsigned long *args)
{
	struct sframe_window_opts opts = { .size = sizeof(opts) };
	struct sfg_output out;
	size_t nr;

	if (args[3])
		memcpy(&opts, (const void *)args[3], sizeof(opts));
	if (opts.size != sizeof(opts) || opts.format != SFRAME_FORMAT_V3 ||
	    !pack((const void *)args[1], args[2], opts.text_bias, &out, &nr))
		return __real_prctl(PR_SFRAME_REGISTER, args[0], args[1],
				    args[2], args[3]);
	opts.format = SFRAME_FORMAT_PACKED;
	opts.text_bias = 0;
	/* The text is that of the functions, even if buckets cover more. */
	if (!opts.text_start && !opts.text_length) {
		opts.text_start = functions[0].addr;
		opts.text_length = functions[nr - 1].addr +
				   functions[nr - 1].size - opts.text_start;
	}
	return __real_prctl(PR_SFRAME_REGISTER, args[0], out.data, out.len,
			    &opts);
}

int __wrap_prctl(int option, ...)
{
	unsigned long args[4];
	va_list list;
	int i;

	va_start(list, option);
	for (i = 0; i < 4; i++)
		args[i] = va_arg(list, unsigned long);
	va_end(list);
	return option == PR_SFRAME_REGISTER ?
	       register_packed(args) :
	       __real_prctl(option, args[0], args[1], args[2], args[3]);
}
