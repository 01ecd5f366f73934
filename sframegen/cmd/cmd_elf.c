// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/* --elf: the section of a whole file, and its coverage. */
#include <inttypes.h>
#include <stdlib.h>

#include "commands.h"
#include "object.h"

/*
 * In thousandths, rounded down: 100 % means every byte. Sizes come from the
 * file, so the product may exceed 64 bits.
 */
static uint64_t share_of(uint64_t part, uint64_t whole)
{
	return whole ? (unsigned __int128)part * 100000 / whole : 100000;
}

static void print_code(FILE *to, const struct sfg_summary *sum)
{
	uint64_t covered = sum->bytes[SFG_COVERED];
	uint64_t share = share_of(covered, sum->code_bytes +
						      sum->bare_bytes);

	fprintf(to, "code bytes: %" PRIu64 " of %" PRIu64
		" with CFI covered, %" PRIu64 " without CFI (%" PRIu64
		".%03" PRIu64 " %%)\n", covered, sum->code_bytes,
		sum->bare_bytes, share / 1000, share % 1000);
}

static void print_derived(FILE *to, const struct sfg_summary *sum)
{
	uint64_t share = share_of(sum->derived_bytes, sum->bare_bytes);

	if (sum->derived_bytes)
		fprintf(to, "without CFI: %" PRIu64 " of %" PRIu64 " bytes have"
			" rows from their instructions (%" PRIu64 ".%03" PRIu64
			" %%)\n", sum->derived_bytes, sum->bare_bytes,
			share / 1000, share % 1000);
}

static void print_go(FILE *to, const struct object *f,
		     const struct sfg_summary *sum)
{
	uint64_t share = share_of(sum->go_bytes, sum->bare_bytes);

	if (f->go_unusable)
		fprintf(to, "Go's table: not used: %s\n", f->go_unusable);
	else if (f->has_go)
		fprintf(to, "without CFI: %" PRIu64 " of %" PRIu64 " bytes have"
			" rows from Go's table of %" PRIu64 " functions (%"
			PRIu64 ".%03" PRIu64 " %%)\n", sum->go_bytes,
			sum->bare_bytes, sum->go_functions, share / 1000,
			share % 1000);
}

static void print_not_covered(FILE *to, const struct sfg_summary *sum)
{
	unsigned int i;

	for (i = 1; i < SFG_R_MAX; i++)
		if (sum->affected[i])
			fprintf(to, "not covered: %" PRIu64 " bytes in %" PRIu64
				" functions: %s\n", sum->bytes[i],
				sum->affected[i], sfg_reason_text(i));
}

static void print_debug_frame(FILE *to, const struct object *f,
			      const struct sfg_summary *sum)
{
	const struct sfg_error *err = &sum->debug_frame_error;

	if (f->debug_frame_unusable)
		fprintf(to, "debug_frame: not used: %s\n",
			f->debug_frame_unusable);
	else if (err->reason)
		fprintf(to, "debug_frame: not used: 0x%" PRIx64 ": %s\n",
			f->debug_frame.file_offset + err->offset, err->reason);
	else if (sum->debug_functions)
		fprintf(to, "debug_frame: %" PRIu64 " functions, %" PRIu64
			" bytes that .eh_frame leaves out\n",
			sum->debug_functions, sum->debug_bytes);
}

static void print_split(FILE *to, const struct sfg_summary *sum)
{
	int64_t more = sum->split_bytes;

	if (sum->split_functions)
		fprintf(to, "split: %" PRIu64 " functions of too many rows are"
			" in %" PRIu64 " FDEs, %" PRIu64 " bytes %s than"
			" unsplit\n", sum->split_functions, sum->split_fdes,
			(uint64_t)(more < 0 ? -more : more),
			more < 0 ? "fewer" : "more");
}

static void print_section(FILE *to, const struct sfg_summary *sum, size_t len)
{
	fprintf(to, "section: %zu bytes, %" PRIu64 " FDEs (%" PRIu64
		" PCMASK, %" PRIu64 " FLEX, %" PRIu64 " signal), %" PRIu64
		" rows in %" PRIu64 " blocks\n", len, sum->fdes,
		sum->mask_fdes, sum->flex_fdes, sum->signal_fdes, sum->rows,
		sum->blocks);
	print_split(to, sum);
}

/* Everything else about it is in the section: a table has no FDEs. */
static void print_table(FILE *to, const struct sfg_output *out)
{
	struct sfg_packed t = { 0 };

	sfg_open_packed(&t, out->data, out->len, NULL);
	fprintf(to, "table: %zu bytes, %u rules, %" PRIu32 " buckets, %" PRIu32
		" bytes of blocks\n", out->len, t.header.nr_rules,
		t.nr_buckets, t.header.blocks_len);
}

/*
 * .eh_frame_hdr counts as CFI: it is the search table of .eh_frame, which
 * SFrame includes.
 */
void print_summary(FILE *to, const struct object *f,
		   const struct sfg_summary *sum, const struct sfg_output *out,
		   bool packed)
{
	uint64_t cfi = sum->cfi_bytes + f->eh_frame_hdr_len;

	fprintf(to, "functions: %" PRIu64 " of %" PRIu64 " covered\n",
		sum->covered_functions, sum->functions);
	print_code(to, sum);
	print_go(to, f, sum);
	print_derived(to, sum);
	print_debug_frame(to, f, sum);
	print_not_covered(to, sum);
	fprintf(to, "padding bytes: %" PRIu64 " between functions covered\n",
		sum->padding_bytes);
	if (packed)
		print_table(to, out);
	else
		print_section(to, sum, out->len);
	fprintf(to, "CFI: %" PRIu64 " bytes %s, %" PRIu64
		" bytes .eh_frame_hdr; %s is %.3fx\n", sum->cfi_bytes,
		f->cfi_flags & SFG_INPUT_DEBUG_FRAME ? ".debug_frame" :
		".eh_frame", f->eh_frame_hdr_len, packed ? "table" : "section",
		cfi ? (double)out->len / cfi : 0);
}

static int convert_object(struct object *f, const struct options *opts,
			  struct sfg_output *out, struct sfg_summary *sum)
{
	struct sfg_input in = object_input(f);
	struct sfg_error err;
	int ret;

	if (!sfg_abi_has_sframe(f->abi))
		return object_error(f, offsetof(Elf64_Ehdr, e_machine),
				    -ENOTSUP, "SFrame has no ABI number for %s",
				    sfg_abi_name(f->abi));
	in.debug_frame = f->debug_frame.image;
	in.section_addr = opts->at;
	in.max_rows = opts->max_rows;
	in.flags |= opts->flags | (opts->cfi_only ? 0 : SFG_INPUT_CODE);
	ret = sfg_convert(&in, out, sum, &err);
	if (ret)
		object_error(f, object_cfi_offset(f, err.offset), ret, "%s",
			     err.reason);
	return ret;
}

/* Report to standard error if the section goes to standard output. */
int command_elf(const struct options *opts)
{
	struct sfg_output out = { 0 };
	struct sfg_summary sum;
	struct object f;
	int ret = object_open(&f, opts->input);

	if (!ret && opts->trial_abi)
		object_try_abi(&f);
	if (!ret)
		ret = object_read_sources(&f, opts->cfi_only);
	if (!ret)
		ret = convert_object(&f, opts, &out, &sum);
	if (!ret)
		ret = write_file(opts->output, out.data, out.len);
	if (!ret)
		print_summary(output_is_stdout(opts->output) ? stderr : stdout,
			      &f, &sum, &out,
			      opts->flags & SFG_INPUT_PACKED);
	free(out.data);
	object_close(&f);
	return ret;
}
