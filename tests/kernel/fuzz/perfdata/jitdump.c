// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/* Any bytes as a jitdump, read at once and in parts. */
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "jitdump.h"
#include "oracle.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void say(void *arg, const char *line)
{
	REQUIRE(line[0]);
}

static void read_dump(const char *path, const uint64_t *until, size_t nr,
		      bool monotonic, const struct cycles *cycles)
{
	struct jitdumps dumps = {
		.monotonic = monotonic, .cycles = cycles, .say = say,
	};
	size_t i;

	REQUIRE(!sfjit_stacks_begin(NULL, &dumps.stacks));
	REQUIRE(!jitdumps_add(&dumps, 1, 5, path));
	for (i = 0; i < nr; i++)
		REQUIRE(!jitdumps_read(&dumps, until[i]));
	jitdumps_remove(&dumps, 1);
	REQUIRE(!jitdumps_read(&dumps, UINT64_MAX));
	REQUIRE(!dumps.first);
	jitdumps_free(&dumps);
	sfjit_stacks_end(dumps.stacks);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const uint64_t parts[] = { 0, 1, 300000000, 1ULL << 60 };
	static const struct cycles cycles = {
		.shift = 1, .mult = 3, .zero = 7, .last = 1ULL << 40,
		.mask = UINT64_MAX, .known = true,
	};
	int fd = memfd_create("jitdump", MFD_CLOEXEC);
	char path[64];

	REQUIRE(fd >= 0 && pwrite(fd, data, size, 0) == (ssize_t)size);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	read_dump(path, NULL, 0, true, NULL);
	read_dump(path, parts, 4, true, NULL);
	read_dump(path, NULL, 0, false, NULL);
	read_dump(path, parts, 4, false, &cycles);
	close(fd);
	return 0;
}
