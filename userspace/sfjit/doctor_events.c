// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/* The events that this user may open, and the size of their buffers. */
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "doctor.h"
#include "event.h"
#include "util.h"

#define PARANOID	"/proc/sys/kernel/perf_event_paranoid"
#define MLOCK_KB	"/proc/sys/kernel/perf_event_mlock_kb"
#define BUFFER		(512UL << 10)	/* of perf record, for each CPU */

struct access {
	int own, kernel, all;		/* errno */
	long buffers;			/* that could be mapped */
};

static int try_event(pid_t pid, int cpu, bool kernel)
{
	struct event event = { .pid = pid, .cpu = cpu, .kernel = kernel };
	int ret = event_open(&event);

	if (!ret)
		event_close(&event);
	return -ret;
}

static void try_events(void *trial)
{
	struct access *access = trial;

	access->own = try_event(0, -1, false);
	access->kernel = try_event(0, -1, true);
	access->all = try_event(-1, 0, true);
}

/* One for each CPU, as perf record has them. They end with the child. */
static void try_buffers(void *trial)
{
	struct access *access = trial;
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	int ret = 0;

	while (!ret && access->buffers < cpus) {
		struct event event = { .cpu = -1, .ring = BUFFER };

		ret = event_open(&event);
		access->buffers += !ret;
	}
}

static void say_refused(struct doctor *doctor, int error, long level)
{
	struct doctor_advice advice = {
		DOCTOR_BROKEN, "you cannot profile your own programs",
		level > 2 ? "sysctl kernel.perf_event_paranoid=2" :
		"let perf_event_open() pass seccomp, or have CAP_PERFMON",
	};

	doctor_say(doctor, "events", &advice, "refused: %s; "
		   "perf_event_paranoid is %ld", strerror(error), level);
}

static const char *said(const struct access *access)
{
	if (!access->all)
		return "all processes and the kernel";
	return access->kernel ? "your own programs" :
	       "your own programs and the kernel";
}

static void check_buffers(struct doctor *doctor)
{
	static const struct doctor_advice advice = {
		DOCTOR_LIMITED, "perf record has less than 512 KiB, "
		"and may lose samples",
		"sysctl kernel.perf_event_mlock_kb=516",
	};
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	struct access access = { 0 };
	struct rlimit limit;

	getrlimit(RLIMIT_MEMLOCK, &limit);
	child_try(try_buffers, &access, sizeof(access));
	if (access.buffers == cpus)
		doctor_say(doctor, "buffers", NULL,
			   "512 KiB for each CPU may be locked");
	else
		doctor_say(doctor, "buffers", &advice, "for %ld of %ld CPUs; "
			   "perf_event_mlock_kb %ld, RLIMIT_MEMLOCK %llu KiB",
			   access.buffers, cpus,
			   doctor_number(MLOCK_KB, 0),
			   (unsigned long long)limit.rlim_cur >> 10);
}

void doctor_check_events(struct doctor *doctor)
{
	struct access access = { 0 };
	long level = doctor_number(PARANOID, -1);
	int signal = child_try(try_events, &access, sizeof(access));

	if (signal)
		access.own = EPERM;
	if (access.own) {
		say_refused(doctor, access.own, level);
		return;
	}
	doctor_say(doctor, "events", NULL, "of %s; perf_event_paranoid is %ld",
		   said(&access), level);
	check_buffers(doctor);
	doctor_check_samples(doctor);
}
