// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/*
 * Description: files, generated code and processes, as events name them.
 *
 * Code is at made-up addresses. Its rules are those of a function that was just
 * called, or that keeps a frame pointer, so that the stack says which were used.
 */
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>

#include <sframegen.h>

#include "test.h"

#define CODE	0x10000
#define SIZE	0x1000
#define STACK	0x7f0000000000
#define WORDS	64

/* Bits 6, 7 and 8 of perf's registers on x86-64. */
enum { BP = 6, SP = 7, IP = 8 };
#define MASK	(1ULL << BP | 1ULL << SP | 1ULL << IP)

#define EXIT	0xe0de			/* nothing is mapped there */

static struct sfjit_stacks *stacks;
static char directory[] = "/tmp/sfjit-stacks-XXXXXX";

static void begin(size_t keep)
{
	struct sfjit_stacks_options options = {
		.abi = SFRAME_ABI_AMD64_LE, .keep = keep,
	};

	MUST(!sfjit_stacks_begin(&options, &stacks));
}

static struct sfjit_stacks_counts stats(void)
{
	struct sfjit_stacks_counts s;

	sfjit_stacks_stats(stacks, &s);
	return s;
}

/* Each word of the stack is an address of nothing, but its number is known. */
static uint64_t stack[WORDS];

static void fill_stack(void)
{
	int i;

	for (i = 0; i < WORDS; i++)
		stack[i] = EXIT + i;
}

/* What the walk says, as "0x10008 0xe0de: reason"; from a pc and the stack. */
static const char *walk_at(pid_t pid, uint64_t time, uint64_t ip, uint64_t bp,
			   size_t words)
{
	uint64_t registers[] = { bp, STACK, ip };
	struct sfjit_stacks_sample sample = {
		.pid = pid, .time = time, .mask = MASK,
		.registers = registers, .stack = stack,
		.stack_length = words * 8,
	};
	static struct found found;
	static char text[400];
	char *to = text;
	int i;

	MUST(find_frames(stacks, &sample, &found) > 0);
	for (i = 0; i < found.nr && i < 8; i++)
		to += sprintf(to, "%#" PRIx64 "%s ", found.frame[i].ip,
			      found.frame[i].flags ? "*" : "");
	sprintf(to, "%s", sfjit_stacks_end_text(found.end));
	return text;
}

static const char *walk(pid_t pid, uint64_t time, uint64_t ip)
{
	return walk_at(pid, time, ip, STACK + 16, WORDS);
}

static void says(const char *name, const char *got, const char *want)
{
	result(!strcmp(got, want), name, "%s, expected %s", got, want);
}

/* Just called, or after push %rbp; mov %rsp, %rbp. */
static const struct sfjit_row called = { .cfa = SFJIT_REG(7, 8) };
static const struct sfjit_row framed = {
	.cfa = SFJIT_REG(6, 16), .fp = SFJIT_SAVED(-16),
};

#define CALLED	"0x10008 0xe0de nothing is known of the address"
#define FRAMED	"0x10008 0xe0e1 nothing is known of the address"
#define BY_FP	"0x10008 0xe0e1* nothing is known of the address"
#define NOTHING	"0x10008 nothing is known of the address"
#define MEMORY	"0x10008 no call frame information"

static struct sfjit_stacks_code code_of(const struct sfjit_row *row)
{
	static uint8_t table[512];
	struct sfjit_function function = {
		.addr = CODE, .size = SIZE, .nr_rows = 1, .rows = row,
	};
	struct sfjit_stacks_code code = {
		.start = CODE, .length = SIZE, .kind = SFJIT_STACKS_EH_FRAME,
		.table = table, .table_address = CODE + 0x8000,
	};
	size_t header;

	MUST(!sfg_write_cfi(SFRAME_ABI_AMD64_LE, &function, 0x8000, table,
			    sizeof(table), &code.table_length, &header));
	return code;
}

static void load(pid_t pid, uint64_t time, const struct sfjit_row *row)
{
	struct sfjit_stacks_code code = code_of(row);

	MUST(!sfjit_stacks_jit_load(stacks, pid, time, &code));
}

static int map(pid_t pid, uint64_t time, const char *path)
{
	struct sfjit_stacks_mapping m = {
		.start = CODE, .length = SIZE, .path = path, .executable = true,
	};

	return sfjit_stacks_mmap(stacks, pid, time, &m);
}

/* Generated code. */

static void test_code(void)
{
	begin(0);
	load(1, 10, &called);
	load(1, 20, &framed);
	MUST(!sfjit_stacks_jit_unload(stacks, 1, 30, CODE, SIZE));
	says("before the code", walk(1, 9, CODE + 8), NOTHING);
	says("code", walk(1, 10, CODE + 8), CALLED);
	says("up to the next one", walk(1, 19, CODE + 8), CALLED);
	says("other code at the same place", walk(1, 20, CODE + 8), FRAMED);
	says("unloaded", walk(1, 30, CODE + 8), NOTHING);
	says("of another process", walk(2, 10, CODE + 8), NOTHING);
	load(1, 15, &framed);
	says("late news", walk(1, 15, CODE + 8), FRAMED);
	says("and what was before", walk(1, 14, CODE + 8), CALLED);
	sfjit_stacks_end(stacks);
}

static void test_code_over_memory(void)
{
	begin(0);
	MUST(!map(1, 10, "//anon"));
	says("memory", walk(1, 10, CODE + 8), BY_FP);
	load(1, 20, &called);
	says("code in it", walk(1, 20, CODE + 8), CALLED);
	MUST(!map(1, 30, "//anon"));
	says("made executable again", walk(1, 30, CODE + 8), CALLED);
	MUST(!map(1, 40, "/nowhere/file"));
	says("a file in its place", walk(1, 40, CODE + 8),
	     "0x10008 the file is not there, or another");
	load(1, 50, &called);
	MUST(!sfjit_stacks_munmap(stacks, 1, 60, CODE, SIZE));
	says("unmapped", walk(1, 60, CODE + 8), NOTHING);
	sfjit_stacks_end(stacks);
}

static void test_kinds(void)
{
	struct sfjit_stacks_code code = {
		.start = CODE, .length = SIZE,
		.kind = SFJIT_STACKS_FRAME_POINTER,
	};

	begin(0);
	MUST(!sfjit_stacks_jit_load(stacks, 1, 10, &code));
	says("code with frame pointers", walk(1, 10, CODE + 8), BY_FP);
	says("a frame pointer below the stack",
	     walk_at(1, 10, CODE + 8, STACK - 8, WORDS),
	     "0x10008 damaged rule or stack");
	says("one that is no address of a word",
	     walk_at(1, 10, CODE + 8, STACK + 9, WORDS),
	     "0x10008 damaged rule or stack");
	says("one above the copy",
	     walk_at(1, 10, CODE + 8, STACK + WORDS * 8 - 8, WORDS),
	     "0x10008 the copy of the stack ends");
	code.kind = SFJIT_STACKS_UNKNOWN;
	MUST(!sfjit_stacks_jit_load(stacks, 1, 20, &code));
	says("code without anything", walk(1, 20, CODE + 8), MEMORY);
	code.kind = SFJIT_STACKS_UNKNOWN + 1;
	IS("another kind", sfjit_stacks_jit_load(stacks, 1, 20, &code),
	   -EINVAL);
	code.kind = SFJIT_STACKS_EH_FRAME;
	code.table = "\x08\0\0\0\0\0\0\0\x07";
	code.table_length = 9;
	IS("a damaged table", sfjit_stacks_jit_load(stacks, 1, 20, &code),
	   -EINVAL);
	sfjit_stacks_end(stacks);
}

/* Samples. */

static void test_samples(void)
{
	uint64_t registers[] = { STACK + 16, STACK, CODE + 8 };
	struct sfjit_stacks_sample sample = {
		.pid = 1, .time = 10, .mask = MASK & ~(1ULL << IP),
		.registers = registers, .stack = stack, .stack_length = 8,
	};
	static struct found found;
	int i;

	begin(0);
	load(1, 10, &called);
	IS("no pc", find_frames(stacks, &sample, &found), -EINVAL);
	sample.mask = MASK & ~(1ULL << SP);
	IS("no stack pointer", find_frames(stacks, &sample, &found), -EINVAL);
	says("half of a word", walk_at(1, 10, CODE + 8, 0, 0),
	     "0x10008 the copy of the stack ends");
	says("no frame pointer needed", walk_at(1, 10, CODE + 8, 0, 1),
	     CALLED);
	for (i = 0; i < WORDS; i++)
		stack[i] = CODE + 9;
	sample.mask = MASK;
	sample.stack_length = sizeof(stack);
	IS("as many frames as words", find_frames(stacks, &sample, &found),
	   WORDS + 1);
	stack[3] = 0;
	IS("a return address of 0", find_frames(stacks, &sample, &found), 4);
	IS("has no caller", found.end, SFJIT_STACKS_OUTERMOST);
	IS("samples are counted", stats().samples, 4);
	IS("by their ends", stats().ends[SFJIT_STACKS_OUTERMOST], 1);
	fill_stack();
	sfjit_stacks_end(stacks);
}

static int stop_at_second(void *arg, const struct sfjit_stacks_frame *frame)
{
	return ++*(int *)arg == 2;
}

static void test_callback(void)
{
	uint64_t registers[] = { STACK + 16, STACK, CODE + 8 };
	struct sfjit_stacks_sample sample = {
		.pid = 1, .mask = MASK, .registers = registers, .stack = stack,
		.stack_length = sizeof(stack),
	};
	enum sfjit_stacks_reason end;
	int nr = 0;

	begin(0);
	load(1, 0, &called);
	IS("frames up to where the callback stops",
	   sfjit_stacks_frames(stacks, &sample, stop_at_second, &nr, &end), 2);
	IS("it is the second of two", nr, 2);
	IS("which is said", end, SFJIT_STACKS_STOPPED);
	sfjit_stacks_end(stacks);
}

/* Longer than anybody's stack is. */
static void test_many_frames(void)
{
	static uint64_t deep[SFJIT_STACKS_MAX_FRAMES + 8];
	uint64_t registers[] = { STACK + 16, STACK, CODE + 8 };
	struct sfjit_stacks_sample sample = {
		.pid = 1, .mask = MASK, .registers = registers, .stack = deep,
		.stack_length = sizeof(deep),
	};
	static struct found found;
	size_t i;

	begin(0);
	load(1, 0, &called);
	for (i = 0; i < sizeof(deep) / 8; i++)
		deep[i] = CODE + 9;
	IS("so many frames, and no more",
	   find_frames(stacks, &sample, &found), SFJIT_STACKS_MAX_FRAMES);
	IS("for the limit", found.end, SFJIT_STACKS_LIMIT);
	sfjit_stacks_end(stacks);
}

/* Processes. */

static void test_processes(void)
{
	begin(0);
	load(1, 10, &called);
	MUST(!sfjit_stacks_fork(stacks, 2, 2, 1, 20));
	MUST(!sfjit_stacks_fork(stacks, 2, 3, 2, 21));
	MUST(!sfjit_stacks_exec(stacks, 1, 30));
	says("a program before exec", walk(1, 29, CODE + 8), CALLED);
	says("and after it", walk(1, 30, CODE + 8), NOTHING);
	says("its child before", walk(2, 19, CODE + 8), NOTHING);
	says("the child", walk(2, 20, CODE + 8), CALLED);
	says("the child, after the exec", walk(2, 30, CODE + 8), CALLED);
	MUST(!sfjit_stacks_fork(stacks, 4, 4, 0, 30));
	says("what runs before a recording has no parent",
	     walk(4, 30, CODE + 8), NOTHING);
	MUST(!sfjit_stacks_exit(stacks, 2, 2, 40));
	sfjit_stacks_settle(stacks, 41);
	says("a thread is left", walk(2, 41, CODE + 8), CALLED);
	MUST(!sfjit_stacks_exit(stacks, 2, 3, 42));
	says("at the end", walk(2, 42, CODE + 8), CALLED);
	sfjit_stacks_settle(stacks, 43);
	says("past the end", walk(2, 43, CODE + 8), NOTHING);
	IS("two processes are left", stats().processes, 2);
	load(4, 50, &called);
	MUST(!sfjit_stacks_fork(stacks, 4, 4, 1, 60));
	says("a number that is used again", walk(4, 60, CODE + 8), NOTHING);
	says("before that", walk(4, 59, CODE + 8), CALLED);
	sfjit_stacks_end(stacks);
}

/* Files. */

/* The first executable segment of this program, at a made-up address. */
static struct sfjit_stacks_mapping self;
static uint64_t self_ip, self_device;

static void read_self(void)
{
	int fd = open("/proc/self/exe", O_RDONLY);
	Elf *elf;
	GElf_Phdr phdr;
	struct stat st;
	size_t i;

	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ, NULL);
	MUST(elf && !fstat(fd, &st));
	for (i = 0; gelf_getphdr(elf, i, &phdr); i++)
		if (phdr.p_type == PT_LOAD && phdr.p_flags & PF_X)
			break;
	self.start = 0x400000 + (phdr.p_vaddr & ~0xfffULL);
	self.offset = phdr.p_offset & ~0xfffULL;
	self.length = (phdr.p_filesz + 0x1fff) & ~0xfffULL;
	self.executable = true;
	self.inode = st.st_ino;
	self_device = st.st_dev;
	elf_end(elf);
	close(fd);
}

static const char *in_directory(const char *name)
{
	static char path[100];

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	return path;
}

/* By its own name: /proc/self/exe is another program's in a shell. */
static const char *own_path(void)
{
	static char exe[200];
	ssize_t n = readlink("/proc/self/exe", exe, sizeof(exe) - 1);

	MUST(n > 0);
	exe[n] = '\0';
	return exe;
}

static void run(const char *command)
{
	char line[400];

	snprintf(line, sizeof(line), "cd %s && %s", directory, command);
	MUST(!system(line));
}

/* Nine segments of code before the others. */
static void add_segments(const char *path)
{
	GElf_Phdr phdr[9 + 32] = { 0 };
	int fd = open(path, O_RDWR), i;
	off_t end = (lseek(fd, 0, SEEK_END) + 7) & -8;
	GElf_Ehdr eh;
	size_t size;

	MUST(pread(fd, &eh, sizeof(eh), 0) == sizeof(eh) && eh.e_phnum <= 32);
	size = eh.e_phnum * sizeof(*phdr);
	for (i = 0; i < 9; i++)
		phdr[i] = (GElf_Phdr) {
			.p_type = PT_LOAD, .p_flags = PF_R | PF_X,
			.p_vaddr = 0x7000000000 + i * 4096, .p_filesz = 1,
			.p_memsz = 1,
		};
	MUST(pread(fd, phdr + 9, size, eh.e_phoff) == (ssize_t)size);
	size += 9 * sizeof(*phdr);
	eh.e_phnum += 9;
	eh.e_phoff = end;
	MUST(pwrite(fd, phdr, size, end) == (ssize_t)size);
	MUST(pwrite(fd, &eh, sizeof(eh), 0) == sizeof(eh));
	close(fd);
}

/* What becomes of a sample in a function of this program in that file. */
static enum sfjit_stacks_reason end_at(uint64_t time, pid_t pid,
				       const char *path, uint64_t inode)
{
	struct sfjit_stacks_mapping m = self;
	uint64_t registers[] = { STACK + 16, STACK, 0 };
	struct sfjit_stacks_sample sample = {
		.pid = pid, .time = time, .mask = MASK, .registers = registers,
		.stack = stack, .stack_length = sizeof(stack),
	};
	static struct found found;

	m.path = path;
	m.inode = inode;
	MUST(!sfjit_stacks_mmap(stacks, pid, time, &m));
	registers[2] = self_ip;
	MUST(find_frames(stacks, &sample, &found) > 0);
	return found.nr > 1 ? SFJIT_STACKS_STOPPED : found.end;
}

static enum sfjit_stacks_reason end_in(pid_t pid, const char *path,
				       uint64_t inode)
{
	return end_at(1, pid, path, inode);
}

/* A function of this program as it is just called. */
__attribute__((noinline, used))
static int target(int n)
{
	return n + 1;
}

static void find_target(void)
{
	extern const char __executable_start[];

	self_ip = 0x400000 + ((uint64_t)target - (uint64_t)__executable_start);
}

static void test_files(void)
{
	const char *exe = own_path();

	begin(0);
	IS("a file", end_in(1, exe, self.inode), SFJIT_STACKS_STOPPED);
	IS("its number not known", end_in(1, exe, 0), SFJIT_STACKS_STOPPED);
	IS("another file now", end_in(1, exe, self.inode + 1),
	   SFJIT_STACKS_NO_FILE);
	IS("no file", end_in(1, in_directory("none"), 0),
	   SFJIT_STACKS_NO_FILE);
	run("mkfifo fifo; echo text > text; : > empty; head -c 5000 copy > cut");
	IS("a FIFO", end_in(1, in_directory("fifo"), 0),
	   SFJIT_STACKS_NO_FILE);
	IS("a text", end_in(1, in_directory("text"), 0), SFJIT_STACKS_NO_TABLE);
	IS("an empty file", end_in(1, in_directory("empty"), 0),
	   SFJIT_STACKS_NO_TABLE);
	IS("the beginning of one", end_in(1, in_directory("cut"), 0),
	   SFJIT_STACKS_NO_TABLE);
	IS("a directory", end_in(1, directory, 0), SFJIT_STACKS_NO_FILE);
	sfjit_stacks_end(stacks);
}

static void test_segments(void)
{
	run("objcopy --remove-section=.note.gnu.build-id copy segments");
	add_segments(in_directory("segments"));
	begin(0);
	IS("a file with ten segments of code",
	   end_in(1, in_directory("segments"), 0), SFJIT_STACKS_STOPPED);
	sfjit_stacks_end(stacks);
}

/* The same content twice, and what makes it another one. */
static void test_one_table(void)
{
	const char *exe = own_path();
	uint64_t bytes;

	run("objcopy --remove-section=.note.gnu.build-id copy other");
	run("cp other other2");
	begin(0);
	IS("a file", end_in(1, exe, 0), SFJIT_STACKS_STOPPED);
	bytes = stats().table_bytes;
	TRUE("its table takes memory", bytes > 1000);
	IS("a copy of it", end_in(2, in_directory("copy"), 0),
	   SFJIT_STACKS_STOPPED);
	IS("has the same table", stats().tables, 1);
	IS("and takes no more", stats().table_bytes, bytes);
	IS("without build-id", end_in(3, in_directory("other"), 0),
	   SFJIT_STACKS_STOPPED);
	IS("it has another", stats().tables, 2);
	IS("and its copy, too", end_in(4, in_directory("other2"), 0),
	   SFJIT_STACKS_STOPPED);
	IS("as nobody knows", stats().tables, 3);
	sfjit_stacks_end(stacks);
}

static void test_build_id(void)
{
	struct sfjit_stacks_mapping m = self;
	uint64_t registers[] = { 0, STACK, 0 };
	struct sfjit_stacks_sample sample = {
		.pid = 1, .mask = MASK, .registers = registers, .stack = stack,
		.stack_length = sizeof(stack),
	};
	static struct found found;

	begin(0);
	registers[2] = self_ip;
	m.path = "/proc/self/exe";
	m.inode = 0;
	m.build_id_length = SFJIT_STACKS_BUILD_ID_MAX;
	MUST(!sfjit_stacks_mmap(stacks, 1, 0, &m));
	MUST(find_frames(stacks, &sample, &found) > 0);
	IS("a file of another build-id", found.end, SFJIT_STACKS_NO_FILE);
	m.build_id_length++;
	IS("one that is too long", sfjit_stacks_mmap(stacks, 1, 0, &m),
	   -EINVAL);
	sfjit_stacks_end(stacks);
}

static void test_many_processes(void)
{
	uint64_t bytes = 0;
	pid_t pid;

	begin(0);
	for (pid = 1; pid <= 300; pid++) {
		MUST(end_in(pid, "/proc/self/exe", 0) ==
		     SFJIT_STACKS_STOPPED);
		if (pid == 1)
			bytes = stats().table_bytes;
	}
	IS("300 processes", stats().processes, 300);
	IS("have one file", stats().files, 1);
	IS("one table", stats().tables, 1);
	IS("once", stats().table_bytes, bytes);
	for (pid = 1; pid <= 300; pid++)
		MUST(!sfjit_stacks_exit(stacks, pid, pid, 2));
	sfjit_stacks_settle(stacks, 3);
	IS("after their end there is none", stats().processes, 0);
	IS("no mapping", stats().mappings, 0);
	IS("no file", stats().files, 0);
	IS("no table", stats().tables, 0);
	IS("no memory", stats().table_bytes, 0);
	sfjit_stacks_end(stacks);
}

static void fill_processes(pid_t first, pid_t last, uint64_t time)
{
	pid_t pid;

	for (pid = first; pid <= last; pid++)
		MUST(end_at(time, pid, "/proc/self/exe", 0) ==
		     SFJIT_STACKS_STOPPED);
}

static void empty_processes(bool exit, uint64_t time)
{
	pid_t pid;

	for (pid = 1; pid <= 300; pid++)
		MUST(!(exit ? sfjit_stacks_exit(stacks, pid, pid, time) :
			      sfjit_stacks_munmap(stacks, pid, time, self.start,
						  self.length)));
	sfjit_stacks_settle(stacks, time + 1);
}

/* Of the sanitizers' library, for which gcc has no header. */
size_t __sanitizer_get_current_allocated_bytes(void);

/* What is allocated, as the allocator counts it. */
static size_t heap(void)
{
	return __sanitizer_get_current_allocated_bytes();
}

/* Processes come, unmap the file, and go. */
static void test_memory_returns(void)
{
	size_t none, one, all, table;
	uint64_t time;

	begin(0);
	fill_processes(1, 1, 1);
	empty_processes(true, 5);
	none = heap();
	for (time = 10; time < 60; time += 10) {
		fill_processes(1, 1, time);
		one = heap();
		table = stats().table_bytes;
		fill_processes(2, 300, time);
		all = heap();
		TRUE("a table is in memory", one - none >= table);
		TRUE("once: others take little", (all - one) / 299 <
		     table / 50);
		empty_processes(false, time + 5);
		TRUE("what is unmapped is given back", all - heap() >= table);
		empty_processes(true, time + 7);
		IS("with the processes all is", heap(), none);
	}
	sfjit_stacks_end(stacks);
}

/* A file without mappings may be mapped again. */
static void test_keep(void)
{
	begin(1 << 30);
	IS("a file", end_in(1, "/proc/self/exe", 0), SFJIT_STACKS_STOPPED);
	MUST(!sfjit_stacks_exec(stacks, 1, 2));
	sfjit_stacks_settle(stacks, 3);
	IS("no file is known", stats().files, 0);
	IS("its table is kept", stats().tables, 1);
	sfjit_stacks_end(stacks);
}

static const struct sfjit_row outermost = { .flags = SFJIT_ROW_OUTERMOST };

static enum sfjit_stacks_reason look(uint64_t time, uint64_t addr)
{
	return sfjit_stacks_look(stacks, 1, time, addr);
}

static void test_look(void)
{
	begin(0);
	IS("look: no process", look(10, CODE), SFJIT_STACKS_NO_MAPPING);
	MUST(!map(1, 10, "//anon"));
	IS("look: memory", look(10, CODE), SFJIT_STACKS_NO_TABLE);
	load(1, 20, &called);
	IS("look: code with a caller", look(20, CODE), SFJIT_STACKS_STOPPED);
	IS("look: after it", look(20, CODE + SIZE), SFJIT_STACKS_NO_MAPPING);
	load(1, 30, &outermost);
	IS("look: code without", look(30, CODE), SFJIT_STACKS_OUTERMOST);
	MUST(!map(1, 40, "/nowhere/file"));
	IS("look: no file", look(40, CODE), SFJIT_STACKS_NO_FILE);
	IS("look: what was before", look(20, CODE), SFJIT_STACKS_STOPPED);
	sfjit_stacks_end(stacks);
}

static void test_is_memory(void)
{
	static const char *const memory[] = {
		"", "//anon", "[heap]", "[stack]", "/memfd:a (deleted)",
		"/dev/zero (deleted)", "/SYSV00000000 (deleted)",
		"/anon_hugepage (deleted)",
	};
	static const char *const files[] = {
		"/bin/sh", "/usr//anon", "/dev/shm/a", "[vdso]",
	};
	size_t i;

	for (i = 0; i < sizeof(memory) / sizeof(*memory); i++)
		IS(memory[i], sfjit_stacks_is_memory(memory[i]), true);
	for (i = 0; i < sizeof(files) / sizeof(*files); i++)
		IS(files[i], sfjit_stacks_is_memory(files[i]), false);
}

static void test_find(void)
{
	struct sfjit_stacks_mapping m;

	begin(0);
	IS("no process", sfjit_stacks_find(stacks, 1, 10, CODE, &m), -ESRCH);
	MUST(!map(1, 10, "/some/file"));
	MUST(!map(1, 20, "//anon"));
	IS("nothing", sfjit_stacks_find(stacks, 1, 10, CODE + SIZE, &m),
	   -ENOENT);
	IS("a file", sfjit_stacks_find(stacks, 1, 19, CODE + 1, &m), 0);
	says("its name", m.path, "/some/file");
	IS("its start", m.start, CODE);
	IS("its offset", m.offset, 0);
	IS("memory", sfjit_stacks_find(stacks, 1, 20, CODE + 1, &m), 0);
	says("has a name, too", m.path, "//anon");
	load(1, 30, &called);
	IS("code", sfjit_stacks_find(stacks, 1, 30, CODE + 1, &m), 0);
	says("has none", m.path, "");
	sfjit_stacks_end(stacks);
}

/* The file at an address of this process. */
static const char *running_at(uint64_t time, const void *address)
{
	struct sfjit_stacks_mapping m;

	if (sfjit_stacks_find(stacks, getpid(), time, (uint64_t)address, &m))
		return "";
	return m.path;
}

static pid_t dead_child(void)
{
	pid_t pid = fork();

	if (!pid)
		_exit(0);
	MUST(waitpid(pid, NULL, 0) == pid);
	return pid;
}

static void test_running(void)
{
	char *code = mmap(NULL, 4096, PROT_READ | PROT_EXEC,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct sfjit_stacks_mapping m;
	pid_t pid = getpid();

	MUST(code != MAP_FAILED);
	begin(0);
	IS("this process", sfjit_stacks_running(stacks, pid, 10), 0);
	says("its program", running_at(10, target), own_path());
	MUST(!sfjit_stacks_find(stacks, pid, 10, (uint64_t)target, &m));
	IS("its inode", m.inode, self.inode);
	IS("its device", makedev(m.device_major, m.device_minor), self_device);
	IS("its offset", m.offset & ~0xfffULL, self.offset);
	says("code without a file", running_at(10, code), "//anon");
	says("no data", running_at(10, &stacks), "");
	says("the vDSO", running_at(10, (void *)getauxval(AT_SYSINFO_EHDR)),
	     "[vdso]");
	says("not before that time", running_at(9, target), "");
	sfjit_stacks_exit(stacks, pid, pid, 11);
	sfjit_stacks_exit(stacks, pid, pid + 1, 11);
	sfjit_stacks_settle(stacks, 12);
	says("after unknown threads ended", running_at(12, target),
	     own_path());
	sfjit_stacks_fork(stacks, pid, pid, 0, 13);
	says("another process with its number", running_at(13, target), "");
	sfjit_stacks_end(stacks);
	begin(0);
	IS("one that has ended", sfjit_stacks_running(stacks, dead_child(), 1),
	   -ESRCH);
	IS("nothing of it stays", stats().processes, 0);
	IS("all processes", sfjit_stacks_running(stacks, 0, 1), 0);
	says("with this one", running_at(1, target), own_path());
	sfjit_stacks_end(stacks);
	munmap(code, 4096);
}

static void test_ranges(void)
{
	struct sfjit_stacks_mapping m = {
		.start = CODE, .path = "//anon", .executable = true,
	};

	begin(0);
	IS("an empty mapping", sfjit_stacks_mmap(stacks, 1, 0, &m), -EINVAL);
	m.length = -CODE;
	IS("one up to the end of memory", sfjit_stacks_mmap(stacks, 1, 0, &m),
	   -EINVAL);
	m.length--;
	IS("one byte less", sfjit_stacks_mmap(stacks, 1, 0, &m), 0);
	IS("nothing unmapped", sfjit_stacks_munmap(stacks, 1, 0, 0, 0),
	   -EINVAL);
	IS("no code unloaded", sfjit_stacks_jit_unload(stacks, 1, 0, 0, 0),
	   -EINVAL);
	says("the end of time", walk(1, UINT64_MAX, CODE + 8), BY_FP);
	sfjit_stacks_end(stacks);
	IS("an ABI without perf",
	   sfjit_stacks_begin(&(struct sfjit_stacks_options) {
		   .abi = SFG_ABI_ELF(ELFDATA2LSB, EM_RISCV) }, &stacks),
	   -ENOTSUP);
	IS("no ABI", sfjit_stacks_begin(&(struct sfjit_stacks_options) {
		   .abi = 99 }, &stacks), -ENOTSUP);
	sfjit_stacks_end(NULL);
}

int main(void)
{
	char copy[300];

	MUST(mkdtemp(directory));
	fill_stack();
	read_self();
	find_target();
	snprintf(copy, sizeof(copy), "cp %s copy", own_path());
	run(copy);
	test_code();
	test_code_over_memory();
	test_kinds();
	test_samples();
	test_callback();
	test_many_frames();
	test_processes();
	test_files();
	test_segments();
	test_one_table();
	test_build_id();
	test_many_processes();
	test_memory_returns();
	test_keep();
	test_is_memory();
	test_find();
	test_look();
	test_running();
	test_ranges();
	run("rm -rf $PWD");
	return finish();
}
