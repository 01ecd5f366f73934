// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/*
 * Description: damaged files give one message and no output, and damaged CFI
 * a section that the strict reader accepts or an error; under ASan and UBSan.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sanitizer/asan_interface.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "object.h"
#include "test.h"

static char dir[] = "/tmp/sframegen-hostile.XXXXXX";
static char input[128], output[128], messages[128];

static int stdout_copy, stderr_copy;

static void redirect(void)
{
	int null = open("/dev/null", O_WRONLY), fd;

	unlink(messages);
	fd = open(messages, O_RDWR | O_CREAT, 0600);
	fflush(NULL);
	dup2(null, 1);
	dup2(fd, 2);
	close(fd);
	close(null);
}

static void restore(void)
{
	fflush(NULL);
	dup2(stdout_copy, 1);
	dup2(stderr_copy, 2);
}

static bool save(const void *data, size_t len)
{
	FILE *f;
	bool ok;

	/* a file that is written over is flushed to disk by ext4 */
	unlink(input);
	f = fopen(input, "wb");
	ok = f && (!len || fwrite(data, len, 1, f) == 1);
	return f && !fclose(f) && ok;
}

/* "sframegen: INPUT: 0xOFFSET: reason" once, and nothing else. */
static bool one_message(void)
{
	char text[1024] = "", want[256];
	uint8_t *data;
	size_t len;

	if (file_read_whole(messages, &data, &len))
		return false;
	if (len >= sizeof(text))
		len = sizeof(text) - 1;
	memcpy(text, data, len);
	free(data);
	snprintf(want, sizeof(want), "sframegen: %s: 0x", input);
	return !strncmp(text, want, strlen(want)) && len &&
	       strchr(text, '\n') == text + len - 1;
}

static bool output_is_good(void)
{
	struct sfg_section s;
	uint8_t *data;
	size_t len;
	bool good;

	if (file_read_whole(output, &data, &len))
		return false;
	good = !sfg_open_section(&s, data, len, 0, NULL) &&
	       !sfg_check_section(&s, NULL);
	free(data);
	return good;
}

enum verdict { REFUSED, CONVERTED, WRONG };

static enum verdict convert(const void *data, size_t len)
{
	struct options opts = { .input = input, .output = output };
	bool good;
	int ret;

	unlink(output);
	if (!save(data, len))
		return WRONG;
	redirect();
	ret = command_elf(&opts);
	restore();
	if (ret)
		return one_message() && files_in(dir) == 2 ? REFUSED : WRONG;
	good = output_is_good() && files_in(dir) == 3;
	return good ? CONVERTED : WRONG;
}

static bool dump_is_clean(const void *data, size_t len)
{
	struct options opts = { .input = input };
	int ret;

	save(data, len);
	redirect();
	ret = command_dump(&opts);
	restore();
	return !ret || one_message();
}

/* The section of the file before, each byte changed, and cut off. */
static void test_dump(void)
{
	size_t len, i, bad = 0;
	uint8_t *data;

	if (file_read_whole(output, &data, &len))
		return;
	for (i = 0; i < len * 2; i++) {
		data[i / 2] ^= i & 1 ? 0x80 : 1 << i % 7;
		bad += !dump_is_clean(data, len);
		data[i / 2] ^= i & 1 ? 0x80 : 1 << i % 7;
	}
	for (i = 0; i < len; i++)
		bad += !dump_is_clean(data, i);
	result(!bad && len > 28, "dump of damaged sections", "%zu of %zu", bad,
	       3 * len);
	free(data);
}

static void test_truncated(const uint8_t *elf, size_t len)
{
	size_t n, wrong = 0, first = 0;
	enum verdict v;

	for (n = 0; n < len; n++) {
		v = convert(elf, n);
		if (v == REFUSED || (v == CONVERTED && n > len / 2))
			continue;
		if (!wrong++)
			first = n;
	}
	result(!wrong, "file truncated at every length",
	       "%zu of %zu, first at %zu", wrong, len, first);
}

/* What was found out about the file is no longer true. */
static bool refused_when_cut(size_t to)
{
	struct object f;
	int ret;

	redirect();
	ret = object_open(&f, input);
	if (!ret && !truncate(input, to))
		ret = object_read_cfi(&f);
	object_close(&f);
	restore();
	return ret && one_message();
}

static void test_shrinking(const uint8_t *elf, size_t len)
{
	size_t n, wrong = 0, first = 0;

	unlink(output);
	for (n = 0; n < len; n++) {
		save(elf, len);
		if (!refused_when_cut(n) && !wrong++)
			first = n;
	}
	result(!wrong, "file cut at every length while it is read",
	       "%zu of %zu, first at %zu", wrong, len, first);
}

static void test_flipped(uint8_t *elf, size_t len)
{
	size_t i, wrong = 0, first = 0, refused = 0;
	unsigned int bit;

	for (i = 0; i < len; i++) {
		bit = 1u << (i * 2654435761u >> 7) % 8;
		elf[i] ^= bit;
		switch (convert(elf, len)) {
		case WRONG:
			if (!wrong++)
				first = i;
			break;
		case REFUSED:
			refused++;
			break;
		default:
			break;
		}
		elf[i] ^= bit;
	}
	result(!wrong && refused, "one bit of each byte of the file flipped",
	       "%zu wrong, first at %zu; %zu refused", wrong, first, refused);
}

static void test_converted(const uint8_t *elf, size_t len)
{
	result(convert(elf, len) == CONVERTED, "the intact file is converted",
	       "refused");
}

static bool object_is_clean(int (*command)(const struct options *))
{
	struct options opts = { .input = input, .output = output };
	uint8_t *text;
	size_t len = 0;
	int ret;

	unlink(output);
	redirect();
	ret = command(&opts);
	restore();
	if (ret < 0)
		return one_message() && files_in(dir) == 2;
	if (!file_read_whole(messages, &text, &len))
		free(text);
	return !len;
}

/* Object files: relocations and symbols come into it. */
static bool ends_at(const void *data, size_t len)
{
	const uint8_t *end = (const uint8_t *)data + len;

	return __asan_address_is_poisoned(end) &&
	       !__asan_address_is_poisoned(end - 1);
}

/* Otherwise ASan would not see reads past them. */
static void test_ends(const uint8_t *elf, size_t len)
{
	struct object f;
	uint8_t *whole;
	size_t whole_len;
	bool good;

	save(elf, len);
	good = !file_read_whole(input, &whole, &whole_len) &&
	       ends_at(whole, whole_len);
	free(whole);
	good &= !object_open(&f, input) && !object_read_cfi(&f) &&
		ends_at(f.cfi.bytes, f.cfi.image.len);
	object_close(&f);
	result(good, "nothing after what is read", "valid bytes");
}

/* With this much that may be read. */
static int read_cfi(uint64_t left, uint64_t *used)
{
	struct object f;
	int ret;

	redirect();
	ret = object_open(&f, input);
	f.left = left;
	if (!ret)
		ret = object_read_cfi(&f);
	*used = left - f.left;
	object_close(&f);
	restore();
	return ret;
}

/* Names of functions, which libelf reads; the rest was used for these. */
static size_t read_names(uint64_t left, uint64_t *used)
{
	struct object f;
	size_t nr;

	*used = 0;
	if (object_open(&f, input))
		return 0;
	f.left = left;
	object_read_symbols(&f);
	nr = f.nr_functions;
	*used = left - f.left;
	object_close(&f);
	return nr;
}

static void test_bound(const uint8_t *elf, size_t len)
{
	uint64_t used = 0, more;
	bool good;

	save(elf, len);
	good = !read_cfi(MAX_READ, &used) && used > 1000;
	good &= !read_cfi(used, &more) && more == used;
	good &= read_cfi(used - 1, &more) == -EFBIG && one_message();
	good &= read_names(MAX_READ, &more) == 3 && more > 3 * 24 + 3 * 2;
	good &= read_names(more, &used) == 3 && used == more;
	/* the symbols, but not their names */
	good &= !read_names(more - 1, &used) && used > 3 * 24;
	good &= !read_names(used - 1, &more) && !more;
	result(good, "bound of all that is read", "of %llu bytes",
	       (unsigned long long)used);
}

static void test_object(const char *name, uint8_t *elf, size_t len,
			int (*command)(const struct options *))
{
	size_t i, bad = 0, first = 0;

	save(elf, len);
	result(object_is_clean(command), name, "the intact file fails");
	for (i = 0; i < 2 * len; i++) {
		uint8_t bit = 1u << (i * 2654435761u >> 7) % 8;

		elf[i / 2] ^= bit;
		save(elf, len);
		if (!object_is_clean(command) && !bad++)
			first = i / 2;
		elf[i / 2] ^= bit;
	}
	for (i = 0; i < len; i++) {
		save(elf, i);
		if (!object_is_clean(command) && !bad++)
			first = i;
	}
	result(!bad, name, "%zu of %zu, first at %zu", bad, 3 * len, first);
}

static bool refused_with(int (*command)(const struct options *),
			 const char *reason)
{
	uint8_t *text;
	size_t len;
	bool found;

	if (!object_is_clean(command) || file_read_whole(messages, &text, &len))
		return false;
	found = memmem(text, len, reason, strlen(reason)) != NULL;
	free(text);
	return found;
}

static Elf64_Shdr *section_header(uint8_t *object, const char *name)
{
	Elf64_Ehdr *ehdr = (Elf64_Ehdr *)object;
	Elf64_Shdr *shdr = (Elf64_Shdr *)(object + ehdr->e_shoff);
	const char *names = (char *)object + shdr[ehdr->e_shstrndx].sh_offset;

	while (strcmp(names + shdr->sh_name, name))
		shdr++;
	return shdr;
}

/* One copy of the object's bytes for each section would be asked for. */
static void test_overlap(const uint8_t *object, size_t len)
{
	uint8_t *copy = malloc(len);
	Elf64_Shdr *shdr;

	memcpy(copy, object, len);
	shdr = section_header(copy, ".eh_frame");
	shdr->sh_offset = 0;
	shdr->sh_size = len;
	save(copy, len);
	result(refused_with(command_verify, "sections overlap"),
	       "sections that overlap", "accepted, or for another reason");
	free(copy);
}

static void test_shared_rows(const uint8_t *object, size_t len)
{
	size_t rows_len;
	uint8_t *rows = make_shared_rows(&rows_len);
	uint8_t *copy = malloc(len + rows_len);
	Elf64_Shdr *shdr;

	memcpy(copy, object, len);
	memcpy(copy + len, rows, rows_len);
	shdr = section_header(copy, ".sframe");
	shdr->sh_offset = len;
	shdr->sh_size = rows_len;
	save(copy, len + rows_len);
	result(refused_with(command_verify, "rows are shared beyond reason"),
	       "verification of rows shared without end",
	       "accepted, or for another reason");
	free(copy);
	free(rows);
}

/* Every bit of the CFI, without the file around it. */
static void test_cfi_bits(struct object *f)
{
	struct sfg_input in = object_input(f);
	size_t len = in.cfi.len, bit, bad = 0;
	uint8_t *copy = malloc(len);
	struct sfg_output out;
	struct sfg_section s;
	struct sfg_error err;

	in.cfi.data = copy;
	for (bit = 0; bit < len * 8; bit++) {
		memcpy(copy, f->cfi.image.data, len);
		copy[bit / 8] ^= 1 << bit % 8;
		if (sfg_convert(&in, &out, NULL, &err))
			continue;
		bad += sfg_open_section(&s, out.data, out.len, 0, &err) ||
		       sfg_check_section(&s, &err);
		free(out.data);
	}
	free(copy);
	result(!bad, "every bit of the CFI flipped", "%zu bad sections", bad);
}

static void test_cfi_noise(struct object *f)
{
	struct sfg_input in = object_input(f);
	size_t len = in.cfi.len, round, i, bad = 0;
	uint8_t *copy = malloc(len);
	struct sfg_output out;
	struct sfg_section s;
	uint64_t seed = 1;

	in.cfi.data = copy;
	for (round = 0; round < 20000; round++) {
		memcpy(copy, f->cfi.image.data, len);
		for (i = 0; i < 1 + round % 4; i++) {
			seed = seed * 6364136223846793005 + 1442695040888963407;
			copy[(seed >> 33) % len] = seed >> 24;
		}
		if (sfg_convert(&in, &out, NULL, NULL))
			continue;
		bad += sfg_open_section(&s, out.data, out.len, 0, NULL) ||
		       sfg_check_section(&s, NULL);
		free(out.data);
	}
	free(copy);
	result(!bad, "20,000 times noise in the CFI", "%zu bad sections", bad);
}

/* What was executed of sframegen, by -fsanitize-coverage=trace-pc. */
static unsigned long nr_blocks;

void __sanitizer_cov_trace_pc(void);
void __sanitizer_cov_trace_pc(void)
{
	nr_blocks++;
}

/*
 * In place of libc's, by -Wl,--wrap: what they go through counts as well, 16
 * bytes as much as a basic block.
 */
#define COUNTED(ret, name, params, args, bytes)				\
ret __real_##name params;						\
ret __wrap_##name params;						\
ret __wrap_##name params						\
{									\
	nr_blocks += (bytes) / 16;					\
	return __real_##name args;					\
}

COUNTED(void *, memcpy, (void *to, const void *from, size_t n), (to, from, n),
	n)
COUNTED(void *, memmove, (void *to, const void *from, size_t n), (to, from, n),
	n)
COUNTED(void *, memset, (void *to, int c, size_t n), (to, c, n), n)
COUNTED(void *, memchr, (const void *s, int c, size_t n), (s, c, n), n)
COUNTED(int, memcmp, (const void *a, const void *b, size_t n), (a, b, n), n)
COUNTED(size_t, strlen, (const char *s), (s), __real_strlen(s))
COUNTED(size_t, strnlen, (const char *s, size_t n), (s, n),
	__real_strnlen(s, n))

static const struct cie plain_cie = AMD64_PLAIN_CIE;

static unsigned int max_rows;

/* Steps of one conversion of 'program' repeated to n bytes. */
static unsigned long time_of(const char *program, size_t len, size_t n)
{
	static struct bytes head;
	uint8_t *p = malloc(n + 4096);
	struct sfg_input in = {
		.abi = SFRAME_ABI_AMD64_LE, .max_rows = max_rows,
	};
	struct sfg_output out = { 0 };
	uint32_t length;
	size_t at, fde;
	unsigned long start;

	head.len = 0;
	fde = put_cie(&head, &plain_cie);
	fde = head.len;
	put_fde(&head, 0, true, 0x1000, 0xffffffff, NULL, 0);
	memcpy(p, head.p, head.len);
	for (at = head.len; at + len <= n; at += len)
		memcpy(p + at, program, len);
	length = at - fde - 4;
	memcpy(p + fde, &length, 4);
	in.cfi = (struct sfg_image) { p, at, 0 };
	start = nr_blocks;
	sfg_convert(&in, &out, NULL, NULL);
	free(out.data);
	free(p);
	return nr_blocks - start;
}

/* Eight times the input: about eight times the steps, never 64 times. */
static void is_linear(const char *name, unsigned long small,
		      unsigned long large)
{
	result(small > 1000 && large < 12 * small, name,
	       "%lu steps, then %lu", small, large);
}

static void test_time(const char *name, const char *program, size_t len)
{
	is_linear(name, time_of(program, len, 1 << 17),
		  time_of(program, len, 1 << 20));
}

static void test_times(void)
{
	test_time("time of many rows", P("\x41\x0e\x10\x41\x0e\x18"));
	test_time("time of many remembered states", P("\x0a\x41\x0e\x10\x0b"));
	test_time("time of many expressions on the pc",
		  P("\x0f\x0b\x77\x08\x80\x00\x08\x7f\x1a\x3b\x2a\x33\x22"
		    "\x41"));
	test_time("time of one expression, many rows",
		  P("\x0a\x0f\x0b\x77\x08\x80\x00\x08\x7f\x1a\x3b\x2a\x33\x22"
		    "\x41\x0b\x41\x0a\x41\x0b"));
}

static uint8_t *add_fde(uint8_t *section, uint8_t *to, uint64_t start,
			uint64_t size, const void *program, size_t len)
{
	uint32_t length = 21 + len, back = to + 4 - section;

	memcpy(to, &length, 4);
	memcpy(to + 4, &back, 4);
	memcpy(to + 8, &start, 8);
	memcpy(to + 16, &size, 8);
	to[24] = 0;
	memcpy(to + 25, program, len);
	return to + 25 + len;
}

/* Steps for so many functions, each inside of the one before, of as many rows. */
static unsigned long time_of_nested(size_t nr)
{
	uint8_t *p = malloc(4096 + nr * 64), *rows = malloc(3 * nr), *to;
	struct sfg_input in = { .abi = SFRAME_ABI_AMD64_LE };
	struct sfg_output out = { 0 };
	static struct bytes head;
	unsigned long start;
	size_t i;

	head.len = 0;
	put_cie(&head, &plain_cie);
	memcpy(p, head.p, head.len);
	to = p + head.len;
	for (i = 0; i < nr; i++)
		memcpy(rows + 3 * i, i & 1 ? "\x44\x0e\x10" : "\x44\x0e\x18", 3);
	to = add_fde(p, to, 0x1000, 8 * nr + 8, rows, 3 * nr);
	for (i = 1; i < nr; i++)
		to = add_fde(p, to, 0x1000 + 4 * i, 8 * (nr - i), rows, 6);
	in.cfi = (struct sfg_image) { p, to - p, 0 };
	start = nr_blocks;
	sfg_convert(&in, &out, NULL, NULL);
	free(out.data);
	free(rows);
	free(p);
	return nr_blocks - start;
}

/* A file of nr sections, all of one name in a table of so many bytes. */
static uint8_t *make_names(size_t nr, size_t bytes, size_t *len)
{
	const Elf64_Ehdr ehdr = {
		.e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, 1 },
		.e_type = ET_DYN, .e_machine = EM_X86_64, .e_version = 1,
		.e_shoff = sizeof(ehdr), .e_ehsize = sizeof(ehdr),
		.e_shentsize = sizeof(Elf64_Shdr), .e_shnum = nr,
		.e_shstrndx = 1,
	};
	size_t names = sizeof(ehdr) + nr * sizeof(Elf64_Shdr), i;
	uint8_t *file = calloc(1, names + bytes);
	Elf64_Shdr *shdr = (Elf64_Shdr *)(file + sizeof(ehdr));

	memcpy(file, &ehdr, sizeof(ehdr));
	for (i = 1; i < nr; i++)
		shdr[i] = (Elf64_Shdr) {
			.sh_name = 1, .sh_type = SHT_STRTAB,
			.sh_offset = names, .sh_size = bytes,
		};
	memset(file + names, 'a', bytes);
	*len = names + bytes;
	return file;
}

static unsigned long time_of_names(size_t nr, size_t bytes)
{
	size_t len;
	uint8_t *file = make_names(nr, bytes, &len);
	unsigned long start;

	save(file, len);
	free(file);
	start = nr_blocks;
	if (!refused_with(command_dump, "no .sframe section"))
		return 0;
	return nr_blocks - start;
}

/* A table without an end of its last string must not be searched for one. */
static void test_names(void)
{
	is_linear("time of many names without end",
		  time_of_names(1000, 1 << 20), time_of_names(8000, 8 << 20));
}

/* A file of the build, by its path from build/. */
static uint8_t *read_built(const char *self, const char *name, size_t *len)
{
	const char *slash = strrchr(self, '/');
	char path[512];
	uint8_t *data;

	snprintf(path, sizeof(path), "%.*s/../../%s",
		 slash ? (int)(slash - self) : 1, slash ? self : ".", name);
	return file_read_whole(path, &data, len) ? NULL : data;
}

static void clean_up(void)
{
	unlink(input);
	unlink(output);
	unlink(messages);
	rmdir(dir);
}

int main(int argc, char **argv)
{
	struct object f;
	uint8_t *elf, *object;
	size_t len, object_len;

	stdout_copy = dup(1);
	stderr_copy = dup(2);
	if (!mkdtemp(dir))
		return 1;
	snprintf(input, sizeof(input), "%s/input", dir);
	snprintf(output, sizeof(output), "%s/output", dir);
	snprintf(messages, sizeof(messages), "%s/messages", dir);
	elf = read_built(argv[0], "obj/tests/sframegen/tiny.so", &len);
	object = read_built(argv[0], "obj/arch/x86_64/trampoline-sframe.o",
			    &object_len);
	if (!elf || !object)
		return 1;
	test_converted(elf, len);
	test_dump();
	test_truncated(elf, len);
	test_ends(elf, len);
	test_bound(elf, len);
	test_shrinking(elf, len);
	test_flipped(elf, len);
	test_object("template of a damaged object", object, object_len,
		    command_template);
	test_object("verification of a damaged object", object, object_len,
		    command_verify);
	test_overlap(object, object_len);
	test_shared_rows(object, object_len);
	save(elf, len);
	if (object_open(&f, input) || object_read_cfi(&f))
		return 1;
	test_cfi_bits(&f);
	test_cfi_noise(&f);
	object_close(&f);
	test_times();
	max_rows = 65535;
	is_linear("time of many rows, any number in an FDE",
		  time_of(P("\x41\x0e\x10\x41\x0e\x18"), 1 << 14),
		  time_of(P("\x41\x0e\x10\x41\x0e\x18"), 1 << 17));
	is_linear("time of functions inside of each other",
		  time_of_nested(4000), time_of_nested(32000));
	test_names();
	free(elf);
	free(object);
	clean_up();
	return finish();
}
