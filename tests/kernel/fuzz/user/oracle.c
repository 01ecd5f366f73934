// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/* The allocations of this file are no part of what is tested. */
#undef malloc
#undef calloc
#undef realloc

#include <alloca.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "oracle.h"

#define LIMIT_BLOCKS	5000000UL
#define LIMIT_BYTES	4096

void oracle_failed(const char *file, int line, const char *what)
{
	char text[512];
	int len = snprintf(text, sizeof(text), "%s:%d: failed: %s\n", file,
			   line, what);

	if (write(STDERR_FILENO, text, len) < 0)
		_exit(1);
	abort();
}

static unsigned long blocks_left;

/* By -fsanitize-coverage=trace-pc, in sframegen. */
void __wrap___sanitizer_cov_trace_pc(void);
__attribute__((no_sanitize("coverage")))
void __wrap___sanitizer_cov_trace_pc(void)
{
	if (!--blocks_left)
		oracle_failed(__FILE__, __LINE__, "the work is bounded");
}

void run_bounded(run_fn *run, const uint8_t *data, size_t size)
{
	blocks_left = LIMIT_BLOCKS * (1 + size / LIMIT_BYTES);
	run(data, size);
	blocks_left = 0;
}

static uint8_t malloc_byte;

/* Called by the sanitizer; clears what calloc() gives only after this. */
void __sanitizer_malloc_hook(const volatile void *p, size_t size);
void __sanitizer_malloc_hook(const volatile void *p, size_t size)
{
	/* large ones are fresh pages, which calloc() does not clear again */
	if (p && malloc_byte && size <= 65536)
		memset((void *)p, malloc_byte, size);
}

static __attribute__((noinline)) void fill_stack(uint8_t byte)
{
	volatile uint8_t *p = alloca(16384);

	memset((void *)p, byte, 16384);
}

void fill_memory(uint8_t byte)
{
	malloc_byte = byte;
	fill_stack(byte);
}

static unsigned int allocations_left;
static bool failed;

void fail_allocation(unsigned int n)
{
	allocations_left = n;
	failed = false;
}

bool allocation_failed(void)
{
	return failed;
}

static bool fails(void)
{
	if (!allocations_left || --allocations_left)
		return false;
	failed = true;
	return true;
}

void *fuzz_malloc(size_t size)
{
	return fails() ? NULL : malloc(size);
}

void *fuzz_calloc(size_t nr, size_t size)
{
	return fails() ? NULL : calloc(nr, size);
}

void *fuzz_realloc(void *p, size_t size)
{
	return fails() ? NULL : realloc(p, size);
}

void *exact_copy(const void *data, size_t len)
{
	void *copy = malloc(len);

	if (len)
		memcpy(copy, data, len);
	return copy;
}

void require_error(int ret, const struct sfg_error *err, size_t len)
{
	REQUIRE(ret == -EINVAL || ret == -ENOTSUP || ret == -E2BIG ||
		(ret == -ENOMEM && allocation_failed()));
	REQUIRE(err->reason && *err->reason);
	REQUIRE(err->offset <= len);
}

static void require_good_rows(const struct sfg_arch *arch,
			      const struct sfjit_function *fde)
{
	uint32_t end = fde->repeat ? fde->repeat : fde->size, i;

	REQUIRE(fde->nr_rows || fde->flags & SFJIT_FUNCTION_SIGNAL);
	REQUIRE(!sfg_check_function(arch->abi, fde, NULL));
	for (i = 0; i < fde->nr_rows; i++) {
		const struct sfjit_row *row = &fde->rows[i];

		REQUIRE(i ? row->start > row[-1].start : !row->start);
		REQUIRE(row->start < end);
		REQUIRE(sfg_row_fits(arch, row));
	}
}

void require_good_fdes(const struct sfg_arch *arch,
		       const struct sfg_fdes *fdes)
{
	uint64_t end = 0;
	size_t i;

	for (i = 0; i < fdes->nr; i++) {
		const struct sfjit_function *fde = &fdes->fdes[i];

		REQUIRE(fde->size && fde->addr + fde->size > fde->addr);
		REQUIRE(fde->addr >= end);
		end = fde->addr + fde->size;
		require_good_rows(arch, fde);
	}
}

uint64_t bytes_outside(const struct sfg_image *text, size_t nr,
		       const struct sfjit_function *fde)
{
	uint64_t left = fde->size, lo, hi;
	size_t i;

	for (i = 0; i < nr; i++) {
		lo = text[i].addr;
		hi = lo + text[i].len;
		lo = lo > fde->addr ? lo : fde->addr;
		hi = hi < fde->addr + fde->size ? hi : fde->addr + fde->size;
		left -= hi > lo ? hi - lo : 0;
	}
	return left;
}

static size_t count_rows(const struct sfg_section *s)
{
	struct sfg_row_reader r;
	size_t nr = 0;
	uint32_t i;

	for (i = 0; i < s->header.num_fdes; i++) {
		REQUIRE(!sfg_read_fde(s, i, &r, NULL));
		nr += r.fde.nr_rows;
	}
	return nr;
}

void read_checked(const struct sfg_section *s, struct sfg_fdes *fdes)
{
	struct sfg_row_reader r;
	struct sfjit_row *row;
	uint32_t i;

	fdes->nr = s->header.num_fdes;
	fdes->fdes = malloc((fdes->nr + 1) * sizeof(*fdes->fdes));
	row = malloc((count_rows(s) + 1) * sizeof(*row));
	fdes->rows = row;
	for (i = 0; i < fdes->nr; i++) {
		REQUIRE(!sfg_read_fde(s, i, &r, NULL));
		fdes->fdes[i] = r.fde;
		fdes->fdes[i].rows = row;
		for (; r.left; row++)
			REQUIRE(!sfg_read_row(&r, row, NULL));
		REQUIRE(sfg_read_row(&r, row, NULL) == -ENOENT);
	}
}

void read_section(const void *data, size_t len, uint64_t addr,
		  struct sfg_fdes *fdes)
{
	struct sfg_section s;
	struct sfg_error err;

	if (sfg_open_section(&s, data, len, addr, &err) ||
	    sfg_check_section(&s, &err))
		oracle_failed(__FILE__, __LINE__, err.reason);
	read_checked(&s, fdes);
}

static struct sfjit_rule plain_rule(const struct sfjit_rule *rule)
{
	return rule->base ? *rule : (struct sfjit_rule) { 0 };
}

struct sfjit_row plain_row(const struct sfjit_row *row)
{
	struct sfjit_row plain = { .start = row->start, .flags = row->flags };

	if (row->flags & SFJIT_ROW_OUTERMOST)
		return plain;
	plain.cfa = plain_rule(&row->cfa);
	plain.ra = plain_rule(&row->ra);
	plain.fp = plain_rule(&row->fp);
	return plain;
}

static void require_equal_fde(const struct sfjit_function *a,
			      const struct sfjit_function *b)
{
	uint8_t flags = SFJIT_FUNCTION_SIGNAL | SFJIT_FUNCTION_PAUTH_KEY_B;
	struct sfjit_row x, y;
	uint32_t i;

	REQUIRE(a->addr == b->addr && a->size == b->size);
	REQUIRE(!((a->flags ^ b->flags) & flags));
	REQUIRE(a->repeat == b->repeat && a->nr_rows == b->nr_rows);
	for (i = 0; i < a->nr_rows; i++) {
		x = plain_row(&a->rows[i]);
		y = plain_row(&b->rows[i]);
		/* Sections do not tell. */
		x.flags &= ~SFJIT_ROW_RBX;
		y.flags &= ~SFJIT_ROW_RBX;
		REQUIRE(!memcmp(&x, &y, sizeof(x)));
	}
}

void require_equal_fdes(const struct sfg_fdes *a, const struct sfg_fdes *b)
{
	size_t i;

	REQUIRE(a->nr == b->nr);
	for (i = 0; i < a->nr; i++)
		require_equal_fde(&a->fdes[i], &b->fdes[i]);
}

static size_t most_bytes(const struct sfg_fdes *fdes)
{
	size_t rows = 0, i;

	for (i = 0; i < fdes->nr; i++)
		rows += fdes->fdes[i].nr_rows;
	return SFG_SECTION_MAX(fdes->nr, rows);
}

const struct sfg_arch *arch_by_number(unsigned int abi)
{
	static struct sfg_arch arch;

	arch = *sfg_any_arch(abi);
	arch.abi = abi;
	return &arch;
}

/* What cannot be sized must not be written either, for the same reason. */
static void require_refused(const struct sfg_arch *arch,
			    const struct sfg_fdes *fdes, int want,
			    const struct sfg_error *why)
{
	size_t len = most_bytes(fdes), used = 12345;
	void *buf = malloc(len);
	struct sfg_error err;

	REQUIRE(sfg_write_section(arch->abi, fdes->fdes, fdes->nr, 0, buf, len,
				  &used, &err) == want);
	REQUIRE(used == 12345);
	REQUIRE(err.reason == why->reason && err.offset == why->offset);
	free(buf);
}

static void require_too_small(const struct sfg_arch *arch,
			      const struct sfg_fdes *fdes, size_t len)
{
	void *buf = malloc(len);
	struct sfg_error err;
	size_t used = 12345;

	REQUIRE(sfg_write_section(arch->abi, fdes->fdes, fdes->nr, 0, buf, len,
				  &used, &err) == -ENOSPC);
	REQUIRE(used == 12345 && err.offset <= fdes->nr);
	free(buf);
}

int encode(const struct sfg_arch *arch, const struct sfg_fdes *fdes,
	   uint64_t addr, struct sfg_output *out)
{
	struct sfg_error err = { 0 };
	size_t size = 12345, used;
	int ret = sfg_section_size(arch->abi, fdes->fdes, fdes->nr, &size,
				   &err);

	if (ret) {
		REQUIRE(size == 12345);
		require_error(ret, &err, fdes->nr);
		require_refused(arch, fdes, ret, &err);
		return ret;
	}
	REQUIRE(size <= most_bytes(fdes));
	require_too_small(arch, fdes, size - 1);
	out->len = size;
	out->data = malloc(size);
	REQUIRE(!sfg_write_section(arch->abi, fdes->fdes, fdes->nr, addr,
				   out->data, size, &used, &err));
	REQUIRE(used == size);
	return 0;
}

/* The last FDE that starts at or before the address, then its last row. */
static const struct sfjit_row *plain_search(const struct sfg_fdes *fdes,
					  uint64_t addr,
					  const struct sfjit_function **found)
{
	const struct sfjit_function *fde = NULL;
	const struct sfjit_row *row = NULL;
	uint64_t offset;
	size_t i;

	*found = NULL;
	for (i = 0; i < fdes->nr && fdes->fdes[i].addr <= addr; i++)
		fde = &fdes->fdes[i];
	if (!fde || addr - fde->addr >= fde->size)
		return NULL;
	*found = fde;
	offset = addr - fde->addr;
	if (fde->repeat)
		offset %= fde->repeat;
	for (i = 0; i < fde->nr_rows && fde->rows[i].start <= offset; i++)
		row = &fde->rows[i];
	return row;
}

static void require_found_at(const struct sfg_section *s,
			     const struct sfg_fdes *fdes, uint64_t addr)
{
	const struct sfjit_function *want_fde;
	const struct sfjit_row *want = plain_search(fdes, addr, &want_fde);
	struct sfjit_function fde = { .addr = 12345 };
	struct sfjit_row row;
	int ret = sfg_find_row(s, addr, &fde, &row, NULL);

	REQUIRE(ret == (want ? 0 : -ENOENT));
	if (want)
		REQUIRE(!memcmp(&row, want, sizeof(row)));
	if (want_fde)
		REQUIRE(fde.addr == want_fde->addr);
	else
		REQUIRE(fde.addr == 12345);
}

/* Bounds the plain search, which is quadratic. */
#define MAX_FOUND	24

void require_found(const struct sfg_section *s, const struct sfg_fdes *fdes)
{
	size_t i, k, left = MAX_FOUND;

	for (i = 0; i < fdes->nr && left; i++) {
		const struct sfjit_function *fde = &fdes->fdes[i];

		require_found_at(s, fdes, fde->addr - 1);
		require_found_at(s, fdes, fde->addr + fde->size - 1);
		require_found_at(s, fdes, fde->addr + fde->size);
		for (k = 0; k < fde->nr_rows && left; k++, left--)
			require_found_at(s, fdes,
					 fde->addr + fde->rows[k].start);
		left -= left != 0;
	}
}

static bool same_row(const struct sfg_arch *arch, const struct sfjit_row *want,
		     const struct sfjit_row *found, uint32_t more)
{
	struct sfjit_row row = plain_row(want), got = *found;

	/* where a call puts the return address has one form in tables */
	if (row.ra.base == SFJIT_BASE_CFA && arch->fixed_ra &&
	    row.ra.offset == arch->fixed_ra)
		row.ra = sfjit_rule_none();
	if (row.flags == SFG_ROW_FP)
		row = (struct sfjit_row){ .flags = SFG_ROW_FP };
	got.flags &= ~more;
	return sfg_rows_equal(&row, &got);
}

static void require_packed_at(const struct sfg_packed *t,
			      const struct sfg_fdes *fdes, uint64_t addr,
			      uint32_t more)
{
	uint8_t flags = SFJIT_FUNCTION_SIGNAL | SFJIT_FUNCTION_PAUTH_KEY_B;
	const struct sfjit_function *of;
	const struct sfjit_row *want;
	struct sfjit_function fde;
	struct sfjit_row row;
	int ret;

	addr &= -(uint64_t)(1u << t->arch->unit_shift);
	want = plain_search(fdes, addr, &of);
	ret = sfg_find_packed_row(t, addr, &fde, &row, NULL);
	REQUIRE(ret == (want ? 0 : -ENOENT));
	REQUIRE(fde.nr_rows == (want != NULL) && !fde.size == !of);
	if (!want) {
		REQUIRE(fde.flags == (of ? SFJIT_FUNCTION_SIGNAL : 0));
		return;
	}
	REQUIRE(addr - fde.addr < fde.size);
	REQUIRE(same_row(t->arch, want, &row, more));
	if (!(want->flags & (SFJIT_ROW_OUTERMOST | SFG_ROW_FP)))
		REQUIRE(fde.flags == (of->flags & flags));
}

void require_is_packed(const struct sfg_output *out, const struct sfg_fdes *fdes,
		       uint32_t more)
{
	size_t unit, left = MAX_FOUND, i, k;
	const struct sfjit_function *fde;
	struct sfg_packed t;

	REQUIRE(!sfg_open_packed(&t, out->data, out->len, NULL));
	REQUIRE(!sfg_check_packed(&t, NULL));
	unit = 1u << t.arch->unit_shift;
	for (i = 0; i < fdes->nr && left; i++, left--) {
		fde = &fdes->fdes[i];
		require_packed_at(&t, fdes, fde->addr - unit, more);
		require_packed_at(&t, fdes, fde->addr + fde->repeat, more);
		require_packed_at(&t, fdes, fde->addr + fde->size - 1, more);
		require_packed_at(&t, fdes, fde->addr + fde->size, more);
		for (k = 0; k < fde->nr_rows && left > 1; k++, left--) {
			require_packed_at(&t, fdes,
					  fde->addr + fde->rows[k].start,
					  more);
			require_packed_at(&t, fdes, fde->addr + unit +
					  fde->rows[k].start, more);
		}
	}
}

/* The writer that allocates nothing; what it finds equal, the other one does. */
static void require_filled(const struct sfg_arch *arch,
			   const struct sfg_fdes *fdes)
{
	struct sfg_error err = { 0 };
	size_t size = 0, used = 0;
	struct sfg_output out;
	int ret = sfg_packed_size(arch->abi, fdes->fdes, fdes->nr, &size, &err);

	if (ret) {
		require_error(ret, &err, fdes->nr);
		REQUIRE(ret == -E2BIG);
		return;
	}
	out = (struct sfg_output){ malloc(size), size };
	REQUIRE(sfg_fill_packed(arch->abi, fdes->fdes, fdes->nr, out.data,
				size - 1, &used, NULL) == -ENOSPC && !used);
	REQUIRE(!sfg_fill_packed(arch->abi, fdes->fdes, fdes->nr, out.data,
				 size, &used, NULL) && used == size);
	require_is_packed(&out, fdes, 0);
	free(out.data);
}

#define MAX_ALLOCATIONS	6

void require_packed(const struct sfg_arch *arch, const struct sfg_fdes *fdes,
		    bool fails)
{
	unsigned int n = fails ? MAX_ALLOCATIONS : 0;
	struct sfg_error err = { 0 };
	struct sfg_output out;
	int ret;

	do {
		fail_allocation(n);
		ret = sfg_write_packed(arch->abi, fdes->fdes, fdes->nr, &out,
				       &err);
		REQUIRE(ret != -ENOMEM || allocation_failed());
		if (ret) {
			require_error(ret, &err, fdes->nr);
			REQUIRE(ret != -EINVAL && ret != -ENOTSUP);
			continue;
		}
		require_is_packed(&out, fdes, 0);
		free(out.data);
	} while (n--);
	fail_allocation(0);
	require_filled(arch, fdes);
}

void require_rebase(const void *data, size_t len, int64_t delta)
{
	void *copy = exact_copy(data, len);
	struct sfg_fdes before, after;
	struct sfg_section s;
	size_t i;

	REQUIRE(!sfg_rebase(copy, len, delta));
	REQUIRE(!sfg_open_section(&s, data, len, 0, NULL));
	read_checked(&s, &before);
	REQUIRE(!sfg_open_section(&s, copy, len, 0, NULL));
	read_checked(&s, &after);
	for (i = 0; i < before.nr; i++)
		before.fdes[i].addr += delta;
	require_equal_fdes(&before, &after);
	REQUIRE(!sfg_rebase(copy, len, -(uint64_t)delta));
	REQUIRE(!memcmp(copy, data, len));
	sfg_free_fdes(&before);
	sfg_free_fdes(&after);
	free(copy);
}
