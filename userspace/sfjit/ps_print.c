// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/* Processes for people. */
#include <inttypes.h>
#include <string.h>

#include "ps.h"
#include "reasons.h"

/* Bytes of a name: 65,536 windows may be in a mapping whose name has 16 KiB. */
#define CELL_NAME	1000

static void add_place(struct columns *table, const struct ps_map *map,
		      uint64_t address)
{
	if (map)
		columns_add(table, "%.*s+%" PRIx64, CELL_NAME, map->name,
			    address - map->start + map->offset);
	else
		columns_add(table, "[unmapped]");
}

static void add_symbols(struct columns *table, const struct ps_window *window)
{
	if (window->symbols > 1)
		columns_add(table, "%.*s and %u more", CELL_NAME,
			    window->symbol, window->symbols - 1);
	else
		columns_add(table, "%.*s", CELL_NAME, window->symbol ?: "");
}

static void add_window_row(struct columns *table,
			   const struct ps_window *window)
{
	columns_add(table, "%" PRIx64 "-%" PRIx64, window->start, window->end);
	columns_add(table, "%" PRIx64, window->key);
	columns_add(table, "%" PRIx64, window->section);
	columns_add(table, "%" PRIu64, window->length);
	columns_add(table, "%s", window->flags);
	add_place(table, window->text_in, window->start);
	add_place(table, window->section_in, window->section);
	add_symbols(table, window);
}

static void print_windows(const struct ps_process *process, FILE *out)
{
	static const char * const heads[] = { "TEXT", "KEY", "TABLE",
		"LENGTH", "FORMAT", "TEXT IN", "TABLE IN", "NAMES" };
	struct columns table = { .columns = 8, .right = 1 << 3, .indent = "" };
	size_t i;

	for (i = 0; i < table.columns; i++)
		columns_add(&table, "%s", heads[i]);
	for (i = 0; i < process->nr_windows; i++)
		add_window_row(&table, &process->windows[i]);
	columns_print(&table, out);
}

static void print_table(const struct ps_ends *ends, FILE *out)
{
	struct columns table = { .columns = 3, .right = 1 << 1,
				  .indent = "  " };
	unsigned int i;

	for (i = 0; i < ends->nr_counts; i++) {
		const struct ps_count *count = &ends->counts[i];

		if (!count->count)
			continue;
		columns_add(&table, "%s", count->reason);
		columns_add(&table, "%" PRIu64, count->count);
		columns_add(&table, "%s", reasons_explain(count->reason) ?:
			    "a reason that is newer than this program");
	}
	columns_print(&table, out);
}

void ps_print_counts(const struct ps_ends *ends, const char *of, FILE *out)
{
	if (!ps_refused(ends)) {
		fprintf(out, "no unwind errors%s\n", of);
		return;
	}
	fprintf(out, "unwind errors%s (each truncated one stack):\n", of);
	print_table(ends, out);
}

static void print_last(const struct ps_process *process, FILE *out)
{
	const struct ps_ends *ends = &process->ends;
	struct columns table = { .columns = 2, .indent = "" };

	if (!strcmp(ends->last_reason, "none"))
		return;
	columns_add(&table, "last: %s at %" PRIx64, ends->last_reason,
		    ends->last_ip);
	add_place(&table, ps_find_map(&process->maps, ends->last_ip),
		  ends->last_ip);
	columns_print(&table, out);
}

static void print_title(const struct ps_process *process, FILE *out)
{
	struct columns table = { .columns = 1, .indent = "" };

	columns_add(&table, "%d %s: %zu window%s", process->pid,
		    process->command, process->nr_windows,
		    process->nr_windows == 1 ? "" : "s");
	columns_print(&table, out);
}

/* The kernel does not count what it refused for that. */
static void print_limit(const struct ps_process *process, FILE *out)
{
	FILE *file = fopen("/proc/sys/vm/max_sframe_windows", "re");
	size_t limit;

	if (!file)
		return;
	if (fscanf(file, "%zu", &limit) == 1 && process->nr_windows >= limit)
		fputs("vm.max_sframe_windows permits no more windows: others "
		      "may be missing\n", out);
	fclose(file);
}

void ps_print(const struct ps_process *process, FILE *out)
{
	print_title(process, out);
	if (process->nr_windows) {
		print_windows(process, out);
		print_limit(process, out);
	}
	ps_print_counts(&process->ends, "", out);
	print_last(process, out);
}

static void add_heads(struct columns *table)
{
	static const char * const heads[] = { "PID", "WINDOWS", "TEXT",
		"TABLES", "REFUSED", "COMMAND" };
	unsigned int i;

	table->columns = sizeof(heads) / sizeof(*heads);
	table->right = 0x1f;
	table->indent = "";
	for (i = 0; i < table->columns; i++)
		columns_add(table, "%s", heads[i]);
}

void ps_add_summary(const struct ps_process *process, struct columns *table)
{
	uint64_t text = 0, tables = 0;
	size_t i;

	if (!table->nr)
		add_heads(table);
	if (!process)
		return;
	for (i = 0; i < process->nr_windows; i++) {
		text += process->windows[i].end - process->windows[i].start;
		tables += process->windows[i].length;
	}
	columns_add(table, "%d", process->pid);
	columns_add(table, "%zu", process->nr_windows);
	columns_add(table, "%" PRIu64, text);
	columns_add(table, "%" PRIu64, tables);
	columns_add(table, "%" PRIu64, ps_refused(&process->ends));
	columns_add(table, "%s", process->command);
}

/*
 * Processes for programs. Addresses are strings: numbers of JSON are exact up
 * to 2^53 only in many readers.
 */

static void put_place(const char *name, const struct ps_map *map,
		      uint64_t address, FILE *out)
{
	fprintf(out, ", \"%s\": ", name);
	if (!map) {
		fputs("null", out);
		return;
	}
	fputs("{\"name\": ", out);
	json_put_string(map->name, out);
	fprintf(out, ", \"offset\": \"0x%" PRIx64 "\"}",
		address - map->start + map->offset);
}

static void put_symbols(const struct ps_window *window, FILE *out)
{
	fprintf(out, ", \"names\": %u, \"first_name\": ", window->symbols);
	json_put_string(window->symbol, out);
}

static void put_window(const struct ps_window *window, FILE *out)
{
	fprintf(out, "{\"text_start\": \"0x%" PRIx64 "\", \"text_end\": "
		"\"0x%" PRIx64 "\", \"key\": \"0x%" PRIx64 "\", \"section\": "
		"\"0x%" PRIx64 "\", \"length\": %" PRIu64 ", \"flags\": ",
		window->start, window->end, window->key, window->section,
		window->length);
	json_put_string(window->flags, out);
	put_place("text_in", window->text_in, window->start, out);
	put_place("section_in", window->section_in, window->section, out);
	put_symbols(window, out);
	fputc('}', out);
}

void ps_put_counts(const struct ps_ends *ends, FILE *out)
{
	unsigned int i;

	fputs("\"refused\": {", out);
	for (i = 0; i < ends->nr_counts; i++) {
		fputs(i ? ", " : "", out);
		json_put_string(ends->counts[i].reason, out);
		fprintf(out, ": %" PRIu64, ends->counts[i].count);
	}
	fputc('}', out);
}

static void put_last(const struct ps_process *process, FILE *out)
{
	const struct ps_ends *ends = &process->ends;

	fputs(", \"last\": ", out);
	if (!strcmp(ends->last_reason, "none")) {
		fputs("null", out);
		return;
	}
	fputs("{\"reason\": ", out);
	json_put_string(ends->last_reason, out);
	fprintf(out, ", \"address\": \"0x%" PRIx64 "\"", ends->last_ip);
	put_place("in", ps_find_map(&process->maps, ends->last_ip),
		  ends->last_ip, out);
	fputc('}', out);
}

void ps_print_json(const struct ps_process *process, FILE *out)
{
	size_t i;

	fprintf(out, "{\"pid\": %d, \"command\": ", process->pid);
	json_put_string(process->command, out);
	fputs(", \"windows\": [", out);
	for (i = 0; i < process->nr_windows; i++) {
		fputs(i ? ",\n  " : "\n  ", out);
		put_window(&process->windows[i], out);
	}
	fputs("], ", out);
	ps_put_counts(&process->ends, out);
	put_last(process, out);
	fputc('}', out);
}
