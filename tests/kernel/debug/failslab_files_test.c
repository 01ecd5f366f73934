// SPDX-License-Identifier: GPL-2.0
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Every allocation and every copy from user memory in the paths of tables of
 * files fails in turn, by /proc/thread-self/fail-nth: then no table is left.
 * Leaks are looked for when the guest ends.
 */
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/stat.h>

#include "harness.h"

#include "failing.h"
#include "pool.h"
#include "packed.h"

FIXTURE(fail_files)
{
	struct table	*table;
	int		tables;
	int		file;
	unsigned int	enomem;
	unsigned int	efault;
};

struct file_op {
	int				(*run)(struct file_op *op);
	int				tables;
	int				id;
	struct sframe_file_opts		opts;
};

static int run_file_op(void *arg)
{
	struct file_op *op = arg;

	return op->run(op);
}

static int do_open(struct file_op *op)
{
	int fd = prctl(PR_SFRAME_FILES, 0, 0, 0, 0);

	return fd < 0 ? -errno : close(fd);
}

static int do_remove(struct file_op *op)
{
	return ioctl(op->tables, SFRAME_IOC_REMOVE, op->id) ? -errno : 0;
}

static int do_add(struct file_op *op)
{
	op->id = ioctl(op->tables, SFRAME_IOC_ADD, &op->opts);
	return op->id < 0 ? -errno : do_remove(op);
}

FIXTURE_SETUP(fail_files)
{
	if (!sft_may_fail())
		SKIP(return, "kernel without fault injection");
	self->tables = prctl(PR_SFRAME_FILES, 0, 0, 0, 0);
	if (self->tables < 0)
		SKIP(return, "the kernel has no CONFIG_UNWIND_USER_SFRAME_FILES");
	self->table = sft_map(sizeof(*self->table), SFT_RW);
	ASSERT_NE(NULL, self->table);
	build(self->table, NULL);
	self->file = memfd_create("text", MFD_CLOEXEC);
	ASSERT_LE(0, self->file);
	ASSERT_EQ(0, ftruncate(self->file, NR_BUCKETS * BUCKET));
}

FIXTURE_TEARDOWN(fail_files)
{
	close(self->file);
	close(self->tables);
	munmap(self->table, sizeof(*self->table));
}

static bool has_table(int tables)
{
	char path[64], line[256];
	bool has = false;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", tables);
	file = fopen(path, "r");
	while (file && fgets(line, sizeof(line), file))
		has |= !strncmp(line, "table ", 6);
	if (file)
		fclose(file);
	return has || !file;
}

/* Take each chance of @op. Whether it fails or not, no table is left. */
static void sweep_files(struct __test_metadata *_metadata,
			FIXTURE_DATA(fail_files) *self, struct file_op *op)
{
	unsigned int nth;
	bool had = true;
	int ret;

	for (nth = 1; had; nth++) {
		ASSERT_GT(SFT_MOST_CHANCES, nth);
		had = sft_had_chance(run_file_op, op, nth, &ret);
		ASSERT_TRUE(!ret || (had && (ret == -ENOMEM || ret == -EFAULT)));
		self->enomem += ret == -ENOMEM;
		self->efault += ret == -EFAULT;
		ASSERT_FALSE(has_table(self->tables));
	}
	TH_LOG("%u chances, %u ENOMEM, %u EFAULT", nth - 2, self->enomem,
	       self->efault);
}

TEST_F(fail_files, open)
{
	struct file_op op = { .run = do_open };

	sweep_files(_metadata, self, &op);
	EXPECT_LE(1, self->enomem);
}

TEST_F(fail_files, add)
{
	struct file_op op = {
		.run = do_add,
		.tables = self->tables,
		.opts = {
			.size = sizeof(op.opts),
			.fd = self->file,
			.table = (uintptr_t)self->table,
			.length = TABLE_LEN,
		},
	};
	struct stat st;
	int ret;

	ASSERT_EQ(0, fstat(self->file, &st));
	op.opts.ctime = st.st_ctim.tv_sec;
	op.opts.ctime_nsec = st.st_ctim.tv_nsec;
	/* Until the file's last change is old enough. */
	do
		ret = do_add(&op);
	while (ret == -EAGAIN && !sched_yield());
	ASSERT_EQ(0, ret);
	sweep_files(_metadata, self, &op);
	/* The table and what describes it; the options and the table. */
	EXPECT_LE(2, self->enomem);
	EXPECT_LE(2, self->efault);
}

TEST_HARNESS_MAIN
