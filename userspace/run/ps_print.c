// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/* Processes for people. */
#include <inttypes.h>
#include <string.h>

#include "ps.h"

/* Bytes of a name: 65,536 windows may be in a mapping whose name has 16 KiB. */
#define CELL_NAME	1000

static void add_place(struct ps_table *table, const struct ps_map *map,
		      uint64_t address)
{
	if (map)
		ps_cell(table, "%.*s+%" PRIx64, CELL_NAME, map->name,
			address - map->start + map->offset);
	else
		ps_cell(table, "[unmapped]");
}

static void add_symbols(struct ps_table *table, const struct ps_window *window)
{
	if (window->symbols > 1)
		ps_cell(table, "%.*s and %u more", CELL_NAME, window->symbol,
			window->symbols - 1);
	else
		ps_cell(table, "%.*s", CELL_NAME, window->symbol ?: "");
}

static void add_window(struct ps_table *table, const struct ps_window *window)
{
	ps_cell(table, "%" PRIx64 "-%" PRIx64, window->start, window->end);
	ps_cell(table, "%" PRIx64, window->key);
	ps_cell(table, "%" PRIx64, window->section);
	ps_cell(table, "%" PRIu64, window->length);
	ps_cell(table, "%s", window->flags);
	add_place(table, window->text_in, window->start);
	/* Windows of the kinds fp and end have none. */
	if (window->length)
		add_place(table, window->section_in, window->section);
	else
		ps_cell(table, "-");
	add_symbols(table, window);
}

static void print_windows(const struct ps_process *process, FILE *out)
{
	static const char * const heads[] = { "TEXT", "KEY", "SECTION",
		"LENGTH", "FLAGS", "TEXT IN", "SECTION IN", "NAMES" };
	struct ps_table table = { .columns = 8, .right = 1 << 3, .indent = "" };
	size_t i;

	for (i = 0; i < table.columns; i++)
		ps_cell(&table, "%s", heads[i]);
	for (i = 0; i < process->nr_windows; i++)
		add_window(&table, &process->windows[i]);
	ps_print_table(&table, out);
}

static void print_counts(const struct ps_process *process, FILE *out)
{
	struct ps_table table = { .columns = 3, .right = 1 << 1,
				  .indent = "  " };
	unsigned int i;

	for (i = 0; i < process->nr_counts; i++) {
		const struct ps_count *count = &process->counts[i];

		if (!count->count)
			continue;
		ps_cell(&table, "%s", count->reason);
		ps_cell(&table, "%" PRIu64, count->count);
		ps_cell(&table, "%s", ps_explain(count->reason) ?:
			"a reason that is newer than this program");
	}
	ps_print_table(&table, out);
}

static void print_last(const struct ps_process *process, FILE *out)
{
	struct ps_table table = { .columns = 2, .indent = "" };

	if (!strcmp(process->last_reason, "none"))
		return;
	ps_cell(&table, "last: %s at %" PRIx64, process->last_reason,
		process->last_ip);
	add_place(&table, ps_find_map(&process->maps, process->last_ip),
		  process->last_ip);
	ps_print_table(&table, out);
}

static void print_title(const struct ps_process *process, FILE *out)
{
	struct ps_table table = { .columns = 1, .indent = "" };

	ps_cell(&table, "%d %s: %zu window%s", process->pid, process->command,
		process->nr_windows, process->nr_windows == 1 ? "" : "s");
	ps_print_table(&table, out);
}

void ps_print(const struct ps_process *process, FILE *out)
{
	print_title(process, out);
	if (process->nr_windows)
		print_windows(process, out);
	if (!ps_refused(process)) {
		fputs("no step of a walk was refused\n", out);
		return;
	}
	fputs("steps of walks that were refused, after which the stack "
	      "ends:\n", out);
	print_counts(process, out);
	print_last(process, out);
}

static size_t nr_live(const struct ps_process *process)
{
	size_t i, nr = 0;

	for (i = 0; i < process->nr_windows; i++)
		nr += !strcmp(process->windows[i].flags, "live");
	return nr;
}

static void add_heads(struct ps_table *table)
{
	static const char * const heads[] = { "PID", "WINDOWS", "LIVE", "TEXT",
		"SECTIONS", "REFUSED", "COMMAND" };
	unsigned int i;

	table->columns = sizeof(heads) / sizeof(*heads);
	table->right = 0x3f;
	table->indent = "";
	for (i = 0; i < table->columns; i++)
		ps_cell(table, "%s", heads[i]);
}

void ps_add_summary(const struct ps_process *process, struct ps_table *table)
{
	uint64_t text = 0, sections = 0;
	size_t i;

	if (!table->nr)
		add_heads(table);
	if (!process)
		return;
	for (i = 0; i < process->nr_windows; i++) {
		text += process->windows[i].end - process->windows[i].start;
		sections += process->windows[i].length;
	}
	ps_cell(table, "%d", process->pid);
	ps_cell(table, "%zu", process->nr_windows);
	ps_cell(table, "%zu", nr_live(process));
	ps_cell(table, "%" PRIu64, text);
	ps_cell(table, "%" PRIu64, sections);
	ps_cell(table, "%" PRIu64, ps_refused(process));
	ps_cell(table, "%s", process->command);
}
