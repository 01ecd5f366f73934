// SPDX-License-Identifier: MIT
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * The rules of the interface, one by one and without an order.
 */
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "model.h"
#include "sframe_format.h"
#include "sframe_test.h"

#define MAX_FDES	(1UL << 24)

struct window windows[MAX_WINDOWS];
unsigned int nr_windows;
long limit;

static struct window *find(unsigned long key)
{
	unsigned int i;

	for (i = 0; i < nr_windows; i++)
		if (windows[i].key == key)
			return &windows[i];
	return NULL;
}

/* ---- the arguments ------------------------------------------------------- */

static errset check_tail(const uint8_t *opts, uint32_t size)
{
	unsigned long known = sizeof(struct sframe_window_opts), i;
	errset errors = 0;

	if (!memory_readable((unsigned long)opts + known, size - known))
		errors |= ERROR(EFAULT);
	for (i = known; i < size; i++) {
		if (!memory_readable((unsigned long)opts + i, 1))
			break;
		if (opts[i])
			return errors | ERROR(E2BIG);
	}
	return errors;
}

static errset check_opts(unsigned long addr, struct sframe_window_opts *opts)
{
	errset errors = 0;
	uint32_t size;

	memset(opts, 0, sizeof(*opts));
	if (!addr)
		return 0;
	if (!memory_readable(addr, sizeof(size)))
		return ERROR(EFAULT);
	memcpy(&size, (void *)addr, sizeof(size));
	if (size < SFRAME_WINDOW_OPTS_SIZE_VER0)
		return ERROR(EINVAL);
	if (size > PAGE)
		return ERROR(E2BIG);
	if (size > sizeof(*opts))
		errors |= check_tail((void *)addr, size);
	if (!memory_readable(addr, sizeof(*opts)))
		return errors | ERROR(EFAULT);
	memcpy(opts, (void *)addr, sizeof(*opts));
	if (opts->flags & ~SFRAME_WINDOW_REPLACE ||
	    (opts->format != SFRAME_FORMAT_V3 &&
	     opts->format != SFRAME_FORMAT_PACKED) || opts->reserved)
		errors |= ERROR(EINVAL);
	return errors;
}

static bool header_is_right(const struct sframe_header *header)
{
	return header->magic == SFRAME_MAGIC &&
	       header->version == SFRAME_VERSION_3 &&
	       header->flags == (SFRAME_F_FDE_SORTED |
				 SFRAME_F_FDE_FUNC_START_PCREL) &&
	       header->abi_arch == SFT_ABI &&
	       header->cfa_fixed_ra_offset == SFT_RA_OFF &&
	       !header->cfa_fixed_fp_offset && !header->auxhdr_len;
}

/* Index, then rows, both inside @space bytes after the header. */
static bool extent_is_right(const struct sframe_header *header,
			    unsigned long space)
{
	unsigned long index = header->fres_off - header->fdes_off;
	unsigned long used = 16UL * header->num_fdes;

	return header->fdes_off <= header->fres_off &&
	       header->fres_off <= space && used <= index &&
	       header->num_fdes <= MAX_FDES &&
	       header->fre_len <= space - header->fres_off;
}

/* Errors of where a table is. Its header has @header bytes. */
static errset check_place(unsigned long addr, unsigned long length,
			  unsigned long header)
{
	unsigned long end = addr + length;
	errset errors = 0;

	if (length < header || length > UINT32_MAX || end < addr ||
	    end > memory_task_size())
		errors |= ERROR(EINVAL);
	if (!memory_readable(addr, header))
		errors |= ERROR(EFAULT);
	return errors;
}

static errset check_section(unsigned long addr, unsigned long length,
			    struct sframe_header *header)
{
	errset errors = check_place(addr, length, sizeof(*header));

	if (errors & ERROR(EFAULT))
		return errors;
	memcpy(header, (void *)addr, sizeof(*header));
	if (!header_is_right(header) || length < sizeof(*header) ||
	    !extent_is_right(header, length - sizeof(*header)))
		errors |= ERROR(EINVAL);
	return errors;
}

unsigned long packed_length(const struct sframe_packed_header *header)
{
	unsigned long code = header->text_length, bucket = 256 * UNIT;

	if (header->repeat && header->repeat < code)
		code = header->repeat;
	return sizeof(*header) + 16UL * header->nr_rules +
	       4 * ((code + bucket - 1) / bucket) + header->blocks_len + 8;
}

static bool packed_is_right(const struct sframe_packed_header *header)
{
	return header->magic == SFRAME_PACKED_MAGIC &&
	       header->version == SFRAME_PACKED_VERSION &&
	       header->abi_arch == SFT_ABI &&
	       header->unit_shift == SFT_UNIT_SHIFT && header->nr_rules &&
	       header->repeat % UNIT == 0 && header->text_start % UNIT == 0;
}

static errset check_packed(unsigned long addr, unsigned long length,
			   struct sframe_packed_header *header)
{
	errset errors = check_place(addr, length, sizeof(*header));

	if (addr % 16)
		errors |= ERROR(EINVAL);
	if (errors & ERROR(EFAULT))
		return errors;
	memcpy(header, (void *)addr, sizeof(*header));
	if (!packed_is_right(header) || packed_length(header) > length)
		errors |= ERROR(EINVAL);
	return errors;
}

/* The code that the table describes. */
static errset packed_text(const struct sframe_packed_header *header,
			  struct window *window)
{
	window->start = header->text_start + window->bias;
	window->end = window->start + header->text_length;
	return window->end < window->start ? ERROR(EINVAL) : 0;
}

/* From the first FDE to the last one. */
static errset section_text(unsigned long addr,
			   const struct sframe_header *header,
			   struct window *window)
{
	unsigned long first = addr + sizeof(*header) + header->fdes_off;
	unsigned long last = first + 16UL * (header->num_fdes - 1);
	struct sframe_fde fde;

	if (!header->num_fdes)
		return ERROR(EINVAL);
	if (!memory_readable(first, sizeof(fde)) ||
	    !memory_readable(last, sizeof(fde)))
		return ERROR(EFAULT);
	memcpy(&fde, (void *)first, sizeof(fde));
	window->start = first + fde.func_start + window->bias;
	memcpy(&fde, (void *)last, sizeof(fde));
	window->end = last + fde.func_start + window->bias;
	if (window->end + fde.func_size < window->end)
		return ERROR(EINVAL);
	window->end += fde.func_size;
	return 0;
}

static errset check_text(const struct window *window)
{
	if (window->start >= window->end || window->end > memory_task_size() ||
	    !memory_mapped(window->start, window->end - window->start))
		return ERROR(EINVAL);
	return 0;
}

static bool collides(const struct window *window, const struct window *old)
{
	unsigned int i;

	for (i = 0; i < nr_windows; i++)
		if (&windows[i] != old && windows[i].start < window->end &&
		    windows[i].end > window->start)
			return true;
	return false;
}

/* ---- the calls ----------------------------------------------------------- */

static errset check_registry(const struct window *window, bool replace)
{
	const struct window *old = find(window->key);
	errset errors = 0;

	if (collides(window, replace ? old : NULL))
		errors |= ERROR(EEXIST);
	if (!replace && old)
		errors |= ERROR(EBUSY);
	if (!replace && nr_windows >= limit)
		errors |= ERROR(ENOSPC);
	if (replace && !old)
		errors |= ERROR(ENOENT);
	if (replace && old &&
	    (window->start > old->start || window->end < old->end))
		errors |= ERROR(EINVAL);
	return errors;
}

/* The text that opts give: from 0 to 0 if the table says it. */
static errset opts_text(const struct sframe_window_opts *opts,
			struct window *window)
{
	window->start = opts->text_start;
	window->end = opts->text_start + opts->text_length;
	return window->end < window->start ? ERROR(EINVAL) : 0;
}

static errset ask_table(const struct sframe_window_opts *opts,
			struct window *window)
{
	bool packed = opts->format == SFRAME_FORMAT_PACKED;
	struct sframe_packed_header table = { 0 };
	struct sframe_header header = { 0 };
	errset wrong;

	if (packed)
		wrong = check_packed(window->section, window->length, &table);
	else
		wrong = check_section(window->section, window->length, &header);
	wrong |= opts_text(opts, window);
	if (wrong || opts->text_start || opts->text_length)
		return wrong;
	return packed ? packed_text(&table, window) :
			section_text(window->section, &header, window);
}

static void ask_register(const struct call *call, struct answer *answer)
{
	struct window *window = &answer->window;
	struct sframe_window_opts opts;
	errset wrong = check_opts(call->arg[3], &opts);

	*window = (struct window){
		.key = call->arg[0], .section = call->arg[1],
		.length = call->arg[2], .bias = opts.text_bias,
		.kind = opts.format == SFRAME_FORMAT_PACKED ? "packed" :
							      "sframe",
	};
	wrong |= ask_table(&opts, window);

	/* Arguments that are not understood say nothing about windows. */
	if (!wrong)
		wrong = check_text(window) |
			check_registry(window,
				       opts.flags & SFRAME_WINDOW_REPLACE);
	answer->errors = wrong;
}

static void ask_unregister(const struct call *call, struct answer *answer)
{
	if (call->arg[1] || call->arg[2] || call->arg[3])
		answer->errors |= ERROR(EINVAL);
	if (!find(call->arg[0]))
		answer->errors |= ERROR(ENOENT);
}

static void ask_query(const struct call *call, struct answer *answer)
{
	const long results[] = {
		[PR_SFRAME_QUERY_FLAGS] = SFRAME_WINDOW_REPLACE,
		[PR_SFRAME_QUERY_FORMATS] =
			1L << SFRAME_FORMAT_V3 | 1L << SFRAME_FORMAT_PACKED,
		[PR_SFRAME_QUERY_LIMIT] = limit,
	};
	unsigned long what = call->arg[0];

	if (call->arg[1] || call->arg[2] || call->arg[3] ||
	    what > PR_SFRAME_QUERY_LIMIT)
		answer->errors |= ERROR(EINVAL);
	if (!answer->errors)
		answer->result = results[what];
}

static void ask_files(const struct call *call, struct answer *answer)
{
	if (call->arg[0] || call->arg[1] || call->arg[2] || call->arg[3])
		answer->errors |= ERROR(EINVAL);
}

/* prctl() takes an int. */
void model_ask(const struct call *call, struct answer *answer)
{
	memset(answer, 0, sizeof(*answer));
	switch ((uint32_t)call->option) {
	case PR_SFRAME_REGISTER:
		ask_register(call, answer);
		break;
	case PR_SFRAME_UNREGISTER:
		ask_unregister(call, answer);
		break;
	case PR_SFRAME_QUERY:
		ask_query(call, answer);
		break;
	case PR_SFRAME_FILES:
		ask_files(call, answer);
		break;
	default:
		answer->errors = ERROR(EINVAL);
	}
}

/* ---- what they change ---------------------------------------------------- */

static void forget(struct window *window)
{
	*window = windows[--nr_windows];
}

void model_done(const struct call *call, const struct answer *answer)
{
	struct window *old = find(call->arg[0]);

	switch ((uint32_t)call->option) {
	case PR_SFRAME_REGISTER:
		if (!old)
			old = &windows[nr_windows++];
		*old = answer->window;
		break;
	case PR_SFRAME_UNREGISTER:
		forget(old);
		break;
	}
}

void model_unmapped(unsigned long start, unsigned long size)
{
	unsigned int i = nr_windows;

	while (i--)
		if (windows[i].start < start + size && windows[i].end > start)
			forget(&windows[i]);
}

static int by_text(const void *a, const void *b)
{
	const struct window *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

void model_sort(void)
{
	qsort(windows, nr_windows, sizeof(windows[0]), by_text);
}
