// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/*
 * filter CALL ERRNO COMMAND...: runs the command with a seccomp filter.
 *
 * CALL is the number of an option of prctl(), or "perf" for perf_event_open().
 * It fails with ERRNO; if that is 0, it kills the program.
 */
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define LOAD(field)	BPF_STMT(BPF_LD | BPF_W | BPF_ABS, \
				 offsetof(struct seccomp_data, field))
/* Skips 'nr' statements if the word is not 'value'. */
#define ONLY(value, nr)	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, nr)
#define RETURN(value)	BPF_STMT(BPF_RET | BPF_K, value)

int main(int argc, char **argv)
{
	int error = atoi(argv[2]);
	int perf = !strcmp(argv[1], "perf");
	unsigned int refuse = error ? SECCOMP_RET_ERRNO | error :
			      SECCOMP_RET_KILL_PROCESS;
	struct sock_filter filter[] = {
		LOAD(nr),
		ONLY(perf ? SYS_perf_event_open : SYS_prctl, 3),
		LOAD(args[0]),
		ONLY(strtoul(argv[1], NULL, 0), 1),
		RETURN(refuse),
		RETURN(SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {
		sizeof(filter) / sizeof(*filter), filter,
	};

	/* perf_event_open() is filtered whatever its first argument is. */
	if (perf)
		filter[2] = filter[3] = (struct sock_filter)
			BPF_STMT(BPF_LD | BPF_IMM, 0);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)) {
		perror("filter");
		return 125;
	}
	execvp(argv[3], argv + 3);
	return 127;
}
