// SPDX-License-Identifier: GPL-2.0
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Probes of user code and windows: a sample of a probe at the entry of a
 * function does not show the caller twice, and a pending return probe, which
 * has taken the place of a return address, does not stop the walk.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>

#include "kselftest_harness.h"

#include "slots.h"

#define KEY		1
#define KEY_LEAF	2
#define PMU_TYPE	"/sys/bus/event_source/devices/uprobe/type"

/* Bit 0 of config: at the return of the function. */
#define RETPROBE	1

/* The leaf is a copy behind the slot: both are in one file. */
#define LEAF_OFF	64

FIXTURE(probe)
{
	const struct sft_slot	*kind;
	__u8			*text;
	__u8			*section;
	struct sft_call		call;
	char			path[32];
	int			type;
};

FIXTURE_VARIANT(probe)
{
	const struct sft_slot	*kind;
	bool			defer;
};

FIXTURE_VARIANT_ADD(probe, arg_fp) { &sft_slot_arg, false };
FIXTURE_VARIANT_ADD(probe, arg_defer) { &sft_slot_arg, true };
FIXTURE_VARIANT_ADD(probe, rbp_fp) { &sft_slot_rbp, false };
FIXTURE_VARIANT_ADD(probe, rbp_defer) { &sft_slot_rbp, true };

static int pmu_type(void)
{
	FILE *file = fopen(PMU_TYPE, "r");
	int type = -1;

	if (file && fscanf(file, "%d", &type) != 1)
		type = -1;
	if (file)
		fclose(file);
	return type;
}

/* Probes need a file: a copy of the slot and of sft_leaf in a nameless one. */
static int make_file(const struct sft_slot *kind)
{
	__u8 page[SFT_PAGE];
	int fd = memfd_create("sframe-test", MFD_CLOEXEC);

	memset(page, 0xcc, sizeof(page));
	memcpy(page, kind->code, SFT_SLOT);
	memcpy(page + LEAF_OFF, sft_leaf, sft_leaf_end - sft_leaf);
	if (fd >= 0 && write(fd, page, sizeof(page)) != sizeof(page))
		return -1;
	return fd;
}

FIXTURE_SETUP(probe)
{
	int fd;

	if (sft_missing())
		SKIP(return, "%s", sft_missing());
	self->type = pmu_type();
	if (self->type < 0)
		SKIP(return, "kernel without CONFIG_UPROBE_EVENTS");

	self->kind = variant->kind;
	fd = make_file(self->kind);
	ASSERT_LE(0, fd);
	snprintf(self->path, sizeof(self->path), "/proc/self/fd/%d", fd);
	self->text = mmap(NULL, SFT_PAGE, SFT_RX, MAP_PRIVATE, fd, 0);
	ASSERT_NE(MAP_FAILED, self->text);
	self->section = sft_map(SFT_PAGE, SFT_RW);
	ASSERT_NE(NULL, self->section);
	self->call.entry = self->text;
	self->call.target = self->text + LEAF_OFF;
}

FIXTURE_TEARDOWN(probe)
{
	munmap(self->text, SFT_PAGE);
	munmap(self->section, SFT_PAGE);
}

static int register_range(unsigned long key, __u8 *section,
			  const __u8 *start, size_t size,
			  const struct sft_row *rows, unsigned int nr)
{
	const struct sft_fde fde = {
		.start = start, .size = size, .rows = rows, .nr_rows = nr,
	};

	return sft_register(key, section, sft_build(section, &fde, 1), NULL);
}

#define REGISTER_SLOT()							\
	ASSERT_EQ(0, register_range(KEY, self->section, self->text, SFT_SLOT, \
				    self->kind->rows, self->kind->nr_rows))
#define REGISTER_LEAF()							\
	ASSERT_EQ(0, register_range(KEY_LEAF, self->section + 2048,	\
				    self->text + LEAF_OFF, 11, sft_leaf_rows, \
				    ARRAY_SIZE(sft_leaf_rows)))

static int open_probe(struct sft_event *event, int type, const char *path,
		      unsigned long offset, __u64 config, bool defer)
{
	struct perf_event_attr attr;

	sft_attr_init(&attr, type, defer);
	attr.config = config;
	attr.uprobe_path = (uintptr_t)path;
	attr.probe_offset = offset;
	return sft_event_open(event, &attr);
}

#define OPEN(event, offset, config)					\
	ASSERT_EQ(0, open_probe(event, self->type, self->path, offset,	\
				config, variant->defer))

/* Run once with the event enabled and take its only sample. */
static int sample(struct sft_event *event, const struct sft_call *call,
		  struct sft_chain *chain)
{
	struct sft_chain more;
	int ret;

	chain->nr = 0;
	ioctl(event->fd, PERF_EVENT_IOC_ENABLE, 0);
	sft_run(call);
	ioctl(event->fd, PERF_EVENT_IOC_DISABLE, 0);
	ret = sft_event_chain(event, chain);
	if (!ret && sft_event_chain(event, &more) != -ENODATA)
		ret = -EPROTO;
	return ret;
}

/*
 * The deferred walk starts where user space goes on. An endbr64 is yet to be
 * executed then, out of line, which does not show; a push has been emulated.
 */
TEST_F(probe, at_the_entry_of_a_trampoline)
{
	uintptr_t text = (uintptr_t)self->text;
	struct sft_event event;
	struct sft_chain chain;

	REGISTER_SLOT();
	OPEN(&event, 0, 0);
	ASSERT_EQ(0, sample(&event, &self->call, &chain));
	EXPECT_CHAIN(&chain, text, SFT_CALLERS);
	sft_event_close(&event);
}

/* The probed instruction is "push %rbp", but in a window. */
TEST_F(probe, at_a_push_in_a_trampoline)
{
	uintptr_t text = (uintptr_t)self->text;
	struct sft_event event;
	struct sft_chain chain;

	REGISTER_SLOT();
	OPEN(&event, 4, 0);
	ASSERT_EQ(0, sample(&event, &self->call, &chain));
	EXPECT_CHAIN(&chain, text + 4 + variant->defer, SFT_CALLERS);
	sft_event_close(&event);
}

/*
 * Outside of all windows the rule for entries holds: the word on the stack is
 * the caller. The trampoline is the caller here, and is walked by its rows.
 * The deferred walk does not know any more that there was a probe and goes by
 * rbp, which is that of sft_inner, or none.
 */
TEST_F(probe, at_the_entry_of_a_callee_without_window)
{
	uintptr_t leaf = (uintptr_t)self->text + LEAF_OFF;
	uintptr_t ret = (uintptr_t)self->text + self->kind->ret;
	struct sft_event event;
	struct sft_chain chain;

	REGISTER_SLOT();
	OPEN(&event, LEAF_OFF, 0);
	ASSERT_EQ(0, sample(&event, &self->call, &chain));
	if (!variant->defer) {
		EXPECT_CHAIN(&chain, leaf, ret, SFT_CALLERS);
	} else if (!self->kind->fp_lost[1]) {
		EXPECT_CHAIN(&chain, leaf, SFT_LOST);
	} else {
		EXPECT_EQ(leaf, chain.ip[0]);
		EXPECT_NE(ret, chain.ip[1]);
	}
	sft_event_close(&event);
}

TEST_F(probe, at_the_entry_of_a_callee_in_a_window)
{
	uintptr_t leaf = (uintptr_t)self->text + LEAF_OFF;
	uintptr_t ret = (uintptr_t)self->text + self->kind->ret;
	struct sft_event event;
	struct sft_chain chain;

	REGISTER_SLOT();
	REGISTER_LEAF();
	OPEN(&event, LEAF_OFF, 0);
	ASSERT_EQ(0, sample(&event, &self->call, &chain));
	EXPECT_CHAIN(&chain, leaf, ret, SFT_CALLERS);
	sft_event_close(&event);
}

/* Is @ip in the kernel's code for probes? */
static bool is_in_trampoline(__u64 ip)
{
	unsigned long start, end;
	bool found = false;
	char line[256];
	FILE *maps = fopen("/proc/self/maps", "r");

	while (maps && !found && fgets(line, sizeof(line), maps))
		found = strstr(line, "[uprobes]") &&
			sscanf(line, "%lx-%lx", &start, &end) == 2 &&
			ip >= start && ip < end;
	if (maps)
		fclose(maps);
	return found;
}

/*
 * At the return: ip and sp are those of the caller again. The deferred walk of
 * the return probe's own sample begins in the kernel's trampoline, which no
 * window covers: a known loss.
 */
TEST_F(probe, at_the_return_into_a_trampoline)
{
	uintptr_t ret = (uintptr_t)self->text + self->kind->ret;
	struct sft_event event;
	struct sft_chain chain;

	REGISTER_SLOT();
	OPEN(&event, LEAF_OFF, RETPROBE);
	ASSERT_EQ(0, sample(&event, &self->call, &chain));
	if (!variant->defer) {
		EXPECT_CHAIN(&chain, ret, SFT_CALLERS);
	} else if (!self->kind->fp_lost[1]) {
		EXPECT_TRUE(is_in_trampoline(chain.ip[0]));
		EXPECT_CHAIN(&chain, chain.ip[0], SFT_LOST);
	} else {
		EXPECT_TRUE(is_in_trampoline(chain.ip[0]));
		EXPECT_NE(ret, chain.ip[1]);
	}
	sft_event_close(&event);
}

TEST_F(probe, at_the_return_of_a_trampoline)
{
	struct sft_event event;
	struct sft_chain chain;

	REGISTER_SLOT();
	OPEN(&event, 0, RETPROBE);
	ASSERT_EQ(0, sample(&event, &self->call, &chain));
	if (!variant->defer) {
		EXPECT_CHAIN(&chain, SFT_CALLERS);
	} else {
		EXPECT_TRUE(is_in_trampoline(chain.ip[0]));
		EXPECT_CHAIN(&chain, chain.ip[0], SFT_LOST);
	}
	sft_event_close(&event);
}

/*
 * Stacks with pending return probes, seen from breakpoints: the walk has to go
 * on from the true return address, since its row is looked up.
 */
static void check_pending(struct __test_metadata *_metadata,
			  const __u8 *text, const struct sft_slot *kind,
			  const struct sft_call *call, bool defer)
{
	const __u8 *body = text + LEAF_OFF + 8;
	struct sft_chain chain;
	unsigned int i;

	ASSERT_EQ(0, sft_chain_at(body, defer, call, &chain));
	EXPECT_CHAIN(&chain, (uintptr_t)body, (uintptr_t)text + kind->ret,
		     SFT_CALLERS);
	/* The first instruction is where the probe sits. */
	for (i = 1; i < sft_nr_insns(kind); i++) {
		const __u8 *ip = text + kind->insns[i];

		TH_LOG("instruction at %u", kind->insns[i]);
		ASSERT_EQ(0, sft_chain_at(ip, defer, call, &chain));
		EXPECT_CHAIN(&chain, (uintptr_t)ip, SFT_CALLERS);
	}
}

TEST_F(probe, pending_at_the_callee)
{
	struct sft_event event;

	REGISTER_SLOT();
	OPEN(&event, LEAF_OFF, RETPROBE);
	ioctl(event.fd, PERF_EVENT_IOC_ENABLE, 0);
	check_pending(_metadata, self->text, self->kind, &self->call,
		      variant->defer);
	sft_event_close(&event);
}

TEST_F(probe, pending_at_the_trampoline)
{
	struct sft_event event;

	REGISTER_SLOT();
	OPEN(&event, 0, RETPROBE);
	ioctl(event.fd, PERF_EVENT_IOC_ENABLE, 0);
	check_pending(_metadata, self->text, self->kind, &self->call,
		      variant->defer);
	sft_event_close(&event);
}

TEST_F(probe, pending_at_both)
{
	struct sft_event outer, inner;

	REGISTER_SLOT();
	OPEN(&outer, 0, RETPROBE);
	OPEN(&inner, LEAF_OFF, RETPROBE);
	ioctl(outer.fd, PERF_EVENT_IOC_ENABLE, 0);
	ioctl(inner.fd, PERF_EVENT_IOC_ENABLE, 0);
	check_pending(_metadata, self->text, self->kind, &self->call,
		      variant->defer);
	sft_event_close(&inner);
	sft_event_close(&outer);
}

/* The return of the callee, while that of the trampoline is pending. */
TEST_F(probe, at_one_return_with_another_pending)
{
	uintptr_t ret = (uintptr_t)self->text + self->kind->ret;
	struct sft_event outer, inner;
	struct sft_chain chain;

	REGISTER_SLOT();
	OPEN(&outer, 0, RETPROBE);
	OPEN(&inner, LEAF_OFF, RETPROBE);
	ioctl(outer.fd, PERF_EVENT_IOC_ENABLE, 0);
	ASSERT_EQ(0, sample(&inner, &self->call, &chain));
	if (variant->defer) {
		EXPECT_TRUE(is_in_trampoline(chain.ip[0]));
		EXPECT_NE(ret, chain.ip[1]);
	} else {
		EXPECT_CHAIN(&chain, ret, SFT_CALLERS);
	}
	sft_event_close(&inner);
	sft_event_close(&outer);
}

TEST_HARNESS_MAIN
