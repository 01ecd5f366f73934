// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/*
 * Windows of this module must not keep the program from registering its own: a
 * registration that meets one is tried again without it. The calls go to the
 * next prctl() of the program; before this module has looked that up, to the
 * kernel. If that does not know the option they go to /dev/sfjit, so that the
 * program needs to know prctl() only. A program that calls the kernel directly
 * gets EEXIST.
 */
#include <stdarg.h>

#include <sfjit/format.h>
#include <sfjit/packed.h>
#include <sfjit/sframe.h>

#include "jit.h"
#include "libc.h"
#include "../libsfjit/node.h"
#include "self.h"
#include "sys.h"

struct request {
	int option;
	unsigned long args[4];
};

__attribute__((visibility("default"))) int prctl(int option, ...);

static int (*next_prctl)(int option, ...) = __wrap_prctl;

__attribute__((constructor)) static void look_up_prctl(void)
{
	libc_function next = libc_next("prctl");

	if (next)
		next_prctl = (int (*)(int, ...))next;
}

/* libc's takes four, too, however many there are. */
#define GET_ARGS(request, last) do {					\
	va_list args_;							\
	int i_;								\
									\
	va_start(args_, last);						\
	for (i_ = 0; i_ < 4; i_++)					\
		(request)->args[i_] = va_arg(args_, unsigned long);	\
	va_end(args_);							\
} while (0)

static bool is_of_windows(int option)
{
	return option == PR_SFRAME_REGISTER || option == PR_SFRAME_UNREGISTER ||
	       option == PR_SFRAME_QUERY;
}

static int call_by_node(const struct request *r)
{
	int saved = errno;
	long ret = sfjit_node_call(r->option, r->args[0], r->args[1],
				   r->args[2], r->args[3]);

	errno = ret < 0 ? -ret : saved;
	return ret < 0 ? -1 : ret;
}

static int call_next(const struct request *r)
{
	int saved = errno;
	int ret = next_prctl(r->option, r->args[0], r->args[1], r->args[2],
			     r->args[3]);

	if (ret >= 0 || errno != EINVAL || !is_of_windows(r->option))
		return ret;
	errno = saved;
	return call_by_node(r);
}

static int call_again(void *request)
{
	return call_next(request) < 0 ? -errno : 0;
}

static bool read_fde(uintptr_t index, uint32_t i, uintptr_t bias,
		     uintptr_t *start, uintptr_t *end)
{
	uintptr_t at = index + (uintptr_t)i * sizeof(struct sframe_fde);
	struct sframe_fde fde;

	if (self_read(at, &fde, sizeof(fde)) != sizeof(fde))
		return false;
	*start = at + fde.func_start + bias;
	*end = *start + fde.func_size;
	return true;
}

/*
 * The kernel takes the range from the header of a table, and of a section from the
 * first function to the last.
 */
static bool read_table_text(uintptr_t table, uintptr_t bias, uintptr_t *start,
			    uintptr_t *end)
{
	struct sframe_packed_header header;

	if (self_read(table, &header, sizeof(header)) != sizeof(header))
		return false;
	*start = header.text_start + bias;
	*end = *start + header.text_length;
	return true;
}

static bool read_section_text(uintptr_t section, uintptr_t bias,
			      uintptr_t *start, uintptr_t *end)
{
	struct sframe_header header;
	uintptr_t index, none;

	if (self_read(section, &header, sizeof(header)) != sizeof(header) ||
	    !header.num_fdes)
		return false;
	index = section + sizeof(header) + header.auxhdr_len + header.fdes_off;
	return read_fde(index, 0, bias, start, &none) &&
	       read_fde(index, header.num_fdes - 1, bias, &none, end);
}

static bool read_window_text(const struct request *r, uintptr_t *start,
			     uintptr_t *end)
{
	struct sframe_window_opts opts = { 0 };
	uint32_t size = 0;

	if (r->args[3]) {
		if (self_read(r->args[3], &size, sizeof(size)) != sizeof(size))
			return false;
		if (size > sizeof(opts))
			size = sizeof(opts);
		if (self_read(r->args[3], &opts, size) != size)
			return false;
	}
	*start = opts.text_start;
	*end = *start + opts.text_length;
	if (opts.text_length)
		return true;
	return opts.format == SFRAME_FORMAT_PACKED ?
	       read_table_text(r->args[1], opts.text_bias, start, end) :
	       read_section_text(r->args[1], opts.text_bias, start, end);
}

static int try_again(struct request *r)
{
	uintptr_t start, end;

	if (!read_window_text(r, &start, &end) || start >= end)
		return -EEXIST;
	return jit_give_way((void *)start, end - start, r->args[0], call_again,
			    r);
}

int prctl(int option, ...)
{
	struct request r = { .option = option };
	int saved = errno, ret, error;

	GET_ARGS(&r, option);
	ret = call_next(&r);
	if (option == PR_SFRAME_REGISTER && ret < 0 && errno == EEXIST) {
		error = try_again(&r);
		errno = error ? -error : saved;
		return error ? -1 : 0;
	}
	if (option == PR_SFRAME_UNREGISTER && !ret) {
		jit_key_gone(r.args[0]);
		errno = saved;
	}
	return ret;
}
