// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

#include "loop.h"
#include "printable.h"
#include "ps.h"
#include "service.h"
#include "util.h"

#define PAUSE_MS	50		/* between looks at the rings */
#define CHECK_MS	1000		/* between looks for changed files */

static int64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * INT64_C(1000) + now.tv_nsec / 1000000;
}

/* ---- What is mapped ---------------------------------------------------- */

static void note(void *arg, pid_t pid, uint64_t generation,
		 const struct sfjit_stacks_mapping *mapping)
{
	struct daemon *daemon = arg;

	daemon->mapped = true;
	fileset_note(&daemon->files, pid, generation, mapping);
}

static void note_map(struct daemon *daemon, pid_t pid, const struct ps_map *map)
{
	const struct sfjit_stacks_mapping mapping = {
		.start = map->start, .length = map->end - map->start,
		.offset = map->offset, .path = map->name, .executable = true,
		.inode = map->inode, .device_major = map->major,
		.device_minor = map->minor,
	};

	if (map->permissions[2] == 'x')
		note(daemon, pid, 0, &mapping);
}

static void scan_process(void *arg, const char *dir, pid_t pid)
{
	struct ps_maps maps = { };
	size_t i;

	ps_read_maps(&maps, dir);
	for (i = 0; i < maps.nr; i++)
		note_map(arg, pid, &maps.maps[i]);
	ps_free_maps(&maps);
}

static void scan(struct daemon *daemon)
{
	each_process("/proc", scan_process, daemon);
}

static void say_lost(const struct daemon *daemon)
{
	if (daemon->options->verbose)
		fputs("sfjit daemon: events were lost: looks at all "
		      "processes\n", stderr);
}

static void look_at_rings(struct daemon *daemon)
{
	if (events_drain(&daemon->events, note, daemon)) {
		say_lost(daemon);
		scan(daemon);
	}
	daemon->look = now_ms() + PAUSE_MS;
}

/* ---- Changed files ----------------------------------------------------- */

struct changes {
	unsigned int *ids;
	size_t nr, max;
};

static void add_change(void *arg, const struct file_table *table)
{
	struct changes *changes = arg;

	if (!table->changed)
		return;
	check_grow(&changes->ids, &changes->max, changes->nr,
		   sizeof(*changes->ids));
	changes->ids[changes->nr++] = table->id;
}

static void check_files(struct daemon *daemon)
{
	struct changes changes = { };
	size_t i;

	file_tables_list("/proc/self", daemon->tables, add_change, NULL,
			 &changes);
	for (i = 0; i < changes.nr; i++)
		fileset_drop(&daemon->files, changes.ids[i]);
	if (changes.nr)
		scan(daemon);
	free(changes.ids);
	daemon->mapped = false;
	daemon->check = now_ms() + CHECK_MS;
}

/* ---- Files at work ----------------------------------------------------- */

static void say(const struct daemon *daemon, const struct file *file,
		const char *text, const char *why)
{
	if (!daemon->options->verbose)
		return;
	fputs("sfjit daemon: ", stderr);
	printable_print(file->path, stderr);
	fprintf(stderr, ": %s%s\n", text, why);
}

static void say_tables(const struct daemon *daemon, const struct file *file,
		       const struct worker_news *news)
{
	char text[64];

	snprintf(text, sizeof(text), "%u table%s, %" PRIu64 " bytes", news->nr,
		 news->nr == 1 ? "" : "s", news->bytes);
	say(daemon, file, text, "");
}

static void end_work(struct daemon *daemon)
{
	worker_end(&daemon->worker);
	daemon->deadline = 0;
	daemon->adds = false;
}

static void fail(struct daemon *daemon, struct file *file, const char *why)
{
	daemon->failed++;
	say(daemon, file, "no table: ", why);
	fileset_set_none(&daemon->files, file);
	end_work(daemon);
}

static void give_up(struct daemon *daemon, struct file *file, const char *why)
{
	fileset_set_slow(&daemon->files, file);
	fail(daemon, file, why);
}

/* It may be open to the next process that maps it. */
static void miss(struct daemon *daemon, struct file *file, int error)
{
	say(daemon, file, "cannot be opened: ", strerror(error));
	fileset_forget(&daemon->files, file);
	end_work(daemon);
}

static void skip(struct daemon *daemon, struct file *file)
{
	daemon->skipped++;
	say(daemon, file, "skipped: ", "no 64-bit program or library of this "
	    "machine");
	fileset_set_none(&daemon->files, file);
	end_work(daemon);
}

static void make_room(struct daemon *daemon, struct file *file, uint64_t bytes)
{
	daemon->adds = fileset_make_room(&daemon->files, bytes);
	if (daemon->adds)
		worker_go(&daemon->worker);
	else
		fail(daemon, file, "longer than --memory permits");
}

static void take_tables(struct daemon *daemon, struct file *file,
			const struct worker_news *news)
{
	/* It is being written. */
	if (!news->nr && news->error == EAGAIN) {
		miss(daemon, file, EAGAIN);
		return;
	}
	if (!news->nr) {
		fail(daemon, file, news->error == EEXIST ? "another daemon has "
		     "given it one" : strerror(news->error));
		return;
	}
	daemon->converted++;
	say_tables(daemon, file, news);
	fileset_set_tables(&daemon->files, file, news->ids, news->nr,
			   news->bytes);
	end_work(daemon);
}

static void hear_worker(struct daemon *daemon)
{
	struct file *file = daemon->files.at_work;
	struct worker_news news;

	worker_hear(&daemon->worker, &news);
	switch (news.step) {
	case WORKER_OPENED:
		daemon->deadline = 0;
		break;
	case WORKER_HAS_TABLES:
		make_room(daemon, file, news.bytes);
		break;
	case WORKER_ADDED:
		take_tables(daemon, file, &news);
		break;
	case WORKER_NO_FILE:
		miss(daemon, file, news.error);
		break;
	case WORKER_SKIPS:
		skip(daemon, file);
		break;
	case WORKER_FAILED:
		fail(daemon, file, "nothing to convert, or damaged");
		break;
	case WORKER_LATE:
		give_up(daemon, file, "reading took too long");
		break;
	default:
		fail(daemon, file, "its conversion was killed");
	}
}

static void start_work(struct daemon *daemon)
{
	struct file *file = fileset_next(&daemon->files);
	const struct options *options = daemon->options;
	struct worker_orders orders = {
		.tables = daemon->tables, .most = options->memory << 20,
		.seconds = options->seconds, .verbose = options->verbose,
	};
	int ret;

	if (!file)
		return;
	orders.pid = file->pid;
	orders.mapping = &file->mapping;
	ret = worker_start(&daemon->worker, &orders);
	if (ret)
		miss(daemon, file, -ret);
	else
		daemon->deadline = now_ms() + options->seconds * 1000;
}

static void check_deadline(struct daemon *daemon)
{
	if (!daemon->deadline || now_ms() < daemon->deadline)
		return;
	if (worker_is_blocked(daemon->worker.pid))
		give_up(daemon, daemon->files.at_work, "opening took too long");
	else
		daemon->deadline = now_ms() + daemon->options->seconds * 1000;
}

/*
 * A file that was mapped now does not wait for a device that did not answer before.
 * The ids of tables are known only when the worker has ended.
 */
static void let_others_pass(struct daemon *daemon)
{
	if (daemon->worker.socket >= 0 && !daemon->adds &&
	    worker_is_blocked(daemon->worker.pid) &&
	    fileset_give_way(&daemon->files))
		end_work(daemon);
}

/* ---- The loop ---------------------------------------------------------- */

static int until(int64_t now, int64_t time, int timeout)
{
	int64_t left = time > now ? time - now : 0;

	return timeout < 0 || left < timeout ? (int)left : timeout;
}

/* Rings are left alone during the pause; it ends even if they are full. */
static void wait_for_events(struct daemon *daemon)
{
	int64_t now = now_ms();
	bool paused = now < daemon->look;
	int timeout = -1;

	if (paused)
		timeout = until(now, daemon->look, timeout);
	if (daemon->deadline)
		timeout = until(now, daemon->deadline, timeout);
	if (daemon->mapped)
		timeout = until(now, daemon->check, timeout);
	daemon->fds[1].fd = daemon->worker.socket;
	if (poll(daemon->fds, paused ? 2 : 2 + daemon->events.nr,
		 timeout) < 0)
		daemon->fds[0].revents = daemon->fds[1].revents = 0;
}

static bool rings_are_ready(const struct daemon *daemon)
{
	size_t i;

	if (now_ms() < daemon->look)
		return false;
	for (i = 0; i < daemon->events.nr; i++)
		if (daemon->fds[2 + i].revents)
			return true;
	return false;
}

static void reap(void)
{
	while (waitpid(-1, NULL, WNOHANG) > 0)
		;
}

static void step(struct daemon *daemon)
{
	if (daemon->worker.socket < 0)
		start_work(daemon);
	wait_for_events(daemon);
	if (daemon->worker.socket >= 0 && daemon->fds[1].revents)
		hear_worker(daemon);
	check_deadline(daemon);
	if (rings_are_ready(daemon)) {
		look_at_rings(daemon);
		let_others_pass(daemon);
	}
	if (daemon->mapped && now_ms() >= daemon->check)
		check_files(daemon);
	reap();
}

static void print_end(const struct daemon *daemon)
{
	fprintf(stderr, "sfjit daemon: %" PRIu64 " files converted, %" PRIu64
		" skipped, %" PRIu64 " without a table; %" PRIu64
		" bytes of tables\n", daemon->converted, daemon->skipped,
		daemon->failed, daemon->files.bytes);
}

static void collect_fds(struct daemon *daemon)
{
	size_t i;

	daemon->fds = check_alloc(calloc(2 + daemon->events.nr,
					 sizeof(*daemon->fds)));
	daemon->fds[0].fd = daemon->signals;
	daemon->fds[0].events = daemon->fds[1].events = POLLIN;
	for (i = 0; i < daemon->events.nr; i++)
		daemon->fds[2 + i] = daemon->events.fds[i];
}

/* Events are open, so that nothing is mapped unseen. */
void loop_run(struct daemon *daemon)
{
	collect_fds(daemon);
	scan(daemon);
	check_files(daemon);
	service_is_ready();
	do
		step(daemon);
	while (!daemon->fds[0].revents);
	if (daemon->worker.socket >= 0)
		worker_end(&daemon->worker);
	if (daemon->options->verbose)
		print_end(daemon);
	free(daemon->fds);
}
