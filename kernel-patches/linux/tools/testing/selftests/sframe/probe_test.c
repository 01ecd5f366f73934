// SPDX-License-Identifier: GPL-2.0
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Windows and probes of user code: a sample of a probe at the entry of a
 * function does not report the caller twice, and a pending return probe, which
 * replaces a return address, does not end the walk.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>

#include "harness.h"

#include "probes.h"
#include "slots.h"

#define KEY		1
#define KEY_LEAF	2

/* A copy of the leaf, after the slot in the same file. */
#define LEAF_OFF	64
/* Other callees of the slot. This one returns like a longjmp(). */
#define JUMP_OFF	128
/* Makes a tail call to the leaf. */
#define TAIL_OFF	192
/* Has its return address elsewhere than its row says. */
#define COPY_OFF	256
/* Has a frame pointer that does not point to the end of its frame. */
#define ALIGN_OFF	320

#define MAX_EVENTS	3

FIXTURE(probe)
{
	const struct sft_slot	*kind;
	__u8			*text;
	__u8			*section;
	struct sft_call		call;
	char			path[32];
	struct sft_event	events[MAX_EVENTS];
	unsigned int		nr_events;
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

#ifdef SFT_SIGNED
FIXTURE_VARIANT_ADD(probe, signed_fp) { &sft_slot_signed_a, false };
FIXTURE_VARIANT_ADD(probe, signed_defer) { &sft_slot_signed_a, true };
#endif

/* Probes need a file: copy the slot and its callees to an unnamed one. */
static int make_file(const struct sft_slot *kind)
{
	__u8 page[SFT_PAGE];
	int fd = memfd_create("sframe-test", MFD_CLOEXEC);

	memset(page, 0xcc, sizeof(page));
	memcpy(page, kind->code, SFT_SLOT);
	memcpy(page + LEAF_OFF, sft_leaf, sft_leaf_end - sft_leaf);
	memcpy(page + JUMP_OFF, sft_drop_code, sizeof(sft_drop_code));
	sft_put_jump(page, JUMP_OFF + sizeof(sft_drop_code), kind->ret);
	sft_put_jump(page, TAIL_OFF, LEAF_OFF);
	memcpy(page + COPY_OFF, sft_copy_code, sizeof(sft_copy_code));
	memcpy(page + ALIGN_OFF, sft_align_code, sizeof(sft_align_code));
	if (fd >= 0 && write(fd, page, sizeof(page)) != sizeof(page))
		return -1;
	return fd;
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

static int open_probe(struct sft_event *event, const char *path,
		      unsigned long offset, __u64 config, bool defer)
{
	struct perf_event_attr attr;

	sft_attr_init(&attr, 0, defer);
	if (!sft_probe_in(&attr, path, offset))
		return -EOPNOTSUPP;
	attr.config = config;
	return sft_event_open(event, &attr);
}

FIXTURE_SETUP(probe)
{
	int fd;

	if (sft_missing())
		SKIP(return, "%s", sft_missing());
	if (sft_pmu_type("uprobe") < 0)
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
	ASSERT_EQ(0, register_range(KEY, self->section, self->text, SFT_SLOT,
				    self->kind->rows, self->kind->nr_rows));
}

FIXTURE_TEARDOWN(probe)
{
	while (self->nr_events)
		sft_event_close(&self->events[--self->nr_events]);
	munmap(self->text, SFT_PAGE);
	munmap(self->section, SFT_PAGE);
}

/* Open another probe. */
#define PROBE(offset, config) ({					\
	struct sft_event *_event = &self->events[self->nr_events];	\
									\
	ASSERT_EQ(0, open_probe(_event, self->path, offset, config,	\
				variant->defer));		\
	self->nr_events++;						\
	_event;								\
})

/* Open a return probe, which will be pending. */
#define PENDING(offset)							\
	ioctl(PROBE(offset, SFT_RETPROBE)->fd, PERF_EVENT_IOC_ENABLE, 0)

/* Register a window for the slot's callee. */
#define REGISTER_CALLEE(start, size, rows)				\
	ASSERT_EQ(0, register_range(KEY_LEAF, self->section + 2048,	\
				    (start), (size), (rows),		\
				    ARRAY_SIZE(rows)))
#define REGISTER_LEAF()							\
	REGISTER_CALLEE(self->text + LEAF_OFF,				\
			sft_leaf_end - sft_leaf, sft_leaf_rows)

/* Take the only sample of a new probe. */
#define SAMPLE(offset, config, chain)					\
	ASSERT_EQ(0, sft_event_sample(PROBE(offset, config),		\
				      &self->call, chain))

/*
 * Guards against: reporting the caller twice at the entry of a trampoline.
 * A deferred walk starts where user space continues. The first instruction has
 * yet to run out of line, but the stack shows its own address; the second one
 * may have been emulated.
 */
TEST_F(probe, at_the_entry_of_a_trampoline)
{
	uintptr_t text = (uintptr_t)self->text;
	struct sft_chain chain;

	SAMPLE(0, 0, &chain);
	EXPECT_CHAIN(&chain, text, SFT_CALLERS);
}

/* Guards against: reporting the caller twice at the second instruction. */
TEST_F(probe, at_the_second_instruction_of_a_trampoline)
{
	const __u8 *insn = self->text + self->kind->insns[1];
	struct sft_chain chain;

	SAMPLE(insn - self->text, 0, &chain);
	if (variant->defer)
		insn += SFT_EMULATED;
	EXPECT_CHAIN(&chain, (uintptr_t)insn, SFT_CALLERS);
}

/* Check a stack after @first if the walk cannot find its caller @ret. */
static void check_lost(struct __test_metadata *_metadata,
		       const struct sft_chain *chain, __u64 first,
		       const struct sft_slot *kind, __u64 ret)
{
	if (!kind->fp_lost[1]) {
		EXPECT_CHAIN(chain, first, SFT_LOST);
		return;
	}
	EXPECT_EQ(first, chain->ip[0]);
	if (chain->nr > 1)
		EXPECT_NE(ret, chain->ip[1]);
}

/*
 * Guards against: losing the rule for entries with the first window.
 * Outside of windows, some machines have a rule for probed entries: the word on
 * the stack is the caller. Here that is the trampoline, which has rows. A
 * deferred walk no longer knows that there was a probe. It recognizes the call
 * if that names a register; else it follows the frame pointer, which is that of
 * sft_inner or invalid.
 */
TEST_F(probe, at_the_entry_of_a_callee_without_window)
{
	uintptr_t leaf = (uintptr_t)self->text + LEAF_OFF;
	uintptr_t ret = (uintptr_t)self->text + self->kind->ret;
	struct sft_chain chain;

	SAMPLE(LEAF_OFF, 0, &chain);
	if (SFT_ENTRY_KNOWN && !(variant->defer && self->kind->data)) {
		EXPECT_CHAIN(&chain, leaf, ret, SFT_CALLERS);
		return;
	}
	check_lost(_metadata, &chain, leaf, self->kind, ret);
}

/* Guards against: reporting the caller twice at the entry of a function. */
TEST_F(probe, at_the_entry_of_a_callee_in_a_window)
{
	uintptr_t leaf = (uintptr_t)self->text + LEAF_OFF;
	uintptr_t ret = (uintptr_t)self->text + self->kind->ret;
	struct sft_chain chain;

	REGISTER_LEAF();
	SAMPLE(LEAF_OFF, 0, &chain);
	EXPECT_CHAIN(&chain, leaf, ret, SFT_CALLERS);
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
 * Guards against: using a wrong row of the caller at a probed return.
 * ip and sp are those of the caller again. If the kernel's trampoline makes a
 * system call, the deferred walk of the return probe's sample starts in that
 * trampoline. No window covers it: a known loss.
 */
TEST_F(probe, at_the_return_into_a_trampoline)
{
	uintptr_t ret = (uintptr_t)self->text + self->kind->ret;
	struct sft_chain chain;

	SAMPLE(LEAF_OFF, SFT_RETPROBE, &chain);
	if (!variant->defer || !SFT_RETURN_LOST) {
		EXPECT_CHAIN(&chain, ret, SFT_CALLERS);
		return;
	}
	EXPECT_TRUE(is_in_trampoline(chain.ip[0]));
	check_lost(_metadata, &chain, chain.ip[0], self->kind, ret);
}

/* Guards against: reporting a function that has returned. */
TEST_F(probe, at_the_return_of_a_trampoline)
{
	struct sft_chain chain;

	SAMPLE(0, SFT_RETPROBE, &chain);
	if (!variant->defer || !SFT_RETURN_LOST) {
		EXPECT_CHAIN(&chain, SFT_CALLERS);
	} else {
		EXPECT_TRUE(is_in_trampoline(chain.ip[0]));
		EXPECT_CHAIN(&chain, chain.ip[0], SFT_LOST);
	}
}

/*
 * Sample at breakpoints while return probes are pending: the walk must continue
 * from the true return address and use its row.
 */
static void check_pending(struct __test_metadata *_metadata,
			  const __u8 *text, const struct sft_slot *kind,
			  const struct sft_call *call, bool defer)
{
	const __u8 *body = text + LEAF_OFF + (sft_leaf_body - sft_leaf);
	struct sft_chain chain;
	unsigned int i;

	ASSERT_EQ(0, sft_chain_at(body, defer, call, &chain));
	EXPECT_CHAIN(&chain, (uintptr_t)body, (uintptr_t)text + kind->ret,
		     SFT_CALLERS);
	/* The probe is at the first instruction. */
	for (i = 1; i < sft_nr_insns(kind); i++) {
		const __u8 *ip = text + kind->insns[i];

		TH_LOG("instruction at %u", kind->insns[i]);
		ASSERT_EQ(0, sft_chain_at(ip, defer, call, &chain));
		EXPECT_CHAIN(&chain, (uintptr_t)ip, SFT_CALLERS);
	}
}

#define CHECK_PENDING() do {						\
	if (!sft_known_behind(self->kind))				\
		REGISTER_LEAF();					\
	check_pending(_metadata, self->text, self->kind, &self->call,	\
		      variant->defer);					\
} while (0)

/* Guards against: reporting the probe trampoline as a return address. */
TEST_F(probe, pending_at_the_callee)
{
	PENDING(LEAF_OFF);
	CHECK_PENDING();
}

/* Guards against: the same one frame further up. */
TEST_F(probe, pending_at_the_trampoline)
{
	PENDING(0);
	CHECK_PENDING();
}

/* Guards against: using pending return addresses in the wrong order. */
TEST_F(probe, pending_at_both)
{
	PENDING(0);
	PENDING(LEAF_OFF);
	CHECK_PENDING();
}

/* Check a sample at the return to @ret, which deferred walks may not find. */
static void check_return(struct __test_metadata *_metadata,
			 const struct sft_chain *chain, uintptr_t ret,
			 bool defer)
{
	if (!defer || !SFT_RETURN_LOST) {
		EXPECT_CHAIN(chain, ret, SFT_CALLERS);
		return;
	}
	EXPECT_TRUE(is_in_trampoline(chain->ip[0]));
	if (chain->nr > 1)
		EXPECT_NE(ret, chain->ip[1]);
}

/* Guards against: counting the return that is being probed as pending. */
TEST_F(probe, at_one_return_with_another_pending)
{
	uintptr_t ret = (uintptr_t)self->text + self->kind->ret;
	struct sft_chain chain;

	PENDING(0);
	SAMPLE(LEAF_OFF, SFT_RETPROBE, &chain);
	check_return(_metadata, &chain, ret, variant->defer);
}

/*
 * Guards against: using the return address of a function that longjmp() left.
 * Its probe is still in the list, before the probe of the sampled function.
 */
TEST_F(probe, pending_at_the_trampoline_and_jumped_over)
{
	const __u8 *ip = self->text + self->kind->ret;
	struct sft_chain chain;

	PENDING(0);
	PENDING(JUMP_OFF);
	self->call.target = self->text + JUMP_OFF;
	ASSERT_EQ(0, sft_chain_at(ip, variant->defer, &self->call, &chain));
	EXPECT_CHAIN(&chain, (uintptr_t)ip, SFT_CALLERS);
	/* The function that jumped did not return, so its probe did not fire. */
	EXPECT_EQ(-ENODATA, sft_event_chain(&self->events[1], &chain));
}

/*
 * Guards against: the same for a function that made a tail call.
 * When the kernel handles the return of the last function, the instance of the
 * one before is still in the list, though both have returned.
 */
TEST_F(probe, at_the_return_of_a_tail_call_with_others_pending)
{
	uintptr_t ret = (uintptr_t)self->text + self->kind->ret;
	struct sft_chain chain;

	PENDING(0);
	PENDING(TAIL_OFF);
	self->call.target = self->text + TAIL_OFF;
	SAMPLE(LEAF_OFF, SFT_RETPROBE, &chain);
	check_return(_metadata, &chain, ret, variant->defer);
}

/*
 * Guards against: guessing a return address for a trampoline address that no
 * probe has stored there: the row is wrong, and the walk ends.
 */
TEST_F(probe, trampoline_where_no_probe_is)
{
	static const struct sft_row rows[] = { SFT_ROW_CALLED(0) };
	const __u8 *start = self->text + COPY_OFF, *ip = start + SFT_COPY_NOP;
	struct sft_chain chain;

	REGISTER_CALLEE(start, sizeof(sft_copy_code), rows);
	PENDING(COPY_OFF);
	self->call.target = start;
	ASSERT_EQ(0, sft_chain_at(ip, variant->defer, &self->call, &chain));
	EXPECT_CHAIN(&chain, (uintptr_t)ip);
}

/*
 * Guards against: a truncated or wrong stack if the frame pointer does not
 * point to the end of the frame, which the probe has recorded. The caller's row
 * may need the true stack pointer.
 */
TEST_F(probe, pending_at_a_function_with_more_above_its_frame_pointer)
{
	const uintptr_t ret = (uintptr_t)self->text + self->kind->ret;
	const __u8 *start = self->text + ALIGN_OFF, *ip = start + SFT_ALIGN_NOP;
	struct sft_chain chain;

	PENDING(0);
	PENDING(ALIGN_OFF);
	self->call.target = start;
	ASSERT_EQ(0, sft_chain_at(ip, variant->defer, &self->call, &chain));
	if (!sft_known_behind(self->kind)) {
		EXPECT_CHAIN(&chain, (uintptr_t)ip, ret);
		return;
	}
	EXPECT_CHAIN(&chain, (uintptr_t)ip, ret, SFT_CALLERS);
}

TEST_HARNESS_MAIN
