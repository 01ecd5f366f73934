// SPDX-License-Identifier: GPL-2.0
// SPDX-FileCopyrightText: 2026 The sfjit authors
/*
 * /proc/sfjit has the contents of /proc/PID/sframe on a kernel with the series,
 * for the process that opens it, or for the PID that is written to it. Also the
 * sysctls of the series.
 */
#include <linux/pid.h>
#include <linux/proc_fs.h>
#include <linux/ptrace.h>
#include <linux/sched/mm.h>
#include <linux/seq_file.h>
#include <linux/sysctl.h>

#include "series.h"
#include "sfjit.h"
#include "target.h"

/**
 * struct sfjit_file - an open file
 * @seq:	of the series; its address space is @none until an entry exists
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

/* Takes the reference to @mm, which may be NULL. */
static void sfjit_proc_put(struct sfjit_file *file, struct mm_struct *mm)
{
	if (file->seq.mm && file->seq.mm != &file->none)
		sfjit_mm_put(file->seq.mm);
	if (file->none.mm)
		mmdrop(file->none.mm);
	file->none.mm = mm;
	file->seq.mm = mm ? &file->none : NULL;
}

/* The address space of a process, if current may inspect it; NULL if none. */
static struct mm_struct *sfjit_proc_access(pid_t nr)
{
	struct pid *pid = find_get_pid(nr);
	struct task_struct *task = get_pid_task(pid, PIDTYPE_PID);
	struct mm_struct *mm;

	put_pid(pid);
	if (!task)
		return ERR_PTR(-ESRCH);
	mm = sfjit_mm_access(task, PTRACE_MODE_READ_FSCREDS);
	put_task_struct(task);
	if (!IS_ERR_OR_NULL(mm)) {
		mmgrab(mm);
		mmput(mm);
	}
	return mm;
}

/* A privileged program may have inherited the file as its output. */
static ssize_t sfjit_proc_write(struct file *file, const char __user *text,
				size_t size, loff_t *pos)
{
	struct seq_file *m = file->private_data;
	struct mm_struct *mm;
	int nr, ret;

	if (file->f_cred != current_cred())
		return -EPERM;
	ret = kstrtoint_from_user(text, size, 10, &nr);
	if (ret)
		return ret;
	mm = sfjit_proc_access(nr);
	if (IS_ERR(mm))
		return PTR_ERR(mm);
	mutex_lock(&m->lock);
	sfjit_proc_put(m->private, mm);
	mutex_unlock(&m->lock);
	return size;
}

static int sfjit_proc_open(struct inode *inode, struct file *file)
{
	struct sfjit_file *ours;

	ours = __seq_open_private(file, &sfjit_seq_ops, sizeof(*ours));
	if (!ours)
		return -ENOMEM;
	if (current->mm)
		mmgrab(current->mm);
	sfjit_proc_put(ours, current->mm);
	return 0;
}

static int sfjit_proc_release(struct inode *inode, struct file *file)
{
	struct seq_file *m = file->private_data;

	sfjit_proc_put(m->private, NULL);
	return seq_release_private(inode, file);
}

static const struct proc_ops sfjit_proc_ops = {
	.proc_open	= sfjit_proc_open,
	.proc_read	= seq_read,
	.proc_write	= sfjit_proc_write,
	.proc_lseek	= seq_lseek,
	.proc_release	= sfjit_proc_release,
};

/* Kernels before 6.6 need an empty entry at the end. */
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
	return proc_create("sfjit", 0666, NULL, &sfjit_proc_ops) ? 0 : -ENOMEM;
}

void sfjit_proc_exit(void)
{
	while (sfjit_nr_tables)
		unregister_sysctl_table(sfjit_headers[--sfjit_nr_tables]);
	remove_proc_entry("sfjit", NULL);
}
