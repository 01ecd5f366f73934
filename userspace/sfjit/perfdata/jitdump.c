// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/*
 * Files in which processes describe the code that they generate. They may still
 * be written to: what is not complete is read later.
 */
#include <ctype.h>
#include <errno.h>
#include <jitdump-format.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "file.h"
#include "format.h"
#include "jitdump.h"
#include "table.h"

/* An .eh_frame that is larger is not taken. */
#define WINDOW		(64U << 10)
/* Threads take the time of a record before they write it. */
#define LATE_NS		100000000ULL

struct jitdump {
	struct jitdump *next;
	pid_t pid;
	uint64_t mapped;	/* when */
	char *path;
	int fd;
	bool begun;		/* its header is read */
	bool timed;		/* its times are known in the recording */
	bool in_cycles;		/* once they are converted */
	bool over;		/* it is read once more */
	bool undescribed;	/* it has code without call frame information */
	uint64_t offset;	/* of the next record */
	uint64_t waits;		/* for its time, which was too late before */
	uint64_t unwinding;	/* of that of the next function; 0: none */
	struct retired *retired; /* NULL: nothing says what goes */
	struct table by_index;	/* the same of functions that may move */
	uint64_t begin, end;	/* what is in the window */
};

/* ---- Bytes ------------------------------------------------------------ */

/* So many bytes, up to the next call; NULL: there are not as many. */
static const uint8_t *peek_bytes(struct jitdumps *dumps, struct jitdump *dump,
				 uint64_t offset, size_t length)
{
	ssize_t n;

	if (length > WINDOW || offset > INT64_MAX)
		return NULL;
	if (offset < dump->begin || offset > dump->end ||
	    length > dump->end - offset) {
		n = pread(dump->fd, dumps->window, WINDOW, offset);
		dump->begin = offset;
		dump->end = offset + (n > 0 ? n : 0);
	}
	return length <= dump->end - offset ?
	       dumps->window + (offset - dump->begin) : NULL;
}

static void say_of_dump(struct jitdumps *dumps, const struct jitdump *dump,
			const char *why)
{
	char line[512];

	snprintf(line, sizeof(line), "%s: %s", dump->path, why);
	dumps->say(dumps->arg, line);
}

static void drop_dump(struct jitdump *dump)
{
	close(dump->fd);
	dump->fd = -1;
}

/* ---- Records ---------------------------------------------------------- */

/* The .eh_frame of a record: its index follows it. */
static bool find_eh_frame(struct jitdumps *dumps, struct jitdump *dump,
			  uint64_t offset, struct sfjit_stacks_code *code)
{
	struct jitdump_unwinding record;
	const uint8_t *at = peek_bytes(dumps, dump, offset, sizeof(record));

	if (!at)
		return false;
	memcpy(&record, at, sizeof(record));
	if (record.hdr_size >= record.size ||
	    record.size > record.prefix.total_size - sizeof(record))
		return false;
	code->table_length = record.size - record.hdr_size;
	code->table = peek_bytes(dumps, dump, offset + sizeof(record),
				 code->table_length);
	return code->table;
}

/* 0, or -ENOMEM. Other refusals of the tracker mean that it is no code. */
static int end_code(struct jitdumps *dumps, struct jitdump *dump,
		    uint64_t time, uint64_t address, uint64_t size)
{
	int ret = sfjit_stacks_jit_unload(dumps->stacks, dump->pid, time,
					  address, size);

	return ret == -ENOMEM ? ret : 0;
}

/* Code that has no description is what lies there otherwise. */
static int put_code(struct jitdumps *dumps, struct jitdump *dump,
		    uint64_t time, uint64_t address, uint64_t size,
		    uint64_t unwinding)
{
	struct sfjit_stacks_code code = {
		.start = address,
		.length = size,
		.kind = SFJIT_STACKS_EH_FRAME,
		.table_address = address + jitdump_aligned(size),
	};
	int ret = -EINVAL;

	if (unwinding && find_eh_frame(dumps, dump, unwinding, &code))
		ret = sfjit_stacks_jit_load(dumps->stacks, dump->pid, time,
					    &code);
	if (ret == -EINVAL)
		return end_code(dumps, dump, time, address, size);
	return ret == -ENOMEM ? ret : 0;
}

/* By the clock of the recording. */
static uint64_t dump_time(const struct jitdumps *dumps,
			  const struct jitdump *dump, uint64_t time)
{
	if (!dump->timed)
		return dump->mapped;
	return dump->in_cycles ? cycles_time(dumps->cycles, time) : time;
}

static int load_code(struct jitdumps *dumps, struct jitdump *dump,
		     uint64_t time, const uint8_t *at)
{
	uint64_t unwinding = dump->unwinding, *moving;
	struct jitdump_load record;

	memcpy(&record, at, sizeof(record));
	dump->unwinding = 0;
	dump->undescribed |= !unwinding;
	table_remove(&dump->by_index, record.code_index);
	if (unwinding) {
		moving = table_add(&dump->by_index, record.code_index);
		if (!moving)
			return -ENOMEM;
		*moving = unwinding;
	}
	return put_code(dumps, dump, time, record.code_addr, record.code_size,
			unwinding);
}

static int move_code(struct jitdumps *dumps, struct jitdump *dump,
		     uint64_t time, const uint8_t *at)
{
	const uint64_t *unwinding;
	struct jitdump_move record;
	int ret;

	memcpy(&record, at, sizeof(record));
	unwinding = table_find(&dump->by_index, record.code_index);
	ret = end_code(dumps, dump, time, record.old_code_addr,
		       record.code_size);
	if (ret)
		return ret;
	return put_code(dumps, dump, time, record.new_code_addr,
			record.code_size, unwinding ? *unwinding : 0);
}

static size_t least_of(uint32_t id)
{
	switch (id) {
	case JITDUMP_LOAD:
		return sizeof(struct jitdump_load);
	case JITDUMP_MOVE:
		return sizeof(struct jitdump_move);
	case JITDUMP_UNWINDING_INFO:
		return sizeof(struct jitdump_unwinding);
	default:
		return sizeof(struct jitdump_prefix);
	}
}

static int apply(struct jitdumps *dumps, struct jitdump *dump, uint32_t id,
		 uint64_t time, const uint8_t *at)
{
	switch (id) {
	case JITDUMP_LOAD:
		return load_code(dumps, dump, time, at);
	case JITDUMP_MOVE:
		return move_code(dumps, dump, time, at);
	case JITDUMP_UNWINDING_INFO:
		dump->unwinding = dump->offset;
		return 0;
	default:
		return 0;
	}
}

static int retire_code(struct jitdumps *dumps, struct jitdump *dump,
		       uint64_t until)
{
	struct jitdump_retired next;
	int ret = 0;

	while (!ret && dump->retired &&
	       retired_take(dump->retired, until, &next))
		ret = end_code(dumps, dump, next.timestamp, next.code_addr,
			       next.code_size);
	return ret;
}

/* Whether all of a record is there, in a file that may still grow. */
static bool is_complete(const struct jitdump *dump, uint32_t size)
{
	struct stat st;

	return dump->offset + size <= dump->end ||
	       (!fstat(dump->fd, &st) &&
		dump->offset + size <= (uint64_t)st.st_size);
}

/* 1: goes on, 0: ends here for now, or -ENOMEM. */
static int read_dump_record(struct jitdumps *dumps, struct jitdump *dump,
			    uint64_t until)
{
	struct jitdump_prefix prefix;
	const uint8_t *at =
		peek_bytes(dumps, dump, dump->offset, sizeof(prefix));
	uint64_t time;
	int ret;

	if (!at)
		return 0;
	memcpy(&prefix, at, sizeof(prefix));
	time = dump_time(dumps, dump, prefix.timestamp);
	if (dump->timed && time > until) {
		dump->waits = time;
		return 0;
	}
	if (prefix.total_size < least_of(prefix.id)) {
		say_of_dump(dumps, dump, "damaged, the rest of it is not used");
		drop_dump(dump);
		return 0;
	}
	if (!is_complete(dump, prefix.total_size))
		return 0;
	at = peek_bytes(dumps, dump, dump->offset, least_of(prefix.id));
	if (!at)
		return 0;
	/* The tracker is not to be told first of what is much later. */
	ret = retire_code(dumps, dump, time);
	if (!ret)
		ret = apply(dumps, dump, prefix.id, time, at);
	dump->offset += prefix.total_size;
	return ret < 0 ? ret : 1;
}

/* ---- Files ------------------------------------------------------------ */

/* jit-PID.dump, whatever the number is in the process's own namespace. */
bool jitdump_is_marker(const char *path)
{
	const char *name = strrchr(path, '/'), *end;

	if (!name || strncmp(name, "/jit-", 5) || !isdigit(name[5]))
		return false;
	for (end = name + 5; isdigit(*end); end++)
		;
	return !strcmp(end, ".dump");
}

static const char *check_dump_header(const struct jitdump_header *header)
{
	if (header->magic == __builtin_bswap32(JITDUMP_MAGIC))
		return "of a machine of the other byte order";
	if (header->magic != JITDUMP_MAGIC ||
	    header->version != JITDUMP_VERSION ||
	    header->total_size < sizeof(*header))
		return "not a jitdump of version 1";
	return NULL;
}

static void check_clock(struct jitdumps *dumps, struct jitdump *dump,
			const struct jitdump_header *header)
{
	dump->in_cycles = header->flags & JITDUMP_ARCH_TIMESTAMP;
	dump->timed = dump->in_cycles ? dumps->cycles && dumps->cycles->known :
					dumps->monotonic;
	if (dump->timed || dumps->said_clock)
		return;
	dumps->said_clock = true;
	say_of_dump(dumps, dump, dump->in_cycles ?
		    "its times are cycles, which takes perf record without "
		    "-k: all its code counts from the beginning" :
		    "its times are not those of the recording, which takes "
		    "perf record -k mono: all its code counts from the "
		    "beginning");
}

/* It says what goes only if libsfjit writes it, with CLOCK_MONOTONIC. */
static int read_dump_header(struct jitdumps *dumps, struct jitdump *dump,
			    const uint8_t *at, const char **why)
{
	struct jitdump_header header;

	memcpy(&header, at, sizeof(header));
	*why = check_dump_header(&header);
	if (*why)
		return 0;
	dump->begun = true;
	dump->offset = header.total_size;
	check_clock(dumps, dump, &header);
	return dump->timed && !dump->in_cycles ?
	       retired_open(dump->path, &header, &dump->retired) : 0;
}

/* The header may come later. @quiet: say nothing. 0, or -ENOMEM. */
static int begin_dump(struct jitdumps *dumps, struct jitdump *dump,
		      bool quiet)
{
	const uint8_t *at = peek_bytes(dumps, dump, 0,
				       sizeof(struct jitdump_header));
	const char *why = NULL;
	int ret = at ? read_dump_header(dumps, dump, at, &why) : 0;

	if (!why)
		return ret;
	if (!quiet)
		say_of_dump(dumps, dump, why);
	drop_dump(dump);
	return 0;
}

static int read_records(struct jitdumps *dumps, struct jitdump *dump,
			uint64_t until)
{
	int ret = dump->waits <= until;

	/* The window had another file, or less of this one. */
	dump->begin = dump->end = 0;
	if (!dump->begun && begin_dump(dumps, dump, false))
		return -ENOMEM;
	if (!dump->begun)
		return 0;
	while (ret == 1 && dump->fd >= 0)
		ret = read_dump_record(dumps, dump, until);
	return ret < 0 ? ret : retire_code(dumps, dump, until);
}

static void free_dump(struct jitdump *dump)
{
	if (dump->fd >= 0)
		drop_dump(dump);
	retired_close(dump->retired);
	table_free(&dump->by_index);
	free(dump->path);
	free(dump);
}

static const struct jitdump *find_dump(const struct jitdumps *dumps, pid_t pid,
				       const char *path)
{
	const struct jitdump *dump = dumps->first;

	while (dump && (dump->over || dump->pid != pid ||
			strcmp(dump->path, path)))
		dump = dump->next;
	return dump;
}

static struct jitdump *new_dump(pid_t pid, uint64_t time, const char *path)
{
	struct jitdump *dump = calloc(1, sizeof(*dump));

	if (!dump)
		return NULL;
	*dump = (struct jitdump){
		.pid = pid, .mapped = time, .path = strdup(path), .fd = -1,
	};
	if (dump->path)
		return dump;
	free(dump);
	return NULL;
}

/* 1: it is there, 0: it is not, or -ENOMEM. */
static int open_dump_file(struct jitdumps *dumps, struct jitdump *dump,
			  bool named)
{
	int ret;

	dump->fd = file_open(dump->path);
	if (dump->fd < 0) {
		if (!named)
			say_of_dump(dumps, dump, dump->fd == -ENOTSUP ?
				    "not a file" : strerror(-dump->fd));
		return 0;
	}
	ret = begin_dump(dumps, dump, named);
	if (ret || dump->fd < 0)
		return ret;
	return !named || dump->retired;
}

/* @named: it counts only with what it retires, and nothing is said. */
static int add_dump(struct jitdumps *dumps, pid_t pid, uint64_t time,
		    const char *path, bool named)
{
	struct jitdump *dump;
	int ret;

	if (!dumps->window)
		dumps->window = malloc(WINDOW);
	dump = dumps->window ? new_dump(pid, time, path) : NULL;
	if (!dump)
		return -ENOMEM;
	ret = open_dump_file(dumps, dump, named);
	if (ret != 1) {
		free_dump(dump);
		return ret;
	}
	dump->next = dumps->first;
	dumps->first = dump;
	return 0;
}

int jitdumps_add(struct jitdumps *dumps, pid_t pid, uint64_t time,
		 const char *path)
{
	return find_dump(dumps, pid, path) ? 0 :
	       add_dump(dumps, pid, time, path, false);
}

/* DIR/jitted-PID-INDEX.so to DIR/jit-PID.dump: 1, 0: it is none, or -ENOMEM. */
static int dump_of(const char *path, char **dump)
{
	const char *name = strrchr(path, '/');
	int pid, end = 0;

	if (!name || sscanf(name, "/jitted-%d-%*d.so%n", &pid, &end) != 1 ||
	    !end || name[end])
		return 0;
	return asprintf(dump, "%.*s/jit-%d.dump", (int)(name - path), path,
			pid) < 0 ? -ENOMEM : 1;
}

int jitdumps_take_over(struct jitdumps *dumps, pid_t pid, uint64_t time,
		       const char *path)
{
	const struct jitdump *dump;
	char *beside;
	int ret = dump_of(path, &beside);

	if (ret != 1)
		return ret;
	ret = 0;
	if (!find_dump(dumps, pid, beside))
		ret = add_dump(dumps, pid, time, beside, true);
	dump = find_dump(dumps, pid, beside);
	free(beside);
	return ret ? ret : dump && dump->retired;
}

void jitdumps_remove(struct jitdumps *dumps, pid_t pid)
{
	struct jitdump *dump;

	for (dump = dumps->first; dump; dump = dump->next)
		dump->over |= dump->pid == pid;
}

bool jitdumps_expect(const struct jitdumps *dumps, pid_t pid)
{
	const struct jitdump *dump;

	for (dump = dumps->first; dump; dump = dump->next)
		if (dump->pid == pid && !dump->over && dump->fd >= 0 &&
		    !dump->undescribed)
			return true;
	return false;
}

/* It has not become one. */
static void close_dump(struct jitdumps *dumps, struct jitdump *dump)
{
	if (dump->fd >= 0 && !dump->begun)
		say_of_dump(dumps, dump, "not a jitdump");
	free_dump(dump);
}

static void free_over(struct jitdumps *dumps)
{
	struct jitdump **at = &dumps->first, *dump;

	while (*at) {
		dump = *at;
		if (!dump->over) {
			at = &dump->next;
			continue;
		}
		*at = dump->next;
		close_dump(dumps, dump);
	}
}

int jitdumps_read(struct jitdumps *dumps, uint64_t until)
{
	struct jitdump *dump;
	int ret = 0;

	until = until < UINT64_MAX - LATE_NS ? until + LATE_NS : UINT64_MAX;
	for (dump = dumps->first; dump && !ret; dump = dump->next)
		ret = read_records(dumps, dump, until);
	free_over(dumps);
	return ret;
}

void jitdumps_free(struct jitdumps *dumps)
{
	struct jitdump *next;

	for (; dumps->first; dumps->first = next) {
		next = dumps->first->next;
		close_dump(dumps, dumps->first);
	}
	free(dumps->window);
}
