// SPDX-License-Identifier: MIT
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Description: the library on a kernel with SFrame windows (run in a guest by
 * tests/system/guest/library.sh): every error of the registration calls,
 * windows of pools as /proc/self/sframe has them, in the process and in its
 * children.
 */
#include <sfjit/area.h>
#include <sfjit/sframe.h>
#include <sfjit/text.h>

#include "test.h"
#include "../../userspace/libsfjit/window.h"

static const struct sfjit_row rows[] = {
	{ 0, 0, SFJIT_REG(SFJIT_X86_64_SP, 8), SFJIT_NO_RULE, SFJIT_NO_RULE },
};

static unsigned char *text;		/* four pages, executable, alone */
static _Alignas(16) unsigned char section[256], wider[256];
static long length, wider_length;
static long page;

static long make_section(unsigned char *to, unsigned char *start, long size)
{
	struct sfjit_function f = { (uintptr_t)start, size, 1, rows, 0, 0 };

	return sfjit_section_fill(to, sizeof(section), &f, 1);
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
	MUST(length > 0);
	wider_length = make_section(wider, text, 2 * page);
	MUST(wider_length > length);
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
	   sfjit_register(2, wider, wider_length, text + page, page), 0);
	IS("unregister", sfjit_unregister((uintptr_t)text), 0);
	IS("unregister the other", sfjit_unregister(2), 0);
	IS("it is gone", nr_windows_at(text), 0);
	IS("ENOENT: unregister twice", sfjit_unregister(2), -ENOENT);
}

static void test_register_invalid(void)
{
	_Alignas(16) unsigned char bad[256];

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
	   sfjit_replace(1, wider, wider_length, text, 2 * page), 0);
	IS("EINVAL: replace and shrink",
	   sfjit_replace(1, section, length, text, page), -EINVAL);
	MUST(!sfjit_register(2, section, length, text + 2 * page, page));
	IS("EEXIST: replace over another",
	   sfjit_replace(1, wider, wider_length, text, 3 * page), -EEXIST);
	IS("the old one is there", nr_windows_at(text), 1);
	MUST(!sfjit_unregister(1) && !sfjit_unregister(2));
}

static int area_error(const struct sfjit_area *area)
{
	struct sfjit_area_info stat;

	MUST(!sfjit_area_stat(area, &stat));
	return stat.error;
}

static void test_area(void)
{
	struct sfjit_function f = {
		(uintptr_t)text + page, page, 1, rows, 0, 0
	};
	struct sfjit_area *area, *second;

	MUST(!sfjit_area_create(text + page, page, 0, 0, &area));
	IS("area: no error", area_error(area), 0);
	IS("area: it is in /proc", nr_windows_at(text + page), 1);
	IS("area: publish", sfjit_area_publish(area, &f), 0);
	MUST(!sfjit_area_create(text, 2 * page, 0, 0, &second));
	IS("area: EEXIST: overlap", area_error(second), -EEXIST);
	IS("area: EEXIST: overlap, again",
	   sfjit_area_grow(second, NULL, 0, 0, 0), 0);
	IS("area: is kept", area_error(second), -EEXIST);
	IS("area: retire it", sfjit_area_retire(second), 0);
	IS("area: the other one is there", nr_windows_at(text + page), 1);
	IS("area: grow the area",
	   sfjit_area_grow(area, text, 2 * page, 0, 0), 0);
	IS("area: starts there", nr_windows_at(text), 1);
	MUST(!sfjit_register(1, wider, wider_length, text + 2 * page, page));
	IS("area: EEXIST: grow over another",
	   sfjit_area_grow(area, text, 3 * page, 0, 0), -EEXIST);
	IS("area: EINVAL: grow over what is not mapped",
	   sfjit_area_grow(area, text - page, 64 * page, 0, 0), -EINVAL);
	IS("area: is still there", nr_windows_at(text), 1);
	IS("area: retire", sfjit_area_retire(area), 0);
	IS("area: is gone", nr_windows_at(text), 0);
	MUST(!sfjit_area_create(section, 16, 0, 0, &area));
	IS("area: code is not executable", area_error(area), 0);
	IS("area: retire", sfjit_area_retire(area), 0);
	MUST(!sfjit_unregister(1));
}

/* ---- Text without rows ----------------------------------------------- */

/* Kind and table's length, in the line of the window that starts there. */
static const char *kind_at(const void *start)
{
	static char kind[64];
	unsigned long first, bytes = 0;
	char line[256];
	FILE *file = fopen("/proc/self/sframe", "r");

	MUST(file);
	strcpy(kind, "none");
	while (fgets(line, sizeof(line), file))
		if (sscanf(line, "%lx-", &first) == 1 &&
		    first == (uintptr_t)start)
			MUST(sscanf(line, "%*s %*x %*x %lx %15s", &bytes,
				    kind) == 2);
	fclose(file);
	if (strcmp(kind, "none"))
		sprintf(kind + strlen(kind), " of %lu", bytes);
	return kind;
}

static void kind_is(const char *name, const void *start, const char *want)
{
	const char *got = kind_at(start);

	result(!strcmp(got, want), name, "it is '%s'", got);
}

#define TEXT_KIND	"packed of 128"

static void test_text(unsigned int what)
{
	unsigned int other = SFJIT_TEXT_FP + SFJIT_TEXT_END - what;
	char of_rows[64];

	MUST(sfjit_available(SFJIT_QUERY_FORMATS) >> SFRAME_FORMAT_PACKED & 1);
	sprintf(of_rows, "packed of %ld", wider_length);
	IS("text: register", sfjit_register_text(1, text, page, what), 0);
	kind_is("text: it is in /proc", text, TEXT_KIND);
	IS("text: EBUSY", sfjit_register_text(1, text + page, page, what),
	   -EBUSY);
	IS("text: EEXIST", sfjit_register_text(2, text, 1, other), -EEXIST);
	IS("text: EEXIST: a table over it", register_page(2), -EEXIST);
	IS("text: not executable", sfjit_register_text(2, section, 16, what), 0);
	IS("text: unregister it", sfjit_unregister(2), 0);
	IS("text: EINVAL: replace and shrink",
	   sfjit_replace_text(1, text, page - 1, other), -EINVAL);
	IS("text: ENOENT: replace nothing",
	   sfjit_replace_text(2, text, page, what), -ENOENT);
	kind_is("text: the old one is there", text, TEXT_KIND);
	IS("text: a table with rows takes its place",
	   sfjit_replace(1, wider, wider_length, text, 2 * page), 0);
	kind_is("text: which has rows", text, of_rows);
	IS("text: and text that of the table",
	   sfjit_replace_text(1, text, 2 * page, what), 0);
	kind_is("text: which is as before", text, TEXT_KIND);
	IS("text: unregister", sfjit_unregister(1), 0);
	kind_is("text: it is gone", text, "none");
	IS("text: ENOENT", sfjit_unregister(1), -ENOENT);
}

static int text_in_child(void)
{
	kind_is("child: first text", text, TEXT_KIND);
	kind_is("child: second text", text + page, TEXT_KIND);
	IS("child: unregister", sfjit_unregister(1), 0);
	IS("child: replace",
	   sfjit_replace_text(2, text + page, page, SFJIT_TEXT_FP), 0);
	kind_is("child: first is gone", text, "none");
	kind_is("child: second is replaced", text + page, TEXT_KIND);
	return finish();
}

static void test_text_fork(void)
{
	MUST(!sfjit_register_text(1, text, page, SFJIT_TEXT_FP));
	MUST(!sfjit_register_text(2, text + page, page, SFJIT_TEXT_END));
	IS("text: child", in_child(text_in_child), 0);
	kind_is("text: the parent's first stays", text, TEXT_KIND);
	kind_is("text: the parent's second stays", text + page, TEXT_KIND);
	MUST(!sfjit_unregister(1) && !sfjit_unregister(2));
}

static void test_unmap(void)
{
	unsigned char *code = mmap(NULL, page, PROT_READ | PROT_EXEC,
				   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	MUST(make_section(wider, code, page) == length);
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
	test_area();
	test_text(SFJIT_TEXT_FP);
	test_text(SFJIT_TEXT_END);
	test_text_fork();
	test_unmap();
	test_limit();
	test_pool(SFJIT_TRAMP_ARG);
	test_pool(SFJIT_TRAMP_SLOT);
	test_pool(SFJIT_TRAMP_RBP);
	return finish();
}
