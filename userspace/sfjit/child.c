// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check_alloc.h"
#include "child.h"

int child_try(void (*attempt)(void *trial), void *trial, size_t size)
{
	void *shared = mmap(NULL, size, PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int status = 0;
	pid_t child;

	check_alloc(shared == MAP_FAILED ? NULL : shared);
	memcpy(shared, trial, size);
	child = fork();
	if (!child) {
		attempt(shared);
		_exit(0);
	}
	if (child < 0 || waitpid(child, &status, 0) != child)
		check_alloc(NULL);
	memcpy(trial, shared, size);
	munmap(shared, size);
	return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}
