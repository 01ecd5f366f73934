// SPDX-License-Identifier: MIT
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Description: on this machine, rows become a section that has the same rows,
 * and call frame information that has them as well, which a jitdump gets; a
 * machine without sections says so, and has the rest.
 */
#define _GNU_SOURCE
#include <sys/auxv.h>

#include <sfjit/check.h>
#include <sfjit/names.h>
#include <sfjit/row_builder.h>
#include <sfjit_trampoline.h>
#include <sframegen.h>

#include "../libsfjit/test.h"

#define HAS_SECTIONS	sfg_abi_has_sframe(SFG_HOST_ABI)

/* Of the test build, whose windows check their section. */
int sfjit_fault(const char *call)
{
	return 0;
}

static unsigned char code[128] __attribute__((aligned(64)));
static struct sfjit_row rows[5];
static struct sfjit_function function = {
	.size = sizeof(code), .nr_rows = 5, .rows = rows,
};

/* A function that saves the return address and the frame pointer. */
static void make_rows(void)
{
	struct sfjit_row entry;
	bool has_ra = sfg_rows_have_ra(SFG_HOST_ABI);
	unsigned int i;

	MUST(!sfg_entry_row(SFG_HOST_ABI, &entry));
	for (i = 0; i < 5; i++) {
		rows[i] = entry;
		rows[i].start = 8 * i + i % 2 * 4;
	}
	rows[1].cfa.offset += 32;
	rows[2].cfa.offset += 32;
	if (has_ra)
		rows[2].ra = sfjit_rule_saved(-24);
	rows[2].fp = sfjit_rule_saved(-32);
	rows[3] = rows[2];
	rows[3].start = 28;
	rows[3].cfa.reg = sfg_frame_pointer(SFG_HOST_ABI);
	function.addr = (uintptr_t)code;
}

static const struct sfjit_row *row_at(const struct sfjit_function *f,
				      unsigned int place)
{
	unsigned int i = f->nr_rows;

	while (f->rows[--i].start > place)
		;
	return &f->rows[i];
}

/* ---- Rows from what the code does -------------------------------------- */

/*
 * A frame of 32 bytes, where the return address and the frame pointer of the
 * caller are saved; back in one instruction, and a return.
 */
static void tell(struct sfjit_rows *r)
{
	int32_t frame = rows[0].cfa.offset + 32;

	sfjit_rows_depth(r, 12, frame);
	sfjit_rows_saved_ra(r, 16, 24);
	sfjit_rows_saved(r, 16, 32);
	sfjit_rows_frame(r, 28);
	sfjit_rows_epilogue(r, 32);
}

static void test_builder(void)
{
	bool has_ra = sfg_rows_have_ra(SFG_HOST_ABI);
	struct sfjit_row array[8];
	struct sfjit_function f;
	struct sfjit_rows r;
	unsigned int i;

	sfjit_rows_init(&r, array, 8);
	tell(&r);
	if (!has_ra) {
		IS("no register for return addresses",
		   sfjit_rows_function(&r, code, sizeof(code), &f), -EINVAL);
		return;
	}
	IS("rows that were told",
	   sfjit_rows_function(&r, code, sizeof(code), &f), 0);
	IS("as many", f.nr_rows, 5);
	for (i = 0; i < f.nr_rows; i++)
		TRUE("row", array[i].start == rows[i].start &&
		     sfg_rows_equal(&array[i], &rows[i]));
	sfjit_rows_init(&r, array, 8);
	sfjit_rows_push(&r, 4, 0);
	IS("no push", sfjit_rows_function(&r, code, sizeof(code), &f),
	   -EINVAL);
	sfjit_rows_init(&r, array, 8);
	sfjit_rows_pop(&r, 4, 0);
	IS("no pop", sfjit_rows_function(&r, code, sizeof(code), &f), -EINVAL);
	sfjit_rows_init(&r, array, 8);
	sfjit_rows_saved_ra(&r, 4, 12);
	IS("no multiple of 8", sfjit_rows_function(&r, code, sizeof(code), &f),
	   -EINVAL);
	sfjit_rows_init(&r, array, 8);
	sfjit_rows_saved_ra(&r, 4, -16);
	sfjit_rows_saved_ra(&r, 8, 0);
	IS("above the CFA", sfjit_rows_function(&r, code, sizeof(code), &f), 0);
	TRUE("and back", f.nr_rows == 3 && array[1].ra.offset == 16 &&
	     sfg_rows_equal(&array[2], &rows[0]));
	sfjit_rows_init(&r, array, 8);
	tell(&r);
	sfjit_rows_restore(&r, 36);
	sfjit_rows_saved(&r, 40, 0);
	sfjit_rows_depth(&r, 40, rows[0].cfa.offset);
	IS("below the stack pointer",
	   sfjit_rows_function(&r, code, sizeof(code), &f), 0);
	/* On s390x it is in the caller's frame, and still there. */
	TRUE("nothing is", array[6].ra.base == (rows[0].cfa.offset >= 24 ?
	     SFJIT_BASE_CFA : SFJIT_BASE_NONE));
}

/* ---- Sections --------------------------------------------------------- */

static void test_no_section(void)
{
	static _Alignas(16) unsigned char section[4096];
	struct sfjit_table table = { section, sizeof(section), 0, 0, 0, 0 };

	IS("size of a section", sfjit_section_size(&function, 1), -ENOTSUP);
	IS("section", sfjit_section_fill(section, sizeof(section), &function,
					 1), -ENOTSUP);
	IS("no section is good", sfjit_check(&table, NULL), -EINVAL);
}

static unsigned int nr_differences(const struct sfjit_table *table,
				   const struct sfjit_function *f)
{
	unsigned int i, nr = 0;
	struct sfjit_row row;

	for (i = 0; i < f->size; i++)
		nr += sfjit_find_row(table, code + i, NULL, &row, NULL) ||
		      !sfg_rows_equal(&row, row_at(f, i));
	return nr;
}

static void test_section(void)
{
	static _Alignas(16) unsigned char section[4096];
	struct sfjit_complaint complaint;
	struct sfjit_table table;
	long length = sfjit_section_fill(section, sizeof(section), &function,
					 1);

	MUST(length > 0);
	IS("size", sfjit_section_size(&function, 1), length);
	table = (struct sfjit_table){ section, length, code, sizeof(code), 0,
				      0 };
	IS("check", sfjit_check(&table, &complaint), 0);
	IS("rows of the section", nr_differences(&table, &function), 0);
	IS("register", sfjit_register((uintptr_t)code, section, length, code,
				      sizeof(code)), 0);
	sfjit_unregister((uintptr_t)code);
	/* Another machine's number. */
	section[3] = section[3] % 4 + 1;
	IS("section of another machine", sfjit_check(&table, &complaint),
	   -EINVAL);
}

/* Where there are no sections, too. */
static void test_refused(void)
{
	struct sfjit_function f = function;
	struct sfjit_row row = rows[0];

	TRUE("room", sfjit_names_room(&f) >= 0);
	f.size = rows[4].start;
	IS("row at the end", sfjit_names_room(&f), -EINVAL);
	f = function;
	f.flags = SFJIT_FUNCTION_SIGNAL;
	IS("signal frame", sfjit_names_room(&f), -EINVAL);
	f = function;
	f.rows = &row;
	f.nr_rows = 1;
	row.cfa.offset -= 8;
	IS("CFA that cannot be", sfjit_names_room(&f), -EINVAL);
}

/* ---- Call frame information ------------------------------------------- */

static struct sfg_input input_of(const void *cfi, size_t length,
				 uint64_t address)
{
	return (struct sfg_input){
		.abi = SFG_HOST_ABI, .cfi = { cfi, length, address },
	};
}

/* What is derived of CFI may have fewer rows, where two are the same. */
static void is_derived(const char *name, const struct sfg_input *in,
		       const struct sfjit_function *f)
{
	struct sfg_fdes fdes;
	unsigned int i, nr = 0;
	int ret = sfg_derive(in, &fdes, NULL, NULL);

	IS(name, ret, 0);
	if (ret)
		return;
	TRUE("one function of this address and size", fdes.nr == 1 &&
	     fdes.fdes[0].addr == f->addr && fdes.fdes[0].size == f->size &&
	     fdes.fdes[0].flags == f->flags);
	for (i = 0; i < f->size && fdes.nr; i++) {
		struct sfjit_row row = *row_at(&fdes.fdes[0], i);

		nr += !sfg_rows_equal(&row, row_at(f, i));
	}
	IS("places with another row", nr, 0);
	sfg_free_fdes(&fdes);
}

static uint8_t cfi[1024];
static size_t cfi_length;

static void test_cfi(void)
{
	size_t hdr;
	struct sfg_input in;

	IS("CFI", sfg_write_cfi(SFG_HOST_ABI, &function, sizeof(code), cfi,
				sizeof(cfi), &cfi_length, &hdr), 0);
	in = input_of(cfi, cfi_length - hdr, function.addr + sizeof(code));
	is_derived("rows of the CFI", &in, &function);
}

/* ---- jitdump ---------------------------------------------------------- */

static char dump[1 << 16];
static size_t dump_length;

static void read_dump(const char *dir)
{
	char path[256];
	FILE *file;

	snprintf(path, sizeof(path), "%s/jit-%d.dump", dir, (int)getpid());
	file = fopen(path, "r");
	MUST(file);
	dump_length = fread(dump, 1, sizeof(dump), file);
	fclose(file);
	unlink(path);
}

/* The file's first record is at 40; a record has 16 bytes in front. */
static const char *find_record(unsigned int want, unsigned int nth)
{
	size_t at = 40;
	uint32_t head[2];

	for (; at + 16 <= dump_length; at += head[1]) {
		memcpy(head, dump + at, sizeof(head));
		if (head[0] == want && !nth--)
			return dump + at + 16;
		MUST(head[1] >= 16);
	}
	return NULL;
}

/* UNWINDING_INFO: sizes of the CFI, of .eh_frame_hdr, of what is mapped. */
static void is_cfi_of(const char *name, unsigned int nth,
		      const struct sfjit_function *f)
{
	const char *record = find_record(4, nth);
	uint64_t sizes[3];
	struct sfg_input in;

	TRUE(name, record);
	if (!record)
		return;
	memcpy(sizes, record, sizeof(sizes));
	in = input_of(record + 24, sizes[0] - sizes[1],
		      f->addr + ((f->size + 7) & ~7ULL));
	is_derived(name, &in, f);
}

static void test_trampoline(const char *dir, unsigned int kind,
			    const char *name, struct sfjit_function f)
{
	struct sfjit_pool *pool;
	void *entry;

	MUST(!sfjit_pool_create(kind, &pool));
	MUST(!sfjit_names_open(SFJIT_NAMES_JITDUMP, dir));
	IS(name, sfjit_tramp_get(pool, code, name, &entry), 0);
	IS("close", sfjit_names_close(), 0);
	read_dump(dir);
	f.addr = (uintptr_t)entry;
	is_cfi_of("its CFI in a jitdump", 0, &f);
	TRUE("its name in the jitdump",
	     memmem(dump, dump_length, name, strlen(name) + 1));
	TRUE("its name in the perf map", map_has(getpid(), entry, f.size,
						 name));
	sfjit_pool_retire(pool);
}

#define TRAMPOLINE(lower, upper) \
	test_trampoline(dir, upper, #lower, (struct sfjit_function){ \
		.size = upper ## _SLOT_SIZE, .rows = lower ## _rows, \
		.nr_rows = sizeof(lower ## _rows) / sizeof(lower ## _rows[0]), \
		.flags = upper ## _FLAGS })

static void test_jitdump(const char *dir)
{
	uint32_t machine;

	IS("open", sfjit_names_open(SFJIT_NAMES_JITDUMP, dir), 0);
	IS("load", sfjit_names_load(&function, 0, "rows"), 0);
	IS("close", sfjit_names_close(), 0);
	read_dump(dir);
	memcpy(&machine, dump + 12, sizeof(machine));
	IS("machine of the jitdump", machine, sfg_elf_machine(SFG_HOST_ABI));
	is_cfi_of("CFI in the jitdump", 0, &function);
	TRAMPOLINE(sfjit_tramp_arg, SFJIT_TRAMP_ARG);
	TRAMPOLINE(sfjit_tramp_slot, SFJIT_TRAMP_SLOT);
	TRAMPOLINE(sfjit_tramp_rbp, SFJIT_TRAMP_RBP);
#ifdef SFJIT_TRAMP_SIGNED_A_CODE_SIZE
	TRAMPOLINE(sfjit_tramp_signed_a, SFJIT_TRAMP_SIGNED_A);
	TRAMPOLINE(sfjit_tramp_signed_b, SFJIT_TRAMP_SIGNED_B);
#endif
}

static void test_registered(void)
{
	struct sfjit_pool_info info;
	struct sfjit_pool *pool;

	MUST(!sfjit_pool_create(SFJIT_TRAMP_SLOT, &pool));
	MUST(!sfjit_pool_stat(pool, &info));
	IS("error of the window", info.error, HAS_SECTIONS ? 0 : -EOPNOTSUPP);
	IS("windows", info.windows, 1);
	IS("registered windows", info.registered, HAS_SECTIONS ? 1 : 0);
	sfjit_pool_retire(pool);
}

/* ---- Landing pads ------------------------------------------------------ */

#ifdef HWCAP2_BTI
static void *inside;

static long target(void)
{
	return 7;
}

static int call_inside(void)
{
	signal(SIGILL, SIG_DFL);
	return ((long (*)(void))inside)();
}

/* The second instruction is no landing pad, and works like the first if called. */
static void test_pads(void)
{
	bool looks = getauxval(AT_HWCAP2) & HWCAP2_BTI;
	struct sfjit_pool *pool;
	void *entry;

	MUST(!sfjit_pool_create(SFJIT_TRAMP_SLOT, &pool));
	MUST(!sfjit_tramp_get(pool, target, NULL, &entry));
	inside = (char *)entry + 4;
	IS("a call to the entry", ((long (*)(void))entry)(), 7);
	IS("a call after it", in_child(call_inside), looks ? 256 + SIGILL : 7);
	sfjit_pool_retire(pool);
}
#else
static void test_pads(void)
{
}
#endif

int main(void)
{
	char dir[] = "/tmp/sfjit-rows-XXXXXX", path[64];

	MUST(mkdtemp(dir));
	make_rows();
	test_builder();
	if (HAS_SECTIONS)
		test_section();
	else
		test_no_section();
	test_refused();
	test_cfi();
	test_jitdump(dir);
	test_registered();
	test_pads();
	snprintf(path, sizeof(path), "%s/jit-%d.retired", dir, (int)getpid());
	unlink(path);
	IS("rmdir", rmdir(dir), 0);
	unlink(map_path(getpid()));
	return finish();
}
