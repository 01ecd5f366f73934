// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
#include <ctype.h>
#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/kcmp.h>
#include <link.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "program.h"
#include "refusal.h"
#include "trace.h"

int refusal_print(pid_t pid, const char *format, ...)
{
	va_list list;

	fflush(stdout);
	fprintf(stderr, "sfjit: %d: ", pid);
	va_start(list, format);
	vfprintf(stderr, format, list);
	va_end(list);
	fputc('\n', stderr);
	return 1;
}

/* Reads the text of a field of /proc/PID/status. */
static bool read_field(pid_t pid, const char *field, char *value, size_t size)
{
	char path[64], line[512];
	bool found = false;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	file = fopen(path, "re");
	while (file && !found && fgets(line, sizeof(line), file)) {
		found = !strncmp(line, field, strlen(field));
		if (found)
			snprintf(value, size, "%s", line + strlen(field));
	}
	if (file)
		fclose(file);
	return found;
}

/* Reads a number; -1 if there is none. */
static long read_status(pid_t pid, const char *field)
{
	char value[64];

	return read_field(pid, field, value, sizeof(value)) ? atol(value) : -1;
}

bool refusal_has_filter(pid_t tid)
{
	return read_status(tid, "Seccomp:") > 0;
}

static bool yama_refuses(void)
{
	FILE *file = fopen("/proc/sys/kernel/yama/ptrace_scope", "re");
	int scope = file ? fgetc(file) - '0' : 0;

	if (file)
		fclose(file);
	return scope > 0;
}

/* Set-user-ID programs and programs with capabilities. */
static bool has_more_rights(pid_t pid)
{
	unsigned long long theirs = 0, ours = 0;
	unsigned int effective = 0, saved = 0;
	char ids[128] = "", value[64];

	read_field(pid, "Uid:", ids, sizeof(ids));
	if (sscanf(ids, "%*u %u %u", &effective, &saved) != 2)
		return false;
	if (read_field(pid, "CapPrm:", value, sizeof(value)))
		theirs = strtoull(value, NULL, 16);
	if (read_field(getpid(), "CapPrm:", value, sizeof(value)))
		ours = strtoull(value, NULL, 16);
	return effective != geteuid() || saved != geteuid() || theirs & ~ours;
}

/*
 * /proc files of an undumpable process belong to root; the directory does not.
 */
static bool is_undumpable(pid_t pid)
{
	struct stat st;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	return !stat(path, &st) && st.st_uid != geteuid();
}

static int explain_rights(pid_t pid)
{
	long tracer = read_status(pid, "TracerPid:");
	long user = read_status(pid, "Uid:");

	if (tracer > 0)
		return refusal_print(pid, "is already traced by process %ld",
				     tracer);
	if (user < 0)
		return refusal_print(pid, "no such process");
	if (!geteuid())
		return refusal_print(pid, "may not be traced");
	if (user != geteuid())
		return refusal_print(pid, "belongs to another user: "
				     "only root may attach to it");
	if (yama_refuses())
		return refusal_print(pid, "kernel.yama.ptrace_scope lets only "
				     "root attach to it");
	if (has_more_rights(pid))
		return refusal_print(pid, "has more privileges than you: only "
				     "root may attach to it");
	if (is_undumpable(pid))
		return refusal_print(pid, "is not dumpable, see prctl(2): "
				     "only root may attach to it");
	return refusal_print(pid, "may not be traced");
}

int refusal_explain(pid_t pid, int error)
{
	switch (error) {
	case -ESRCH:
		return refusal_print(pid, "has exited");
	case -EPERM:
		return explain_rights(pid);
	case -ETIMEDOUT:
		return refusal_print(pid, "a thread waits in the kernel, as in "
				     "vfork(), and cannot be stopped");
	case -EOPNOTSUPP:
		return refusal_print(pid, "runs code of another architecture or "
				     "word size");
	case -ECONNREFUSED:
		return refusal_print(pid, "intercepts its system calls: see "
				     "PR_SET_SYSCALL_USER_DISPATCH");
	case -EACCES:
		return refusal_print(pid, "has a seccomp filter: attaching "
				     "needs CAP_SYS_ADMIN, and a kernel with "
				     "CONFIG_CHECKPOINT_RESTORE");
	}
	return refusal_print(pid, "%s", strerror(-error));
}

/*
 * The threads of a process that shares the memory would not be stopped. Finds
 * none without CONFIG_KCMP.
 */
static pid_t find_sharer(pid_t pid)
{
	DIR *proc = opendir("/proc");
	struct dirent *entry;
	pid_t other = 0;

	while (proc && (entry = readdir(proc))) {
		if (!isdigit((unsigned char)entry->d_name[0]))
			continue;
		other = atoi(entry->d_name);
		if (other != pid && !syscall(SYS_kcmp, pid, other, KCMP_VM, 0,
					     0))
			break;
		other = 0;
	}
	if (proc)
		closedir(proc);
	return other;
}

static int check_program(pid_t pid)
{
	ElfW(Ehdr) eh;
	char path[64];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/exe", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 && errno == ENOENT)
		return refusal_print(pid, "has no executable: it has exited, or "
				     "is a kernel thread");
	if (fd < 0)
		return explain_rights(pid);
	n = read(fd, &eh, sizeof(eh));
	close(fd);
	if (n != sizeof(eh) || !program_is_native(&eh))
		return refusal_explain(pid, -EOPNOTSUPP);
	return 0;
}

int refusal_check(pid_t pid)
{
	long group = read_status(pid, "Tgid:");
	pid_t other;
	int ret;

	if (group < 0)
		return refusal_print(pid, "no such process");
	if (group != pid)
		return refusal_print(pid, "is a thread of process %ld", group);
	if (pid == getpid())
		return refusal_print(pid, "is sfjit itself");
	if (read_status(pid, "TracerPid:") > 0)
		return explain_rights(pid);
	ret = check_program(pid);
	if (ret)
		return ret;
	other = find_sharer(pid);
	if (other)
		return refusal_print(pid, "shares its memory with process %d, "
				     "as in vfork()", other);
	return 0;
}
