// SPDX-License-Identifier: MIT
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * sfjit ps on a /proc of files: what it prints, to the byte; processes that
 * end or change while they are read; names that attack the reader.
 */
#include <linux/fuse.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/inotify.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "../libsfjit/test.h"
#include "ps.h"

#define ANYBODY	65534

static char proc[] = "/tmp/run-ps-XXXXXX";
static int map_ms = 600000;

static const char *in_proc(const char *name)
{
	static char path[2][256];
	static int turn;

	turn = !turn;
	snprintf(path[turn], sizeof(path[0]), "%s/%s", proc, name);
	return path[turn];
}

static void put(const char *name, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static void put(const char *name, const char *format, ...)
{
	FILE *file = fopen(in_proc(name), "w");
	va_list args;

	MUST(file);
	va_start(args, format);
	vfprintf(file, format, args);
	va_end(args);
	MUST(!fclose(file));
}

static void make_process(const char *pid, const char *command,
			 const char *sframe, const char *maps)
{
	char name[64];

	MUST(!mkdir(in_proc(pid), 0755));
	snprintf(name, sizeof(name), "%s/root", pid);
	MUST(!mkdir(in_proc(name), 0755));
	snprintf(name, sizeof(name), "%s/root/tmp", pid);
	MUST(!mkdir(in_proc(name), 0755));
	snprintf(name, sizeof(name), "%s/comm", pid);
	put(name, "%s\n", command);
	snprintf(name, sizeof(name), "%s/sframe", pid);
	put(name, "%s", sframe);
	snprintf(name, sizeof(name), "%s/maps", pid);
	put(name, "%s", maps);
}

static void remove_process(const char *pid)
{
	char command[256];

	snprintf(command, sizeof(command), "rm -rf %s/%s", proc, pid);
	MUST(!system(command));
}

/* The output, followed by complaints and the status. */
static const char *run(bool json, char *pid)
{
	static char *text;
	size_t size;
	FILE *out;
	struct ps_options options = {
		.proc = proc, .json = json, .map_ms = map_ms,
	};
	int status;

	free(text);
	out = open_memstream(&text, &size);
	MUST(out);
	options.out = options.err = out;
	status = ps(&options, &pid, pid ? 1 : 0);
	fprintf(out, "=%d", status);
	fclose(out);
	return text;
}

static void is(const char *name, const char *got, const char *want)
{
	result(!strcmp(got, want), name,
	       "see below\n--- got\n%s\n--- wanted\n%s", got, want);
}

#define HEADS	"PID  WINDOWS  TEXT  TABLES  REFUSED  COMMAND\n"
#define QUIET	"windows 0\nno_fde 0\nlast none 0\n"

static const char maps[] =
"400000-401000 r--p 00000000 08:01 12    /usr/bin/a program\n"
"401000-480000 r-xp 00001000 08:01 12    /usr/bin/a program\n"
"7f0000000000-7f0000010000 r-xp 00000000 00:00 0 \n"
"7f0000010000-7f0000012000 r--p 00000000 00:00 0 \n"
"7ffe00000000-7ffe00002000 r-xp 00000000 00:00 0                  [vdso]\n";

static const char windows[] =
"401000-480000 401000 7f0000010040 3a0 packed\n"
"7f0000000000-7f0000010000 dead 7f0000011000 3a packed\n"
"7ffe00000500-7ffe00001000 7ffe00000500 10 1000 sframe more words\n"
"windows 3\n"
"section_fault 0\n"
"no_fde 12\n"
"row_order 1\n"
"newer 123456\n"
"last no_fde 401234\n";

static void test_text(void)
{
	make_process("17", "program", windows, maps);
	put("17/status", "Name:\tprogram\nNStgid:\t17\t3\n");
	put("17/root/tmp/perf-3.map", "7f0000000010 10 one\n"
	    "7f0000000000 10 two three\n500000 10 outside\nrubbish\n"
	    "7f000000ffff 1 last\n401000 1000 main\n");
	is("one process", run(false, "17"),
"17 program: 3 windows\n"
"TEXT                       KEY           TABLE         LENGTH  FORMAT  "
"TEXT IN                  TABLE IN     NAMES\n"
"401000-480000              401000        7f0000010040     928  packed  "
"/usr/bin/a program+1000  [anon]+40    main\n"
"7f0000000000-7f0000010000  dead          7f0000011000      58  packed  "
"[anon]+0                 [anon]+1000  one and 2 more\n"
"7ffe00000500-7ffe00001000  7ffe00000500  10              4096  sframe  "
"[vdso]+500               [unmapped]\n"
"unwind errors (each truncated one stack):\n"
"  no_fde         12  the table has a gap there\n"
"  row_order       1  rows are not sorted\n"
"  newer      123456  a reason that is newer than this program\n"
"last: no_fde at 401234  /usr/bin/a program+1234\n"
"=0");
}

static void test_json(void)
{
	is("one process as JSON", run(true, "17"),
"[{\"pid\": 17, \"command\": \"program\", \"windows\": [\n"
"  {\"text_start\": \"0x401000\", \"text_end\": \"0x480000\", "
"\"key\": \"0x401000\", \"section\": \"0x7f0000010040\", \"length\": 928, "
"\"flags\": \"packed\", "
"\"text_in\": {\"name\": \"/usr/bin/a program\", \"offset\": \"0x1000\"}, "
"\"section_in\": {\"name\": \"[anon]\", \"offset\": \"0x40\"}, "
"\"names\": 1, \"first_name\": \"main\"},\n"
"  {\"text_start\": \"0x7f0000000000\", \"text_end\": \"0x7f0000010000\", "
"\"key\": \"0xdead\", \"section\": \"0x7f0000011000\", \"length\": 58, "
"\"flags\": \"packed\", "
"\"text_in\": {\"name\": \"[anon]\", \"offset\": \"0x0\"}, "
"\"section_in\": {\"name\": \"[anon]\", \"offset\": \"0x1000\"}, "
"\"names\": 3, \"first_name\": \"one\"},\n"
"  {\"text_start\": \"0x7ffe00000500\", \"text_end\": \"0x7ffe00001000\", "
"\"key\": \"0x7ffe00000500\", \"section\": \"0x10\", \"length\": 4096, "
"\"flags\": \"sframe\", "
"\"text_in\": {\"name\": \"[vdso]\", \"offset\": \"0x500\"}, "
"\"section_in\": null, \"names\": 0, \"first_name\": null}], "
"\"refused\": {\"section_fault\": 0, \"no_fde\": 12, \"row_order\": 1, "
"\"newer\": 123456}, "
"\"last\": {\"reason\": \"no_fde\", \"address\": \"0x401234\", "
"\"in\": {\"name\": \"/usr/bin/a program\", \"offset\": \"0x1234\"}}}]\n"
"=0");
}

static void test_quiet(void)
{
	make_process("5", "idle", QUIET, "");
	is("no window, nothing refused", run(false, "5"),
	   "5 idle: 0 windows\nno unwind errors\n=0");
	is("the same as JSON", run(true, "5"),
	   "[{\"pid\": 5, \"command\": \"idle\", \"windows\": [], "
	   "\"refused\": {\"no_fde\": 0}, \"last\": null}]\n=0");
}

/* 17 and 5 are processes; the other entries are not. */
static void test_all(void)
{
	MUST(!mkdir(in_proc("self"), 0755));
	make_process("9", "ended", "", "");
	make_process("100", "small", "1000-1001 1 2 3a sframe\nwindows 1\n"
		     "last none 0\n", "");
	is("all processes with windows", run(false, NULL),
"PID  WINDOWS    TEXT  TABLES  REFUSED  COMMAND\n"
" 17        3  588544    5082   123469  program\n"
"100        1       1      58        0  small\n"
"=0");
	TRUE("all processes as JSON",
	     !strncmp(run(true, NULL), "[{\"pid\": 17, ", 13) &&
	     strstr(run(true, NULL), "}},\n{\"pid\": 100, \"command\": "
		    "\"small\", "));
	remove_process("17");
	remove_process("100");
	is("no process with windows", run(false, NULL),
	   HEADS "=0");
	is("the same as JSON: all", run(true, NULL), "[]\n=0");
}

static void test_bad_pids(void)
{
	static char *bad[] = { "", "x", "0", "-5", "+5", " 5", "5x",
		"4294967301", "99999999999999999999", "123456" };
	char want[128], name[64];
	size_t i;

	for (i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		snprintf(want, sizeof(want),
			 "sfjit: %s: no such process\n=1", bad[i]);
		snprintf(name, sizeof(name), "no process: '%s'", bad[i]);
		is(name, run(false, bad[i]), want);
	}
	is("no process, as JSON", run(true, "x"),
	   "[sfjit: x: no such process\n]\n=1");
}

static void test_no_address_space(void)
{
	is("ended, or the kernel's", run(false, "9"),
	   "sfjit: 9: has no address space: it ended, or is the kernel's\n=1");
	put("9/sframe", "401000-480000 1 2 3 sframe\nwindows 1\nno_fde 0\n");
	is("ended while it was read", run(false, "9"),
	   "sfjit: 9: has no address space: it ended, or is the kernel's\n=1");
	remove_process("9");
}

static void test_old_kernel(void)
{
	char want[256];

	MUST(!unlink(in_proc("5/sframe")));
	is("kernel without the file", run(false, "5"),
	   "sfjit: 5: this kernel has no /proc/PID/sframe\n=1");
	remove_process("5");
	make_process("6", "any", QUIET, "");
	make_process("7", "any", QUIET, "");
	MUST(!unlink(in_proc("6/sframe")) && !unlink(in_proc("7/sframe")));
	snprintf(want, sizeof(want), "sfjit: %s: this kernel has no "
		 "/proc/PID/sframe\n=1", proc);
	is("kernel without the file: said once", run(false, NULL), want);
	put("7/sframe", "1000-1001 1 2 3a sframe\nwindows 1\nlast none 0\n");
	is("one process without the file hides no other", run(false, NULL),
	   "PID  WINDOWS  TEXT  TABLES  REFUSED  COMMAND\n"
	   "  7        1     1      58        0  any\n=0");
	remove_process("6");
	remove_process("7");
}

static void test_format(void)
{
	static const char * const bad[] = {
		"b000-c000 1 2 3\n", "1000-2000 1 2 3\n", "1000 1\n", "x\n",
		"no_fde\n", "no_fde x\n", "last none\n", "last\n", "\n",
	};
	char sframe[128], name[64];
	size_t i;

	make_process("7", "x", QUIET, "");
	for (i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		snprintf(sframe, sizeof(sframe), "%s" QUIET, bad[i]);
		put("7/sframe", "%s", sframe);
		snprintf(name, sizeof(name), "line of an unknown kind: %.*s",
			 (int)strcspn(bad[i], "\n"), bad[i]);
		is(name, run(false, "7"), "sfjit: 7: /proc "
		   "has a format that is not known here\n=1");
	}
	put("7/sframe", QUIET);
	put("7/maps", "1000-2000 r-xp\n");
	is("maps of an unknown kind", run(false, "7"), "sfjit: 7: /proc "
	   "has a format that is not known here\n=1");
	remove_process("7");
}

#define TOO_MANY	"sfjit: 7: has more windows, mappings or names than " \
			"can be shown\n=1"

static void test_too_many(void)
{
	FILE *file;
	int i;

	make_process("7", "x", "", "");
	file = fopen(in_proc("7/sframe"), "w");
	MUST(file);
	for (i = 0; i <= (int)PS_MOST; i++)
		fputs("1-2 1 1 1 packed\n", file);
	fputs(QUIET, file);
	MUST(!fclose(file));
	is("windows without end", run(false, "7"), TOO_MANY);
	remove_process("7");
}

static void test_too_long(void)
{
	unsigned int at, nr = PS_MOST_NAMES / 4000;
	char name[4001];
	FILE *file;

	memset(name, 'n', 4000);
	name[4000] = '\0';
	make_process("7", "x", QUIET, "");
	file = fopen(in_proc("7/maps"), "w");
	MUST(file);
	for (at = 1; at <= nr; at++)
		fprintf(file, "%x000-%x001 r-xp 0 00:00 0 /%s\n", at, at,
			name);
	MUST(!fclose(file));
	is("names without end", run(false, "7"), TOO_MANY);
	remove_process("7");
}

static unsigned int nr_of(const char *text, char c)
{
	unsigned int nr = 0;

	for (; *text; text++)
		nr += *text == c;
	return nr;
}

static void test_long_names(void)
{
	char name[3001];

	memset(name, 'z', 3000);
	name[3000] = '\0';
	make_process("7", "x", "1000-2000 1 1000 3a sframe\nwindows 1\n"
		     "last none 0\n", "");
	put("7/maps", "1000-2000 r-xp 0 00:00 0 %s\n", name);
	put("7/root/tmp/perf-7.map", "1000 10 %s\n", name);
	IS("long names as text", nr_of(run(false, "7"), 'z'), 3 * 1000);
	put("7/root/tmp/perf-7.map", "1000 10 %s\n1010 10 x\n", name);
	IS("long names as text: of several", nr_of(run(false, "7"), 'z'),
	   3 * 1000);
	remove_process("7");
}

#define SMALL(n)	#n "000-" #n "001 1 2 3a sframe\nwindows 1\n" \
			"last none 0\n"

/* A problem with one process is reported, and the others are shown. */
static void test_bad_among_others(void)
{
	const char *text;

	make_process("7", "bad", "x\n" QUIET, "");
	make_process("8", "good", SMALL(1), "");
	is("a process that cannot be shown hides no other", run(false, NULL),
	   "sfjit: 7: /proc has a format that is not known here\n"
	   "PID  WINDOWS  TEXT  TABLES  REFUSED  COMMAND\n"
	   "  8        1     1      58        0  good\n=1");
	put("7/sframe", SMALL(1));
	put("7/maps", "x\n");
	is("no mappings in the list of all", run(false, NULL),
	   "PID  WINDOWS  TEXT  TABLES  REFUSED  COMMAND\n"
	   "  7        1     1      58        0  bad\n"
	   "  8        1     1      58        0  good\n=0");
	text = run(true, NULL);
	TRUE("a process with bad mappings hides no other, as JSON",
	     strstr(text, "[sfjit: 7: /proc has a format that is not known "
		    "here\n{\"pid\": 8, ") && strstr(text, "}]\n=1"));
	put("7/sframe", QUIET);
	put("8/sframe", QUIET);
	is("mappings are read of processes with windows", run(true, NULL),
	   "[]\n=0");
	remove_process("7");
	remove_process("8");
}

static int as_anybody(void)
{
	MUST(geteuid() || !setresuid(ANYBODY, ANYBODY, ANYBODY));
	is("somebody else's process", run(false, "8"), "sfjit: 8: may be read "
	   "only by those who may trace the process\n=1");
	is("somebody else's process: passed by", run(false, NULL),
	   HEADS "=0");
	return finish();
}

static void test_denied(void)
{
	make_process("8", "x", windows, maps);
	MUST(!chmod(in_proc("8/sframe"), 0) && !chmod(proc, 0755));
	cases_in_child(as_anybody);
	remove_process("8");
}

#define WINDOW(n)	#n "000-" #n "001 " #n " 2 3a sframe\nwindows 1\n" \
			"last none 0\n"
#define OTHER_MAPS	"2000-3000 r-xp 00000000 00:00 0 /new\n"

/* When 'maps' is opened, another program has replaced the first. */
static void *exec_meanwhile(void *other)
{
	int fd = open(in_proc("7/maps"), O_WRONLY);

	MUST(fd >= 0);
	MUST(!truncate(in_proc("7/sframe"), 0));
	if (other) {
		put("7/new", "%s", WINDOW(2));
		MUST(!rename(in_proc("7/new"), in_proc("7/sframe")));
		put("7/new", OTHER_MAPS);
		MUST(!rename(in_proc("7/new"), in_proc("7/maps")));
		put("7/comm", "new\n");
	} else {
		remove_process("7");
	}
	MUST(write(fd, OTHER_MAPS, sizeof(OTHER_MAPS) - 1) > 0);
	close(fd);
	return NULL;
}

static const char *run_meanwhile(void *other)
{
	const char *text;
	pthread_t thread;

	make_process("7", "old", WINDOW(1), "");
	MUST(!unlink(in_proc("7/maps")) &&
	     !mkfifo(in_proc("7/maps"), 0600));
	MUST(!pthread_create(&thread, NULL, exec_meanwhile, other));
	text = run(false, "7");
	MUST(!pthread_join(thread, NULL));
	return text;
}

static void test_changes(void)
{
	is("exec while it is read", run_meanwhile(proc), "7 new: 1 window\n"
"TEXT       KEY  TABLE  LENGTH  FORMAT  TEXT IN  TABLE IN    NAMES\n"
"2000-2001  2    2          58  sframe  /new+0   [unmapped]\n"
"no unwind errors\n=0");
	remove_process("7");
	is("exit while it is read", run_meanwhile(NULL),
	   "sfjit: 7: no such process\n=1");
}

/*
 * Escape, C1 in UTF-8, Latin-1, overlong, surrogate, directions (U+202E and
 * U+061C), cut off.
 */
#define EVIL	"\33[2J\302\233\344b\300\257\355\240\200\342\200\256" \
		"\330\234\342\202"
#define TAMED	"\357\277\275"
#define HARMLESS \
	TAMED "[2J" TAMED TAMED "b" TAMED TAMED TAMED TAMED TAMED TAMED

static void test_hostile_names(void)
{
	make_process("7", EVIL, "1000-2000 1 3000 3a sframe\nwindows 1\n"
		     "last none 0\n", "1000-2000 r-xp 00000000 00:00 0 "
		     "/\303\244\360\237\230\200\"\\\33\n");
	is("hostile names", run(false, "7"), "7 " HARMLESS ": 1 window\n"
"TEXT       KEY  TABLE  LENGTH  FORMAT  TEXT IN   TABLE IN    NAMES\n"
"1000-2000  1    3000       58  sframe  /\303\244\360\237\230\200\"\\" TAMED
"+0  [unmapped]\n"
"no unwind errors\n=0");
	is("hostile names in JSON", run(true, "7"),
"[{\"pid\": 7, \"command\": \"" HARMLESS "\", \"windows\": [\n"
"  {\"text_start\": \"0x1000\", \"text_end\": \"0x2000\", \"key\": \"0x1\", "
"\"section\": \"0x3000\", \"length\": 58, \"flags\": \"sframe\", "
"\"text_in\": {\"name\": \"/\303\244\360\237\230\200\\\"\\\\" TAMED "\", "
"\"offset\": \"0x0\"}, \"section_in\": null, \"names\": 0, "
"\"first_name\": null}], \"refused\": {}, \"last\": null}]\n=0");
}

static const char *names_of_7(void)
{
	const char *text = run(true, "7");
	char *end;

	text = strstr(text, "\"names\"");
	MUST(text);
	end = strchr(text, '}');
	MUST(end);
	*end = '\0';
	return text;
}

#define PERF_MAP	"7/root/tmp/perf-7.map"
#define NO_NAMES	"\"names\": 0, \"first_name\": null"

/* Counts opens of the file; a look-up with O_PATH is none. */
static int watch(const char *name)
{
	int fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);

	MUST(fd >= 0 && inotify_add_watch(fd, in_proc(name), IN_OPEN) >= 0);
	return fd;
}

static bool was_opened(int fd)
{
	struct inotify_event event;
	bool opened = read(fd, &event, sizeof(event)) > 0;

	close(fd);
	return opened;
}

static void no_names_unopened(const char *what)
{
	char name[64];
	int fd = watch(PERF_MAP);

	is(what, names_of_7(), NO_NAMES);
	snprintf(name, sizeof(name), "%s: not opened", what);
	TRUE(name, !was_opened(fd));
}

static int foreign_map(void)
{
	MUST(!setresuid(ANYBODY, ANYBODY, ANYBODY));
	is("perf map of somebody else", names_of_7(), NO_NAMES);
	return finish();
}

static void test_perf_maps(void)
{
	char line[6001];

	memset(line, 'n', 6000);
	line[6000] = '\0';
	put(PERF_MAP, "1000 10 %s\n1010 10 next\n1000 10\nffffffffffffffff 1 "
	    "x\n1020 10 end of file", line);
	line[4095 - 8] = '\0';
	TRUE("perf map with a long line", strstr(names_of_7(), "\"names\": 3") &&
	     strstr(names_of_7(), line) &&
	     !strstr(names_of_7(), "nnnn1010"));

	MUST(!rename(in_proc(PERF_MAP), in_proc("7/map")) &&
	     !symlink("../../map", in_proc(PERF_MAP)));
	is("perf map that is a link", names_of_7(), NO_NAMES);
	MUST(!unlink(in_proc(PERF_MAP)) && !mkfifo(in_proc(PERF_MAP), 0666));
	no_names_unopened("perf map that is a pipe");
	MUST(!unlink(in_proc(PERF_MAP)) && !mkdir(in_proc(PERF_MAP), 0777));
	is("perf map that is a directory", names_of_7(), NO_NAMES);
	MUST(!rmdir(in_proc(PERF_MAP)));
	if (geteuid()) {
		skip("perf map of somebody else", "only root can make one");
	} else {
		put(PERF_MAP, "1000 10 x\n");
		MUST(!chown(in_proc(PERF_MAP), 12345, 12345));
		is("root: perf map of somebody else", names_of_7(), NO_NAMES);
		cases_in_child(foreign_map);
		MUST(!chown(in_proc("7"), 12345, 12345));
		is("perf map of the process's user", names_of_7(),
		   "\"names\": 1, \"first_name\": \"x\"");
	}
	remove_process("7");
}

/* Runs @function as root in a new mount namespace. */
static void in_namespace(const char *name, int (*function)(void))
{
	int ret;

	if (geteuid()) {
		skip(name, "only root can make mounts");
		return;
	}
	make_process("7", "x", SMALL(1), "");
	ret = in_child(function);
	IS(name, ret, 0);
	remove_process("7");
}

static void own_namespace(void)
{
	if (unshare(CLONE_NEWNS) ||
	    mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL)) {
		skip("mounts", "no mount namespaces here");
		exit(finish());
	}
	/* Hanging is the failure. */
	alarm(600);
}

static int mounted_map(void)
{
	int fd;

	own_namespace();
	put(PERF_MAP, "1000 10 below\n");
	put("7/file", "1000 10 above\n");
	MUST(!mount(in_proc("7/file"), in_proc(PERF_MAP), NULL, MS_BIND, NULL));
	fd = watch("7/file");
	is("perf map that is mounted", names_of_7(), NO_NAMES);
	TRUE("perf map that is mounted: not opened", !was_opened(fd));
	return finish();
}

static int device_map(void)
{
	own_namespace();
	if (mknod(in_proc(PERF_MAP), S_IFCHR | 0666, makedev(1, 3))) {
		skip("perf map that is a device", "none can be made here");
		return finish();
	}
	no_names_unopened("perf map that is a device");
	return finish();
}

#define TOO_LATE \
	"sfjit: names are missing: /tmp/perf-PID.map took too long\n"

/* Answers only the kernel's first request. */
static _Noreturn void serve_nothing(int fd)
{
	static char request[1 << 16];
	struct {
		struct fuse_out_header header;
		struct fuse_init_out init;
	} answer = { .init = { .major = FUSE_KERNEL_VERSION,
			       .minor = FUSE_KERNEL_MINOR_VERSION,
			       .max_write = 4096 } };
	struct fuse_in_header *header = (struct fuse_in_header *)request;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	while (read(fd, request, sizeof(request)) > 0) {
		if (header->opcode != FUSE_INIT)
			continue;
		answer.header.unique = header->unique;
		answer.header.len = sizeof(answer);
		if (write(fd, &answer, sizeof(answer)) < 0)
			break;
	}
	_exit(1);
}

static bool mount_silent(const char *where)
{
	char options[128];
	int fd = open("/dev/fuse", O_RDWR | O_CLOEXEC);
	pid_t pid;

	snprintf(options, sizeof(options),
		 "fd=%d,rootmode=40000,user_id=0,group_id=0", fd);
	if (fd < 0 || mount("none", where, "fuse", 0, options))
		return false;
	pid = fork();
	MUST(pid >= 0);
	if (!pid)
		serve_nothing(fd);
	close(fd);
	return true;
}

/* Many that never answer, and then one that would. */
static void many_silent(void)
{
	char pid[8], name[64];
	int i;

	for (i = 10; i < 20; i++) {
		snprintf(pid, sizeof(pid), "%d", i);
		make_process(pid, "x", SMALL(1), "");
		snprintf(name, sizeof(name), "%d/root/tmp", i);
		MUST(!mount(in_proc("7/root/tmp"), in_proc(name), NULL, MS_BIND,
			    NULL));
	}
	make_process("20", "x", SMALL(1), "");
	put("20/root/tmp/perf-20.map", "1000 10 x\n");
	TRUE("many that never answer",
	     strstr(run(true, NULL), TOO_LATE "=0") &&
	     !strstr(run(true, NULL), "\"names\": 1"));
}

static int silent_server(void)
{
	int ends[2];
	char byte;

	own_namespace();
	if (!mount_silent(in_proc("7/root/tmp"))) {
		skip("file system that never answers", "no FUSE here");
		return finish();
	}
	map_ms = 300;
	MUST(!pipe(ends));
	is("file system that never answers", names_of_7(), NO_NAMES);
	TRUE("file system that never answers: said",
	     strstr(run(false, "7"), TOO_LATE "=0"));
	close(ends[1]);
	IS("what waits there holds no file open", read(ends[0], &byte, 1), 0);
	many_silent();
	return finish();
}

#define ONE_NAME	"\"names\": 1, \"first_name\": \"one\""

/* A hole of a terabyte is read as zeros. */
static void test_hole(void)
{
	make_process("7", "x", SMALL(1), "");
	put(PERF_MAP, "1000 10 one\n");
	if (truncate(in_proc(PERF_MAP), 1LL << 40)) {
		skip("perf map that is a hole", "no file that large here");
	} else {
		alarm(600);
		is("perf map that is a hole", names_of_7(), ONE_NAME);
		alarm(0);
	}
	put(PERF_MAP, "1000 10 one\n%c\n\n1000 10 two\n", 0);
	is("perf map that is no text", names_of_7(), ONE_NAME);
	remove_process("7");
}

static void test_large_map(void)
{
	static char text[1 << 20];
	FILE *file;
	int i;

	memset(text, 'n', sizeof(text));
	text[sizeof(text) - 1] = '\n';
	make_process("7", "x", SMALL(1), "");
	file = fopen(in_proc(PERF_MAP), "w");
	MUST(file);
	fputs("1000 10 one\n", file);
	for (i = 0; i < 256; i++)
		MUST(fwrite(text, sizeof(text), 1, file));
	fputs("1000 10 behind\n", file);
	MUST(!fclose(file));
	is("perf map without end", names_of_7(), ONE_NAME);
	remove_process("7");
}

/* Many processes, each with a map that takes long. */
static void test_no_time(void)
{
	make_process("7", "x", SMALL(1), "");
	put(PERF_MAP, "1000 10 x\n");
	map_ms = 0;
	TRUE("no time for perf maps", strstr(run(false, "7"), TOO_LATE "=0"));
	map_ms = 600000;
	remove_process("7");
}

static void test_second_name(void)
{
	make_process("7", "x", SMALL(1), "");
	put(PERF_MAP, "1000 10 x\n");
	MUST(!link(in_proc(PERF_MAP), in_proc("7/other")));
	no_names_unopened("perf map with a second name");
	remove_process("7");
}

static void test_summary_without_maps(void)
{
	int fd;

	make_process("7", "x", SMALL(1), "");
	put(PERF_MAP, "1000 10 x\n");
	fd = watch(PERF_MAP);
	TRUE("list of all", strstr(run(false, NULL), "58        0  x\n=0"));
	TRUE("list of all: no perf map is opened", !was_opened(fd));
	remove_process("7");
}

/* An absolute link would lead into a directory of the reader. */
static void test_linked_directory(void)
{
	make_process("7", "x", SMALL(1), "");
	MUST(!mkdir(in_proc("7/root/other"), 0755));
	put("7/root/other/perf-7.map", "1000 10 one\n");
	MUST(!rmdir(in_proc("7/root/tmp")) &&
	     !symlink("/other", in_proc("7/root/tmp")));
	is("/tmp that is a link", names_of_7(), ONE_NAME);
	remove_process("7");
}

static void test_nested_namespaces(void)
{
	char line[512] = "NStgid:";
	int i;

	make_process("7", "x", SMALL(1), "");
	for (i = 0; i < 32; i++)
		strcat(line, "\t4194303");
	put("7/status", "%s\t4194301\n", line);
	put("7/root/tmp/perf-4194301.map", "1000 10 one\n");
	is("namespaces 32 deep", names_of_7(), ONE_NAME);
	remove_process("7");
}

static void test_hostile_maps(void)
{
	test_hole();
	test_large_map();
	test_no_time();
	test_second_name();
	test_summary_without_maps();
	test_linked_directory();
	test_nested_namespaces();
	in_namespace("mounted over", mounted_map);
	in_namespace("devices", device_map);
	in_namespace("silent server", silent_server);
	remove_process("[12]*");
}

static void test_reader_is_gone(void)
{
	struct ps_options options = { .proc = proc };
	char *pid = "7";

	make_process("7", "x", QUIET, "");
	options.out = fopen("/dev/full", "w");
	options.err = fopen("/dev/null", "w");
	MUST(options.out && options.err);
	IS("output that cannot be written", ps(&options, &pid, 1), 125);
	fclose(options.out);
	fclose(options.err);
	remove_process("7");
}

/* A descriptor in a directory that is as /proc/PID. */
static void put_held(const char *pid, const char *fd, const char *link,
		     const char *info)
{
	char name[64];

	snprintf(name, sizeof(name), "%s/fd", pid);
	mkdir(in_proc(name), 0755);
	snprintf(name, sizeof(name), "%s/fdinfo", pid);
	mkdir(in_proc(name), 0755);
	snprintf(name, sizeof(name), "%s/fd/%s", pid, fd);
	MUST(!symlink(link, in_proc(name)));
	snprintf(name, sizeof(name), "%s/fdinfo/%s", pid, fd);
	put(name, "%s", info);
}

static const char *run_files(bool json)
{
	static char *text;
	size_t size;
	struct ps_options options = { .proc = proc, .json = json };

	free(text);
	options.out = options.err = open_memstream(&text, &size);
	MUST(options.out);
	ps_files(&options);
	fclose(options.out);
	return text;
}

#define LINK	"anon_inode:[sframe_files]"

static const char held[] =
"pos:\t0\nflags:\t02000002\nno_fde 7\nbudget 0\nlast no_fde 12ab\ntables 3 700\n"
"table 1 08:01 12 1000-80000 500 current\n"
"table 2 08:01 12 90000-90010 80 changed\n"
"table 3 00:1b 9 0-20 120 current more words\n"
"table x\n";

/* The service's descriptor is also its manager's. */
static void test_files(void)
{
	is("no tables of files", run_files(false), "TEXT  BYTES  STATE  FILE\n"
	   "0 tables of 0 files, 0 bytes\n");
	is("no tables of files: JSON", run_files(true),
	   "{\"tables\": [], \"refused\": {}}\n");
	make_process("1", "systemd", "", "");
	make_process("7", "x", "", maps);
	put_held("1", "40", LINK, held);
	put_held("7", "3", LINK, held);
	put_held("7", "4", LINK " (deleted)", held);
	put_held("7", "5", "anon_inode:[eventfd]", held);
	is("tables of files", run_files(false),
	   "TEXT         BYTES  STATE    FILE\n"
	   "0-20           120  current  00:1b:9\n"
	   "1000-80000     500  current  /usr/bin/a program\n"
	   "90000-90010     80  changed  /usr/bin/a program\n"
	   "3 tables of 2 files, 700 bytes\n"
	   "unwind errors of processes without windows (each truncated one "
	   "stack):\n"
	   "  no_fde  7  the table has a gap there\n");
	is("tables of files: JSON", run_files(true),
	   "{\"tables\": [{\"file\": null, \"device\": \"00:1b\", \"inode\": 9, "
	   "\"text_start\": \"0x0\", \"text_end\": \"0x20\", "
	   "\"bytes\": 120, \"state\": \"current\"},\n"
	   "{\"file\": \"/usr/bin/a program\", \"device\": \"08:01\", "
	   "\"inode\": 12, \"text_start\": \"0x1000\", "
	   "\"text_end\": \"0x80000\", \"bytes\": 500, "
	   "\"state\": \"current\"},\n"
	   "{\"file\": \"/usr/bin/a program\", \"device\": \"08:01\", "
	   "\"inode\": 12, \"text_start\": \"0x90000\", "
	   "\"text_end\": \"0x90010\", \"bytes\": 80, "
	   "\"state\": \"changed\"}], "
	   "\"refused\": {\"no_fde\": 7, \"budget\": 0}}\n");
	remove_process("1");
	remove_process("7");
}

int main(void)
{
	MUST(mkdtemp(proc));
	test_text();
	test_json();
	test_quiet();
	test_all();
	test_bad_pids();
	test_no_address_space();
	test_old_kernel();
	test_format();
	test_too_many();
	test_too_long();
	test_long_names();
	test_bad_among_others();
	test_denied();
	test_changes();
	test_hostile_names();
	test_perf_maps();
	test_hostile_maps();
	test_reader_is_gone();
	test_files();
	remove_process("");
	return finish();
}
