// SPDX-License-Identifier: GPL-2.0
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Sections on pages that are missing, not in memory, or slow to arrive: a walk
 * in an interrupt ends, a deferred walk faults them in or ends, and no other
 * task has to wait.
 */
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/swap.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <linux/fuse.h>
#include <linux/userfaultfd.h>

#include "harness.h"

#include "pool.h"

#define KEY		SFT_POOL_KEY
#define LOW		((void *)(1UL << 40))

/*
 * A section whose header ends with its page, so that the index and the rows
 * are on the next one, which was not touched yet.
 */
#define SPLIT(mem)	((mem) + SFT_PAGE - sizeof(struct sframe_header))

FIXTURE(pages)
{
	struct sft_pool	pool;
	__u8		*split;
	__u8		*page;
};

FIXTURE_VARIANT(pages)
{
	bool	defer;
};

FIXTURE_VARIANT_ADD(pages, fp) { .defer = false };
FIXTURE_VARIANT_ADD(pages, defer) { .defer = true };

/* Build a copy of the section for @split, to be put there later. */
static __u8 *build_for(__u8 *split, const __u8 *text)
{
	__u8 *copy = sft_map(2 * SFT_PAGE, SFT_RW);
	unsigned int i;

	if (!copy)
		return NULL;
	sft_pool_build(SPLIT(copy), text);
	for (i = 0; i < SFT_POOL_SLOTS; i++)
		sft_index(SPLIT(copy), i)->func_start += SPLIT(copy) - split;
	return copy;
}

static void put_header(__u8 *split, const __u8 *copy)
{
	memcpy(split, SPLIT(copy), sizeof(struct sframe_header));
}

static int register_split(const __u8 *split, const __u8 *text, __u32 flags)
{
	return sft_register_text(KEY, split, SFT_POOL_LEN, text,
				 SFT_POOL_SLOTS * SFT_SLOT, flags);
}

FIXTURE_SETUP(pages)
{
	if (sft_missing())
		SKIP(return, "%s", sft_missing());
	ASSERT_EQ(0, sft_pool_make(&self->pool));
	self->split = SPLIT(self->pool.section);
	self->page = self->pool.section + SFT_PAGE;
}

FIXTURE_TEARDOWN(pages)
{
	sft_pool_unmap(&self->pool);
}

#define REGISTER_SPLIT()						\
	ASSERT_EQ(0, register_split(self->split, self->pool.text, 0))
#define EXPECT_GOOD(defer)						\
	sft_pool_good(_metadata, &self->pool.call, defer)
#define EXPECT_REFUSED(reason)						\
	sft_pool_refused(_metadata, &self->pool.call, variant->defer, reason)

/* A walk in an interrupt does not fault the page in; a deferred one does. */
#define EXPECT_GOOD_WHEN_READ() do {					\
	sft_pool_refused(_metadata, &self->pool.call, false,		\
			 "section_fault");			\
	if (variant->defer) {						\
		EXPECT_GOOD(true);					\
		EXPECT_GOOD(false);					\
	}								\
} while (0)

/* ---- Missing pages ----------------------------------------------------- */

/* Guards against: removing a window after a fault, as in earlier series. */
TEST_F(pages, section_is_unmapped)
{
	/* At an address that no other mapping will take. */
	__u8 *low = mmap(LOW, SFT_PAGE, SFT_RW, MAP_PRIVATE | MAP_ANONYMOUS |
			 MAP_FIXED_NOREPLACE, -1, 0);
	size_t len;

	ASSERT_NE(MAP_FAILED, low);
	len = sft_pool_build(low, self->pool.text);
	ASSERT_EQ(0, sft_register(KEY, low, len, NULL));
	ASSERT_EQ(0, munmap(low, SFT_PAGE));
	EXPECT_REFUSED("section_fault");
	EXPECT_EQ(0, sft_unregister(KEY));
}

/* Guards against: ignoring the permissions of pages. */
TEST_F(pages, section_loses_its_permissions)
{
	const size_t len = sft_pool_build(self->split, self->pool.text);

	ASSERT_EQ(0, sft_register(KEY, self->split, len, NULL));
	EXPECT_GOOD(variant->defer);
	ASSERT_EQ(0, mprotect(self->page, SFT_PAGE, PROT_NONE));
	EXPECT_REFUSED("section_fault");
	ASSERT_EQ(0, mprotect(self->page, SFT_PAGE, PROT_READ));
	EXPECT_GOOD(variant->defer);
}

/* Guards against: reading the header after registration. */
TEST_F(pages, header_loses_its_permissions)
{
	const size_t len = sft_pool_build(self->split, self->pool.text);

	ASSERT_EQ(0, sft_register(KEY, self->split, len, NULL));
	ASSERT_EQ(0, mprotect(self->pool.section, SFT_PAGE, PROT_NONE));
	EXPECT_GOOD(variant->defer);
}

/* Guards against: refusing readable rows if the next page is not readable. */
TEST_F(pages, only_the_rows_behind_are_not_readable)
{
	/* The third row has three bytes. */
	__u8 *sec = self->page - (28 + 16 + SFT_SLOT_ARG_LEN - 3);
	const struct sft_fde fde = SFT_SLOT_FDE(self->pool.text + SFT_SLOT,
						sft_slot_arg);
	const __u8 *text = self->pool.call.entry;
	const __u8 *early = text + sft_slot_arg.insns[1];
	const __u8 *late = text + sft_slot_arg.insns[4];
	struct sft_chain chain;

	ASSERT_EQ(0, sft_register(KEY, sec, sft_build(sec, &fde, 1), NULL));
	ASSERT_EQ(0, mprotect(self->page, SFT_PAGE, PROT_NONE));
	/* The start of the second row says that the first one is right. */
	ASSERT_EQ(0, sft_chain_at(early, variant->defer, &self->pool.call,
				  &chain));
	EXPECT_CHAIN(&chain, (uintptr_t)early, SFT_CALLERS);
	ASSERT_EQ(0, sft_chain_at(late, variant->defer, &self->pool.call,
				  &chain));
	EXPECT_CHAIN(&chain, (uintptr_t)late);
}

/* ---- Pages that are not in memory -------------------------------------- */

/* With an index of zeros, each entry starts at its own address. */
#define REASON_OF_ZEROS							\
	(variant->defer ? "no_fde" : "section_fault")

/* Guards against: a page fault in an interrupt. */
TEST_F(pages, page_was_never_touched)
{
	put_header(self->split, build_for(self->split, self->pool.text));
	REGISTER_SPLIT();
	EXPECT_REFUSED(REASON_OF_ZEROS);
}

/* Guards against: reusing what an earlier walk read, after MADV_DONTNEED. */
TEST_F(pages, page_was_thrown_away)
{
	sft_pool_build(self->split, self->pool.text);
	REGISTER_SPLIT();
	EXPECT_GOOD(variant->defer);
	ASSERT_EQ(0, madvise(self->page, SFT_PAGE, MADV_DONTNEED));
	EXPECT_REFUSED(REASON_OF_ZEROS);
}

/* Put the index and the rows into a file, and map that at @page. */
static int map_file(__u8 *split, __u8 *page, const __u8 *text)
{
	__u8 *copy = build_for(split, text);
	int fd = memfd_create("sframe-test", MFD_CLOEXEC);

	if (!copy || fd < 0 ||
	    pwrite(fd, copy + SFT_PAGE, SFT_PAGE, 0) != SFT_PAGE ||
	    mmap(page, SFT_PAGE, PROT_READ, MAP_SHARED | MAP_FIXED, fd, 0) !=
	    page)
		return -1;
	put_header(split, copy);
	return fd;
}

/* Guards against: a deferred walk that does not fault in a page. */
TEST_F(pages, page_of_a_file_was_never_touched)
{
	ASSERT_LE(0, map_file(self->split, self->page, self->pool.text));
	REGISTER_SPLIT();
	EXPECT_GOOD_WHEN_READ();
}

/* Guards against: the same for a page that comes back. */
TEST_F(pages, page_of_a_file_was_thrown_away)
{
	ASSERT_LE(0, map_file(self->split, self->page, self->pool.text));
	REGISTER_SPLIT();
	EXPECT_GOOD(true);
	ASSERT_EQ(0, madvise(self->page, SFT_PAGE, MADV_DONTNEED));
	EXPECT_GOOD_WHEN_READ();
}

/* Guards against: SIGBUS, or worse, for a page past the end of its file. */
TEST_F(pages, file_is_truncated)
{
	int fd = map_file(self->split, self->page, self->pool.text);

	ASSERT_LE(0, fd);
	REGISTER_SPLIT();
	EXPECT_GOOD(true);
	ASSERT_EQ(0, ftruncate(fd, 0));
	EXPECT_REFUSED("section_fault");
	ASSERT_EQ(0, ftruncate(fd, SFT_PAGE));
	EXPECT_REFUSED(REASON_OF_ZEROS);
}

/* ---- Swapped pages ----------------------------------------------------- */

#define ZRAM_CONTROL	"/sys/class/zram-control/hot_"
#define ZRAM_SIZE	(16UL << 20)

FIXTURE(swapped)
{
	struct sft_pool	pool;
	__u8		*split;
	__u8		*page;
	int		nr;
};

FIXTURE_VARIANT(swapped)
{
	bool	defer;
};

FIXTURE_VARIANT_ADD(swapped, fp) { .defer = false };
FIXTURE_VARIANT_ADD(swapped, defer) { .defer = true };

static void zram_remove(int nr)
{
	char text[32], path[64];

	snprintf(path, sizeof(path), "/dev/zram%d", nr);
	swapoff(path);
	snprintf(path, sizeof(path), "/sys/block/zram%d/reset", nr);
	sft_write_text(path, "1");
	snprintf(text, sizeof(text), "%d", nr);
	sft_write_text(ZRAM_CONTROL "remove", text);
}

/* What mkswap(8) writes: version, last page, magic at the end of the page. */
static bool make_swap(const char *path)
{
	__u32 page[SFT_PAGE / 4] = { 0 };
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	bool ok;

	page[256] = 1;
	page[257] = ZRAM_SIZE / SFT_PAGE - 1;
	memcpy((char *)page + SFT_PAGE - 10, "SWAPSPACE2", 10);
	ok = fd >= 0 && write(fd, page, sizeof(page)) == sizeof(page) &&
	     !fsync(fd);
	close(fd);
	return ok;
}

static bool zram_swapon(int nr)
{
	char path[64], size[32];

	snprintf(path, sizeof(path), "/sys/block/zram%d/disksize", nr);
	snprintf(size, sizeof(size), "%lu", ZRAM_SIZE);
	if (sft_write_text(path, size))
		return false;
	snprintf(path, sizeof(path), "/dev/zram%d", nr);
	return make_swap(path) && !swapon(path, 0);
}

FIXTURE_SETUP(swapped)
{
	if (sft_missing())
		SKIP(return, "%s", sft_missing());
	/* A new device. */
	self->nr = sft_read_number(ZRAM_CONTROL "add");
	if (self->nr < 0)
		SKIP(return, "cannot make a zram device");

	ASSERT_EQ(0, sft_pool_make(&self->pool));
	self->split = SPLIT(self->pool.section);
	self->page = self->pool.section + SFT_PAGE;
	EXPECT_TRUE(zram_swapon(self->nr));
}

FIXTURE_TEARDOWN(swapped)
{
	sft_pool_unmap(&self->pool);
	zram_remove(self->nr);
}

/* Bit 62 of a page's entry: it is in swap. */
static bool is_swapped(const void *page)
{
	int fd = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
	__u64 entry = 0;
	bool ok;

	ok = pread(fd, &entry, 8, (uintptr_t)page / SFT_PAGE * 8) == 8;
	close(fd);
	return ok && entry >> 62 & 1;
}

/*
 * A new page stays in a list of the CPU that allocated it, and the call drains
 * only the list of the current CPU. So make the call on each CPU.
 */
static bool swap_out(__u8 *page)
{
	unsigned int i, nr = sysconf(_SC_NPROCESSORS_ONLN);
	cpu_set_t cpus;

	sched_getaffinity(0, sizeof(cpus), &cpus);
	for (i = 0; i < 60000 && !is_swapped(page); i++) {
		sft_run_on(i % nr);
		madvise(page, SFT_PAGE, MADV_PAGEOUT);
		usleep(10000);
	}
	sched_setaffinity(0, sizeof(cpus), &cpus);
	return is_swapped(page);
}

/* Guards against: swapping in pages in an interrupt. */
TEST_F(swapped, index_and_rows)
{
	sft_pool_build(self->split, self->pool.text);
	REGISTER_SPLIT();
	EXPECT_GOOD(variant->defer);
	ASSERT_TRUE(swap_out(self->page));
	EXPECT_GOOD_WHEN_READ();
	EXPECT_EQ(!variant->defer, is_swapped(self->page));
}

/* Guards against: reading the header after registration. */
TEST_F(swapped, header)
{
	sft_pool_build(self->split, self->pool.text);
	REGISTER_SPLIT();
	ASSERT_TRUE(swap_out(self->pool.section));
	EXPECT_GOOD(variant->defer);
	EXPECT_TRUE(is_swapped(self->pool.section));
}

/* ---- Pages that are slow to arrive ------------------------------------- */

/*
 * Holds back a page: a fault on it waits until the release() operation. The
 * server of the file system is a thread of the test.
 */
struct holder {
	int		fd;
	__u8		*page;
	/* The contents of the page when it arrives. */
	const __u8	*content;
	/* FUSE: the server, the waiting request, and a pipe to report it. */
	pthread_t	server;
	__u64		waiting;
	int		arrived[2];
};

struct holder_ops {
	int	(*hold)(struct holder *holder);
	bool	(*wait)(struct holder *holder);
	int	(*release)(struct holder *holder);
};

static int uffd_hold(struct holder *holder)
{
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register area = {
		.range = { (uintptr_t)holder->page, SFT_PAGE },
		.mode = UFFDIO_REGISTER_MODE_MISSING,
	};

	holder->fd = syscall(__NR_userfaultfd, O_CLOEXEC);
	if (holder->fd < 0 || ioctl(holder->fd, UFFDIO_API, &api) ||
	    ioctl(holder->fd, UFFDIO_REGISTER, &area))
		return -1;
	return madvise(holder->page, SFT_PAGE, MADV_DONTNEED);
}

static bool uffd_wait(struct holder *holder)
{
	struct uffd_msg msg;

	return read(holder->fd, &msg, sizeof(msg)) == sizeof(msg) &&
	       msg.event == UFFD_EVENT_PAGEFAULT;
}

static int uffd_release(struct holder *holder)
{
	struct uffdio_copy args = {
		.dst = (uintptr_t)holder->page,
		.src = (uintptr_t)holder->content,
		.len = SFT_PAGE,
	};

	/* If the page was unmapped, only wake up the waiting task. */
	if (!ioctl(holder->fd, UFFDIO_COPY, &args))
		return 0;
	return ioctl(holder->fd, UFFDIO_WAKE, &(struct uffdio_range){
			args.dst, args.len });
}

static const struct holder_ops uffd_ops = {
	uffd_hold, uffd_wait, uffd_release,
};

/* A file system with one file of one page; release() answers its read. */
#define FUSE_FILE	2

static int fuse_reply(int fd, __u64 unique, int error, const void *data,
		      size_t size)
{
	struct {
		struct fuse_out_header	header;
		__u8			data[SFT_PAGE];
	} reply = { .header = {
		.len = sizeof(reply.header) + size,
		.error = error, .unique = unique,
	} };

	memcpy(reply.data, data, size);
	return write(fd, &reply, reply.header.len) == reply.header.len ? 0 : -1;
}

static int fuse_init(int fd, __u64 unique)
{
	/* With readahead, a task that waits for the page can be killed. */
	const struct fuse_init_out out = {
		.major = FUSE_KERNEL_VERSION, .minor = 31,
		.max_readahead = SFT_PAGE, .max_write = SFT_PAGE,
		.flags = FUSE_ASYNC_READ,
	};

	return fuse_reply(fd, unique, 0, &out, sizeof(out));
}

static struct fuse_attr fuse_attr(__u64 node)
{
	return (struct fuse_attr){
		.ino = node, .nlink = 1, .size = SFT_PAGE, .blksize = SFT_PAGE,
		.mode = node == FUSE_FILE ? S_IFREG | 0400 : S_IFDIR | 0500,
	};
}

static int fuse_lookup(int fd, __u64 unique)
{
	const struct fuse_entry_out out = {
		.nodeid = FUSE_FILE, .entry_valid = 3600, .attr_valid = 3600,
		.attr = fuse_attr(FUSE_FILE),
	};

	return fuse_reply(fd, unique, 0, &out, sizeof(out));
}

static int fuse_getattr(int fd, __u64 unique, __u64 node)
{
	const struct fuse_attr_out out = {
		.attr_valid = 3600, .attr = fuse_attr(node),
	};

	return fuse_reply(fd, unique, 0, &out, sizeof(out));
}

static int fuse_read(struct holder *holder, __u64 unique)
{
	holder->waiting = unique;
	return write(holder->arrived[1], "", 1) == 1 ? 0 : -1;
}

static int fuse_serve_one(struct holder *holder,
			  const struct fuse_in_header *in)
{
	const struct fuse_open_out opened = { 0 };

	switch (in->opcode) {
	case FUSE_INIT:
		return fuse_init(holder->fd, in->unique);
	case FUSE_LOOKUP:
		return fuse_lookup(holder->fd, in->unique);
	case FUSE_GETATTR:
		return fuse_getattr(holder->fd, in->unique, in->nodeid);
	case FUSE_OPEN:
		return fuse_reply(holder->fd, in->unique, 0, &opened,
				  sizeof(opened));
	case FUSE_READ:
		return fuse_read(holder, in->unique);
	case FUSE_FORGET:
	case FUSE_BATCH_FORGET:
	case FUSE_INTERRUPT:
		return 0;
	default:
		return fuse_reply(holder->fd, in->unique, -EOPNOTSUPP, "", 0);
	}
}

static void *fuse_serve(void *arg)
{
	struct holder *holder = arg;
	static __u64 request[4 * SFT_PAGE];

	while (read(holder->fd, request, sizeof(request)) > 0)
		if (fuse_serve_one(holder, (void *)request))
			break;
	return NULL;
}

/* Open the file, and unmount the file system again. */
static int fuse_open(struct holder *holder)
{
	char dir[] = "/tmp/sframe-test-XXXXXX", options[64], path[64];
	int file = -1;

	holder->fd = open("/dev/fuse", O_RDWR | O_CLOEXEC);
	if (holder->fd < 0 || pipe(holder->arrived) || !mkdtemp(dir))
		return -1;
	snprintf(options, sizeof(options),
		 "fd=%d,rootmode=40500,user_id=%d,group_id=%d", holder->fd,
		 getuid(), getgid());
	if (!mount("sframe-test", dir, "fuse", 0, options)) {
		pthread_create(&holder->server, NULL, fuse_serve, holder);
		snprintf(path, sizeof(path), "%s/section", dir);
		file = open(path, O_RDONLY | O_CLOEXEC);
		umount2(dir, MNT_DETACH);
	}
	rmdir(dir);
	return file;
}

static int fuse_hold(struct holder *holder)
{
	int file = fuse_open(holder);
	void *page;

	if (file < 0)
		return -1;
	page = mmap(holder->page, SFT_PAGE, PROT_READ, MAP_PRIVATE | MAP_FIXED,
		    file, 0);
	close(file);
	return page == MAP_FAILED ? -1 : 0;
}

static bool fuse_wait(struct holder *holder)
{
	char byte;

	return read(holder->arrived[0], &byte, 1) == 1;
}

static int fuse_release(struct holder *holder)
{
	return fuse_reply(holder->fd, holder->waiting, 0, holder->content,
			  SFT_PAGE);
}

static const struct holder_ops fuse_ops = {
	fuse_hold, fuse_wait, fuse_release,
};

/* A thread's walk that waits for the page. */
struct slow_walk {
	const struct sft_call	*call;
	struct sft_chain	chain;
	int			ret;
	pthread_t		thread;
};

FIXTURE(held)
{
	struct sft_pool		pool;
	__u8			*split;
	struct holder		holder;
	struct slow_walk	walk;
};

FIXTURE_VARIANT(held)
{
	const struct holder_ops	*ops;
};

FIXTURE_VARIANT_ADD(held, userfaultfd) { &uffd_ops };
FIXTURE_VARIANT_ADD(held, fuse) { &fuse_ops };

static void *walk_slowly(void *arg)
{
	struct slow_walk *walk = arg;

	walk->ret = sft_chain_at((void *)sft_pool_ip(walk->call), true,
				 walk->call, &walk->chain);
	return NULL;
}

/* Leave a walk of another thread waiting in the middle of the section. */
FIXTURE_SETUP(held)
{
	__u8 *copy;

	if (sft_missing())
		SKIP(return, "%s", sft_missing());

	ASSERT_EQ(0, sft_pool_make(&self->pool));
	self->split = SPLIT(self->pool.section);
	copy = build_for(self->split, self->pool.text);
	ASSERT_NE(NULL, copy);
	put_header(self->split, copy);
	self->holder.page = self->pool.section + SFT_PAGE;
	self->holder.content = copy + SFT_PAGE;
	if (variant->ops->hold(&self->holder))
		SKIP(return, "no userfaultfd for the kernel's faults, or no FUSE");

	ASSERT_EQ(0, register_split(self->split, self->pool.text, 0));
	self->walk.call = &self->pool.call;
	ASSERT_EQ(0, pthread_create(&self->walk.thread, NULL, walk_slowly,
				    &self->walk));
	ASSERT_TRUE(variant->ops->wait(&self->holder));
}

FIXTURE_TEARDOWN(held)
{
	sft_pool_unmap(&self->pool);
}

#define RELEASE()	ASSERT_EQ(0, variant->ops->release(&self->holder))

/* The waiting walk now ends, with these callers. */
#define EXPECT_END(...) do {						\
	ASSERT_EQ(0, pthread_join(self->walk.thread, NULL));		\
	ASSERT_EQ(0, self->walk.ret);					\
	EXPECT_CHAIN(&self->walk.chain, sft_pool_ip(&self->pool.call),	\
		     ##__VA_ARGS__);					\
} while (0)

/* Guards against: holding a lock while user space delays a page. */
TEST_F(held, threads_do_not_wait)
{
	__u8 *text = sft_pool_text();
	__u8 *section = self->pool.section + 4 * SFT_PAGE;
	const size_t len = sft_pool_build(section, text);

	EXPECT_EQ(0, sft_register(KEY + 1, section, len, NULL));
	EXPECT_EQ(2, sft_pool_windows());
	EXPECT_EQ(0, munmap(text, SFT_POOL_TEXT));
	EXPECT_EQ(1, sft_pool_windows());
	RELEASE();
	EXPECT_END(SFT_CALLERS);
}

/* Guards against: a fault in an interrupt, which would wait for user space. */
TEST_F(held, interrupts_do_not_wait)
{
	sft_pool_refused(_metadata, &self->pool.call, false,
			 "section_fault");
	RELEASE();
	EXPECT_END(SFT_CALLERS);
	sft_pool_good(_metadata, &self->pool.call, false);
}

/* Guards against: freeing a window while a walk reads its section. */
TEST_F(held, its_window_is_unregistered)
{
	EXPECT_EQ(0, sft_unregister(KEY));
	EXPECT_EQ(0, sft_pool_windows());
	RELEASE();
	EXPECT_END(SFT_SLOT_LOST);
}

/* Guards against: a frame from bytes of a section that was replaced. */
TEST_F(held, its_window_is_replaced)
{
	__u8 *section = self->pool.section + 4 * SFT_PAGE;
	const size_t len = sft_pool_build(section, self->pool.text);
	__u8 *old = SPLIT((__u8 *)self->holder.content - SFT_PAGE);

	EXPECT_EQ(0, sft_register_text(KEY, section, len, self->pool.text,
				       SFT_POOL_SLOTS * SFT_SLOT,
				       SFRAME_WINDOW_REPLACE));
	/* These bytes were right at registration. */
	sft_pool_row(old, 1, 1)[2] = SFT_CFA(SFT_SLOT_ARG_WRONG);
	RELEASE();
	EXPECT_END(SFT_CALLERS);
}

/* Guards against: a walk that goes on after its page was unmapped. */
TEST_F(held, its_page_is_unmapped)
{
	struct sft_stats stats;

	ASSERT_EQ(0, munmap(self->holder.page, SFT_PAGE));
	RELEASE();
	EXPECT_END();
	ASSERT_EQ(0, sft_stats(&stats));
	EXPECT_STREQ("section_fault", stats.last_reason);
}

/* Guards against: a process that cannot be killed during a walk. */
TEST_F(held, a_fatal_signal_ends_the_walk)
{
	struct holder again = self->holder;
	struct sft_chain chain;
	int status;
	pid_t child;

	/* If the code is traced, a child of that child walks. */
	ASSERT_EQ(0, prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0));
	child = fork();
	ASSERT_LE(0, child);
	if (!child) {
		/* The registration of userfaultfd is not inherited. */
		if (variant->ops == &uffd_ops && uffd_hold(&again))
			_exit(2);
		sft_chain_at((void *)sft_pool_ip(&self->pool.call), true,
			     &self->pool.call, &chain);
		_exit(1);
	}
	usleep(300000);
	EXPECT_EQ(0, waitpid(child, &status, WNOHANG));
	EXPECT_EQ(0, kill(child, SIGKILL));
	EXPECT_EQ(child, waitpid(child, &status, 0));
	EXPECT_TRUE(WIFSIGNALED(status));
	if (SFT_TRACED) {
		EXPECT_LT(0, waitpid(-1, &status, __WALL | __WNOTHREAD));
		EXPECT_TRUE(WIFSIGNALED(status));
	}
	RELEASE();
	EXPECT_END(SFT_CALLERS);
}

/* KiB of unreclaimable slab memory. */
static long slab_size(void)
{
	FILE *file = fopen("/proc/meminfo", "r");
	char line[128];
	long size = -1;

	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "SUnreclaim: %ld", &size) == 1)
			break;
	if (file)
		fclose(file);
	return size;
}

#define ROUNDS		10000
#define MAY_STAY	2048	/* KiB */

/* Register windows in another process; KiB that stay allocated, or -1. */
static long register_elsewhere(void)
{
	long before = slab_size(), after;
	struct sft_pool pool;
	unsigned int i;
	pid_t child = fork();
	int status;
	size_t len;

	if (!child) {
		if (sft_unregister(KEY) || sft_pool_map(&pool))
			_exit(1);
		len = sft_pool_build(pool.section, pool.text);
		for (i = 0; i < ROUNDS; i++)
			if (sft_register(KEY, pool.section, len, NULL) ||
			    sft_unregister(KEY))
				_exit(2);
		_exit(0);
	}
	if (child < 0 || waitpid(child, &status, 0) != child || status)
		return -1;
	/* Memory is freed after a grace period, which may take long. */
	for (i = 0; i < 3000; i++) {
		usleep(200000);
		after = slab_size();
		if (after - before <= MAY_STAY)
			break;
	}
	return after > before ? after - before : 0;
}

/*
 * Guards against: a waiting walk that delays the freeing of other processes'
 * windows, as inside a global SRCU section. 10000 descriptors and nodes take
 * more than 4 MiB. The first round fills caches.
 */
TEST_F(held, other_processes_do_not_wait_and_nothing_piles_up)
{
	long held, free;

	ASSERT_LE(0, register_elsewhere());
	held = register_elsewhere();
	ASSERT_LE(0, held);
	EXPECT_EQ(0, self->walk.chain.nr);
	RELEASE();
	EXPECT_END(SFT_CALLERS);
	free = register_elsewhere();
	ASSERT_LE(0, free);
	TH_LOG("%ld KiB more while a walk waits, %ld KiB afterwards", held,
	       free);
	EXPECT_GT(free + MAY_STAY, held);
}

TEST_HARNESS_MAIN
