// SPDX-License-Identifier: MIT
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Description: names with timestamps: each record of a jitdump, its unwinding
 * information compared with the rows, the log, and the files of forked
 * children.
 */
#include <time.h>

#include <sfjit/names.h>

#include "machine.h"

#define SIZE(array)	(sizeof(array) / sizeof(*(array)))

/* Stands for code; only read. */
static unsigned char code[0x11005];

static struct sfjit_row plain[4], flexible[3], outermost[2];

static void make_rows(void)
{
	const struct sfjit_row usual[] = {
		{ 0, 0, SP(0), SAME, SAME },
		{ 1, 0, SP(8), RA, SAVED(-16) },
		{ 4, 0, FP(8), RA, SAVED(-16) },
		{ 0x10ff0, 0, SP(0), SAME, SAME },
	};
	/* Rules that only the larger form of a row has. */
	const struct sfjit_row larger[] = {
		{ 0, 0, { -16, FP_REG, SFJIT_BASE_REG, 1, 0 },
		  { 8, FP_REG, SFJIT_BASE_REG, 1, 0 },
		  { 0, FP_REG, SFJIT_BASE_REG, 1, 0 } },
		{ 2, 0, SP(0), SAME, SAVED(-8000) },
		{ 0x50, 0, { 24, 10, SFJIT_BASE_REG, 0, 0 }, SAME, SAVED(-4) },
	};
	const struct sfjit_row last[] = {
		{ 0, SFJIT_ROW_OUTERMOST, SAME, SAME, SAME },
		{ 5, 0, SP(0), SAME, SAME },
	};

	memcpy(plain, usual, sizeof(plain));
	memcpy(flexible, larger, sizeof(flexible));
	memcpy(outermost, last, sizeof(outermost));
}

#define FUNCTION(rows, size, repeat) \
	{ (uintptr_t)code, size, SIZE(rows), rows, 0, repeat }

static const struct sfjit_function functions[] = {
	FUNCTION(plain, sizeof(code), 0),
	FUNCTION(flexible, 0x61, 0),
	FUNCTION(outermost, 17, 0),
	FUNCTION(outermost, 100, 16),
};

struct prefix {
	uint32_t id, size;
	uint64_t time;
};

struct unwinding {
	struct prefix prefix;
	uint64_t size, hdr_size, mapped;
	unsigned char data[];
};

struct load {
	struct prefix prefix;
	uint32_t pid, tid;
	uint64_t vma, addr, size, index;
	char name[];
};

static char dir[] = "/tmp/lib-jitdump-XXXXXX";
static unsigned char dump[1 << 20];

static const char *in_dir(const char *name, pid_t pid)
{
	static char path[128];

	snprintf(path, sizeof(path), name, (int)pid);
	return path;
}

static size_t read_file(const char *path, void *to, size_t room)
{
	FILE *file = fopen(path, "r");
	size_t length = file ? fread(to, 1, room, file) : 0;

	if (file)
		fclose(file);
	return length;
}

static size_t read_dump(pid_t pid)
{
	char name[64];

	snprintf(name, sizeof(name), "%s/jit-%%d.dump", dir);
	return read_file(in_dir(name, pid), dump, sizeof(dump));
}

struct retired {
	uint64_t time, addr, size;
};

/* The file of retired code; it has the header of a jitdump. */
static const struct retired *read_retired(pid_t pid, size_t *nr)
{
	static unsigned char retired[4096];
	char name[64];
	size_t length;

	snprintf(name, sizeof(name), "%s/jit-%%d.retired", dir);
	length = read_file(in_dir(name, pid), retired, sizeof(retired));
	read_dump(pid);
	TRUE("retired: header", length >= 40 && !memcmp(retired, dump, 40));
	IS("retired: whole records", (length - 40) % sizeof(struct retired), 0);
	*nr = (length - 40) / sizeof(struct retired);
	return (void *)(retired + 40);
}

static const char *read_log(pid_t pid)
{
	static char text[65536];
	const char *path = in_dir("/tmp/sfjit-%d.names", pid);

	text[read_file(path, text, sizeof(text) - 1)] = '\0';
	return text;
}

static void clean_up(pid_t pid)
{
	char name[64];

	snprintf(name, sizeof(name), "%s/jit-%%d.dump", dir);
	unlink(in_dir(name, pid));
	snprintf(name, sizeof(name), "%s/jit-%%d.retired", dir);
	unlink(in_dir(name, pid));
	unlink(in_dir("/tmp/sfjit-%d.names", pid));
	unlink(map_path(pid));
}

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ULL + t.tv_nsec;
}

static int nr_open(void)
{
	int fd, nr = 0;

	for (fd = 0; fd < 256; fd++)
		nr += fcntl(fd, F_GETFD) >= 0;
	return nr;
}

/* ---- Records --------------------------------------------------------- */

static const struct sfjit_row *row_at(const struct sfjit_function *f,
				      uint32_t offset)
{
	uint32_t i = f->nr_rows;

	if (f->repeat)
		offset %= f->repeat;
	while (f->rows[--i].start > offset)
		;
	return &f->rows[i];
}

/* Counts CFI functions that equal this one. */
static size_t nr_equal(const struct sfg_fdes *fdes,
		       const struct sfjit_function *f)
{
	const struct sfjit_function *fde;
	size_t nr = 0;
	uint32_t i;

	for (fde = fdes->fdes; fde < fdes->fdes + fdes->nr; fde++)
		for (i = 0; i < fde->size; i++)
			nr += sfg_rows_equal(row_at(fde, i),
					     row_at(f, fde->addr + i -
						    f->addr));
	return nr;
}

/* The .eh_frame, converted back, has the same rows at each byte. */
static void check_rows(const struct sfjit_function *f, const char *name,
		       const struct unwinding *u)
{
	uint64_t at = f->addr + ((f->size + 7) & ~7ULL);
	struct sfg_image text = { code, f->size, f->addr };
	struct sfg_input in = {
		.abi = SFG_HOST_ABI,
		.cfi = { u->data, u->size - u->hdr_size, at },
		.text = &text, .nr_text = 1,
	};
	struct sfg_fdes fdes;

	MUST(!sfg_derive(&in, &fdes, NULL, NULL));
	IS(name, nr_equal(&fdes, f), f->size);
	sfg_free_fdes(&fdes);
}

/* Version and encodings, then: .eh_frame, 1 entry, code and FDE. */
static void check_hdr(const struct sfjit_function *f, const struct unwinding *u)
{
	const unsigned char *hdr = u->data + u->size - u->hdr_size;
	int32_t words[4], start = u->size - u->hdr_size;
	int32_t aligned = (f->size + 7) & ~7;
	uint32_t cie;

	memcpy(words, hdr + 4, sizeof(words));
	memcpy(&cie, u->data, 4);
	IS("hdr: size", u->hdr_size, 20);
	TRUE("hdr: encodings", !memcmp(hdr, "\1\x1b\3\x3b", 4));
	IS("hdr: .eh_frame", words[0], -start - 4);
	IS("hdr: entries", words[1], 1);
	IS("hdr: the code", words[2], -aligned - start);
	IS("hdr: its FDE", words[3], (int)cie + 4 - start);
}

/* The record of a function at @at; returns where the next one is. */
static size_t check_record(const struct sfjit_function *f, size_t at,
			   uint64_t index, uint64_t before, bool mapped)
{
	const struct unwinding *u = (void *)(dump + at);
	const struct load *l = (void *)(dump + at + u->prefix.size);
	char name[32];

	snprintf(name, sizeof(name), "function %d", (int)index);
	IS("unwinding info comes first", u->prefix.id, 4);
	IS("its size", u->prefix.size,
	   sizeof(*u) + ((u->size + 7) & ~7ULL));
	IS("what is mapped", u->mapped, mapped ? u->size : 0);
	IS("room", sfjit_names_room(f),
	   ((f->size + 7) & ~7U) - f->size + u->size);
	check_hdr(f, u);
	check_rows(f, name, u);
	IS("then the code", l->prefix.id, 0);
	TRUE("time", l->prefix.time >= before && l->prefix.time <= now());
	TRUE("same time", l->prefix.time == u->prefix.time);
	IS("process", l->pid, getpid());
	IS("thread", l->tid, getpid());
	IS("address", l->addr, f->addr);
	IS("vma", l->vma, f->addr);
	IS("code size", l->size, f->size);
	IS("index", l->index, index);
	TRUE("name", !strcmp(l->name, name));
	IS("size", l->prefix.size, sizeof(*l) + strlen(name) + 1 + f->size);
	TRUE("code", !memcmp(l->name + strlen(name) + 1, code, f->size));
	return at + u->prefix.size + l->prefix.size;
}

static void check_header(pid_t pid)
{
	uint32_t words[6];

	memcpy(words, dump, sizeof(words));
	IS("magic", words[0], 0x4a695444);
	IS("version", words[1], 1);
	IS("header", words[2], 40);
	IS("machine", words[3], sfg_elf_machine(SFG_HOST_ABI));
	IS("process", words[5], pid);
}

static int test_records(void)
{
	size_t i, at = 40, length;
	uint64_t before = now();
	int fds = nr_open();
	char name[32];

	/* Left by an earlier process with this id. */
	unlink(map_path(getpid()));
	IS("open", sfjit_names_open(SFJIT_NAMES_JITDUMP, dir), 0);
	IS("again", sfjit_names_open(SFJIT_NAMES_JITDUMP, "/none"), 0);
	for (i = 0; i < SIZE(functions); i++) {
		snprintf(name, sizeof(name), "function %zu", i);
		IS("load", sfjit_names_load(&functions[i], i % 2 ?
			sfjit_names_room(&functions[i]) - 1 : 100000, name), 0);
	}
	IS("no descriptor stays open", nr_open(), fds);
	IS("close", sfjit_names_close(), 0);
	IS("closed: nothing is written", sfjit_names_load(NULL, 0, NULL), 0);
	length = read_dump(getpid());
	check_header(getpid());
	for (i = 0; i < SIZE(functions); i++)
		at = check_record(&functions[i], at, i, before, i % 2 == 0);
	IS("last record", ((struct prefix *)(dump + at))->id, 3);
	IS("nothing after it", length, at + 16);
	IS("no log", strlen(read_log(getpid())), 0);
	IS("no map", strlen(read_map(getpid())), 0);
	clean_up(getpid());
	return finish();
}

/* perf record notices it by an executable mapping. */
static int test_marker(void)
{
	char line[512], name[128], perms[8];
	int found = 0;
	FILE *maps;

	snprintf(name, sizeof(name), "%s/jit-%d.dump", dir, (int)getpid());
	MUST(!sfjit_names_open(SFJIT_NAMES_JITDUMP, dir));
	maps = fopen("/proc/self/maps", "r");
	while (maps && fgets(line, sizeof(line), maps))
		found += strstr(line, name) &&
			 sscanf(line, "%*s %7s", perms) == 1 &&
			 !strcmp(perms, "r-xp");
	fclose(maps);
	IS("marker", found, 1);
	sfjit_names_close();
	maps = fopen("/proc/self/maps", "r");
	while (maps && fgets(line, sizeof(line), maps))
		found -= !!strstr(line, name);
	fclose(maps);
	IS("is gone when closed", found, 1);
	clean_up(getpid());
	return finish();
}

/* ---- The log --------------------------------------------------------- */

static int test_log(void)
{
	unsigned long long times[2], starts[2];
	char first[32] = "", second[32] = "";
	unsigned int sizes[2];
	uint64_t before = now();

	IS("open", sfjit_names_open(SFJIT_NAMES_LOG | SFJIT_NAMES_MAP, NULL),
	   0);
	IS("load", sfjit_names_load(&functions[1], 0, "a\nname"), 0);
	IS("drop", sfjit_names_drop(code + 1, 2), 0);
	IS("six and two",
	   sscanf(read_log(getpid()), "load %llu %llx %x %31[^\n] "
		  "drop %llu %llx %x%31s", &times[0], &starts[0], &sizes[0],
		  first, &times[1], &starts[1], &sizes[1], second), 7);
	TRUE("time", before <= times[0] && times[0] < times[1] &&
	     times[1] <= now());
	IS("start", starts[0], (uintptr_t)code);
	IS("size", sizes[0], 0x61);
	TRUE("name", !strcmp(first, "a?name"));
	IS("start of what goes", starts[1], (uintptr_t)code + 1);
	IS("its size", sizes[1], 2);
	TRUE("line of the map", map_has(getpid(), code, 0x61, "a?name"));
	sfjit_names_close();
	IS("closed", sfjit_names_drop(code, 1), 0);
	clean_up(getpid());
	return finish();
}

/* ---- What goes ------------------------------------------------------- */

static int test_retired(void)
{
	const struct retired *retired;
	struct sfjit_pool *pool;
	uint64_t before = now();
	size_t nr, length;
	void *entry;

	MUST(!sfjit_names_open(SFJIT_NAMES_JITDUMP, dir));
	read_retired(getpid(), &nr);
	IS("nothing yet", nr, 0);
	IS("load", sfjit_names_load(&functions[1], 0, "x"), 0);
	length = read_dump(getpid());
	IS("drop", sfjit_names_drop(code + 1, 2), 0);
	IS("drop", sfjit_names_drop(code, sizeof(code)), 0);
	MUST(!sfjit_pool_create(SFJIT_TRAMP_ARG, &pool));
	MUST(!sfjit_tramp_get(pool, NULL, "trampoline", &entry));
	IS("pool", sfjit_pool_retire(pool), 0);
	retired = read_retired(getpid(), &nr);
	IS("three", nr, 3);
	TRUE("times", before < retired[0].time &&
	     retired[0].time <= retired[1].time &&
	     retired[1].time <= retired[2].time && retired[2].time <= now());
	IS("start", retired[0].addr, (uintptr_t)code + 1);
	IS("size", retired[0].size, 2);
	IS("second", retired[1].size, sizeof(code));
	IS("trampolines", retired[2].addr, (uintptr_t)entry);
	IS("all of them", retired[2].size, 65536);
	TRUE("the jitdump has the trampoline alone",
	     read_dump(getpid()) > length);
	sfjit_names_close();
	IS("closed", sfjit_names_drop(code, 1), 0);
	read_retired(getpid(), &nr);
	IS("no more", nr, 3);
	MUST(!sfjit_names_open(SFJIT_NAMES_JITDUMP, dir));
	read_retired(getpid(), &nr);
	IS("begins anew", nr, 0);
	clean_up(getpid());
	IS("no file", sfjit_names_drop(code, 1), -ENOENT);
	return finish();
}

/* The child has the parent's code, and no jitdump yet. */
static int child_drops(void)
{
	const struct retired *retired;
	size_t nr;

	IS("child", sfjit_names_drop(code + 7, 3), 0);
	retired = read_retired(getpid(), &nr);
	check_header(getpid());
	IS("only its own", nr, 1);
	IS("start", retired[0].addr, (uintptr_t)code + 7);
	return finish();
}

static int test_retired_in_child(void)
{
	size_t nr;
	int status;
	pid_t pid;

	MUST(!sfjit_names_open(SFJIT_NAMES_JITDUMP, dir));
	MUST(!sfjit_names_drop(code, 1));
	pid = start_child(child_drops, false);
	MUST(waitpid(pid, &status, 0) == pid);
	IS("child", status, 0);
	read_retired(getpid(), &nr);
	IS("the parent's did not change", nr, 1);
	clean_up(pid);
	sfjit_names_close();
	clean_up(getpid());
	return finish();
}

/* ---- Arguments and children ------------------------------------------ */

static int test_arguments(void)
{
	struct sfjit_function bad = functions[0];
	char path[5000];

	memset(path, 'x', sizeof(path) - 1);
	path[sizeof(path) - 1] = '\0';
	IS("nothing", sfjit_names_open(0, dir), -EINVAL);
	IS("unknown", sfjit_names_open(8, dir), -EINVAL);
	IS("long", sfjit_names_open(SFJIT_NAMES_JITDUMP, path), -ENAMETOOLONG);
	IS("missing", sfjit_names_open(SFJIT_NAMES_JITDUMP, "/none"), -ENOENT);
	IS("nothing was opened", sfjit_names_load(NULL, 0, NULL), 0);
	MUST(!sfjit_names_open(SFJIT_NAMES_JITDUMP | SFJIT_NAMES_LOG, dir));
	IS("no name", sfjit_names_load(&bad, 0, NULL), -EINVAL);
	IS("empty name", sfjit_names_load(&bad, 0, ""), -EINVAL);
	IS("no function", sfjit_names_load(NULL, 0, "x"), -EINVAL);
	bad.size = 0;
	IS("bad function", sfjit_names_load(&bad, 0, "x"), -EINVAL);
	IS("its room", sfjit_names_room(&bad), -EINVAL);
	IS("no bytes", sfjit_names_drop(code, 0), -EINVAL);
	IS("wraps", sfjit_names_drop((void *)-16L, 17), -EINVAL);
	IS("nothing was written", read_dump(getpid()), 40);
	sfjit_names_close();
	clean_up(getpid());
	return finish();
}

static int child_loads(void)
{
	size_t length;

	IS("child", sfjit_names_load(&functions[1], 0, "function 0"), 0);
	length = read_dump(getpid());
	check_header(getpid());
	IS("only its own", check_record(&functions[1], 40, 0, 0, false),
	   length);
	TRUE("log of both", strstr(read_log(getpid()), " parent\n") &&
	     strstr(read_log(getpid()), " function 0\n"));
	return finish();
}

static int test_fork(void)
{
	size_t length;
	int status;
	pid_t pid;

	MUST(!sfjit_names_open(SFJIT_NAMES_JITDUMP | SFJIT_NAMES_LOG, dir));
	IS("parent", sfjit_names_load(&functions[2], 0, "parent"), 0);
	length = read_dump(getpid());
	pid = start_child(child_loads, false);
	MUST(waitpid(pid, &status, 0) == pid);
	IS("child", status, 0);
	IS("the parent's did not change", read_dump(getpid()), length);
	clean_up(pid);
	sfjit_names_close();
	clean_up(getpid());
	return finish();
}

int main(void)
{
	size_t i;

	MUST(mkdtemp(dir));
	make_rows();
	for (i = 0; i < sizeof(code); i++)
		code[i] = i * 7 + i / 256;
	IS("records", in_child(test_records), 0);
	IS("marker", in_child(test_marker), 0);
	IS("log", in_child(test_log), 0);
	IS("retired", in_child(test_retired), 0);
	IS("retired in child", in_child(test_retired_in_child), 0);
	IS("arguments", in_child(test_arguments), 0);
	IS("fork", in_child(test_fork), 0);
	rmdir(dir);
	return finish();
}
