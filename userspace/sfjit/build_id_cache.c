// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "build_id_cache.h"
#include "elf_note.h"

#define HEX_MOST	(2 * SFJIT_STACKS_BUILD_ID_MAX + 1)

struct entry {
	char hex[HEX_MOST];
	char dir[PATH_MAX], file[PATH_MAX];
	char link[PATH_MAX], target[PATH_MAX], linked[PATH_MAX];
};

static bool fits(int length)
{
	return length > 0 && length < PATH_MAX;
}

/* The path comes from a recording. */
static bool leads_up(const char *path)
{
	const char *at = path;

	while ((at = strstr(at, "/..")))
		if (at[3] == '/' || !at[3])
			return true;
		else
			at += 3;
	return false;
}

static int name_entry(const char *dir, const struct perfdata_build_id *id,
		      struct entry *e)
{
	const char *slash = *id->path == '/' ? "" : "/";
	const char *name = id->kernel ? "kallsyms" : "elf";
	int i;

	if (!id->length || leads_up(id->path))
		return -EINVAL;
	for (i = 0; i < id->length; i++)
		snprintf(e->hex + 2 * i, 3, "%02x", id->bytes[i]);
	if (!fits(snprintf(e->dir, PATH_MAX, "%s%s%s/%s", dir, slash, id->path,
			   e->hex)) ||
	    !fits(snprintf(e->file, PATH_MAX, "%s/%s", e->dir, name)) ||
	    !fits(snprintf(e->link, PATH_MAX, "%s/.build-id/%.2s/%s", dir,
			   e->hex, e->hex + 2)) ||
	    !fits(snprintf(e->linked, PATH_MAX, "%s/%s", e->link, name)) ||
	    !fits(snprintf(e->target, PATH_MAX, "../..%s%s/%s", slash,
			   id->path, e->hex)))
		return -ENAMETOOLONG;
	return 0;
}

/* The directories up to the last slash. */
static int make_directories(const char *path)
{
	char name[PATH_MAX];
	size_t i;

	strcpy(name, path);
	for (i = 1; path[i]; i++) {
		if (path[i] != '/')
			continue;
		name[i] = '\0';
		if (mkdir(name, 0755) && errno != EEXIST)
			return -errno;
		name[i] = '/';
	}
	return 0;
}

static int set_link(const struct entry *e)
{
	int ret = make_directories(e->link);

	if (ret)
		return ret;
	/* One that leads nowhere is of a file that was removed. */
	if (access(e->link, F_OK))
		unlink(e->link);
	return symlink(e->target, e->link) && errno != EEXIST ? -errno : 0;
}

/* ---- The file ----------------------------------------------------------- */

static int link_file(const struct entry *e, int fd)
{
	char name[32];
	struct stat st;

	if (fstat(fd, &st))
		return -errno;
	/* It would outlive an update that fixes such a program. */
	if (st.st_mode & (S_ISUID | S_ISGID))
		return -EPERM;
	snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
	if (linkat(AT_FDCWD, name, AT_FDCWD, e->file, AT_SYMLINK_FOLLOW) &&
	    errno != EEXIST)
		return -errno;
	return 0;
}

static int write_all(int to, const char *from, size_t length)
{
	ssize_t n;

	for (; length; length -= n, from += n) {
		n = write(to, from, length);
		if (n < 0 && errno != EINTR)
			return -errno;
		if (n < 0)
			n = 0;
	}
	return 0;
}

static int copy_bytes(int to, int from)
{
	char bytes[65536];
	off_t at = 0;
	ssize_t n;
	int ret = 0;

	while (!ret && (n = pread(from, bytes, sizeof(bytes), at))) {
		if (n < 0 && errno != EINTR)
			return -errno;
		if (n < 0)
			continue;
		ret = write_all(to, bytes, n);
		at += n;
	}
	return ret;
}

static int copy_file(const struct entry *e, int fd)
{
	char name[PATH_MAX];
	struct stat st;
	int to, ret;

	if (!fits(snprintf(name, sizeof(name), "%s/.sfjit-XXXXXX", e->dir)))
		return -ENAMETOOLONG;
	to = mkostemp(name, O_CLOEXEC);
	if (to < 0)
		return -errno;
	ret = copy_bytes(to, fd);
	if (!ret && (fstat(fd, &st) || fchmod(to, st.st_mode & 0755)))
		ret = -errno;
	if (close(to) && !ret)
		ret = -errno;
	if (!ret && rename(name, e->file))
		ret = -errno;
	if (ret)
		unlink(name);
	return ret;
}

/*
 * Perhaps by another path: a build-id has one file. A hard link may have been
 * written to by its other name: remove it.
 */
static bool has_entry(const struct entry *e,
		      const struct perfdata_build_id *id)
{
	int fd = open(e->linked, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct perfdata_build_id has;

	if (fd < 0)
		return false;
	if (!id->kernel)
		elf_note_of_file(fd, &has);
	close(fd);
	if (id->kernel || (has.length == id->length &&
			   !memcmp(has.bytes, id->bytes, has.length)))
		return true;
	unlink(e->linked);
	unlink(e->link);
	return false;
}

static int add(const char *dir, const struct perfdata_build_id *id, int fd,
	       int (*put)(const struct entry *e, int fd))
{
	struct entry e;
	int ret = name_entry(dir, id, &e);

	if (ret || has_entry(&e, id))
		return ret;
	ret = make_directories(e.file);
	if (!ret)
		ret = put(&e, fd);
	return ret ? ret : set_link(&e);
}

int build_id_cache_link(const char *dir, const struct perfdata_build_id *id,
			int fd)
{
	return add(dir, id, fd, link_file);
}

int build_id_cache_copy(const char *dir, const struct perfdata_build_id *id,
			int fd)
{
	return add(dir, id, fd, copy_file);
}
