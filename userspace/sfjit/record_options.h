/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * The command line of sfjit record: its own options, those of perf record, and
 * the command.
 */
#ifndef SFJIT_RUN_RECORD_OPTIONS_H
#define SFJIT_RUN_RECORD_OPTIONS_H

#include <stdbool.h>

/* perf's own limit: a record has 64 KiB. */
#define STACK_MOST	65528
/* With the second python3 and others are complete; root may have its buffers. */
#define STACK_USUAL	8192
#define STACK_ROOT	32768
#define BUFFERS_ROOT	"2M"

struct recording {
	const char *output;
	unsigned long stack;	/* 0: the usual */
	bool quiet;
	bool clock;		/* the options say which */
	bool buffers;		/* and how large they are */
	bool no_build_ids, no_cache, all_build_ids;
	char **options;		/* perf's; nr_options of them */
	int nr_options;
	char **command;		/* nr_command words; 0: none */
	int nr_command;
};

enum record_options {
	RECORD_RUN,
	RECORD_HELP,
	RECORD_WRONG		/* a message said what */
};

enum record_options record_parse(struct recording *r, int argc, char **argv);

#endif /* SFJIT_RUN_RECORD_OPTIONS_H */
