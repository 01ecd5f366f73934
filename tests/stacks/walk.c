// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/*
 * Description: each instruction of a program has the frames that its calls made.
 *
 * The program steps through itself and notes calls and returns by what becomes
 * of the stack pointer. The samples are judged afterwards: what is stepped may
 * hold malloc()'s lock.
 */
#include <execinfo.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <ucontext.h>

#include "test.h"

#define MAX_SAMPLES	120000
#define MAX_STACK	(64 << 10)
#define MAX_DEPTH	64
#define ROOM		(1ULL << 31)
#define TRAP_FLAG	0x100

/* Bits of perf's registers on x86-64, and where a signal handler has them. */
static const uint8_t gregs[24] = {
	REG_RAX, REG_RBX, REG_RCX, REG_RDX, REG_RSI, REG_RDI, REG_RBP, REG_RSP,
	REG_RIP, 0, 0, 0, 0, 0, 0, 0,
	REG_R8, REG_R9, REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15,
};
#define MASK		0xff01ffULL

struct call {
	uint64_t ra, sp;		/* and where it is stored */
};

struct step {
	uint64_t registers[17];
	uint32_t stack_length, depth;
	struct call calls[MAX_DEPTH];	/* the first is the outermost */
};

static uint8_t *samples;		/* steps, each with its stack */
static size_t used, nr_samples;
static struct call calls[MAX_DEPTH];
static unsigned int depth;
static uint64_t last_pc, last_sp, stack_end;
static bool overflow;

static void note_calls(uint64_t pc, uint64_t sp)
{
	uint64_t ra;

	while (depth && sp > calls[depth - 1].sp)
		depth--;
	if (sp != last_sp - 8)
		return;
	ra = *(uint64_t *)sp;
	/* a push leads to the next instruction, a call stores where that is */
	if (ra - last_pc < 2 || ra - last_pc > 8 || pc - last_pc < 16)
		return;
	if (depth == MAX_DEPTH)
		overflow = true;
	else
		calls[depth++] = (struct call) { ra, sp };
}

static void note_sample(const greg_t *regs)
{
	struct step *step = (struct step *)(samples + used);
	uint64_t sp = regs[REG_RSP];
	size_t length = stack_end - sp, nr = 0, i;

	if (length > MAX_STACK || nr_samples == MAX_SAMPLES ||
	    used + sizeof(*step) + length > ROOM) {
		overflow = true;
		return;
	}
	for (i = 0; i < sizeof(gregs); i++)
		if (MASK >> i & 1)
			step->registers[nr++] = regs[gregs[i]];
	step->stack_length = length;
	step->depth = depth;
	memcpy(step->calls, calls, depth * sizeof(*calls));
	memcpy(step + 1, (void *)sp, length);
	used += (sizeof(*step) + length + 15) & ~15UL;
	nr_samples++;
}

static void on_step(int signal, siginfo_t *info, void *context)
{
	greg_t *regs = ((ucontext_t *)context)->uc_mcontext.gregs;

	note_calls(regs[REG_RIP], regs[REG_RSP]);
	last_pc = regs[REG_RIP];
	last_sp = regs[REG_RSP];
	note_sample(regs);
}

/* The instruction after popfq is the first that traps. */
#define FLAGS(change) \
	__asm__ volatile("pushfq\n\t" change "\n\tpopfq\n\tnop" \
			 ::: "memory", "cc")

/* What libgcc says of the frame below which calls are noted. */
static void *base[MAX_DEPTH];
static int nr_base;

/* With a frame pointer: its push has no call frame information. */
__attribute__((noinline, optimize("no-omit-frame-pointer")))
static void step_through(void (*function)(void))
{
	used = nr_samples = depth = 0;
	nr_base = backtrace(base, MAX_DEPTH);
	FLAGS("orq $0x100, (%%rsp)");
	function();
	FLAGS("andq $~0x100, (%%rsp)");
}

/* What is stepped through. */

static volatile int sink;
static volatile double number = 0.7;

__attribute__((noinline))
static int compare(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

__attribute__((noinline))
static int with_array(int n)
{
	volatile char array[n * 16];

	array[0] = n;
	return array[0] + n;
}

__attribute__((noinline))
static int many_registers(int a, int b, int c, int d, int e, int f, int g)
{
	int x = with_array(a), y = with_array(b), z = with_array(c);
	int u = with_array(d), v = with_array(e), w = with_array(f);

	return x + y * z + u * v + w * g + a + b + c + d + e + f;
}

__attribute__((noinline, optimize("no-omit-frame-pointer")))
static int with_frame_pointer(int n)
{
	volatile int more = n ? with_frame_pointer(n - 1) :
				many_registers(1, 2, 3, 4, 5, 6, 7);

	return more + n;
}

static void own_code(void)
{
	sink = with_frame_pointer(30);
}

/* Stripped, with rows of many kinds; by lazy binding, too. */
static void library_code(void)
{
	int numbers[] = { 5, 2, 9, 1, 7, 3 };
	char text[64];

	qsort(numbers, 6, sizeof(int), compare);
	snprintf(text, sizeof(text), "%d %s %.9g", numbers[0], "text", number);
	sink = strtol(text, NULL, 10) + strlen(text) +
	       (strstr(text, "xt") != NULL);
}

/* The first call binds it: through ld.so. */
static void binding_code(void)
{
	sink = hypot(number, number) > 1;
}

/* The C library calls the kernel's code for it, which no file has. */
static void kernel_code(void)
{
	struct timespec now;
	int i;

	for (i = 0; i < 5; i++)
		clock_gettime(CLOCK_MONOTONIC, &now);
	sink = now.tv_nsec;
}

/*
 * No call frame information, as of V8's builtins: with a frame pointer, and
 * without. Traps before a function tell where it begins.
 */
__asm__(".pushsection .text\n\t"
	".balign 32, 0xcc\n\t"
	".skip 32, 0xcc\n"
	"bare_leaf:\n\t"
	"push %rbx\n\t"
	"mov %rdi, %rbx\n\t"
	"lea 1(%rbx), %rax\n\t"
	"pop %rbx\n\t"
	"ret\n\t"
	".balign 32, 0xcc\n\t"
	".skip 32, 0xcc\n"
	"bare_caller:\n\t"
	"push %rbp\n\t"
	"mov %rsp, %rbp\n\t"
	"sub $32, %rsp\n\t"
	"call bare_called\n\t"
	"mov %rax, -8(%rbp)\n\t"
	"mov %rbp, %rsp\n\t"
	"pop %rbp\n\t"
	"ret\n\t"
	".skip 32, 0xcc\n\t"
	".popsection\n\t");

int bare_leaf(int n), bare_caller(int n), bare_called(int n);

int bare_called(int n)
{
	return with_array(n) + 1;
}

static void bare_code(void)
{
	int i;

	for (i = 1; i <= 5; i++)
		sink = bare_caller(i) + bare_leaf(i);
}

/* Judging. */

static uint64_t expected(const struct step *step, unsigned int frame)
{
	if (frame == 0)
		return step->registers[8];
	if (frame <= step->depth)
		return step->calls[step->depth - frame].ra;
	return (uint64_t)base[frame - step->depth];
}

static bool judge_step(const struct step *step, const struct found *found,
		       char *why, size_t size)
{
	unsigned int i, nr = step->depth + nr_base;
	const char *end = sfjit_stacks_end_text(found->end);

	for (i = 0; i < nr; i++) {
		if (i < (unsigned int)found->nr &&
		    found->frame[i].ip == expected(step, i))
			continue;
		snprintf(why, size, "pc %#" PRIx64 ": frame %u of %d is not %#"
			 PRIx64 ", %s", step->registers[8], i, found->nr,
			 expected(step, i), end);
		return false;
	}
	snprintf(why, size, "pc %#" PRIx64 ": %d frames, expected %u, %s",
		 step->registers[8], found->nr, nr, end);
	return found->nr == (int)nr && found->end == SFJIT_STACKS_OUTERMOST;
}

static struct sfjit_stacks_sample sample_of(const struct step *step)
{
	return (struct sfjit_stacks_sample) {
		.pid = 1, .time = 1, .mask = MASK,
		.registers = step->registers, .stack = step + 1,
		.stack_length = step->stack_length,
	};
}

static void judge(const char *name, struct sfjit_stacks *stacks)
{
	struct sfjit_stacks_sample sample;
	static struct found found;
	const struct step *step;
	char why[200] = "";
	bool good = true;
	size_t at = 0, i;

	for (i = 0; i < nr_samples && good; i++) {
		step = (const struct step *)(samples + at);
		sample = sample_of(step);
		MUST(find_frames(stacks, &sample, &found) > 0);
		good = judge_step(step, &found, why, sizeof(why));
		at += (sizeof(*step) + step->stack_length + 15) & ~15UL;
	}
	printf("# %s: %zu instructions\n", name, nr_samples);
	result(good && !overflow && nr_samples > 100, name,
	       "instruction %zu of %zu%s: %s", i, nr_samples,
	       overflow ? ", too many" : "", why);
}

static void find_vdso(struct sfjit_stacks_mapping *vdso)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	char path[256] = "";

	MUST(maps);
	while (strcmp(path, "[vdso]"))
		MUST(read_mapping(maps, vdso, path));
	fclose(maps);
}

/* Whether what was stepped through is what the test is about. */
static void count_in_vdso(void)
{
	struct sfjit_stacks_mapping vdso;
	const struct step *step;
	size_t at = 0, nr = 0, i;

	find_vdso(&vdso);
	for (i = 0; i < nr_samples; i++) {
		step = (const struct step *)(samples + at);
		nr += step->registers[8] - vdso.start < vdso.length;
		at += (sizeof(*step) + step->stack_length + 15) & ~15UL;
	}
	printf("# vDSO: %zu instructions in it\n", nr);
	result(nr >= 5, "vDSO: its code runs", "%zu of %zu instructions", nr,
	       nr_samples);
}

/* Each instruction of the two is the topmost frame five times. */
static void count_by_code(void)
{
	const struct step *step;
	size_t at = 0, nr = 0, i;

	for (i = 0; i < nr_samples; i++) {
		step = (const struct step *)(samples + at);
		nr += step->registers[8] - (uint64_t)bare_leaf < 14 ||
		      step->registers[8] - (uint64_t)bare_caller < 23;
		at += (sizeof(*step) + step->stack_length + 15) & ~15UL;
	}
	result(nr == 5 * 13, "code without rules runs",
	       "%zu of %zu instructions", nr, nr_samples);
}

static void test(const char *name, void (*function)(void),
		 struct sfjit_stacks *stacks)
{
	step_through(function);
	judge(name, stacks);
}

/* Signals: two breakpoints, one in the handler of the other. */

static bool in_handler;

#define BREAKPOINT(label) \
	__asm__ volatile("int3\n\t.globl " #label "\n" #label ":" ::: "memory")

extern const char after_first[], after_second[];

static void on_breakpoint(int signal, siginfo_t *info, void *context)
{
	if (in_handler) {
		used = nr_samples = 0;
		note_sample(((ucontext_t *)context)->uc_mcontext.gregs);
		return;
	}
	in_handler = true;
	BREAKPOINT(after_second);
	in_handler = false;
}

__attribute__((noinline))
static void interrupted(void)
{
	nr_base = backtrace(base, MAX_DEPTH);
	BREAKPOINT(after_first);
}

/*
 * The handler, the code that ends it, what it interrupted, by its exact
 * address, and what called that.
 */
static bool signal_frames_are_right(const struct found *found)
{
	int i;

	if (found->nr != nr_base + 2 ||
	    found->frame[0].ip != (uint64_t)after_second ||
	    found->frame[2].ip != (uint64_t)after_first ||
	    found->frame[1].flags ||
	    found->frame[2].flags != SFJIT_STACKS_AFTER_SIGNAL)
		return false;
	for (i = 1; i < nr_base; i++)
		if (found->frame[i + 2].ip != (uint64_t)base[i] ||
		    found->frame[i + 2].flags)
			return false;
	return found->end == SFJIT_STACKS_OUTERMOST;
}

static void handle(void (*handler)(int, siginfo_t *, void *), int flags)
{
	struct sigaction action = {
		.sa_sigaction = handler, .sa_flags = SA_SIGINFO | flags,
	};

	MUST(!sigaction(SIGTRAP, &action, NULL));
}

static void test_signal(struct sfjit_stacks *stacks)
{
	struct sfjit_stacks_sample sample;
	static struct found found;

	handle(on_breakpoint, SA_NODEFER);
	interrupted();
	MUST(nr_samples == 1);
	sample = sample_of((struct step *)samples);
	MUST(find_frames(stacks, &sample, &found) > 0);
	result(signal_frames_are_right(&found), "signal handler",
	       "%d frames, %d expected, %s", found.nr, nr_base + 2,
	       sfjit_stacks_end_text(found.end));
}

int main(void)
{
	struct sfjit_stacks *stacks;

	MUST(!sfjit_stacks_begin(NULL, &stacks));
	TRUE("the registers that perf has",
	     sfjit_stacks_registers(stacks) == MASK);
	samples = mmap(NULL, ROOM, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	MUST(samples != MAP_FAILED);
	stack_end = (uint64_t)__builtin_frame_address(0) + 512;
	backtrace((void *[1]) { NULL }, 1);
	handle(on_step, 0);
	track_self(stacks, 1, 0);
	test("own code", own_code, stacks);
	test("library code", library_code, stacks);
	test("lazy binding", binding_code, stacks);
	test("code without rules", bare_code, stacks);
	count_by_code();
	test("vDSO", kernel_code, stacks);
	count_in_vdso();
	test_signal(stacks);
	sfjit_stacks_end(stacks);
	return finish();
}
