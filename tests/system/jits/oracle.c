// SPDX-License-Identifier: MIT
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * usage: oracle RECORD ROOT BEGIN END [NAME]
 *
 * Judges each sample that tests/kernel/replay/recorder took between the two
 * times, nanoseconds: with the registers and the copy of the stack in it, and the
 * call frame information of the files below ROOT. With a NAME, only processes of
 * that name count. Prints a line for each sample, with tabs:
 *
 * - fp or defer
 * - 1 if the kernel's chain ends in a thread's first function
 * - how many true frames it lacks that a plain frame pointer walk finds
 * - what is wrong with it, or -; after "early" if the process had no windows yet,
 *   but another one had
 *
 * Then, of processes with windows:
 *
 *	counted REASON N	as the kernel counts the ends of stacks
 *	uncounted N		stacks that end early without a count
 */
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
#include "oracle.h"

#define MAX_PROCESSES	4096
#define PAGE		4096UL
#define MAX_FILES	1024
#define MAX_REASONS	64
#define CHAIN_MAX	((uint64_t)-4095)
#define USER_DEFERRED	((uint64_t)-640)

/* New in Linux 6.19. */
#define CALLCHAIN_DEFERRED	22

/* A record in the file, in the order of time. */
struct event {
	const struct record *record;
	const unsigned char *body;
	uint64_t time;
	size_t order;
};

static struct process *processes[MAX_PROCESSES];
static const char *root, *only;

/* The bytes of files with code. */
static struct file {
	char *path;
	const unsigned char *bytes;	/* NULL: there are none */
	size_t size;
} files[MAX_FILES];

/* When processes were seen with windows. */
static struct seen {
	uint32_t pid;
	uint64_t time;
} *seen;

static size_t nr_seen;

/* Reasons by which the kernel ended stacks. */
static struct reason {
	char name[32];
	uint64_t nr;
} reasons[MAX_REASONS];

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

const struct map *map_of(const struct process *process, uint64_t ip)
{
	unsigned int i;

	for (i = 0; i < process->nr_maps; i++)
		if (ip - process->maps[i].start < process->maps[i].length)
			return &process->maps[i];
	return NULL;
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

static bool is_file(const struct map *map)
{
	return !strcmp(map->path, "[vdso]") ||
	       (map->path[0] == '/' && strncmp(map->path, "//anon", 6));
}

/* Keeps the part of a mapping below @end, if any. */
static void keep_front(struct process *process, const struct map *map,
		       uint64_t end)
{
	struct map part = *map;

	if (map->start >= end)
		return;
	part.length = end - map->start;
	part.path = strdup(map->path);
	process->maps[process->nr_maps++] = part;
}

static void keep_back(struct process *process, const struct map *map,
		      uint64_t start)
{
	struct map part = *map;

	if (map->start + map->length <= start)
		return;
	part.start = start;
	part.length = map->start + map->length - start;
	part.offset = map->offset + start - map->start;
	part.path = strdup(map->path);
	process->maps[process->nr_maps++] = part;
}

static void remove_overlapping(struct process *process, const struct map *new)
{
	uint64_t end = new->start + new->length;
	unsigned int i = 0;
	struct map map;

	while (i < process->nr_maps) {
		map = process->maps[i];
		if (map.start >= end || new->start >= map.start + map.length ||
		    process->nr_maps + 2 > MAX_MAPS) {
			i++;
			continue;
		}
		process->maps[i] = process->maps[--process->nr_maps];
		keep_front(process, &map, new->start);
		keep_back(process, &map, end);
		if (is_file(&map))
			forget_dwfl(process);
		free(map.path);
	}
}

/* Where a part of a file's code gets other rights, the file is the same. */
static bool is_known(const struct process *process, const struct map *new)
{
	const struct map *map = map_of(process, new->start);

	return map && !strcmp(map->path, new->path) &&
	       map->start - map->offset == new->start - new->offset &&
	       map->start + map->length >= new->start + new->length;
}

static void add_map(struct process *process, const struct map *new)
{
	if (is_known(process, new)) {
		free(new->path);
		return;
	}
	remove_overlapping(process, new);
	if (process->nr_maps == MAX_MAPS)
		errx(2, "too many mappings");
	process->maps[process->nr_maps++] = *new;
	if (is_file(new))
		forget_dwfl(process);
}

/* PERF_RECORD_MMAP2: pid, tid, start, length, offset, inode, prot, flags, path */
static void take_map(const unsigned char *body)
{
	uint32_t pid, prot;
	struct map map = {};

	memcpy(&pid, body, sizeof(pid));
	memcpy(&map, body + 8, 3 * sizeof(uint64_t));
	memcpy(&prot, body + 56, sizeof(prot));
	if (!(prot & PROT_EXEC))
		return;
	map.is_writable = prot & PROT_WRITE;
	map.path = strdup((const char *)body + 64);
	add_map(find_process(pid), &map);
}

/* PERF_RECORD_FORK: pid, ppid */
static void take_fork(const unsigned char *body, uint64_t time)
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
	child->began = time;
	child->windows_since = parent->windows_since;
	memcpy(child->name, parent->name, sizeof(child->name));
	for (i = 0; i < parent->nr_maps; i++) {
		copy = parent->maps[i];
		copy.path = strdup(copy.path);
		add_map(child, &copy);
	}
}

static void take_comm(uint32_t misc, const unsigned char *body,
		      uint64_t time)
{
	struct process *process;
	uint32_t pids[2];

	memcpy(pids, body, sizeof(pids));
	process = find_process(pids[0]);
	if (pids[0] == pids[1])
		snprintf(process->name, sizeof(process->name), "%s",
			 (const char *)body + 8);
	if (!(misc & PERF_RECORD_MISC_COMM_EXEC))
		return;
	forget_maps(process);
	/* Windows and counts are those of the new program. */
	process->nr_cuts = 0;
	process->windows_since = 0;
	process->began = time;
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

static void open_file(struct file *file, const char *path)
{
	char full[4096];
	struct stat st;
	void *bytes;
	int fd;

	file->path = strdup(path);
	snprintf(full, sizeof(full), "%s/%s", root, path);
	fd = open(full, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_size) {
		bytes = mmap(NULL, st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
		if (bytes != MAP_FAILED) {
			file->bytes = bytes;
			file->size = st.st_size;
		}
	}
	close(fd);
}

static const struct file *find_file(const char *path)
{
	unsigned int i;

	for (i = 0; i < MAX_FILES && files[i].path; i++)
		if (!strcmp(files[i].path, path))
			return &files[i];
	if (i == MAX_FILES)
		errx(2, "too many files");
	open_file(&files[i], path);
	return &files[i];
}

bool read_code(const struct process *process, uint64_t addr, void *bytes,
	       size_t size)
{
	const struct map *map = map_of(process, addr);
	const struct file *file;
	uint64_t at;

	if (!map || !is_file(map) || map->is_writable)
		return false;
	file = find_file(map->path);
	at = addr - map->start + map->offset;
	if (file->size < size || at > file->size - size)
		return false;
	memcpy(bytes, file->bytes + at, size);
	return true;
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
	map->is_elf = find_bias(path, map);
	if (!map->is_elf)
		return;
	map->reported = is_reported(process, map) ||
			dwfl_report_elf(process->dwfl, map->path, path, -1,
					map->bias, true);
	if (!map->reported)
		warnx("%s: %s", path, dwfl_errmsg(-1));
}

Dwfl *dwfl_of(struct process *process)
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

/* Windows and counts. */

/* struct record_windows, then a line for each. */
static void take_windows(const unsigned char *body, size_t size)
{
	const struct record_windows *windows = (const void *)body;

	if (size == sizeof(*windows))
		return;
	if (!(nr_seen & (nr_seen - 1)))
		seen = reallocarray(seen, 2 * nr_seen + 1, sizeof(*seen));
	if (!seen)
		err(2, "windows");
	seen[nr_seen++] = (struct seen) { windows->pid, windows->since };
}

/*
 * A program has its windows from when they were first seen on; what it forks has
 * them, too.
 */
static bool had_windows(struct process *process, uint64_t time)
{
	size_t i;

	for (i = 0; i < nr_seen && !process->windows_since; i++)
		if (seen[i].pid == process->pid && seen[i].time <= time &&
		    seen[i].time >= process->began)
			process->windows_since = seen[i].time;
	/* samples of two rings are not in order */
	return process->windows_since && process->windows_since <= time;
}

static void add_reason(const char *name, uint64_t nr)
{
	struct reason *reason = reasons;

	while (reason->name[0] && strcmp(reason->name, name))
		if (++reason == reasons + MAX_REASONS)
			errx(2, "too many reasons");
	snprintf(reason->name, sizeof(reason->name), "%s", name);
	reason->nr += nr;
}

/* struct record_counts, then lines: a reason and a number. */
static void take_counts(const unsigned char *body, size_t size)
{
	const struct record_counts *counts = (const void *)body;
	struct process *process = find_process(counts->pid);
	const char *text = (const char *)(counts + 1);
	const char *end = (const char *)body + size;
	char line[128], name[32];
	unsigned long nr;
	size_t length;

	process->counted_until = counts->time;
	for (; text < end; text += length + 1) {
		length = strcspn(text, "\n");
		snprintf(line, sizeof(line), "%.*s", (int)length, text);
		if (sscanf(line, "%31s %lu", name, &nr) != 2 || !nr ||
		    !strcmp(name, "windows") || !strcmp(name, "last"))
			continue;
		process->counted += nr;
		add_reason(name, nr);
	}
}

static uint64_t uncounted_of(const struct process *process)
{
	uint64_t i, cuts = 0;

	if (!process->windows_since)
		return 0;
	for (i = 0; i < process->nr_cuts; i++)
		cuts += process->cuts[i] <= process->counted_until;
	return cuts > process->counted ? cuts - process->counted : 0;
}

static void print_counts(void)
{
	uint64_t uncounted = 0;
	unsigned int i;

	for (i = 0; i < MAX_REASONS && reasons[i].name[0]; i++)
		printf("counted\t%s\t%lu\n", reasons[i].name,
		       (unsigned long)reasons[i].nr);
	for (i = 0; i < MAX_PROCESSES && processes[i]; i++)
		uncounted += uncounted_of(processes[i]);
	printf("uncounted\t%lu\n", (unsigned long)uncounted);
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

static bool is_wanted(const struct sample *sample)
{
	return !only || !strcmp(find_process(sample->pid)->name, only);
}

static void print_unjudged(const struct sample *sample, const char *why)
{
	if (is_wanted(sample))
		printf("%s\t0\t0\tnot judged: %s\n",
		       sample->deferred ? "defer" : "fp", why);
}

/* False: truncated. */
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

static void judge_if_wanted(const struct sample *sample)
{
	struct process *process = find_process(sample->pid);

	if (is_wanted(sample))
		judge(sample, process, nr_seen && !had_windows(process,
							       sample->time));
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
	judge_if_wanted(sample);
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
	judge_if_wanted(&sample);
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
		if (record->type == RECORD_WINDOWS && events)
			take_windows(data + at, record->size);
		if (record->type == RECORD_COUNTS && events)
			take_counts(data + at, record->size);
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
		take_fork(event->body, event->time);
		break;
	case PERF_RECORD_COMM:
		take_comm(event->record->misc, event->body, event->time);
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

	if (argc != 5 && argc != 6)
		errx(2, "usage: oracle RECORD ROOT BEGIN END [NAME]");
	elf_version(EV_CURRENT);
	root = argv[2];
	only = argv[5];
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
	print_counts();
	return fflush(stdout) ? 2 : 0;
}
