// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/*
 * --template: a C header with code, and a packed table, SFrame and .eh_frame to be
 * patched.
 */
#include <ctype.h>
#include <stdlib.h>

#include "commands.h"
#include "object.h"

/* A template is a few hand-written functions; more is a mistake. */
#define MAX_FUNCTIONS	64
#define MAX_NAME	255	/* it is repeated a dozen times */
#define MIN_SLOT	16
#define MAX_SLOT	128	/* the largest power of two that PCMASK knows */

struct template {
	struct object *f;
	struct sfg_fdes fdes;
	FILE *out;
};

/* A power of two, because .eh_frame can only mask the pc. */
static unsigned int slot_size(uint64_t code_size)
{
	unsigned int slot = MIN_SLOT;

	while (slot < code_size)
		slot *= 2;
	return slot;
}

/*
 * Exactly as long as the function: if a part has no row, FDEs are shorter.
 */
static const struct sfjit_function *find_template_fde(const struct template *t,
				      const struct object_symbol *fn)
{
	size_t i;

	for (i = 0; i < t->fdes.nr; i++)
		if (t->fdes.fdes[i].addr == fn->addr &&
		    t->fdes.fdes[i].size == fn->size &&
		    !t->fdes.fdes[i].repeat && t->fdes.fdes[i].nr_rows)
			return &t->fdes.fdes[i];
	return NULL;
}

static const uint8_t *find_code(const struct template *t,
				const struct object_symbol *fn)
{
	return object_text_at(t->f, fn->addr, fn->size);
}

static int reject(const struct template *t, const struct object_symbol *fn,
		  const char *reason)
{
	return object_error(t->f, object_file_offset(t->f, fn->addr), -EINVAL,
			    "%s: %s", fn->name, reason);
}

/* main() leaves the locale at "C", so only ASCII letters are letters. */
static bool is_identifier(const char *name)
{
	const char *p = name;

	if (isdigit((unsigned char)*p))
		return false;
	while (isalnum((unsigned char)*p) || *p == '_')
		p++;
	return !*p && p - name <= MAX_NAME;
}

static int check_function(const struct template *t,
			  const struct object_symbol *fn)
{
	/* it becomes part of C names, and of the messages below */
	if (!is_identifier(fn->name))
		return object_error(t->f, object_file_offset(t->f, fn->addr),
				    -EINVAL,
				 "function's name is too long or not one in C");
	if (fn->size > MAX_SLOT)
		return reject(t, fn, "longer than a slot of 128 bytes");
	if (!find_code(t, fn) || !fn->size)
		return reject(t, fn, "function has no code");
	/* a copy of the code runs elsewhere */
	if (object_is_relocated(t->f, fn->addr, fn->size))
		return reject(t, fn, "code needs relocation");
	if (!find_template_fde(t, fn))
		return reject(t, fn, "CFI does not cover the function by rows");
	return 0;
}

static void print_bytes(FILE *out, const char *name, const char *suffix,
			const uint8_t *p, size_t len)
{
	size_t i;

	fprintf(out, "static const unsigned char %s_%s[%zu] = {", name, suffix,
		len);
	for (i = 0; i < len; i++)
		fprintf(out, "%s0x%02x,", i % 8 ? " " : "\n\t", p[i]);
	fputs("\n};\n\n", out);
}

static void print_upper(FILE *out, const char *name)
{
	for (; *name; name++)
		fputc(toupper((unsigned char)*name), out);
}

static void print_define(FILE *out, const char *name, const char *suffix,
			 size_t value)
{
	fputs("#define ", out);
	print_upper(out, name);
	fprintf(out, "_%s\t%zu\n", suffix, value);
}

/* Named after the first function, since one file may use several templates. */
static void print_guard(FILE *out, const char *directive, const char *name)
{
	fprintf(out, "%s ", directive);
	print_upper(out, name);
	fputs("_TEMPLATE_H\n", out);
}

static void print_rows(const struct template *t,
		       const struct sfjit_function *fde)
{
	char text[ROW_TEXT_MAX];
	uint32_t i;

	for (i = 0; i < fde->nr_rows; i++) {
		format_row(t->f->abi, &fde->rows[i], text);
		fprintf(t->out, " * %3u: %s\n", fde->rows[i].start, text);
	}
}

static void print_rule(FILE *out, const struct sfjit_rule *rule)
{
	fprintf(out, ", { %d, %u, %u, %u, %d }", (int)rule->offset, rule->reg,
		rule->base, rule->deref, (int)rule->addend);
}

/* The same in C, where rows have names. */
static void print_row_data(const struct template *t,
			   const struct object_symbol *fn,
			   const struct sfjit_function *fde)
{
	const struct sfjit_row *row = fde->rows;
	uint32_t i;

	print_define(t->out, fn->name, "FLAGS", fde->flags);
	fprintf(t->out, "#ifdef SFJIT_ROWS_H\n"
		"static const struct sfjit_row %s_rows[%u] = {\n", fn->name,
		fde->nr_rows);
	for (i = 0; i < fde->nr_rows; i++, row++) {
		fprintf(t->out, "\t{ %u, %u", row->start, row->flags);
		print_rule(t->out, &row->cfa);
		print_rule(t->out, &row->ra);
		print_rule(t->out, &row->fp);
		fputs(" },\n", t->out);
	}
	fputs("};\n#endif\n\n", t->out);
}

/* Rows are at least a byte of code apart, so a slot has at most its size. */
static int print_sframe(const struct template *t,
			const struct object_symbol *fn,
			struct sfjit_function fde, unsigned int slot)
{
	uint8_t buf[SFG_SECTION_MAX(1, MAX_SLOT)];
	size_t len;
	struct sfg_error err;
	int ret;

	/* C has no empty arrays */
	if (!sfg_abi_has_sframe(t->f->abi)) {
		print_define(t->out, fn->name, "SFRAME_SIZE", 0);
		print_define(t->out, fn->name, "SFRAME_START_OFF", 0);
		print_define(t->out, fn->name, "SFRAME_SIZE_OFF", 0);
		print_bytes(t->out, fn->name, "sframe", (uint8_t[1]){ 0 }, 1);
		return 0;
	}
	fde.addr = 0;
	fde.size = slot;
	fde.repeat = slot;
	ret = sfg_write_section(t->f->abi, &fde, 1, 0, buf, sizeof(buf),
				&len, &err);
	if (ret)
		return reject(t, fn, err.reason);
	/* patched later: start relative to the field, and size of the window */
	memset(buf + sizeof(struct sframe_header), 0, 12);
	print_define(t->out, fn->name, "SFRAME_SIZE", len);
	print_define(t->out, fn->name, "SFRAME_START_OFF",
		     sizeof(struct sframe_header) +
		     offsetof(struct sframe_fde, func_start));
	print_define(t->out, fn->name, "SFRAME_SIZE_OFF",
		     sizeof(struct sframe_header) +
		     offsetof(struct sframe_fde, func_size));
	print_bytes(t->out, fn->name, "sframe", buf, len);
	return 0;
}

/* A rule for each row at most, three bytes, and as much for the table. */
#define PACKED_MAX	(sizeof(struct sframe_packed_header) + 4 + \
			 SFRAME_PACKED_PAD + (MAX_SLOT + 2) * (16 + 3))

/* A table with more than one slot repeats. */
static int print_packed(const struct template *t,
			const struct object_symbol *fn,
			struct sfjit_function fde, unsigned int slot)
{
	const size_t start = offsetof(struct sframe_packed_header, text_start);
	const size_t size = offsetof(struct sframe_packed_header, text_length);
	uint8_t buf[PACKED_MAX] = { 0 };
	size_t len = 0;
	struct sfg_error err;
	int ret;

	fde.addr = 0;
	fde.size = 2 * slot;
	fde.repeat = slot;
	if (sfg_abi_has_sframe(t->f->abi)) {
		ret = sfg_fill_packed(t->f->abi, &fde, 1, buf, sizeof(buf),
				      &len, &err);
		if (ret)
			return reject(t, fn, err.reason);
		/* patched later */
		memset(buf + size, 0, 4);
	}
	print_define(t->out, fn->name, "PACKED_SIZE", len);
	print_define(t->out, fn->name, "PACKED_START_OFF", start);
	print_define(t->out, fn->name, "PACKED_SIZE_OFF", size);
	print_bytes(t->out, fn->name, "packed", buf, len ? len : 1);
	return 0;
}

/* For the whole window if an expression can see the pc, else for a slot. */
static int print_eh_frame(const struct template *t,
			  const struct object_symbol *fn,
			  const struct sfjit_function *fde, unsigned int slot)
{
	bool repeats = sfg_expressions_see_pc(t->f->abi);
	struct sfg_window_cfi cfi;
	int ret;

	ret = repeats ? sfg_make_window_cfi(t->f->abi, fde, slot, &cfi) :
			sfg_make_slot_cfi(t->f->abi, fde, &cfi);
	if (ret)
		return reject(t, fn, "rows beyond an .eh_frame template");
	print_define(t->out, fn->name, "EH_FRAME_REPEATS", repeats);
	print_define(t->out, fn->name, "EH_FRAME_START_OFF", cfi.start_off);
	print_define(t->out, fn->name, "EH_FRAME_SIZE_OFF", cfi.size_off);
	print_define(t->out, fn->name, "EH_FRAME_ENCODING", 0);
	print_bytes(t->out, fn->name, "eh_frame", cfi.data, cfi.len);
	return 0;
}

static int print_function(const struct template *t,
			  const struct object_symbol *fn)
{
	int ret = check_function(t, fn);
	const struct sfjit_function *fde;
	unsigned int slot;

	if (ret)
		return ret;
	fde = find_template_fde(t, fn);
	slot = slot_size(fn->size);
	fprintf(t->out, "/* %s\n *\n", fn->name);
	print_rows(t, fde);
	fputs(" */\n", t->out);
	print_define(t->out, fn->name, "CODE_SIZE", fn->size);
	print_define(t->out, fn->name, "SLOT_SIZE", slot);
	print_bytes(t->out, fn->name, "code", find_code(t, fn), fn->size);
	print_row_data(t, fn, fde);
	ret = print_packed(t, fn, *fde, slot);
	if (!ret)
		ret = print_sframe(t, fn, *fde, slot);
	return ret ? ret : print_eh_frame(t, fn, fde, slot);
}

static void print_head(const struct template *t)
{
	fputs("/* Generated by sframegen --template; do not edit. */\n"
	      "/*\n"
	      " * A window is memory filled with copies of NAME_code, one per"
	      " NAME_SLOT_SIZE\n"
	      " * bytes, its start aligned to the slot. Patch its packed"
	      " table with\n"
	      " *\tu64 at NAME_PACKED_START_OFF: window\n"
	      " *\tu32 at NAME_PACKED_SIZE_OFF: bytes of the window\n"
	      " * or its SFrame section with\n"
	      " *\ts64 at NAME_SFRAME_START_OFF: window - (section + that"
	      " offset)\n"
	      " *\tu32 at NAME_SFRAME_SIZE_OFF: bytes of the window\n"
	      " * and its .eh_frame with\n"
	      " *\tu64 at NAME_EH_FRAME_START_OFF: window\n"
	      " *\tu64 at NAME_EH_FRAME_SIZE_OFF: bytes of the window\n", t->out);
	if (!sfg_expressions_see_pc(t->f->abi))
		fputs(" * or of the slot: this machine has .eh_frame of one slot"
		      " only.\n", t->out);
	if (!sfg_abi_has_sframe(t->f->abi))
		fprintf(t->out, " * There is no table and no SFrame: it has no ABI"
			" number for %s.\n", sfg_abi_name(t->f->abi));
	else if (sfg_trial_abi(t->f->abi))
		fprintf(t->out, " * The SFrame is for trials: its ABI number for"
			" %s is made up.\n", sfg_abi_name(t->f->abi));
	fputs(" */\n", t->out);
}

static int print_functions(const struct template *t)
{
	const struct object_symbol *fn = t->f->functions;
	size_t i;
	int ret = 0;

	if (!t->f->nr_functions)
		return object_error(t->f, 0, -EINVAL, "no function symbols");
	if (t->f->nr_functions > MAX_FUNCTIONS)
		return object_error(t->f, 0, -E2BIG,
				    "%zu functions are too many for a template",
				    t->f->nr_functions);
	print_head(t);
	print_guard(t->out, "#ifndef", fn->name);
	print_guard(t->out, "#define", fn->name);
	fputc('\n', t->out);
	for (i = 0; i < t->f->nr_functions && !ret; i++)
		ret = print_function(t, &fn[i]);
	fputs("#endif\n", t->out);
	return ret;
}

/*
 * In memory first: if a later function is refused, do not leave half a header.
 */
static int make_header(struct template *t, const char *path)
{
	char *text = NULL;
	size_t len;
	int ret;

	t->out = open_memstream(&text, &len);
	if (!t->out)
		return path_error(path, -ENOMEM);
	ret = print_functions(t);
	if (fclose(t->out) && !ret)
		ret = path_error(path, -ENOMEM);
	if (!ret)
		ret = write_file(path, text, len);
	free(text);
	return ret;
}

static int derive(struct template *t)
{
	struct sfg_input in = object_input(t->f);
	struct sfg_error err;
	int ret = sfg_derive(&in, &t->fdes, NULL, &err);

	if (ret)
		object_error(t->f, object_cfi_offset(t->f, err.offset), ret,
			     "%s", err.reason);
	return ret;
}

/*
 * Linked code has lost its relocations, so we could not tell whether a copy
 * runs elsewhere.
 */
static int check_object(struct object *f)
{
	if (f->ehdr.e_type != ET_REL)
		return object_error(f, offsetof(Elf64_Ehdr, e_type), -EINVAL,
				    "not an object file");
	return 0;
}

int command_template(const struct options *opts)
{
	struct object f;
	struct template t = { .f = &f };
	int ret = object_open(&f, opts->input);

	if (!ret && opts->trial_abi)
		object_try_abi(&f);
	if (!ret)
		ret = check_object(&f);
	if (!ret)
		ret = object_read_cfi(&f);
	if (!ret)
		ret = object_read_symbols(&f);
	if (!ret)
		ret = derive(&t);
	if (!ret)
		ret = make_header(&t, opts->output);
	if (!ret && !sfg_abi_has_sframe(f.abi))
		path_refused(opts->input, "SFrame has no ABI number for its"
			     " machine: the template is without a section");
	sfg_free_fdes(&t.fdes);
	object_close(&f);
	return ret;
}
