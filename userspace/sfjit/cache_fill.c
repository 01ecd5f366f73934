// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

#include "../preload/make_table.h"
#include "cache.h"
#include "child.h"
#include "commands.h"
#include "elf_map.h"
#include "module.h"

static __typeof__(__sfjit_fill_cache) *fill_cache;

struct attempt {
	enum cache cache;
	const char *path;	/* NULL: the vDSO */
	struct fill fill;
	int error;
};

static int fill_vdso(struct dl_phdr_info *info, size_t size, void *arg)
{
	unsigned long header = getauxval(AT_SYSINFO_EHDR);
	struct attempt *attempt = arg;

	if (!header || info->dlpi_addr + info->dlpi_phdr->p_vaddr != header)
		return 0;
	attempt->error = fill_cache(info, attempt->cache, &attempt->fill);
	return 1;
}

static void fill(void *trial)
{
	struct attempt *attempt = trial;
	struct dl_phdr_info info = { .dlpi_phnum = 0 };

	if (!attempt->path) {
		dl_iterate_phdr(fill_vdso, attempt);
		return;
	}
	attempt->error = elf_map(attempt->path, &info);
	attempt->fill.reason = attempt->error == -ENOEXEC ?
			       "is not ELF of this machine" : "cannot be read";
	if (!attempt->error)
		attempt->error = fill_cache(&info, attempt->cache,
					    &attempt->fill);
}

static int report(const struct attempt *attempt, int signal)
{
	const char *path = attempt->path ?: "[vdso]";
	int error = attempt->error;

	fflush(stdout);
	/* Code of others may have no table, and directories other files. */
	if (!signal && (error == -ENOENT || error == -ENOEXEC))
		printf("none   %10s %s: %s\n", "-", path, attempt->fill.reason);
	else if (signal)
		fprintf(stderr, "sfjit: %s: %s\n", path, strsignal(signal));
	else if (error)
		fprintf(stderr, "sfjit: %s: %s: %s\n", path,
			attempt->fill.reason, strerror(-error));
	else if (!attempt->fill.is_there)
		fprintf(stderr, "sfjit: %s: its table cannot be written\n",
			path);
	else
		printf("%s  %10zu %s\n", attempt->fill.was_there ? "there" :
		       "made ", attempt->fill.length, path);
	return signal || (error && error != -ENOENT && error != -ENOEXEC) ||
	       (!error && !attempt->fill.is_there);
}

static int fill_one(enum cache cache, const char *path, struct names *tables)
{
	struct attempt attempt = {
		.cache = cache, .path = path, .error = -ENOENT,
		.fill = { .reason = "there is none" },
	};
	int signal = child_try(fill, &attempt, sizeof(attempt));

	if (!signal && !attempt.error)
		names_add(tables, attempt.fill.name.data);
	return report(&attempt, signal);
}

int cache_fill(enum cache cache, const struct names *files,
	       struct names *tables)
{
	char module[PATH_MAX];
	int ret = 0;
	size_t i;

	fill_cache = (__typeof__(fill_cache))module_function(FILL_SYMBOL,
							     module);
	if (!fill_cache)
		return EXIT_OURS;
	for (i = 0; i < files->nr; i++)
		ret |= fill_one(cache, files->name[i], tables);
	/* Each program has these, too. */
	ret |= fill_one(cache, module, tables);
	return ret | fill_one(cache, NULL, tables);
}
