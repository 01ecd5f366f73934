// SPDX-License-Identifier: GPL-2.0
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Windows with packed tables: stacks at each address; tables that grow, repeat,
 * end at an unmapped page or are on missing pages; and errors at registration
 * and in a step.
 */
#include <stdio.h>
#include <sys/syscall.h>

#include "harness.h"

#include "pool.h"
#include "packed.h"

#define KEY		SFT_POOL_KEY

/* Most addresses in a callchain. */
#define MAX_FP		127
#define MAX_DEFER	510

static int add(const void *table, size_t len, const __u8 *text,
	       size_t text_len, __u32 flags)
{
	const struct sframe_window_opts opts = {
		.size = sizeof(opts),
		.flags = flags,
		.text_start = (uintptr_t)text,
		.text_length = text_len,
		.format = SFRAME_FORMAT_PACKED,
	};

	return sft_register(KEY, table, len, &opts);
}

FIXTURE(packed)
{
	struct sft_pool	pool;
	struct table	*table;
};

FIXTURE_VARIANT(packed)
{
	bool	defer;
};

FIXTURE_VARIANT_ADD(packed, fp) { .defer = false };
FIXTURE_VARIANT_ADD(packed, defer) { .defer = true };

FIXTURE_SETUP(packed)
{
	if (sft_missing())
		SKIP(return, "%s", sft_missing());
	if (!(sft_query(PR_SFRAME_QUERY_FORMATS) & 1 << SFRAME_FORMAT_PACKED))
		SKIP(return, "the kernel has no packed tables");
	ASSERT_EQ(0, sft_pool_make(&self->pool));
	ASSERT_EQ(3, sft_slot_arg.nr_rows);
	self->table = (struct table *)self->pool.section;
	build(self->table, self->pool.text);
}

FIXTURE_TEARDOWN(packed)
{
	sft_pool_unmap(&self->pool);
}

#define REGISTER(table)							\
	ASSERT_EQ(0, add(table, TABLE_LEN, self->pool.text, TEXT_LENGTH, 0))
#define EXPECT_GOOD()							\
	sft_pool_good(_metadata, &self->pool.call, variant->defer)
#define EXPECT_REFUSED(reason)						\
	sft_pool_refused(_metadata, &self->pool.call, variant->defer, reason)

/* ---- Stacks ------------------------------------------------------------ */

/* Guards against: using the rule of a neighbouring instruction. */
TEST_F(packed, each_instruction)
{
	const struct sft_call *call = &self->pool.call;
	const __u8 *text = call->entry;
	struct sft_chain chain;
	unsigned int i;

	REGISTER(self->table);
	for (i = 0; i < sft_nr_insns(&sft_slot_arg); i++) {
		const __u8 *ip = text + sft_slot_arg.insns[i];

		ASSERT_EQ(0, sft_chain_at(ip, variant->defer, call, &chain));
		EXPECT_CHAIN(&chain, (uintptr_t)ip, SFT_CALLERS);
	}
	ASSERT_EQ(0, sft_chain_at(sft_leaf_body, variant->defer, call, &chain));
	EXPECT_CHAIN(&chain, (uintptr_t)sft_leaf_body,
		     (uintptr_t)text + SFT_POOL_RET, SFT_CALLERS);
	EXPECT_EQ(0, sft_all_refused());
}

/* Guards against: reading one byte of wide rule numbers, or a wrong place. */
TEST_F(packed, wide_ids)
{
	struct table *table = self->table;
	__u8 *ids = (__u8 *)table + offsetof(struct table, blocks) + 1 +
		    NR_CHANGES;
	__u8 narrow[NR_CHANGES + 1];
	unsigned int i;

	memcpy(narrow, ids, sizeof(narrow));
	for (i = 0; i < sizeof(narrow); i++)
		memcpy(ids + 2 * i, &(__u16){ narrow[i] }, 2);
	table->header.blocks_len += sizeof(narrow);
	table->index[0] |= SFRAME_PACKED_WIDE;
	ASSERT_EQ(0, add(table, TABLE_LEN + sizeof(narrow), self->pool.text,
			 TEXT_LENGTH, 0));
	EXPECT_GOOD();
}

/* Guards against: rules that do not repeat, or need an index of all code. */
TEST_F(packed, rules_repeat)
{
	struct table *table = self->table;

	table->header.repeat = SFT_SLOT;
	/* The index has one bucket now. */
	table->header.blocks_len = 2 * sft_slot_arg.nr_rows;
	put_block((__u8 *)&table->index[1], 1);
	REGISTER(table);
	EXPECT_GOOD();
}

/* Guards against: computing the bucket from the window, not the table. */
TEST_F(packed, text_starts_before)
{
	struct table *table = self->table;
	unsigned int i;

	for (i = 1; i < NR_BUCKETS; i++) {
		table->header.text_start -= BUCKET;
		table->index[i] = table->index[i - 1];
		table->index[i - 1] = RULE_UNKNOWN;
		REGISTER(table);
		EXPECT_GOOD();
		ASSERT_EQ(0, sft_unregister(KEY));
	}
}

/* Guards against: looking up addresses without the bias. */
TEST_F(packed, bias)
{
	const unsigned long file = 0x10000;
	struct sframe_window_opts opts = {
		.size = sizeof(opts),
		.format = SFRAME_FORMAT_PACKED,
		.text_bias = (uintptr_t)self->pool.text - file,
	};

	self->table->header.text_start = file;
	/* Without a range, that of the header is used, with the bias. */
	ASSERT_EQ(0, sft_register(KEY, self->table, TABLE_LEN, &opts));
	EXPECT_GOOD();
	opts.text_start = (uintptr_t)self->pool.text;
	opts.text_length = TEXT_LENGTH;
	opts.flags = SFRAME_WINDOW_REPLACE;
	opts.text_bias += NR_BUCKETS * BUCKET;
	EXPECT_EQ(-EINVAL, sft_register(KEY, self->table, TABLE_LEN, &opts));
	opts.text_length = NR_BUCKETS * BUCKET;
	ASSERT_EQ(0, sft_register(KEY, self->table, TABLE_LEN, &opts));
	EXPECT_REFUSED("no_fde");
}

/* A stack of frames of the first two slots, for sft_onto. */
static __u8 *make_stack(struct sft_pool *pool, __u64 *ips, unsigned int nr)
{
	const size_t size = 16 * SFT_PAGE;
	__u8 *stack = sft_map(size, SFT_RW);
	unsigned int sp = 256 + SFT_ONTO_SP, i;

	if (!stack)
		return NULL;
	pool->call.entry = sft_onto;
	pool->call.target = stack + sp - SFT_ONTO_SP;
	for (i = 0; i < nr; i++) {
		ips[i] = (uintptr_t)pool->text + SFT_POOL_RET +
			 i % 2 * SFT_SLOT;
		if (!i) {
			memcpy(stack + sp - SFT_ONTO_SP, ips, sizeof(*ips));
			continue;
		}
		/* Frames of the second slot have twice the size. */
		memcpy(stack + sp + SFT_RA_FROM_SP +
		       (i % 2 ? SFT_TINY_FRAME : 2 * SFT_TINY_FRAME),
		       &ips[i], sizeof(*ips));
		sp += i % 2 ? SFT_TINY_FRAME : 2 * SFT_TINY_FRAME;
	}
	return stack;
}

static struct sframe_packed_rule frame_rule(unsigned int size)
{
	return (struct sframe_packed_rule) {
		.kind = SFRAME_PACKED_PLAIN,
		.cfa_off = size + SFT_SAVE_AREA,
		.ra_off = SFT_RA_FROM_CFA,
	};
}

/* Guards against: batched steps that skip or repeat a frame. */
TEST_F(packed, many_frames)
{
	const unsigned int nr = (variant->defer ? MAX_DEFER : MAX_FP) - 1;
	struct table *table = self->table;
	struct sft_chain chain;
	__u64 ips[MAX_DEFER];
	unsigned int i;

	table->rules[RULE_OTHER] = frame_rule(SFT_TINY_FRAME);
	table->rules[RULE_OTHER + 1] = frame_rule(2 * SFT_TINY_FRAME);
	table->blocks[0] = 1;
	table->blocks[1] = SFT_SLOT / UNIT;
	table->blocks[2] = RULE_OTHER;
	table->blocks[3] = RULE_OTHER + 1;
	REGISTER(table);
	ASSERT_NE(NULL, make_stack(&self->pool, ips, MAX_DEFER));
	ASSERT_EQ(0, sft_chain_at(sft_escape_body, variant->defer,
				  &self->pool.call, &chain));
	ASSERT_EQ(nr + 1, chain.nr);
	EXPECT_EQ((uintptr_t)sft_escape_body, chain.ip[0]);
	for (i = 0; i < nr; i++)
		ASSERT_EQ(ips[i], chain.ip[1 + i]);
	EXPECT_EQ(0, sft_all_refused());
}

/* Guards against: a frame pointer rule that steps unlike without a window. */
TEST_F(packed, frame_pointer)
{
	struct sft_chain want, chain;

	/* The wanted stack: the window is elsewhere. */
	ASSERT_EQ(0, add(self->table, TABLE_LEN, self->pool.section, SFT_PAGE,
			 0));
	ASSERT_EQ(0, sft_chain_at(sft_leaf_body, variant->defer,
				  &self->pool.call, &want));
	ASSERT_EQ(0, sft_unregister(KEY));
	self->table->index[0] = RULE_OTHER;
	REGISTER(self->table);
	ASSERT_EQ(0, sft_chain_at(sft_leaf_body, variant->defer,
				  &self->pool.call, &chain));
	EXPECT_TRUE(sft_chain_check(&chain, want.ip, want.nr));
}

/* Guards against: counting a complete stack as a refusal. */
TEST_F(packed, outermost)
{
	const __u64 ip = sft_pool_ip(&self->pool.call);
	struct sft_chain chain;

	self->table->rules[RULE_OTHER].kind = SFRAME_PACKED_OUTERMOST;
	self->table->index[0] = RULE_OTHER;
	REGISTER(self->table);
	ASSERT_EQ(0, sft_chain_at((void *)ip, variant->defer,
				  &self->pool.call, &chain));
	EXPECT_CHAIN(&chain, ip);
	EXPECT_EQ(0, sft_all_refused());
}

/* Guards against: showing a packed table as a section. */
TEST_F(packed, proc)
{
	char line[128], want[128];
	bool found = false;
	FILE *file;

	REGISTER(self->table);
	snprintf(want, sizeof(want), "%lx-%lx %x %lx %zx packed 0\n",
		 (unsigned long)self->pool.text,
		 (unsigned long)self->pool.text + TEXT_LENGTH, KEY,
		 (unsigned long)self->table, TABLE_LEN);
	file = fopen("/proc/self/sframe", "r");
	ASSERT_NE(NULL, file);
	while (fgets(line, sizeof(line), file))
		found |= !strcmp(line, want);
	fclose(file);
	EXPECT_TRUE(found);
}

/* ---- Tables that change ------------------------------------------------ */

/* Guards against: using rules that were read at registration. */
TEST_F(packed, grows)
{
	struct table *table = self->table;
	unsigned int i;

	/* The table has room for all rules, but knows none yet. */
	memset(table->rules, 0, sizeof(table->rules));
	memset(table->index, 0, sizeof(table->index));
	memset(table->blocks, 0, sizeof(table->blocks));
	REGISTER(table);
	EXPECT_REFUSED("no_row");
	for (i = 0; i < sft_slot_arg.nr_rows; i++)
		table->rules[RULE_SLOT + i] = rule_of(&sft_slot_arg.rows[i]);
	put_block(table->blocks, NR_SLOTS);
	__atomic_store_n(&table->index[0], SFRAME_PACKED_BLOCK,
			 __ATOMIC_RELEASE);
	EXPECT_GOOD();
	__atomic_store_n(&table->index[0], RULE_UNKNOWN, __ATOMIC_RELEASE);
	EXPECT_REFUSED("no_row");
}

/* Guards against: using the table of the window that was replaced. */
TEST_F(packed, replaced)
{
	struct table *other = (void *)(self->pool.section + SFT_PAGE);
	__u8 *section = self->pool.section + 2 * SFT_PAGE;

	build(other, self->pool.text);
	self->table->index[0] = RULE_UNKNOWN;
	REGISTER(self->table);
	EXPECT_REFUSED("no_row");
	ASSERT_EQ(0, add(other, TABLE_LEN, self->pool.text, TEXT_LENGTH,
			 SFRAME_WINDOW_REPLACE));
	EXPECT_GOOD();
	ASSERT_EQ(SFT_POOL_LEN, sft_pool_build(section, self->pool.text));
	ASSERT_EQ(0, sft_register_text(KEY, section, SFT_POOL_LEN,
				       self->pool.text,
				       SFT_POOL_SLOTS * SFT_SLOT,
				       SFRAME_WINDOW_REPLACE));
	EXPECT_GOOD();
	EXPECT_EQ(1, sft_pool_windows());
}

/* ---- Where the table is ------------------------------------------------ */

/* Guards against: a read past the padding, where the mapping ends. */
TEST_F(packed, between_guard_pages)
{
	const size_t len = (TABLE_LEN + SFRAME_PACKED_ALIGN - 1) &
			   ~(SFRAME_PACKED_ALIGN - 1UL);
	const struct sft_call *call = &self->pool.call;
	const size_t block = 1 + NR_CHANGES + NR_CHANGES + 1;
	__u8 *pages = sft_map(3 * SFT_PAGE, PROT_NONE), *last;
	struct table *table;
	struct sft_chain chain;
	unsigned int i;

	ASSERT_NE(NULL, pages);
	ASSERT_EQ(0, mprotect(pages + SFT_PAGE, SFT_PAGE, SFT_RW));
	last = pages + 2 * SFT_PAGE - SFRAME_PACKED_PAD - 1;
	table = (void *)(pages + 2 * SFT_PAGE - len);
	build(table, self->pool.text);
	/* Make the block the last one of the table. */
	table->header.blocks_len += len - TABLE_LEN;
	put_block(last + 1 - block, NR_SLOTS);
	table->index[0] |= len - TABLE_LEN;
	ASSERT_EQ(0, add(table, len, self->pool.text, TEXT_LENGTH, 0));
	for (i = 0; i < sft_nr_insns(&sft_slot_arg); i++) {
		const __u8 *ip = (__u8 *)call->entry + sft_slot_arg.insns[i];

		ASSERT_EQ(0, sft_chain_at(ip, variant->defer, call, &chain));
		EXPECT_CHAIN(&chain, (uintptr_t)ip, SFT_CALLERS);
	}
	/* Blocks that begin at the last byte, past the end, or far past it. */
	for (i = 0; i < 2; i++) {
		*last = 255 * i;
		table->index[0] = SFRAME_PACKED_BLOCK |
				  (table->header.blocks_len - 1);
		EXPECT_REFUSED("fre_offset");
		table->index[0]++;
		EXPECT_REFUSED("fre_offset");
		table->index[0] = ~0U;
		EXPECT_REFUSED("fre_offset");
	}
	ASSERT_EQ(0, sft_unregister(KEY));
	EXPECT_EQ(-EINVAL, add(table, len - 1, self->pool.text, TEXT_LENGTH, 0));
	munmap(pages, 3 * SFT_PAGE);
}

/* Guards against: a part of the table that is read without handling faults. */
TEST_F(packed, missing_pages)
{
	static const size_t parts[] = {
		offsetof(struct table, rules), offsetof(struct table, index),
		offsetof(struct table, blocks),
	};
	int fd = syscall(SYS_memfd_create, "table", 0);
	struct table *table;
	unsigned int i;
	__u8 *pages;

	ASSERT_LE(0, fd);
	ASSERT_EQ(0, ftruncate(fd, 2 * SFT_PAGE));
	pages = mmap(NULL, 2 * SFT_PAGE, SFT_RW, MAP_SHARED, fd, 0);
	ASSERT_NE(MAP_FAILED, pages);
	for (i = 0; i < ARRAY_SIZE(parts); i++) {
		table = (void *)(pages + SFT_PAGE - parts[i]);
		build(table, self->pool.text);
		REGISTER(table);
		EXPECT_GOOD();
		/* The page is in the file, but not in the page tables. */
		ASSERT_EQ(0, madvise(pages + SFT_PAGE, SFT_PAGE, MADV_DONTNEED));
		sft_pool_refused(_metadata, &self->pool.call, false,
				 "section_fault");
		if (variant->defer)
			EXPECT_GOOD();
		ASSERT_EQ(0, mprotect(pages + SFT_PAGE, SFT_PAGE, PROT_NONE));
		EXPECT_REFUSED("section_fault");
		ASSERT_EQ(0, mprotect(pages + SFT_PAGE, SFT_PAGE, SFT_RW));
		pages[2 * SFT_PAGE - 1] = 0;
		EXPECT_GOOD();
		ASSERT_EQ(0, sft_unregister(KEY));
	}
	/* The kernel does not read the header again. */
	table = (void *)(pages + SFT_PAGE - offsetof(struct table, rules));
	build(table, self->pool.text);
	REGISTER(table);
	ASSERT_EQ(0, mprotect(pages, SFT_PAGE, PROT_NONE));
	EXPECT_GOOD();
	munmap(pages, 2 * SFT_PAGE);
	close(fd);
}

/* ---- Registration ------------------------------------------------------ */

#define FIELD(what, field, value)					\
	{ what, offsetof(struct sframe_packed_header, field),		\
	  sizeof(((struct sframe_packed_header *)0)->field), value }

/* Guards against: counts that overflow, tables of other machines. */
TEST_F(packed, header_field_by_field)
{
	static const struct {
		const char	*what;
		size_t		offset, size;
		__u32		value;
	} cases[] = {
		FIELD("magic of the other byte order", magic, 0x5350),
		FIELD("magic of SFrame", magic, SFRAME_MAGIC),
		FIELD("version 0", version, 0),
		FIELD("version 2", version, 2),
		FIELD("no machine", abi_arch, 0),
		FIELD("other machine", abi_arch, SFT_OTHER_ABI),
		FIELD("a third machine", abi_arch, SFT_THIRD_ABI),
		FIELD("shorter units", unit_shift, SFT_UNIT_SHIFT ? 0 : 1),
		FIELD("longer units", unit_shift, SFT_UNIT_SHIFT + 1),
		FIELD("units of all bits", unit_shift, 255),
		FIELD("no rules", nr_rules, 0),
		FIELD("a rule more", nr_rules, NR_RULES + 1),
		FIELD("most rules", nr_rules, UINT16_MAX),
		FIELD("a byte more of text", text_length, NR_BUCKETS * BUCKET + 1),
		FIELD("most text", text_length, UINT32_MAX),
		FIELD("a byte more of blocks", blocks_len,
		      sizeof(((struct table *)0)->blocks) + 1),
		FIELD("most blocks", blocks_len, UINT32_MAX),
		FIELD("all but the blocks", blocks_len, -32 - 16 * NR_RULES - 16),
	};
	const struct sframe_packed_header good = self->table->header;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		self->table->header = good;
		sft_put((__u8 *)self->table + cases[i].offset, cases[i].value,
			cases[i].size);
		TH_LOG("%s", cases[i].what);
		EXPECT_EQ(-EINVAL, add(self->table, TABLE_LEN,
				       self->pool.text, TEXT_LENGTH, 0));
	}
	EXPECT_EQ(0, sft_pool_windows());
	if (UNIT > 1) {
		self->table->header = good;
		self->table->header.text_start++;
		EXPECT_EQ(-EINVAL, add(self->table, TABLE_LEN,
				       self->pool.text, TEXT_LENGTH, 0));
		self->table->header = good;
		self->table->header.repeat = UNIT + 1;
		EXPECT_EQ(-EINVAL, add(self->table, TABLE_LEN,
				       self->pool.text, TEXT_LENGTH, 0));
	}
	self->table->header = good;
	self->table->header.writer = ~0ULL;
	REGISTER(self->table);
}

/* Guards against: accepting invalid arguments, or the other format's table. */
TEST_F(packed, arguments)
{
	const size_t len = TABLE_LEN;
	const __u8 *text = self->pool.text;
	__u8 *table = (__u8 *)self->table;
	unsigned int i;

	for (i = 1; i < SFRAME_PACKED_ALIGN; i++) {
		memmove(table + i, table + i - 1, len);
		EXPECT_EQ(-EINVAL, add(table + i, len, text, TEXT_LENGTH, 0));
	}
	build(self->table, text);
	EXPECT_EQ(-EINVAL, add(table, 0, text, TEXT_LENGTH, 0));
	EXPECT_EQ(-EINVAL, add(table, sizeof(self->table->header) - 1, text,
			       TEXT_LENGTH, 0));
	EXPECT_EQ(-EINVAL, add(table, len - 1, text, TEXT_LENGTH, 0));
	EXPECT_EQ(-EINVAL, add(table, 1UL << 32, text, TEXT_LENGTH, 0));
	EXPECT_EQ(-EINVAL, add((void *)(sft_user_end() & -16UL), len, text,
			       TEXT_LENGTH, 0));
	EXPECT_EQ(-EINVAL, add((void *)-16UL, len, text, TEXT_LENGTH, 0));
	EXPECT_EQ(-EFAULT, add(NULL, len, text, TEXT_LENGTH, 0));
	/* Neither format accepts a table of the other. */
	EXPECT_EQ(-EINVAL, sft_register(KEY, table, len, NULL));
	sft_pool_build(table, text);
	EXPECT_EQ(-EINVAL, add(table, SFT_POOL_LEN, text, TEXT_LENGTH, 0));
	EXPECT_EQ(0, sft_pool_windows());
}

/* Guards against: using a range of the header without checking it. */
TEST_F(packed, range_of_the_header)
{
	struct sframe_packed_header *header = &self->table->header;
	const size_t len = TABLE_LEN;

	EXPECT_EQ(0, add(self->table, len, NULL, 0, 0));
	EXPECT_GOOD();
	ASSERT_EQ(0, sft_unregister(KEY));
	header->text_length = 0;
	EXPECT_EQ(-EINVAL, add(self->table, len, NULL, 0, 0));
	header->text_length = UNIT;
	header->text_start = -(__u64)UNIT;
	EXPECT_EQ(-EINVAL, add(self->table, len, NULL, 0, 0));
	header->text_start = (uintptr_t)self->pool.text + SFT_POOL_TEXT - UNIT;
	EXPECT_EQ(0, add(self->table, len, NULL, 0, 0));
	ASSERT_EQ(0, sft_unregister(KEY));
	/* Now the end of the text is not mapped. */
	ASSERT_EQ(0, munmap(self->pool.text + SFT_POOL_TEXT - SFT_PAGE,
			    SFT_PAGE));
	EXPECT_EQ(-EINVAL, add(self->table, len, NULL, 0, 0));
	EXPECT_EQ(0, sft_pool_windows());
}

/* ---- Steps that are refused --------------------------------------------- */

/* Spoil the table of a registered window, walk, and repair it. */
#define SPOIL(name, reason)						\
	static void spoil_##name(struct table *table);			\
	TEST_F(packed, name)						\
	{								\
		struct table *table = self->table;			\
									\
		REGISTER(table);					\
		EXPECT_GOOD();						\
		spoil_##name(table);					\
		EXPECT_REFUSED(reason);					\
		build(table, self->pool.text);				\
		EXPECT_GOOD();						\
		EXPECT_EQ(1, sft_pool_windows());			\
	}								\
	static void spoil_##name(struct table *table)

SPOIL(block_after_the_blocks, "fre_offset")
{
	table->index[0] = SFRAME_PACKED_BLOCK | sizeof(table->blocks);
}

SPOIL(block_leaves_the_blocks, "fre_offset")
{
	table->blocks[0]++;
}

SPOIL(longest_block, "fre_offset")
{
	table->blocks[0] = 255;
}

SPOIL(wide_ids_leave_the_blocks, "fre_offset")
{
	table->index[0] |= SFRAME_PACKED_WIDE;
}

SPOIL(no_such_rule, "fre_offset")
{
	table->index[0] = NR_RULES;
}

SPOIL(no_such_rule_of_a_block, "fre_offset")
{
	memset(table->blocks + 1 + NR_CHANGES, NR_RULES, NR_CHANGES + 1);
}

SPOIL(wide_without_a_block, "fre_offset")
{
	table->index[0] = SFRAME_PACKED_WIDE | RULE_SLOT;
}

SPOIL(nothing_is_known, "no_row")
{
	table->index[0] = RULE_UNKNOWN;
}

#define PLACE(place)	SFRAME_PACKED_##place
#define SP		(PLACE(REG) | SFT_REGNUM_SP)
#define CFA_LOAD	(PLACE(CFA) | PLACE(LOAD))
/* Kind and flags, places, offsets. */
#define RULES(flags, cfa, ra, fp)					\
	{ SFRAME_PACKED_RULES | (flags), (cfa), (ra), (fp), 16, -8, -16 }
#define PLAIN(flags, cfa_off, fp_off)					\
	{ SFRAME_PACKED_PLAIN | (flags), 0, 0, 0,			\
	  (cfa_off) + SFT_SAVE_AREA, SFT_RA_FROM_CFA, (fp_off) }

static const struct {
	const char			*what, *reason;
	struct sframe_packed_rule	rule;
} bad_rules[] = {
	{ "no kind", "row_rule", { .kind = 7 } },
	{ "unknown with a flag", "row_rule", { .kind = 0x80 } },
	{ "signal with a flag", "row_rule", { SFRAME_PACKED_SIGNAL | 0x40 } },
	{ "end with a flag", "row_rule", { SFRAME_PACKED_OUTERMOST | 0x40 } },
	{ "fp with a flag", "row_rule", { SFRAME_PACKED_FP | 0x40 } },
	{ "addend", "row_rule", { SFRAME_PACKED_ADDEND } },
	{ "no base", "row_rule", RULES(0, SP, CFA_LOAD, PLACE(BASE)) },
	{ "no base of cfa", "row_rule", RULES(0, PLACE(BASE), CFA_LOAD, 0) },
	{ "no base of ra", "row_rule", RULES(0, SP, PLACE(BASE), 0) },
	{ "nothing with a register", "row_rule", RULES(0, SP, CFA_LOAD, 1) },
	{ "nothing is loaded", "row_rule", RULES(0, SP, CFA_LOAD, 0x80) },
	{ "cfa with a register", "row_rule", RULES(0, SP, CFA_LOAD | 1, 0) },
	{ "cfa from nothing", "row_rule", RULES(0, 0, CFA_LOAD, 0) },
	{ "cfa from the cfa", "row_rule", RULES(0, PLACE(CFA), CFA_LOAD, 0) },
	{ "ra is the cfa", "row_rule", RULES(0, SP, PLACE(CFA), 0) },
	{ "flag of plain rules", "row_rule",
	  RULES(SFRAME_PACKED_FP_SAVED, SP, CFA_LOAD, 0) },
	{ "addend of what is not loaded", "row_rule",
	  RULES(SFRAME_PACKED_HAS_ADDEND, SP, CFA_LOAD, 0) },
	{ "addend that is none", "row_rule",
	  RULES(SFRAME_PACKED_HAS_ADDEND, SP | PLACE(LOAD), CFA_LOAD, 0) },
#if SFT_RA_OFF
	{ "no return address", "row_rule", RULES(0, SP, 0, 0) },
#endif
#ifndef SFT_SIGNED
	{ "signed", "row_rule", PLAIN(SFRAME_PACKED_MANGLED_RA, 16, 0) },
	{ "signed with a key", "row_rule", PLAIN(SFRAME_PACKED_KEY_B, 16, 0) },
	{ "signed, with places", "row_rule",
	  RULES(SFRAME_PACKED_MANGLED_RA, SP, CFA_LOAD, 0) },
#endif
	{ "stack goes down", "cfa_order", PLAIN(0, -8, 0) },
	{ "stack is not aligned", "cfa_align", PLAIN(0, 17, 0) },
	{ "stack is not there", "stack_fault", PLAIN(0, 0x7fffff00, 0) },
	{ "fp is not there", "stack_fault",
	  PLAIN(SFRAME_PACKED_FP_SAVED, 16, 0x7fffff00) },
	{ "no signal frame", SFT_NO_SIGNAL, { SFRAME_PACKED_SIGNAL } },
};

/* Guards against: accepting invalid rules, or reading invalid addresses. */
TEST_F(packed, bad_rules)
{
	struct table *table = self->table;
	unsigned int i;

	table->index[0] = RULE_OTHER;
	REGISTER(table);
	for (i = 0; i < ARRAY_SIZE(bad_rules); i++) {
		TH_LOG("%s", bad_rules[i].what);
		table->rules[RULE_OTHER] = bad_rules[i].rule;
		EXPECT_REFUSED(bad_rules[i].reason);
	}
	build(table, self->pool.text);
	EXPECT_GOOD();
	EXPECT_EQ(1, sft_pool_windows());
}

#ifdef SFT_REGNUM_THIRD

/* ---- A third register --------------------------------------------------- */

/* The CFA from rbx, as sft_enter has it after it has pushed three registers. */
static const struct sframe_packed_rule from_third = {
	.kind = SFRAME_PACKED_RULES,
	.cfa = PLACE(REG) | SFT_REGNUM_THIRD, .cfa_off = 32,
	.ra = CFA_LOAD, .ra_off = -8,
	.fp = CFA_LOAD, .fp_off = -16,
};

/* sft_enter, and functions with a frame pointer that keep the register. */
static void build_callers(struct table *table)
{
	build(table, (const void *)sft_enter);
	table->rules[RULE_OTHER] = from_third;
	table->rules[RULE_OTHER + 1] = (struct sframe_packed_rule)
		PLAIN(SFRAME_PACKED_FROM_FP | SFRAME_PACKED_FP_SAVED, 16, -16);
	table->rules[RULE_OTHER + 1].third = 1;
	table->blocks[0] = 1;
	table->blocks[1] = (const __u8 *)sft_outer - (const __u8 *)sft_enter;
	table->blocks[2] = RULE_OTHER;
	table->blocks[3] = RULE_OTHER + 1;
}

/* The target of the call before a return address, or 0. */
static __u64 called_from(__u64 ip)
{
	const __u8 *code = (const __u8 *)ip;
	__s32 distance;

	memcpy(&distance, code - sizeof(distance), sizeof(distance));
	return code[-5] == 0xe8 ? ip + distance : 0;
}

/* Guards against: losing a register that all functions keep. */
TEST_F(packed, third_register_is_kept)
{
	struct table *callers = (void *)(self->pool.section + SFT_PAGE);
	const size_t length = (const __u8 *)sft_leaf - (const __u8 *)sft_enter;
	const struct sft_call *call = &self->pool.call;
	const __u8 *ip = (const __u8 *)call->entry + sft_slot_arg.insns[0];
	const struct sframe_window_opts opts = {
		.size = sizeof(opts),
		.text_start = (uintptr_t)sft_enter,
		.text_length = length,
		.format = SFRAME_FORMAT_PACKED,
	};
	struct sft_chain chain;
	unsigned int i;

	for (i = 0; i < sft_slot_arg.nr_rows; i++)
		self->table->rules[RULE_SLOT + i].third = 1;
	REGISTER(self->table);
	build_callers(callers);
	ASSERT_EQ(0, sft_register(KEY + 1, callers, TABLE_LEN, &opts));
	ASSERT_EQ(0, sft_chain_at(ip, variant->defer, call, &chain));
	ASSERT_LE(5, chain.nr);
	EXPECT_EQ((uintptr_t)ip, chain.ip[0]);
	EXPECT_EQ((uintptr_t)sft_inner_ret, chain.ip[1]);
	EXPECT_EQ((uintptr_t)sft_outer_ret, chain.ip[2]);
	EXPECT_EQ((uintptr_t)sft_enter_ret, chain.ip[3]);
	EXPECT_EQ((uintptr_t)sft_enter, called_from(chain.ip[4]));

	/* Now one of them may have changed it. */
	callers->rules[RULE_OTHER + 1].third = 0;
	ASSERT_EQ(0, sft_chain_at(ip, variant->defer, call, &chain));
	EXPECT_CHAIN(&chain, (uintptr_t)ip, SFT_CALLERS);
	EXPECT_EQ(1, sft_refused("row_register"));
}

static void put_word(__u8 *stack, unsigned int off, __u64 word)
{
	memcpy(stack + off, &word, sizeof(word));
}

/*
 * Frames of three slots: the first has stored the register, the second keeps
 * it, and the third computes its CFA from it.
 */
static __u8 *make_third_stack(struct sft_pool *pool, __u64 *ips,
			      unsigned int nr)
{
	__u8 *stack = sft_map(16 * SFT_PAGE, SFT_RW);
	unsigned int sp = 256, i;

	if (!stack)
		return NULL;
	pool->call.entry = sft_onto;
	pool->call.target = stack + sp;
	for (i = 0; i < nr; i++) {
		ips[i] = (uintptr_t)pool->text + SFT_POOL_RET +
			 i % 3 * SFT_SLOT;
		put_word(stack, sp, ips[i]);
		sp += 8;
		/* Move sp to the return address of this frame. */
		if (i % 3 == 0) {
			put_word(stack, sp + 8, (uintptr_t)stack + sp + 256);
			sp += 24;
		} else if (i % 3 == 1) {
			sp += 8;
		} else {
			sp += 256 - 32 - 16 + 24;
		}
	}
	return stack;
}

/* Guards against: loading the register from a wrong word of the stack. */
TEST_F(packed, third_register_is_stored)
{
	enum { FRAMES = 30, STORED = RULE_SLOT, KEPT, FROM };
	struct table *table = self->table;
	struct sft_chain chain;
	__u64 ips[FRAMES];
	unsigned int i;

	table->rules[STORED] = frame_rule(32);
	table->rules[STORED].third = 3;
	table->rules[KEPT] = frame_rule(16);
	table->rules[KEPT].third = 1;
	table->rules[FROM] = from_third;
	table->blocks[0] = 2;
	for (i = 0; i < 2; i++)
		table->blocks[1 + i] = (1 + i) * SFT_SLOT;
	for (i = 0; i < 3; i++)
		table->blocks[3 + i] = STORED + i;
	REGISTER(table);
	ASSERT_NE(NULL, make_third_stack(&self->pool, ips, FRAMES));
	ASSERT_EQ(0, sft_chain_at(sft_escape_body, variant->defer,
				  &self->pool.call, &chain));
	ASSERT_EQ(FRAMES + 1, chain.nr);
	EXPECT_EQ((uintptr_t)sft_escape_body, chain.ip[0]);
	for (i = 0; i < FRAMES; i++)
		EXPECT_EQ(ips[i], chain.ip[1 + i]);

	/* Nothing stores it now; a step by frame pointer does not give it. */
	table->rules[STORED].third = 1;
	ASSERT_EQ(0, sft_chain_at(sft_escape_body, variant->defer,
				  &self->pool.call, &chain));
	EXPECT_EQ(4, chain.nr);
	EXPECT_EQ(1, sft_refused("row_register"));
}

#endif /* SFT_REGNUM_THIRD */

/* No rule follows the last one as its addend. */
SPOIL(addend_after_the_rules, "fre_offset")
{
	table->rules[NR_RULES - 1] = (struct sframe_packed_rule) {
		.kind = SFRAME_PACKED_RULES | SFRAME_PACKED_HAS_ADDEND,
		.cfa = SP | PLACE(LOAD), .ra = CFA_LOAD, .ra_off = -8,
	};
	table->index[0] = NR_RULES - 1;
}

/* Guards against: a step past the end of the table's text. */
TEST_F(packed, text_after_the_table)
{
	self->table->header.text_length = SFT_SLOT;
	REGISTER(self->table);
	EXPECT_REFUSED("no_fde");
}

TEST_HARNESS_MAIN
