// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/*
 * Samples of this program itself, in a function that is called by code without
 * frame pointers: which frames they should have is known.
 */
#include <errno.h>
#include <sfjit.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "doctor.h"
#include "event.h"
#include "util.h"

struct trial {
	bool deferred;
	int error;		/* of opening the event, or making the code */
	bool whole;
};

static const void *in_code, *in_caller;

static __attribute__((noinline)) void return_at_once(void)
{
	__asm__ volatile("");
}

/*
 * The fault is between the two where the frame record is needed: for the return
 * address, on which the compiler believes the page to depend, and for the call.
 */
static __attribute__((noinline)) void touch(char *page)
{
	const void *caller = __builtin_return_address(0);

	__asm__ volatile("" : "+r"(page) : "r"(caller));
	*(volatile char *)page = 1;
	in_code = caller;
	return_at_once();
}

/* The code calls its sixth argument. */
static __attribute__((noinline)) void call_through(void *code, char *page)
{
	void (*function)(char *, long, long, long, long, void (*)(char *)) =
		(void (*)(char *, long, long, long, long, void (*)(char *)))
		code;

	in_caller = __builtin_return_address(0);
	function(page, 0, 0, 0, 0, touch);
	return_at_once();
}

/* touch() and what called it, up to the caller of call_through(). */
static bool is_whole(const uint64_t *stack, size_t nr)
{
	return nr > 3 && stack[1] == (uintptr_t)in_code &&
	       stack[3] == (uintptr_t)in_caller;
}

static int sample(struct trial *trial, struct event *event, void *code)
{
	size_t size = sysconf(_SC_PAGESIZE);
	char *page = mmap(NULL, size, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int ret = page == MAP_FAILED ? -errno : event_open(event);

	if (ret)
		return ret;
	event_enable(event);
	call_through(code, page);
	trial->whole = event_stacks(event, is_whole);
	event_close(event);
	return 0;
}

static void attempt(void *shared)
{
	struct trial *trial = shared;
	struct event event = {
		.cpu = -1, .deferred = trial->deferred,
		.ring = sysconf(_SC_PAGESIZE),
	};
	struct sfjit_pool *pool;
	void *code;

	trial->error = sfjit_pool_create(SFJIT_TRAMP_RBP, &pool);
	if (!trial->error)
		trial->error = sfjit_tramp_get(pool, NULL, NULL, &code);
	if (!trial->error)
		trial->error = sample(trial, &event, code);
}

static const char *remedy(const struct doctor *doctor, const char *option)
{
	if (doctor->no_windows)
		return doctor_text("see %s", doctor->no_windows);
	return doctor_text("boot a kernel with %s=y", option);
}

static void check(struct doctor *doctor, const char *name, bool deferred,
		  struct doctor_advice advice)
{
	struct trial trial = { .deferred = deferred };
	int signal = child_try(attempt, &trial, sizeof(trial));

	/* Its ring is smaller than perf's, and still too large. */
	if (trial.error == -EPERM)
		advice.remedy = "see buffers";
	if (signal)
		doctor_say(doctor, name, &advice, "the sample's program got %s",
			   strsignal(signal));
	else if (trial.error)
		doctor_say(doctor, name, &advice, "no sample: %s",
			   strerror(-trial.error));
	else if (!trial.whole)
		doctor_say(doctor, name, &advice, "a sample lacks the callers "
			   "of code without frame pointers");
	else
		doctor_say(doctor, name, NULL, "a sample has the callers of "
			   "code without frame pointers");
}

void doctor_check_samples(struct doctor *doctor)
{
	check(doctor, "fp", false, (struct doctor_advice) {
		DOCTOR_BROKEN, "stacks of perf record --call-graph=fp lack "
		"frames", remedy(doctor, "PERF_SFRAME_CALLCHAIN"),
	});
	check(doctor, "fp,defer", true, (struct doctor_advice) {
		doctor->no_windows ? DOCTOR_BROKEN : DOCTOR_LIMITED,
		"--call-graph=fp,defer does not read in missing pages",
		remedy(doctor, "UNWIND_USER"),
	});
}
