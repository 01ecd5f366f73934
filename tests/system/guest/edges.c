// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/*
 * usage: edges MODE without
 *	  edges MODE SFJIT	SFJIT ps is to list the windows
 *
 * MODE is that of perf's --call-graph: fp or fp,defer.
 *
 * An ordinary program that samples itself while it is in functions whose
 * callers are known: those around stand() by the compiler's unwinder, those
 * inside by the return addresses that they have seen. Under `sfjit run' each
 * callchain has to be that; `without' windows none may be.
 *
 * tests/arch/edges-ARCH.c has linkage tables, and how to stop in them.
 */
#include <ctype.h>
#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>
#include <unwind.h>

#include "../../arch/edges.h"
#include "../../lib/tap.h"

#define NOINLINE	__attribute__((noipa))
/* A section of its own tells where a function begins and ends. */
#define FUNCTION(name)	__attribute__((noipa, section("edges_" #name)))
#define CALLER()	((uintptr_t)__builtin_return_address(0))
/* The call before is no tail call. */
#define HERE()		__asm__ volatile("" ::: "memory")
#define IN(name, ip) ({							\
	extern const char __start_edges_##name[], __stop_edges_##name[]; \
									\
	(ip) >= (uintptr_t)__start_edges_##name &&			\
	(ip) < (uintptr_t)__stop_edges_##name;				\
})

#define PERIOD_NS	200000
#define ENOUGH		100		/* samples of a phase */
#define SECONDS_MAX	600	/* it hangs */
#define DEPTH_MAX	64
#define RING_PAGES	32
#define SHOWN		3		/* wrong samples of a phase */

/*
 * From <linux/perf_event.h>, Linux 6.19: attributes that follow read_format,
 * the record, and the fields of a sample.
 */
struct attr_bits {
	uint64_t known : 38, defer_callchain : 1, defer_output : 1, rest : 24;
};

#define CALLCHAIN_DEFERRED	22
#define CONTEXT_USER_DEFERRED	(-640ULL)

struct record {
	struct perf_event_header header;
	uint64_t words[DEPTH_MAX + 2];
};

struct frames {
	int nr;
	uintptr_t ips[DEPTH_MAX];
};

static struct frames truth;		/* around stand() */
static uintptr_t site;			/* where stand() calls */
static uintptr_t callers[3];		/* of frameless functions */
static bool without, deferred;
static uint64_t cookie;			/* of chains that are still to come */
static int nr_waiting;			/* samples that have it */
static bool (*is_inner)(const uint64_t *ips, int nr);
static int nr_samples, nr_exact, nr_wrong, nr_inside;
static struct event clock_event;
static const char *mode, *name;

/* ---- Samples ----------------------------------------------------------- */

static uint64_t now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ULL + ts.tv_nsec;
}

static void ask_for_deferred(struct perf_event_attr *attr)
{
	char *at = (char *)&attr->read_format + sizeof(attr->read_format);
	struct attr_bits bits;

	memcpy(&bits, at, sizeof(bits));
	bits.defer_callchain = bits.defer_output = 1;
	memcpy(at, &bits, sizeof(bits));
}

void edges_fill(struct perf_event_attr *attr)
{
	attr->size = sizeof(*attr);
	attr->sample_type = PERF_SAMPLE_CALLCHAIN;
	attr->exclude_kernel = 1;
	attr->exclude_callchain_kernel = 1;
	attr->exclude_hv = 1;
	attr->disabled = 1;
	if (deferred)
		ask_for_deferred(attr);
}

void edges_open(struct event *event, struct perf_event_attr *attr, pid_t pid)
{
	size_t size = (RING_PAGES + 1) * getpagesize();

	event->deferred = deferred;
	event->fd = syscall(SYS_perf_event_open, attr, pid, -1, -1,
			    PERF_FLAG_FD_CLOEXEC);
	MUST(event->fd >= 0);
	event->ring = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED,
			   event->fd, 0);
	MUST(event->ring != MAP_FAILED);
}

static void open_clock(struct event *event)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_CPU_CLOCK,
		.sample_period = PERIOD_NS,
	};

	edges_fill(&attr);
	edges_open(event, &attr, 0);
}

static void close_event(struct event *event)
{
	munmap(event->ring, (RING_PAGES + 1) * getpagesize());
	close(event->fd);
}

static void copy(struct event *event, uint64_t from, void *to, size_t length)
{
	const char *data = (char *)event->ring + event->ring->data_offset;
	size_t i;

	for (i = 0; i < length; i++)
		((char *)to)[i] = data[(from + i) % event->ring->data_size];
}

static void read_record(struct event *event, uint64_t *tail,
			struct record *record)
{
	memset(record, 0, sizeof(*record));
	copy(event, *tail, &record->header, sizeof(record->header));
	copy(event, *tail, record, record->header.size < sizeof(*record) ?
	     record->header.size : sizeof(*record));
	*tail += record->header.size;
}

/* ---- Modules and procedure linkage ------------------------------------- */

static const ElfW(Ehdr) *libc, *loader, *vdso;

static bool is_in(const ElfW(Ehdr) *module, uintptr_t ip)
{
	const ElfW(Phdr) *ph = (const void *)((char *)module +
					      module->e_phoff);
	uintptr_t end = 0;
	int i;

	for (i = 0; i < module->e_phnum; i++)
		if (ph[i].p_type == PT_LOAD)
			end = ph[i].p_vaddr + ph[i].p_memsz;
	return ip >= (uintptr_t)module && ip - (uintptr_t)module < end;
}

/* Not bound before they are called, and this program is not PIE. */
#define CALLS(what) { what(getppid), what(getuid), what(geteuid), \
		      what(getgid), what(getegid), what(getpgrp), \
		      what(clock), what(sched_yield), what(getdtablesize) }
#define ADDRESS(function)	(void (*)(void))function
#define NAME(function)		#function

static void (*const lazy[])(void) = CALLS(ADDRESS);
static const char *const lazy_names[] = CALLS(NAME);

static uintptr_t dynamic(int64_t tag)
{
	const ElfW(Dyn) *d;

	for (d = _DYNAMIC; d->d_tag != DT_NULL && d->d_tag != tag; d++)
		;
	MUST(d->d_tag == tag);
	return d->d_un.d_val;
}

/* By the place that the function has in the list of what is bound. */
static uintptr_t plt_header(void)
{
	const ElfW(Rela) *rela = (const void *)dynamic(DT_JMPREL);
	const ElfW(Sym) *symbols = (const void *)dynamic(DT_SYMTAB);
	const char *strings = (const char *)dynamic(DT_STRTAB);
	size_t nr = dynamic(DT_PLTRELSZ) / sizeof(*rela), i;

	for (i = 0; i < nr; i++)
		if (!strcmp(strings + symbols[ELF64_R_SYM(rela[i].r_info)]
			    .st_name, lazy_names[0]))
			break;
	MUST(i < nr);
	return (uintptr_t)lazy[0] - i * edges_linkage.entry_size -
	       edges_linkage.header_size;
}

static bool is_in_plt(uintptr_t ip)
{
	size_t nr = dynamic(DT_PLTRELSZ) / sizeof(ElfW(Rela));

	return ip >= plt_header() &&
	       ip - plt_header() < edges_linkage.header_size +
				      nr * edges_linkage.entry_size;
}

/* ---- The truth --------------------------------------------------------- */

static _Unwind_Reason_Code on_frame(struct _Unwind_Context *context, void *arg)
{
	struct frames *frames = arg;

	MUST(frames->nr < DEPTH_MAX);
	frames->ips[frames->nr++] = _Unwind_GetIP(context);
	return _URC_NO_REASON;
}

/* The callers of this function's caller. */
NOINLINE static void unwind(struct frames *frames)
{
	struct frames all = { 0 };

	_Unwind_Backtrace(on_frame, &all);
	MUST(all.nr > 2);
	/* 0, the caller of the first function. */
	all.nr -= !all.ips[all.nr - 1];
	frames->nr = all.nr - 2;
	memcpy(frames->ips, all.ips + 2, frames->nr * sizeof(*all.ips));
}

/* stand() calls it, too. */
static bool is_ioctl(uintptr_t ip)
{
	return is_in(libc, ip) || is_in_plt(ip);
}

static bool is_exact(const uint64_t *ips, int nr)
{
	int inner = nr - truth.nr, i;

	for (i = 0; i < truth.nr; i++)
		if (inner < 1 || ips[inner + i] != truth.ips[i])
			return false;
	if (inner == 1)
		return IN(stand, ips[0]);
	if (ips[inner - 1] != site)
		return inner == 2 && IN(stand, ips[1]) && is_ioctl(ips[0]);
	return IN(note, ips[0]) ? inner == 2 : is_inner(ips, inner);
}

static void show(const uint64_t *ips, int nr)
{
	int i;

	printf("# %s: found", name);
	for (i = 0; i < nr; i++)
		printf(" %lx", (long)ips[i]);
	printf(", wanted ... %lx", (long)site);
	for (i = 0; i < truth.nr; i++)
		printf(" %lx", (long)truth.ips[i]);
	printf("\n");
}

/* 'nr' may be more than there is room for, which is no stack then. */
static void judge_chain(const uint64_t *ips, uint64_t nr)
{
	if (nr && nr <= DEPTH_MAX && is_exact(ips, nr)) {
		nr_exact++;
		return;
	}
	if (nr_wrong++ < SHOWN && !without)
		show(ips, nr <= DEPTH_MAX ? nr : 0);
}

/* A number, and so many entries, the first of them a mark. */
static void judge_sample(const uint64_t *words)
{
	nr_samples++;
	if (!deferred && *words && words[1] == PERF_CONTEXT_USER)
		return judge_chain(words + 2, *words - 1);
	if (!deferred || *words != 2 || words[1] != CONTEXT_USER_DEFERRED)
		return judge_chain(words, 0);
	nr_waiting = words[2] == cookie ? nr_waiting + 1 : 1;
	cookie = words[2];
}

/* The cookie, a number, and so many entries. */
static void judge_deferred(const uint64_t *words)
{
	if (*words != cookie)
		return;
	for (; nr_waiting; nr_waiting--)
		judge_chain(words + 2, words[1]);
}

static void judge(struct event *event)
{
	uint64_t tail = event->ring->data_tail;
	uint64_t head = __atomic_load_n(&event->ring->data_head,
					__ATOMIC_ACQUIRE);
	struct record record;

	while (tail < head) {
		read_record(event, &tail, &record);
		if (record.header.type == PERF_RECORD_SAMPLE)
			judge_sample(record.words);
		else if (record.header.type == CALLCHAIN_DEFERRED)
			judge_deferred(record.words);
	}
	__atomic_store_n(&event->ring->data_tail, tail, __ATOMIC_RELEASE);
}

FUNCTION(note) static void note_site(void)
{
	site = CALLER();
}

/*
 * Calls 'work' many times, all from one place, which note_site() prints first.
 * Without an event, another program samples.
 */
FUNCTION(stand) static void stand(struct event *event, void (*work)(void),
				  int times)
{
	void (*volatile next)(void) = note_site;
	int i;

	unwind(&truth);
	if (event)
		ioctl(event->fd, PERF_EVENT_IOC_ENABLE, 0);
	for (i = 0; i <= times; i++) {
		next();
		next = work;
	}
	if (!event)
		return;
	ioctl(event->fd, PERF_EVENT_IOC_DISABLE, 0);
	judge(event);
}

/* ---- What is called ---------------------------------------------------- */

FUNCTION(leaf) static void leaf(void)
{
	volatile int i;

	for (i = 0; i < 2000; i++)
		;
}

static bool is_in_leaf(const uint64_t *ips, int nr)
{
	return nr == 2 && IN(leaf, ips[0]);
}

/* Without frame records: -fomit-frame-pointer. */
FUNCTION(c) static void frameless_c(void)
{
	volatile int i;

	callers[2] = CALLER();
	for (i = 0; i < 2000; i++)
		;
}

FUNCTION(b) static void frameless_b(void)
{
	callers[1] = CALLER();
	frameless_c();
	HERE();
}

FUNCTION(a) static void frameless_a(void)
{
	callers[0] = CALLER();
	frameless_b();
	HERE();
}

static bool is_in_frameless(const uint64_t *ips, int nr)
{
	int level = IN(c, ips[0]) ? 2 : IN(b, ips[0]) ? 1 : 0, i;

	if (nr != level + 2 || (!level && !IN(a, ips[0])))
		return false;
	for (i = 0; i <= level; i++)
		if (ips[1 + i] != callers[level - i])
			return false;
	return true;
}

FUNCTION(random) static void take_random(void)
{
	static unsigned int seed;

	callers[0] = CALLER();
	rand_r(&seed);
	HERE();
}

/* From its PLT on there is one frame more. */
static bool is_in_random(const uint64_t *ips, int nr)
{
	if (IN(random, ips[0]))
		return nr == 2;
	nr_inside++;
	return nr == 3 && IN(random, ips[1]);
}

FUNCTION(time) static void take_time(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	HERE();
}

static const ElfW(Ehdr) *module_of(const void *symbol)
{
	Dl_info info;

	MUST(dladdr(symbol, &info));
	return info.dli_fbase;
}

static bool is_in_time(const uint64_t *ips, int nr)
{
	int inside = 0;

	while (inside < edges_linkage.vdso_frames && inside < nr &&
	       is_in(vdso, ips[inside]))
		inside++;
	if (IN(time, ips[0]))
		return nr == 2;
	nr_inside += inside > 0;
	return IN(time, ips[nr - 2]) && nr == 3 + inside &&
	       (!inside || is_in(libc, ips[inside]));
}

FUNCTION(load) static void load(void)
{
	dlsym(RTLD_DEFAULT, "qsort");
	HERE();
}

static bool is_in_loader(const uint64_t *ips, int nr)
{
	int i;

	if (nr == 2)
		return IN(load, ips[0]);
	if (!IN(load, ips[nr - 2]))
		return false;
	nr_inside += is_in(loader, ips[0]);
	/* A stub in the program jumps to libc's function. */
	for (i = nr == 3; i < nr - 2; i++)
		if (!is_in(libc, ips[i]) && !is_in(loader, ips[i]))
			return false;
	return true;
}

/* ---- Phases ------------------------------------------------------------ */

NOINLINE static void stand_in_leaf(void)
{
	stand(&clock_event, leaf, 40);
	HERE();
}

NOINLINE static void stand_in_frameless(void)
{
	stand(&clock_event, frameless_a, 40);
	HERE();
}

NOINLINE static void stand_in_random(void)
{
	stand(&clock_event, take_random, 4000);
	HERE();
}

NOINLINE static void stand_in_time(void)
{
	stand(&clock_event, take_time, 1000);
	HERE();
}

NOINLINE static void stand_in_loader(void)
{
	stand(&clock_event, load, 200);
	HERE();
}

static uintptr_t back_to;		/* of what libc or the kernel calls */

static bool has_caller(void)
{
	int i;

	for (i = 0; i < truth.nr && truth.ips[i] != back_to; i++)
		;
	return i < truth.nr;
}

NOINLINE static int compare(const void *a, const void *b)
{
	back_to = CALLER();
	stand(&clock_event, leaf, 20);
	MUST(is_in(libc, back_to) && has_caller());
	return *(const int *)a - *(const int *)b;
}

NOINLINE static void sort(void)
{
	int numbers[] = { 5, 3, 8, 1, 9, 2, 7, 4 };

	qsort(numbers, 8, sizeof(*numbers), compare);
	HERE();
}

static volatile int handled;

NOINLINE static void on_signal(int sig)
{
	back_to = CALLER();
	stand(&clock_event, frameless_a, 20);
	MUST(has_caller());
	handled++;
}

NOINLINE static void raise_one(void)
{
	raise(SIGUSR1);
	HERE();
}

/* Where it comes the return address is in a register, mostly. */
NOINLINE static void wait_one(void)
{
	struct itimerval timer = { .it_value.tv_usec = 1000 + handled % 7 };
	int before = handled;

	setitimer(ITIMER_REAL, &timer, NULL);
	while (handled == before)
		frameless_a();
}

/* 'inside': how many samples are to be in what the phase is about. */
static void run_until(const char *text, void (*phase)(void),
		      bool (*inner)(const uint64_t *ips, int nr), int inside)
{
	uint64_t end = now() + SECONDS_MAX * 1000000000ULL;
	char all[128];

	name = text;
	is_inner = inner;
	nr_samples = nr_exact = nr_wrong = nr_inside = 0;
	while ((nr_samples < ENOUGH || nr_inside < inside) && now() < end)
		phase();
	snprintf(all, sizeof(all), without ?
		 "%s, %s: without windows none of %d samples is right" :
		 "%s, %s: all of %d samples are exact", mode, name,
		 nr_samples);
	result(nr_samples >= ENOUGH &&
	       nr_samples == (without ? nr_wrong : nr_exact), all,
	       "%d are right, %d wrong", nr_exact, nr_wrong);
}

static void run(const char *text, void (*phase)(void),
		bool (*inner)(const uint64_t *ips, int nr))
{
	run_until(text, phase, inner, 0);
}

static void run_inside(const char *text, void (*phase)(void),
		       bool (*inner)(const uint64_t *ips, int nr))
{
	char inside[128];

	run_until(text, phase, inner, ENOUGH / 5);
	snprintf(inside, sizeof(inside), "%s, %s: %d samples are inside", mode,
		 text, nr_inside);
	result(nr_inside >= ENOUGH / 5, inside, "of %d", nr_samples);
}

/* ---- Procedure linkage ------------------------------------------------- */

static bool is_at_breakpoint(const uint64_t *ips, int nr)
{
	return nr == 2;
}

static void (*lazy_call)(void);

static void call_once(struct event *event)
{
	stand(event, lazy_call, 1);
}

/* One sample, of one instruction. */
NOINLINE static void check_insn(const char *what, int insn, uintptr_t at,
				int function)
{
	struct event event;
	char text[64];

	snprintf(text, sizeof(text), "%s, %s, instruction %d", mode, what,
		 insn);
	name = text;
	is_inner = is_at_breakpoint;
	lazy_call = lazy[function];
	nr_samples = nr_exact = nr_wrong = 0;
	edges_stop_at(&event, at, call_once);
	judge(&event);
	close_event(&event);
	result(nr_samples == 1 && nr_exact == 1, text,
	       "%d samples, of which %d exact", nr_samples, nr_exact);
}

/* Each instruction; 'call' makes sure that it is executed. */
static void check_linkage(void)
{
	const struct edges_linkage *l = &edges_linkage;
	uintptr_t resolver = ((uintptr_t *)dynamic(DT_PLTGOT))[2];
	int i, fresh = 0, call;

	for (i = 0; i < l->header_insns; i++)
		check_insn("first entry of the PLT", i,
			   plt_header() + l->header[i], fresh++);
	check_insn("what binds functions", 0, resolver, fresh++);
	for (i = 0; i < l->entry_insns; i++) {
		/* The rest binds it, and is executed once. */
		call = i < l->bound_insns ? 0 : fresh++;
		MUST(call < (int)(sizeof(lazy) / sizeof(*lazy)));
		check_insn("entry of the PLT", i,
			   (uintptr_t)lazy[call] + l->entry[i], call);
	}
}

/* ---- Windows ----------------------------------------------------------- */

static bool has_window(uintptr_t from, uintptr_t to)
{
	FILE *f = fopen("/proc/self/sframe", "r");
	unsigned long start, end;
	bool found = false;
	char line[256];

	while (f && fgets(line, sizeof(line), f))
		found |= sscanf(line, "%lx-%lx ", &start, &end) == 2 &&
			 start < to && end > from;
	if (f)
		fclose(f);
	return found;
}

static void check_window(const char *what, const void *text)
{
	char window[64];

	snprintf(window, sizeof(window), "%s has a window", what);
	TRUE(window, has_window((uintptr_t)text, (uintptr_t)text + 4));
}

/* By the name that it has in /proc/PID/maps; each in a line of its own. */
static void check_list(const char *sfjit)
{
	static const char *const names[] = {
		"/edges", "/libc.so.6+", EDGES_LOADER "+", "[vdso]+",
		"/libsfjit-preload.so+",
	};
	bool found[5] = { false };
	char line[1024];
	unsigned int i;
	FILE *f;

	snprintf(line, sizeof(line), "%s ps %d", sfjit, getpid());
	f = popen(line, "r");
	MUST(f);
	while (fgets(line, sizeof(line), f))
		for (i = 0; i < 5; i++)
			found[i] |= strstr(line, " packed ") &&
				    strstr(line, names[i]);
	IS("sfjit ps", pclose(f), 0);
	for (i = 0; i < 5; i++)
		result(found[i], "sfjit ps lists it", "%s is not", names[i]);
}

static void check_windows(void)
{
	uintptr_t start = (uintptr_t)vdso;
	void *library;

	check_window("the program", leaf);
	check_window("libc", dlsym(RTLD_NEXT, "qsort"));
	check_window("ld.so", (const char *)loader + loader->e_entry);
	TRUE("the vDSO has a window",
	     has_window(start, start + getpagesize()));
	library = dlopen("libm.so.6", RTLD_NOW);
	MUST(library);
	check_window("a library that is loaded later", dlsym(library, "cos"));
}

int main(int argc, char **argv)
{
	if (argc != 3)
		return 2;
	mode = argv[1];
	deferred = !strcmp(mode, "fp,defer");
	without = !strcmp(argv[2], "without");
	vdso = (const void *)getauxval(AT_SYSINFO_EHDR);
	libc = module_of(dlsym(RTLD_NEXT, "qsort"));
	loader = (const void *)getauxval(AT_BASE);
	signal(SIGUSR1, on_signal);
	signal(SIGALRM, on_signal);
	open_clock(&clock_event);
	run("leaf", stand_in_leaf, is_in_leaf);
	run("functions without frame records", stand_in_frameless,
	    is_in_frameless);
	run("callback of qsort()", sort, is_in_leaf);
	run("handler of raise()", raise_one, is_in_frameless);
	run("handler of a timer", wait_one, is_in_frameless);
	if (without)
		return finish();
	/* What binds functions would be in these stacks. */
	take_random();
	take_time();
	load();
	run_inside("leaf of libc", stand_in_random, is_in_random);
	run_inside("vDSO", stand_in_time, is_in_time);
	run_inside("ld.so", stand_in_loader, is_in_loader);
	check_linkage();
	check_windows();
	check_list(argv[2]);
	return finish();
}
