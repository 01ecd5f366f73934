// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/*
 * The windows of the sampled processes and their sections, read again and
 * again while they live: a sample between two equal readings had these. And the
 * counts of why their stacks ended, of the last reading.
 */
#include <err.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <sframegen.h>

#include "record.h"
#include "section.h"

#define MAX_PROCESSES	4096
#define MAX_TEXT	(1 << 16)

static struct process {
	pid_t pid;
	bool gone;
	uint64_t since, time;	/* the text was the same in between */
	char *text;
	uint64_t counted;	/* when it had these */
	char *counts;
} processes[MAX_PROCESSES];

static unsigned int nr_processes;
static FILE *file;

void record_open(const char *path)
{
	file = fopen(path, "we");
	if (!file)
		err(2, "%s", path);
}

void record_write(uint32_t type, uint32_t misc, const void *body, size_t size,
		  const void *more, size_t more_size)
{
	const struct record record = {
		.type = type, .misc = misc, .size = size + more_size,
	};

	fwrite(&record, sizeof(record), 1, file);
	fwrite(body, size, 1, file);
	if (more_size)
		fwrite(more, more_size, 1, file);
	if (fflush(file))
		err(2, "record");
}

void process_seen(pid_t pid)
{
	unsigned int i;

	for (i = 0; i < nr_processes; i++)
		if (processes[i].pid == pid)
			return;
	if (nr_processes == MAX_PROCESSES)
		errx(2, "too many processes");
	processes[nr_processes++] = (struct process) { .pid = pid };
}

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ull + t.tv_nsec;
}

/* Windows, then counts; NULL if there is no process any more. */
static char *read_process(pid_t pid)
{
	static char text[MAX_TEXT];
	ssize_t part, size = 0;
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/sframe", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return NULL;
	while ((part = read(fd, text + size, MAX_TEXT - 1 - size)) > 0)
		size += part;
	close(fd);
	if (size == MAX_TEXT - 1)
		errx(2, "too many windows");
	text[size] = 0;
	return part < 0 ? NULL : text;
}

/* Its windows; an exiting process has neither them nor counts. */
static char *read_windows(struct process *process)
{
	uint64_t time = now();
	char *text = read_process(process->pid), *counts;

	counts = text ? strstr(text, "windows ") : NULL;
	if (!counts)
		return NULL;
	free(process->counts);
	process->counts = strdup(counts);
	process->counted = time;
	*counts = 0;
	return strdup(text);
}

/*
 * As the window means it: with its bias, which the corpus does not have, and as a
 * section if it is a packed table.
 */
static void write_section(int mem, pid_t pid, uint64_t addr, size_t length,
			  uint64_t bias, bool packed)
{
	struct record_section section = { .pid = pid, .addr = addr };
	char *bytes = malloc(length), *table = NULL;

	if (bytes && pread(mem, bytes, length, addr) != (ssize_t)length) {
		length = 0;
	} else if (bytes && packed) {
		table = bytes;
		bytes = section_of_table(table, length, bias, addr, &length);
	} else if (bytes && bias && sfg_rebase(bytes, length, bias)) {
		length = 0;
	}
	if (bytes && length)
		record_write(RECORD_SECTION, 0, &section, sizeof(section),
			     bytes, length);
	free(table);
	free(bytes);
}

static void write_sections(const struct process *process)
{
	uint64_t addr, length, bias;
	char path[64], format[8];
	const char *line;
	int mem;

	snprintf(path, sizeof(path), "/proc/%d/mem", process->pid);
	mem = open(path, O_RDONLY | O_CLOEXEC);
	if (mem < 0)
		return;
	for (line = process->text; *line; line = strchr(line, '\n') + 1)
		if (sscanf(line, "%*x-%*x %*x %lx %lx %7s %lx", &addr, &length,
			   format, &bias) == 4)
			write_section(mem, process->pid, addr, length, bias,
				      !strcmp(format, "packed"));
	close(mem);
}

static void write_windows(const struct process *process)
{
	struct record_windows windows = {
		.pid = process->pid,
		.since = process->since,
		.time = process->time,
	};

	record_write(RECORD_WINDOWS, 0, &windows, sizeof(windows),
		     process->text, strlen(process->text));
}

static void look(struct process *process)
{
	uint64_t before = now();
	char *text = read_windows(process);

	if (!text) {
		process->gone = true;
		return;
	}
	if (process->text && !strcmp(process->text, text)) {
		process->time = before;
		free(text);
		return;
	}
	if (process->text)
		write_windows(process);
	free(process->text);
	process->text = text;
	process->since = now();
	process->time = 0;
	write_sections(process);
}

void processes_look(void)
{
	unsigned int i;

	for (i = 0; i < nr_processes; i++)
		if (!processes[i].gone)
			look(&processes[i]);
}

static void write_counts(const struct process *process)
{
	struct record_counts counts = {
		.pid = process->pid,
		.time = process->counted,
	};

	record_write(RECORD_COUNTS, 0, &counts, sizeof(counts),
		     process->counts, strlen(process->counts));
}

void processes_end(void)
{
	unsigned int i;

	for (i = 0; i < nr_processes; i++) {
		if (processes[i].text)
			write_windows(&processes[i]);
		if (processes[i].counts)
			write_counts(&processes[i]);
	}
}
