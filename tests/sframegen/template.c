// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/*
 * Description: the templates of a window: packed table, SFrame and .eh_frame
 * agree at each offset of a slot, and libgcc unwinds by the .eh_frame.
 */
#include <sys/mman.h>
#include <unwind.h>

#include "test.h"
#include "sfjit_trampoline.h"

#define WINDOW	0x10000
#define FRAMES	16

extern void __register_frame(void *begin);
extern void __deregister_frame(void *begin);

struct kind {
	const char *name;
	const unsigned char *code, *sframe, *eh_frame;
	size_t code_size, slot_size, sframe_len, eh_frame_len;
	size_t sframe_start, sframe_size, eh_start, eh_size;
	const unsigned char *packed;
	size_t packed_len, packed_start, packed_size;
};

#define KIND(lower, upper)						\
	{ #lower, lower##_code, lower##_sframe, lower##_eh_frame,	\
	  upper##_CODE_SIZE, upper##_SLOT_SIZE, sizeof(lower##_sframe),	\
	  sizeof(lower##_eh_frame), upper##_SFRAME_START_OFF,		\
	  upper##_SFRAME_SIZE_OFF, upper##_EH_FRAME_START_OFF,		\
	  upper##_EH_FRAME_SIZE_OFF, lower##_packed, upper##_PACKED_SIZE, \
	  upper##_PACKED_START_OFF, upper##_PACKED_SIZE_OFF }

static const struct kind kinds[] = {
	KIND(sfjit_tramp_arg, SFJIT_TRAMP_ARG),
	KIND(sfjit_tramp_slot, SFJIT_TRAMP_SLOT),
	KIND(sfjit_tramp_rbp, SFJIT_TRAMP_RBP),
};

struct window {
	uint8_t *text, *data;
	uint8_t sframe[128], eh_frame[256], packed[256];
};

static bool make_window(struct window *w, const struct kind *k)
{
	uint64_t start, size = WINDOW;
	size_t i;

	w->text = mmap(NULL, 2 * WINDOW, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (w->text == MAP_FAILED)
		return false;
	w->data = w->text + WINDOW;
	for (i = 0; i < WINDOW; i += k->slot_size)
		memcpy(w->text + i, k->code, k->code_size);
	if (mprotect(w->text, WINDOW, PROT_READ | PROT_EXEC))
		return false;
	memcpy(w->sframe, k->sframe, k->sframe_len);
	start = (uintptr_t)w->text - (uintptr_t)(w->sframe + k->sframe_start);
	memcpy(w->sframe + k->sframe_start, &start, 8);
	memcpy(w->sframe + k->sframe_size, &size, 4);
	memcpy(w->eh_frame, k->eh_frame, k->eh_frame_len);
	start = (uintptr_t)w->text;
	memcpy(w->eh_frame + k->eh_start, &start, 8);
	memcpy(w->packed, k->packed, k->packed_len);
	memcpy(w->packed + k->packed_start, &start, 8);
	memcpy(w->packed + k->packed_size, &size, 4);
	memcpy(w->eh_frame + k->eh_size, &size, 8);
	return true;
}

static bool open_sections(const struct window *w, const struct kind *k,
			  struct sfg_output *converted,
			  struct sfg_section *a, struct sfg_section *b,
			  struct sfg_packed *c)
{
	struct sfg_input in = {
		.abi = SFRAME_ABI_AMD64_LE,
		.cfi = { w->eh_frame, k->eh_frame_len,
			 (uintptr_t)w->eh_frame },
	};

	return !sfg_open_section(a, w->sframe, k->sframe_len,
				 (uintptr_t)w->sframe, NULL) &&
	       !sfg_check_section(a, NULL) &&
	       !sfg_convert(&in, converted, NULL, NULL) &&
	       !sfg_open_section(b, converted->data, converted->len, 0, NULL) &&
	       !sfg_open_packed(c, w->packed, k->packed_len, NULL) &&
	       !sfg_check_packed(c, NULL);
}

static bool has_packed_row(const struct sfg_packed *t, uint64_t pc,
			   const struct sfjit_row *want)
{
	struct sfjit_function fde;
	struct sfjit_row row;

	return !sfg_find_packed_row(t, pc, &fde, &row, NULL) &&
	       row.start == want->start && sfg_rows_equal(&row, want);
}

/* The row at each byte of the window, by each table. */
static void test_rows(const struct window *w, const struct kind *k)
{
	struct sfg_output converted = { 0 };
	struct sfg_section a, b;
	struct sfg_packed c;
	struct sfjit_row x, y;
	struct sfjit_function fde;
	size_t i, bad = 0;

	if (!open_sections(w, k, &converted, &a, &b, &c)) {
		result(false, k->name, "tables are not accepted");
		return;
	}
	for (i = 0; i < WINDOW; i++) {
		uint64_t pc = (uintptr_t)w->text + i;

		bad += sfg_find_row(&a, pc, &fde, &x, NULL) ||
		       sfg_find_row(&b, pc, &fde, &y, NULL) ||
		       memcmp(&x, &y, sizeof(x)) || !has_packed_row(&c, pc, &x);
	}
	result(!bad, "tables and .eh_frame agree", "%s: at %zu bytes not",
	       k->name, bad);
	result(a.header.num_fdes == 1 && k->sframe_len <= 59,
	       "one FDE, at most 59 bytes", "%s: %zu bytes", k->name,
	       k->sframe_len);
	free(converted.data);
}

struct trace {
	uintptr_t ip[FRAMES];
	unsigned int nr;
};

static _Unwind_Reason_Code add_frame(struct _Unwind_Context *context,
				     void *arg)
{
	struct trace *t = arg;

	if (t->nr == FRAMES)
		return _URC_END_OF_STACK;
	t->ip[t->nr++] = _Unwind_GetIP(context);
	return _URC_NO_REASON;
}

static __attribute__((noinline)) long callee(struct trace *t)
{
	_Unwind_Backtrace(add_frame, t);
	return 42;
}

typedef long tramp_fn(struct trace *, long, long, long, long, void *);

/* Its own return address shows whether its frame was restored. */
static __attribute__((noinline, optimize("no-omit-frame-pointer")))
long caller(tramp_fn *tramp, struct trace *t, uintptr_t *from)
{
	*from = (uintptr_t)__builtin_return_address(0);
	return tramp(t, 0, 0, 0, 0, callee) + 1;
}

static void test_unwind(struct window *w, const struct kind *k)
{
	size_t slot = 7 * k->slot_size;
	void *target = callee;
	struct trace t = { .nr = 0 };
	uintptr_t from, text = (uintptr_t)w->text;
	long ret;

	memcpy(w->data + slot, &target, sizeof(target));
	__register_frame(w->eh_frame);
	ret = caller((tramp_fn *)(text + slot), &t, &from);
	__deregister_frame(w->eh_frame);
	result(ret == 43, "value comes back", "%s: %ld", k->name, ret);
	result(t.nr > 3 && t.ip[1] > text + slot &&
	       t.ip[1] < text + slot + k->slot_size && t.ip[3] == from,
	       "libgcc unwinds through the slot",
	       "%s: %u frames, %#lx in the slot, %#lx for %#lx", k->name,
	       t.nr, t.nr > 1 ? t.ip[1] : 0, t.nr > 3 ? t.ip[3] : 0, from);
}

int main(void)
{
	struct window w;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(kinds); i++) {
		if (!make_window(&w, &kinds[i])) {
			result(false, kinds[i].name, "no memory");
			continue;
		}
		test_rows(&w, &kinds[i]);
		test_unwind(&w, &kinds[i]);
		munmap(w.text, 2 * WINDOW);
	}
	return finish();
}
