// SPDX-License-Identifier: MIT
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * usage: step RECORD.so SECONDS ROUNDS STEPS COMMAND [ARGUMENT...]
 *
 * Runs COMMAND, and single-steps its busiest thread now and then. It tracks
 * each call, with the stack and frame pointer before it. At each instruction in
 * a window the row must give the same.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <sframegen.h>

#include "record.h"

struct frame {
	uint64_t	ra;
	uint64_t	cfa;
	uint64_t	fp;
};

struct place {
	uint64_t	pc;
	uint64_t	count;
	char		why[120];
};

struct symbol {
	uint64_t	start, end;
	char		name[100];
};

static struct record *record;
static pid_t pid, tid;
static struct frame frames[100000];
static size_t depth;
static struct place wrong[4096], holes[65536];
static size_t nr_wrong, nr_holes;
static uint64_t judged, good, skipped, in_hole, wrongs, stepped;
static struct symbol *symbols;
static size_t nr_symbols;

/* ---- Its memory ------------------------------------------------------ */

static bool get(uint64_t at, void *to, size_t length)
{
	struct iovec local = { to, length }, remote = { (void *)at, length };

	return process_vm_readv(pid, &local, 1, &remote, 1, 0) ==
	       (ssize_t)length;
}

static uint64_t get_word(uint64_t at)
{
	uint64_t word = 0;

	get(at, &word, sizeof(word));
	return word;
}

/* ---- Rows ------------------------------------------------------------ */

enum found { NO_WINDOW, NO_ROW, ROW };

#define CACHE	(1u << 18)

static struct cached {
	uint64_t		pc;
	enum found		found;
	struct sfjit_row	row;
} cache[CACHE];
static uint32_t cache_changes;

static const struct record_window *find_window(uint64_t pc)
{
	uint32_t i;

	for (i = 0; i < record->nr; i++)
		if (pc - record->windows[i].text <
		    record->windows[i].text_length)
			return record->windows + i;
	return NULL;
}

static enum found look_up(uint64_t pc, struct sfjit_row *row)
{
	const struct record_window *window = find_window(pc);
	struct sfjit_function function;
	struct sfg_section section;
	unsigned char *data;
	int ret = -1;

	if (!window)
		return NO_WINDOW;
	data = malloc(window->length);
	if (get(window->section, data, window->length) &&
	    !sfg_open_section(&section, data, window->length, window->section,
			      NULL))
		ret = sfg_find_row(&section, pc, &function, row, NULL);
	free(data);
	return ret ? NO_ROW : ROW;
}

static enum found find_row(uint64_t pc, struct sfjit_row *row)
{
	struct cached *c = cache + (pc * 0x9e3779b97f4a7c15ull >> 46);

	if (cache_changes != record->changes) {
		cache_changes = record->changes;
		memset(cache, 0, sizeof(cache));
	}
	if (c->pc != pc) {
		c->found = look_up(pc, &c->row);
		c->pc = pc;
	}
	*row = c->row;
	return c->found;
}

static uint64_t reg(const struct user_regs_struct *r, unsigned int nr)
{
	const uint64_t regs[16] = {
		r->rax, r->rdx, r->rcx, r->rbx, r->rsi, r->rdi, r->rbp, r->rsp,
		r->r8, r->r9, r->r10, r->r11, r->r12, r->r13, r->r14, r->r15,
	};

	return regs[nr & 15];
}

static uint64_t apply(const struct sfjit_rule *rule, uint64_t cfa,
		      const struct user_regs_struct *r, uint64_t none)
{
	uint64_t value;

	if (rule->base == SFJIT_BASE_NONE)
		return none;
	value = (rule->base == SFJIT_BASE_CFA ? cfa : reg(r, rule->reg)) +
		rule->offset;
	return rule->deref ? get_word(value) : value;
}

/* Ranges of two blobs, and of the interpreter. */
static uint64_t deopt[4], interpreter[2];

static bool is_interpreter(uint64_t pc)
{
	return pc >= interpreter[0] && pc < interpreter[1];
}

/* ---- Judging --------------------------------------------------------- */

static void count(struct place *places, size_t *nr, size_t max, uint64_t pc,
		  const char *why)
{
	size_t i;

	for (i = 0; i < *nr && places[i].pc != pc; i++)
		;
	if (i == max)
		return;
	if (i == *nr) {
		places[i].pc = pc;
		snprintf(places[i].why, sizeof(places[i].why), "%s", why);
		(*nr)++;
	}
	places[i].count++;
}

/* Whether the caller's row uses the register. */
static bool needs(uint64_t ra, unsigned int nr)
{
	struct sfjit_row row;

	switch (find_row(ra - 1, &row)) {
	case NO_WINDOW:
		return true;
	case NO_ROW:
		return false;
	default:
		return row.cfa.reg == nr || (nr == SFJIT_X86_64_FP &&
					     row.fp.base == SFJIT_BASE_NONE);
	}
}

static void judge(const struct user_regs_struct *r)
{
	const struct frame *top = frames + depth - 1;
	struct frame got;
	struct sfjit_row row;
	enum found found;
	char why[120];

	found = find_row(r->rip, &row);
	if (found == NO_WINDOW)
		return;
	judged++;
	if (found == NO_ROW) {
		in_hole++;
		count(holes, &nr_holes, 65536, r->rip, "");
		return;
	}
	got.cfa = apply(&row.cfa, 0, r, 0);
	got.ra = row.ra.base ? apply(&row.ra, got.cfa, r, 0) :
			       get_word(got.cfa - 8);
	got.fp = apply(&row.fp, got.cfa, r, r->rbp);
	if (!depth || top->cfa == r->rsp || got.cfa <= r->rsp) {
		skipped++;
		return;
	}
	/* A collection moves objects, and writes to saved registers. */
	/*
	 * The safepoint blob moves the return address past the poll, others
	 * write where an exception was thrown.
	 */
	if ((got.ra - top->ra < 12 || got.ra == get_word(top->cfa - 8)) &&
	    (got.fp == top->fp || !needs(got.ra, SFJIT_X86_64_FP)) &&
	    (got.cfa == top->cfa || !needs(got.ra, SFJIT_X86_64_SP))) {
		good++;
		return;
	}
	/*
	 * An unnoticed call by the interpreter: its caller's frame is the one
	 * we know.
	 */
	if (is_interpreter(got.ra) && get_word(got.fp - 8) == top->cfa &&
	    get_word(got.fp + 8) == top->ra) {
		frames[depth++] = got;
		skipped++;
		return;
	}
	wrongs++;
	snprintf(why, sizeof(why), "cfa %lx/%lx ra %lx/%lx fp %lx/%lx sp %lx",
		 got.cfa, top->cfa, got.ra, top->ra, got.fp, top->fp,
		 (uint64_t)r->rsp);
	count(wrong, &nr_wrong, 4096, r->rip, why);
}


static void find_deopt(void)
{
	size_t i, n = 0;

	memset(deopt, 0, sizeof(deopt));
	memset(interpreter, 0, sizeof(interpreter));
	for (i = 0; i < nr_symbols; i++) {
		if (strncmp(symbols[i].name, "Interpreter:", 12))
			continue;
		if (!interpreter[0] || symbols[i].start < interpreter[0])
			interpreter[0] = symbols[i].start;
		if (symbols[i].end > interpreter[1])
			interpreter[1] = symbols[i].end;
	}
	for (i = 0; i < nr_symbols && n < 4; i++)
		if (strstr(symbols[i].name, "DeoptimizationBlob") ||
		    strstr(symbols[i].name, "UncommonTrapBlob")) {
			deopt[n++] = symbols[i].start;
			deopt[n++] = symbols[i].end;
		}
}

static bool is_deopt(uint64_t pc)
{
	return (pc >= deopt[0] && pc < deopt[1]) ||
	       (pc >= deopt[2] && pc < deopt[3]);
}

static const char *symbol_of(uint64_t pc);

/* Of a method, an adapter, or compiled code. */
static bool is_entry(uint64_t pc)
{
	const char *name = symbol_of(pc);

	return strstr(name, "::") || strstr(name, "I2C/C2I") ||
	       (strstr(name, "method entry point") && strstr(name, "+0x0")) ||
	       !strncmp(name, "_linkTo", 7) || !strncmp(name, "_invoke", 7);
}

/* A codelet of the interpreter calls a part of itself, in the same frame. */
static bool is_inner_call(uint64_t from, uint64_t to)
{
	size_t i;

	if (!is_interpreter(from) || !is_interpreter(to))
		return false;
	for (i = nr_symbols; i--; )
		if (from >= symbols[i].start && from < symbols[i].end)
			return to >= symbols[i].start && to < symbols[i].end;
	return false;
}

/* What calls interpreted and compiled code alike: the interpreter, and C. */
static bool calls_by_adapter(uint64_t pc)
{
	return is_interpreter(pc) || !strncmp(symbol_of(pc), "call_stub+", 10);
}

static void update(const struct user_regs_struct *old,
		   const struct user_regs_struct *r)
{
	static uint64_t last_poll;
	struct sfjit_row row;
	uint64_t ra;

	if (r->rsp == old->rsp - 8) {
		ra = get_word(r->rsp);
		if (ra > old->rip && ra < old->rip + 8 && r->rip != ra &&
		    !is_inner_call(old->rip, r->rip)) {
			while (depth && frames[depth - 1].cfa <= old->rsp)
				depth--;
			frames[depth++] = (struct frame){ ra, old->rsp,
							  old->rbp };
			return;
		}
	}
	/* The interpreter calls by a push of an address of its own and a jump. */
	if (is_interpreter(old->rip) && r->rsp == old->rsp &&
	    r->rip - old->rip > 15 &&
	    (!depth || frames[depth - 1].cfa > r->rsp + 8)) {
		ra = get_word(r->rsp);
		if (is_interpreter(ra) && is_entry(r->rip)) {
			frames[depth++] = (struct frame){ ra, r->rsp + 8,
							  r->rbp };
			return;
		}
	}
	/* A signal handler moved the thread from a poll to here: push %rbx. */
	if (!strcmp(symbol_of(r->rip), "SafepointBlob+0x0") &&
	    (unsigned char)get_word(r->rip) == 0x53) {
		frames[depth++] = (struct frame){ last_poll, r->rsp, r->rbp };
		return;
	}
	if (find_row(r->rip, &row) == ROW)
		last_poll = r->rip;
	/* An adapter aligned the stack, and left room for arguments. */
	if (depth && frames[depth - 1].ra == r->rip &&
	    calls_by_adapter(r->rip) && r->rip - old->rip > 15)
		depth--;
	/* Deoptimisation makes frames without calls. */
	if (is_deopt(old->rip) && !is_deopt(r->rip))
		depth = 0;
	while (depth && (frames[depth - 1].cfa < r->rsp ||
			 (frames[depth - 1].cfa == r->rsp &&
			  frames[depth - 1].ra == r->rip)))
		depth--;
}

/* ---- The thread ------------------------------------------------------ */

/* One of the program's own threads. */
static pid_t choose(void)
{
	char path[300], name[100];
	struct dirent *entry;
	unsigned int nr = 0;
	pid_t found = 0;
	DIR *dir;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	dir = opendir(path);
	while (dir && (entry = readdir(dir))) {
		snprintf(path, sizeof(path), "/proc/%d/task/%.20s/comm", pid,
			 entry->d_name);
		file = fopen(path, "r");
		if (!file)
			continue;
		if (!fgets(name, sizeof(name), file))
			name[0] = '\0';
		fclose(file);
		if (strncmp(name, "Thread-", 7) &&
		    strncmp(name, "ForkJoinPool", 12))
			continue;
		if (!(rand() % ++nr))
			found = atoi(entry->d_name);
	}
	if (dir)
		closedir(dir);
	return found;
}

static void read_symbols(void)
{
	char path[64], line[1000];
	struct symbol *s;
	uint64_t start, size;
	FILE *file;
	int n;

	snprintf(path, sizeof(path), "%s/tmp/perf-%d.map",
		 getenv("STEP_ROOT") ? getenv("STEP_ROOT") : "", pid);
	file = fopen(path, "r");
	nr_symbols = 0;
	while (file && fgets(line, sizeof(line), file)) {
		if (sscanf(line, "%lx %lx %n", &start, &size, &n) != 2)
			continue;
		if (!(nr_symbols & (nr_symbols - 1)))
			symbols = realloc(symbols, (nr_symbols ? 2 * nr_symbols
						    : 1) * sizeof(*symbols));
		line[strcspn(line, "\n")] = '\0';
		s = symbols + nr_symbols++;
		s->start = start;
		s->end = start + size;
		snprintf(s->name, sizeof(s->name), "%.99s", line + n);
	}
	if (file)
		fclose(file);
	find_deopt();
}

static void nothing(int signal)
{
}

/* A step may be a system call that waits; else nothing takes as long. */
#define STEP_SECONDS	3
#define HANGS_SECONDS	600

static bool wait_for_stop(int *signal, unsigned int seconds)
{
	int status;

	alarm(seconds);
	if (waitpid(tid, &status, __WALL) != tid) {
		alarm(0);
		return false;
	}
	alarm(0);
	if (!WIFSTOPPED(status))
		return false;
	*signal = WSTOPSIG(status) == SIGTRAP ? 0 : WSTOPSIG(status);
	return true;
}

/* pushf stores the flag of single-stepping, and popf would set it again. */
static void hide_trap_flag(const struct user_regs_struct *old,
			   const struct user_regs_struct *r)
{
	unsigned char op = 0;

	if (r->rsp == old->rsp - 8 && get(old->rip, &op, 1) && op == 0x9c)
		ptrace(PTRACE_POKEDATA, tid, r->rsp,
		       get_word(r->rsp) & ~0x100ul);
}

static void step_round(unsigned long steps)
{
	struct user_regs_struct old, r;
	int signal;

	depth = 0;
	if (ptrace(PTRACE_SEIZE, tid, 0, 0) ||
	    ptrace(PTRACE_INTERRUPT, tid, 0, 0) ||
	    !wait_for_stop(&signal, HANGS_SECONDS) ||
	    ptrace(PTRACE_GETREGS, tid, 0, &r)) {
		fprintf(stderr, "thread %d: %s\n", tid, strerror(errno));
		return;
	}
	while (steps--) {
		judge(&r);
		old = r;
		if (ptrace(PTRACE_SINGLESTEP, tid, 0, signal) ||
		    !wait_for_stop(&signal, STEP_SECONDS) ||
		    ptrace(PTRACE_GETREGS, tid, 0, &r))
			break;
		stepped++;
		hide_trap_flag(&old, &r);
		update(&old, &r);
	}
	if (steps + 1) {
		ptrace(PTRACE_INTERRUPT, tid, 0, 0);
		wait_for_stop(&signal, HANGS_SECONDS);
		signal = 0;
	}
	if (!ptrace(PTRACE_GETREGS, tid, 0, &r)) {
		if (getenv("STEP_DEBUG"))
			fprintf(stderr, "end at %lx flags %lx signal %d\n", (long)r.rip, (long)r.eflags, signal);
		r.eflags &= ~0x100ul;
		ptrace(PTRACE_SETREGS, tid, 0, &r);
	}
	ptrace(PTRACE_DETACH, tid, 0, signal);
}

/* ---- Report ---------------------------------------------------------- */

static const char *symbol_of(uint64_t pc)
{
	static char name[200];
	size_t i;

	for (i = nr_symbols; i--; )
		if (pc >= symbols[i].start && pc < symbols[i].end) {
			snprintf(name, sizeof(name), "%s+0x%lx",
				 symbols[i].name, pc - symbols[i].start);
			return name;
		}
	return "?";
}

static int by_count(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	return x->count < y->count ? 1 : x->count > y->count ? -1 : 0;
}

static void print_places(const char *title, struct place *places, size_t nr,
			 size_t max)
{
	size_t i;

	qsort(places, nr, sizeof(*places), by_count);
	for (i = 0; i < nr && i < max; i++)
		printf("%s %lu %lx %s %s\n", title, places[i].count,
		       places[i].pc, symbol_of(places[i].pc), places[i].why);
}

static void spawn(const char *library, char **argv)
{
	int fd = memfd_create("record", 0);
	char number[16];

	if (fd < 0 || ftruncate(fd, sizeof(*record)))
		exit(1);
	record = mmap(NULL, sizeof(*record), PROT_READ | PROT_WRITE, MAP_SHARED,
		      fd, 0);
	pid = fork();
	if (pid)
		return;
	snprintf(number, sizeof(number), "%d", fd);
	setenv("SFJIT_RECORD_FD", number, 1);
	setenv("LD_PRELOAD", library, 1);
	if (getenv("STEP_ROOT") && (chroot(getenv("STEP_ROOT")) || chdir("/")))
		exit(1);
	execvp(argv[0], argv);
	exit(127);
}

int main(int argc, char **argv)
{
	struct sigaction action = { .sa_handler = nothing };
	unsigned long rounds, steps;
	double seconds;
	int status = 0, patience = 10000;

	if (argc < 6)
		return 2;
	seconds = atof(argv[2]);
	rounds = atol(argv[3]);
	steps = atol(argv[4]);
	sigaction(SIGALRM, &action, NULL);
	spawn(argv[1], argv + 5);
	while (rounds--) {
		usleep(seconds * 1e6);
		read_symbols();
		tid = choose();
		if (waitpid(pid, &status, WNOHANG)) {
			printf("ended: %d %x\n", tid, status);
			break;
		}
		if (tid)
			step_round(steps);
		else if (patience--)
			rounds++;
	}
	read_symbols();
	print_places("wrong", wrong, nr_wrong, 30);
	print_places("hole", holes, nr_holes, 40);
	printf("steps %lu, in windows %lu: right %lu, wrong %lu, holes %lu, "
	       "not known %lu\n", stepped, judged, good, wrongs, in_hole,
	       skipped);
	if (getenv("STEP_GDB")) {
		char command[1000];
		size_t i;

		for (i = 0; i < nr_wrong && i < 6; i++) {
			snprintf(command, sizeof(command), "gdb -p %d -batch "
				 "-ex 'x/24i 0x%lx-48' 2>/dev/null | tail -24",
				 pid, wrong[i].pc);
			printf("---- %lx\n", wrong[i].pc);
			fflush(stdout);
			if (system(command))
				break;
		}
	}
	kill(pid, SIGKILL);
	return wrongs ? 1 : 0;
}
