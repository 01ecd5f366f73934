// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/* Any bytes as what says when code goes, read at once and in parts. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "jitdump.h"
#include "oracle.h"
#include "jitdump.h"

#define MOST	4096

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void say(void *arg, const char *line)
{
	REQUIRE(line[0]);
}

static struct jitdump_retired whole[MOST], parts[MOST];

static struct retired *open_at(const char *path, const void *header)
{
	struct retired *retired;

	REQUIRE(!retired_open(path, header, &retired));
	return retired;
}

static size_t take(struct retired *retired, uint64_t until,
		   struct jitdump_retired *list, size_t nr)
{
	while (nr < MOST && retired_take(retired, until, &list[nr])) {
		REQUIRE(list[nr].timestamp <= until);
		nr++;
	}
	return nr;
}

/* The file grows between the parts. */
static size_t read_parts(const char *path, int fd, const uint8_t *data,
			 size_t size)
{
	static const uint64_t until[] = { 0, 300, 1ULL << 40, UINT64_MAX };
	struct retired *retired;
	size_t i, nr = 0;

	REQUIRE(!ftruncate(fd, sizeof(struct jitdump_header)));
	retired = open_at(path, data);
	REQUIRE(retired);
	for (i = 0; i < 4; i++) {
		nr = take(retired, until[i], parts, nr);
		REQUIRE(pwrite(fd, data, size * (i + 1) / 4, 0) ==
			(ssize_t)(size * (i + 1) / 4));
		nr = take(retired, until[i], parts, nr);
	}
	nr = take(retired, UINT64_MAX, parts, nr);
	retired_close(retired);
	return nr;
}

static void check(const char *path, int fd, const uint8_t *data, size_t size)
{
	size_t records = (size - sizeof(struct jitdump_header)) /
			 sizeof(struct jitdump_retired);
	struct retired *retired = open_at(path, data);
	size_t nr;

	REQUIRE(retired);
	nr = take(retired, UINT64_MAX, whole, 0);
	retired_close(retired);
	REQUIRE(nr == (records < MOST ? records : MOST));
	REQUIRE(!memcmp(whole, data + sizeof(struct jitdump_header),
			nr * sizeof(*whole)));
	REQUIRE(read_parts(path, fd, data, size) == nr);
	REQUIRE(!memcmp(whole, parts, nr * sizeof(*whole)));
}

/* As a recording has it, with the mapping that perf puts in its place. */
static void read_both(const char *path, const char *mapped)
{
	struct jitdumps dumps = { .monotonic = true, .say = say };
	uint64_t until;
	int ret;

	REQUIRE(!sfjit_stacks_begin(NULL, &dumps.stacks));
	if (!mapped)
		REQUIRE(!jitdumps_add(&dumps, 1, 5, path));
	for (until = 1; mapped && until < 3; until++) {
		ret = jitdumps_take_over(&dumps, 1, until, mapped);
		REQUIRE(ret == !!dumps.first);
	}
	for (until = 1; until < UINT64_MAX / 1000; until *= 1000)
		REQUIRE(!jitdumps_read(&dumps, until));
	jitdumps_remove(&dumps, 1);
	REQUIRE(!jitdumps_read(&dumps, UINT64_MAX));
	REQUIRE(!dumps.first);
	jitdumps_free(&dumps);
	sfjit_stacks_end(dumps.stacks);
}

static char directory[] = "/dev/shm/fuzz-XXXXXX";
static char paths[3][64];
enum { DUMP, RETIRED, MAPPED };

static void clean_up(void)
{
	unlink(paths[DUMP]);
	unlink(paths[RETIRED]);
	rmdir(directory);
}

static int open_new(const char *path)
{
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);

	REQUIRE(fd >= 0);
	return fd;
}

static void name(int which, const char *base)
{
	snprintf(paths[which], sizeof(paths[which]), "%s/%s", directory, base);
}

static void set_up(int *dump, int *retired)
{
	REQUIRE(mkdtemp(directory) && !atexit(clean_up));
	name(DUMP, "jit-1.dump");
	name(RETIRED, "jit-1.retired");
	name(MAPPED, "jitted-1-0.so");
	*dump = open_new(paths[DUMP]);
	*retired = open_new(paths[RETIRED]);
}

/* Code at two times, and the header of what is retired. */
static void write_dump(int fd, const uint8_t *header)
{
	struct jitdump_load load[] = {
		{ .prefix = { 0, sizeof(*load), 300 }, .code_size = 8 },
		{ .prefix = { 0, sizeof(*load), 1 << 30 }, .code_size = 9 },
	};

	REQUIRE(pwrite(fd, header, 40, 0) == 40);
	REQUIRE(pwrite(fd, load, sizeof(load), 40) == sizeof(load));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const uint8_t zeros[sizeof(struct jitdump_header)];
	static int dump, retired;

	if (!dump)
		set_up(&dump, &retired);
	REQUIRE(!ftruncate(retired, 0));
	REQUIRE(pwrite(retired, data, size, 0) == (ssize_t)size);
	if (size < sizeof(zeros)) {
		REQUIRE(!open_at(paths[DUMP], zeros));
		return 0;
	}
	if (memcmp(data, zeros, sizeof(zeros)))
		REQUIRE(!open_at(paths[DUMP], zeros));
	write_dump(dump, data);
	read_both(paths[DUMP], NULL);
	read_both(paths[DUMP], paths[MAPPED]);
	check(paths[DUMP], retired, data, size);
	return 0;
}
