// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/*
 * Processes for programs. Addresses are strings: numbers of JSON are exact up
 * to 2^53 only in many readers.
 */
#include <inttypes.h>
#include <string.h>

#include "json.h"
#include "ps.h"

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

static void put_counts(const struct ps_process *process, FILE *out)
{
	unsigned int i;

	fputs(", \"refused\": {", out);
	for (i = 0; i < process->nr_counts; i++) {
		fputs(i ? ", " : "", out);
		json_put_string(process->counts[i].reason, out);
		fprintf(out, ": %" PRIu64, process->counts[i].count);
	}
	fputs("}, \"last\": ", out);
	if (!strcmp(process->last_reason, "none")) {
		fputs("null", out);
		return;
	}
	fputs("{\"reason\": ", out);
	json_put_string(process->last_reason, out);
	fprintf(out, ", \"address\": \"0x%" PRIx64 "\"", process->last_ip);
	put_place("in", ps_find_map(&process->maps, process->last_ip),
		  process->last_ip, out);
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
	fputc(']', out);
	put_counts(process, out);
	fputc('}', out);
}
