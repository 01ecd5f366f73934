// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/*
 * fork_scan FILE OTHER: a thread loads FILE, and the module waits for the lock of
 * the cache. Meanwhile the process forks. The child closes all files, opens others
 * in their place, and loads OTHER. It prints how many of its files were closed for
 * it, and its parent "forked".
 */
#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define FILES	32

static void *load(void *file)
{
	if (!dlopen(file, RTLD_NOW))
		abort();
	return NULL;
}

/* The module has the file "lock" open. */
static int is_waiting(void)
{
	DIR *dir = opendir("/proc/self/fd");
	char path[64], target[4096];
	struct dirent *entry;
	int found = 0;
	ssize_t n;

	while (dir && (entry = readdir(dir))) {
		snprintf(path, sizeof(path), "/proc/self/fd/%d",
			 atoi(entry->d_name));
		n = readlink(path, target, sizeof(target) - 1);
		target[n > 0 ? n : 0] = '\0';
		found |= n > 5 && !strcmp(target + n - 5, "/lock");
	}
	closedir(dir);
	return found;
}

static void be_child(char *other)
{
	int fd, closed = 0;

	for (fd = 3; fd < FILES; fd++)
		close(fd);
	for (fd = 3; fd < FILES; fd++)
		if (open("/dev/null", O_RDONLY) != fd)
			_exit(1);
	load(other);
	for (fd = 3; fd < FILES; fd++)
		closed += fcntl(fd, F_GETFD) < 0;
	printf("%d closed\n", closed);
	fflush(stdout);
	_exit(0);
}

int main(int argc, char **argv)
{
	pthread_t thread;
	pid_t child;

	if (argc < 3 || pthread_create(&thread, NULL, load, argv[1]))
		return 1;
	while (!is_waiting())
		usleep(1000);
	child = fork();
	if (!child)
		be_child(argv[2]);
	puts("forked");
	fflush(stdout);
	waitpid(child, NULL, 0);
	pthread_join(thread, NULL);
	return 0;
}
