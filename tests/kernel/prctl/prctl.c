// SPDX-License-Identifier: MIT
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * usage: prctl [CALLS [SEED]]
 *
 * Calls of prctl(PR_SFRAME_*) with arguments made by chance from those that
 * are right, and what each returns and changes compared with a model. For a
 * guest, as root.
 */
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "chance.h"
#include "model.h"
#include "sframe_format.h"
#include "sframe_test.h"

#define LIMIT		"/proc/sys/vm/max_sframe_windows"

/* Far from other mappings: more than the 4 GiB that a section may have. */
#define DATA		(1UL << 40)
#define DATA_SIZE	(2 * PAGE)
#define READ_ONLY	(DATA + 4 * PAGE)
#define NO_ACCESS	(READ_ONLY + PAGE)
#define OPTS		(DATA + 8 * PAGE)
#define TEXT		(DATA + (1UL << 34))
#define TEXT_PAGES	8
#define TEXT_SIZE	(TEXT_PAGES * PAGE)
/* After the text: writable, then a hole, then text again. */
#define MORE_TEXT	(TEXT + TEXT_SIZE + 2 * PAGE)

#define NR_KEYS		24
#define STATE_EVERY	256
#define CHANGE_EVERY	64

enum { CHECK_RESULT, CHECK_STATE, CHECK_KINDS, NR_CHECKS };

static struct check checks[NR_CHECKS] = {
	CHECK("each call returns what is documented"),
	CHECK("windows are those of the calls that succeeded"),
	CHECK("success and each documented error occur"),
};

static unsigned long nr_results[64];

/* ---- values -------------------------------------------------------------- */

static unsigned long edge_address(void)
{
	const unsigned long top = memory_task_size();
	const unsigned long edges[] = {
		0, 1, PAGE - 1, PAGE, DATA - 1, DATA, DATA + 1,
		DATA + DATA_SIZE - 28, DATA + DATA_SIZE - 27,
		DATA + DATA_SIZE - 4, DATA + DATA_SIZE, READ_ONLY,
		READ_ONLY + PAGE - 28, NO_ACCESS, NO_ACCESS - 4, TEXT,
		TEXT + TEXT_SIZE, OPTS, top - 1, top - 4, top - 28,
		top - 32, top - 64, top, top + 1, 1UL << 47, 1UL << 56,
		1UL << 63, ~0UL, ~0UL - 4095, 0xffffffffff600000,
		0xffffffff81000000, 0xffff888000000000,
	};

	return edges[below(sizeof(edges) / sizeof(edges[0]))];
}

static unsigned long edge_number(void)
{
	const unsigned long edges[] = {
		0, 1, 2, 3, 7, 8, 15, 16, 27, 28, 29, 31, 32, 33, 44, 100,
		PAGE - 1, PAGE, PAGE + 1, 1UL << 24, (1UL << 24) + 1,
		1UL << 28, 1UL << 31, (1UL << 32) - 1, 1UL << 32,
		(1UL << 32) + 1, 1UL << 63, ~0UL,
	};
	unsigned long value = edges[below(sizeof(edges) / sizeof(edges[0]))];

	if (one_in(4))
		value += below(64) - 32;
	return one_in(16) ? rng_next(&rng) : value;
}

static void flip_bit(void *bytes, unsigned int size)
{
	unsigned int bit = below(8 * size);

	((uint8_t *)bytes)[bit / 8] ^= 1 << bit % 8;
}

static unsigned long any_key(void)
{
	unsigned long key = below(NR_KEYS);

	if (key <= TEXT_PAGES)
		return TEXT + key * PAGE;
	return key == NR_KEYS - 1 ? ~0UL : key;
}

/* ---- a call that is right, but for the windows there are ----------------- */

/*
 * struct draft - what a call is made from
 * @call:	the arguments
 * @section:	where the section is written, or the packed table
 * @header:	of a section
 * @packed:	of a packed table
 * @fdes:	first and last FDE of a section
 * @opts:	opts, followed by zeros
 */
struct draft {
	struct call			call;
	unsigned long			section;
	union {
		struct sframe_header		header;
		struct sframe_packed_header	packed;
	};
	bool				is_packed;
	struct sframe_fde		fdes[2];
	struct sframe_window_opts	opts;
};

static void draft_text(struct draft *draft)
{
	unsigned long base = one_in(8) ? MORE_TEXT : TEXT;
	unsigned long size = base == TEXT ? TEXT_SIZE : PAGE;
	unsigned long start = below(size), length;

	if (one_in(3))
		start &= -PAGE;
	length = 1 + below(one_in(4) ? size - start : PAGE / 4);
	if (length > size - start)
		length = size - start;
	draft->opts.text_start = base + start;
	draft->opts.text_length = length;
}

/* REPLACE fits if it is the text of the window, or more. */
static void draft_old_text(struct draft *draft)
{
	unsigned int i;

	for (i = 0; i < nr_windows; i++)
		if (windows[i].key == draft->call.arg[0]) {
			draft->opts.text_start = windows[i].start;
			draft->opts.text_length =
				windows[i].end - windows[i].start + below(3);
		}
}

static void draft_header(struct draft *draft)
{
	draft->header = (struct sframe_header){
		.magic = SFRAME_MAGIC,
		.version = SFRAME_VERSION_3,
		.flags = SFRAME_F_FDE_SORTED | SFRAME_F_FDE_FUNC_START_PCREL,
		.abi_arch = SFT_ABI,
		.cfa_fixed_ra_offset = SFT_RA_OFF,
		.num_fdes = below(4),
		.num_fres = below(4),
		.fre_len = below(20),
		.fdes_off = 8 * below(3),
	};
	draft->header.fres_off = draft->header.fdes_off +
				 16 * draft->header.num_fdes + below(32);
}

static void draft_section(struct draft *draft)
{
	struct call *call = &draft->call;

	draft_header(draft);
	call->arg[2] = sizeof(draft->header) + draft->header.fres_off +
		       draft->header.fre_len + below(8);
	if (one_in(4))
		draft->section = DATA + DATA_SIZE - call->arg[2];
	else
		draft->section = DATA + 8 * below(PAGE / 8);
	call->arg[1] = draft->section;
}

/* The text of the section is that of opts, which then need not say it. */
static void draft_fdes(struct draft *draft)
{
	unsigned long first = draft->section + sizeof(draft->header) +
			      draft->header.fdes_off;
	unsigned long last = first + 16 * (draft->header.num_fdes - 1UL);
	unsigned long size = draft->opts.text_length;

	unsigned long bias = one_in(2) ? 0 : edge_address() + edge_number();

	draft->opts.text_bias = bias;
	draft->fdes[0].func_start = draft->opts.text_start - first - bias;
	draft->fdes[0].func_size = size;
	draft->fdes[1].func_start = draft->opts.text_start + size / 2 - last -
				    bias;
	draft->fdes[1].func_size = size - size / 2;
	if (draft->header.num_fdes == 1)
		draft->fdes[1] = draft->fdes[0];
	if (draft->header.num_fdes && one_in(3))
		draft->opts.text_start = draft->opts.text_length = 0;
}

/* So long that each byte is there, at the end of its memory or elsewhere. */
static void draft_place(struct draft *draft, unsigned long length)
{
	struct call *call = &draft->call;

	call->arg[2] = length + below(8);
	if (one_in(4)) {
		call->arg[2] = (length + 15) & -16UL;
		draft->section = DATA + DATA_SIZE - call->arg[2];
	} else {
		draft->section = DATA + 16 * below(PAGE / 16);
	}
	call->arg[1] = draft->section;
}

/* A table of the text that opts have; the same if they do not say it. */
static void draft_packed(struct draft *draft)
{
	struct sframe_packed_header *header = &draft->packed;

	if (one_in(2))
		draft->opts.text_bias = edge_address() + edge_number();
	draft->is_packed = true;
	draft->opts.format = SFRAME_FORMAT_PACKED;
	*header = (struct sframe_packed_header){
		.magic = SFRAME_PACKED_MAGIC,
		.version = SFRAME_PACKED_VERSION,
		.abi_arch = SFT_ABI,
		.unit_shift = SFT_UNIT_SHIFT,
		.repeat = one_in(2) ? 0 : UNIT * below(256 / UNIT),
		.nr_rules = 1 + below(3),
		.text_start = (draft->opts.text_start -
			       draft->opts.text_bias) & -UNIT,
		.text_length = draft->opts.text_length,
		.blocks_len = below(20),
	};
	draft_place(draft, packed_length(header));
	if (one_in(3))
		draft->opts.text_start = draft->opts.text_length = 0;
}

static void draft_register(struct draft *draft)
{
	draft->call.option = PR_SFRAME_REGISTER;
	draft->call.arg[0] = any_key();
	draft->call.arg[3] = OPTS + 8 * below(8);
	draft->opts.size = sizeof(draft->opts);
	draft->opts.flags = below(2) ? SFRAME_WINDOW_REPLACE : 0;
	draft_text(draft);
	if (draft->opts.flags & SFRAME_WINDOW_REPLACE && !one_in(4))
		draft_old_text(draft);
	if (one_in(2)) {
		draft_packed(draft);
		return;
	}
	draft_section(draft);
	draft_fdes(draft);
	if (!draft->opts.text_start && !draft->opts.flags &&
	    !draft->opts.text_bias && one_in(2))
		draft->call.arg[3] = 0;
}

static void draft_unregister(struct draft *draft)
{
	draft->call.option = PR_SFRAME_UNREGISTER;
	draft->call.arg[0] = any_key();
}

static void draft_query(struct draft *draft)
{
	draft->call.option = PR_SFRAME_QUERY;
	draft->call.arg[0] = below(4);
}

/* ---- and something wrong ------------------------------------------------- */

static void spoil_argument(struct draft *draft)
{
	unsigned int nr = below(5);

	if (nr == 4)
		draft->call.option += one_in(2) ? below(7) - 3 :
						  below(4) << 32;
	else
		draft->call.arg[nr] = one_in(2) ? edge_address() :
						  edge_number();
}

static void spoil_length(struct draft *draft)
{
	if (one_in(2))
		draft->call.arg[2] += below(5) - 2;
	else
		draft->call.arg[2] = edge_number();
}

static void spoil_place(struct draft *draft)
{
	draft->section = DATA + DATA_SIZE - below(128);
	draft->call.arg[1] = draft->section;
}

static void spoil_header_bit(struct draft *draft)
{
	flip_bit(&draft->header, sizeof(draft->header));
}

static void spoil_header_number(struct draft *draft)
{
	uint32_t value = edge_number();

	memcpy((char *)&draft->header + 8 + 4 * below(5), &value, 4);
}

static void spoil_fde(struct draft *draft)
{
	struct sframe_fde *fde = &draft->fdes[below(2)];

	if (one_in(2))
		flip_bit(fde, sizeof(*fde));
	else
		fde->func_start = edge_address() - draft->section;
}

static void spoil_opts_bit(struct draft *draft)
{
	flip_bit(&draft->opts, sizeof(draft->opts));
}

static void spoil_opts_size(struct draft *draft)
{
	draft->opts.size = edge_number();
}

static void spoil_opts_bias(struct draft *draft)
{
	draft->opts.text_bias = edge_number();
}

static void spoil_opts_flags(struct draft *draft)
{
	draft->opts.flags = one_in(4) ? edge_number() : below(8);
}

/* One there is, or not. */
static void spoil_opts_format(struct draft *draft)
{
	draft->opts.format = one_in(4) ? edge_number() : below(SFRAME_FORMAT_PACKED + 2);
}

static void spoil_text(struct draft *draft)
{
	if (one_in(2))
		draft->opts.text_start = edge_address();
	if (one_in(2))
		draft->opts.text_length = one_in(2) ? edge_number() :
					  edge_address() -
					  draft->opts.text_start;
}

static void spoil_align(struct draft *draft)
{
	draft->section += below(8);
	draft->call.arg[1] = draft->section;
}

/* Half of the calls are left alone. */
static void spoil(struct draft *draft)
{
	static void (* const ways[])(struct draft *) = {
		spoil_argument, spoil_length, spoil_place, spoil_header_bit,
		spoil_header_number, spoil_header_number, spoil_fde,
		spoil_opts_bit, spoil_opts_size, spoil_opts_bias,
		spoil_opts_flags, spoil_opts_format, spoil_text, spoil_text,
		spoil_align,
	};

	while (one_in(2)) {
		if ((uint32_t)draft->call.option == PR_SFRAME_REGISTER)
			ways[below(sizeof(ways) / sizeof(ways[0]))](draft);
		else
			spoil_argument(draft);
	}
}

/* ---- into memory --------------------------------------------------------- */

/* As much as there is; the rest of the page is zeros, or by chance not. */
static void store(unsigned long at, const void *bytes, size_t size)
{
	const char *from = bytes;

	if (memory_writable(at, size)) {
		memcpy((void *)at, bytes, size);
		return;
	}
	while (size-- && memory_writable(at, 1))
		*(char *)at++ = *from++;
}

static void store_fdes(const struct draft *draft)
{
	unsigned long at = draft->section + sizeof(draft->header) +
			   draft->header.fdes_off;

	store(at, &draft->fdes[0], 16);
	store(at + 16 * (draft->header.num_fdes - 1UL), &draft->fdes[1], 16);
}

static void store_opts(struct draft *draft)
{
	unsigned long at = draft->call.arg[3];

	memset((void *)OPTS, 0, 2 * PAGE);
	if (one_in(32))
		at = draft->call.arg[3] = OPTS + 2 * PAGE - below(64);
	store(at, &draft->opts, sizeof(draft->opts));
	if (one_in(32))
		*(uint8_t *)(OPTS + below(2 * PAGE)) = 1 << below(8);
}

static void store_draft(struct draft *draft)
{
	if ((uint32_t)draft->call.option != PR_SFRAME_REGISTER)
		return;
	if (draft->is_packed) {
		store(draft->section, &draft->packed, sizeof(draft->packed));
	} else {
		store(draft->section, &draft->header, sizeof(draft->header));
		store_fdes(draft);
	}
	if (draft->call.arg[3])
		store_opts(draft);
}

/* ---- calls --------------------------------------------------------------- */

static void make_call(struct call *call)
{
	struct draft draft = { 0 };
	unsigned int kind = below(16);

	if (kind < 11)
		draft_register(&draft);
	else if (kind < 14)
		draft_unregister(&draft);
	else
		draft_query(&draft);
	spoil(&draft);
	store_draft(&draft);
	*call = draft.call;
}

/* A descriptor counts as 0. */
static long do_call(const struct call *call)
{
	long ret = syscall(SYS_prctl, call->option, call->arg[0], call->arg[1],
			   call->arg[2], call->arg[3]);

	if (ret < 0)
		return -errno;
	if ((uint32_t)call->option == PR_SFRAME_FILES)
		return close(ret) ? -errno : 0;
	return ret;
}

static bool right(long ret, const struct answer *answer)
{
	if (answer->errors)
		return ret < 0 && ret > -32 && answer->errors & ERROR(-ret);
	return ret == answer->result;
}

/* The errors are a set of bits. */
static void one_call(unsigned long nr)
{
	struct answer answer;
	struct call call;
	long ret;

	make_call(&call);
	model_ask(&call, &answer);
	ret = do_call(&call);
	check_that(&checks[CHECK_RESULT], right(ret, &answer),
		   "call %lu: prctl(%lx, %lx, %lx, %lx, %lx) = %ld, model: errors %x or %ld",
		   nr, call.option, call.arg[0], call.arg[1], call.arg[2],
		   call.arg[3], ret, answer.errors, answer.result);
	nr_results[ret < 0 ? -ret & 63 : 0]++;
	if (ret >= 0)
		model_done(&call, &answer);
}

/* ---- between calls ------------------------------------------------------- */

static void change_limit(void)
{
	static const long limits[] = { 0, 3, 10, 65536, 65536, 65536 };
	char text[24];

	limit = limits[below(sizeof(limits) / sizeof(limits[0]))];
	snprintf(text, sizeof(text), "%ld\n", limit);
	sft_write_text(LIMIT, text);
}

static void change_text(void)
{
	unsigned long first = below(TEXT_PAGES);
	unsigned long size = (1 + below(TEXT_PAGES - first)) * PAGE;

	mmap((void *)(TEXT + first * PAGE), size, PROT_READ | PROT_EXEC,
	     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	model_unmapped(TEXT + first * PAGE, size);
}

/* Up to the bytes of all windows, which depend on the kernel's structures. */
static int expected_state(char *text, size_t size)
{
	unsigned int i, pos = 0;

	model_sort();
	for (i = 0; i < nr_windows; i++)
		pos += snprintf(text + pos, size - pos,
				"%lx-%lx %lx %lx %lx %s %lx\n",
				windows[i].start, windows[i].end,
				windows[i].key, windows[i].section,
				windows[i].length, windows[i].kind,
				windows[i].bias);
	return pos + snprintf(text + pos, size - pos, "windows %u ",
			      nr_windows);
}

static void check_state(unsigned long nr)
{
	static char expected[64 * 1024], text[64 * 1024];
	int length = expected_state(expected, sizeof(expected)), pos = 0, ret;
	int fd = open("/proc/self/sframe", O_RDONLY | O_CLOEXEC);

	while ((ret = read(fd, text + pos, sizeof(text) - pos)) > 0)
		pos += ret;
	close(fd);
	check_that(&checks[CHECK_STATE],
		   pos > length && !memcmp(text, expected, length),
		   "after call %lu: %.100s instead of %.100s", nr, text,
		   expected);
}

/* ---- Driver ------------------------------------------------------------- */

static bool map(unsigned long at, unsigned long size, int prot)
{
	return mmap((void *)at, size, prot, MAP_PRIVATE | MAP_ANONYMOUS |
		    MAP_FIXED_NOREPLACE, -1, 0) == (void *)at;
}

/* A section in memory that is not writable is as good. */
static void fill_read_only(void)
{
	struct draft draft = { 0 };

	draft_header(&draft);
	memcpy((void *)READ_ONLY, &draft.header, sizeof(draft.header));
	mprotect((void *)READ_ONLY, PAGE, PROT_READ);
}

static bool map_all(void)
{
	const int rw = PROT_READ | PROT_WRITE, rx = PROT_READ | PROT_EXEC;

	if (!memory_task_size() || !map(DATA, DATA_SIZE, rw) ||
	    !map(READ_ONLY, PAGE, rw) || !map(NO_ACCESS, PAGE, PROT_NONE) ||
	    !map(OPTS, 2 * PAGE, rw) ||
	    !map(TEXT, TEXT_SIZE, rx) || !map(TEXT + TEXT_SIZE, PAGE, rw) ||
	    !map(MORE_TEXT, PAGE, rx))
		return false;
	fill_read_only();
	memory_read();
	return true;
}

static void check_kinds(void)
{
	static const unsigned int kinds[] = {
		0, EINVAL, EFAULT, E2BIG, EEXIST, EBUSY, ENOENT, ENOSPC,
	};
	unsigned int i;

	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		printf("# %s: %lu\n", strerror(kinds[i]),
		       nr_results[kinds[i]]);
		check_that(&checks[CHECK_KINDS], nr_results[kinds[i]],
			   "not %s", strerror(kinds[i]));
	}
}

int main(int argc, char **argv)
{
	unsigned long calls = argc > 1 ? strtoul(argv[1], NULL, 0) : 1000000;
	unsigned long nr;

	limit = do_call(&(struct call){
		PR_SFRAME_QUERY, { PR_SFRAME_QUERY_LIMIT } });
	if (limit < 0)
		return skip_all("prctl",
				"kernel without CONFIG_UNWIND_USER_SFRAME");
	rng_seed(argc > 2 ? argv[2] : NULL);
	rng = rng_start(0);
	if (!map_all()) {
		result(false, "prctl", "addresses are taken");
		return finish();
	}
	for (nr = 0; nr < calls; nr++) {
		one_call(nr);
		if (one_in(CHANGE_EVERY))
			one_in(2) ? change_limit() : change_text();
		if (one_in(STATE_EVERY))
			check_state(nr);
	}
	check_kinds();
	checks_print(checks, NR_CHECKS);
	return finish();
}
