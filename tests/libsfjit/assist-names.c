// SPDX-License-Identifier: MIT
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Description: addresses and names of functions without code: one per identity,
 * whoever asks, and once in the perf map of each process that knows it; reading
 * memory that may be unmapped.
 */
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "assist.h"

static const char *fail_call;
static void (*at_open)(void), (*at_write)(void);

static void run_once(void (**function)(void))
{
	void (*run)(void) = *function;

	*function = NULL;
	if (run)
		run();
}

int sfjit_fault(const char *name)
{
	if (!strcmp(name, "open"))
		run_once(&at_open);
	if (!strcmp(name, "write"))
		run_once(&at_write);
	return fail_call && !strcmp(fail_call, name) ? -ENOMEM : 0;
}

#ifdef __SANITIZE_THREAD__
/* Children end by _exit(), which skips TSan's check. */
const char *__tsan_default_options(void);
const char *__tsan_default_options(void)
{
	return "halt_on_error=1";
}
#endif

/* Start of a name's range in the perf map. */
static uint64_t start_of(uint64_t address)
{
	return address - 8;
}

/* Whether the map has exactly these names and addresses. */
static bool map_is(int nr, const uint64_t *address, const char *const *name)
{
	static char want[1 << 16];
	size_t used = 0;
	int i;

	want[0] = '\0';
	for (i = 0; i < nr; i++)
		used += sprintf(want + used, "%lx 10 %s\n",
				start_of(address[i]), name[i]);
	return !strcmp(read_map(getpid()), want);
}

#define MAP_IS(addresses, ...) \
	map_is(sizeof((const char *const[]){ __VA_ARGS__ }) / sizeof(char *), \
	       addresses, (const char *const[]){ __VA_ARGS__ })

/* ---- One address --------------------------------------------------------- */

static int nr_calls;

static int count_calls(char *text, size_t size, void *data)
{
	nr_calls++;
	return write_name(text, size, data);
}

/* Permissions and name in /proc/self/maps; "" for an unnamed mapping. */
static void look_at_map(uint64_t address, char *perms, char *name)
{
	unsigned long start, end;
	char line[512], rest[512];
	FILE *maps = fopen("/proc/self/maps", "r");

	MUST(maps);
	*perms = '\0';
	while (fgets(line, sizeof(line), maps)) {
		*rest = '\0';
		if (sscanf(line, "%lx-%lx %4s %*s %*s %*s %s", &start, &end,
			   perms, rest) >= 3 &&
		    address >= start && address < end)
			break;
	}
	fclose(maps);
	strcpy(name, rest);
}

static int test_name(void)
{
	uint64_t at[3];
	char perms[5], name[512];
	struct stat st;

	at[0] = sfjit_assist_name(1, 2, count_calls, "one");
	TRUE("an address", at[0]);
	TRUE("its line", MAP_IS(at, "one"));
	IS("starts at a multiple of its size", start_of(at[0]) % 16, 0);
	MUST(!stat(map_path(getpid()), &st));
	IS("only the owner has the file", st.st_mode & 0777, 0600);
	look_at_map(at[0], perms, name);
	TRUE("memory of code, which nobody writes", !strcmp(perms, "r-xp"));
	TRUE("without a name", !*name);
	TRUE("the same address", sfjit_assist_name(1, 2, count_calls, "x") ==
	     at[0]);
	IS("the name was asked for once", nr_calls, 1);
	at[1] = sfjit_assist_name(2, 1, count_calls, "two words");
	at[2] = sfjit_assist_name(1, 3, count_calls, "one");
	TRUE("other words, other addresses", at[1] && at[2] && at[0] != at[1] &&
	     at[0] != at[2] && at[1] != at[2]);
	TRUE("lines", MAP_IS(at, "one", "two words", "one"));
	IS("names", counts().names, 3);
	IS("none was refused", counts().names_full, 0);
	return finish();
}

/* @data: the value to return, and the name to write. */
static int write_many(char *text, size_t size, void *data)
{
	int nr = *(int *)data;

	IS("size", size, SFJIT_ASSIST_NAME_BYTES);
	memset(text, 'n', size);
	return nr;
}

static int write_zero(char *text, size_t size, void *data)
{
	memset(text, 0, 8);
	return 8;
}

static int write_with_zero(char *text, size_t size, void *data)
{
	memcpy(text, "and\0more", 8);
	return 8;
}

static uint64_t name_of_length(int nr)
{
	return sfjit_assist_name(7, nr, write_many, &nr);
}

static int test_text(void)
{
	static char longest[SFJIT_ASSIST_NAME_BYTES + 1];
	uint64_t at[4];

	IS("refused", name_of_length(-1), 0);
	IS("empty", name_of_length(0), 0);
	IS("more than there is space for",
	   name_of_length(SFJIT_ASSIST_NAME_BYTES + 1), 0);
	IS("nothing but a byte 0", sfjit_assist_name(7, 7, write_zero, NULL),
	   0);
	IS("no name", counts().names, 0);
	IS("that is no want of space", counts().names_full, 0);
	TRUE("no file", access(map_path(getpid()), F_OK));
	at[0] = sfjit_assist_name(7, -1, write_name, "now");
	TRUE("what was refused may have a name later", at[0]);
	memset(longest, 'n', SFJIT_ASSIST_NAME_BYTES);
	at[1] = name_of_length(SFJIT_ASSIST_NAME_BYTES);
	at[2] = sfjit_assist_name(0, 0, write_name, "a\nb\tc\177caf\xc3\xa9");
	at[3] = sfjit_assist_name(7, 8, write_with_zero, NULL);
	TRUE("lines", MAP_IS(at, "now", longest, "a?b?c?caf\xc3\xa9", "and"));
	return finish();
}

/* ---- Limits -------------------------------------------------------------- */

static int test_full(void)
{
	uint64_t first = 0, at, bad = 0, i;
	static char text[1 << 22];
	unsigned long lines = 0;
	char line[64];
	FILE *file;

	/* The last one writes all lines. */
	fail_call = "open";
	for (i = 0; i < SFJIT_ASSIST_NAMES; i++) {
		if (i == SFJIT_ASSIST_NAMES - 1)
			fail_call = NULL;
		at = name_number(i);
		if (!i)
			first = at;
		bad += at != first + 16 * i;
	}
	IS("each has the next address", bad, 0);
	IS("names", counts().names, SFJIT_ASSIST_NAMES);
	IS("none is left: one that is shared", name_number(i), first + 16 * i);
	IS("one more: the same", sfjit_assist_name(5, 5, count_calls, "x"),
	   first + 16 * i);
	IS("its name was not asked for", nr_calls, 0);
	IS("both are counted", counts().names_full, 2);
	IS("names, as before", counts().names, SFJIT_ASSIST_NAMES);
	for (i = 0; i < SFJIT_ASSIST_NAMES; i++)
		bad += name_number(i) != first + 16 * i;
	IS("all are as they were", bad, 0);
	file = fopen(map_path(getpid()), "r");
	MUST(file && fread(text, 1, sizeof(text) - 1, file));
	fclose(file);
	for (i = 0; text[i]; i++)
		lines += text[i] == '\n';
	IS("lines", lines, SFJIT_ASSIST_NAMES + 1);
	sprintf(line, "%lx 10 [no space for more names]\n",
		start_of(first) + 16 * SFJIT_ASSIST_NAMES);
	TRUE("the last line", strstr(text, line));
	for (i = 0; i < SFJIT_ASSIST_NAMES; i += 1000) {
		sprintf(line, "%lx 10 py::%lu\n", start_of(first) + 16 * i, i);
		bad += !strstr(text, line);
	}
	IS("lines that are missing", bad, 0);
	return finish();
}

static void fail_to_name(const char *call)
{
	uint64_t full = counts().names_full;

	fail_call = call;
	IS(call, sfjit_assist_name(3, 3, write_name, "xyz"), 0);
	fail_call = NULL;
	IS("it is counted", counts().names_full, full + 1);
	IS("no name", counts().names, 0);
}

static int test_memory(void)
{
	uint64_t at;

	fail_to_name("mmap");
	fail_to_name("arena");
	at = sfjit_assist_name(3, 3, write_name, "xyz");
	TRUE("when there is memory", at);
	TRUE("line", MAP_IS(&at, "xyz"));
	return finish();
}

/* ---- The file ------------------------------------------------------------- */

static int test_file(void)
{
	uint64_t at[4];

	fail_call = "open";
	at[0] = sfjit_assist_name(0, 0, write_name, "first");
	at[1] = sfjit_assist_name(0, 1, write_name, "second");
	TRUE("addresses without a file", at[0] && at[1]);
	TRUE("no file", access(map_path(getpid()), F_OK));
	fail_call = NULL;
	at[2] = sfjit_assist_name(0, 2, write_name, "third");
	TRUE("the next name writes all",
	     MAP_IS(at, "first", "second", "third"));
	MUST(!unlink(map_path(getpid())));
	MUST(!symlink("/dev/null", map_path(getpid())));
	at[0] = sfjit_assist_name(0, 3, write_name, "fourth");
	TRUE("an address where there is a link", at[0]);
	MUST(!unlink(map_path(getpid())));
	at[1] = sfjit_assist_name(0, 4, write_name, "fifth");
	at[2] = at[0];
	TRUE("both when it has gone", MAP_IS(at + 1, "fifth", "fourth"));
	IS("another one", sfjit_perf_map_name((void *)16, 1, "code"), 0);
	TRUE("is in the same file", map_has(getpid(), (void *)16, 1, "code"));
	return finish();
}

static int test_size_limit(void)
{
	struct rlimit limit = { 40, RLIM_INFINITY };
	uint64_t at[3];

	/*
	 * Standard output may be a file, too, so print nothing until this is
	 * undone.
	 */
	MUST(!setrlimit(RLIMIT_FSIZE, &limit));
	at[0] = sfjit_assist_name(0, 0, write_name, "in");
	at[1] = sfjit_assist_name(0, 1, write_name,
				  "a name of forty bytes and more than that");
	limit.rlim_cur = RLIM_INFINITY;
	MUST(!setrlimit(RLIMIT_FSIZE, &limit));
	TRUE("addresses", at[0] && at[1]);
	TRUE("what is past RLIMIT_FSIZE is lost", MAP_IS(at, "in"));
	at[1] = sfjit_assist_name(0, 2, write_name, "after");
	TRUE("and nothing else", MAP_IS(at, "in", "after"));
	return finish();
}

/* Left by an earlier process with this id. */
static void put_stale(pid_t pid)
{
	const struct timespec old[2] = { { 1, 0 }, { 1, 0 } };
	FILE *file = fopen(map_path(pid), "w");

	MUST(file && fputs("1 1 stale\n", file) >= 0 && !fclose(file));
	MUST(!utimensat(AT_FDCWD, map_path(pid), old, 0));
}

static int test_stale(void)
{
	uint64_t at;

	put_stale(getpid());
	at = sfjit_assist_name(0, 0, write_name, "fresh");
	TRUE("the old process's lines have gone", MAP_IS(&at, "fresh"));
	return finish();
}

static int test_descriptors(void)
{
	int before = dup(0), after;

	close(before);
	MUST(sfjit_assist_name(0, 0, write_name, "xyz"));
	after = dup(0);
	IS("no descriptor stays open", after, before);
	return finish();
}

/* ---- At the same time ------------------------------------------------------- */

static uint64_t inner;

static int name_again(char *text, size_t size, void *data)
{
	inner = sfjit_assist_name(1, 1, write_name, "inner");
	return write_name(text, size, data);
}

/* Two threads that find the same identity new. */
static int test_twice(void)
{
	uint64_t at[2];

	at[0] = sfjit_assist_name(1, 1, name_again, "outer");
	TRUE("the same address", at[0] && at[0] == inner);
	at[1] = sfjit_assist_name(1, 2, write_name, "next");
	IS("none is lost", at[1], at[0] + 16);
	IS("names", counts().names, 2);
	TRUE("lines", MAP_IS(at, "inner", "next"));
	return finish();
}

static void name_inside(void)
{
	inner = sfjit_assist_name(2, 2, write_name, "inner");
}

static void name_behind(void)
{
	inner = sfjit_assist_name(2, 3, write_name, "late");
}

/* A handler that interrupts a thread while it writes names. */
static int test_inside(void)
{
	uint64_t at[2];

	MUST(sfjit_assist_name(0, 0, write_name, "xyz"));
	MUST(!unlink(map_path(getpid())));
	at_open = name_inside;
	at[1] = sfjit_assist_name(1, 1, write_name, "outer");
	at[0] = inner;
	IS("the next address", at[0], at[1] + 16);
	TRUE("both are written", MAP_IS(at, "inner", "outer"));
	MUST(!unlink(map_path(getpid())));
	/* Called after it has taken everything there was to write. */
	at_write = name_behind;
	at[0] = sfjit_assist_name(1, 3, write_name, "outer");
	at[1] = inner;
	TRUE("and if one comes late", MAP_IS(at, "outer", "late"));
	return finish();
}

#define THREADS		4
#define IDENTITIES	3000

static uint64_t addresses[THREADS][IDENTITIES];
static atomic_int nr_ready;

static void *name_all(void *argument)
{
	uint64_t *address = argument;
	unsigned long i;

	nr_ready++;
	while (nr_ready < THREADS)
		;
	for (i = 0; i < IDENTITIES; i++)
		address[i] = name_number(i);
	return NULL;
}

static int nr_lines(const char *text)
{
	int nr = 0;

	for (; *text; text++)
		nr += *text == '\n';
	return nr;
}

static int test_threads(void)
{
	pthread_t thread[THREADS];
	char line[64];
	int i, bad = 0, missing = 0;

	for (i = 0; i < THREADS; i++)
		MUST(!pthread_create(&thread[i], NULL, name_all, addresses[i]));
	for (i = 0; i < THREADS; i++)
		MUST(!pthread_join(thread[i], NULL));
	for (i = 1; i < THREADS; i++)
		bad += memcmp(addresses[0], addresses[i],
			      sizeof(addresses[0])) != 0;
	IS("threads that have other addresses", bad, 0);
	IS("names", counts().names, IDENTITIES);
	IS("lines", nr_lines(read_map(getpid())), IDENTITIES);
	for (i = 0; i < IDENTITIES; i += 100) {
		sprintf(line, "%lx 10 py::%d\n", start_of(addresses[0][i]), i);
		missing += !strstr(read_map(getpid()), line);
	}
	IS("lines that are missing", missing, 0);
	return finish();
}

static void *name_cancelled(void *argument)
{
	pthread_cancel(pthread_self());
	inner = sfjit_assist_name(9, 9, write_name, "cancelled");
	pthread_testcancel();
	return NULL;
}

static int test_cancel(void)
{
	pthread_t thread;
	void *status;

	MUST(!pthread_create(&thread, NULL, name_cancelled, NULL));
	MUST(!pthread_join(thread, &status));
	TRUE("no cancellation point", inner && MAP_IS(&inner, "cancelled"));
	TRUE("cancelled after it", status == PTHREAD_CANCELED);
	return finish();
}

/* ---- fork ---------------------------------------------------------------------- */

static uint64_t at[4];		/* of "one" and "two" in all */

static int name_in_child(void)
{
	TRUE("no file before", access(map_path(getpid()), F_OK));
	TRUE("an old address",
	     sfjit_assist_name(1, 1, write_name, "x") == at[0]);
	TRUE("takes no file", access(map_path(getpid()), F_OK));
	at[2] = sfjit_assist_name(1, 3, write_name, "of the child");
	IS("the next address", at[2], at[1] + 16);
	TRUE("inherited names, then its own",
	     MAP_IS(at, "one", "two", "of the child"));
	at[3] = sfjit_assist_name(1, 4, write_name, "again");
	TRUE("inherited once",
	     MAP_IS(at, "one", "two", "of the child", "again"));
	return finish();
}

static int sync_in_child(void)
{
	put_stale(getpid());
	IS("sync", sfjit_perf_map_sync(), 0);
	TRUE("inherited names, and no stale one", MAP_IS(at, "one", "two"));
	IS("sync again", sfjit_perf_map_sync(), 0);
	TRUE("inherited once", MAP_IS(at, "one", "two"));
	return finish();
}

static int sync_in_grandchild(void)
{
	return in_child(sync_in_child);
}

static int sync_later(void)
{
	fail_call = "open";
	IS("sync without a file", sfjit_perf_map_sync(), -ENOMEM);
	fail_call = NULL;
	IS("sync", sfjit_perf_map_sync(), 0);
	TRUE("inherited names", MAP_IS(at, "one", "two"));
	return finish();
}

static int nothing(const struct sfjit_assist_stack *stack, void *data)
{
	return 0;
}

/* Whether or not a runtime has a frame in it. */
static int ask_in_child(void)
{
	ask((const uint64_t[]){ 0x5000 }, 1);
	IS("the kernel's walk", kernel.nr_answer, 0);
	TRUE("inherited names", MAP_IS(at, "one", "two"));
	ask((const uint64_t[]){ 0x5000 }, 1);
	TRUE("inherited once", MAP_IS(at, "one", "two"));
	return finish();
}

static sem_t opens, go_on;

static void stop_at_open(void)
{
	sem_post(&opens);
	sem_wait(&go_on);
}

static void *name_and_stop(void *argument)
{
	at[2] = sfjit_assist_name(1, 7, write_name, "third");
	return NULL;
}

static int name_where_parent_writes(void)
{
	at[2] = sfjit_assist_name(1, 7, write_name, "third");
	at[3] = sfjit_assist_name(1, 8, write_name, "own");
	TRUE("all are written", MAP_IS(at, "one", "two", "third", "own"));
	return finish();
}

static void test_fork_meanwhile(void)
{
	pthread_t thread;

	MUST(!sem_init(&opens, 0, 0) && !sem_init(&go_on, 0, 0));
	at_open = stop_at_open;
	MUST(!pthread_create(&thread, NULL, name_and_stop, NULL));
	sem_wait(&opens);
	IS("while another thread writes",
	   in_guarded_child(name_where_parent_writes), 0);
	sem_post(&go_on);
	MUST(!pthread_join(thread, NULL));
	TRUE("which it does then", MAP_IS(at, "one", "two", "third"));
}

static int test_fork(void)
{
	MUST(!sfjit_assist_enable(0));
	MUST(!sfjit_assist_register((void *)0x10000, 16, nothing, NULL));
	at[0] = sfjit_assist_name(1, 1, write_name, "one");
	at[1] = sfjit_assist_name(1, 2, write_name, "two");
	IS("names in a child", in_child(name_in_child), 0);
	IS("sync in a child", in_child(sync_in_child), 0);
	IS("sync in a grandchild", in_child(sync_in_grandchild), 0);
	IS("sync that fails", in_child(sync_later), 0);
	IS("a question in a child", in_child(ask_in_child), 0);
	TRUE("the parent's file is as it was", MAP_IS(at, "one", "two"));
	at[2] = sfjit_assist_name(1, 5, write_name, "late");
	IS("an address that a child's name has", at[2], at[1] + 16);
	TRUE("in the parent's file", MAP_IS(at, "one", "two", "late"));
	return finish();
}

static int test_fork_and_write(void)
{
	at[0] = sfjit_assist_name(1, 1, write_name, "one");
	at[1] = sfjit_assist_name(1, 2, write_name, "two");
	test_fork_meanwhile();
	return finish();
}

/* ---- Reading --------------------------------------------------------------------- */

static int test_read(void)
{
	long page = sysconf(_SC_PAGESIZE);
	char path[] = "/tmp/lib-assist-XXXXXX", got[16] = "";
	unsigned char *memory, *file;
	int fd;

	memory = mmap(NULL, 3 * page, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	MUST(memory != MAP_FAILED);
	memcpy(memory + page - 8, "abcdefgh", 8);
	MUST(!mprotect(memory + page, page, PROT_NONE));
	MUST(!munmap(memory + 2 * page, page));
	IS("read", sfjit_assist_read(got, memory + page - 8, 8), 0);
	TRUE("what is there", !memcmp(got, "abcdefgh", 9));
	IS("nothing", sfjit_assist_read(got, NULL, 0), 0);
	IS("at NULL", sfjit_assist_read(got, NULL, 1), -EFAULT);
	IS("the last byte is not readable",
	   sfjit_assist_read(got, memory + page - 8, 9), -EFAULT);
	IS("none is", sfjit_assist_read(got, memory + page, 8), -EFAULT);
	IS("not mapped", sfjit_assist_read(got, memory + 2 * page, 8),
	   -EFAULT);
	IS("an address of the kernel",
	   sfjit_assist_read(got, (void *)-8L, 8), -EFAULT);
	IS("wraps", sfjit_assist_read(got, (void *)-8L, 16), -EFAULT);
	IS("too long", sfjit_assist_read(got, memory, SIZE_MAX), -EFAULT);
	fd = mkstemp(path);
	MUST(fd >= 0 && !unlink(path) && !ftruncate(fd, page));
	file = mmap(NULL, page, PROT_READ, MAP_SHARED, fd, 0);
	MUST(file != MAP_FAILED);
	IS("a file", sfjit_assist_read(got, file, 8), 0);
	MUST(!ftruncate(fd, 0));
	IS("a file that was cut short", sfjit_assist_read(got, file, 8),
	   -EFAULT);
	return finish();
}

int main(void)
{
	IS("a name", in_child(test_name), 0);
	IS("texts", in_child(test_text), 0);
	IS("as many as there may be", in_child(test_full), 0);
	IS("no memory", in_child(test_memory), 0);
	IS("trouble with the file", in_child(test_file), 0);
	IS("size limit", in_child(test_size_limit), 0);
	IS("stale file", in_child(test_stale), 0);
	IS("descriptors", in_child(test_descriptors), 0);
	IS("an identity, twice", in_child(test_twice), 0);
	IS("in a thread that writes", in_child(test_inside), 0);
	IS("threads", in_child(test_threads), 0);
	IS("cancellation", in_child(test_cancel), 0);
	IS("fork", in_child(test_fork), 0);
	IS("fork while a thread writes",
	   in_guarded_child(test_fork_and_write), 0);
	IS("reading", in_child(test_read), 0);
	return finish();
}
