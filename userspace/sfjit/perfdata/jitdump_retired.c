// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/*
 * The code of a jitdump that was freed. The program may still write to the
 * file: read incomplete lines later.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "file.h"
#include "jitdump.h"

#define AT_ONCE		128

struct retired {
	int fd;
	uint64_t offset;	/* in the file, of the next one to be read */
	size_t first, nr;	/* of what was read */
	struct jitdump_retired list[AT_ONCE];
};

/* jit-PID.dump to jit-PID.retired. */
static char *retired_path(const char *dump)
{
	static const char suffix[] = ".retired";
	const char *dot = strrchr(dump, '.');
	size_t length = dot ? (size_t)(dot - dump) : strlen(dump);
	char *path = malloc(length + sizeof(suffix));

	if (!path)
		return NULL;
	memcpy(path, dump, length);
	memcpy(path + length, suffix, sizeof(suffix));
	return path;
}

static bool has_header(int fd, const struct jitdump_header *wanted)
{
	struct jitdump_header header;

	return pread(fd, &header, sizeof(header), 0) == sizeof(header) &&
	       !memcmp(&header, wanted, sizeof(header));
}

static int begin_retired(int fd, struct retired **result)
{
	struct retired *retired = malloc(sizeof(*retired));

	if (!retired)
		return -ENOMEM;
	retired->fd = fd;
	retired->offset = sizeof(struct jitdump_header);
	retired->first = retired->nr = 0;
	*result = retired;
	return 0;
}

int retired_open(const char *path, const struct jitdump_header *header,
		 struct retired **retired)
{
	char *beside = retired_path(path);
	int fd, ret = 0;

	*retired = NULL;
	if (!beside)
		return -ENOMEM;
	fd = file_open(beside);
	free(beside);
	if (fd < 0)
		return 0;
	if (has_header(fd, header))
		ret = begin_retired(fd, retired);
	if (!*retired)
		close(fd);
	return ret;
}

void retired_close(struct retired *retired)
{
	if (retired)
		close(retired->fd);
	free(retired);
}

static bool read_more(struct retired *retired)
{
	ssize_t n = pread(retired->fd, retired->list, sizeof(retired->list),
			  retired->offset);

	retired->first = 0;
	retired->nr = n > 0 ? n / sizeof(retired->list[0]) : 0;
	retired->offset += retired->nr * sizeof(retired->list[0]);
	return retired->nr;
}

bool retired_take(struct retired *retired, uint64_t until,
		  struct jitdump_retired *next)
{
	if (retired->first == retired->nr && !read_more(retired))
		return false;
	if (retired->list[retired->first].timestamp > until)
		return false;
	*next = retired->list[retired->first++];
	return true;
}
