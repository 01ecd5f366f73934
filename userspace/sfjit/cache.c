// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/* sfjit cache: tables are made before a program needs them. */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "cache.h"
#include "commands.h"
#include "util.h"

static const char usage[] =
"Usage: sfjit cache [--system] PROGRAM|LIBRARY|DIRECTORY...\n"
"       sfjit cache --system\n"
"       sfjit cache --clean [--system] [--days=N] [--mib=N]\n"
"\n"
"Makes the tables of programs, of the libraries they are linked with, and of\n"
"each library in a directory, for sfjit run.\n"
"\n"
"  -s, --system    in /var/cache/sfjit, for all users; without PROGRAM, for all\n"
"                  named before; removes other tables there\n"
"  -c, --clean     remove tables unused for 90 days, then the least recently\n"
"                  used until 512 MiB are left\n"
"  -d, --days=N    days, instead of 90\n"
"  -m, --mib=N     MiB, instead of 512\n"
"  -h, --help      print this\n";

static const struct option long_options[] = {
	{ "system", no_argument, NULL, 's' },
	{ "clean", no_argument, NULL, 'c' },
	{ "days", required_argument, NULL, 'd' },
	{ "mib", required_argument, NULL, 'm' },
	{ "help", no_argument, NULL, 'h' },
	{ },
};

#define LOCK	"../lock"
#define LIST	"../programs"
#define FRESH	LIST ".new"

struct request {
	enum cache cache;
	bool clean, bounded;
	struct cache_bounds bounds;
	int tables;			/* the directory */
	struct names known;		/* programs of the system's cache */
	struct names found;		/* those that are there now */
	struct names made;		/* tables of these */
};

extern char **environ;

/*
 * Locks the system's cache until the program ends. Only root can open the
 * lock's file, so no other user can hold it. Returns 0 or -errno.
 */
static int cache_lock(int tables)
{
	int fd = openat(tables, LOCK, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW,
			0600);

	return fd < 0 || flock(fd, LOCK_EX) ? -errno : 0;
}

/*
 * The programs of the system's cache, beside the directory with its tables. A
 * file of another owner, or that others can write, is refused. Returns 0 or
 * -errno.
 */
static int cache_read_programs(int tables, struct names *programs)
{
	int fd = openat(tables, LIST, O_RDONLY | O_CLOEXEC | O_NOFOLLOW |
			O_NONBLOCK);
	char *line = NULL;
	size_t size = 0;
	struct stat st;
	ssize_t n;
	FILE *file;

	if (fd < 0)
		return errno == ENOENT ? 0 : -errno;
	if (!cache_is_safe(fd, CACHE_SYSTEM, S_IFREG, CACHE_BY_OTHERS, &st)) {
		close(fd);
		return -EPERM;
	}
	file = check_alloc(fdopen(fd, "r"));
	while ((n = getline(&line, &size, file)) > 1) {
		line[n - 1] = '\0';
		names_add(programs, line);
	}
	free(line);
	fclose(file);
	return 0;
}

static int write_program_names(int fd, const struct names *programs)
{
	FILE *file = check_alloc(fdopen(fd, "w"));
	int ret = 0;
	size_t i;

	for (i = 0; i < programs->nr; i++)
		fprintf(file, "%s\n", programs->name[i]);
	if (fchmod(fd, 0644) || fflush(file) || ferror(file) || fsync(fd))
		ret = -errno;
	fclose(file);
	return ret;
}

static int cache_write_programs(int tables, const struct names *programs)
{
	int fd, ret;

	if (unlinkat(tables, FRESH, 0) && errno != ENOENT)
		return -errno;
	fd = openat(tables, FRESH, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC,
		    0600);
	if (fd < 0)
		return -errno;
	ret = write_program_names(fd, programs);
	if (!ret && renameat(tables, FRESH, tables, LIST))
		ret = -errno;
	return ret;
}

/* Prints a line with the directory that was tried last. */
static void cache_complain(const char *what, int error)
{
	fflush(stdout);
	fprintf(stderr, "sfjit: %s: %s\n", what,
		error == -EPERM ? "belongs to another user, or others can "
		"write it" : strerror(-error));
}

static int open_to_write(struct request *request)
{
	request->tables = cache_dir_open(request->cache, !request->clean);
	if (request->tables < 0)
		return request->tables;
	if (faccessat(request->tables, ".", W_OK, 0))
		return -errno;
	return request->cache == CACHE_SYSTEM ? cache_lock(request->tables) : 0;
}

static int open_or_complain(struct request *request)
{
	int ret;

	cache_dir_init(environ);
	ret = open_to_write(request);
	if (ret && request->cache == CACHE_OWN && !*cache_dir_base())
		fputs("sfjit: neither XDG_CACHE_HOME nor HOME is set to a path\n",
		      stderr);
	else if (ret)
		cache_complain(cache_dir_path(), ret);
	return ret ? 1 : 0;
}

/* As it is found again from elsewhere; a newline would end it in the list. */
static void remember_program(struct names *programs, const char *what)
{
	char real[PATH_MAX];

	if (!strchr(what, '/'))
		names_add(programs, what);
	else if (realpath(what, real) && !strchr(real, '\n'))
		names_add(programs, real);
}

/* Returns 1 if something is wrong with one of them. */
static int find_files(struct request *request, struct names *files,
		      char **programs, size_t nr)
{
	int ret = 0;
	size_t i;

	for (i = 0; i < nr; i++) {
		size_t before = files->nr;
		const char *wrong = cache_add_libraries(files, programs[i]);

		if (wrong) {
			fprintf(stderr, "sfjit: %s: %s\n", programs[i], wrong);
			ret = 1;
		}
		if (!wrong || files->nr > before)
			remember_program(&request->found, programs[i]);
	}
	return ret;
}

static int fill_cache(struct request *request, char **programs, size_t nr)
{
	struct names files = { .nr = 0 };
	int wrong = find_files(request, &files, programs, nr);
	int ret = cache_fill(request->cache, &files, &request->made);

	names_free(&files);
	return ret ? ret : wrong;
}

static int clean(struct request *request)
{
	struct cache_cleaned cleaned;
	int ret = cache_clean(request->tables, &request->bounds, &cleaned);

	if (ret) {
		cache_complain("tables", ret);
		return 1;
	}
	printf("removed %zu tables, %llu bytes; %llu bytes are left\n",
	       cleaned.removed, (unsigned long long)cleaned.removed_bytes,
	       (unsigned long long)cleaned.left_bytes);
	return 0;
}

static int write_program_list(struct request *request,
			      const struct names *programs)
{
	int ret = cache_write_programs(request->tables, programs);

	if (ret)
		cache_complain("list of programs", ret);
	return ret != 0;
}

/* A program that was removed meanwhile leaves the list, with its tables. */
static int refresh_system(struct request *request)
{
	int ret;

	if (!request->known.nr)
		return 0;
	ret = fill_cache(request, request->known.name, request->known.nr);
	/* Nothing was looked at. */
	if (ret == EXIT_OURS)
		return ret;
	request->bounds.keep = &request->made;
	request->bounds.days = ULONG_MAX;
	ret |= clean(request);
	return ret | write_program_list(request, &request->found);
}

static int fill_system(struct request *request, char **programs, size_t nr)
{
	int ret = cache_read_programs(request->tables, &request->known);
	size_t i;

	if (ret) {
		cache_complain("list of programs", ret);
		return 1;
	}
	if (!nr)
		return refresh_system(request);
	ret = fill_cache(request, programs, nr);
	for (i = 0; i < request->found.nr; i++)
		names_add(&request->known, request->found.name[i]);
	return ret | write_program_list(request, &request->known);
}

static int cache(struct request *request, char **programs, size_t nr)
{
	int ret = open_or_complain(request);

	if (ret)
		return ret;
	if (request->clean)
		ret = clean(request);
	else if (request->cache == CACHE_SYSTEM)
		ret = fill_system(request, programs, nr);
	else
		ret = fill_cache(request, programs, nr);
	return finish_output() ?: ret;
}

static bool parse_bound(const char *text, unsigned long *value)
{
	char *end;

	errno = 0;
	*value = isdigit((unsigned char)*text) ? strtoul(text, &end, 10) : 0;
	return isdigit((unsigned char)*text) && !*end && !errno;
}

static bool parse_option(struct request *request, int option)
{
	switch (option) {
	case 's':
		request->cache = CACHE_SYSTEM;
		return true;
	case 'c':
		request->clean = true;
		return true;
	case 'd':
		request->bounded = true;
		return parse_bound(optarg, &request->bounds.days);
	case 'm':
		request->bounded = true;
		return parse_bound(optarg, &request->bounds.mib);
	}
	return false;
}

/* Programs, or none where none are wanted. */
static bool is_valid_request(const struct request *request, int nr)
{
	if (request->clean)
		return !nr;
	return !request->bounded && (nr || request->cache == CACHE_SYSTEM);
}

int command_cache(int argc, char **argv)
{
	struct request request = {
		.cache = CACHE_OWN,
		.bounds = { .days = CACHE_DAYS, .mib = CACHE_MIB },
	};
	bool right = true;
	int c;

	optind = 1;
	while (right && (c = getopt_long(argc, argv, "+scd:m:h", long_options,
					 NULL)) != -1) {
		if (c == 'h')
			return print_help(usage);
		right = parse_option(&request, c);
	}
	if (!right || !is_valid_request(&request, argc - optind)) {
		fputs(usage, stderr);
		return EXIT_OURS;
	}
	return cache(&request, argv + optind, argc - optind);
}
