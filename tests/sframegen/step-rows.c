// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/*
 * step-rows [-v VISITS] [-n STEPS] PROGRAM [ARGUMENT...]: rows, by execution.
 *
 * Runs the program up to each place where a call enters code without CFI, and
 * from there on instruction by instruction until that call returns. Each call
 * tells where its return address is and what the frame pointer was; the row at
 * each instruction has to find both. Rows from CFI on the way are compared, too.
 *
 * Each such place is visited VISITS times (default 4), and left after STEPS
 * steps (100,000). Prints for each file how many steps and addresses were
 * compared, and the first 5 wrong ones. Exit status 1: a row is wrong; 2: the
 * program cannot be followed.
 */
#define _GNU_SOURCE
#include <elf.h>
#include <grow.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/personality.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "commands.h"
#include "object.h"
#include "x86_insn.h"

#define MAX_DEPTH	1024
#define MAX_THREADS	64
#define MAX_MODULES	64
#define MAX_CALLEES	4096
#define MAX_INSN	15
#define INT3		0xcc
#define TRAP_FLAG	0x100ULL

enum { DERIVED, FROM_CFI, NO_ROW, NR_KINDS };

struct module {
	char path[4096];
	uint64_t start, end, bias;
	struct object f;
	struct sfg_fdes cfi, all;
	uint8_t *seen;		/* for each byte: an address that was compared */
	uint64_t steps[NR_KINDS], addresses[NR_KINDS], wrong[NR_KINDS];
};

struct breakpoint {
	uint64_t addr;
	uint8_t byte;		/* that it replaces */
	bool set;
	long visits;
};

/* A call: where its return address is, and the frame pointer of the caller. */
struct call {
	uint64_t at, address, fp;
	struct callee *callee;	/* NULL: each row was true so far */
	uint64_t entry;
};

/*
 * A function that may leave another frame pointer, for callers that know it: rows
 * in it that do not find the one at its entry are not wrong then.
 */
struct callee {
	uint64_t entry;
	struct module *m;
	bool changes_fp;
	uint64_t doubts[NR_KINDS];
	char *first;
};

/* At one step; 'text' and 'callee' or NULL. */
struct result {
	struct module *m;
	uint64_t addr;
	unsigned int kind;
	char *text;		/* the CFA is wrong */
	struct callee *callee;	/* the frame pointer is another one */
};

/*
 * The first call of a visit was not seen: what looks like its return address may be
 * left over in a frame. Results that rely on it count if it returns there.
 */
struct thread {
	pid_t tid;		/* 0: free */
	bool steps;
	long nr_steps;
	uint64_t pc;		/* that is executed by the next step */
	uint64_t behind_call;	/* where that returns to, if it is a call */
	bool jumps;		/* to an address that it does not name */
	unsigned int depth;
	struct call calls[MAX_DEPTH];
	struct result *results;
	size_t nr_results, max_results;
};

static struct module modules[MAX_MODULES];
static struct breakpoint *breakpoints;
static struct callee callees[MAX_CALLEES];
static size_t nr_modules, nr_breakpoints, nr_callees;
static struct thread threads[MAX_THREADS];
static long max_visits = 4, max_steps = 100000, left_to_show = 5;
static uint64_t returned, elsewhere, not_called, cut, left_out, replaced;
static uint64_t not_kept;

static void fail(const char *what)
{
	fprintf(stderr, "step-rows: %s\n", what);
	exit(2);
}

/* ---- The program's memory ---------------------------------------------- */

static bool peek(pid_t tid, uint64_t addr, void *data, size_t len)
{
	struct iovec here = { data, len }, there = { (void *)addr, len };

	return process_vm_readv(tid, &here, 1, &there, 1, 0) == (ssize_t)len;
}

static void poke_byte(pid_t tid, uint64_t addr, uint8_t byte)
{
	uint64_t word = ptrace(PTRACE_PEEKDATA, tid, addr & ~7ULL, 0);
	unsigned int shift = 8 * (addr & 7);

	word = (word & ~(0xffULL << shift)) | (uint64_t)byte << shift;
	if (ptrace(PTRACE_POKEDATA, tid, addr & ~7ULL, word))
		fail("a breakpoint cannot be set: no such memory");
}

static void set(struct breakpoint *b, pid_t tid, bool on)
{
	if (!b || b->set == on)
		return;
	poke_byte(tid, b->addr, on ? INT3 : b->byte);
	b->set = on;
}

static struct breakpoint *find_breakpoint(uint64_t addr)
{
	size_t lo = 0, hi = nr_breakpoints, mid;

	while (lo < hi) {
		mid = lo + (hi - lo) / 2;
		if (breakpoints[mid].addr < addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < nr_breakpoints && breakpoints[lo].addr == addr ?
	       &breakpoints[lo] : NULL;
}

/* ---- Files --------------------------------------------------------------- */

static struct module *module_at(uint64_t addr)
{
	size_t i;

	for (i = 0; i < nr_modules; i++)
		if (addr >= modules[i].start && addr < modules[i].end)
			return &modules[i];
	return NULL;
}

static const struct sfjit_function *function_at(const struct sfg_fdes *fdes,
						uint64_t addr)
{
	size_t lo = 0, hi = fdes->nr, mid;

	while (lo < hi) {
		mid = lo + (hi - lo) / 2;
		if (fdes->fdes[mid].addr <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (!lo || addr - fdes->fdes[lo - 1].addr >= fdes->fdes[lo - 1].size)
		return NULL;
	return &fdes->fdes[lo - 1];
}

static const struct sfjit_row *row_at(const struct sfjit_function *f,
				      uint64_t addr)
{
	uint64_t at = addr - f->addr;
	uint32_t i;

	if (f->repeat)
		at %= f->repeat;
	for (i = f->nr_rows; i > 0; i--)
		if (f->rows[i - 1].start <= at)
			return &f->rows[i - 1];
	return NULL;
}

static bool derive(struct module *m)
{
	struct sfg_input in;
	struct sfg_summary sum;

	if (object_open(&m->f, m->path) || object_read_go(&m->f) ||
	    object_read_cfi(&m->f) || object_read_entries(&m->f))
		return false;
	in = object_input(&m->f);
	in.flags |= SFG_INPUT_ADDENDS;
	in.flags &= ~SFG_INPUT_CODE;
	in.go = NULL;
	if (sfg_derive(&in, &m->cfi, &sum, NULL))
		return false;
	in.go = object_input(&m->f).go;
	in.flags |= SFG_INPUT_CODE;
	return !sfg_derive(&in, &m->all, &sum, NULL);
}

/* Addresses of the process minus those of the file. */
static bool find_bias(struct module *m, uint64_t offset)
{
	const struct object_code *code = m->f.segments;
	size_t i;

	for (i = 0; i < m->f.nr_text; i++)
		if (code[i].file_offset < offset + (m->end - m->start) &&
		    code[i].file_offset + code[i].len > offset) {
			m->bias = m->start - (code[i].addr + offset -
					      code[i].file_offset);
			return true;
		}
	return false;
}

static void add_module(const char *line)
{
	struct module *m = &modules[nr_modules];
	uint64_t offset;
	char may[5];

	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64
		   " %*s %*s %4095s", &m->start, &m->end, may, &offset,
		   m->path) != 5 || may[2] != 'x' || m->path[0] != '/')
		return;
	if (nr_modules + 1 == MAX_MODULES)
		fail("the program has too many files mapped");
	if (!derive(m) || !find_bias(m, offset)) {
		memset(m, 0, sizeof(*m));
		return;
	}
	m->seen = calloc(m->end - m->start, 1);
	if (!m->seen)
		fail("out of memory");
	nr_modules++;
}

static void add_breakpoints(struct module *m)
{
	const struct sfjit_function *f = m->all.fdes;
	struct breakpoint *more;
	uint64_t end = 0;
	size_t i;

	more = realloc(breakpoints, (nr_breakpoints + m->all.nr + 1) *
				    sizeof(*more));
	if (!more)
		fail("out of memory");
	breakpoints = more;
	for (i = 0; i < m->all.nr; i++, f++) {
		if (f->addr != end && !function_at(&m->cfi, f->addr))
			breakpoints[nr_breakpoints++] = (struct breakpoint) {
				.addr = f->addr + m->bias,
			};
		end = function_at(&m->cfi, f->addr) ? 0 : f->addr + f->size;
	}
}

/* Maps are in order of address, and so are breakpoints. */
static void prepare(pid_t tid)
{
	char path[64], line[8192];
	FILE *maps;
	size_t i;

	snprintf(path, sizeof(path), "/proc/%d/maps", tid);
	maps = fopen(path, "r");
	while (maps && fgets(line, sizeof(line), maps))
		add_module(line);
	if (!maps || fclose(maps))
		fail("the program's mappings cannot be read");
	for (i = 0; i < nr_modules; i++)
		add_breakpoints(&modules[i]);
	for (i = 0; i < nr_breakpoints; i++) {
		if (!peek(tid, breakpoints[i].addr, &breakpoints[i].byte, 1))
			fail("the program's code cannot be read");
		set(&breakpoints[i], tid, true);
	}
}

/* ---- Comparison ---------------------------------------------------------- */

static uint64_t reg(const struct user_regs_struct *r, unsigned int dwarf)
{
	const uint64_t values[16] = {
		r->rax, r->rdx, r->rcx, r->rbx, r->rsi, r->rdi, r->rbp, r->rsp,
		r->r8, r->r9, r->r10, r->r11, r->r12, r->r13, r->r14, r->r15,
	};

	return dwarf < 16 ? values[dwarf] : 0;
}

static uint64_t value_of(pid_t tid, const struct sfjit_rule *rule,
			 const struct user_regs_struct *r, uint64_t cfa)
{
	uint64_t value = rule->base == SFJIT_BASE_CFA ? cfa : reg(r, rule->reg);

	value += (int64_t)rule->offset;
	if (rule->deref && !peek(tid, value, &value, sizeof(value)))
		return 0;
	return value + (int64_t)rule->addend;
}

static bool cfa_is_true(const struct thread *t, const struct call *call,
			const struct user_regs_struct *r,
			const struct sfjit_row *row)
{
	return !(row->flags & SFJIT_ROW_OUTERMOST) &&
	       row->ra.base == SFJIT_BASE_NONE &&
	       value_of(t->tid, &row->cfa, r, 0) == call->at + 8;
}

static bool fp_is_true(const struct thread *t, const struct call *call,
		       const struct user_regs_struct *r,
		       const struct sfjit_row *row)
{
	uint64_t fp = row->fp.base == SFJIT_BASE_NONE ? r->rbp :
		      value_of(t->tid, &row->fp, r, call->at + 8);

	return fp == call->fp;
}

static void show(const char *text)
{
	if (left_to_show-- > 0)
		printf("wrong: %s\n", text);
}

static char *describe(const struct module *m, const struct call *call,
		      const struct user_regs_struct *r,
		      const struct sfjit_row *row)
{
	char text[ROW_TEXT_MAX], *all;

	format_row(SFRAME_ABI_AMD64_LE, row, text);
	if (asprintf(&all, "0x%llx of %s: %s; CFA 0x%" PRIx64 " FP 0x%" PRIx64
		     ", sp 0x%llx fp 0x%llx", r->rip - m->bias,
		     strrchr(m->path, '/') + 1, text, call->at + 8, call->fp,
		     r->rsp, r->rbp) < 0)
		fail("out of memory");
	return all;
}

static struct callee *callee_of(uint64_t entry)
{
	size_t i;

	for (i = 0; i < nr_callees; i++)
		if (callees[i].entry == entry)
			return &callees[i];
	if (nr_callees == MAX_CALLEES)
		fail("too many functions change the frame pointer");
	callees[nr_callees].entry = entry;
	return &callees[nr_callees++];
}

static void judge(const struct thread *t, struct call *call,
		  const struct user_regs_struct *r,
		  const struct sfjit_row *row, struct result *result)
{
	if (!cfa_is_true(t, call, r, row)) {
		result->text = describe(result->m, call, r, row);
	} else if (!fp_is_true(t, call, r, row)) {
		result->callee = call->callee = callee_of(call->entry);
		if (!call->callee->first)
			call->callee->first = describe(result->m, call, r, row);
	}
}

static void count(const struct result *result)
{
	struct module *m = result->m;

	m->steps[result->kind]++;
	m->addresses[result->kind] += !m->seen[result->addr - m->start];
	m->seen[result->addr - m->start] = 1;
	if (result->text) {
		m->wrong[result->kind]++;
		show(result->text);
	} else if (result->callee) {
		result->callee->m = m;
		result->callee->doubts[result->kind]++;
	}
}

static void keep(struct thread *t, const struct result *result)
{
	if (!grow_array(&t->results, &t->max_results, t->nr_results,
			sizeof(*t->results)))
		fail("out of memory");
	t->results[t->nr_results++] = *result;
}

static void end_visit(struct thread *t, bool good)
{
	size_t i;

	for (i = 0; i < t->nr_results; i++) {
		if (good)
			count(&t->results[i]);
		else
			left_out++;
		free(t->results[i].text);
	}
	t->nr_results = 0;
	t->depth = 0;
}

/* The wrong ones are in functions that always return with the same one. */
static void end_doubts(const struct callee *callee)
{
	unsigned int k;

	if (!callee->m)
		return;
	for (k = 0; k < NR_KINDS; k++)
		if (callee->changes_fp)
			not_kept += callee->doubts[k];
		else
			callee->m->wrong[k] += callee->doubts[k];
	if (!callee->changes_fp)
		show(callee->first);
}

static void compare(struct thread *t, const struct user_regs_struct *r)
{
	struct call *call = &t->calls[t->depth - 1];
	struct result result = { .m = module_at(r->rip), .addr = r->rip };
	const struct module *m = result.m;
	const struct sfjit_function *f;
	const struct sfjit_row *row;
	uint64_t address;

	if (!m)
		return;
	/* Code that replaces it returns elsewhere: there is no caller to find. */
	if (!peek(t->tid, call->at, &address, sizeof(address)) ||
	    address != call->address) {
		replaced++;
		return;
	}
	f = function_at(&m->all, r->rip - m->bias);
	row = f ? row_at(f, r->rip - m->bias) : NULL;
	/* Go's runtime ends stacks there, and goes on elsewhere. */
	if (row && row->flags & SFJIT_ROW_OUTERMOST)
		row = NULL;
	result.kind = !row ? NO_ROW :
		      function_at(&m->cfi, r->rip - m->bias) ? FROM_CFI :
							       DERIVED;
	if (row)
		judge(t, call, r, row, &result);
	if (t->depth == 1) {
		keep(t, &result);
		return;
	}
	count(&result);
	free(result.text);
}

/* ---- Steps --------------------------------------------------------------- */

/* A call of the next instruction is a push of its address. */
static bool is_call(const struct insn *insn)
{
	return !insn->map && ((insn->op == 0xe8 && insn->imm) ||
			      (insn->op == 0xff && (insn->reg & 7) == 2));
}

/* Whether some bytes that end at this address decode as a call. */
static bool is_behind_call(pid_t tid, uint64_t addr)
{
	uint8_t code[8];
	struct insn insn;
	size_t n;

	if (!peek(tid, addr - sizeof(code), code, sizeof(code)))
		return false;
	for (n = 2; n <= 7; n++)
		if (sfg_insn_decode(code + sizeof(code) - n, n, &insn) &&
		    insn.length == n && is_call(&insn))
			return true;
	return false;
}

/* The return address is where the stack pointer is. */
static void enter(struct thread *t, const struct user_regs_struct *r,
		  uint64_t address)
{
	if (t->depth == MAX_DEPTH)
		fail("calls are too deep");
	t->calls[t->depth++] = (struct call) {
		.at = r->rsp, .address = address, .fp = r->rbp,
		.entry = r->rip,
	};
}

static void step(struct thread *t, const struct user_regs_struct *r)
{
	uint8_t code[MAX_INSN] = { 0 };
	struct insn insn;
	size_t n = MAX_INSN;

	set(find_breakpoint(r->rip), t->tid, false);
	while (n && !peek(t->tid, r->rip, code, n))
		n--;
	t->pc = r->rip;
	if (!sfg_insn_decode(code, n, &insn))
		memset(&insn, 0, sizeof(insn));
	t->behind_call = is_call(&insn) ? r->rip + insn.length : 0;
	t->jumps = !insn.map && insn.op == 0xff && (insn.reg & 7) == 4;
	if (t->depth)
		compare(t, r);
	t->steps = true;
	ptrace(PTRACE_SINGLESTEP, t->tid, 0, 0);
}

static void go_on(struct thread *t, int sig)
{
	t->steps = false;
	end_visit(t, false);
	ptrace(PTRACE_CONT, t->tid, 0, sig);
}

static void visit(struct thread *t, struct user_regs_struct *r)
{
	struct breakpoint *b = find_breakpoint(r->rip - 1);
	uint64_t address;

	if (!b) {
		go_on(t, SIGTRAP);
		return;
	}
	r->rip--;
	ptrace(PTRACE_SETREGS, t->tid, 0, r);
	b->visits++;
	t->nr_steps = 0;
	if (peek(t->tid, r->rsp, &address, sizeof(address)) &&
	    is_behind_call(t->tid, address))
		enter(t, r, address);
	else
		not_called++;
	step(t, r);
}

/* More than one at once: by longjmp(). */
static void leave(struct thread *t, const struct user_regs_struct *r)
{
	const struct call *call;

	while (t->depth && r->rsp > t->calls[t->depth - 1].at) {
		t->depth--;
		call = &t->calls[t->depth];
		if (call->callee && call->fp != r->rbp)
			call->callee->changes_fp = true;
		if (t->depth)
			continue;
		returned += r->rip == call->address;
		elsewhere += r->rip != call->address;
		end_visit(t, r->rip == call->address);
	}
}

/*
 * A function jumps to another one where its frame is gone, or, as Go's scheduler,
 * to code that runs on another stack.
 */
static bool changes_stack(const struct thread *t,
			  const struct user_regs_struct *r)
{
	const struct module *from = module_at(t->pc), *to = module_at(r->rip);

	return t->jumps && t->depth && r->rsp != t->calls[t->depth - 1].at &&
	       (from != to || !from || function_at(&from->all, t->pc - from->bias) !=
				       function_at(&to->all, r->rip - to->bias));
}

/* After popf the kernel takes the flag of its steps for the program's own. */
static void clear_trap_flag(const struct thread *t, struct user_regs_struct *r)
{
	if (!(r->eflags & TRAP_FLAG))
		return;
	r->eflags &= ~TRAP_FLAG;
	ptrace(PTRACE_SETREGS, t->tid, 0, r);
}

/* Another thread may have set the breakpoint again. */
static bool was_trapped(const struct thread *t)
{
	siginfo_t info;

	return !ptrace(PTRACE_GETSIGINFO, t->tid, 0, &info) &&
	       info.si_code == SI_KERNEL;
}

static void stepped(struct thread *t, struct user_regs_struct *r)
{
	struct breakpoint *b = find_breakpoint(t->pc);

	if (was_trapped(t)) {
		r->rip = t->pc;
		ptrace(PTRACE_SETREGS, t->tid, 0, r);
		step(t, r);
		return;
	}
	clear_trap_flag(t, r);
	if (b && b->visits < max_visits)
		set(b, t->tid, true);
	if (t->depth && t->behind_call)
		enter(t, r, t->behind_call);
	leave(t, r);
	if (changes_stack(t, r)) {
		elsewhere++;
		end_visit(t, false);
	}
	if (t->depth && ++t->nr_steps >= max_steps) {
		cut++;
		end_visit(t, false);
	}
	if (t->depth)
		step(t, r);
	else
		go_on(t, 0);
}

/* ---- Threads ----------------------------------------------------------- */

static struct thread *thread_of(pid_t tid)
{
	struct thread *unused = NULL;
	unsigned int i;

	for (i = 0; i < MAX_THREADS; i++) {
		if (threads[i].tid == tid)
			return &threads[i];
		if (!threads[i].tid && !unused)
			unused = &threads[i];
	}
	if (!unused)
		fail("the program has too many threads");
	*unused = (struct thread) { .tid = tid };
	return unused;
}

static void stopped(pid_t tid, int status)
{
	struct thread *t = thread_of(tid);
	struct user_regs_struct regs;
	int sig = WSTOPSIG(status);

	if (status >> 16) {
		/* Of the system call that made a thread. */
		ptrace(t->steps ? PTRACE_SINGLESTEP : PTRACE_CONT, tid, 0, 0);
	} else if (sig == SIGSTOP) {
		go_on(t, 0);
	} else if (sig != SIGTRAP) {
		cut += t->depth > 0;
		go_on(t, sig);
	} else if (!ptrace(PTRACE_GETREGS, tid, 0, &regs)) {
		if (t->steps)
			stepped(t, &regs);
		else
			visit(t, &regs);
	}
}

static void follow(pid_t pid)
{
	int status;
	pid_t tid;

	while ((tid = waitpid(-1, &status, __WALL)) > 0) {
		if (WIFSTOPPED(status)) {
			stopped(tid, status);
			continue;
		}
		if (tid == pid && (!WIFEXITED(status) || WEXITSTATUS(status)))
			fail("the program failed");
		thread_of(tid)->tid = 0;
	}
}

/* ---- Main ---------------------------------------------------------------- */

static uint64_t entry_of(pid_t pid)
{
	Elf64_auxv_t v = { 0 };
	uint64_t entry = 0;
	char path[64];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/auxv", pid);
	f = fopen(path, "r");
	while (f && fread(&v, sizeof(v), 1, f) == 1)
		if (v.a_type == AT_ENTRY)
			entry = v.a_un.a_val;
	if (!f || fclose(f) || !entry)
		fail("the program's entry point is not known");
	return entry;
}

/* Where the program begins, its libraries are mapped. */
static void run_to_entry(pid_t pid)
{
	struct breakpoint b = { .addr = entry_of(pid) };
	struct user_regs_struct regs;
	int status;

	peek(pid, b.addr, &b.byte, 1);
	set(&b, pid, true);
	ptrace(PTRACE_CONT, pid, 0, 0);
	if (waitpid(pid, &status, 0) != pid || !WIFSTOPPED(status) ||
	    WSTOPSIG(status) != SIGTRAP ||
	    ptrace(PTRACE_GETREGS, pid, 0, &regs))
		fail("the program does not begin");
	set(&b, pid, false);
	regs.rip = b.addr;
	ptrace(PTRACE_SETREGS, pid, 0, &regs);
}

static pid_t start(char **argv)
{
	pid_t pid = fork();
	int status;

	if (!pid) {
		personality(ADDR_NO_RANDOMIZE);
		ptrace(PTRACE_TRACEME, 0, 0, 0);
		execvp(argv[0], argv);
		_exit(127);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFSTOPPED(status))
		fail("the program does not start");
	/* Breakpoints end a child that nothing traces. */
	ptrace(PTRACE_SETOPTIONS, pid, 0,
	       PTRACE_O_TRACECLONE | PTRACE_O_EXITKILL);
	return pid;
}

static void print_kind(const struct module *m, unsigned int kind)
{
	printf(" %" PRIu64 " steps, %" PRIu64 " addresses, %" PRIu64 " wrong",
	       m->steps[kind], m->addresses[kind], m->wrong[kind]);
}

static int report(void)
{
	uint64_t wrong = 0;
	struct module *m;
	size_t i;

	for (i = 0; i < nr_callees; i++)
		end_doubts(&callees[i]);
	for (m = modules; m < modules + nr_modules; m++) {
		if (!m->steps[DERIVED])
			continue;
		printf("%s: derived", strrchr(m->path, '/') + 1);
		print_kind(m, DERIVED);
		printf("; by CFI");
		print_kind(m, FROM_CFI);
		printf("; without a row %" PRIu64 " steps, %" PRIu64
		       " addresses\n", m->steps[NO_ROW], m->addresses[NO_ROW]);
		wrong += m->wrong[DERIVED] + m->wrong[FROM_CFI];
	}
	printf("visits: %" PRIu64 " returned, %" PRIu64 " elsewhere, %" PRIu64
	       " cut, %" PRIu64 " not by a call; %" PRIu64
	       " steps left out; return address replaced at %" PRIu64
	       " steps, frame pointer not kept at %" PRIu64 "\n",
	       returned, elsewhere, cut, not_called, left_out, replaced,
	       not_kept);
	return wrong != 0;
}

int main(int argc, char **argv)
{
	pid_t pid;
	int c;

	while ((c = getopt(argc, argv, "+v:n:")) > 0) {
		if (c == 'v')
			max_visits = atol(optarg);
		else if (c == 'n')
			max_steps = atol(optarg);
		else
			return 2;
	}
	if (optind == argc)
		fail("a program is missing");
	pid = start(argv + optind);
	run_to_entry(pid);
	prepare(pid);
	thread_of(pid);
	ptrace(PTRACE_CONT, pid, 0, 0);
	follow(pid);
	return report();
}
