// SPDX-License-Identifier: MIT
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Description: with SFJIT_DEBUG each wrong integration is reported on stderr
 * and by the return value, also on a kernel without windows; a right one is
 * not.
 */
#include <pthread.h>

#include <sfjit/area.h>
#include <sfjit/text.h>

#include "prctl.h"

/* Called by the constructor if SFJIT_DEBUG is set. */
void sfjit_debug_start(bool abort_too);

#define SP(offset)	SFJIT_REG(SFJIT_X86_64_SP, offset)
#define SAME		SFJIT_NO_RULE
#define PAGE		4096

static const struct sfjit_row rows[] = {
	{ 0, 0, SP(8), SAME, SAME },
	{ 1, 0, SP(16), SAME, SAME },
};

static char *text;		/* three pages; the first is never executable */
static _Alignas(16) char section[256], other[256];
static size_t length;
static int messages;		/* a pipe from stderr */

/* Returns what was written since the last call. */
static const char *said(void)
{
	static char buffer[4096];
	ssize_t got = pread(messages, buffer, sizeof(buffer) - 1, 0);

	MUST(got >= 0);
	buffer[got] = '\0';
	MUST(!ftruncate(messages, 0));
	MUST(!lseek(messages, 0, SEEK_SET));
	return buffer;
}

static void says(const char *name, int got, int want, const char *words)
{
	const char *message = said();

	IS(name, got, want);
	result(strstr(message, words) && !strncmp(message, "libsfjit: ", 10),
	       name, "it says '%s'", message);
}

static void quiet(const char *name, int got)
{
	const char *message = said();

	IS(name, got, 0);
	result(!*message, name, "it says '%s'", message);
}

static void make(char *where, char *code)
{
	struct sfjit_function f = { (uintptr_t)code, 64, 2, rows, 0, 0 };
	long size = sfjit_section_fill(where, sizeof(section), &f, 1);

	MUST(size > 0);
	length = size;
}

static int reg(char *code, size_t size)
{
	return sfjit_register((uintptr_t)code, section, length, code, size);
}

static int unreg(char *code)
{
	return sfjit_unregister((uintptr_t)code);
}

static void test_right(void)
{
	char *code = text + PAGE;

	make(section, code);
	quiet("register", reg(code, 64));
	make(other, code);
	quiet("replace", sfjit_replace((uintptr_t)code, other, length, code,
				       128));
	quiet("unregister", unreg(code));
	quiet("register again", reg(code, 64));
	says("by the functions of the section",
	     sfjit_register((uintptr_t)code + 64, section, length, NULL, 0),
	     -EEXIST, "overlaps");
	quiet("unregister again", unreg(code));
}

static void test_text(void)
{
	make(section, text);
	quiet("not executable yet", reg(text, 64));
	quiet("unregister what is not executable", unreg(text));
	make(section, text + 2 * PAGE);
	MUST(!munmap(text + 2 * PAGE, PAGE));
	says("not mapped", reg(text + 2 * PAGE, 64), -EINVAL,
	     "not completely mapped");
	make(section, text + PAGE);
	says("mapped in part", reg(text + PAGE, PAGE + 1), -EINVAL,
	     "not completely mapped");
}

static void test_windows(void)
{
	char *code = text + PAGE;

	make(section, code);
	quiet("register", reg(code, 128));
	says("key is in use", reg(code, 128), -EBUSY, "is in use");
	make(other, code + 64);
	says("overlap", sfjit_register((uintptr_t)code + 64, other, length,
				       code + 64, 64), -EEXIST, "overlaps");
	says("smaller", sfjit_replace((uintptr_t)code, section, length, code,
				      64), -EINVAL, "does not contain");
	quiet("unregister", unreg(code));
	says("unregister twice", unreg(code), -ENOENT, "to unregister");
	says("replace nothing", sfjit_replace((uintptr_t)code, section, length,
					      code, 64), -ENOENT,
	     "to replace");
}

static void test_section(void)
{
	char *code = text + PAGE;

	make(section, code);
	section[2] = 2;
	says("not the format", reg(code, 64), -EINVAL, "not the header");
	make(section, code);
	section[48] |= SFRAME_PACKED_MANGLED_RA;	/* the first rule */
	says("walks end", reg(code, 64), 0, "row_rule");
	section[48 + 4] = 16;
	says("changed meanwhile", unreg(code), 0, "was changed");
	make(section, text);
	says("moved", reg(code, 64), 0, "no_fde");
	quiet("unregister", unreg(code));
}

static void test_gone(void)
{
	char *code = text + PAGE, *far;

	far = mmap(NULL, PAGE, PROT_READ | PROT_WRITE,
		   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	MUST(far != MAP_FAILED);
	make(far, code);
	quiet("register", sfjit_register((uintptr_t)code, far, length, code,
					 64));
	MUST(!munmap(far, PAGE));
	says("section is gone", unreg(code), 0, "no longer mapped");
	says("no section", sfjit_register((uintptr_t)code, far, length, code,
					  64), -EFAULT, "not readable");
	far = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE,
		   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	MUST(far != MAP_FAILED);
	MUST(!munmap(far + PAGE, PAGE));
	make(section, code);
	memcpy(far + PAGE - 48, section, 48);
	says("half of a section", sfjit_register((uintptr_t)code,
						 far + PAGE - 48, length, code,
						 64), -EFAULT, "not readable");
	quiet("register", reg(code, 64));
	MUST(!munmap(code, PAGE));
	says("code is gone", unreg(code), -ENOENT, "was unmapped before");
	MUST(mmap(code, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE |
		  MAP_ANONYMOUS | MAP_FIXED, -1, 0) == code);
}

/* A rule for each byte of its page; more than the checksum covers. */
static char *make_large(size_t *size)
{
	static struct sfjit_row many[PAGE];
	struct sfjit_function f = {
		(uintptr_t)text + PAGE, PAGE, PAGE, many, 0, 0,
	};
	char *large;
	long used;
	int i;

	for (i = 0; i < PAGE; i++) {
		many[i] = rows[0];
		many[i].start = i;
		many[i].cfa.offset += 8 * i;
	}
	used = sfjit_section_size(&f, 1);
	MUST(used > 17 * PAGE);
	*size = (used + PAGE - 1) & -PAGE;
	large = mmap(NULL, *size, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	MUST(large != MAP_FAILED);
	MUST(sfjit_section_fill(large, *size, &f, 1) == used);
	return large;
}

static void test_large(void)
{
	char *code = text + PAGE, *large;
	uintptr_t key = (uintptr_t)code;
	size_t size;

	large = make_large(&size);
	quiet("large", sfjit_register(key, large, size, code, PAGE));
	quiet("unregister", unreg(code));
	MUST(!mprotect(large + size - PAGE, PAGE, PROT_NONE));
	says("its end is forbidden", sfjit_register(key, large, size, code,
						    PAGE), -EFAULT,
	     "not readable");
	MUST(!munmap(large + size - 2 * PAGE, PAGE));
	says("its end is gone", sfjit_register(key, large, size, code, PAGE),
	     -EFAULT, "not readable");
	munmap(large, size);
}

/* If there is a kernel, it decides. */
static void test_kernel(void)
{
	char *code = text + PAGE;

	present = true;
	make(section, text);
	quiet("the kernel takes it", reg(text, 64));
	quiet("unregister", unreg(text));
	make(section, code);
	next_error = ENOSPC;
	says("the kernel does not", reg(code, 64), -ENOSPC,
	     "the kernel refuses to register");
	quiet("register", reg(code, 64));
	quiet("unregister", unreg(code));
	present = false;
}

static void test_area(void)
{
	struct sfjit_function f = { (uintptr_t)text + PAGE, 64, 2, rows, 0, 0 };
	struct sfjit_area_info info;
	struct sfjit_area *area;

	quiet("area", sfjit_area_create(text + PAGE, PAGE, 0, 0, &area));
	quiet("publish", sfjit_area_publish(area, &f));
	quiet("grow", sfjit_area_grow(area, NULL, 0, 0, 0));
	quiet("retire", sfjit_area_retire(area));
	MUST(!sfjit_area_create(text, PAGE, 0, 0, &area));
	MUST(!sfjit_area_stat(area, &info));
	quiet("not executable area", info.error);
	quiet("retire", sfjit_area_retire(area));
}

/* Everything but the section is checked. */
static void test_without_section(void)
{
	char *code = text + PAGE;
	uintptr_t key = (uintptr_t)code;

	quiet("register text",
	      sfjit_register_text(key, code, 64, SFJIT_TEXT_FP));
	says("text: key is in use",
	     sfjit_register_text(key, code + 64, 64, SFJIT_TEXT_END), -EBUSY,
	     "is in use");
	says("text: overlap",
	     sfjit_register_text(key + 1, code + 32, 64, SFJIT_TEXT_END),
	     -EEXIST, "overlaps");
	says("text: smaller", sfjit_replace_text(key, code, 32, SFJIT_TEXT_END),
	     -EINVAL, "does not contain");
	quiet("text: not executable",
	      sfjit_register_text(1, text, 64, SFJIT_TEXT_END));
	quiet("text: unregister it", sfjit_unregister(1));
	quiet("replace by text",
	      sfjit_replace_text(key, code, 128, SFJIT_TEXT_END));
	make(section, code);
	quiet("replace text by a section",
	      sfjit_replace(key, section, length, code, 128));
	section[length - 1] ^= 1;
	says("replace a section by text",
	     sfjit_replace_text(key, code, 128, SFJIT_TEXT_FP), 0,
	     "was changed");
	quiet("unregister text", unreg(code));
	says("unregister it twice", unreg(code), -ENOENT, "to unregister");
	says("replace nothing",
	     sfjit_replace_text(key, code, 64, SFJIT_TEXT_FP), -ENOENT,
	     "to replace");
}

static int fork_child(void)
{
	return unreg(text + PAGE) || unreg(text + PAGE) != -ENOENT;
}

static void test_fork(void)
{
	make(section, text + PAGE);
	quiet("register", reg(text + PAGE, 64));
	IS("a child has the windows", in_child(fork_child), 0);
	said();
	quiet("the parent's is there", unreg(text + PAGE));
}

/* The fork is the test. */
static int nothing(void)
{
	return 0;
}

static volatile bool done, goes_on;

static void *make_windows(void *argument)
{
	long wrong = 0;

	while (!done) {
		struct sfjit_area *area;

		wrong += !!sfjit_area_create(text + PAGE, PAGE, 0, 0, &area);
		wrong += !!sfjit_area_retire(area);
	}
	return (void *)wrong;
}

/* Threads that wait for each other have all signals blocked. */
static void *watch(void *argument)
{
	do {
		goes_on = false;
		sleep(HANGS_SECONDS);
	} while (goes_on && !done);
	MUST(done);
	return NULL;
}

static void test_forks(void)
{
	pthread_t thread, watcher;
	void *wrong;
	int i;

	MUST(!pthread_create(&thread, NULL, make_windows, NULL));
	MUST(!pthread_create(&watcher, NULL, watch, NULL));
	for (i = 0; i < 300; i++) {
		MUST(!in_child(nothing));
		goes_on = true;
	}
	done = true;
	MUST(!pthread_join(thread, &wrong));
	MUST(!pthread_cancel(watcher));
	quiet("forks beside windows", (long)wrong);
}

static int aborts(void)
{
	sfjit_debug_start(true);
	return unreg(text);
}

/* The last test: what it registers is not compared any more. */
static void test_many(void)
{
	const int most = 4096;
	char *code = mmap(NULL, 2 * most, PROT_READ | PROT_EXEC,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int i, ret = 0;

	MUST(code != MAP_FAILED);
	said();
	for (i = 0; i < most; i++)
		ret |= sfjit_register_text((uintptr_t)code + i, code + i, 1,
					   SFJIT_TEXT_END);
	quiet("4,096 windows", ret);
	says("one more", sfjit_register_text((uintptr_t)code + i, code + i, 1,
					     SFJIT_TEXT_END), 0,
	     "more than 4096 windows");
	i++;
	quiet("it says so once", sfjit_register_text((uintptr_t)code + i,
						     code + i, 1,
						     SFJIT_TEXT_END));
}

int main(void)
{
	FILE *file = tmpfile();

	MUST(file);
	messages = fileno(file);
	MUST(dup2(messages, STDERR_FILENO) >= 0);
	text = mmap(NULL, 3 * PAGE, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	MUST(text != MAP_FAILED);
	MUST(!mprotect(text + PAGE, PAGE, PROT_READ | PROT_EXEC));
	make(section, text);
	quiet("without, nothing is wrong", reg(text, 64));
	sfjit_debug_start(false);
	test_right();
	test_text();
	test_windows();
	test_section();
	test_gone();
	test_large();
	test_kernel();
	test_area();
	test_without_section();
	test_fork();
	test_forks();
	IS("abort", in_child(aborts), 256 + SIGABRT);
	test_many();
	return finish();
}
