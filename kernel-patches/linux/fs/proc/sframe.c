// SPDX-License-Identifier: GPL-2.0
/*
 * /proc/<pid>/sframe. Reading it requires ptrace access: like maps, it reveals
 * addresses.
 */
#include <linux/fs.h>
#include <linux/ptrace.h>
#include <linux/sched/mm.h>
#include <linux/seq_file.h>
#include <linux/sframe.h>

#include "internal.h"

static int proc_sframe_open(struct inode *inode, struct file *file)
{
	struct sframe_seq *seq;
	struct mm_struct *mm;

	mm = proc_mem_open(inode, PTRACE_MODE_READ);
	if (IS_ERR(mm))
		return PTR_ERR(mm);

	seq = __seq_open_private(file, &sframe_seq_ops, sizeof(*seq));
	if (!seq) {
		if (mm)
			mmdrop(mm);
		return -ENOMEM;
	}
	seq->mm = mm;
	return 0;
}

static int proc_sframe_release(struct inode *inode, struct file *file)
{
	struct seq_file *m = file->private_data;
	struct sframe_seq *seq = m->private;

	if (seq->mm)
		mmdrop(seq->mm);
	return seq_release_private(inode, file);
}

const struct file_operations proc_sframe_operations = {
	.open		= proc_sframe_open,
	.read_iter	= seq_read_iter,
	.llseek		= seq_lseek,
	.release	= proc_sframe_release,
};
