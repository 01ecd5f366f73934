// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
#include <endian.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <code.h>
#include <sframegen.h>

#include "confine.h"

#define NO_USER		65534	/* of the kernel: fs.overflowuid */
#define FILE_FD		3
#define MEMORY_MOST	(2UL << 30)

/* ---- Rights ------------------------------------------------------------ */

static bool limit(int resource, rlim_t value)
{
	const struct rlimit limit = { value, value };

	return !setrlimit(resource, &limit);
}

/* Messages may go to a file. */
static bool limit_all(size_t shared, int seconds)
{
	signal(SIGXFSZ, SIG_IGN);
	return limit(RLIMIT_AS, MEMORY_MOST + shared) &&
	       limit(RLIMIT_CPU, seconds) && limit(RLIMIT_FSIZE, 0) &&
	       limit(RLIMIT_NOFILE, FILE_FD + 1) && limit(RLIMIT_CORE, 0);
}

/* Another user than root has no other to become, but may have capabilities. */
static bool drop_rights(void)
{
	struct __user_cap_header_struct header = {
		.version = _LINUX_CAPABILITY_VERSION_3,
	};
	const struct __user_cap_data_struct none[2] = { };

	if (!geteuid() && (setgroups(0, NULL) ||
			   setresgid(NO_USER, NO_USER, NO_USER) ||
			   setresuid(NO_USER, NO_USER, NO_USER)))
		return false;
	return !syscall(SYS_capset, &header, none);
}

/* ---- System calls ------------------------------------------------------ */

#define LOAD(field) \
	BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define RETURN(what)	BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_##what)
#define UNLESS(value, skip) \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, skip)
#define ALLOW(call)	UNLESS(SYS_##call, 1), RETURN(ALLOW)
/* The lower half of an argument. */
#define LOAD_LOW(n) \
	BPF_STMT(BPF_LD | BPF_W | BPF_ABS, \
		 offsetof(struct seccomp_data, args[n]) + \
		 (__BYTE_ORDER == __BIG_ENDIAN ? 4 : 0))
#define ALLOW_IF(call, n, value) \
	UNLESS(SYS_##call, 4), LOAD_LOW(n), UNLESS(value, 1), RETURN(ALLOW), \
	RETURN(KILL_PROCESS)
/* The third argument is the protection: refuse memory that is executable. */
#define ALLOW_DATA(call, refused) \
	UNLESS(SYS_##call, 4), LOAD_LOW(2), \
	BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, refused, 1, 0), \
	RETURN(ALLOW), RETURN(KILL_PROCESS)
/* A filter cannot read arguments in memory. */
#define MMAP_REFUSED	(CODE_MMAP_BLOCK ? 0 : PROT_EXEC)

/* linux/audit.h: the ELF machine with the size and order of its words. */
static unsigned int audit_arch(void)
{
	return sfg_elf_machine(SFG_HOST_ABI) | __AUDIT_ARCH_64BIT |
	       (__BYTE_ORDER == __LITTLE_ENDIAN ? __AUDIT_ARCH_LE : 0);
}

static bool filter_calls(void)
{
	struct sock_filter calls[] = {
		LOAD(arch),
		UNLESS(audit_arch(), 1),
		BPF_STMT(BPF_JMP | BPF_JA, 1),
		RETURN(KILL_PROCESS),
		LOAD(nr),
		ALLOW(pread64), ALLOW(read), ALLOW(lseek), ALLOW(fstat),
#ifdef SYS_newfstatat
		ALLOW(newfstatat),
#endif
		ALLOW(brk), ALLOW(munmap), ALLOW(mremap), ALLOW(madvise),
		ALLOW(clock_gettime), ALLOW(getrandom), ALLOW(close),
		ALLOW(sysinfo),			/* qsort() */
		ALLOW(rt_sigreturn), ALLOW(exit_group),
		ALLOW_IF(write, 0, STDERR_FILENO),
		ALLOW_IF(fcntl, 1, F_GETFD),	/* elf_begin() */
		ALLOW_DATA(mmap, MMAP_REFUSED), ALLOW_DATA(mprotect, PROT_EXEC),
		RETURN(KILL_PROCESS),
	};
	const struct sock_fprog program = {
		sizeof(calls) / sizeof(calls[0]), calls,
	};

	return !prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) &&
	       !prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

/* Changing the user resets what happens at the parent's end. */
int confine(int fd, size_t shared, int seconds)
{
	pid_t parent = getppid();

	if (dup2(fd, FILE_FD) < 0 ||
	    syscall(SYS_close_range, FILE_FD + 1, ~0U, 0) ||
	    syscall(SYS_close_range, STDIN_FILENO, STDOUT_FILENO, 0) ||
	    !limit_all(shared, seconds) || !drop_rights() ||
	    prctl(PR_SET_PDEATHSIG, SIGKILL) || getppid() != parent ||
	    prctl(PR_SET_DUMPABLE, 0) || !filter_calls())
		_exit(1);
	return FILE_FD;
}
