// SPDX-License-Identifier: MIT
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Description: the perf map: the form of a line, who may write to the file, and
 * the maps of forked children.
 */
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>

#include <slot.h>

#include "test.h"

static const void *const at = (void *)0x12340;

static void put_file(const char *path, const char *text)
{
	FILE *file = fopen(path, "w");

	MUST(file && fputs(text, file) >= 0 && !fclose(file));
}

/* ---- Lines ----------------------------------------------------------- */

static int test_lines(void)
{
	struct stat st;

	IS("name", sfjit_perf_map_name(at, 0x2a, "one"), 0);
	TRUE("exact line",
	     !strcmp(read_map(getpid()), "12340 2a one\n"));
	IS("second name", sfjit_perf_map_name(at, 1, "two words"), 0);
	TRUE("exact second line",
	     !strcmp(read_map(getpid()), "12340 2a one\n12340 1 two words\n"));
	MUST(!stat(map_path(getpid()), &st));
	IS("only the owner has the file", st.st_mode & 0777, 0600);
	return finish();
}

static int test_cleaning(void)
{
	sfjit_perf_map_name(at, 1, "a\nb\tc\rd\033e\177f");
	TRUE("control characters",
	     !strcmp(read_map(getpid()), "12340 1 a?b?c?d?e?f\n"));
	sfjit_perf_map_name(at, 2, "caf\xc3\xa9");
	TRUE("UTF-8 is kept", map_has(getpid(), at, 2, "caf\xc3\xa9"));
	return finish();
}

static void test_length(const char *test, char *name, size_t kept)
{
	char *line;

	unlink(map_path(getpid()));
	IS(test, sfjit_perf_map_name(at, 1, name), 0);
	line = read_map(getpid());
	IS(test, strlen(line), strlen("12340 1 ") + kept + 1);
	TRUE(test, !strncmp(line + strlen("12340 1 "), name, kept));
}

static int test_lengths(void)
{
	static char name[10000];

	memset(name, 'n', 4000);
	test_length("4000 bytes", name, 4000);
	memset(name, 'n', 4001);
	test_length("4001 bytes", name, 4000);
	memset(name, 'n', sizeof(name) - 1);
	memcpy(name + 3999, "\xc3\xa9", 2);
	test_length("no half of a character", name, 3999);
	return finish();
}

static int test_arguments(void)
{
	IS("size 0", sfjit_perf_map_name(at, 0, "x"), -EINVAL);
	IS("no name", sfjit_perf_map_name(at, 1, NULL), -EINVAL);
	IS("empty name", sfjit_perf_map_name(at, 1, ""), -EINVAL);
	IS("range wraps", sfjit_perf_map_name((void *)-16L, 17, "x"), -EINVAL);
	TRUE("nothing was written", access(map_path(getpid()), F_OK));
	IS("nothing to inherit", sfjit_perf_map_sync(), 0);
	TRUE("nothing was made", access(map_path(getpid()), F_OK));
	return finish();
}

static int test_pool_name(void)
{
	struct sfjit_pool *pool;
	void *a, *b;

	MUST(!sfjit_pool_create(SFJIT_TRAMP_RBP, &pool));
	MUST(!sfjit_tramp_get(pool, NULL, "py::f:x.py", &a));
	MUST(!sfjit_tramp_get(pool, NULL, "py::f:x.py", &b));
	MUST(!sfjit_tramp_get(pool, NULL, "py::g:x.py", &b));
	TRUE("first name", map_has(getpid(), a, SFJIT_SLOT_SIZE, "py::f:x.py"));
	TRUE("second name", map_has(getpid(), b, SFJIT_SLOT_SIZE, "py::g:x.py"));
	IS("two lines for two trampolines",
	   strlen(strchr(strchr(read_map(getpid()), '\n') + 1, '\n')), 1);
	sfjit_pool_retire(pool);
	TRUE("names stay", map_has(getpid(), a, SFJIT_SLOT_SIZE, "py::f:x.py"));
	return finish();
}

/* ---- Other producers, other owners ----------------------------------- */

static int test_shared(void)
{
	put_file(map_path(getpid()), "1 2 other\n");
	IS("name", sfjit_perf_map_name(at, 1, "ours"), 0);
	TRUE("another producer's line stays",
	     !strcmp(read_map(getpid()), "1 2 other\n12340 1 ours\n"));
	return finish();
}

static void set_age(const char *path, int seconds)
{
	struct timeval times[2];

	gettimeofday(&times[0], NULL);
	times[0].tv_sec -= seconds;
	times[1] = times[0];
	MUST(!utimes(path, times));
}

static int test_stale(void)
{
	put_file(map_path(getpid()), "1 2 of an earlier process\n");
	set_age(map_path(getpid()), 3600);
	IS("name", sfjit_perf_map_name(at, 1, "ours"), 0);
	TRUE("an older file is emptied",
	     !strcmp(read_map(getpid()), "12340 1 ours\n"));
	set_age(map_path(getpid()), 3600);
	IS("name", sfjit_perf_map_name(at, 1, "more"), 0);
	TRUE("but only before the first line",
	     !strcmp(read_map(getpid()), "12340 1 ours\n12340 1 more\n"));
	return finish();
}

static int test_link(void)
{
	char path[64];

	snprintf(path, sizeof(path), "/tmp/sfjit-victim-%d", (int)getpid());
	put_file(path, "precious\n");
	MUST(!symlink(path, map_path(getpid())));
	IS("symbolic link", sfjit_perf_map_name(at, 1, "x"), -ELOOP);
	unlink(map_path(getpid()));
	MUST(!link(path, map_path(getpid())));
	IS("hard link", sfjit_perf_map_name(at, 1, "x"), -EPERM);
	unlink(map_path(getpid()));
	MUST(!rename(path, map_path(getpid())));
	TRUE("the file after it is as it was",
	     !strcmp(read_map(getpid()), "precious\n"));
	return finish();
}

/* Opening a FIFO for writing would wait for a reader. */
static int test_fifo(void)
{
	int fd, ret;

	MUST(!mkfifo(map_path(getpid()), 0600));
	alarm(HANGS_SECONDS);
	ret = sfjit_perf_map_name(at, 1, "x");
	IS("FIFO without reader", ret, -ENXIO);
	fd = open(map_path(getpid()), O_RDONLY | O_NONBLOCK);
	MUST(fd >= 0);
	IS("FIFO with reader", sfjit_perf_map_name(at, 1, "x"), -EPERM);
	close(fd);
	return finish();
}

static bool somebody_else;

/* Replaces libc's: creating another user's file would need root. */
uid_t geteuid(void)
{
	return getuid() + somebody_else;
}

static int test_foreign_owner(void)
{
	put_file(map_path(getpid()), "");
	somebody_else = true;
	IS("file of somebody else", sfjit_perf_map_name(at, 1, "x"), -EPERM);
	TRUE("it stays empty", !*read_map(getpid()));
	somebody_else = false;
	IS("file of our own", sfjit_perf_map_name(at, 1, "x"), 0);
	return finish();
}

static int test_size_limit(void)
{
	struct rlimit limit = { 30, RLIM_INFINITY };
	int in, past, again;

	/*
	 * Standard output may be a file, too, so print nothing until this is
	 * undone.
	 */
	MUST(!setrlimit(RLIMIT_FSIZE, &limit));
	in = sfjit_perf_map_name(at, 1, "x");
	past = sfjit_perf_map_name(at, 1, "a name of thirty bytes and more");
	again = sfjit_perf_map_name(at, 1, "y");
	limit.rlim_cur = RLIM_INFINITY;
	MUST(!setrlimit(RLIMIT_FSIZE, &limit));
	IS("in the limit", in, 0);
	IS("past RLIMIT_FSIZE", past, -EFBIG);
	IS("still in the limit", again, 0);
	TRUE("lines that fit",
	     !strcmp(read_map(getpid()), "12340 1 x\n12340 1 y\n"));
	return finish();
}

static bool write_half;

/* Replaces libc's in the library, to simulate a full disk. */
ssize_t write(int fd, const void *bytes, size_t length)
{
	return pwrite(fd, bytes, write_half ? length / 2 : length, 0);
}

static int test_half_line(void)
{
	write_half = true;
	IS("half a line", sfjit_perf_map_name(at, 1, "x"), -EIO);
	write_half = false;
	IS("whole line", sfjit_perf_map_name(at, 1, "x"), 0);
	return finish();
}

static int test_descriptors(void)
{
	int before = dup(0), after;

	close(before);
	MUST(!sfjit_perf_map_name(at, 1, "x"));
	after = dup(0);
	IS("no descriptor stays open", after, before);
	return finish();
}

/* ---- fork ------------------------------------------------------------ */

static pid_t parent;

static int name_in_child(void)
{
	TRUE("no file before the first name", access(map_path(getpid()), F_OK));
	IS("name", sfjit_perf_map_name(at, 3, "of the child"), 0);
	TRUE("inherited lines, then its own", !strcmp(read_map(getpid()),
	     "12340 1 of the parent\n12340 3 of the child\n"));
	IS("name", sfjit_perf_map_name(at, 4, "again"), 0);
	TRUE("inherited once", !strcmp(read_map(getpid()),
	     "12340 1 of the parent\n12340 3 of the child\n12340 4 again\n"));
	TRUE("the parent's file is as it was",
	     !strcmp(read_map(parent), "12340 1 of the parent\n"));
	return finish();
}

static int sync_in_child(void)
{
	IS("sync", sfjit_perf_map_sync(), 0);
	TRUE("inherited lines",
	     !strcmp(read_map(getpid()), "12340 1 of the parent\n"));
	IS("sync again", sfjit_perf_map_sync(), 0);
	TRUE("inherited once",
	     !strcmp(read_map(getpid()), "12340 1 of the parent\n"));
	return finish();
}

static int sync_in_grandchild(void)
{
	return in_child(sync_in_child);
}

/* Names that the parent adds after the fork are not the child's. */
static int sync_late(void)
{
	FILE *file = fopen(map_path(parent), "a");

	MUST(file && fputs("1 2 later\n", file) >= 0 && !fclose(file));
	IS("sync", sfjit_perf_map_sync(), 0);
	TRUE("not what came after the fork",
	     !strcmp(read_map(getpid()), "12340 1 of the parent\n"));
	return finish();
}

static int sync_without_parent_file(void)
{
	unlink(map_path(parent));
	IS("sync without file", sfjit_perf_map_sync(), 0);
	IS("name", sfjit_perf_map_name(at, 5, "alone"), 0);
	TRUE("only its own",
	     !strcmp(read_map(getpid()), "12340 5 alone\n"));
	return finish();
}

static int test_fork(void)
{
	parent = getpid();
	MUST(!sfjit_perf_map_name(at, 1, "of the parent"));
	IS("names in a child", in_child(name_in_child), 0);
	IS("sync in a child", in_child(sync_in_child), 0);
	IS("sync in a grandchild", in_child(sync_in_grandchild), 0);
	IS("sync after a late line", in_child(sync_late), 0);
	IS("without the parent's file", in_child(sync_without_parent_file), 0);
	return finish();
}

int main(void)
{
	IS("lines", in_child(test_lines), 0);
	IS("cleaning", in_child(test_cleaning), 0);
	IS("lengths", in_child(test_lengths), 0);
	IS("arguments", in_child(test_arguments), 0);
	IS("names of a pool", in_child(test_pool_name), 0);
	IS("shared file", in_child(test_shared), 0);
	IS("stale file", in_child(test_stale), 0);
	IS("links", in_child(test_link), 0);
	IS("FIFO", in_child(test_fifo), 0);
	IS("owner", in_child(test_foreign_owner), 0);
	IS("size limit", in_child(test_size_limit), 0);
	IS("half line", in_child(test_half_line), 0);
	IS("descriptors", in_child(test_descriptors), 0);
	IS("fork", in_child(test_fork), 0);
	return finish();
}
