// SPDX-License-Identifier: MIT
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Description: the library on a kernel with SFrame windows (run in a guest by
 * tests/system/guest/library.sh): every error of the registration calls,
 * windows of pools as /proc/self/sframe has them, in the process and in its
 * children.
 */
#include <sfjit/live.h>
#include <sfjit/text.h>

#include "test.h"
#include "../../userspace/libsfjit/window.h"

static const struct sfjit_row rows[] = {
	{ 0, 0, SFJIT_REG(SFJIT_X86_64_SP, 8), SFJIT_NO_RULE, SFJIT_NO_RULE },
};

static unsigned char *text;		/* four pages, executable, alone */
static unsigned char section[64], wider[64];
static long length;
static long page;

static long make_section(unsigned char *to, unsigned char *start, long size)
{
	struct sfjit_function f = { (uintptr_t)start, size, 1, rows, 0, 0 };

	return sfjit_section_fill(to, 64, &f, 1);
}

static void prepare(void)
{
	page = sysconf(_SC_PAGESIZE);
	text = mmap(NULL, 6 * page, PROT_READ | PROT_EXEC,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	MUST(text != MAP_FAILED);
	MUST(!munmap(text, page) && !munmap(text + 5 * page, page));
	text += page;
	length = make_section(section, text, page);
	MUST(length == 52);
	MUST(make_section(wider, text, 2 * page) == 52);
}

static int register_page(uintptr_t key)
{
	return sfjit_register(key, section, length, text, page);
}

/* Windows of this process that start at an address. */
static int nr_windows_at(const void *start)
{
	unsigned long key, first, last, at;
	size_t bytes;
	char line[256];
	int nr = 0;
	FILE *file = fopen("/proc/self/sframe", "r");

	MUST(file);
	while (fgets(line, sizeof(line), file))
		if (sscanf(line, "%lx-%lx %lx %lx %zx", &first, &last, &key,
			   &at, &bytes) == 5 && first == (uintptr_t)start)
			nr++;
	fclose(file);
	return nr;
}

/* ---- Errors ---------------------------------------------------------- */

static void test_register(void)
{
	IS("register", register_page((uintptr_t)text), 0);
	IS("it is in /proc", nr_windows_at(text), 1);
	IS("EBUSY: key in use",
	   sfjit_register((uintptr_t)text, section, length, text + 2 * page,
			  page), -EBUSY);
	IS("EEXIST: overlap", register_page(1), -EEXIST);
	IS("touching window",
	   sfjit_register(2, wider, length, text + page, page), 0);
	IS("unregister", sfjit_unregister((uintptr_t)text), 0);
	IS("unregister the other", sfjit_unregister(2), 0);
	IS("it is gone", nr_windows_at(text), 0);
	IS("ENOENT: unregister twice", sfjit_unregister(2), -ENOENT);
}

static void test_register_invalid(void)
{
	unsigned char bad[64];

	memcpy(bad, section, sizeof(bad));
	bad[0] ^= 1;
	IS("EINVAL: magic", sfjit_register(1, bad, length, text, page),
	   -EINVAL);
	IS("code is not executable",
	   sfjit_register(1, section, length, section, 16), 0);
	IS("unregister what is not executable", sfjit_unregister(1), 0);
	IS("EINVAL: end of code is not mapped",
	   sfjit_register(1, section, length, text + page, 64 * page),
	   -EINVAL);
	IS("EFAULT: section is not readable",
	   sfjit_register(1, (void *)page, 64, text, page), -EFAULT);
	IS("range from the section",
	   sfjit_register(1, section, length, NULL, 0), 0);
	IS("starts at its first function", nr_windows_at(text), 1);
	IS("unregister", sfjit_unregister(1), 0);
}

static void test_replace(void)
{
	IS("ENOENT: replace nothing",
	   sfjit_replace(1, section, length, text, page), -ENOENT);
	MUST(!sfjit_register(1, section, length, text, page));
	IS("replace", sfjit_replace(1, section, length, text, page), 0);
	IS("replace and grow",
	   sfjit_replace(1, wider, length, text, 2 * page), 0);
	IS("EINVAL: replace and shrink",
	   sfjit_replace(1, section, length, text, page), -EINVAL);
	MUST(!sfjit_register(2, section, length, text + 2 * page, page));
	IS("EEXIST: replace over another",
	   sfjit_replace(1, wider, length, text, 3 * page), -EEXIST);
	IS("the old one is there", nr_windows_at(text), 1);
	MUST(!sfjit_unregister(1) && !sfjit_unregister(2));
}

static int live_error(const struct sfjit_live *live)
{
	struct sfjit_live_info stat;

	MUST(!sfjit_live_stat(live, &stat));
	return stat.error;
}

static void test_live(void)
{
	struct sfjit_function f = {
		(uintptr_t)text + page, page, 1, rows, 0, 0
	};
	struct sfjit_live *live, *second;

	MUST(!sfjit_live_create(text + page, page, 1, 1, &live));
	IS("live: no error", live_error(live), 0);
	IS("live: it is in /proc", nr_windows_at(text + page), 1);
	IS("live: publish", sfjit_live_publish(live, &f), 0);
	MUST(!sfjit_live_create(text, 2 * page, 1, 1, &second));
	IS("live: EEXIST: overlap", live_error(second), -EEXIST);
	IS("live: EEXIST: overlap, again",
	   sfjit_live_grow(second, NULL, 0, 0, 0), 0);
	IS("live: is kept", live_error(second), -EEXIST);
	IS("live: retire it", sfjit_live_retire(second), 0);
	IS("live: the other one is there", nr_windows_at(text + page), 1);
	IS("live: grow the area",
	   sfjit_live_grow(live, text, 2 * page, 1, 1), 0);
	IS("live: starts there", nr_windows_at(text), 1);
	MUST(!sfjit_register(1, wider, length, text + 2 * page, page));
	IS("live: EEXIST: grow over another",
	   sfjit_live_grow(live, text, 3 * page, 1, 1), -EEXIST);
	IS("live: EINVAL: grow over what is not mapped",
	   sfjit_live_grow(live, text - page, 64 * page, 1, 1), -EINVAL);
	IS("live: is still there", nr_windows_at(text), 1);
	IS("live: retire", sfjit_live_retire(live), 0);
	IS("live: is gone", nr_windows_at(text), 0);
	MUST(!sfjit_live_create(section, 16, 1, 1, &live));
	IS("live: code is not executable", live_error(live), 0);
	IS("live: retire", sfjit_live_retire(live), 0);
	MUST(!sfjit_unregister(1));
}

/* ---- Text without a section ------------------------------------------ */

/* The kind in the line of the window that starts at an address. */
static const char *kind_at(const void *start)
{
	static char kind[16];
	unsigned long first;
	char line[256];
	FILE *file = fopen("/proc/self/sframe", "r");

	MUST(file);
	strcpy(kind, "none");
	while (fgets(line, sizeof(line), file))
		if (sscanf(line, "%lx-", &first) == 1 &&
		    first == (uintptr_t)start)
			MUST(sscanf(line, "%*s %*x %*x %*x %15s", kind) == 1);
	fclose(file);
	return kind;
}

static void kind_is(const char *name, const void *start, const char *want)
{
	const char *got = kind_at(start);

	result(!strcmp(got, want), name, "it is '%s'", got);
}

static void test_text(unsigned int what, const char *kind)
{
	unsigned int other = SFJIT_TEXT_FP + SFJIT_TEXT_END - what;

	MUST(sfjit_available(SFJIT_QUERY_FORMATS) >> what & 1);
	IS("text: register", sfjit_register_text(1, text, page, what), 0);
	kind_is("text: it is in /proc", text, kind);
	IS("text: EBUSY", sfjit_register_text(1, text + page, page, what),
	   -EBUSY);
	IS("text: EEXIST", sfjit_register_text(2, text, 1, other), -EEXIST);
	IS("text: EEXIST: a section over it", register_page(2), -EEXIST);
	IS("text: not executable", sfjit_register_text(2, section, 16, what), 0);
	IS("text: unregister it", sfjit_unregister(2), 0);
	IS("text: EINVAL: replace and shrink",
	   sfjit_replace_text(1, text, page - 1, other), -EINVAL);
	IS("text: ENOENT: replace nothing",
	   sfjit_replace_text(2, text, page, what), -ENOENT);
	kind_is("text: the old one is there", text, kind);
	IS("text: a section takes its place",
	   sfjit_replace(1, wider, length, text, 2 * page), 0);
	kind_is("text: which is fixed", text, "fixed");
	IS("text: and text that of a section",
	   sfjit_replace_text(1, text, 2 * page, what), 0);
	kind_is("text: which is as before", text, kind);
	IS("text: unregister", sfjit_unregister(1), 0);
	kind_is("text: it is gone", text, "none");
	IS("text: ENOENT", sfjit_unregister(1), -ENOENT);
}

static int text_in_child(void)
{
	kind_is("child: first text", text, "fp");
	kind_is("child: second text", text + page, "end");
	IS("child: unregister", sfjit_unregister(1), 0);
	IS("child: replace",
	   sfjit_replace_text(2, text + page, page, SFJIT_TEXT_FP), 0);
	kind_is("child: first is gone", text, "none");
	kind_is("child: second is replaced", text + page, "fp");
	return finish();
}

static void test_text_fork(void)
{
	MUST(!sfjit_register_text(1, text, page, SFJIT_TEXT_FP));
	MUST(!sfjit_register_text(2, text + page, page, SFJIT_TEXT_END));
	IS("text: child", in_child(text_in_child), 0);
	kind_is("text: the parent's first stays", text, "fp");
	kind_is("text: the parent's second stays", text + page, "end");
	MUST(!sfjit_unregister(1) && !sfjit_unregister(2));
}

static void test_unmap(void)
{
	unsigned char *code = mmap(NULL, page, PROT_READ | PROT_EXEC,
				   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	MUST(make_section(wider, code, page) == 52);
	MUST(!sfjit_register(9, wider, length, code, page));
	MUST(!munmap(code, page));
	IS("ENOENT: unmapped", sfjit_unregister(9), -ENOENT);
	make_section(wider, text, 2 * page);
}

/* ---- Limit ----------------------------------------------------------- */

static void write_limit(long limit)
{
	FILE *file = fopen("/proc/sys/vm/max_sframe_windows", "w");

	MUST(file && fprintf(file, "%ld\n", limit) > 0 && !fclose(file));
}

static void test_limit(void)
{
	long limit = sfjit_available(SFJIT_QUERY_LIMIT);
	struct sfjit_pool_info stat;
	struct sfjit_pool *pool;

	if (access("/proc/sys/vm/max_sframe_windows", W_OK)) {
		skip("ENOSPC: too many windows", "cannot write the limit");
		return;
	}
	MUST(!register_page(1));
	write_limit(1);
	IS("ENOSPC: too many windows",
	   sfjit_register(2, section, length, text + page, page), -ENOSPC);
	IS("a pool is made all the same", sfjit_pool_create(0, &pool), 0);
	MUST(!sfjit_pool_stat(pool, &stat));
	IS("and says why it is not walkable", stat.error, -ENOSPC);
	IS("and goes", sfjit_pool_retire(pool), 0);
	write_limit(limit);
	MUST(!sfjit_unregister(1));
}

/* ---- Pools ----------------------------------------------------------- */

static struct sfjit_pool *pool;
static void *entry;

static int use_in_child(void)
{
	IS("child: window is inherited", nr_windows_at(entry), 1);
	IS("child: retire", sfjit_pool_retire(pool), 0);
	IS("child: window is gone", nr_windows_at(entry), 0);
	return finish();
}

static void test_pool(unsigned int kind)
{
	struct sfjit_pool_info stat;

	MUST(!sfjit_pool_create(kind, &pool));
	MUST(!sfjit_tramp_get(pool, use_in_child, NULL, &entry));
	MUST(!sfjit_pool_stat(pool, &stat));
	IS("pool: registered", stat.registered, 1);
	IS("pool: no error", stat.error, 0);
	IS("pool: window starts at the first slot", nr_windows_at(entry), 1);
	IS("pool: no window inside of it", sfjit_register(1, section, length,
	   (char *)entry + SFJIT_WINDOW_SIZE - 16, 16), -EEXIST);
	IS("child", in_child(use_in_child), 0);
	IS("pool: the parent's window stays", nr_windows_at(entry), 1);
	IS("pool: retire", sfjit_pool_retire(pool), 0);
	IS("pool: window is gone", nr_windows_at(entry), 0);
}

int main(void)
{
	MUST(sfjit_available(SFJIT_QUERY_KERNEL));
	prepare();
	test_register();
	test_register_invalid();
	test_replace();
	test_live();
	test_text(SFJIT_TEXT_FP, "fp");
	test_text(SFJIT_TEXT_END, "end");
	test_text_fork();
	test_unmap();
	test_limit();
	test_pool(SFJIT_TRAMP_ARG);
	test_pool(SFJIT_TRAMP_SLOT);
	test_pool(SFJIT_TRAMP_RBP);
	return finish();
}
