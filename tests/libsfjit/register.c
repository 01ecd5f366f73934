// SPDX-License-Identifier: MIT
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Description: the calls that the library makes to the kernel, and its reaction
 * to each answer, with a prctl() of this test in place of libc's.
 */
#include <sfjit_trampoline.h>

#include <sframegen.h>
#include <sfjit/text.h>

#include "prctl.h"
#include "../../userspace/libsfjit/window.h"

/* ---- Arguments ------------------------------------------------------- */

static unsigned char section[64], text[64];
static _Alignas(16) struct sframe_packed_header table = {
	.magic = SFRAME_PACKED_MAGIC,
};

static void test_register_arguments(void)
{
	IS("register", sfjit_register(5, section, 58, text, 32), 0);
	IS("option", call.option, PR_SFRAME_REGISTER);
	IS("key", call.key, 5);
	IS("address", call.address, (long)section);
	IS("length", call.length, 58);
	IS("opts.size", call.opts.size, SFRAME_WINDOW_OPTS_SIZE_VER0);
	IS("opts.flags", call.opts.flags, 0);
	IS("opts.text_start", call.opts.text_start, (long)text);
	IS("opts.text_length", call.opts.text_length, 32);
	IS("opts.format", call.opts.format, SFRAME_FORMAT_V3);
	IS("opts.reserved", call.opts.reserved, 0);
	IS("opts.text_bias", call.opts.text_bias, 0);
	IS("register without range",
	   sfjit_register(6, section, 58, NULL, 0), 0);
	IS("opts.text_start is 0", call.opts.text_start, 0);
	IS("opts.text_length is 0", call.opts.text_length, 0);
}

static void test_bias(void)
{
	IS("register with a bias",
	   sfjit_register_biased(8, section, 58, text, 32, -4096UL), 0);
	IS("its key", call.key, 8);
	IS("its bias", call.opts.text_bias, -4096);
	IS("its size", call.opts.size, SFRAME_WINDOW_OPTS_SIZE_VER0);
	IS("its flags", call.opts.flags, 0);
	IS("its text", call.opts.text_start, (long)text);
	IS("its range", call.opts.text_length, 32);
	next_error = E2BIG;
	IS("where the kernel knows none",
	   sfjit_register_biased(8, section, 58, text, 32, 1), -E2BIG);
	IS("unregister it", sfjit_unregister(8), 0);
}

static void test_packed(void)
{
	int windows = nr_windows, calls = nr_calls;

	IS("register a packed table",
	   sfjit_register_biased(7, &table, 32, text, 32, 4096), 0);
	IS("one call", nr_calls - calls, 1);
	IS("one window", nr_windows - windows, 1);
	IS("of its format", call.opts.format, SFRAME_FORMAT_PACKED);
	IS("of the table", call.address, (long)&table);
	IS("of its bias", call.opts.text_bias, 4096);
	IS("replace by a section", sfjit_replace(7, section, 58, text, 32), 0);
	IS("of its format", call.opts.format, SFRAME_FORMAT_V3);
	IS("replace by a table", sfjit_replace(7, &table, 32, text, 32), 0);
	IS("with the flag", call.opts.flags, SFRAME_WINDOW_REPLACE);
	IS("of its format", call.opts.format, SFRAME_FORMAT_PACKED);
	IS("unregister it", sfjit_unregister(7), 0);
	known_formats &= ~(1 << SFRAME_FORMAT_PACKED);
	IS("a table where the kernel knows none",
	   sfjit_register(7, &table, 32, text, 32), -EINVAL);
	IS("a section there", sfjit_register(7, section, 58, text, 32), 0);
	IS("of its format", call.opts.format, SFRAME_FORMAT_V3);
	IS("unregister it", sfjit_unregister(7), 0);
	known_formats |= 1 << SFRAME_FORMAT_PACKED;
	next_error = EEXIST;
	IS("error for a table",
	   sfjit_register(7, &table, 32, text, 32), -EEXIST);
	next_error = EINVAL;
	IS("bad argument",
	   sfjit_register(7, section, 58, text, 32), -EINVAL);
}

static void test_replace_arguments(void)
{
	IS("replace", sfjit_replace(5, section, 60, text, 64), 0);
	IS("without bias", call.opts.text_bias, 0);
	IS("replace is a register", call.option, PR_SFRAME_REGISTER);
	IS("with the flag", call.opts.flags, SFRAME_WINDOW_REPLACE);
	IS("of the same key", call.key, 5);
	IS("with the new length", call.length, 60);
	IS("with the new range", call.opts.text_length, 64);
}

static void test_unregister_arguments(void)
{
	IS("unregister", sfjit_unregister(5), 0);
	IS("option of unregister", call.option, PR_SFRAME_UNREGISTER);
	IS("key of unregister", call.key, 5);
	IS("the rest is 0", call.address | call.length | call.last, 0);
}

/* Refused by the library without a system call. */
static void test_refused(const char *name, const void *s, size_t length,
			 const void *t, size_t text_length)
{
	int before = nr_calls;

	IS(name, sfjit_register(1, s, length, t, text_length), -EINVAL);
	IS(name, sfjit_register_biased(1, s, length, t, text_length, 1),
	   -EINVAL);
	IS(name, sfjit_replace(1, s, length, t, text_length), -EINVAL);
	IS("the kernel is not asked", nr_calls - before, 0);
}

static void test_refusals(void)
{
	test_refused("no section", NULL, 58, text, 32);
	test_refused("no whole header", section, 27, text, 32);
	test_refused("section wraps around", section, -1UL, text, 32);
	test_refused("text wraps around", section, 58, text, -1UL);
	test_refused("length without text", section, 58, NULL, 32);
	test_refused("text without length", section, 58, text, 0);
}

/* ---- Text without rows ----------------------------------------------- */

/* A table of one rule, which is for any code from its bias on. */
static void is_table_of(unsigned int kind)
{
	struct sfjit_function f = { 0, 1, 1, NULL, 0, 0 };
	struct sfg_packed t;
	struct sfjit_row row = { 0 };

	MUST(!sfg_open_packed(&t, (void *)call.address, call.length, NULL));
	IS("its table is right", sfg_check_packed(&t, NULL), 0);
	IS("is aligned", call.address % 16, 0);
	IS("first byte", sfg_find_packed_row(&t, 0, &f, &row, NULL), 0);
	IS("its rule", row.flags, kind);
	IS("after 3 GiB", sfg_find_packed_row(&t, 0xc0000000, &f, &row, NULL),
	   0);
	IS("the same rule", row.flags, kind);
}

static void test_text_of(unsigned int what, unsigned int kind)
{
	int calls = nr_calls, windows = nr_windows;

	IS("register text", sfjit_register_text(5, text, 32, what), 0);
	IS("one call", nr_calls - calls, 1);
	IS("one window", nr_windows - windows, 1);
	IS("its option", call.option, PR_SFRAME_REGISTER);
	IS("its key", call.key, 5);
	is_table_of(kind);
	IS("its size", call.opts.size, SFRAME_WINDOW_OPTS_SIZE_VER0);
	IS("its flags", call.opts.flags, 0);
	IS("its text", call.opts.text_start, (long)text);
	IS("its range", call.opts.text_length, 32);
	IS("its format", call.opts.format, SFRAME_FORMAT_PACKED);
	IS("its reserved word", call.opts.reserved, 0);
	IS("its bias", call.opts.text_bias, (long)text);
	IS("replace by text", sfjit_replace_text(5, text, 64, what), 0);
	IS("is a register", call.option, PR_SFRAME_REGISTER);
	IS("with the flag", call.opts.flags, SFRAME_WINDOW_REPLACE);
	IS("of the same key", call.key, 5);
	is_table_of(kind);
	IS("of the new range", call.opts.text_length, 64);
	IS("of the format", call.opts.format, SFRAME_FORMAT_PACKED);
	IS("replace by a section", sfjit_replace(5, section, 58, text, 64), 0);
	IS("of its format", call.opts.format, SFRAME_FORMAT_V3);
	IS("unregister text", sfjit_unregister(5), 0);
	IS("no window is left", nr_windows - windows, 0);
}

static void test_text_refused(const char *name, const void *t, size_t length,
			      unsigned int what)
{
	int before = nr_calls;

	IS(name, sfjit_register_text(1, t, length, what), -EINVAL);
	IS(name, sfjit_replace_text(1, t, length, what), -EINVAL);
	IS("the kernel is not asked", nr_calls - before, 0);
}

static void test_text_refusals(void)
{
	test_text_refused("no text", NULL, 32, SFJIT_TEXT_FP);
	test_text_refused("no length", text, 0, SFJIT_TEXT_FP);
	test_text_refused("neither", NULL, 0, SFJIT_TEXT_END);
	test_text_refused("text wraps", text, -1UL, SFJIT_TEXT_END);
	test_text_refused("kind 0", text, 32, 0);
	test_text_refused("kind 1", text, 32, 1);
	test_text_refused("no kind", text, 32, SFJIT_TEXT_END + 1);
	test_text_refused("no kind of 32 bits", text, 32, -1U);
}

/* A table has 32 bits for the length of its code. */
static void test_text_long(void)
{
	int before = nr_calls;

	IS("4 GiB of text",
	   sfjit_register_text(1, text, 1UL << 32, SFJIT_TEXT_END), -E2BIG);
	IS("the kernel is not asked", nr_calls - before, 0);
	IS("less than 4 GiB", sfjit_register_text(1, text, 0xfffffff0,
						  SFJIT_TEXT_END), 0);
	IS("unregister it", sfjit_unregister(1), 0);
}

/* A kernel without packed tables is told from a bad argument. */
static void test_text_unknown(void)
{
	int windows = nr_windows;

	known_formats &= ~(1 << SFRAME_FORMAT_PACKED);
	IS("text where its table is not known",
	   sfjit_register_text(1, text, 32, SFJIT_TEXT_END), -EOPNOTSUPP);
	IS("the same in place of a window",
	   sfjit_replace_text(1, text, 32, SFJIT_TEXT_FP), -EOPNOTSUPP);
	IS("no other is registered for it", nr_windows - windows, 0);
	known_formats |= 1 << SFRAME_FORMAT_PACKED;
	next_error = EINVAL;
	IS("bad argument where it is known",
	   sfjit_register_text(1, text, 32, SFJIT_TEXT_FP), -EINVAL);
	next_error = 0;
}

static void test_text(void)
{
	test_text_of(SFJIT_TEXT_FP, SFJIT_ROW_FP);
	test_text_of(SFJIT_TEXT_END, SFJIT_ROW_OUTERMOST);
	test_text_refusals();
	test_text_long();
	test_text_unknown();
}

static int unregister_in_child(void)
{
	int windows = nr_windows;

	IS("child: unregister", sfjit_unregister(5), 0);
	IS("child: of that key", call.key, 5);
	IS("child: one less", nr_windows - windows, -1);
	return finish();
}

/* The kernel copies windows, so nothing is registered again. */
static void test_text_fork(void)
{
	IS("register", sfjit_register_text(5, text, 32, SFJIT_TEXT_FP), 0);
	IS("child has it", in_child(unregister_in_child), 0);
	IS("parent still has it", sfjit_unregister(5), 0);
}

/* ---- Answers --------------------------------------------------------- */

static const int errors[] = {
	EINVAL, EFAULT, EEXIST, EBUSY, ENOENT, E2BIG, ENOSPC, ENOMEM, EINTR,
	EOPNOTSUPP, EPERM, ENOSYS,
};

#define NR_ERRORS (sizeof(errors) / sizeof(errors[0]))

static void test_errors_pass(void)
{
	size_t i;

	for (i = 0; i < NR_ERRORS; i++) {
		next_error = errors[i];
		IS("error of register is passed on",
		   sfjit_register(1, section, 58, text, 32), -errors[i]);
		next_error = errors[i];
		IS("error of replace is passed on",
		   sfjit_replace(1, section, 58, text, 32), -errors[i]);
		next_error = errors[i];
		IS("error of register_text is passed on",
		   sfjit_register_text(1, text, 32, SFJIT_TEXT_FP), -errors[i]);
		next_error = errors[i];
		IS("error of replace_text is passed on",
		   sfjit_replace_text(1, text, 32, SFJIT_TEXT_END), -errors[i]);
		next_error = errors[i];
		IS("error of unregister is passed on", sfjit_unregister(1),
		   -errors[i]);
	}
}

/* Whether a kernel or a filter hides windows. */
static void test_absent(void)
{
	size_t i;

	present = false;
	for (i = 0; i < NR_ERRORS; i++) {
		absent_error = errors[i];
		IS("absent: register",
		   sfjit_register(1, section, 58, text, 32), 0);
		IS("absent: replace",
		   sfjit_replace(1, section, 58, text, 32), 0);
		IS("absent: register text",
		   sfjit_register_text(1, text, 32, SFJIT_TEXT_FP), 0);
		IS("absent: replace by text",
		   sfjit_replace_text(1, text, 32, SFJIT_TEXT_END), 0);
		IS("absent: unregister", sfjit_unregister(1), 0);
		IS("absent: not available",
		   sfjit_available(SFJIT_QUERY_KERNEL), 0);
	}
	IS("absent: flags", sfjit_available(SFJIT_QUERY_FLAGS), 0);
	IS("absent: formats", sfjit_available(SFJIT_QUERY_FORMATS), 0);
	IS("absent: limit", sfjit_available(SFJIT_QUERY_LIMIT), 0);
	IS("absent: unknown question", sfjit_available(4), -EINVAL);
	IS("absent: mistakes still show",
	   sfjit_register(1, NULL, 58, text, 32), -EINVAL);
	IS("absent: of text, too", sfjit_register_text(1, text, 32, 0),
	   -EINVAL);
	present = true;
}

static void test_available(void)
{
	IS("kernel", sfjit_available(SFJIT_QUERY_KERNEL), 1);
	IS("flags", sfjit_available(SFJIT_QUERY_FLAGS), known_flags);
	IS("formats", sfjit_available(SFJIT_QUERY_FORMATS), known_formats);
	IS("limit", sfjit_available(SFJIT_QUERY_LIMIT), 65536);
	IS("unknown question", sfjit_available(4), -EINVAL);
}

/* ---- Pools ----------------------------------------------------------- */

static long target(void)
{
	return 42;
}

static void test_pool_registers(void)
{
	int windows = nr_windows, calls = nr_calls;
	struct sfjit_pool *pool;
	void *entry;

	MUST(!sfjit_pool_create(SFJIT_TRAMP_SLOT, &pool));
	MUST(!sfjit_tramp_get(pool, target, NULL, &entry));
	IS("one window is registered", nr_windows - windows, 1);
	IS("key is the start of the text", call.key, (long)entry);
	IS("text starts there", call.opts.text_start, (long)entry);
	IS("text is the window", call.opts.text_length, SFJIT_WINDOW_SIZE);
	IS("length of the table", call.length, SFJIT_TRAMP_SLOT_PACKED_SIZE);
	IS("its format", call.opts.format, SFRAME_FORMAT_PACKED);
	IS("retire", sfjit_pool_retire(pool), 0);
	IS("no window is left", nr_windows - windows, 0);
	IS("unregistered by its key", call.key, (long)entry);
	IS("two calls in all", nr_calls - calls, 2);
}

/* The key may be another producer's, so retire must not remove it. */
static void test_pool_unregistered(void)
{
	struct sfjit_pool_info stat;
	struct sfjit_pool *pool;
	void *entry;
	int calls;

	next_error = ENOSPC;
	IS("create", sfjit_pool_create(SFJIT_TRAMP_SLOT, &pool), 0);
	MUST(!sfjit_tramp_get(pool, target, NULL, &entry));
	IS("an unregistered window works", ((long (*)(void))entry)(), 42);
	MUST(!sfjit_pool_stat(pool, &stat));
	IS("windows", stat.windows, 1);
	IS("registered", stat.registered, 0);
	IS("error", stat.error, -ENOSPC);
	calls = nr_calls;
	IS("retire", sfjit_pool_retire(pool), 0);
	IS("and nothing was unregistered", nr_calls - calls, 0);
}

static void test_unregistered_before_unmapped(void)
{
	int windows = nr_windows;
	struct sfjit_pool *pool;

	MUST(!sfjit_pool_create(SFJIT_TRAMP_ARG, &pool));
	fail_call = "munmap";
	IS("munmap fails", sfjit_pool_retire(pool), -ENOMEM);
	fail_call = NULL;
	IS("the window was unregistered before", nr_windows - windows, 0);
}

static void test_not_registered_if_not_sealed(void)
{
	struct sfjit_pool *pool;
	int calls = nr_calls;

	fail_call = "mprotect";
	IS("mprotect fails", sfjit_pool_create(0, &pool), -ENOMEM);
	fail_call = NULL;
	IS("and nothing was registered", nr_calls - calls, 0);
}

int main(void)
{
	present = true;
	test_register_arguments();
	test_bias();
	test_packed();
	test_replace_arguments();
	test_unregister_arguments();
	test_refusals();
	test_text();
	test_text_fork();
	test_errors_pass();
	test_available();
	test_absent();
	test_pool_registers();
	test_pool_unregistered();
	test_unregistered_before_unmapped();
	test_not_registered_if_not_sealed();
	return finish();
}
