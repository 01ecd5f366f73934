// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
#include <ctype.h>
#include <dirent.h>
#include <grow.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "util.h"

void *check_alloc(void *allocated)
{
	if (allocated)
		return allocated;
	fputs("sfjit: out of memory\n", stderr);
	exit(1);
}

void check_grow(void *array, size_t *max, size_t nr, size_t size)
{
	if (!grow_array(array, max, nr, size))
		check_alloc(NULL);
}

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

void each_process(const char *proc, process_take take, void *arg)
{
	DIR *processes = opendir(proc);
	struct dirent *entry;
	char *dir;

	while (processes && (entry = readdir(processes))) {
		if (!isdigit((unsigned char)*entry->d_name))
			continue;
		check_alloc(asprintf(&dir, "%s/%s", proc, entry->d_name) < 0 ?
			    NULL : dir);
		take(arg, dir, atoi(entry->d_name));
		free(dir);
	}
	if (processes)
		closedir(processes);
}

bool names_have(const struct names *names, const char *name)
{
	size_t i;

	for (i = 0; i < names->nr; i++)
		if (!strcmp(names->name[i], name))
			return true;
	return false;
}

void names_add(struct names *names, const char *name)
{
	if (names_have(names, name))
		return;
	check_grow(&names->name, &names->max, names->nr, sizeof(name));
	names->name[names->nr++] = check_alloc(strdup(name));
}

void names_free(struct names *names)
{
	while (names->nr)
		free(names->name[--names->nr]);
	free(names->name);
	names->name = NULL;
	names->max = 0;
}
