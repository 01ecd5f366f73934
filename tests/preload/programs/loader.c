// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/*
 * loader repeat COUNT FILE...	load and close each FILE in turn, COUNT times;
 *				prints the growth of mappings and of bytes
 * loader windows FILE		prints the number of windows in
 *				/proc/self/sframe at first, with FILE loaded,
 *				closed, loaded again
 * loader keep FILE...		load all, print their numbers
 * loader namespace FILE	load it with dlmopen()
 * loader thread FILE		load it in a thread with the smallest stack
 * loader fork FILE		load it in a forked child
 * loader seccomp FILE		load it where prctl() kills the process
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static int number_of(void *handle)
{
	int (*number)(void);

	if (!handle) {
		fprintf(stderr, "%s\n", dlerror());
		exit(1);
	}
	number = (int (*)(void))dlsym(handle, "plugin_number");
	return number ? number() : -1;
}

static void measure(long *maps, long *bytes)
{
	char line[8192];
	FILE *file = fopen("/proc/self/maps", "r");
	unsigned long start, end;

	*maps = *bytes = 0;
	while (fgets(line, sizeof(line), file)) {
		if (sscanf(line, "%lx-%lx", &start, &end) == 2)
			*bytes += end - start;
		++*maps;
	}
	fclose(file);
}

static void load_each(char **files)
{
	void *handle;

	for (; *files; files++) {
		handle = dlopen(*files, RTLD_NOW);
		errno = 4711;
		number_of(handle);
		dlclose(handle);
	}
}

static int repeat(int count, char **files)
{
	long maps, bytes, maps_before, bytes_before;
	int i;

	for (i = 0; i < 10; i++)
		load_each(files);
	measure(&maps_before, &bytes_before);
	for (i = 0; i < count; i++)
		load_each(files);
	measure(&maps, &bytes);
	printf("mappings %+ld bytes %+ld\n", maps - maps_before,
	       bytes - bytes_before);
	return 0;
}

/* Lines that start with a text range. */
static int count_windows(void)
{
	FILE *file = fopen("/proc/self/sframe", "r");
	unsigned long start, end;
	char line[256];
	int n = 0;

	if (!file)
		exit(77);
	while (fgets(line, sizeof(line), file))
		n += sscanf(line, "%lx-%lx ", &start, &end) == 2;
	fclose(file);
	return n;
}

static int windows(const char *path)
{
	void *handle;

	printf("%d", count_windows());
	handle = dlopen(path, RTLD_NOW);
	printf(" %d", count_windows());
	dlclose(handle);
	printf(" %d", count_windows());
	handle = dlopen(path, RTLD_NOW);
	printf(" %d\n", count_windows());
	return number_of(handle) < 0;
}

static int keep(char **files)
{
	for (; *files; files++)
		printf("%d\n", number_of(dlopen(*files, RTLD_NOW)));
	return 0;
}

static int in_namespace(const char *file)
{
	printf("%d\n", number_of(dlmopen(LM_ID_NEWLM, file, RTLD_NOW)));
	return 0;
}

static void *load_thread(void *file)
{
	printf("%d\n", number_of(dlopen(file, RTLD_NOW)));
	return NULL;
}

static int in_thread(char *file)
{
	pthread_attr_t attr;
	pthread_t thread;

	pthread_attr_init(&attr);
	/* ld.so itself needs a part. */
	pthread_attr_setstacksize(&attr, 2 * PTHREAD_STACK_MIN);
	if (pthread_create(&thread, &attr, load_thread, file))
		return 1;
	return pthread_join(thread, NULL);
}

static int in_child(char *file)
{
	int status;

	if (!fork()) {
		load_thread(file);
		fflush(stdout);
		_exit(0);
	}
	wait(&status);
	return status;
}

static int with_filter(char *file)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_prctl, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog filter = { 4, code };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &filter))
		return 77;
	load_thread(file);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc < 3)
		return 2;
	if (!strcmp(argv[1], "repeat"))
		return repeat(atoi(argv[2]), argv + 3);
	if (!strcmp(argv[1], "windows"))
		return windows(argv[2]);
	if (!strcmp(argv[1], "keep"))
		return keep(argv + 2);
	if (!strcmp(argv[1], "namespace"))
		return in_namespace(argv[2]);
	if (!strcmp(argv[1], "thread"))
		return in_thread(argv[2]);
	if (!strcmp(argv[1], "fork"))
		return in_child(argv[2]);
	if (!strcmp(argv[1], "seccomp"))
		return with_filter(argv[2]);
	return 2;
}
