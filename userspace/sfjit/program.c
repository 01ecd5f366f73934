// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/*
 * Finds a command, and predicts what the kernel and ld.so will do with it. The
 * result is for messages: execve() decides, whatever is read wrongly here.
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <sframegen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "program.h"

#define MAX_SCRIPTS	5	/* the kernel follows no more */

static int check_executable(const char *path)
{
	struct stat st;

	if (stat(path, &st))
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -EACCES;
	return access(path, X_OK) ? -errno : 0;
}

static int try_directory(struct program *program, const char *dir,
			 size_t length, const char *command)
{
	int n;

	n = snprintf(program->path, sizeof(program->path), "%.*s%s%s",
		     (int)length, dir, length ? "/" : "", command);
	if (n >= (int)sizeof(program->path))
		return -ENAMETOOLONG;
	return check_executable(program->path);
}

/* As execvp(): a file that may not be executed is skipped; the error stays. */
static int search_path(struct program *program, const char *command)
{
	const char *dir = getenv("PATH"), *end;
	int ret, found = -ENOENT;

	if (!dir)
		dir = "/bin:/usr/bin";
	for (;; dir = end + 1) {
		end = strchrnul(dir, ':');
		ret = try_directory(program, dir, end - dir, command);
		if (!ret)
			return 0;
		if (ret == -EACCES)
			found = ret;
		if (!*end)
			return found;
	}
}

static int find_in_path(struct program *program, const char *command)
{
	if (!*command)
		return -ENOENT;
	if (!strchr(command, '/'))
		return search_path(program, command);
	return try_directory(program, "", 0, command);
}

static bool is_elf(const ElfW(Ehdr) *eh, size_t size)
{
	return size >= sizeof(*eh) && !memcmp(eh->e_ident, ELFMAG, SELFMAG);
}

bool program_is_native(const ElfW(Ehdr) *eh)
{
	return eh->e_ident[EI_CLASS] == ELFCLASS64 &&
	       sfg_abi_of_elf(eh->e_machine, eh->e_ident[EI_DATA]) ==
	       SFG_HOST_ABI;
}

static bool find_program_header(int fd, const ElfW(Ehdr) *eh, uint32_t type,
				ElfW(Phdr) *ph)
{
	int i;

	for (i = 0; i < eh->e_phnum; i++)
		if (pread(fd, ph, sizeof(*ph), eh->e_phoff + i * sizeof(*ph)) ==
		    sizeof(*ph) && ph->p_type == type)
			return true;
	return false;
}

static bool read_interpreter(int fd, const ElfW(Ehdr) *eh, char *name,
			     size_t size)
{
	ElfW(Phdr) ph;

	if (!find_program_header(fd, eh, PT_INTERP, &ph) ||
	    ph.p_filesz >= size ||
	    pread(fd, name, ph.p_filesz, ph.p_offset) != (ssize_t)ph.p_filesz) {
		*name = '\0';
		return false;
	}
	name[ph.p_filesz] = '\0';
	return true;
}

/* glibc's are called ld-linux*.so.N, ld64.so.N or ld.so.N. */
static bool is_known_loader(const char *interpreter)
{
	const char *name = strrchr(interpreter, '/');

	name = name ? name + 1 : interpreter;
	return !strncmp(name, "ld-linux", 8) || !strncmp(name, "ld64.so", 7) ||
	       !strncmp(name, "ld.so", 5) || !strncmp(name, "ld-musl-", 8);
}

/* The rules of the kernel for AT_SECURE, where ld.so preloads nothing. */
static bool is_secure(int fd)
{
	struct statvfs fs;
	struct stat st;

	if (prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1 || fstat(fd, &st) ||
	    (!fstatvfs(fd, &fs) && (fs.f_flag & ST_NOSUID)))
		return false;
	if ((st.st_mode & S_ISUID) && st.st_uid != getuid())
		return true;
	if ((st.st_mode & (S_ISGID | S_IXGRP)) == (S_ISGID | S_IXGRP) &&
	    st.st_gid != getgid())
		return true;
	return getuid() && fgetxattr(fd, "security.capability", NULL, 0) > 0;
}

static bool read_section_header(int fd, const ElfW(Ehdr) *eh, unsigned int i,
				ElfW(Shdr) *sh)
{
	return eh->e_shentsize == sizeof(*sh) && i < eh->e_shnum &&
	       pread(fd, sh, sizeof(*sh), eh->e_shoff + i * sizeof(*sh)) ==
	       sizeof(*sh);
}

static bool section_is_named(int fd, uint64_t at, const char *name)
{
	const size_t length = strlen(name) + 1;
	char start[16];

	return pread(fd, start, length, at) == (ssize_t)length &&
	       !memcmp(start, name, length);
}

/*
 * Call frame information, or Go's table. Without section headers they may be
 * anywhere in the memory of the program.
 */
static bool may_have_cfi(int fd, const ElfW(Ehdr) *eh)
{
	const struct sfg_go_input none = { .abi = SFG_HOST_ABI };
	struct sfg_go go;
	ElfW(Shdr) names, sh;
	ElfW(Phdr) ph;
	unsigned int i;
	uint64_t at;

	if (find_program_header(fd, eh, PT_GNU_EH_FRAME, &ph) ||
	    !read_section_header(fd, eh, eh->e_shstrndx, &names))
		return true;
	for (i = 0; i < eh->e_shnum; i++) {
		if (!read_section_header(fd, eh, i, &sh))
			continue;
		at = names.sh_offset + sh.sh_name;
		if (section_is_named(fd, at, ".eh_frame") ||
		    (section_is_named(fd, at, ".gopclntab") &&
		     sfg_find_go(&go, &none, NULL) != -ENOTSUP))
			return true;
	}
	return false;
}

static void judge_static(struct program *program, int fd,
			 const ElfW(Ehdr) *eh)
{
	program->attach = may_have_cfi(fd, eh);
	program->why_not = program->attach ? "is statically linked" :
			   "is statically linked, without call frame "
			   "information";
}

static void judge_elf(struct program *program, int fd, const ElfW(Ehdr) *eh)
{
	char *interpreter = program->loader;

	if (!program_is_native(eh)) {
		program->why_not = "is for another architecture";
		program->no_preload = true;
	} else if (is_secure(fd)) {
		program->why_not = "gains privileges, so ld.so ignores "
				   "LD_PRELOAD";
	} else if (!read_interpreter(fd, eh, interpreter,
				     sizeof(program->loader))) {
		judge_static(program, fd, eh);
	} else if (!is_known_loader(interpreter)) {
		*interpreter = '\0';
		program->why_not = "uses a dynamic linker that is neither "
				   "glibc's nor musl's";
		program->no_preload = true;
	}
}

/* "#! interpreter argument" */
static bool script_interpreter(const char *line, char *path, size_t size)
{
	size_t length;

	line += 2 + strspn(line + 2, " \t");
	length = strcspn(line, " \t\n");
	if (!length || length >= size)
		return false;
	memcpy(path, line, length);
	path[length] = '\0';
	return true;
}

static void judge_file(struct program *program, const char *path, int depth)
{
	union {
		ElfW(Ehdr) eh;
		char line[257];
	} head = { .line = "" };
	char interpreter[256];
	ssize_t n;
	int fd;

	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	n = pread(fd, &head, sizeof(head) - 1, 0);
	if (n > 0 && is_elf(&head.eh, n)) {
		snprintf(program->elf, sizeof(program->elf), "%s", path);
		judge_elf(program, fd, &head.eh);
	}
	close(fd);
	if (n > 2 && !memcmp(head.line, "#!", 2) && depth < MAX_SCRIPTS &&
	    script_interpreter(head.line, interpreter, sizeof(interpreter)))
		judge_file(program, interpreter, depth + 1);
}

int program_find(struct program *program, const char *command)
{
	int ret;

	memset(program, 0, sizeof(*program));
	ret = find_in_path(program, command);
	if (!ret)
		judge_file(program, program->path, 0);
	return ret;
}
