// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/* Description: with an index or without one, CFI has the same rows and steps. */
#define _GNU_SOURCE
#include <link.h>

#include "test.h"

#define CODE	0x1000
#define SIZE	0x40
#define CFI	0x9000
#define HDR	0x8000
#define MOST	4
#define NO_FDE	SIZE_MAX

/* .eh_frame and its header. */
struct file {
	struct bytes cfi, hdr;
	size_t cie, fdes[MOST];
	uint64_t starts[MOST];
	unsigned int nr;
};

static const struct cie plain_cie = AMD64_PLAIN_CIE;

static void begin(struct file *f, const struct cie *cie)
{
	f->cfi.len = f->hdr.len = f->nr = 0;
	f->cie = put_cie(&f->cfi, cie);
}

static void add(struct file *f, uint64_t start, uint64_t size,
		const void *program, size_t len)
{
	f->fdes[f->nr] = f->cfi.len;
	f->starts[f->nr++] = start;
	put_fde(&f->cfi, f->cie, true, start, size, program, len);
}

/* As linkers write it, of those that have an offset. */
static void put_index(struct file *f)
{
	unsigned int i, nr = 0;

	f->hdr.len = 0;
	put_int(&f->hdr, 0x3b031b01, 4);
	put_int(&f->hdr, CFI - HDR - 4, 4);
	for (i = 0; i < f->nr; i++)
		nr += f->fdes[i] != NO_FDE;
	put_int(&f->hdr, nr, 4);
	for (i = 0; i < f->nr; i++) {
		if (f->fdes[i] == NO_FDE)
			continue;
		put_int(&f->hdr, f->starts[i] - HDR, 4);
		put_int(&f->hdr, CFI + f->fdes[i] - HDR, 4);
	}
}

static struct sfg_input input_of(const struct file *f)
{
	return (struct sfg_input) {
		.abi = SFRAME_ABI_AMD64_LE, .flags = SFG_INPUT_ADDENDS,
		.cfi = { f->cfi.p, f->cfi.len, CFI },
		.index = { f->hdr.p, f->hdr.len, HDR },
	};
}

static bool read_anything(void *arg, uint64_t addr, uint64_t *word)
{
	*word = addr ^ 0x5555;
	return true;
}

struct found {
	bool has;
	int row_ret, step_ret;
	struct sfjit_row row;
	struct sfg_frame frame;
};

static void look_up(struct sfg_cfi *cfi, uint64_t addr, struct found *found)
{
	uint64_t budget = SFG_FRAME_BUDGET;
	unsigned int i;

	memset(found, 0, sizeof(*found));
	found->frame = (struct sfg_frame) {
		.pc = addr, .known = UINT32_MAX, .budget = SFG_FRAME_BUDGET,
		.read = read_anything,
	};
	for (i = 0; i < 32; i++)
		found->frame.reg[i] = 0x10000 + 0x1000 * i;
	found->has = sfg_has_cfi(cfi, addr);
	found->row_ret = sfg_find_cfi_row(cfi, addr, &budget, &found->row);
	found->step_ret = sfg_step_cfi(cfi, 0, &found->frame);
}

/* Of CFI that was just opened: nothing but the index is known. */
static void look_up_afresh(const struct sfg_input *in, uint64_t addr,
			   struct found *found)
{
	struct sfg_cfi *cfi;

	MUST(!sfg_open_cfi(in, &cfi, NULL));
	look_up(cfi, addr, found);
	sfg_close_cfi(cfi);
}

/* How many bytes of the code have CFI; -1: with the index some differ. */
static int compare(const struct sfg_input *in)
{
	struct sfg_input without = *in;
	struct found by_index, by_all;
	struct sfg_cfi *all;
	uint64_t addr;
	int nr = 0;

	without.index.data = NULL;
	MUST(!sfg_open_cfi(&without, &all, NULL));
	for (addr = CODE - 1; nr >= 0 && addr <= CODE + 4 * SIZE; addr++) {
		look_up(all, addr, &by_all);
		look_up_afresh(in, addr, &by_index);
		nr = memcmp(&by_index, &by_all, sizeof(by_all)) ?
		     -1 : nr + by_all.has;
	}
	sfg_close_cfi(all);
	return nr;
}

static void check_same(const char *name, struct file *f, int bytes)
{
	struct sfg_input in = input_of(f);

	IS(name, compare(&in), bytes);
}

/* Three functions, which have different rows. */
static void make_three(struct file *f)
{
	begin(f, &plain_cie);
	add(f, CODE, SIZE, P("\x44\x0e\x10"));
	add(f, CODE + SIZE, SIZE, P("\x44\x0e\x20"));
	add(f, CODE + 2 * SIZE, SIZE, P("\x44\x0e\x30\x44\x86\x02"));
	put_index(f);
}

/* A record in front ends after the section: all that is known is by the index. */
static void test_used(void)
{
	static struct file f;
	struct sfg_input in;
	struct found found;
	struct sfg_cfi *cfi;

	begin(&f, &plain_cie);
	f.cfi.len = 0;
	put_int(&f.cfi, 0x7fffffff, 4);
	f.cie = put_cie(&f.cfi, &plain_cie);
	add(&f, CODE, SIZE, P("\x44\x0e\x10"));
	add(&f, CODE + SIZE, SIZE, P("\x44\x0e\x20"));
	put_index(&f);
	in = input_of(&f);
	MUST(!sfg_open_cfi(&in, &cfi, NULL));
	look_up(cfi, CODE + SIZE + 4, &found);
	IS("damaged elsewhere: the row", found.row_ret, 0);
	IS("damaged elsewhere: its CFA", found.row.cfa.offset, 0x20);
	look_up(cfi, CODE + 2 * SIZE, &found);
	IS("damaged elsewhere: not in the index", found.row_ret, -ENOENT);
	look_up(cfi, CODE + 4, &found);
	IS("damaged elsewhere: the index is still used", found.row.cfa.offset,
	   0x10);
	sfg_close_cfi(cfi);
	in.index.data = NULL;
	IS("damaged, without an index", sfg_open_cfi(&in, &cfi, NULL),
	   -EINVAL);
}

static void test_lists(void)
{
	static struct file f;
	size_t kept;

	make_three(&f);
	check_same("each function is listed", &f, 3 * SIZE);
	kept = f.fdes[1];
	f.fdes[1] = NO_FDE;
	put_index(&f);
	check_same("one is missing", &f, 3 * SIZE);
	f.fdes[1] = f.fdes[2];
	put_index(&f);
	check_same("another one's FDE", &f, 3 * SIZE);
	f.fdes[1] = f.cie;
	put_index(&f);
	check_same("a CIE", &f, 3 * SIZE);
	f.fdes[1] = kept + 1;
	put_index(&f);
	check_same("the middle of an FDE", &f, 3 * SIZE);
	f.fdes[1] = f.cfi.len;
	put_index(&f);
	check_same("the end of the section", &f, 3 * SIZE);
	f.fdes[1] = -CFI;
	put_index(&f);
	check_same("address 0", &f, 3 * SIZE);
	f.fdes[1] = kept;
	f.starts[0] = CODE + 3 * SIZE;
	put_index(&f);
	check_same("not sorted", &f, 3 * SIZE);
}

static void test_overlaps(void)
{
	static struct file f;

	begin(&f, &plain_cie);
	add(&f, CODE, SIZE, P("\x44\x0e\x10"));
	add(&f, CODE + 0x14, 8, P("\x0e\x80\x01"));
	put_index(&f);
	check_same("a function inside of another", &f, SIZE);
	begin(&f, &plain_cie);
	add(&f, CODE, SIZE, P("\x44\x0e\x10"));
	add(&f, CODE, SIZE + 8, P("\x0e\x80\x01"));
	put_index(&f);
	check_same("two at one address", &f, SIZE + 8);
	begin(&f, &plain_cie);
	add(&f, CODE, 0, NULL, 0);
	add(&f, CODE + 1, SIZE, P("\x44\x0e\x10"));
	put_index(&f);
	check_same("an empty one", &f, SIZE);
}

static void test_records(void)
{
	static const struct cie signal =
		AMD64_CIE("zRS", "\x0c\x07\x08\x90\x01");
	static const struct cie unknown =
		AMD64_CIE("zRX", "\x0c\x07\x08\x90\x01");
	static char program[5000];
	struct cie other_ra = plain_cie;
	static struct file f;

	begin(&f, &signal);
	add(&f, CODE, SIZE, NULL, 0);
	put_index(&f);
	check_same("a signal frame", &f, SIZE);
	begin(&f, &unknown);
	add(&f, CODE, SIZE, NULL, 0);
	put_index(&f);
	check_same("an unknown augmentation", &f, 0);
	other_ra.ra = 15;
	begin(&f, &other_ra);
	add(&f, CODE, SIZE, NULL, 0);
	put_index(&f);
	check_same("another column of the return address", &f, SIZE);
	begin(&f, &plain_cie);
	add(&f, CODE, SIZE, program, sizeof(program));
	put_index(&f);
	check_same("a long record", &f, SIZE);
}

/* Each byte of its first words, and each length. */
static void test_headers(void)
{
	static struct file f;
	struct sfg_input in;
	unsigned int i, bits;
	bool same = true;

	make_three(&f);
	in = input_of(&f);
	for (i = 0; i < 12; i++)
		for (bits = 1; bits < 256; bits <<= 1) {
			f.hdr.p[i] ^= bits;
			same = same && compare(&in) == 3 * SIZE;
			f.hdr.p[i] ^= bits;
		}
	result(same, "a bit of the header is another one", "differs");
	for (same = true; in.index.len; in.index.len--)
		same = same && compare(&in) == 3 * SIZE;
	result(same, "the header is cut short", "differs");
	in = input_of(&f);
	in.index.addr = UINT64_MAX - 8;
	IS("addresses that wrap", compare(&in), 3 * SIZE);
}

/* The libraries of this process, whose CFI is in memory. */
struct module {
	struct sfg_input in;
	unsigned int looked_up, different;
};

static bool find_module_cfi(const struct dl_phdr_info *info, struct module *m)
{
	const ElfW(Phdr) *hdr = NULL, *p;
	const uint8_t *bytes, *cfi;
	int32_t distance;
	unsigned int i;

	for (i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_GNU_EH_FRAME)
			hdr = &info->dlpi_phdr[i];
	if (!hdr)
		return false;
	bytes = (const uint8_t *)info->dlpi_addr + hdr->p_vaddr;
	memcpy(&distance, bytes + 4, 4);
	cfi = bytes + 4 + distance;
	for (i = 0; i < info->dlpi_phnum; i++) {
		p = &info->dlpi_phdr[i];
		if (p->p_type != PT_LOAD ||
		    (uintptr_t)cfi - info->dlpi_addr - p->p_vaddr >= p->p_filesz)
			continue;
		m->in.cfi = (struct sfg_image) {
			cfi, info->dlpi_addr + p->p_vaddr + p->p_filesz -
			     (uintptr_t)cfi, (uintptr_t)cfi,
		};
		m->in.index = (struct sfg_image) {
			bytes, hdr->p_memsz, (uintptr_t)bytes,
		};
		return true;
	}
	return false;
}

static void compare_at(struct module *m, struct sfg_cfi *all,
		       struct sfg_cfi *indexed, uint64_t addr)
{
	struct found a, b;

	look_up(all, addr, &a);
	if (!a.has)
		return;
	look_up(indexed, addr, &b);
	m->looked_up++;
	m->different += memcmp(&a, &b, sizeof(a)) != 0;
}

/* Never at an address without CFI, so that 'indexed' stays without the rest. */
static int compare_module(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct module *m = arg;
	struct sfg_cfi *all, *indexed;
	struct sfg_input without;
	struct sfg_image *list;
	size_t i, nr;

	if (!find_module_cfi(info, m))
		return 0;
	without = m->in;
	without.index.data = NULL;
	MUST(!sfg_open_cfi(&without, &all, NULL));
	MUST(!sfg_open_cfi(&m->in, &indexed, NULL));
	MUST(!sfg_list_functions(&without, &list, &nr, NULL));
	for (i = 0; i < nr; i++) {
		compare_at(m, all, indexed, list[i].addr);
		compare_at(m, all, indexed, list[i].addr + list[i].len / 2);
		compare_at(m, all, indexed, list[i].addr + list[i].len - 1);
	}
	free(list);
	sfg_close_cfi(all);
	sfg_close_cfi(indexed);
	return 0;
}

static void test_modules(void)
{
	struct module m = {
		.in = { .abi = SFG_HOST_ABI, .flags = SFG_INPUT_ADDENDS },
	};

	dl_iterate_phdr(compare_module, &m);
	result(m.looked_up > 3000 && !m.different,
	       "functions of this process", "%u of %u differ", m.different,
	       m.looked_up);
}

int main(void)
{
	test_used();
	test_lists();
	test_overlaps();
	test_records();
	test_headers();
	test_modules();
	return finish();
}
