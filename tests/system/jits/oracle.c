// SPDX-License-Identifier: MIT
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * usage: oracle RECORD ROOT BEGIN END
 *
 * Unwinds each sample that tests/kernel/replay/recorder took between the two times,
 * nanoseconds, by libdw: with the registers and the copy of the stack in it, and
 * the call frame information of the files below ROOT. Prints a line for each,
 * with tabs: fp or defer, 1 if the kernel's chain ends in a thread's first
 * function, and what is wrong with the chain, or -.
 */
#include <dwarf.h>
#include <elfutils/libdwfl.h>
#include <err.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../kernel/replay/record.h"

#define MAX_FRAMES	600
#define MAX_PROCESSES	64
#define MAX_MAPS	512
#define PAGE		4096UL
#define PERF_LENGTH	127	/* kernel.perf_event_max_stack */
#define NR_REGS		20	/* as the recorder asks for */
#define NR_DWARF	17
#define REG_BP		6
#define REG_SP		7
#define REG_IP		8
#define RA		16	/* DWARF's number of the return address */
#define CHAIN_MAX	((uint64_t)-4095)
#define USER_DEFERRED	((uint64_t)-640)

/* New in Linux 6.19. */
#define CALLCHAIN_DEFERRED	22

/* Which of the recorder's registers DWARF's 0 to 16 are. */
static const unsigned char dwarf_regs[NR_DWARF] = {
	0, 3, 2, 1, 4, 5, REG_BP, REG_SP, 12, 13, 14, 15, 16, 17, 18, 19,
	REG_IP
};

struct map {
	uint64_t start, length, offset;
	uint64_t bias;		/* of the file's addresses */
	bool is_file;		/* below ROOT, with executable segments */
	bool reported;		/* to libdw, with this bias */
	char *path;
};

struct process {
	uint32_t pid;
	unsigned int nr_maps;
	struct map maps[MAX_MAPS];
	Dwfl *dwfl;		/* NULL when the maps have changed */
};

struct sample {
	uint32_t pid, tid;
	uint64_t time, regs[NR_REGS];
	const uint64_t *ip;
	uint64_t nr, cookie;
	const unsigned char *stack;
	uint64_t size;
	bool deferred;
};

enum ending { OUTERMOST, NO_CFI, NO_FILE, TRUNCATED, FAILED };

struct truth {
	uint64_t ip[MAX_FRAMES];
	unsigned int nr;
	enum ending ending;
	bool missing;		/* memory, since the last frame */
};

/* A record in the file, in the order of time. */
struct event {
	const struct record *record;
	const unsigned char *body;
	uint64_t time;
	size_t order;
};

static struct process *processes[MAX_PROCESSES];
static const struct sample *current;
static struct truth truth;
static const char *root;

/* Processes. */

static struct process *find_process(uint32_t pid)
{
	unsigned int i;

	for (i = 0; i < MAX_PROCESSES && processes[i]; i++)
		if (processes[i]->pid == pid)
			return processes[i];
	if (i == MAX_PROCESSES)
		errx(2, "too many processes");
	processes[i] = calloc(1, sizeof(*processes[i]));
	if (!processes[i])
		err(2, "processes");
	processes[i]->pid = pid;
	return processes[i];
}

static void forget_dwfl(struct process *process)
{
	if (process->dwfl)
		dwfl_end(process->dwfl);
	process->dwfl = NULL;
}

static void forget_maps(struct process *process)
{
	while (process->nr_maps)
		free(process->maps[--process->nr_maps].path);
	forget_dwfl(process);
}

static void remove_overlapping(struct process *process, const struct map *new)
{
	unsigned int i, kept = 0;

	for (i = 0; i < process->nr_maps; i++) {
		struct map *map = &process->maps[i];

		if (map->start < new->start + new->length &&
		    new->start < map->start + map->length)
			free(map->path);
		else
			process->maps[kept++] = *map;
	}
	process->nr_maps = kept;
}

static void add_map(struct process *process, const struct map *new)
{
	remove_overlapping(process, new);
	if (process->nr_maps == MAX_MAPS)
		errx(2, "too many mappings");
	process->maps[process->nr_maps++] = *new;
	forget_dwfl(process);
}

/* PERF_RECORD_MMAP2: pid, tid, start, length, offset, inode, prot, flags, path */
static void take_map(const unsigned char *body)
{
	uint32_t pid, prot;
	struct map map;

	memcpy(&pid, body, sizeof(pid));
	memcpy(&map, body + 8, 3 * sizeof(uint64_t));
	memcpy(&prot, body + 56, sizeof(prot));
	if (!(prot & PROT_EXEC))
		return;
	map.path = strdup((const char *)body + 64);
	add_map(find_process(pid), &map);
}

/* PERF_RECORD_FORK: pid, ppid */
static void take_fork(const unsigned char *body)
{
	const struct process *parent;
	struct process *child;
	struct map copy;
	uint32_t pids[2];
	unsigned int i;

	memcpy(pids, body, sizeof(pids));
	if (pids[0] == pids[1])
		return;
	parent = find_process(pids[1]);
	child = find_process(pids[0]);
	forget_maps(child);
	for (i = 0; i < parent->nr_maps; i++) {
		copy = parent->maps[i];
		copy.path = strdup(copy.path);
		add_map(child, &copy);
	}
}

static void take_comm(uint32_t misc, const unsigned char *body)
{
	uint32_t pid;

	memcpy(&pid, body, sizeof(pid));
	if (misc & PERF_RECORD_MISC_COMM_EXEC)
		forget_maps(find_process(pid));
}

/* Files. */

static int no_debug_info(Dwfl_Module *mod, void **data, const char *name,
			 Dwarf_Addr base, const char *file, const char *link,
			 GElf_Word crc, char **path)
{
	return -1;
}

static const Dwfl_Callbacks file_callbacks = {
	.find_elf = dwfl_build_id_find_elf,
	.find_debuginfo = no_debug_info,
};

static bool is_mapped(const GElf_Phdr *phdr, const struct map *map)
{
	return phdr->p_type == PT_LOAD && phdr->p_flags & PF_X &&
	       map->offset < phdr->p_offset + phdr->p_filesz &&
	       map->offset + map->length > phdr->p_offset;
}

/*
 * What is to be added to the addresses in the file; false: no such file. The end
 * of a segment and the start of the next one may be in the same page of the file:
 * a mapping that begins with it is that of the next one.
 */
static bool find_bias(const char *path, struct map *map)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	Elf *elf = fd < 0 ? NULL : elf_begin(fd, ELF_C_READ, NULL);
	bool found = false, begins = false;
	GElf_Phdr phdr;
	size_t i, nr = 0;

	if (elf && !elf_getphdrnum(elf, &nr))
		for (i = 0; i < nr && !begins; i++) {
			if (!gelf_getphdr(elf, i, &phdr) ||
			    !is_mapped(&phdr, map))
				continue;
			begins = map->offset == (phdr.p_offset & -PAGE);
			if (found && !begins)
				continue;
			map->bias = map->start - map->offset + phdr.p_offset -
				    phdr.p_vaddr;
			found = true;
		}
	elf_end(elf);
	if (fd >= 0)
		close(fd);
	return found;
}

static bool is_reported(const struct process *process, const struct map *map)
{
	const struct map *other;

	for (other = process->maps; other < map; other++)
		if (other->reported && other->bias == map->bias &&
		    !strcmp(other->path, map->path))
			return true;
	return false;
}

/* A file has a mapping for each executable segment, and is one module. */
static void report_map(struct process *process, struct map *map)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s/%s", root, map->path);
	map->reported = false;
	map->is_file = find_bias(path, map);
	if (!map->is_file)
		return;
	map->reported = is_reported(process, map) ||
			dwfl_report_elf(process->dwfl, map->path, path, -1,
					map->bias, true);
	if (!map->reported)
		warnx("%s: %s", path, dwfl_errmsg(-1));
}

/* Memory and registers of the sample. */

static bool read_memory(Dwfl *dwfl, Dwarf_Addr addr, Dwarf_Word *result,
			void *arg)
{
	uint64_t off = addr - current->regs[REG_SP];

	if (current->size < sizeof(*result) ||
	    off > current->size - sizeof(*result)) {
		truth.missing = true;
		return false;
	}
	memcpy(result, current->stack + off, sizeof(*result));
	return true;
}

static bool set_registers(Dwfl_Thread *thread, void *arg)
{
	Dwarf_Word regs[NR_DWARF];
	unsigned int i;

	for (i = 0; i < NR_DWARF; i++)
		regs[i] = current->regs[dwarf_regs[i]];
	return dwfl_thread_state_registers(thread, 0, NR_DWARF, regs);
}

static pid_t next_thread(Dwfl *dwfl, void *arg, void **thread_arg)
{
	if (*thread_arg)
		return 0;
	*thread_arg = arg;
	return current->tid;
}

static const Dwfl_Thread_Callbacks thread_callbacks = {
	.next_thread = next_thread,
	.memory_read = read_memory,
	.set_initial_registers = set_registers,
};

static Dwfl *dwfl_of(struct process *process)
{
	unsigned int i;

	if (process->dwfl)
		return process->dwfl;
	process->dwfl = dwfl_begin(&file_callbacks);
	if (!process->dwfl)
		errx(2, "dwfl_begin: %s", dwfl_errmsg(-1));
	dwfl_report_begin(process->dwfl);
	for (i = 0; i < process->nr_maps; i++)
		report_map(process, &process->maps[i]);
	dwfl_report_end(process->dwfl, NULL, NULL);
	/* Fails where there is no file that says which machine it is. */
	if (!dwfl_attach_state(process->dwfl, NULL, process->pid,
			       &thread_callbacks, process))
		forget_dwfl(process);
	return process->dwfl;
}

/* Whether libdw has a rule there, and if it is: there is no caller. */
static bool has_rules(Dwfl *dwfl, Dwarf_Addr pc, bool *outermost)
{
	Dwfl_Module *mod = dwfl_addrmodule(dwfl, pc);
	Dwarf_Op mem[3], *ops;
	Dwarf_Frame *frame;
	Dwarf_Addr bias;
	Dwarf_CFI *cfi;
	size_t nr;

	*outermost = false;
	cfi = mod ? dwfl_module_eh_cfi(mod, &bias) : NULL;
	if (!cfi || dwarf_cfi_addrframe(cfi, pc - bias, &frame))
		return false;
	/* That is how it says "undefined". */
	if (!dwarf_frame_register(frame, RA, mem, &ops, &nr))
		*outermost = !nr && ops == mem;
	free(frame);
	return true;
}

static const struct map *find_map(const struct process *process, uint64_t ip)
{
	unsigned int i;

	for (i = 0; i < process->nr_maps; i++)
		if (ip - process->maps[i].start < process->maps[i].length)
			return &process->maps[i];
	return NULL;
}

/* A file that libdw should have, and does not: it says nothing about it. */
static bool lacks_file(Dwfl *dwfl, const struct process *process,
		       Dwarf_Addr pc)
{
	const struct map *map = find_map(process, pc);
	Dwfl_Module *mod = dwfl_addrmodule(dwfl, pc);
	Dwarf_Addr bias;

	return map && map->is_file &&
	       (!mod || !dwfl_module_eh_cfi(mod, &bias) ||
		strcmp(map->path, dwfl_module_info(mod, NULL, NULL, NULL, NULL,
						   NULL, NULL, NULL)));
}

/* libdw would go on by frame pointer where it has no rules. */
static int take_frame(Dwfl_Frame *state, void *arg)
{
	const struct process *process = arg;
	bool activation, outermost;
	Dwarf_Addr pc;

	if (truth.nr == MAX_FRAMES ||
	    !dwfl_frame_pc(state, &pc, &activation))
		return DWARF_CB_ABORT;
	truth.ip[truth.nr++] = pc;
	truth.missing = false;
	pc -= !activation;
	if (!has_rules(process->dwfl, pc, &outermost)) {
		truth.ending = lacks_file(process->dwfl, process, pc) ?
			       NO_FILE : NO_CFI;
		return DWARF_CB_ABORT;
	}
	truth.ending = FAILED;
	if (!outermost)
		return DWARF_CB_OK;
	truth.ending = OUTERMOST;
	return DWARF_CB_ABORT;
}

static void find_truth(const struct sample *sample, struct process *process)
{
	Dwfl *dwfl = dwfl_of(process);

	memset(&truth, 0, sizeof(truth));
	truth.ending = NO_CFI;
	current = sample;
	if (dwfl)
		dwfl_getthread_frames(dwfl, sample->tid, take_frame,
				      process);
	if (!truth.nr)
		truth.ip[truth.nr++] = sample->regs[REG_IP];
	if (truth.ending == FAILED && truth.missing)
		truth.ending = TRUNCATED;
}

/* The verdict. */

static const char *where(const struct process *process, uint64_t ip)
{
	const struct map *map = find_map(process, ip);

	if (!map)
		return "outside all code";
	if (map->path[0] == '[')
		return map->path;
	if (map->path[0] != '/' || !strncmp(map->path, "//anon", 6))
		return "generated code";
	return strrchr(map->path, '/') + 1;
}

static bool is_complete(const struct sample *sample, struct process *process)
{
	Dwfl *dwfl = dwfl_of(process);
	bool outermost = false;

	if (dwfl && sample->nr)
		has_rules(dwfl, sample->ip[sample->nr - 1] - (sample->nr > 1),
			  &outermost);
	return outermost;
}

static unsigned int equal_frames(const struct sample *sample)
{
	unsigned int i = 0;

	while (i < sample->nr && i < truth.nr && sample->ip[i] == truth.ip[i])
		i++;
	return i;
}

static void print_end(const struct process *process)
{
	const char *place = where(process, truth.ip[truth.nr - 1]);

	if (truth.ending == TRUNCATED)
		printf("not judged: stack copy too short\n");
	else if (truth.ending == NO_FILE)
		printf("not judged: libdw does not take %s\n", place);
	else if (truth.ending == NO_CFI)
		printf("cut where call frame information ends: %s\n", place);
	else
		printf("cut where libdw fails: %s\n", place);
}

static void print_lost(const struct sample *sample,
		       const struct process *process, bool complete)
{
	unsigned int same = equal_frames(sample);

	if (same == sample->nr && sample->nr >= PERF_LENGTH)
		printf("cut: longer than perf records\n");
	else if (same == sample->nr && same == truth.nr)
		print_end(process);
	else if (!sample->nr)
		printf("cut: no frame\n");
	else if (same == sample->nr)
		printf("cut in %s\n", where(process, sample->ip[same - 1]));
	else if (same == truth.nr && (truth.ending == TRUNCATED ||
				      truth.ending == NO_FILE))
		print_end(process);
	else if (same == truth.nr && truth.ending != OUTERMOST)
		printf("not judged behind %s\n",
		       where(process, truth.ip[same - 1]));
	else
		printf("%s: another caller in %s\n", complete ?
		       "silently wrong" : "cut and wrong",
		       where(process, sample->ip[same ? same - 1 : 0]));
}

static void judge(const struct sample *sample)
{
	struct process *process = find_process(sample->pid);
	bool complete = is_complete(sample, process);

	find_truth(sample, process);
	printf("%s\t%d\t", sample->deferred ? "defer" : "fp", complete);
	if (truth.ending == OUTERMOST && sample->nr == truth.nr &&
	    equal_frames(sample) == truth.nr)
		printf("-\n");
	else
		print_lost(sample, process, complete);
}

/* Samples. */

static uint64_t user_frames(uint64_t *ip, uint64_t nr)
{
	uint64_t i, kept = 0;

	for (i = 0; i < nr; i++)
		if (ip[i] < CHAIN_MAX)
			ip[kept++] = ip[i];
	return kept;
}

static void print_unjudged(const struct sample *sample, const char *why)
{
	printf("%s\t0\tnot judged: %s\n", sample->deferred ? "defer" : "fp",
	       why);
}

/* False: there is not all of it. */
static bool read_sample(const unsigned char *at, struct sample *sample)
{
	uint64_t i, abi, used, *ip;

	memcpy(&sample->pid, at, 16);
	memcpy(&sample->nr, at + 16, 8);
	at += 24;
	ip = (uint64_t *)at;
	at += 8 * sample->nr;
	for (i = 0; i + 1 < sample->nr; i++)
		if (ip[i] == USER_DEFERRED)
			sample->cookie = ip[i + 1];
	sample->ip = ip;
	memcpy(&abi, at, 8);
	if (abi != PERF_SAMPLE_REGS_ABI_64)
		return false;
	memcpy(sample->regs, at + 8, sizeof(sample->regs));
	at += 8 + sizeof(sample->regs);
	memcpy(&sample->size, at, 8);
	if (!sample->size)
		return false;
	sample->stack = at + 8;
	memcpy(&used, at + 8 + sample->size, 8);
	sample->size = used;
	return true;
}

#define MAX_WAITING	4096
static struct sample waiting[MAX_WAITING];

/* PERF_RECORD_CALLCHAIN_DEFERRED: cookie, number, addresses, pid, tid */
static void take_deferred(const unsigned char *body)
{
	struct sample *sample;
	uint64_t cookie, nr;
	uint32_t tid;

	memcpy(&cookie, body, 8);
	memcpy(&nr, body + 8, 8);
	memcpy(&tid, body + 16 + 8 * nr + 4, 4);
	sample = &waiting[tid % MAX_WAITING];
	if (sample->tid != tid || sample->cookie != cookie || !cookie)
		return;
	sample->ip = (uint64_t *)(body + 16);
	sample->nr = user_frames((uint64_t *)sample->ip, nr);
	judge(sample);
	sample->tid = 0;
}

static void give_up_waiting(struct sample *sample)
{
	if (sample->tid)
		print_unjudged(sample, "its chain never came");
	sample->tid = 0;
}

static void take_sample(const struct event *event, uint64_t begin,
			uint64_t end)
{
	uint32_t misc = event->record->misc;
	struct sample sample = { .deferred = misc & RECORD_DEFERRED };

	if ((misc & PERF_RECORD_MISC_CPUMODE_MASK) != PERF_RECORD_MISC_USER ||
	    event->time < begin || event->time > end)
		return;
	if (!read_sample(event->body, &sample)) {
		print_unjudged(&sample, "no registers, or no stack");
		return;
	}
	if (sample.deferred) {
		give_up_waiting(&waiting[sample.tid % MAX_WAITING]);
		waiting[sample.tid % MAX_WAITING] = sample;
		return;
	}
	sample.nr = user_frames((uint64_t *)sample.ip, sample.nr);
	judge(&sample);
}

/* The file. */

static int by_time(const void *a, const void *b)
{
	const struct event *x = a, *y = b;

	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	return (x->order > y->order) - (x->order < y->order);
}

/* All records but samples end with pid, tid and time. */
static uint64_t time_of(const struct record *record, const unsigned char *body)
{
	uint64_t time;

	memcpy(&time, record->type == PERF_RECORD_SAMPLE ? body + 8 :
	       body + record->size - 8, sizeof(time));
	return time;
}

static size_t find_events(unsigned char *data, size_t size,
			  struct event *events)
{
	const struct record *record;
	size_t at = 0, nr = 0;

	while (at + sizeof(*record) <= size) {
		record = (const struct record *)(data + at);
		at += sizeof(*record);
		if (record->size > size - at)
			errx(2, "the recording is cut off");
		if (record->type < RECORD_WINDOWS && record->size >= 24) {
			if (events)
				events[nr] = (struct event) {
					record, data + at,
					time_of(record, data + at), nr
				};
			nr++;
		}
		at += record->size;
	}
	return nr;
}

static void take_event(const struct event *event, uint64_t begin, uint64_t end)
{
	switch (event->record->type) {
	case PERF_RECORD_MMAP2:
		take_map(event->body);
		break;
	case PERF_RECORD_FORK:
		take_fork(event->body);
		break;
	case PERF_RECORD_COMM:
		take_comm(event->record->misc, event->body);
		break;
	case PERF_RECORD_SAMPLE:
		take_sample(event, begin, end);
		break;
	case CALLCHAIN_DEFERRED:
		take_deferred(event->body);
		break;
	}
}

/* Its own copy: the user part of chains is made of them in place. */
static unsigned char *map_file(const char *path, size_t *size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;
	void *data;

	if (fd < 0 || fstat(fd, &st))
		err(2, "%s", path);
	*size = st.st_size;
	data = mmap(NULL, *size, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
	if (data == MAP_FAILED)
		err(2, "%s", path);
	close(fd);
	return data;
}

int main(int argc, char **argv)
{
	struct event *events;
	unsigned char *data;
	size_t size, nr, i;

	if (argc != 5)
		errx(2, "usage: oracle RECORD ROOT BEGIN END");
	elf_version(EV_CURRENT);
	root = argv[2];
	data = map_file(argv[1], &size);
	nr = find_events(data, size, NULL);
	events = calloc(nr + 1, sizeof(*events));
	if (!events)
		err(2, "events");
	find_events(data, size, events);
	qsort(events, nr, sizeof(*events), by_time);
	for (i = 0; i < nr; i++)
		take_event(&events[i], strtoull(argv[3], NULL, 0),
			   strtoull(argv[4], NULL, 0));
	for (i = 0; i < MAX_WAITING; i++)
		give_up_waiting(&waiting[i]);
	return fflush(stdout) ? 2 : 0;
}
