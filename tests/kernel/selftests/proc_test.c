// SPDX-License-Identifier: MIT
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Description: /proc/PID/sframe in a guest: its format, reads of any size
 * between changes, permissions, and files that outlive their process. Run by
 * tests/kernel/selftests/proc.sh, as root.
 */
#include <linux/capability.h>
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include <sfjit/format.h>
#include <sfjit/packed.h>
#include <sfjit/sframe.h>

#include "../../libsfjit/test.h"

#define ANYBODY		65534
#define SOMEBODY	12345
#define SET_UID_COPY	"/proc_test-set-uid"

#define SLOT		64	/* bytes of text for a window */
#define SLOTS		20000

static char *text;
static struct {
	struct sframe_header header;
	char rest[100];
} section __attribute__((aligned(8))) = { .header = {
	.magic = SFRAME_MAGIC,
	.version = SFRAME_VERSION_3,
	.flags = SFRAME_F_FDE_SORTED | SFRAME_F_FDE_FUNC_START_PCREL,
	.abi_arch = SFRAME_ABI_AMD64_LE,
	.cfa_fixed_ra_offset = -8,
	.fres_off = 64,
} };

/* A packed table without code. */
static struct {
	struct sframe_packed_header header;
	struct sframe_packed_rule rule;
	char pad[8];		/* every table ends with it */
} table __attribute__((aligned(16))) = { .header = {
	.magic = SFRAME_PACKED_MAGIC,
	.version = SFRAME_PACKED_VERSION,
	.abi_arch = SFRAME_ABI_AMD64_LE,
	.nr_rules = 1,
} };

static char *slot(unsigned int nr)
{
	return text + nr * SLOT;
}

static int change_to(bool packed, unsigned long key, const char *start,
		     unsigned long size, unsigned int flags)
{
	struct sframe_window_opts opts = {
		.size = sizeof(opts),
		.flags = flags,
		.text_start = (uintptr_t)start,
		.text_length = size,
		.format = packed ? SFRAME_FORMAT_PACKED : SFRAME_FORMAT_V3,
	};

	if (packed)
		return prctl(PR_SFRAME_REGISTER, key, &table, sizeof(table),
			     &opts);
	return prctl(PR_SFRAME_REGISTER, key, &section, sizeof(section), &opts);
}

static int change(unsigned long key, const char *start, unsigned long size,
		  unsigned int flags)
{
	return change_to(false, key, start, size, flags);
}

/* Register 16 bytes in the middle of a slot: there is room on both sides. */
static void add(unsigned int nr)
{
	MUST(!change(nr, slot(nr) + 16, 16, 0));
}

static void drop(unsigned long key)
{
	MUST(!prctl(PR_SFRAME_UNREGISTER, key, 0, 0, 0));
}

static int open_of(pid_t pid, const char *name)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/%s", pid, name);
	return open(path, O_RDONLY | O_CLOEXEC);
}

static int open_own(void)
{
	int fd = open_of(getpid(), "sframe");

	MUST(fd >= 0);
	return fd;
}

struct text {
	char bytes[4 << 20];
	size_t nr;
};

/* Read the rest of the file in pieces of @size. */
static void take(struct text *to, int fd, size_t size)
{
	ssize_t n = 1;

	for (to->nr = 0; n > 0; to->nr += n) {
		MUST(to->nr + size < sizeof(to->bytes));
		n = read(fd, to->bytes + to->nr, size);
		MUST(n >= 0);
	}
	to->bytes[to->nr] = '\0';
}

static const char *whole(int fd)
{
	static struct text all;

	MUST(!lseek(fd, 0, SEEK_SET));
	take(&all, fd, 65536);
	return all.bytes;
}

static void same(const char *name, const char *got, const char *want)
{
	size_t i;

	for (i = 0; got[i] && got[i] == want[i]; i++)
		;
	result(got[i] == want[i], name,
	       "from byte %zu '%.40s', expected '%.40s'", i, got + i, want + i);
}

/* ---- Format ------------------------------------------------------------ */

static const char * const reasons[] = {
	"section_fault", "stack_fault", "no_fde", "no_row", "fde_order",
	"fde_range", "fde_type", "fre_offset", "rep_size", "row_order",
	"row_words", "row_rule", "row_register", "cfa_order",
	"cfa_align", "budget", "changed", "signal", "return_address",
	"return_probe", "deadline", "no_caller", "frame_pointer",
};

/* Steps refused so far, all for no_fde. */
static unsigned long long nr_no_fde;
static unsigned long last_ip;

/* Size of a window. */
static unsigned int window_bytes;

/* 104 bytes of tree nodes, and its descriptor. */
static void find_window_bytes(void)
{
	int fd = open_own();
	unsigned int nr;

	add(0);
	MUST(sscanf(strstr(whole(fd), "windows "), "windows %u %u\n", &nr,
		    &window_bytes) == 2);
	drop(0);
	close(fd);
	result(nr == 1 && window_bytes >= 104 + 128 &&
	       window_bytes <= 104 + 256, "a window has bytes", "%u", window_bytes);
}

/* The line after those of the windows. */
static const char *counted(unsigned int nr)
{
	static char line[64];

	sprintf(line, "windows %u %u\n", nr, nr * window_bytes);
	return line;
}

/* The expected file: these lines, and the counters. */
static const char *expected(const char *lines)
{
	static char all[4096];
	unsigned int i, windows = 0;
	const char *pos;
	int n;

	for (pos = lines; *pos; pos++)
		windows += *pos == '\n';
	n = sprintf(all, "%s%s", lines, counted(windows));
	for (i = 0; i < sizeof(reasons) / sizeof(*reasons); i++)
		n += sprintf(all + n, "%s %llu\n", reasons[i],
			     strcmp(reasons[i], "no_fde") ? 0 : nr_no_fde);
	sprintf(all + n, "last %s %lx\n", nr_no_fde ? "no_fde" : "none",
		last_ip);
	return all;
}

static const char *line(const char *start, const char *end, unsigned long key,
			const char *format)
{
	static char lines[4][128];
	static int turn;
	char *to = lines[turn++ % 4];
	bool packed = !strcmp(format, "packed");

	snprintf(to, sizeof(lines[0]), "%lx-%lx %lx %lx %zx %s 0\n",
		 (uintptr_t)start, (uintptr_t)end, key,
		 packed ? (uintptr_t)&table : (uintptr_t)&section,
		 packed ? sizeof(table) : sizeof(section), format);
	return to;
}

static void test_format(void)
{
	char lines[256];
	int fd = open_own();

	same("no registry", whole(fd), expected(""));
	find_window_bytes();
	MUST(!change(-1UL, text, 16, 0));
	MUST(!change_to(true, 0, text + 16, 32, 0));
	snprintf(lines, sizeof(lines), "%s%s", line(text, text + 16, -1, "sframe"),
		 line(text + 16, text + 48, 0, "packed"));
	same("a section and a packed table", whole(fd), expected(lines));

	MUST(!change(0, text + 16, 48, SFRAME_WINDOW_REPLACE));
	MUST(!change_to(true, -1UL, text, 16, SFRAME_WINDOW_REPLACE));
	snprintf(lines, sizeof(lines), "%s%s", line(text, text + 16, -1, "packed"),
		 line(text + 16, text + 64, 0, "sframe"));
	same("replaced by the other format", whole(fd), expected(lines));
	drop(0);
	drop(-1UL);
	same("windows are gone", whole(fd), expected(""));
	close(fd);
}

/* Samples at one address: a clock would sample this program's code, too. */
static int sample_callchains(const void *address)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_BREAKPOINT,
		.size = sizeof(attr),
		.bp_type = HW_BREAKPOINT_X,
		.bp_addr = (uintptr_t)address,
		.bp_len = sizeof(long),
		.sample_period = 1,
		.sample_type = PERF_SAMPLE_CALLCHAIN,
		.exclude_kernel = 1,
		.exclude_callchain_kernel = 1,
	};
	int fd = syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0);

	MUST(fd >= 0);
	/* Without a buffer, the event takes no sample. */
	MUST(mmap(NULL, 2 << 12, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) !=
	     MAP_FAILED);
	return fd;
}

/* mov $100, %ecx; 1: dec %ecx; jnz 1b; ret */
static const unsigned char loop[] = {
	0xb9, 0x64, 0x00, 0x00, 0x00, 0xff, 0xc9, 0x75, 0xfc, 0xc3
};

#define DEC	5

static void test_counters(void)
{
	int fd = open_own(), event = sample_callchains(text + DEC);
	const char *all;

	/* Loop a hundred times: QEMU's TCG misses one breakpoint in 10,000. */
	memcpy(text, loop, sizeof(loop));
	MUST(!change(1, text, 16, 0));
	((void (*)(void))text)();
	MUST(!ioctl(event, PERF_EVENT_IOC_DISABLE, 0));
	all = whole(fd);
	MUST(sscanf(strstr(all, "\nno_fde "), "\nno_fde %llu",
		    &nr_no_fde) == 1);
	MUST(sscanf(strstr(all, "\nlast "), "\nlast %*s %lx", &last_ip) == 1);
	TRUE("refused steps are counted", nr_no_fde);
	TRUE("last address is where the sample was",
	     last_ip == (uintptr_t)text + DEC);
	same("last reason, and nothing else is counted", all,
	     expected(line(text, text + 16, 1, "sframe")));
	drop(1);
	close(event);
	close(fd);
}

/* ---- Parts of the file ------------------------------------------------- */

#define MANY	10000

static void test_sizes(void)
{
	static const size_t sizes[] = { 1, 7, 53, 64, 4095, 4096, 4097, 1 << 17 };
	static struct text all, part;
	unsigned int i;
	char name[64];
	int fd = open_own();

	for (i = 0; i < MANY; i++)
		add(i);
	take(&all, fd, 65536);
	for (i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		MUST(!lseek(fd, 0, SEEK_SET));
		take(&part, fd, sizes[i]);
		snprintf(name, sizeof(name), "reads of %zu bytes", sizes[i]);
		same(name, part.bytes, all.bytes);
	}
	close(fd);
}

/* Seek before each part, so that seq_file starts at the beginning. */
static bool part_is(int fd, const char *all, size_t nr, off_t at)
{
	size_t want = at + 100 < (off_t)nr ? 100 : at < (off_t)nr ? nr - at : 0;
	char part[101] = "";
	ssize_t got;

	got = pread(fd, part, 100, at);
	if (got < 0 || (size_t)got > want || (want && !got) ||
	    memcmp(part, all + at, got))
		return false;
	if (lseek(fd, at, SEEK_SET) != at)
		return false;
	got = read(fd, part, 100);
	return got >= 0 && (size_t)got <= want && (!want || got) &&
	       !memcmp(part, all + at, got);
}

static void test_positions(void)
{
	int fd = open_own(), wrong = 0;
	const char *all = whole(fd);
	size_t nr = strlen(all);
	unsigned int i;

	for (i = 0; i <= 100; i++)
		wrong += !part_is(fd, all, nr, nr * i / 100);
	for (i = 0; i < 150; i++)
		wrong += !part_is(fd, all, nr, 5 * 4096 - 75 + i);
	for (i = 0; i < 10; i++)
		wrong += !part_is(fd, all, nr, nr - 5 + i);
	IS("reads at positions", wrong, 0);
	IS("no read in front of the file", lseek(fd, -1, SEEK_SET), -1);
	IS("nothing far past the file", pread(fd, text, 1, 1L << 40), 0);
	IS("the first byte after that", pread(fd, text, 1, 0), 1);
	for (i = 0; i < MANY; i++)
		drop(i);
	close(fd);
}

/* ---- Changes between reads --------------------------------------------- */

/*
 * Reads no more than the expected line: seq_file fetches the next line if a
 * read takes more, or empties its buffer.
 */
static void next_is(const char *name, int fd, const char *want)
{
	char bytes[256] = "";

	MUST(read(fd, bytes, strlen(want)) > 0);
	same(name, bytes, want);
}

static const char *small(unsigned int nr)
{
	return line(slot(nr) + 16, slot(nr) + 32, nr, "sframe");
}

static int add_four(void)
{
	unsigned int i;

	for (i = 0; i < 4; i++)
		add(i);
	return open_own();
}

static void test_next_is_replaced(void)
{
	int fd = add_four();

	next_is("first line", fd, small(0));
	MUST(!change(1, slot(0) + 32, SLOT, SFRAME_WINDOW_REPLACE));
	next_is("next one was replaced by one that begins lower", fd,
		line(slot(0) + 32, slot(1) + 32, 1, "sframe"));
	next_is("the next one", fd, small(2));
	MUST(!change(2, slot(2), SLOT + 16, SFRAME_WINDOW_REPLACE));
	next_is("shown one was replaced by a larger one: not again", fd, small(3));
	close(fd);
	drop(0);
	drop(1);
	drop(2);
	drop(3);
}

static void test_next_is_removed(void)
{
	int fd = add_four();

	next_is("first line again", fd, small(0));
	drop(1);
	drop(0);
	next_is("shown and next one were removed", fd, small(2));
	add(1);
	next_is("one in front of the position was added", fd, small(3));
	add(4);
	next_is("one after the last one was added too late", fd, counted(4));
	close(fd);
	drop(1);
	drop(2);
	drop(3);
	drop(4);
}

static void test_new_is_shown(void)
{
	int fd = add_four();

	next_is("first line once more", fd, small(0));
	MUST(!change(9, slot(0) + 32, 8, 0));
	next_is("one right after the last one shown was added", fd,
		line(slot(0) + 32, slot(0) + 40, 9, "sframe"));
	drop(1);
	MUST(!change(1, slot(1) + 24, 4, 0));
	next_is("next one was removed, and another added inside of it", fd,
		line(slot(1) + 24, slot(1) + 28, 1, "sframe"));
	drop(0);
	drop(9);
	drop(1);
	drop(2);
	drop(3);
	next_is("all were removed", fd, counted(0));
	close(fd);
}

/* Windows of even slots stay; those of odd slots come, grow and go. */
static volatile bool stop;
static volatile unsigned int nr_changes;

static void *change_odd(void *arg)
{
	unsigned int nr, turn;

	while (!stop) {
		turn = nr_changes++;
		nr = (turn * 7919 % (SLOTS / 2)) * 2 + 1;
		/* The reader waits for the same lock. */
		sched_yield();
		if (!change(nr, slot(nr) + 16, 16, 0))
			continue;
		if (turn & 1)
			change(nr, slot(nr) - 16, SLOT + 16,
			       SFRAME_WINDOW_REPLACE);
		else
			prctl(PR_SFRAME_UNREGISTER, nr, 0, 0, 0);
	}
	return arg;
}

/* Returns the number of even slots; adds the errors found to *wrong. */
static unsigned int count_stable(const char *all, int *wrong)
{
	unsigned long start, end, key, last = 0;
	unsigned int stable = 0;
	char flags[8];
	int n;

	for (; sscanf(all, "%lx-%lx %lx %*x %*x %7s %*x\n%n", &start, &end, &key,
		      flags, &n) == 4; all += n) {
		*wrong += start < last || end <= start;
		last = end;
		if (key & 1)
			continue;
		*wrong += key != 2 * stable || strcmp(flags, "sframe");
		*wrong += start != (uintptr_t)slot(key) + 16;
		stable++;
	}
	*wrong += strncmp(all, "windows ", 8) != 0;
	return stable;
}

static void test_changes_meanwhile(void)
{
	static const size_t sizes[] = { 500, 4096, 60000 };
	int fd = open_own(), missing = 0, wrong = 0;
	static struct text all;
	pthread_t thread;
	unsigned int i;

	for (i = 0; i < SLOTS; i += 2)
		add(i);
	MUST(!pthread_create(&thread, NULL, change_odd, NULL));
	for (i = 0; i < 6 || nr_changes <= 1000; i++) {
		MUST(!lseek(fd, 0, SEEK_SET));
		take(&all, fd, sizes[i % 3]);
		missing += SLOTS / 2 - count_stable(all.bytes, &wrong);
	}
	stop = true;
	MUST(!pthread_join(thread, NULL));
	IS("no stable window is skipped under changes", missing, 0);
	IS("order under changes, none twice", wrong, 0);
	for (i = 0; i < SLOTS; i++)
		prctl(PR_SFRAME_UNREGISTER, i, 0, 0, 0);
	same("nothing is left", whole(fd), expected(""));
	close(fd);
}

/* ---- Who may read ------------------------------------------------------ */

static int hold_pipe[2], ready_pipe[2];

static void become(int uid)
{
	MUST(!setresgid(uid, uid, uid) && !setresuid(uid, uid, uid));
	/* Otherwise root owns the files in /proc after the change of user. */
	MUST(!prctl(PR_SET_DUMPABLE, 1, 0, 0, 0));
}

static int until_released(void)
{
	char byte = 0;

	MUST(write(ready_pipe[1], &byte, 1) == 1);
	return read(hold_pipe[0], &byte, 1) != 1;
}

static void wait_ready(void)
{
	char byte;

	MUST(read(ready_pipe[0], &byte, 1) == 1);
}

/* A process with a window that waits until it is released. */
static pid_t start(void (*setup)(void))
{
	pid_t pid;

	MUST(!pipe(hold_pipe) && !pipe(ready_pipe));
	fflush(stdout);
	pid = fork();
	MUST(pid >= 0);
	if (!pid) {
		setup();
		_exit(until_released());
	}
	wait_ready();
	return pid;
}

static void release(pid_t pid)
{
	int i, status;

	MUST(write(hold_pipe[1], "", 1) == 1);
	MUST(waitpid(pid, &status, 0) == pid);
	MUST(WIFEXITED(status) && !WEXITSTATUS(status));
	for (i = 0; i < 2; i++) {
		close(hold_pipe[i]);
		close(ready_pipe[i]);
	}
}

static pid_t target;
static int reader_uid;
static unsigned int reader_caps;	/* of root */

static void keep_caps(unsigned int caps)
{
	struct __user_cap_header_struct header = {
		_LINUX_CAPABILITY_VERSION_3, 0
	};
	struct __user_cap_data_struct data[2] = { { caps, caps, 0 } };

	MUST(!syscall(SYS_capset, &header, data));
}

/* Exit status: errno of open(), or 200 + 1 if a window is read. */
static int try_open(void)
{
	char byte;
	int fd;

	if (reader_uid)
		become(reader_uid);
	else if (reader_caps)
		keep_caps(reader_caps);
	fd = open_of(target, "sframe");
	return fd < 0 ? errno : 200 + (int)read(fd, &byte, 1);
}

static int reads(pid_t pid, int uid)
{
	target = pid;
	reader_uid = uid;
	return in_child(try_open);
}

#define READS	201

static void nothing(void)
{
}

static void as_anybody(void)
{
	become(ANYBODY);
}

static void as_anybody_undumpable(void)
{
	become(ANYBODY);
	MUST(!prctl(PR_SET_DUMPABLE, 0, 0, 0, 0));
}

static void run_set_uid(void)
{
	char ready[16], hold[16];

	become(ANYBODY);
	snprintf(ready, sizeof(ready), "%d", ready_pipe[1]);
	snprintf(hold, sizeof(hold), "%d", hold_pipe[0]);
	execl(SET_UID_COPY, SET_UID_COPY, ready, hold, NULL);
	MUST(!"exec");
}

static void copy_set_uid(void)
{
	static char bytes[1 << 16];
	int in = open("/proc/self/exe", O_RDONLY), out;
	ssize_t n;

	out = open(SET_UID_COPY, O_WRONLY | O_CREAT | O_TRUNC, 0700);
	MUST(in >= 0 && out >= 0);
	while ((n = read(in, bytes, sizeof(bytes))) > 0)
		MUST(write(out, bytes, n) == n);
	MUST(!n && !fchmod(out, 04755));
	close(in);
	close(out);
}

static void test_access(void)
{
	pid_t pid = start(as_anybody);

	IS("process of this user", reads(pid, ANYBODY), READS);
	IS("process of another user", reads(pid, SOMEBODY), EACCES);
	IS("root reads any process", reads(pid, 0), READS);
	reader_caps = 1 << CAP_DAC_READ_SEARCH;
	IS("root that may not trace", reads(pid, 0), EACCES);
	reader_caps = 0;
	IS("a user and root's process", reads(getpid(), ANYBODY), EACCES);
	release(pid);

	pid = start(as_anybody_undumpable);
	IS("process that is not dumpable", reads(pid, ANYBODY), EACCES);
	IS("root: process that is not dumpable", reads(pid, 0), READS);
	release(pid);

	pid = start(nothing);
	reader_caps = 1 << CAP_DAC_READ_SEARCH;
	IS("process with more capabilities", reads(pid, 0), EACCES);
	reader_caps = 0;
	release(pid);

	pid = start(run_set_uid);
	IS("process that gained privileges", reads(pid, ANYBODY), EACCES);
	IS("root: process that gained privileges", reads(pid, 0), READS);
	release(pid);
}

/* ---- Files that stay open ---------------------------------------------- */

static void test_kernel_thread(void)
{
	int fd = open_of(2, "sframe");
	char byte;

	MUST(fd >= 0);
	IS("a thread of the kernel has none", read(fd, &byte, 1), 0);
	close(fd);
}

static void test_exit(void)
{
	pid_t pid = start(nothing);
	int fd = open_of(pid, "sframe"), maps = open_of(pid, "maps");
	int fresh = open_of(pid, "sframe"), zombie, status;
	char byte;

	MUST(fd >= 0 && fresh >= 0 && maps >= 0);
	next_is("task is there", fd, line(text, text + 16, 77, "sframe"));
	MUST(write(hold_pipe[1], "", 1) == 1);
	MUST(!waitid(P_PID, pid, NULL, WEXITED | WNOWAIT));
	IS("task ended between two reads", read(fd, &byte, 1), 0);
	IS("task ended before the first read", read(fresh, &byte, 1), 0);
	IS("as maps does", read(maps, &byte, 1), 0);
	zombie = open_of(pid, "sframe");
	IS("zombie: opens as maps does", zombie >= 0,
	   open_of(pid, "maps") >= 0);
	IS("zombie: nothing to read", read(zombie, &byte, 1), 0);
	MUST(waitpid(pid, &status, 0) == pid);
	IS("nothing after it was waited for", pread(fd, &byte, 1, 0), 0);
	IS("no file of a task that is no more", open_of(pid, "sframe"), -1);
	IS("which is said so", errno, ENOENT);
	close(zombie);
	close(fd);
	close(fresh);
	close(maps);
}

static int read_over_exec(void)
{
	pid_t pid = target;
	int fd = open_of(pid, "sframe"), maps = open_of(pid, "maps");
	char byte;

	MUST(fd >= 0 && maps >= 0);
	next_is("before exec", fd, line(text, text + 16, 77, "sframe"));
	MUST(write(hold_pipe[1], "", 1) == 1);
	wait_ready();
	IS("exec: nothing of the program that gained privileges",
	   read(fd, &byte, 1), 0);
	IS("exec: not from the beginning either", pread(fd, &byte, 1, 0), 0);
	IS("exec: as maps does", read(maps, &byte, 1), 0);
	IS("exec: a new file may not be opened", open_of(pid, "sframe"), -1);
	IS("exec: for this reason", errno, EACCES);
	return finish();
}

static void wait_and_run_set_uid(void)
{
	become(ANYBODY);
	MUST(!until_released());
	run_set_uid();
}

static int read_over_exec_as_anybody(void)
{
	become(ANYBODY);
	return read_over_exec();
}

static void test_exec(void)
{
	target = start(wait_and_run_set_uid);
	IS("exec", in_child(read_over_exec_as_anybody), 0);
	release(target);
}

static int live_on(void *arg)
{
	until_released();
	_exit(0);
}

/* In memory shared with the children. */
static pid_t *other;

/* A process that shares its memory with another one, which may outlive it. */
static void share_and_wait(void)
{
	static char stack[1 << 16] __attribute__((aligned(16)));

	*other = clone(live_on, stack + sizeof(stack), CLONE_VM | SIGCHLD,
		       NULL);
	MUST(*other > 0);
}

/* It may stay a zombie: its parent may not wait for it. */
static bool has_ended(pid_t pid)
{
	char path[64], text[512] = "";
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	file = fopen(path, "re");
	if (file && !fgets(text, sizeof(text), file))
		text[0] = '\0';
	if (file)
		fclose(file);
	return !text[0] || strrchr(text, ')')[2] == 'Z';
}

static void test_shared(void)
{
	char before[4096];
	int fd, status;
	pid_t pid;

	other = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
		     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	MUST(other != MAP_FAILED);
	pid = start(share_and_wait);
	fd = open_of(pid, "sframe");
	MUST(fd >= 0);
	wait_ready();
	snprintf(before, sizeof(before), "%s", whole(fd));
	TRUE("CLONE_VM: a window", before[0] && strstr(before, counted(1)));
	MUST(write(hold_pipe[1], "", 1) == 1);
	/* Either task may end first; the other keeps the address space. */
	while (!has_ended(pid) && !has_ended(*other))
		usleep(1000);
	same("CLONE_VM: one of two tasks ended", whole(fd), before);
	MUST(write(hold_pipe[1], "", 1) == 1);
	MUST(waitpid(pid, &status, 0) == pid);
	for (status = 0; status < 6000 && *whole(fd); status++)
		usleep(100000);
	same("CLONE_VM: both tasks ended", whole(fd), "");
	close(fd);
}

static void drop_inherited(void)
{
	drop(77);
	MUST(!change(78, slot(1), 16, 0));
}

static void test_fork(void)
{
	int own = open_own(), fd;
	char before[4096];
	pid_t pid;

	snprintf(before, sizeof(before), "%s", whole(own));
	pid = start(nothing);
	fd = open_of(pid, "sframe");
	next_is("fork: the windows of the parent", fd,
		line(text, text + 16, 77, "sframe"));
	next_is("fork: as large as in the parent", fd, counted(1));
	next_is("fork: counted anew", fd, "section_fault 0\nstack_fault 0\n"
		"no_fde 0\n");
	close(fd);
	release(pid);

	pid = start(drop_inherited);
	fd = open_of(pid, "sframe");
	next_is("fork: a change in the child", fd,
		line(slot(1), slot(1) + 16, 78, "sframe"));
	next_is("fork: nothing else", fd, counted(1));
	same("fork: none in the parent", whole(own), before);
	close(fd);
	close(own);
	release(pid);
}

/* argv of SET_UID_COPY: descriptors to report that it runs, and to wait on. */
static int hold(char **argv)
{
	not_the_test();
	MUST(!geteuid());
	ready_pipe[1] = atoi(argv[1]);
	hold_pipe[0] = atoi(argv[2]);
	MUST(!change(1, text, 16, 0));
	return until_released();
}

int main(int argc, char **argv)
{
	text = mmap(NULL, SLOTS * SLOT + 4096,
		    PROT_READ | PROT_WRITE | PROT_EXEC,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	MUST(text != MAP_FAILED);
	text += 4096 - SLOT;
	if (argc == 3)
		return hold(argv);
	test_format();
	test_counters();
	test_sizes();
	test_positions();
	test_next_is_replaced();
	test_next_is_removed();
	test_new_is_shown();
	test_changes_meanwhile();
	copy_set_uid();
	MUST(!change(77, text, 16, 0));
	test_access();
	test_kernel_thread();
	test_exit();
	test_exec();
	test_shared();
	test_fork();
	unlink(SET_UID_COPY);
	return finish();
}
