// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/* sfjit doctor: whether stacks are complete here, and if not, why. */
#include <errno.h>
#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "commands.h"
#include "doctor.h"
#include "printable.h"

static const char usage[] =
"Usage: sfjit doctor [OPTION]...\n"
"\n"
"Tries what profiles of programs under sfjit run need: kernel, perf, limits,\n"
"files. For each: what is there, what it means if it is not right, and how it\n"
"is fixed. Exits with 0 if all is well, with 1 if something is limited, with\n"
"2 if stacks cannot be complete.\n"
"\n"
"  -j, --json      for programs\n"
"  -h, --help      print this\n";

static const struct option long_options[] = {
	{ "json", no_argument, NULL, 'j' },
	{ "help", no_argument, NULL, 'h' },
	{ },
};

static const char * const states[] = { "ok", "limited", "broken" };

static void add_line(struct columns *columns, const char *state,
		     const char *name, const char *before, const char *text)
{
	columns_add(columns, "%s", state);
	columns_add(columns, "%s", name);
	columns_add(columns, "%s%s", before, text);
}

static void print_text(const struct doctor *doctor)
{
	struct columns columns = { .columns = 3, .indent = "" };
	unsigned int i;

	for (i = 0; i < doctor->nr; i++) {
		const struct doctor_finding *finding = &doctor->findings[i];

		add_line(&columns, states[finding->advice.state],
			 finding->name, "", finding->fact);
		if (finding->advice.state == DOCTOR_OK)
			continue;
		add_line(&columns, "", "", "", finding->advice.meaning);
		add_line(&columns, "", "", "fix: ",
			 finding->advice.remedy);
	}
	columns_print(&columns, stdout);
}

static void put_member(const char *name, const char *value)
{
	printf(", \"%s\": ", name);
	json_put_string(value, stdout);
}

static void print_json(const struct doctor *doctor)
{
	unsigned int i;

	for (i = 0; i < doctor->nr; i++) {
		const struct doctor_finding *finding = &doctor->findings[i];

		printf("%s{\"name\": ", i ? ",\n " : "[");
		json_put_string(finding->name, stdout);
		put_member("state", states[finding->advice.state]);
		put_member("fact", finding->fact);
		put_member("meaning", finding->advice.meaning);
		put_member("remedy", finding->advice.remedy);
		putchar('}');
	}
	puts("]");
}

static enum doctor_state worst(const struct doctor *doctor)
{
	enum doctor_state state = DOCTOR_OK;
	unsigned int i;

	for (i = 0; i < doctor->nr; i++)
		if (doctor->findings[i].advice.state > state)
			state = doctor->findings[i].advice.state;
	return state;
}

static int examine(bool json)
{
	struct doctor doctor = { .nr = 0 };

	doctor_check_kernel(&doctor);
	doctor_check_events(&doctor);
	doctor_check_perf(&doctor);
	doctor_check_module(&doctor);
	doctor_check_cache(&doctor);
	doctor_check_daemon(&doctor);
	if (json)
		print_json(&doctor);
	else
		print_text(&doctor);
	return finish_output() ?: (int)worst(&doctor);
}

int command_doctor(int argc, char **argv)
{
	bool json = false;
	int c;

	optind = 1;
	while ((c = getopt_long(argc, argv, "+jh", long_options, NULL)) != -1) {
		if (c == 'h')
			return print_help(usage);
		json = c == 'j';
		if (!json)
			break;
	}
	if (c != -1 || optind != argc) {
		fputs(usage, stderr);
		return EXIT_OURS;
	}
	return examine(json);
}
