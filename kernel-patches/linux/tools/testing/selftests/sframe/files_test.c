// SPDX-License-Identifier: GPL-2.0
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Packed tables of files: stacks in a process that does nothing for them, ways
 * to end the use of a table, and invalid tables and arguments.
 */
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "harness.h"

#include "pool.h"
#include "packed.h"

/* The code is on the second page of the file. */
#define OFFSET		SFT_PAGE
#define FILE_SIZE	(SFT_PAGE + SFT_POOL_TEXT)

#define NOBODY		65534

/* Samples while another thread changes the mapping. */
#define NR_SPLIT	500

static int result(long ret)
{
	return ret < 0 ? -errno : ret;
}

static int open_tables(void)
{
	return result(prctl(PR_SFRAME_FILES, 0, 0, 0, 0));
}

/* Create a file with the trampolines; -1 on failure. */
static int make_file(const char *path)
{
	const int flags = O_RDWR | O_CREAT | O_EXCL;
	int fd = path ? open(path, flags, 0755) : memfd_create("text", 0);
	unsigned int i;

	if (fd < 0 || ftruncate(fd, FILE_SIZE))
		return -1;
	for (i = 0; i < NR_SLOTS; i++)
		if (pwrite(fd, sft_slot_arg.code, SFT_SLOT,
			   OFFSET + i * SFT_SLOT) != SFT_SLOT)
			return -1;
	return fd;
}

static void *map_file(int fd, void *at, size_t size, off_t offset)
{
	void *mem = mmap(at, size, SFT_RX,
			 MAP_PRIVATE | (at ? MAP_FIXED : 0), fd, offset);

	return mem == MAP_FAILED ? NULL : mem;
}

static int add_table(int tables, int fd, const struct table *table, size_t len)
{
	struct sframe_file_opts opts = {
		.size = sizeof(opts),
		.fd = fd,
		.table = (uintptr_t)table,
		.length = len,
		.text_bias = OFFSET,
	};
	struct stat st;

	if (!fstat(fd, &st)) {
		opts.ctime = st.st_ctim.tv_sec;
		opts.ctime_nsec = st.st_ctim.tv_nsec;
	}
	return result(ioctl(tables, SFRAME_IOC_ADD, &opts));
}

/* The same, but retry until the file's last change is old enough. */
static int add_settled(int tables, int fd, const struct table *table)
{
	int ret;

	do
		ret = add_table(tables, fd, table, TABLE_LEN);
	while (ret == -EAGAIN && !sched_yield());
	return ret;
}

static int must_add(struct __test_metadata *_metadata, int tables, int fd,
		    const struct table *table)
{
	const int id = add_settled(tables, fd, table);

	EXPECT_LT(0, id);
	return id;
}

static int remove_table(int tables, long id)
{
	return result(ioctl(tables, SFRAME_IOC_REMOVE, id));
}

/* Mount an empty file system for this process only, and enter it. */
static bool enter_mount(void)
{
	char dir[] = "/tmp/sframe.XXXXXX";

	return !unshare(CLONE_NEWNS) &&
	       !mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) &&
	       mkdtemp(dir) && !mount("none", dir, "tmpfs", 0, NULL) &&
	       !chdir(dir);
}

FIXTURE(files)
{
	struct sft_pool	pool;
	struct table	*table;
	__u8		*file;		/* where it is mapped */
	int		tables;
	int		fd;
};

FIXTURE_VARIANT(files)
{
	bool	defer;
};

FIXTURE_VARIANT_ADD(files, fp) { .defer = false };
FIXTURE_VARIANT_ADD(files, defer) { .defer = true };

FIXTURE_SETUP(files)
{
	if (sft_missing())
		SKIP(return, "%s", sft_missing());
	self->tables = open_tables();
	if (self->tables == -EINVAL)
		SKIP(return, "the kernel has no CONFIG_UNWIND_USER_SFRAME_FILES");
	ASSERT_LE(0, self->tables);
	self->fd = make_file(NULL);
	ASSERT_LE(0, self->fd);
	self->file = map_file(self->fd, NULL, FILE_SIZE, 0);
	ASSERT_NE(NULL, self->file);
	self->table = sft_map(sizeof(*self->table), SFT_RW);
	ASSERT_NE(NULL, self->table);
	/* Address 0 of the table is the second page of the file. */
	build(self->table, NULL);
	self->pool.text = self->file + OFFSET;
	self->pool.call.entry = self->pool.text + SFT_SLOT;
	self->pool.call.target = sft_leaf;
	ASSERT_EQ(0, sft_register_callees());
}

FIXTURE_TEARDOWN(files)
{
}

#define ADD()	must_add(_metadata, self->tables, self->fd, self->table)
#define EXPECT_GOOD()							\
	sft_pool_good(_metadata, &self->pool.call, variant->defer)
#define EXPECT_WITHOUT()						\
	expect_without(_metadata, &self->pool.call, variant->defer)
#define EXPECT_BAD(len)							\
	EXPECT_EQ(-EINVAL, add_table(self->tables, self->fd, self->table, len))

/* No table is used, so the walk by frame pointer loses the caller. */
static void expect_without(struct __test_metadata *_metadata,
			   const struct sft_call *call, bool defer)
{
	const __u64 ip = sft_pool_ip(call);
	struct sft_chain chain;

	ASSERT_EQ(0, sft_chain_at((void *)ip, defer, call, &chain));
	EXPECT_CHAIN(&chain, ip, SFT_SLOT_LOST);
}

/* ---- Stacks ------------------------------------------------------------ */

/* Guards against: using the rule of a neighbouring instruction. */
TEST_F(files, each_instruction)
{
	const struct sft_call *call = &self->pool.call;
	const __u8 *text = call->entry;
	struct sft_chain chain;
	unsigned int i;

	ADD();
	for (i = 0; i < sft_nr_insns(&sft_slot_arg); i++) {
		const __u8 *ip = text + sft_slot_arg.insns[i];

		ASSERT_EQ(0, sft_chain_at(ip, variant->defer, call, &chain));
		EXPECT_CHAIN(&chain, (uintptr_t)ip, SFT_CALLERS);
	}
	ASSERT_EQ(0, sft_chain_at(sft_leaf_body, variant->defer, call, &chain));
	EXPECT_CHAIN(&chain, (uintptr_t)sft_leaf_body,
		     (uintptr_t)text + SFT_POOL_RET, SFT_CALLERS);
	EXPECT_EQ(SFT_CALLEES, sft_windows());
}

/* Guards against: using a table only in earlier mappings, or only in later. */
TEST_F(files, mapped_later)
{
	EXPECT_WITHOUT();
	ADD();
	EXPECT_GOOD();
	munmap(self->file, FILE_SIZE);
	ASSERT_EQ(self->file, map_file(self->fd, self->file, FILE_SIZE, 0));
	EXPECT_GOOD();
	close(self->fd);
	EXPECT_GOOD();
}

/* Guards against: computing addresses from another mapping of the file. */
TEST_F(files, mapped_elsewhere)
{
	__u8 *twice = map_file(self->fd, NULL, SFT_POOL_TEXT, OFFSET);

	ASSERT_NE(NULL, twice);
	ADD();
	self->pool.call.entry = twice + SFT_SLOT;
	EXPECT_GOOD();
	/* A page from the middle of the first mapping moves here. */
	ASSERT_EQ(twice, mremap(self->file + OFFSET, SFT_PAGE, SFT_PAGE,
				MREMAP_MAYMOVE | MREMAP_FIXED, twice));
	EXPECT_GOOD();
	/* The file is mapped, but the table does not cover this page. */
	ASSERT_NE(NULL, map_file(self->fd, twice, SFT_PAGE, 0));
	ASSERT_EQ(0, mprotect(twice, SFT_PAGE, SFT_RW));
	memcpy(twice, sft_slot_arg.code, SFT_SLOT);
	memcpy(twice + SFT_SLOT, sft_slot_arg.code, SFT_SLOT);
	ASSERT_EQ(0, mprotect(twice, SFT_PAGE, SFT_RX));
	EXPECT_WITHOUT();
}

/* Guards against: a table that is not used in forked children. */
TEST_F(files, child)
{
	int status;
	pid_t pid;

	ADD();
	pid = fork();
	ASSERT_LE(0, pid);
	if (!pid) {
		EXPECT_GOOD();
		_exit(_metadata->exit_code);
	}
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, status);
}

/* Guards against: steps that read the table from process memory. */
TEST_F(files, table_is_copied)
{
	ADD();
	memset(self->table, 0xff, sizeof(*self->table));
	EXPECT_GOOD();
	munmap(self->table, sizeof(*self->table));
	EXPECT_GOOD();
}

/* Guards against: a table that overrides a window, or is lost after it. */
TEST_F(files, window_wins)
{
	const struct sframe_window_opts opts = {
		.size = sizeof(opts),
		.text_start = (uintptr_t)self->pool.text,
		.text_length = TEXT_LENGTH,
		.format = SFRAME_FORMAT_PACKED,
		.text_bias = (uintptr_t)self->pool.text,
	};

	ADD();
	self->table->index[0] = RULE_UNKNOWN;
	ASSERT_EQ(0, sft_register(SFT_POOL_KEY, self->table, TABLE_LEN, &opts));
	sft_pool_refused(_metadata, &self->pool.call, variant->defer, "no_row");
	ASSERT_EQ(0, sft_unregister(SFT_POOL_KEY));
	EXPECT_GOOD();
}

struct splitter {
	__u8		*file;
	bool		stop;
};

/* Split and merge the mapping before and after the page of the code. */
static void *split(void *arg)
{
	struct splitter *splitter = arg;
	__u8 *file = splitter->file;

	while (!__atomic_load_n(&splitter->stop, __ATOMIC_RELAXED)) {
		mprotect(file, OFFSET, PROT_READ);
		mprotect(file + OFFSET + SFT_PAGE, SFT_PAGE, PROT_READ);
		mprotect(file, OFFSET, SFT_RX);
		mprotect(file + OFFSET + SFT_PAGE, SFT_PAGE, SFT_RX);
	}
	return NULL;
}

/*
 * Guards against: a file offset computed from two states of a mapping. A lookup
 * that races with a change finds no table.
 */
TEST_F(files, split_meanwhile)
{
	const struct sft_call *call = &self->pool.call;
	const __u64 ip = sft_pool_ip(call);
	const __u64 with[] = { ip, SFT_CALLERS };
	const __u64 without[] = { ip, SFT_SLOT_LOST };
	struct splitter splitter = { .file = self->file };
	struct sft_chain chain;
	unsigned int i, good = 0;
	pthread_t thread;

	ADD();
	ASSERT_EQ(0, pthread_create(&thread, NULL, split, &splitter));
	for (i = 0; i < NR_SPLIT; i++) {
		ASSERT_EQ(0, sft_chain_at((void *)ip, variant->defer, call,
					  &chain));
		if (sft_chain_is(&chain, with, 2))
			good++;
		else
			ASSERT_TRUE(sft_chain_check(&chain, without, 2));
	}
	__atomic_store_n(&splitter.stop, true, __ATOMIC_RELAXED);
	pthread_join(thread, NULL);
	EXPECT_LT(NR_SPLIT / 2, good);
	EXPECT_GOOD();
}

/* ---- Ends --------------------------------------------------------------- */

/* Guards against: a table used after REMOVE, or after the last close(). */
TEST_F(files, removed)
{
	const int id = ADD();

	EXPECT_EQ(-ENOENT, remove_table(self->tables, id + 1));
	EXPECT_EQ(0, remove_table(self->tables, id));
	EXPECT_EQ(-ENOENT, remove_table(self->tables, id));
	EXPECT_WITHOUT();
	ADD();
	EXPECT_GOOD();
	close(self->tables);
	EXPECT_WITHOUT();
}

/* Guards against: using a table after its file was changed. */
TEST_F(files, changed)
{
	const int id = ADD();

	/* The same byte, but the kernel cannot know that. */
	ASSERT_EQ(1, pwrite(self->fd, sft_slot_arg.code, 1, OFFSET));
	EXPECT_WITHOUT();
	/* The outdated table does not block a new one. */
	ADD();
	EXPECT_GOOD();
	EXPECT_EQ(0, remove_table(self->tables, id));
	EXPECT_GOOD();
	ASSERT_EQ(0, ftruncate(self->fd, FILE_SIZE - 1));
	EXPECT_WITHOUT();
}

/* Guards against: losing a table on link(), or keeping one after a write. */
TEST_F(files, linked)
{
	int fd;

	ASSERT_TRUE(enter_mount());
	fd = make_file("file");
	ASSERT_LE(0, fd);
	must_add(_metadata, self->tables, fd, self->table);
	munmap(self->file, FILE_SIZE);
	ASSERT_EQ(self->file, map_file(fd, self->file, FILE_SIZE, 0));
	ASSERT_EQ(0, link("file", "other"));
	EXPECT_GOOD();
	ASSERT_EQ(1, pwrite(fd, sft_slot_arg.code, 1, OFFSET));
	EXPECT_WITHOUT();
	must_add(_metadata, self->tables, fd, self->table);
	EXPECT_GOOD();
	ASSERT_EQ(0, unlink("file"));
	ASSERT_EQ(0, unlink("other"));
	EXPECT_GOOD();
}

/* Guards against: missing a write in the same tick as the last change. */
TEST_F(files, written_just_now)
{
	int ret;

	do {
		ASSERT_EQ(1, pwrite(self->fd, sft_slot_arg.code, 1, OFFSET));
		ret = add_table(self->tables, self->fd, self->table, TABLE_LEN);
		if (ret > 0)
			EXPECT_EQ(0, remove_table(self->tables, ret));
	} while (ret > 0);
	EXPECT_EQ(-EAGAIN, ret);
}

/* Guards against: a table that was built before the file's last change. */
TEST_F(files, written_since)
{
	struct sframe_file_opts opts = {
		.size = sizeof(opts),
		.fd = self->fd,
		.table = (uintptr_t)self->table,
		.length = TABLE_LEN,
		.text_bias = OFFSET,
	};
	struct stat st;

	EXPECT_EQ(0, remove_table(self->tables, ADD()));
	ASSERT_EQ(0, fstat(self->fd, &st));
	opts.ctime = st.st_ctim.tv_sec;
	opts.ctime_nsec = st.st_ctim.tv_nsec + 1;
	EXPECT_EQ(-EAGAIN, result(ioctl(self->tables, SFRAME_IOC_ADD, &opts)));
	opts.ctime_nsec--;
	opts.ctime++;
	EXPECT_EQ(-EAGAIN, result(ioctl(self->tables, SFRAME_IOC_ADD, &opts)));
	opts.ctime--;
	EXPECT_LT(0, result(ioctl(self->tables, SFRAME_IOC_ADD, &opts)));
}

/* ---- What is refused ------------------------------------------------------ */

/* Guards against: adding a table after checking only a part of it. */
TEST_F(files, bad_tables)
{
	static const struct {
		size_t	at;
		__u8	value;
	} spoiled[] = {
		/* The header */
		{ 0, 0 },
		{ offsetof(struct sframe_packed_header, version), 2 },
		{ offsetof(struct sframe_packed_header, abi_arch), 0xff },
		{ offsetof(struct sframe_packed_header, unit_shift), 7 },
		/* Too many changes; changes that do not ascend */
		{ offsetof(struct table, blocks), 0xff },
		{ offsetof(struct table, blocks) + 3, 0 },
		/* Rules that do not exist, first and last in the block */
		{ offsetof(struct table, blocks) + 1 + NR_CHANGES, NR_RULES },
		{ offsetof(struct table, blocks) + 1 + 2 * NR_CHANGES,
		  NR_RULES },
		/* An invalid kind */
		{ offsetof(struct table, rules[RULE_SLOT]), 7 },
	};
	__u8 *bytes = (__u8 *)self->table;
	unsigned int i;

	ADD();
	munmap(self->file, FILE_SIZE);
	close(self->fd);
	self->fd = make_file(NULL);
	for (i = 0; i < ARRAY_SIZE(spoiled); i++) {
		const __u8 good = bytes[spoiled[i].at];

		bytes[spoiled[i].at] = spoiled[i].value;
		EXPECT_BAD(TABLE_LEN) {
			TH_LOG("byte %zu", spoiled[i].at);
		}
		bytes[spoiled[i].at] = good;
	}
	EXPECT_BAD(TABLE_LEN - 1);
	EXPECT_BAD(sizeof(struct sframe_packed_header) - 1);
	EXPECT_BAD(0);
	self->table->index[0] |= SFRAME_PACKED_OFFSET(~0U);
	EXPECT_BAD(TABLE_LEN);
	self->table->index[0] = SFRAME_PACKED_BLOCK;
	ADD();
}

/* Guards against: text that is not in the file, or that has two tables. */
TEST_F(files, bad_text)
{
	const int id = ADD();
	int other;

	EXPECT_EQ(-EEXIST, add_settled(self->tables, self->fd, self->table));
	self->table->header.text_start = BUCKET;
	EXPECT_EQ(-EEXIST, add_settled(self->tables, self->fd, self->table));
	/* It begins before the other text, and reaches into it. */
	self->table->header.text_start = -UNIT;
	EXPECT_EQ(-EEXIST, add_settled(self->tables, self->fd, self->table));
	other = open_tables();
	EXPECT_EQ(-EEXIST, add_settled(other, self->fd, self->table));
	self->table->header.text_start = NR_BUCKETS * BUCKET;
	EXPECT_LT(0, add_settled(other, self->fd, self->table));
	EXPECT_EQ(0, remove_table(self->tables, id));

	self->table->header.text_start = FILE_SIZE - OFFSET;
	EXPECT_BAD(TABLE_LEN);
	self->table->header.text_start -= UNIT;
	EXPECT_BAD(TABLE_LEN);
	self->table->header.text_start = -OFFSET - UNIT;
	EXPECT_BAD(TABLE_LEN);
	self->table->header.text_start = 0;
	self->table->header.text_length = 0;
	EXPECT_BAD(TABLE_LEN);
}

/* Guards against: accepting unsuitable files or invalid arguments. */
TEST_F(files, bad_arguments)
{
	const struct table *table = self->table;
	__u64 opts[7] = { sizeof(opts), [6] = 1 };
	int ends[2];

	EXPECT_EQ(-EBADF, add_table(self->tables, -1, table, TABLE_LEN));
	EXPECT_EQ(-EBADF, add_table(self->tables, open("/proc/self/exe", O_PATH),
				    table, TABLE_LEN));
	EXPECT_EQ(-EBADF, add_table(self->tables, open("/dev/null", O_WRONLY),
				    table, TABLE_LEN));
	EXPECT_EQ(-EINVAL, add_table(self->tables, open("/dev/null", O_RDONLY),
				     table, TABLE_LEN));
	EXPECT_EQ(-EINVAL, add_table(self->tables, open("/", O_RDONLY), table,
				     TABLE_LEN));
	ASSERT_EQ(0, pipe(ends));
	EXPECT_EQ(-EINVAL, add_table(self->tables, ends[0], table, TABLE_LEN));
	EXPECT_EQ(-EFAULT, add_table(self->tables, self->fd, NULL, TABLE_LEN));
	EXPECT_EQ(-E2BIG, add_table(self->tables, self->fd, table, 1UL << 31));
	EXPECT_EQ(-E2BIG, result(ioctl(self->tables, SFRAME_IOC_ADD, opts)));
	opts[0] = sizeof(struct sframe_file_opts) - 1;
	EXPECT_EQ(-EINVAL, result(ioctl(self->tables, SFRAME_IOC_ADD, opts)));
	/* The last field must be 0. */
	opts[0] = sizeof(struct sframe_file_opts);
	opts[5] = 1ULL << 32 | 1;
	EXPECT_EQ(-EINVAL, result(ioctl(self->tables, SFRAME_IOC_ADD, opts)));
	EXPECT_EQ(-EFAULT, result(ioctl(self->tables, SFRAME_IOC_ADD, NULL)));
	EXPECT_EQ(-ENOTTY, result(ioctl(self->tables, SFRAME_IOC_ADD + 2, 0)));
	EXPECT_EQ(-EINVAL, result(prctl(PR_SFRAME_FILES, 1, 0, 0, 0)));
	EXPECT_EQ(-EINVAL, result(prctl(PR_SFRAME_FILES, 0, 0, 0, 1)));
}

/* Guards against: a table for a directory. */
TEST_F(files, directory)
{
	char name[16];
	int i;

	ASSERT_TRUE(enter_mount());
	/* A directory of tmpfs has 20 bytes for each name: the text fits in. */
	for (i = 0; i <= FILE_SIZE / 20; i++) {
		snprintf(name, sizeof(name), "%d", i);
		ASSERT_EQ(0, mknod(name, S_IFREG | 0600, 0));
	}
	EXPECT_EQ(-EINVAL, add_settled(self->tables, open(".", O_RDONLY),
				       self->table));
}

/* Guards against: an inherited descriptor that works without CAP_PERFMON. */
TEST_F(files, without_capability)
{
	const int id = ADD();
	int status;
	pid_t pid = fork();

	ASSERT_LE(0, pid);
	if (!pid) {
		ASSERT_EQ(0, setresuid(NOBODY, NOBODY, NOBODY));
		EXPECT_EQ(-EPERM, open_tables());
		EXPECT_EQ(-EPERM, add_table(self->tables, self->fd, self->table,
					    TABLE_LEN));
		EXPECT_EQ(-EPERM, remove_table(self->tables, id));
		/* Root in a new user namespace has it only there. */
		if (!unshare(CLONE_NEWUSER))
			EXPECT_EQ(-EPERM, open_tables());
		_exit(_metadata->exit_code);
	}
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, status);
	EXPECT_GOOD();
}

/* ---- File systems --------------------------------------------------------- */

/* Guards against: a reference that keeps a file system mounted. */
TEST_F(files, unmount)
{
	char dir[256];
	int fd;

	ASSERT_TRUE(enter_mount());
	ASSERT_NE(NULL, getcwd(dir, sizeof(dir)));
	fd = make_file("file");
	ASSERT_LE(0, fd);
	ASSERT_LT(0, add_settled(self->tables, fd, self->table));
	close(fd);
	ASSERT_EQ(0, chdir("/"));
	EXPECT_EQ(0, umount(dir));
	EXPECT_EQ(0, rmdir(dir));
}

/* Guards against: using the overlay's inode, which no mapping has. */
TEST_F(files, overlay)
{
	int fd;

	ASSERT_TRUE(enter_mount());
	ASSERT_EQ(0, mkdir("lower", 0755));
	ASSERT_EQ(0, mkdir("merged", 0755));
	fd = make_file("lower/file");
	ASSERT_LE(0, fd);
	close(fd);
	if (mount("none", "merged", "overlay", 0, "lowerdir=lower:merged"))
		SKIP(return, "the kernel has no CONFIG_OVERLAY_FS");
	fd = open("merged/file", O_RDONLY);
	ASSERT_LE(0, fd);
	ASSERT_LT(0, add_settled(self->tables, fd, self->table));
	munmap(self->file, FILE_SIZE);
	ASSERT_EQ(self->file, map_file(fd, self->file, FILE_SIZE, 0));
	EXPECT_GOOD();
}

/* ---- fdinfo ---------------------------------------------------------------- */

/* Find the line of a table. Returns the number of its fields. */
static int read_table_line(int tables, int id, unsigned long *inode,
			   unsigned long *first, unsigned long *last,
			   unsigned long *bytes, char state[16])
{
	char path[64], line[256];
	unsigned int major, minor;
	int nr = 0, found;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", tables);
	file = fopen(path, "r");
	while (file && fgets(line, sizeof(line), file)) {
		nr = sscanf(line, "table %d %x:%x %lu %lx-%lx %lu %15s", &found,
			    &major, &minor, inode, first, last, bytes, state);
		if (nr == 8 && found == id)
			break;
		nr = 0;
	}
	if (file)
		fclose(file);
	return nr;
}

/* Guards against: showing another file, range or state of a table. */
TEST_F(files, fdinfo)
{
	unsigned long inode, first, last, bytes;
	char state[16];
	struct stat st;
	const int id = ADD();

	ASSERT_EQ(0, fstat(self->fd, &st));
	ASSERT_EQ(8, read_table_line(self->tables, id, &inode, &first, &last,
				     &bytes, state));
	EXPECT_EQ(st.st_ino, inode);
	EXPECT_EQ(OFFSET, first);
	EXPECT_EQ(OFFSET + NR_BUCKETS * BUCKET, last);
	EXPECT_EQ(TABLE_LEN, bytes);
	EXPECT_STREQ("current", state);

	ASSERT_EQ(1, pwrite(self->fd, sft_slot_arg.code, 1, OFFSET));
	EXPECT_WITHOUT();
	ASSERT_EQ(8, read_table_line(self->tables, id, &inode, &first, &last,
				     &bytes, state));
	EXPECT_STREQ("changed", state);
	EXPECT_EQ(0, remove_table(self->tables, id));
	EXPECT_EQ(0, read_table_line(self->tables, id, &inode, &first, &last,
				     &bytes, state));
}

TEST_HARNESS_MAIN
