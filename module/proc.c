// SPDX-License-Identifier: GPL-2.0
// SPDX-FileCopyrightText: 2026 The sfjit authors
/*
 * /proc/sfjit, the windows of the process that opens it, as /proc/PID/sframe of
 * a kernel with the series has them; and the sysctls of the series.
 */
#include <linux/proc_fs.h>
#include <linux/seq_file.h>
#include <linux/sysctl.h>

#include "series.h"
#include "sfjit.h"

/**
 * struct sfjit_file - an open file
 * @seq:	of the series; its address space is @none until there is an entry
 * @none:	stands for the address space before its first registration
 */
struct sfjit_file {
	struct sframe_seq	seq;
	struct sfjit_mm		none;
};

static void sfjit_proc_find(struct sfjit_file *file)
{
	if (file->seq.mm == &file->none)
		file->seq.mm = sfjit_mm_get(file->none.mm) ?: &file->none;
}

static void *sfjit_proc_start(struct seq_file *m, loff_t *pos)
{
	sfjit_proc_find(m->private);
	return sframe_seq_ops.start(m, pos);
}

static struct seq_operations sfjit_seq_ops;

static int sfjit_proc_open(struct inode *inode, struct file *file)
{
	struct mm_struct *mm = current->mm;
	struct sfjit_file *ours;

	ours = __seq_open_private(file, &sfjit_seq_ops, sizeof(*ours));
	if (!ours)
		return -ENOMEM;
	if (mm) {
		mmgrab(mm);
		ours->none.mm = mm;
		ours->seq.mm = &ours->none;
	}
	return 0;
}

static int sfjit_proc_release(struct inode *inode, struct file *file)
{
	struct seq_file *m = file->private_data;
	struct sfjit_file *ours = m->private;

	if (ours->seq.mm && ours->seq.mm != &ours->none)
		sfjit_mm_put(ours->seq.mm);
	if (ours->none.mm)
		mmdrop(ours->none.mm);
	return seq_release_private(inode, file);
}

static const struct proc_ops sfjit_proc_ops = {
	.proc_open	= sfjit_proc_open,
	.proc_read	= seq_read,
	.proc_lseek	= seq_lseek,
	.proc_release	= sfjit_proc_release,
};

/* With an empty one at the end, which kernels before 6.6 look for. */
static struct ctl_table sfjit_tables[2][2];
static struct ctl_table_header *sfjit_headers[2];
static unsigned int sfjit_nr_tables;

/* Called instead of register_sysctl_init(), which cannot be undone. */
int sfjit_sysctl_add(const char *path, const struct ctl_table *table,
		     size_t nr)
{
	struct ctl_table *copy = sfjit_tables[sfjit_nr_tables];
	struct ctl_table_header *header;

	if (nr != 1 || sfjit_nr_tables == ARRAY_SIZE(sfjit_tables))
		return -EINVAL;
	*copy = *table;
	header = register_sysctl_sz(path, copy, 1);
	if (!header)
		return -ENOMEM;
	sfjit_headers[sfjit_nr_tables++] = header;
	return 0;
}

int sfjit_proc_init(void)
{
	sfjit_seq_ops = sframe_seq_ops;
	sfjit_seq_ops.start = sfjit_proc_start;
	return proc_create("sfjit", 0444, NULL, &sfjit_proc_ops) ? 0 : -ENOMEM;
}

void sfjit_proc_exit(void)
{
	while (sfjit_nr_tables)
		unregister_sysctl_table(sfjit_headers[--sfjit_nr_tables]);
	remove_proc_entry("sfjit", NULL);
}
