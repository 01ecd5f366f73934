// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/*
 * Call frame information, the way sfg_derive() and sfg_convert() go with it.
 * The section has to say for each byte of code what the rows say, has to stay
 * inside of the text, and may join functions only over padding.
 */
#include <stdlib.h>

#include "cfi.h"
#include "oracle.h"

#define SECTION_ADDR	0x7654321000
#define MAX_PADDING	64
#define MAX_WRITTEN	16

struct input {
	struct sfg_input in;
	struct sfg_image text[3];
	void *code, *cfi;
	uint8_t fails;
};

static void add_range(struct input *i, const void *data, uint64_t addr,
		      size_t len)
{
	i->text[i->in.nr_text++] = (struct sfg_image) { data, len, addr };
}

static void set_text(struct input *i, const struct head *head, size_t len)
{
	uint64_t addr = head_uint(head->text_addr, 4);

	i->in.text = i->text;
	if (head->flags & HEAD_NO_TEXT)
		return;
	add_range(i, i->code, addr, len);
	if (head->flags & HEAD_FAR)
		add_range(i, NULL,
			  addr + len + (head->flags & HEAD_APART ? 16 : 0),
			  head_uint(head->far_len, 4));
	if (head->flags & HEAD_REPEATED)
		add_range(i, i->code, addr, len);
}

static bool open_input(struct input *i, const uint8_t *data, size_t size)
{
	struct head head;
	size_t text_len;

	if (size < sizeof(head))
		return false;
	memcpy(&head, data, sizeof(head));
	data += sizeof(head);
	size -= sizeof(head);
	text_len = head_uint(head.text_len, 2);
	if (text_len > size)
		text_len = size;
	memset(i, 0, sizeof(*i));
	i->code = exact_copy(data, text_len);
	i->cfi = exact_copy(data + text_len, size - text_len);
	i->in.abi = head_abi(&head);
	i->in.flags = head.flags & HEAD_DEBUG ? SFG_INPUT_DEBUG_FRAME : 0;
	i->in.max_rows = head.max_rows == 255 ? UINT32_MAX : head.max_rows;
	i->in.section_addr = SECTION_ADDR;
	i->fails = head.fails & FAILS_ALLOCATION;
	if (head.fails & FAILS_ADDENDS)
		i->in.flags |= SFG_INPUT_ADDENDS;
	i->in.cfi = (struct sfg_image) {
		i->cfi, size - text_len, head_uint(head.cfi_addr, 4),
	};
	set_text(i, &head, text_len);
	return true;
}

static void close_input(struct input *i)
{
	free(i->code);
	free(i->cfi);
}

static void require_inside(const struct sfg_input *in,
			   const struct sfg_fdes *fdes)
{
	const struct sfjit_function *fde = fdes->fdes, *end = fde + fdes->nr;

	for (; fde != end; fde++)
		REQUIRE(!in->nr_text ||
			!bytes_outside(in->text, in->nr_text, fde));
}

static uint64_t covered(const struct sfg_fdes *fdes)
{
	uint64_t bytes = 0;
	size_t i;

	for (i = 0; i < fdes->nr; i++)
		bytes += fdes->fdes[i].size;
	return bytes;
}

static void require_summary(const struct sfg_input *in,
			    const struct sfg_summary *sum,
			    const struct sfg_fdes *fdes)
{
	uint64_t bytes = 0, functions = 0;
	unsigned int i;

	for (i = 0; i < SFG_R_MAX; i++) {
		if (i != SFG_R_OVERLAP && i != SFG_R_OUTSIDE)
			bytes += sum->bytes[i];
		functions += i ? sum->affected[i] : sum->covered_functions;
	}
	REQUIRE(bytes == sum->code_bytes);
	REQUIRE(sum->bytes[SFG_COVERED] == covered(fdes));
	REQUIRE(sum->functions <= functions);
	REQUIRE(sum->covered_functions <= sum->affected[SFG_COVERED]);
	REQUIRE(sum->cfi_bytes <= in->cfi.len);
}

static int derive(const struct input *i, struct sfg_fdes *fdes,
		  struct sfg_summary *sum)
{
	const struct sfg_fdes untouched = { .nr = 12345 };
	struct sfg_error err = { 0 };
	int ret;

	*fdes = untouched;
	sum->functions = 12345;
	ret = sfg_derive(&i->in, fdes, sum, &err);
	if (ret) {
		require_error(ret, &err, i->in.cfi.len);
		REQUIRE(!memcmp(fdes, &untouched, sizeof(*fdes)));
		REQUIRE(sum->functions == 12345);
		return ret;
	}
	require_good_fdes(sfg_any_arch(i->in.abi), fdes);
	require_inside(&i->in, fdes);
	require_summary(&i->in, sum, fdes);
	return 0;
}

static int convert(const struct input *i, struct sfg_output *out,
		   struct sfg_summary *sum)
{
	const struct sfg_output untouched = { .len = 12345 };
	struct sfg_error err = { 0 };
	int ret;

	*out = untouched;
	sum->functions = 12345;
	ret = sfg_convert(&i->in, out, sum, &err);
	if (!ret)
		return 0;
	require_error(ret, &err, i->in.cfi.len);
	REQUIRE(!memcmp(out, &untouched, sizeof(*out)));
	REQUIRE(sum->functions == 12345);
	return ret;
}

/* A place in a table that only moves up. */
struct place {
	const struct sfjit_function *fde, *end;
	uint32_t row;
};

/* The row that holds at an address, and where that ends. */
static const struct sfjit_row *row_at(struct place *p, uint64_t addr,
				    uint64_t *end)
{
	while (p->fde != p->end && p->fde->addr + p->fde->size <= addr) {
		p->fde++;
		p->row = 0;
	}
	REQUIRE(p->fde != p->end && p->fde->addr <= addr);
	while (p->row + 1 < p->fde->nr_rows &&
	       p->fde->addr + p->fde->rows[p->row + 1].start <= addr)
		p->row++;
	*end = p->row + 1 < p->fde->nr_rows ?
	       p->fde->addr + p->fde->rows[p->row + 1].start :
	       p->fde->addr + p->fde->size;
	return &p->fde->rows[p->row];
}

static void require_same_rows(struct place *p, const struct sfjit_function *fde)
{
	struct place ours = { .fde = fde, .end = fde + 1 };
	uint64_t addr = fde->addr, a, b;

	while (addr < fde->addr + fde->size) {
		const struct sfjit_row *want = row_at(&ours, addr, &a);
		const struct sfjit_row *got = row_at(p, addr, &b);

		REQUIRE(sfg_rows_equal(want, got));
		REQUIRE(p->fde->flags == fde->flags && !p->fde->repeat);
		addr = a < b ? a : b;
	}
}

static void require_same_fde(struct place *p, const struct sfjit_function *fde)
{
	struct sfg_fdes got, want = {
		.fdes = (struct sfjit_function *)fde, .nr = 1,
	};
	uint64_t end;

	/* may have no rows: moves there, and no further */
	row_at(p, fde->addr, &end);
	got = (struct sfg_fdes) { .fdes = (struct sfjit_function *)p->fde,
	       .nr = 1 };
	require_equal_fdes(&want, &got);
}

/* What the section says of the gap, it says of padding. */
static void require_gap(const struct sfg_input *in, const struct place *p,
			uint64_t lo, uint64_t hi)
{
	const struct sfg_image *text = in->text;

	if (lo == hi || p->fde == p->end || p->fde->addr + p->fde->size <= lo)
		return;
	REQUIRE(hi - lo < MAX_PADDING && in->nr_text);
	REQUIRE(lo >= text->addr && hi <= text->addr + text->len);
	REQUIRE(sfg_padding(in->abi,
			    (const uint8_t *)text->data + (lo - text->addr),
			    hi - lo));
}

static void require_same_code(const struct sfg_input *in,
			      const struct sfg_fdes *derived,
			      const struct sfg_fdes *section)
{
	struct place p = {
		.fde = section->fdes, .end = section->fdes + section->nr,
	};
	const struct sfjit_function *fde = derived->fdes;
	const struct sfjit_function *end = fde + derived->nr;

	for (; fde != end; fde++) {
		if (fde->repeat || !fde->nr_rows)
			require_same_fde(&p, fde);
		else
			require_same_rows(&p, fde);
		if (fde + 1 != end)
			require_gap(in, &p, fde->addr + fde->size, fde[1].addr);
	}
}

static void require_counts(const struct sfg_input *in,
			   const struct sfg_fdes *section,
			   const struct sfg_summary *sum)
{
	uint64_t mask = 0, signal = 0;
	size_t i;

	REQUIRE(sum->fdes == section->nr);
	for (i = 0; i < section->nr; i++) {
		const struct sfjit_function *fde = &section->fdes[i];

		mask += fde->repeat != 0;
		signal += (fde->flags & SFJIT_FUNCTION_SIGNAL) != 0;
		REQUIRE(fde->repeat || fde->nr_rows <=
			(in->max_rows ? in->max_rows : SFG_MAX_ROWS));
	}
	REQUIRE(sum->mask_fdes == mask && sum->signal_fdes == signal);
}

/* A packed table, made of the FDEs or of the CFI, has the rows of the section. */
static void require_packed_output(const struct input *i,
				  const struct sfg_fdes *section, uint32_t flags)
{
	struct sfg_input in = i->in;
	struct sfg_output out;
	int ret;

	in.flags |= SFG_INPUT_PACKED | flags;
	ret = sfg_convert(&in, &out, NULL, NULL);
	REQUIRE(!ret || ret == -E2BIG);
	if (!ret) {
		require_is_packed(&out, section, SFJIT_ROW_RBX);
		free(out.data);
	}
	require_packed(sfg_arch_by_abi(in.abi), section, false);
}

static void require_section(const struct input *i,
			    const struct sfg_fdes *derived,
			    const struct sfg_output *out,
			    const struct sfg_summary *sum)
{
	struct sfg_fdes section;

	read_section(out->data, out->len, SECTION_ADDR, &section);
	require_good_fdes(sfg_arch_by_abi(i->in.abi), &section);
	require_inside(&i->in, &section);
	require_counts(&i->in, &section, sum);
	REQUIRE(covered(&section) == covered(derived) + sum->padding_bytes);
	require_same_code(&i->in, derived, &section);
	require_packed_output(i, &section, 0);
	require_packed_output(i, &section, SFG_INPUT_JIT);
	sfg_free_fdes(&section);
}

/* Whatever memory held before, the bytes are the same. */
static void require_same_output(const struct input *i,
				const struct sfg_output *out,
				const struct sfg_summary *sum)
{
	struct sfg_summary other_sum;
	struct sfg_output other;

	fill_memory(0x5a);
	REQUIRE(!convert(i, &other, &other_sum));
	REQUIRE(other.len == out->len);
	REQUIRE(!memcmp(other.data, out->data, out->len));
	REQUIRE(!memcmp(&other_sum, sum, sizeof(*sum)));
	free(other.data);
}

/* The encoder without sharing takes the rows, too. */
static void require_encoded(const struct input *i,
			    const struct sfg_fdes *derived)
{
	struct sfg_fdes again;
	struct sfg_output out;

	if (encode(sfg_arch_by_abi(i->in.abi), derived, SECTION_ADDR, &out))
		oracle_failed(__FILE__, __LINE__, "rows can be encoded");
	read_section(out.data, out.len, SECTION_ADDR, &again);
	require_equal_fdes(derived, &again);
	sfg_free_fdes(&again);
	free(out.data);
}

static bool was_just_called(const struct sfg_input *in,
			    const struct sfjit_function *fde)
{
	struct sfjit_row entry;

	REQUIRE(!sfg_entry_row(in->abi, &entry));
	return fde->nr_rows == 1 && !fde->flags && !fde->repeat &&
	       sfg_rows_equal(&fde->rows[0], &entry);
}

/* With gaps as just called: what there was is the same, the rest is gaps. */
static void require_called(struct input *i, const struct sfg_fdes *derived)
{
	const struct sfjit_function *fde = derived->fdes;
	const struct sfjit_function *end = fde + derived->nr;
	struct sfg_summary sum;
	struct sfg_fdes called, got, want;
	uint64_t bytes = 0;
	size_t n;

	i->in.flags |= SFG_INPUT_CALLED;
	REQUIRE(!sfg_derive(&i->in, &called, &sum, NULL));
	i->in.flags &= ~SFG_INPUT_CALLED;
	require_good_fdes(sfg_any_arch(i->in.abi), &called);
	require_inside(&i->in, &called);
	for (n = 0; n < called.nr; n++) {
		if (fde == end || called.fdes[n].addr != fde->addr) {
			REQUIRE(was_just_called(&i->in, &called.fdes[n]));
			bytes += called.fdes[n].size;
			continue;
		}
		got = (struct sfg_fdes) { .fdes = &called.fdes[n], .nr = 1 };
		want = (struct sfg_fdes) {
			.fdes = (struct sfjit_function *)fde++, .nr = 1,
		};
		require_equal_fdes(&want, &got);
	}
	REQUIRE(fde == end && bytes == sum.called_bytes);
	sfg_free_fdes(&called);
}

static void require_converted(const struct input *i,
			      const struct sfg_fdes *derived,
			      const struct sfg_summary *derived_sum)
{
	struct sfg_summary sum;
	struct sfg_output out;

	REQUIRE(!convert(i, &out, &sum));
	REQUIRE(sum.code_bytes == derived_sum->code_bytes);
	require_section(i, derived, &out, &sum);
	require_same_output(i, &out, &sum);
	require_encoded(i, derived);
	if (!sum.affected[SFG_R_OVERLAP] && !sum.affected[SFG_R_OUTSIDE])
		require_steps(&i->in, &out, derived);
	free(out.data);
}

static void require_not_converted(const struct input *i, int why)
{
	struct sfg_summary sum;
	struct sfg_output out;

	REQUIRE(convert(i, &out, &sum) == why);
}

/* Some: each is derived twice more. */
static void require_some_written(const struct input *i,
				 const struct sfg_fdes *derived)
{
	size_t n;

	for (n = 0; n < derived->nr && n < MAX_WRITTEN; n++)
		require_written(i->in.abi, i->in.flags, &derived->fdes[n]);
}

#define MAX_ADDRESSES	64

/* A row is of one of two kinds; bytes beyond the text are not read. */
static void require_code_rows(const struct sfg_input *in)
{
	struct sfjit_row row;
	size_t at;
	int ret;

	if (!in->nr_text)
		return;
	for (at = 0; at < in->text->len && at < MAX_ADDRESSES; at++) {
		ret = sfg_find_code_row(in->abi, in->text,
					in->text->addr + at, -8 * (int64_t)at,
					at & 1, &row);
		REQUIRE(!ret || ret == -ENOENT || ret == -ENOTSUP);
		if (!ret)
			REQUIRE(row.cfa.offset >= 8 && !row.start &&
				!row.cfa.deref && !row.flags);
	}
}

static void require_all(struct input *i)
{
	struct sfg_summary sum;
	struct sfg_fdes derived;
	int ret;

	require_code_rows(&i->in);
	fill_memory(0xa5);
	ret = derive(i, &derived, &sum);
	if (ret) {
		require_not_converted(i, ret);
		require_opened(&i->in);
		require_indexed(&i->in, i->in.cfi.len / 2);
	} else {
		if (sfg_abi_has_sframe(i->in.abi))
			require_converted(i, &derived, &sum);
		else
			require_not_converted(i, -ENOTSUP);
		require_called(i, &derived);
		require_some_written(i, &derived);
		require_indexed(&i->in, sum.cfi_bytes);
		sfg_free_fdes(&derived);
	}
	fill_memory(0);
}

/* Gives up without a leak, or did not need it. */
static void require_out_of_memory(const struct input *i)
{
	struct sfg_summary sum;
	struct sfg_output out;

	fail_allocation(i->fails);
	if (!convert(i, &out, &sum))
		free(out.data);
	fail_allocation(i->fails);
	require_opened(&i->in);
	fail_allocation(i->fails);
	require_indexed(&i->in, i->in.cfi.len / 2);
	fail_allocation(0);
	/* callers need not ask for more than the section */
	if (!sfg_convert(&i->in, &out, NULL, NULL))
		free(out.data);
}

static void run(const uint8_t *data, size_t size)
{
	struct input i;

	if (!open_input(&i, data, size))
		return;
	if (i.fails)
		require_out_of_memory(&i);
	else
		require_all(&i);
	close_input(&i);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	run_bounded(run, data, size);
	return 0;
}
