// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cache.h"
#include "program.h"
#include "util.h"

/* The only one that is run: others could be programs of anybody. */
static const char *own_loader(void)
{
	static struct program self;

	if (!*self.loader)
		program_find(&self, "/proc/self/exe");
	return self.loader;
}

static bool is_own_loader(const char *loader)
{
	struct stat own, other;

	return !stat(own_loader(), &own) && !stat(loader, &other) &&
	       own.st_dev == other.st_dev && own.st_ino == other.st_ino;
}

/*
 * "\tlibm.so.6 => /lib/libm.so.6 (0x...)", "\t/lib64/ld-linux.so.2 (0x...)".
 * Returns false for "\tliba.so => not found", with which it exits with 0.
 */
static bool add_listed_library(struct names *files, char *line)
{
	char *arrow = strstr(line, " => "), *end = strstr(line, " (0x");
	char *path = arrow ? arrow + strlen(" => ") : line + 1;
	char real[PATH_MAX];

	if (!end || end < path)
		return !arrow;
	*end = '\0';
	if (strchr(path, '/') && realpath(path, real))
		names_add(files, real);
	return true;
}

static pid_t start_loader(const char *file, int out)
{
	const char *loader = own_loader();
	pid_t child = fork();
	int null;

	if (child)
		return child;
	null = open("/dev/null", O_WRONLY);
	dup2(out, STDOUT_FILENO);
	dup2(null, STDERR_FILENO);
	/* As ldd does; --list ends at the first that is missing. */
	setenv("LD_TRACE_LOADED_OBJECTS", "1", 1);
	execl(loader, loader, file, NULL);
	_exit(127);
}

/* ld.so lists all that it would load, or nothing if the program is static. */
static const char *add_libraries(struct names *files, const char *file)
{
	char *line = NULL;
	size_t size = 0;
	int ends[2], status = -1;
	bool found = true;
	FILE *said;
	pid_t child;

	if (pipe2(ends, O_CLOEXEC))
		return strerror(errno);
	child = start_loader(file, ends[1]);
	close(ends[1]);
	said = check_alloc(fdopen(ends[0], "r"));
	while (getline(&line, &size, said) > 0)
		found &= add_listed_library(files, line);
	free(line);
	fclose(said);
	if (child < 0 || waitpid(child, &status, 0) != child || status)
		return "ld.so cannot read it";
	return found ? NULL : "ld.so does not find all of its libraries";
}

/* O_NONBLOCK: it may be a FIFO. */
static bool is_elf_file(const char *file)
{
	int fd = open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	char magic[SELFMAG] = "";

	if (fd < 0)
		return false;
	if (read(fd, magic, SELFMAG) < SELFMAG)
		*magic = '\0';
	close(fd);
	return !memcmp(magic, ELFMAG, SELFMAG);
}

static const char *add_elf_file(struct names *files, const char *file)
{
	char real[PATH_MAX];

	if (!realpath(file, real) || access(real, R_OK))
		return strerror(errno);
	if (!is_elf_file(real))
		return "is not ELF";
	names_add(files, real);
	return add_libraries(files, real);
}

static int is_library(const struct dirent *entry)
{
	return strstr(entry->d_name, ".so") != NULL;
}

static const char *add_directory(struct names *files, const char *directory)
{
	struct dirent **entries;
	const char *wrong = NULL;
	char path[PATH_MAX];
	int i, nr = scandir(directory, &entries, is_library, alphasort);

	if (nr < 0)
		return strerror(errno);
	for (i = 0; i < nr; i++) {
		snprintf(path, sizeof(path), "%s/%s", directory,
			 entries[i]->d_name);
		/* Scripts of linkers are called like libraries. */
		if (is_elf_file(path))
			wrong = add_elf_file(files, path) ?: wrong;
		free(entries[i]);
	}
	free(entries);
	return wrong;
}

static const char *add_program(struct names *files, const char *command)
{
	struct program program;
	int ret = program_find(&program, command);
	const char *wrong;

	/* Libraries need not be executable. */
	if (ret == -EACCES && strchr(command, '/'))
		return add_elf_file(files, command);
	if (ret)
		return ret == -ENOENT ? "not found" : strerror(-ret);
	if (!*program.elf)
		return "is not ELF";
	if (*program.loader && !is_own_loader(program.loader))
		return "uses a different dynamic linker than sfjit";
	if (!*program.loader && program.no_preload)
		return program.why_not;
	wrong = add_elf_file(files, program.elf);
	return wrong && program.why_not ? program.why_not : wrong;
}

const char *cache_add_libraries(struct names *files, const char *what)
{
	struct stat st;

	if (strchr(what, '/') && !stat(what, &st) && S_ISDIR(st.st_mode))
		return add_directory(files, what);
	return add_program(files, what);
}
