// SPDX-License-Identifier: MIT
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * usage: without COMMAND [ARGUMENT...]
 *
 * Runs a program that registers its code by itself, as on a kernel that knows
 * no SFrame windows.
 */
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <linux/filter.h>
#include <linux/seccomp.h>

#include <sfjit/sframe.h>

#define LOAD(field) \
	BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define JUMP(test, value, yes, no) \
	BPF_JUMP(BPF_JMP | (test) | BPF_K, (value), (yes), (no))

/* The options of prctl() follow each other. */
static struct sock_filter filter[] = {
	LOAD(nr),
	JUMP(BPF_JEQ, SYS_prctl, 0, 4),
	LOAD(args[0]),
	JUMP(BPF_JGE, PR_SFRAME_REGISTER, 0, 2),
	JUMP(BPF_JGT, PR_SFRAME_QUERY, 1, 0),
	BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EINVAL),
	BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
};

int main(int argc, char **argv)
{
	struct sock_fprog program = {
		sizeof(filter) / sizeof(filter[0]), filter,
	};

	if (argc < 2)
		return 2;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)) {
		perror("without");
		return 1;
	}
	execvp(argv[1], argv + 1);
	perror(argv[1]);
	return 127;
}
