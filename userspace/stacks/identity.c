// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/*
 * The file of a mapping. The path is valid in the process, which may have
 * another root and other mounts, and may lead to another file by now. So a path
 * is only a guess: check that the file you open is the one that was mapped.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "elf_file.h"
#include "identity.h"
#include "maps.h"

#ifndef BTRFS_SUPER_MAGIC
#define BTRFS_SUPER_MAGIC	0x9123683E
#endif
#ifndef OVERLAYFS_SUPER_MAGIC
#define OVERLAYFS_SUPER_MAGIC	0x794c7630
#endif

enum verdict {
	OTHER,
	ALIKE,		/* the same inode, on a device of another name */
	SAME,
	CONTRADICTS,	/* it has the build-id, but is not what was mapped */
};

/* ---- Files that are there ---------------------------------------------- */

/*
 * Takes over @path, a descriptor by O_PATH. To open a FIFO or a device has
 * effects, so it is looked at first.
 */
static int open_regular(int path)
{
	char name[32];
	struct stat st;
	int fd = -ENOENT;

	if (path < 0)
		return -errno;
	snprintf(name, sizeof(name), "/proc/self/fd/%d", path);
	if (!fstat(path, &st) && S_ISREG(st.st_mode)) {
		fd = open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
		if (fd < 0)
			fd = -errno;
	}
	close(path);
	return fd;
}

static int open_here(const char *path)
{
	return open_regular(open(path, O_PATH | O_CLOEXEC));
}

static int open_of_process(pid_t pid, const char *name)
{
	char path[96];

	snprintf(path, sizeof(path), "/proc/%d/%s", pid, name);
	return open_here(path);
}

/* As who has it for a root: absolute links start there, and stay below. */
static int open_below(const char *directory, const char *path)
{
	struct open_how how = {
		.flags = O_PATH | O_CLOEXEC, .resolve = RESOLVE_IN_ROOT,
	};
	int root, fd;

	root = open(directory, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (root < 0)
		return -errno;
	fd = syscall(SYS_openat2, root, path, &how, sizeof(how));
	fd = open_regular(fd);
	close(root);
	return fd;
}

static int open_below_root(pid_t pid, const char *path)
{
	char name[32];

	snprintf(name, sizeof(name), "/proc/%d/root", pid);
	return open_below(name, path);
}

/* ---- Whether one is what was mapped ------------------------------------ */

static bool is_on(const struct sfjit_stacks_mapping *m, unsigned int major,
		  unsigned int minor)
{
	return (!m->device_major && !m->device_minor) ||
	       (m->device_major == major && m->device_minor == minor);
}

/* stat() has a device for each subvolume or layer there, maps have not. */
static bool renames_devices(int fd)
{
	struct statfs fs;

	return !fstatfs(fd, &fs) &&
	       ((uint32_t)fs.f_type == BTRFS_SUPER_MAGIC ||
		(uint32_t)fs.f_type == OVERLAYFS_SUPER_MAGIC);
}

static bool has_build_id(int fd, const struct sfjit_stacks_mapping *m)
{
	struct content content = { 0 };

	elf_read_build_id_of(fd, &content);
	return content.length == m->build_id_length &&
	       !memcmp(content.build_id, m->build_id, content.length);
}

static enum verdict judge_inode(int fd, const struct sfjit_stacks_mapping *m)
{
	struct stat st;

	if (fstat(fd, &st) || st.st_ino != m->inode)
		return OTHER;
	if (is_on(m, major(st.st_dev), minor(st.st_dev)))
		return SAME;
	return ALIKE;
}

/*
 * With an inode, the build-id is that of the path in our root at some other
 * time. A file that our path leads to and that has the inode, but another
 * build-id, was written over since: @ours.
 */
static enum verdict judge(int fd, const struct sfjit_stacks_mapping *m,
			  bool ours)
{
	enum verdict by_inode = m->inode ? judge_inode(fd, m) : SAME;
	bool by_id;

	if (m->build_id_length && m->inode && by_inode == SAME && ours)
		return has_build_id(fd, m) ? SAME : OTHER;
	if (!m->build_id_length || (m->inode && by_inode == SAME))
		return by_inode == ALIKE && !renames_devices(fd) ? OTHER :
								  by_inode;
	by_id = has_build_id(fd, m);
	if (!m->inode || by_inode == ALIKE)
		return by_id ? SAME : OTHER;
	return by_id ? CONTRADICTS : OTHER;
}

/* ---- Those that may be it ---------------------------------------------- */

struct search {
	const struct sfjit_stacks_mapping *mapping;
	int alike;		/* a descriptor, or negative */
	bool contradicts;
};

/* Takes over @fd, which may be negative. @ours: by a path in our root. */
static int keep_if_same(struct search *search, int fd, bool ours)
{
	enum verdict verdict;

	if (fd < 0)
		return fd;
	verdict = judge(fd, search->mapping, ours);
	if (verdict == SAME)
		return fd;
	if (verdict == ALIKE) {
		if (search->alike >= 0)
			close(search->alike);
		search->alike = fd;
		return -ENOENT;
	}
	search->contradicts |= verdict == CONTRADICTS;
	close(fd);
	return -ENOENT;
}

/* The process has there what the mapping says, by the same numbers. */
static bool is_mapped_now(const struct sfjit_stacks_mapping *has,
			  const struct sfjit_stacks_mapping *m)
{
	return has->inode && m->start - has->start < has->length &&
	       (!m->inode || (m->inode == has->inode &&
			      is_on(m, has->device_major, has->device_minor)));
}

static bool find_mapped_file(pid_t pid, const struct sfjit_stacks_mapping *m,
			     char name[40])
{
	struct sfjit_stacks_mapping has;
	struct maps maps;
	bool found = false;

	if (!maps_open(&maps, pid))
		while (!found && maps_next(&maps, &has))
			found = is_mapped_now(&has, m);
	maps_close(&maps);
	if (found)
		snprintf(name, 40, "%" PRIx64 "-%" PRIx64, has.start,
			 has.start + has.length);
	return found;
}

/* Also what no path leads to any more. */
static int open_mapped_file(struct search *search, pid_t pid)
{
	const struct sfjit_stacks_mapping *m = search->mapping;
	char name[40], path[64];
	int fd;

	if (!find_mapped_file(pid, m, name))
		return -ENOENT;
	snprintf(path, sizeof(path), "map_files/%s", name);
	fd = open_of_process(pid, path);
	if (fd < 0)		/* only for who is privileged */
		return keep_if_same(search, open_of_process(pid, "exe"),
				    false);
	return m->inode ? fd : keep_if_same(search, fd, false);
}

static bool has_our_root(pid_t pid)
{
	struct stat ours, theirs;
	char name[32];

	snprintf(name, sizeof(name), "/proc/%d/root/", pid);
	return !stat("/", &ours) && !stat(name, &theirs) &&
	       ours.st_dev == theirs.st_dev && ours.st_ino == theirs.st_ino;
}

static int search_process(struct search *search, pid_t pid)
{
	int fd = keep_if_same(search,
			      open_below_root(pid, search->mapping->path),
			      has_our_root(pid));

	return fd >= 0 ? fd : open_mapped_file(search, pid);
}

int identity_open(pid_t pid, const struct sfjit_stacks_mapping *mapping)
{
	struct search search = { .mapping = mapping, .alike = -1 };
	int fd;

	if (mapping->path[0] != '/')
		return -ENOENT;
	fd = keep_if_same(&search, open_here(mapping->path), true);
	if (fd < 0 && pid > 0 && (mapping->inode || mapping->build_id_length))
		fd = search_process(&search, pid);
	if (fd >= 0 && search.alike >= 0)
		close(search.alike);
	if (fd >= 0)
		return fd;
	if (search.alike >= 0)
		return search.alike;
	return search.contradicts ? -ESTALE : fd;
}

int identity_open_below(const char *directory,
			const struct sfjit_stacks_mapping *mapping)
{
	int fd;

	if (mapping->path[0] != '/')
		return -ENOENT;
	fd = open_below(directory, mapping->path);
	if (fd < 0 || !mapping->build_id_length || has_build_id(fd, mapping))
		return fd;
	close(fd);
	return -ESTALE;
}
