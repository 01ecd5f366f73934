// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/* sfjit ps --files: the tables of daemons, which belong to files. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "file_tables.h"
#include "ps.h"
#include "util.h"

#define CELL_NAME	1000	/* bytes of a path */

struct entry {
	struct file_table table;
	char *path;		/* NULL: no process has it mapped */
};

/* Sorted by file and by text, which has one table at most. */
struct entries {
	struct entry *list;
	size_t nr, max;
	bool held;		/* there is a daemon */
	struct ps_ends ends;	/* the kernel's: each descriptor shows the same */
};

static int compare_files(const struct file_table *a,
			 const struct file_table *b)
{
	if (a->major != b->major)
		return a->major < b->major ? -1 : 1;
	if (a->minor != b->minor)
		return a->minor < b->minor ? -1 : 1;
	return (a->inode > b->inode) - (a->inode < b->inode);
}

static int compare_entries(const void *x, const void *y)
{
	const struct file_table *a = x, *b = y;

	return compare_files(a, b) ?:
	       (a->first > b->first) - (a->first < b->first);
}

/* ---- Tables ------------------------------------------------------------ */

static void add_table(void *arg, const struct file_table *table)
{
	struct entries *all = arg;

	check_grow(&all->list, &all->max, all->nr, sizeof(*all->list));
	all->list[all->nr++] = (struct entry){ *table, NULL };
}

static void add_end(void *arg, const char *line)
{
	struct entries *all = arg;

	ps_parse_end(&all->ends, line);
}

static void add_tables(void *arg, const char *dir, int fd)
{
	struct entries *all = arg;

	file_tables_list(dir, fd, add_table, all->held ? NULL : add_end, all);
	all->held = true;
}

/* systemd has a copy of the service's descriptor. */
static void drop_copies(struct entries *all)
{
	size_t i, nr = 0;

	for (i = 0; i < all->nr; i++)
		if (!nr || compare_entries(&all->list[nr - 1], &all->list[i]))
			all->list[nr++] = all->list[i];
	all->nr = nr;
}

static void find_tables(struct entries *all, const char *proc)
{
	file_tables_find(proc, add_tables, all);
	if (all->nr)
		qsort(all->list, all->nr, sizeof(*all->list), compare_entries);
	drop_copies(all);
}

/* ---- Their files ------------------------------------------------------- */

/* The first table of a file, or the end. */
static size_t find_file(const struct entries *all, const struct file_table *key)
{
	size_t lo = 0, hi = all->nr, mid;

	while (lo < hi) {
		mid = lo + (hi - lo) / 2;
		if (compare_files(&all->list[mid].table, key) < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

static void name_file(struct entries *all, const struct ps_map *map)
{
	const struct file_table key = {
		.major = map->major, .minor = map->minor, .inode = map->inode,
	};
	size_t i = find_file(all, &key);

	for (; i < all->nr && !compare_files(&all->list[i].table, &key); i++)
		if (!all->list[i].path)
			all->list[i].path = check_alloc(strdup(map->name));
}

static void name_files_of(void *arg, const char *dir, pid_t pid)
{
	struct ps_maps maps = { };
	struct entries *all = arg;
	size_t i;

	ps_read_maps(&maps, dir);
	for (i = 0; i < maps.nr; i++)
		if (maps.maps[i].inode)
			name_file(all, &maps.maps[i]);
	ps_free_maps(&maps);
}

/* ---- Output ------------------------------------------------------------ */

static const char *state_of(const struct file_table *table)
{
	return table->changed ? "changed" : "current";
}

static void add_row(struct columns *columns, const struct entry *entry)
{
	const struct file_table *table = &entry->table;

	columns_add(columns, "%" PRIx64 "-%" PRIx64, table->first, table->last);
	columns_add(columns, "%" PRIu64, table->bytes);
	columns_add(columns, "%s", state_of(table));
	if (entry->path)
		columns_add(columns, "%.*s", CELL_NAME, entry->path);
	else
		columns_add(columns, "%02x:%02x:%" PRIu64, table->major,
			    table->minor, table->inode);
}

static size_t count_files(const struct entries *all)
{
	size_t i, files = 0;

	for (i = 0; i < all->nr; i++)
		files += !i || compare_files(&all->list[i - 1].table,
					     &all->list[i].table);
	return files;
}

static void print_total(const struct entries *all, FILE *out)
{
	uint64_t bytes = 0;
	size_t i;

	for (i = 0; i < all->nr; i++)
		bytes += all->list[i].table.bytes;
	fprintf(out, "%zu tables of %zu files, %" PRIu64 " bytes\n", all->nr,
		count_files(all), bytes);
}

static void print_text(const struct entries *all, FILE *out)
{
	static const char * const heads[] = { "TEXT", "BYTES", "STATE",
		"FILE" };
	struct columns columns = { .columns = 4, .right = 1 << 1,
				    .indent = "" };
	size_t i;

	for (i = 0; i < columns.columns; i++)
		columns_add(&columns, "%s", heads[i]);
	for (i = 0; i < all->nr; i++)
		add_row(&columns, &all->list[i]);
	columns_print(&columns, out);
	print_total(all, out);
	if (all->held)
		ps_print_counts(&all->ends, " of processes without windows",
				out);
}

static void put_entry(const struct entry *entry, FILE *out)
{
	const struct file_table *table = &entry->table;

	fputs("{\"file\": ", out);
	json_put_string(entry->path, out);
	fprintf(out, ", \"device\": \"%02x:%02x\", \"inode\": %" PRIu64
		", \"text_start\": \"0x%" PRIx64 "\", \"text_end\": \"0x%"
		PRIx64 "\", \"bytes\": %" PRIu64 ", \"state\": \"%s\"}",
		table->major, table->minor, table->inode, table->first,
		table->last, table->bytes, state_of(table));
}

static void print_json(const struct entries *all, FILE *out)
{
	size_t i;

	fputs("{\"tables\": [", out);
	for (i = 0; i < all->nr; i++) {
		fputs(i ? ",\n" : "", out);
		put_entry(&all->list[i], out);
	}
	fputs("], ", out);
	ps_put_counts(&all->ends, out);
	fputs("}\n", out);
}

static void free_entries(struct entries *all)
{
	while (all->nr)
		free(all->list[--all->nr].path);
	free(all->list);
}

void ps_files(const struct ps_options *options)
{
	struct entries all = { };

	find_tables(&all, options->proc);
	each_process(options->proc, name_files_of, &all);
	if (options->json)
		print_json(&all, options->out);
	else
		print_text(&all, options->out);
	free_entries(&all);
}

bool ps_count_files(const char *proc, size_t *files)
{
	struct entries all = { };

	find_tables(&all, proc);
	*files = count_files(&all);
	free_entries(&all);
	return all.held;
}
