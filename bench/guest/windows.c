// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/*
 * usage: windows [-q] time N...	N: existing windows
 *        windows memory ORDER N PROCESSES	run it in an idle guest
 *
 * time: instructions of the system calls about windows; prints lines
 * "WHAT:N median VALUE" and "WHAT:N mean VALUE".
 *
 * memory: kernel memory when each of PROCESSES has N windows; prints lines
 * "WHAT:N VALUE", bytes per window. WHAT is windows, nodes (of the trees),
 * charged (to the cgroup of the processes). ORDER:
 *	up	registered by address
 *	mixed	in random order: nodes of trees are less full
 *	thinned	the same, then every other window is removed
 *	forked	by address; then the process forks, which copies the tree
 */
#define _DEFAULT_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <linux/membarrier.h>

#include "measure.h"
#include "window.h"

#define MAX_ROUNDS	1000
#define CGROUP		"/sys/fs/cgroup"
#define OWN_CGROUP	CGROUP "/sfjit-bench"
#define SLAB		"/sys/kernel/slab"
#define SETTLE_US	200000

static size_t rounds = MAX_ROUNDS;
static size_t forks = 101;

enum what {
	REGISTER, UNREGISTER, REGISTER_RANGE, REPLACE, MMAP, MUNMAP,
	MUNMAP_WINDOW, MUNMAP_TEXT, NR_WHAT
};

static const char *const what_names[] = {
	[REGISTER] = "register",
	[UNREGISTER] = "unregister",
	[REGISTER_RANGE] = "register-range",
	[REPLACE] = "replace",
	[MMAP] = "mmap",
	[MUNMAP] = "munmap",
	[MUNMAP_WINDOW] = "munmap-window",
	[MUNMAP_TEXT] = "munmap-text",
};

static uint64_t costs[NR_WHAT][MAX_ROUNDS];

enum order { ORDER_UP, ORDER_MIXED, ORDER_THINNED, ORDER_FORKED };

static const char *const order_names[] = {
	[ORDER_UP] = "up",
	[ORDER_MIXED] = "mixed",
	[ORDER_THINNED] = "thinned",
	[ORDER_FORKED] = "forked",
};

/* Bytes in the kernel. */
struct memory {
	long windows;
	long nodes;
	long charged;
};

static void print_costs(const char *name, size_t present, uint64_t *values,
			size_t nr)
{
	printf("%s:%zu mean %.1f\n", name, present, mean(values, nr));
	printf("%s:%zu median %lu\n", name, present, median(values, nr));
}

static void time_window(const struct windows *windows, size_t i, size_t round)
{
	uint64_t t[6];

	t[0] = now();
	window_register(windows, i);
	t[1] = now();
	window_register_range(windows, i, SFRAME_WINDOW_REPLACE);
	t[2] = now();
	window_unregister(windows, i);
	t[3] = now();
	window_register_range(windows, i, 0);
	t[4] = now();
	window_unregister(windows, i);

	costs[REGISTER][round] = t[1] - t[0];
	costs[REPLACE][round] = t[2] - t[1];
	costs[UNREGISTER][round] = t[3] - t[2];
	costs[REGISTER_RANGE][round] = t[4] - t[3];
}

/* For comparison: mmap() of an untouched page, as in JITs. */
static void time_page(size_t round)
{
	uint64_t t[3];
	void *page;

	t[0] = now();
	page = mmap(NULL, 4096, PROT_READ | PROT_EXEC,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	t[1] = now();
	if (munmap(page, 4096))
		die("mmap or munmap of a page: %m");
	t[2] = now();

	costs[MMAP][round] = t[1] - t[0];
	costs[MUNMAP][round] = t[2] - t[1];
}

static uint64_t unmap_text(const struct windows *windows, size_t i)
{
	uint64_t begin = now();

	if (munmap((void *)window_key(windows, i), WINDOW_SIZE))
		die("munmap of text: %m");
	return now() - begin;
}

static void map_text(const struct windows *windows, size_t i)
{
	if (mmap((void *)window_key(windows, i), WINDOW_SIZE,
		 PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS |
		 MAP_NORESERVE | MAP_FIXED, -1, 0) == MAP_FAILED)
		die("mmap of text: %m");
}

/* Unmaps the same mapping with and without a window. */
static void time_unmap(const struct windows *windows, size_t i, size_t round)
{
	window_register(windows, i);
	costs[MUNMAP_WINDOW][round] = unmap_text(windows, i);
	map_text(windows, i);
	costs[MUNMAP_TEXT][round] = unmap_text(windows, i);
	map_text(windows, i);
}

/* Until the parent continues; then including the child's life and exit. */
static void time_forks(size_t present)
{
	uint64_t parent[forks], whole[forks], begin;
	size_t i;
	pid_t pid;

	for (i = 0; i < forks; i++) {
		begin = now();
		pid = fork();
		if (!pid)
			_exit(0);
		parent[i] = now() - begin;
		if (pid < 0 || waitpid(pid, NULL, 0) != pid)
			die("fork: %m");
		whole[i] = now() - begin;
	}
	print_costs("fork", present, parent, forks);
	print_costs("fork-exit-wait", present, whole, forks);
}

static void register_all(const struct windows *windows, size_t step)
{
	size_t i;

	for (i = 0; i < windows->nr; i += step)
		window_register(windows, i);
}

/* Unmaps the text of all windows at once. */
static void time_unmap_all(const struct windows *windows, const char *name,
			   size_t present)
{
	uint64_t begin = now(), cost;

	munmap(windows->text, windows->nr * WINDOW_SIZE);
	cost = now() - begin;
	print_costs(name, present, &cost, 1);
}

static void time_windows(const struct windows *windows, size_t present)
{
	size_t i, round;

	for (round = 0; round < rounds; round++) {
		i = 2 * random_below(present + 1) + 1;
		time_window(windows, i, round);
		time_unmap(windows, i, round);
		time_page(round);
	}
	for (i = 0; i < NR_WHAT; i++)
		print_costs(what_names[i], present, costs[i], rounds);
	time_forks(present);
}

/* Every other place is taken; a window comes and goes in between. */
static void measure_time(size_t present)
{
	struct windows windows;

	windows_map(&windows, 2 * present + 2, 0);
	windows.nr = 2 * present;
	register_all(&windows, 2);
	windows.nr += 2;
	time_windows(&windows, present);
	time_unmap_all(&windows, "munmap-all", present);
	windows_unmap(&windows);

	windows_map(&windows, 2 * present + 2, 0);
	time_unmap_all(&windows, "munmap-none", present);
	windows_unmap(&windows);
}

static void write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY);

	if (fd < 0 || write(fd, text, strlen(text)) < 0)
		die("%s: %m", path);
	close(fd);
}

/* The number after a word at the start of a line. */
static long read_number(const char *path, const char *word)
{
	size_t len = strlen(word);
	char line[256];
	long value = -1;
	FILE *file;

	file = fopen(path, "r");
	if (!file)
		die("%s: %m", path);
	while (fgets(line, sizeof(line), file))
		if (!strncmp(line, word, len))
			value = atol(line + len);
	fclose(file);
	if (value < 0)
		die("%s has no '%s'", path, word);
	return value;
}

static long charged_bytes(void)
{
	return read_number(OWN_CGROUP "/memory.stat", "kernel ");
}

/* Bytes of the objects of a slab cache. */
static long cache_bytes(const char *cache)
{
	char path[128];
	long objects, size;

	snprintf(path, sizeof(path), SLAB "/%s/objects", cache);
	objects = read_number(path, "");
	snprintf(path, sizeof(path), SLAB "/%s/slab_size", cache);
	size = read_number(path, "");
	return objects * size;
}

/* The size of a descriptor depends on the number of its rows. */
static const char *const kmalloc_caches[] = {
	"kmalloc-cg-192", "kmalloc-cg-256", "kmalloc-cg-512",
};

static long descriptor_bytes(void)
{
	long bytes = 0;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(kmalloc_caches); i++)
		bytes += cache_bytes(kmalloc_caches[i]);
	return bytes;
}

static void shrink(const char *cache)
{
	char path[128];

	snprintf(path, sizeof(path), SLAB "/%s/shrink", cache);
	write_file(path, "1");
}

/* Freed objects stay in per-CPU caches, which then no longer count them. */
static void settle(void)
{
	size_t i;

	if (syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0))
		die("membarrier: %m");
	usleep(SETTLE_US);
	shrink("maple_node");
	for (i = 0; i < ARRAY_SIZE(kmalloc_caches); i++)
		shrink(kmalloc_caches[i]);
}

static struct memory memory_now(void)
{
	settle();
	return (struct memory){
		.windows = descriptor_bytes(),
		.nodes = cache_bytes("maple_node"),
		.charged = charged_bytes(),
	};
}

static enum order order_of(const char *name)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(order_names); i++)
		if (!strcmp(name, order_names[i]))
			return i;
	die("windows: no order '%s'", name);
}

static void enter_cgroup(void)
{
	write_file(CGROUP "/cgroup.subtree_control", "+memory");
	if (mkdir(OWN_CGROUP, 0755))
		die("mkdir %s: %m", OWN_CGROUP);
	write_file(OWN_CGROUP "/cgroup.procs", "0");
}

static void shuffle(size_t *order, size_t nr)
{
	size_t i, other, swap;

	for (i = nr; i > 1; i--) {
		other = random_below(i);
		swap = order[i - 1];
		order[i - 1] = order[other];
		order[other] = swap;
	}
}

static void register_in(enum order how, const struct windows *windows)
{
	size_t *order = calloc(windows->nr, sizeof(*order));
	size_t i;

	if (!order)
		die("no memory");
	for (i = 0; i < windows->nr; i++)
		order[i] = i;
	if (how == ORDER_MIXED || how == ORDER_THINNED)
		shuffle(order, windows->nr);
	for (i = 0; i < windows->nr; i++)
		window_register(windows, order[i]);
	for (i = 1; how == ORDER_THINNED && i < windows->nr; i += 2)
		window_unregister(windows, i);
	free(order);
}

static _Noreturn void stay(void)
{
	for (;;)
		pause();
}

/* They exit with the process that forked them. */
static pid_t fork_child(void)
{
	pid_t pid = fork();

	if (pid < 0 || (!pid && prctl(PR_SET_PDEATHSIG, SIGKILL)))
		die("fork: %m");
	return pid;
}

/* Reports when it is done, and keeps its windows. */
static _Noreturn void hold_windows(enum order order,
				   const struct windows *windows,
				   const int *go, const int *done)
{
	char byte;

	if (read(go[0], &byte, 1) != 1)
		die("nobody says go");
	register_in(order, windows);
	if (order == ORDER_FORKED && !fork_child())
		stay();
	if (write(done[1], &byte, 1) != 1)
		die("nobody waits");
	stay();
}

static void start_processes(enum order order, const struct windows *windows,
			    size_t nr, const int *go, const int *done)
{
	while (nr--)
		if (!fork_child())
			hold_windows(order, windows, go, done);
}

static void let_go(size_t processes, int go, int done)
{
	char byte = 0;

	while (processes--)
		if (write(go, &byte, 1) != 1 || read(done, &byte, 1) != 1)
			die("a process with windows died");
}

static void print_memory(const char *order, size_t nr, double windows,
			 const struct memory *before,
			 const struct memory *after)
{
	printf("windows-%s:%zu mean %.1f\n", order, nr,
	       (after->windows - before->windows) / windows);
	printf("nodes-%s:%zu mean %.1f\n", order, nr,
	       (after->nodes - before->nodes) / windows);
	printf("charged-%s:%zu mean %.1f\n", order, nr,
	       (after->charged - before->charged) / windows);
}

static void measure_memory(const char *name, size_t nr, size_t processes)
{
	enum order order = order_of(name);
	struct memory before, after;
	struct windows windows;
	int go[2], done[2];

	enter_cgroup();
	windows_map(&windows, nr, 0);
	if (pipe(go) || pipe(done))
		die("pipe: %m");
	start_processes(order, &windows, processes, go, done);
	before = memory_now();
	let_go(processes, go[1], done[0]);
	after = memory_now();
	if (order == ORDER_THINNED)
		nr -= nr / 2;
	print_memory(name, nr, (double)nr * processes, &before, &after);
}

static size_t number(const char *word)
{
	char *end;
	size_t nr = strtoul(word, &end, 10);

	if (!*word || *end)
		die("windows: '%s' is no number", word);
	return nr;
}

int main(int argc, char **argv)
{
	int i = 1;

	if (i < argc && !strcmp(argv[i], "-q")) {
		rounds = 20;
		forks = 5;
		i++;
	}
	if (argc - i >= 2 && !strcmp(argv[i], "time")) {
		check_icount();
		while (++i < argc)
			measure_time(number(argv[i]));
	} else if (argc - i == 4 && !strcmp(argv[i], "memory")) {
		measure_memory(argv[i + 1], number(argv[i + 2]),
			       number(argv[i + 3]));
	} else {
		die("usage: windows [-q] time N... | memory ORDER N PROCESSES");
	}
	return 0;
}
