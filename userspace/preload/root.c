// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/*
 * ld.so prints an error for each program that it runs where it cannot open a
 * preloaded file. So once the process has another root directory, in which this
 * module is not, or another user, who may not read it, the variable loses our
 * entry: programs that are started then have no windows, and no message.
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
EXPORT int setuid(uid_t uid);
EXPORT int setreuid(uid_t real, uid_t effective);
EXPORT int setresuid(uid_t real, uid_t effective, uid_t saved);

static int (*next_chroot)(const char *path);
static int (*next_setns)(int fd, int kind);
static int (*next_umount2)(const char *path, int flags);
static int (*next_setuid)(uid_t uid);
static int (*next_setreuid)(uid_t real, uid_t effective);
static int (*next_setresuid)(uid_t real, uid_t effective, uid_t saved);

__attribute__((constructor)) static void look_up_root(void)
{
	next_chroot = (int (*)(const char *))libc_next("chroot");
	next_setns = (int (*)(int, int))libc_next("setns");
	next_umount2 = (int (*)(const char *, int))libc_next("umount2");
	next_setuid = (int (*)(uid_t))libc_next("setuid");
	next_setreuid = (int (*)(uid_t, uid_t))libc_next("setreuid");
	next_setresuid =
		(int (*)(uid_t, uid_t, uid_t))libc_next("setresuid");
}

static bool is_our_entry(const char *entry, size_t length)
{
	size_t name = strlen(FILE_NAME);

	return length >= name &&
	       !strncmp(entry + length - name, FILE_NAME, name);
}

/* faccessat() would ask for the real user, ld.so opens it as the effective. */
static bool entry_is_there(const char *entry, size_t length)
{
	char path[PATH_MAX];
	int fd;

	/* ld.so would not take a longer one either. */
	if (length >= sizeof(path))
		return false;
	memcpy(path, entry, length);
	path[length] = '\0';
	fd = sys_open(AT_FDCWD, path, O_RDONLY, 0);
	if (fd >= 0)
		sys_close(fd);
	return fd >= 0;
}

/* Where our entry begins, if its file is not there; NULL: nothing is to do. */
static const char *find_lost(const char *list, size_t *length)
{
	for (; *list; list += *length + (list[*length] != '\0')) {
		*length = strcspn(list, SEPARATORS);
		if (is_our_entry(list, *length))
			return entry_is_there(list, *length) ? NULL : list;
	}
	return NULL;
}

/* The string may be in use elsewhere: the environment gets another. */
static void replace_variable(char **variable, const char *entry, size_t length)
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
		replace_variable(variable, entry, length);
	else
		for (; *variable; variable++)
			variable[0] = variable[1];
}

static int view_changed(int ret)
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

/* A program that can take its user back may start others as that. */
static int user_changed(int ret)
{
	int saved = errno;
	uid_t real, effective, kept;
	bool final = !ret && !SYS(SYS_getresuid, &real, &effective, &kept) &&
		     real == effective && effective == kept;

	errno = saved;
	return final ? view_changed(ret) : ret;
}

int chroot(const char *path)
{
	return view_changed(next_chroot ? next_chroot(path) :
			    syscall(SYS_chroot, path));
}

int setns(int fd, int kind)
{
	return view_changed(next_setns ? next_setns(fd, kind) :
			    syscall(SYS_setns, fd, kind));
}

int umount2(const char *path, int flags)
{
	return view_changed(next_umount2 ? next_umount2(path, flags) :
			    syscall(SYS_umount2, path, flags));
}

int setuid(uid_t uid)
{
	return user_changed(next_setuid ? next_setuid(uid) :
			    syscall(SYS_setuid, uid));
}

int setreuid(uid_t real, uid_t effective)
{
	return user_changed(next_setreuid ? next_setreuid(real, effective) :
			    syscall(SYS_setreuid, real, effective));
}

int setresuid(uid_t real, uid_t effective, uid_t saved)
{
	return user_changed(next_setresuid ?
			    next_setresuid(real, effective, saved) :
			    syscall(SYS_setresuid, real, effective, saved));
}
