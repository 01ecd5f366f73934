/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * What sfjit doctor finds out, one part after the other.
 */
#ifndef SFJIT_RUN_DOCTOR_H
#define SFJIT_RUN_DOCTOR_H

#include <stdbool.h>

struct utsname;

/* The exit status is the worst of them. */
enum doctor_state {
	DOCTOR_OK,
	DOCTOR_LIMITED,		/* stacks are complete, but */
	DOCTOR_BROKEN,		/* stacks are not complete */
};

/* Of a state that is not DOCTOR_OK. */
struct doctor_advice {
	enum doctor_state state;
	const char *meaning;	/* for profiles */
	const char *remedy;	/* a command, or what else to do */
};

struct doctor_finding {
	const char *name, *fact;
	struct doctor_advice advice;
};

#define DOCTOR_MOST	16

struct doctor {
	struct doctor_finding findings[DOCTOR_MOST];
	unsigned int nr;
	const char *no_windows;	/* the finding that explains it; NULL: some */
};

/* Without advice all is well. The strings stay valid. */
void doctor_say(struct doctor *doctor, const char *name,
		const struct doctor_advice *advice, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

/* As printf() makes it; lives as long as the program. */
const char *doctor_text(const char *format, ...)
	__attribute__((format(printf, 1, 2)));

/* The first number in a file; 'absent' if there is none. */
long doctor_number(const char *file, long absent);

void doctor_check_kernel(struct doctor *doctor);
/* The fix for a kernel without windows; NULL: no module is for it. */
const struct doctor_advice *doctor_stock_kernel(const struct utsname *kernel);
/* The fix if the module is older than this program; NULL: there is none. */
const struct doctor_advice *doctor_stock_old(void);
/* Says so if it is the module that refused. */
bool doctor_stock_refuses(struct doctor *doctor, long registering);
void doctor_check_events(struct doctor *doctor);
void doctor_check_samples(struct doctor *doctor);
void doctor_check_perf(struct doctor *doctor);
void doctor_check_module(struct doctor *doctor);
void doctor_check_cache(struct doctor *doctor);
void doctor_check_daemon(struct doctor *doctor);

#endif /* SFJIT_RUN_DOCTOR_H */
