// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/* The program perf, as the path finds it. */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "doctor.h"

/*
 * Versions before that of Linux 6.19 take the option and ignore what they do
 * not know. With -vv others print what they ask the kernel for.
 */
#define RECORD	"perf record -vv -e dummy:u --call-graph=fp,defer " \
		"-o /dev/null -- true 2>&1"

/* A line with this text and then the number. */
#define VERSION	"perf version "

/* Finds a line with this text, and leaves it in 'line'. */
static bool prints(const char *command, const char *text, char *line,
		   size_t size)
{
	FILE *pipe = popen(command, "re");
	bool found = false;
	char rest[256];

	/* To the end: perf would get SIGPIPE otherwise. */
	while (pipe && fgets(found ? rest : line, found ? sizeof(rest) : size,
			     pipe))
		found = found || strstr(line, text);
	if (pipe)
		pclose(pipe);
	return found;
}

void doctor_check_perf(struct doctor *doctor)
{
	static const struct doctor_advice none = {
		DOCTOR_BROKEN, "perf is not installed",
		"apt install linux-perf",
	}, old = {
		DOCTOR_LIMITED, "pages that are not in memory truncate stacks",
		"install the perf of Linux 6.19 or newer (backports)",
	};
	char line[256] = "", version[256] = "";
	bool defers;

	if (!prints("perf version 2>/dev/null", VERSION, version,
		    sizeof(version))) {
		doctor_say(doctor, "perf", &none, "not found in PATH");
		return;
	}
	version[strcspn(version, "\n")] = '\0';
	defers = prints(RECORD, "defer_callchain", line, sizeof(line));
	doctor_say(doctor, "perf", defers ? NULL : &old, "perf %s %s fp,defer",
		   version + strlen(VERSION),
		   defers ? "knows" : "does not know");
}
