// SPDX-License-Identifier: GPL-2.0
/*
 * Packed tables for files. A privileged process adds tables to a descriptor.
 * Walks of all processes use them for all mappings of these files until the
 * descriptor is closed.
 *
 * The kernel copies a table and checks all of it when it is added, so a step
 * reads no user memory for it. mmap(), fork() and exit need no hook, and an
 * address space holds no state: a walk looks up the mapping of an address, then
 * the file of the mapping.
 *
 * A file is identified by device, inode number and generation. The kernel holds
 * no reference to it, so its file system can be unmounted, and denies no write:
 * a table is used only while size and times of the file are those recorded when
 * the table was added.
 */
#include <linux/anon_inodes.h>
#include <linux/capability.h>
#include <linux/cleanup.h>
#include <linux/err.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/kdev_t.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/rhashtable.h>
#include <linux/sched.h>
#include <linux/seq_file.h>
#include <linux/sframe.h>
#include <linux/slab.h>
#include <linux/timekeeping.h>
#include <linux/uaccess.h>
#include <linux/vmalloc.h>
#include <linux/xarray.h>

#include "sframe.h"
#include "sframe_packed.h"

/* More than the rows of any text take. */
#define SFRAME_MAX_TABLE	INT_MAX

struct sframe_file_key {
	u64	ino;
	u32	dev;
	u32	generation;
};

/* Each change of a file's contents changes size or times. */
struct sframe_file_stamp {
	loff_t			size;
	struct timespec64	mtime;
	struct timespec64	ctime;
	unsigned int		nlink;
};

/**
 * struct sframe_file - a table for some text of a file
 * @node:	in sframe_files
 * @key:	identity of the file
 * @stamp:	of the file when the table was added
 * @window:	with the table; its packed.text_start is an offset in the file
 * @rcu:	frees this structure and @table
 * @table:	the table
 * @length:	its length
 * @changed:	a lookup found another stamp; only a hint
 */
struct sframe_file {
	struct rhlist_head	node;
	struct sframe_file_key	key;
	struct sframe_file_stamp stamp;
	struct sframe_window	window;
	struct rcu_head		rcu;
	void			*table;
	unsigned long		length;
	bool			changed;
};

/**
 * struct sframe_file_set - the tables of a descriptor
 * @lock:	protects the other members
 * @files:	struct sframe_file by id
 * @nr:		number of @files
 * @bytes:	total size of their tables
 */
struct sframe_file_set {
	struct mutex		lock;	/* for this set */
	struct xarray		files;
	unsigned long		nr;
	u64			bytes;
};

static const struct rhashtable_params sframe_files_params = {
	.key_len		= sizeof(struct sframe_file_key),
	.key_offset		= offsetof(struct sframe_file, key),
	.head_offset		= offsetof(struct sframe_file, node),
	.automatic_shrinking	= true,
};

static struct rhltable sframe_files;

/* Serializes changes of sframe_files; nests inside the lock of a set. */
static DEFINE_MUTEX(sframe_files_lock);

/* Open descriptors. */
atomic_t sframe_nr_file_sets __read_mostly = ATOMIC_INIT(0);
u64 sframe_files_seq __read_mostly;

static int __init sframe_files_init(void)
{
	return rhltable_init(&sframe_files, &sframe_files_params);
}
subsys_initcall(sframe_files_init);

/* --- look-up --------------------------------------------------------------- */

static struct sframe_file_key sframe_file_key(const struct inode *inode)
{
	return (struct sframe_file_key){
		.ino = inode->i_ino,
		.dev = inode->i_sb->s_dev,
		.generation = inode->i_generation,
	};
}

static struct sframe_file_stamp sframe_file_stamp(const struct inode *inode)
{
	return (struct sframe_file_stamp){
		.size = i_size_read(inode),
		.mtime = inode_get_mtime(inode),
		.ctime = inode_get_ctime(inode),
		.nlink = inode->i_nlink,
	};
}

/*
 * Is the file unchanged since the table was added? A new or removed hard link
 * also changes the ctime, as in a package upgrade or perf's build-id cache. So
 * ignore the ctime if the number of links differs.
 */
static bool sframe_is_stamped(struct sframe_file *file,
			      const struct sframe_file_stamp *now)
{
	if (likely(now->size == file->stamp.size &&
		   timespec64_equal(&now->mtime, &file->stamp.mtime) &&
		   (timespec64_equal(&now->ctime, &file->stamp.ctime) ||
		    now->nlink != file->stamp.nlink)))
		return true;
	WRITE_ONCE(file->changed, true);
	return false;
}

static bool sframe_file_has(const struct sframe_file *file, u64 offset)
{
	return offset - file->window.packed.text_start <
	       file->window.packed.text_length;
}

/*
 * Find the table for an offset in a file. Return: the table or NULL. @others is
 * set if the file has any table.
 */
static struct sframe_file *sframe_file_find(const struct inode *inode,
					    u64 offset, bool *others)
{
	const struct sframe_file_key key = sframe_file_key(inode);
	const struct sframe_file_stamp stamp = sframe_file_stamp(inode);
	struct rhlist_head *list, *at;
	struct sframe_file *file;

	list = rhltable_lookup(&sframe_files, &key, sframe_files_params);
	*others = list;
	rhl_for_each_entry_rcu(file, at, list, node)
		if (sframe_file_has(file, offset) &&
		    sframe_is_stamped(file, &stamp))
			return file;
	return NULL;
}

/* The members of a mapping that a look-up reads. */
struct sframe_mapping {
	unsigned long	start;
	unsigned long	end;
	unsigned long	flags;
	unsigned long	bias;
	struct file	*file;
};

static struct sframe_mapping
sframe_read_mapping(const struct vm_area_struct *vma)
{
	struct sframe_mapping map = {
		.start = READ_ONCE(vma->vm_start),
		.end = READ_ONCE(vma->vm_end),
		.flags = READ_ONCE(vma->vm_flags),
		.file = READ_ONCE(vma->vm_file),
	};

	map.bias = map.start - (READ_ONCE(vma->vm_pgoff) << PAGE_SHIFT);
	return map;
}

/* Find the table for @ip in a mapping, and the range with the same answer. */
static struct sframe_range sframe_map_lookup(const struct sframe_mapping *map,
					     unsigned long ip)
{
	struct sframe_range range = {
		.first = map->start, .last = map->end - 1, .bias = map->bias,
	};
	const struct inode *inode;
	struct sframe_file *file;
	unsigned long start;
	bool others;

	if (!map->file || !(map->flags & VM_EXEC))
		return range;
	inode = READ_ONCE(map->file->f_inode);
	if (!inode)
		return range;
	file = sframe_file_find(inode, ip - map->bias, &others);
	if (file) {
		start = map->bias + file->window.packed.text_start;
		range.window = &file->window;
		range.first = max(range.first, start);
		range.last = min(range.last,
				 start + file->window.packed.text_length - 1);
	} else if (others) {
		range.first = ip;
		range.last = ip;
	}
	return range;
}

/**
 * sframe_file_lookup - find the table of the file that an address is mapped from
 * @range:	addresses around @ip that no window of current covers; narrowed
 * @ip:		the address
 *
 * A sample cannot take a lock, so the mapping may change or go away while it is
 * read. Before the end of a grace period, the memory of a VMA or file is reused
 * only for another one, and an inode is not freed. A writer stores the limits
 * of a mapping first, then its offset, then updates the tree. So if both reads
 * agree with each other and with the tree, they show a mapping that existed.
 *
 * Context: Any, in an RCU read-side critical section.
 */
void sframe_file_lookup(struct sframe_range *range, unsigned long ip)
{
	struct mm_struct *mm = current->mm;
	struct sframe_mapping map, again;
	struct vm_area_struct *vma;
	struct sframe_range found;

	MA_STATE(mas, &mm->mm_mt, ip, ip);

	vma = mas_walk(&mas);
	if (!vma) {
		range->first = max(range->first, mas.index);
		range->last = min(range->last, mas.last);
		return;
	}
	map = sframe_read_mapping(vma);
	/* Read the mapping, then its file, then the mapping again. */
	smp_rmb();
	found = sframe_map_lookup(&map, ip);
	/* As above. */
	smp_rmb();
	again = sframe_read_mapping(vma);
	if (memcmp(&map, &again, sizeof(map)) || map.start != mas.index ||
	    map.end - 1 != mas.last)
		found = (struct sframe_range){ .first = ip, .last = ip };

	range->window = found.window;
	range->bias = found.bias;
	range->first = max(range->first, found.first);
	range->last = min(range->last, found.last);
}

/* --- changes ---------------------------------------------------------------- */

static void sframe_file_free(struct sframe_file *file)
{
	kvfree(file->table);
	kfree(file);
}

static void sframe_file_free_rcu(struct rcu_head *rcu)
{
	sframe_file_free(container_of(rcu, struct sframe_file, rcu));
}

/* A walk that misses the count is in an RCU section: the free waits for it. */
static void sframe_file_retire(struct sframe_file *file)
{
	scoped_guard(mutex, &sframe_files_lock) {
		rhltable_remove(&sframe_files, &file->node, sframe_files_params);
		/* Count it after its removal, see sframe_read_files_seq(). */
		smp_store_release(&sframe_files_seq, sframe_files_seq + 1);
	}
	call_rcu(&file->rcu, sframe_file_free_rcu);
}

/* Does a table that is valid for the same file contents overlap @new? */
static bool sframe_file_overlaps(const struct sframe_file *new)
{
	const struct sframe_packed *text = &new->window.packed;
	struct rhlist_head *list, *at;
	struct sframe_file *file;

	guard(rcu)();
	list = rhltable_lookup(&sframe_files, &new->key, sframe_files_params);
	rhl_for_each_entry_rcu(file, at, list, node)
		if (sframe_is_stamped(file, &new->stamp) &&
		    (sframe_file_has(file, text->text_start) ||
		     sframe_file_has(new, file->window.packed.text_start)))
			return true;
	return false;
}

static int sframe_file_publish(struct sframe_file *file)
{
	guard(mutex)(&sframe_files_lock);
	if (sframe_file_overlaps(file))
		return -EEXIST;
	return rhltable_insert(&sframe_files, &file->node, sframe_files_params);
}

/*
 * Is the file unchanged since the caller read it? File times are as coarse as a
 * tick: two writes within a tick leave the same times.
 */
static bool sframe_is_settled(const struct sframe_file_stamp *stamp,
			      const struct sframe_file_opts *opts)
{
	struct timespec64 now, age;

	if (stamp->ctime.tv_sec != opts->ctime ||
	    stamp->ctime.tv_nsec != opts->ctime_nsec)
		return false;
	ktime_get_coarse_real_ts64(&now);
	age = timespec64_sub(now, stamp->ctime);
	return timespec64_to_ns(&age) > 2 * TICK_NSEC;
}

/* Identify the file and check that it contains the text. */
static int sframe_file_identify(struct sframe_file *file,
				const struct sframe_file_opts *opts)
{
	const struct sframe_packed *text = &file->window.packed;
	struct file *opened __free(fput) = fget(opts->fd);
	const struct inode *inode;
	loff_t size;

	if (!opened || !(opened->f_mode & FMODE_READ))
		return -EBADF;
	/* On overlayfs, mappings have the inode of the underlying file. */
	inode = d_real_inode(opened->f_path.dentry);
	if (!S_ISREG(inode->i_mode))
		return -EINVAL;
	file->key = sframe_file_key(inode);
	file->stamp = sframe_file_stamp(inode);
	size = file->stamp.size;
	if (!text->text_length || text->text_start >= size ||
	    text->text_length > size - text->text_start)
		return -EINVAL;
	return sframe_is_settled(&file->stamp, opts) ? 0 : -EAGAIN;
}

/* kvmalloc() would take kmalloc()'s next power of two for most tables. */
static void *sframe_file_alloc(unsigned long length)
{
	gfp_t gfp = GFP_KERNEL_ACCOUNT | __GFP_NOWARN;

	return length > PAGE_SIZE ? __vmalloc(length, gfp) : kmalloc(length, gfp);
}

static int sframe_file_read(struct sframe_file *file,
			    const struct sframe_file_opts *opts)
{
	if (opts->length > SFRAME_MAX_TABLE)
		return -E2BIG;
	file->length = opts->length;
	file->table = sframe_file_alloc(file->length);
	if (!file->table)
		return -ENOMEM;
	if (copy_from_user(file->table, u64_to_user_ptr(opts->table),
			   file->length))
		return -EFAULT;
	file->window.format = SFRAME_FORMAT_PACKED;
	file->window.copied = true;
	return sframe_check_copy(&file->window.packed, file->table,
				 file->length, opts->text_bias);
}

static int sframe_read_file_opts(struct sframe_file_opts *opts,
				 const void __user *from)
{
	int ret = sframe_copy_opts(opts, sizeof(*opts),
				   SFRAME_FILE_OPTS_SIZE_VER0, from);

	if (ret)
		return ret;
	return opts->reserved ? -EINVAL : 0;
}

static int sframe_files_hold(struct sframe_file_set *set,
			     struct sframe_file *file)
{
	u32 id;
	int ret;

	guard(mutex)(&set->lock);
	ret = xa_alloc(&set->files, &id, file, XA_LIMIT(1, INT_MAX),
		       GFP_KERNEL_ACCOUNT);
	if (ret)
		return ret;
	ret = sframe_file_publish(file);
	if (ret) {
		xa_erase(&set->files, id);
		return ret;
	}
	set->nr++;
	set->bytes += file->length;
	return id;
}

static int sframe_files_add(struct sframe_file_set *set,
			    const void __user *from)
{
	struct sframe_file_opts opts;
	struct sframe_file *file;
	int ret;

	ret = sframe_read_file_opts(&opts, from);
	if (ret)
		return ret;
	file = kzalloc_obj(*file, GFP_KERNEL_ACCOUNT);
	if (!file)
		return -ENOMEM;
	ret = sframe_file_read(file, &opts);
	if (ret)
		goto free;
	ret = sframe_file_identify(file, &opts);
	if (ret)
		goto free;
	ret = sframe_files_hold(set, file);
	if (ret > 0)
		return ret;
free:
	sframe_file_free(file);
	return ret;
}

static int sframe_files_remove(struct sframe_file_set *set, unsigned long id)
{
	struct sframe_file *file;

	guard(mutex)(&set->lock);
	file = xa_erase(&set->files, id);
	if (!file)
		return -ENOENT;
	set->nr--;
	set->bytes -= file->length;
	sframe_file_retire(file);
	return 0;
}

/* --- the descriptor --------------------------------------------------------- */

static long sframe_files_ioctl(struct file *file, unsigned int command,
			       unsigned long arg)
{
	struct sframe_file_set *set = file->private_data;

	/* Check the caller: it may have been passed the descriptor. */
	if (!perfmon_capable())
		return -EPERM;
	switch (command) {
	case SFRAME_IOC_ADD:
		return sframe_files_add(set, (const void __user *)arg);
	case SFRAME_IOC_REMOVE:
		return sframe_files_remove(set, arg);
	}
	return -ENOTTY;
}

static struct sframe_file_set *sframe_files_alloc(void)
{
	struct sframe_file_set *set = kzalloc_obj(*set, GFP_KERNEL_ACCOUNT);

	if (!set)
		return NULL;
	mutex_init(&set->lock);
	xa_init_flags(&set->files, XA_FLAGS_ALLOC | XA_FLAGS_ACCOUNT);
	atomic_inc(&sframe_nr_file_sets);
	return set;
}

static void sframe_files_free(struct sframe_file_set *set)
{
	atomic_dec(&sframe_nr_file_sets);
	kfree(set);
}

static int sframe_files_release(struct inode *inode, struct file *file)
{
	struct sframe_file_set *set = file->private_data;
	struct sframe_file *entry;
	unsigned long id;

	xa_for_each(&set->files, id, entry) {
		sframe_file_retire(entry);
		cond_resched();
	}
	xa_destroy(&set->files);
	sframe_files_free(set);
	return 0;
}

#ifdef CONFIG_PROC_FS
static void sframe_file_show(struct seq_file *m, unsigned long id,
			     const struct sframe_file *file)
{
	const struct sframe_packed *text = &file->window.packed;

	seq_printf(m, "table %lu %02x:%02x %llu %lx-%lx %lu %s\n", id,
		   MAJOR(file->key.dev), MINOR(file->key.dev), file->key.ino,
		   text->text_start, text->text_start + text->text_length,
		   file->length,
		   READ_ONCE(file->changed) ? "changed" : "current");
}

static void sframe_files_show(struct seq_file *m, struct file *file)
{
	struct sframe_file_set *set = file->private_data;
	struct sframe_file *entry;
	unsigned long id;

	sframe_show_reasons(m, &sframe_no_windows);
	guard(mutex)(&set->lock);
	seq_printf(m, "tables %lu %llu\n", set->nr, set->bytes);
	xa_for_each(&set->files, id, entry)
		sframe_file_show(m, id, entry);
}
#endif

static const struct file_operations sframe_files_ops = {
	.owner		= THIS_MODULE,
	.release	= sframe_files_release,
	.unlocked_ioctl	= sframe_files_ioctl,
	.compat_ioctl	= compat_ptr_ioctl,
#ifdef CONFIG_PROC_FS
	.show_fdinfo	= sframe_files_show,
#endif
};

/**
 * sframe_files_open - create a descriptor for tables of files
 *
 * Return: the descriptor, or a negative error.
 */
int sframe_files_open(void)
{
	struct sframe_file_set *set;
	int fd;

	if (!perfmon_capable())
		return -EPERM;
	set = sframe_files_alloc();
	if (!set)
		return -ENOMEM;
	fd = anon_inode_getfd("[sframe_files]", &sframe_files_ops, set,
			      O_RDWR | O_CLOEXEC);
	if (fd < 0)
		sframe_files_free(set);
	return fd;
}
