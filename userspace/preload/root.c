// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/*
 * ld.so prints an error for each program that it runs where it does not find a
 * preloaded file. So once the process has another root directory, in which this
 * module is not, the variable loses our entry: programs that are started there
 * have no windows, and no message.
 *
 * Also after setns() and umount2(), by which programs leave a root that they
 * changed by pivot_root(), which libc does not have.
 */
#include <limits.h>
#include <sched.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mount.h>

#include "libc.h"
#include "sys.h"

#define EXPORT		__attribute__((visibility("default")))
#define VARIABLE	"LD_PRELOAD="
#define FILE_NAME	"/libsfjit-preload.so"
#define SEPARATORS	" :"

EXPORT int chroot(const char *path) __attribute__((nonnull(1)));
EXPORT int setns(int fd, int kind);
EXPORT int umount2(const char *path, int flags) __attribute__((nonnull(1)));

static int (*next_chroot)(const char *path);
static int (*next_setns)(int fd, int kind);
static int (*next_umount2)(const char *path, int flags);

__attribute__((constructor)) static void look_up(void)
{
	next_chroot = (int (*)(const char *))libc_next("chroot");
	next_setns = (int (*)(int, int))libc_next("setns");
	next_umount2 = (int (*)(const char *, int))libc_next("umount2");
}

static bool is_ours(const char *entry, size_t length)
{
	size_t name = strlen(FILE_NAME);

	return length >= name &&
	       !strncmp(entry + length - name, FILE_NAME, name);
}

static bool is_there(const char *entry, size_t length)
{
	char path[PATH_MAX];

	/* ld.so would not take a longer one either. */
	if (length >= sizeof(path))
		return false;
	memcpy(path, entry, length);
	path[length] = '\0';
	return !SYS(SYS_faccessat, AT_FDCWD, path, R_OK);
}

/* Where our entry begins, if its file is not there; NULL: nothing is to do. */
static const char *find_lost(const char *list, size_t *length)
{
	for (; *list; list += *length + (list[*length] != '\0')) {
		*length = strcspn(list, SEPARATORS);
		if (is_ours(list, *length))
			return is_there(list, *length) ? NULL : list;
	}
	return NULL;
}

/* The string may be in use elsewhere: the environment gets another. */
static void replace(char **variable, const char *entry, size_t length)
{
	size_t before = entry - *variable, after;
	char *other;

	entry += length;
	if (*entry)
		entry++;
	else if (before > strlen(VARIABLE))
		before--;
	after = strlen(entry) + 1;
	other = sys_map(before + after);
	if (!other)
		return;
	memcpy(other, *variable, before);
	memcpy(other + before, entry, after);
	*variable = other;
}

static void remove_entry(char **variable)
{
	const char *list = *variable + strlen(VARIABLE), *entry;
	size_t length;

	entry = find_lost(list, &length);
	if (!entry)
		return;
	if (entry != list || entry[length])
		replace(variable, entry, length);
	else
		for (; *variable; variable++)
			variable[0] = variable[1];
}

static int root_changed(int ret)
{
	char **variable = environ;
	int saved = errno;

	for (; !ret && variable && *variable; variable++)
		if (!strncmp(*variable, VARIABLE, strlen(VARIABLE))) {
			remove_entry(variable);
			break;
		}
	errno = saved;
	return ret;
}

int chroot(const char *path)
{
	return root_changed(next_chroot ? next_chroot(path) :
			    syscall(SYS_chroot, path));
}

int setns(int fd, int kind)
{
	return root_changed(next_setns ? next_setns(fd, kind) :
			    syscall(SYS_setns, fd, kind));
}

int umount2(const char *path, int flags)
{
	return root_changed(next_umount2 ? next_umount2(path, flags) :
			    syscall(SYS_umount2, path, flags));
}
