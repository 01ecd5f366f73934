// SPDX-License-Identifier: GPL-2.0
/*
 * /proc/<pid>/sframe: the windows of an address space and why steps through
 * them were refused.
 */
#include <linux/mm.h>
#include <linux/sched/mm.h>
#include <linux/seq_file.h>
#include <linux/sframe.h>

#include "sframe.h"
#include "sframe_packed.h"

/* Positions are text addresses, except for these two. */
#define SFRAME_SEQ_COUNTERS	(LLONG_MAX - 1)
#define SFRAME_SEQ_END		LLONG_MAX

static const char * const sframe_reasons[SFRAME_NR_REASONS] = {
	[SFRAME_REASON_NONE]		= "none",
	[SFRAME_REASON_SECTION_FAULT]	= "section_fault",
	[SFRAME_REASON_STACK_FAULT]	= "stack_fault",
	[SFRAME_REASON_NO_FDE]		= "no_fde",
	[SFRAME_REASON_NO_ROW]		= "no_row",
	[SFRAME_REASON_FDE_ORDER]	= "fde_order",
	[SFRAME_REASON_FDE_RANGE]	= "fde_range",
	[SFRAME_REASON_FDE_TYPE]	= "fde_type",
	[SFRAME_REASON_FRE_OFFSET]	= "fre_offset",
	[SFRAME_REASON_REP_SIZE]	= "rep_size",
	[SFRAME_REASON_ROW_ORDER]	= "row_order",
	[SFRAME_REASON_ROW_WORDS]	= "row_words",
	[SFRAME_REASON_ROW_RULE]	= "row_rule",
	[SFRAME_REASON_ROW_REGISTER]	= "row_register",
	[SFRAME_REASON_CFA_ORDER]	= "cfa_order",
	[SFRAME_REASON_CFA_ALIGN]	= "cfa_align",
	[SFRAME_REASON_BUDGET]		= "budget",
	[SFRAME_REASON_CHANGED]		= "changed",
	[SFRAME_REASON_SIGNAL]		= "signal",
	[SFRAME_REASON_RETURN_ADDRESS]	= "return_address",
	[SFRAME_REASON_RETURN_PROBE]	= "return_probe",
	[SFRAME_REASON_DEADLINE]	= "deadline",
	[SFRAME_REASON_NO_CALLER]	= "no_caller",
	[SFRAME_REASON_FRAME_POINTER]	= "frame_pointer",
};

/*
 * Find the first window that starts at or after *@pos, the end of the last one
 * shown. If a larger window has replaced that one, it starts earlier and is
 * skipped.
 */
static void *sframe_seq_window(struct sframe_registry *reg, loff_t *pos)
{
	MA_STATE(mas, &reg->text, *pos, *pos);
	struct sframe_window *window;

	mas_for_each(&mas, window, ULONG_MAX) {
		if (window->text_start >= *pos)
			return window;
	}
	*pos = SFRAME_SEQ_COUNTERS;
	return SEQ_START_TOKEN;
}

static void *sframe_seq_start(struct seq_file *m, loff_t *pos)
{
	struct sframe_seq *seq = m->private;

	seq->active = false;
	if (!seq->mm || *pos == SFRAME_SEQ_END || !mmget_not_zero(seq->mm))
		return NULL;

	seq->reg = sframe_registry_of(seq->mm);
	if (!seq->reg)
		*pos = SFRAME_SEQ_COUNTERS;
	seq->active = true;
	rcu_read_lock();
	if (*pos == SFRAME_SEQ_COUNTERS)
		return SEQ_START_TOKEN;
	return sframe_seq_window(seq->reg, pos);
}

static void *sframe_seq_next(struct seq_file *m, void *v, loff_t *pos)
{
	struct sframe_seq *seq = m->private;
	struct sframe_window *window = v;

	if (v == SEQ_START_TOKEN) {
		*pos = SFRAME_SEQ_END;
		return NULL;
	}
	*pos = window->text_end;
	return sframe_seq_window(seq->reg, pos);
}

static void sframe_seq_stop(struct seq_file *m, void *v)
{
	struct sframe_seq *seq = m->private;

	if (!seq->active)
		return;
	rcu_read_unlock();
	mmput(seq->mm);
	seq->active = false;
}

/* Show how many walks ended for each reason, and where the last one did. */
void sframe_show_reasons(struct seq_file *m, const struct sframe_registry *reg)
{
	static const struct sframe_counters none;
	const struct sframe_counters *counters = reg ? &reg->counters : &none;
	unsigned int i, last = READ_ONCE(counters->last_reason);

	for (i = SFRAME_REASON_NONE + 1; i < SFRAME_NR_REASONS; i++)
		seq_printf(m, "%s %llu\n", sframe_reasons[i],
			   READ_ONCE(counters->refused[i]));
	seq_printf(m, "last %s %llx\n", sframe_reasons[last],
		   READ_ONCE(counters->last_ip));
}

static int sframe_seq_counters(struct seq_file *m, struct sframe_registry *reg)
{
	seq_printf(m, "windows %u %zu\n", reg ? READ_ONCE(reg->nr) : 0,
		   reg ? sframe_registry_bytes(reg) : 0);
	sframe_show_reasons(m, reg);
	return 0;
}

static int sframe_seq_show(struct seq_file *m, void *v)
{
	struct sframe_seq *seq = m->private;
	struct sframe_window *window = v;

	if (v == SEQ_START_TOKEN)
		return sframe_seq_counters(m, seq->reg);

	seq_printf(m, "%lx-%lx %lx %lx %lx %s %lx\n", window->text_start,
		   window->text_end, window->key, window->section.start,
		   window->section.length,
		   sframe_is_packed(window) ? "packed" : "sframe",
		   window->section.bias - window->section.untag);
	return 0;
}

const struct seq_operations sframe_seq_ops = {
	.start	= sframe_seq_start,
	.next	= sframe_seq_next,
	.stop	= sframe_seq_stop,
	.show	= sframe_seq_show,
};
