// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "file_tables.h"
#include "util.h"

#define LINK	"anon_inode:[sframe_files]"

/* ENOENT: the module is not loaded; ENOTTY: it is older. */
static int open_by_node(void)
{
	int node = open(SFJIT_DEVICE, O_RDONLY | O_CLOEXEC | O_NONBLOCK), fd;

	if (node < 0)
		return errno == ENOENT ? -EINVAL : -errno;
	fd = ioctl(node, SFJIT_IOC_FILES);
	if (fd < 0)
		fd = errno == ENOTTY ? -EINVAL : -errno;
	close(node);
	return fd;
}

int file_tables_open(void)
{
	int fd = prctl(PR_SFRAME_FILES, 0, 0, 0, 0);

	if (fd >= 0)
		return fd;
	return errno == EINVAL ? open_by_node() : -errno;
}

int file_tables_add(int fd, const struct table_of *file, const void *table,
		    size_t length, uint64_t bias)
{
	struct sframe_file_opts opts = {
		.size = sizeof(opts), .fd = file->fd,
		.table = (uintptr_t)table, .length = length, .text_bias = bias,
		.ctime = file->ctime.tv_sec, .ctime_nsec = file->ctime.tv_nsec,
	};
	int id = ioctl(fd, SFRAME_IOC_ADD, &opts);

	return id < 0 ? -errno : id;
}

int file_tables_remove(int fd, unsigned int id)
{
	return ioctl(fd, SFRAME_IOC_REMOVE, (unsigned long)id) ? -errno : 0;
}

bool file_tables_are(const char *dir, int fd)
{
	char path[64], link[sizeof(LINK)];
	ssize_t length;

	snprintf(path, sizeof(path), "%s/fd/%d", dir, fd);
	length = readlink(path, link, sizeof(link));
	return length == sizeof(LINK) - 1 && !memcmp(link, LINK, length);
}

static bool parse_table(const char *line, struct file_table *table)
{
	char state[8];

	if (sscanf(line, "table %u %x:%x %" SCNu64 " %" SCNx64 "-%" SCNx64
		   " %" SCNu64 " %7s", &table->id, &table->major,
		   &table->minor, &table->inode, &table->first, &table->last,
		   &table->bytes, state) != 8)
		return false;
	table->changed = !strcmp(state, "changed");
	return true;
}

int file_tables_list(const char *dir, int fd,
		     void (*take)(void *arg, const struct file_table *table),
		     void (*other)(void *arg, const char *line), void *arg)
{
	struct file_table table;
	char text[256];
	FILE *file;
	int ret;

	snprintf(text, sizeof(text), "%s/fdinfo/%d", dir, fd);
	file = fopen(text, "re");
	if (!file)
		return -errno;
	while (fgets(text, sizeof(text), file)) {
		if (parse_table(text, &table))
			take(arg, &table);
		else if (other && strncmp(text, "table", 5))
			other(arg, text);
	}
	ret = ferror(file) ? -errno : 0;
	fclose(file);
	return ret;
}

struct search {
	void (*found)(void *arg, const char *dir, int fd);
	void *arg;
};

static void find_in_process(void *arg, const char *dir, pid_t pid)
{
	const struct search *search = arg;
	struct dirent *entry;
	char path[64];
	DIR *fds;
	int fd;

	snprintf(path, sizeof(path), "%s/fd", dir);
	fds = opendir(path);
	while (fds && (entry = readdir(fds))) {
		fd = atoi(entry->d_name);
		if (*entry->d_name != '.' && file_tables_are(dir, fd))
			search->found(search->arg, dir, fd);
	}
	if (fds)
		closedir(fds);
}

void file_tables_find(const char *proc,
		      void (*found)(void *arg, const char *dir, int fd),
		      void *arg)
{
	struct search search = { found, arg };

	each_process(proc, find_in_process, &search);
}
