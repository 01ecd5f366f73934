/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Shared by the KUnit suites of SFrame windows: a section in user memory of the
 * test, and rows and windows made from it.
 */
#ifndef _KERNEL_UNWIND_SFRAME_KUNIT_H
#define _KERNEL_UNWIND_SFRAME_KUNIT_H

#include <kunit/test.h>

#include <linux/sframe.h>

#include <asm/unwind_user_kunit.h>
#include <asm/unwind_user_sframe.h>

#include "sframe.h"
#include "sframe_format.h"
#include "user.h"

struct file;

#define SFRAME_TEST_SIZE	(4 * PAGE_SIZE)
#define SFRAME_TEST_FDES	3

/* Three functions with a gap after each; the tests use the second. */
#define SFRAME_TEST_FUNC	0x200
#define SFRAME_TEST_FUNC_SIZE	0x80
#define SFRAME_TEST_OFF		0x10

/* A section as it is in memory. All functions share the same rows. */
struct sframe_test_image {
	struct sframe_header	header;
	struct sframe_fde	fdes[SFRAME_TEST_FDES];
	struct sframe_fde_attr	attr;
	u8			rows[256];
} __packed;

/**
 * struct sframe_test - initial state of a test, which may edit it
 * @text:	user address of executable memory
 * @data:	user address of memory for sections and stacks
 * @at:		address for the section
 * @len:	its length
 * @start:	of each function, relative to @text
 * @bias:	the section is built for text that lies this much lower
 * @image:	the section; its func_start fields are computed from @start
 * @window:	covers the first page of @text, with this section
 */
struct sframe_test {
	unsigned long			text;
	unsigned long			data;
	unsigned long			at;
	unsigned long			len;
	long				start[SFRAME_TEST_FDES];
	unsigned long			bias;
	struct sframe_test_image	image;
	struct sframe_window		window;
};

/* How far the CFA is above the caller's stack pointer. */
#ifdef UNWIND_USER_SFRAME_SP_OFF
#define SAVE_AREA	(-UNWIND_USER_SFRAME_SP_OFF)
#else
#define SAVE_AREA	0
#endif

#ifdef UNWIND_USER_SFRAME_CFA_SCALE
#define CFA_SCALE	UNWIND_USER_SFRAME_CFA_SCALE
#else
#define CFA_SCALE	1
#endif

/*
 * Tests give the offset of the caller's stack pointer. CFA() converts it to the
 * word in a row, CFA_RULE() to the offset in the rule.
 */
#define CFA(off)	((off) / CFA_SCALE & 0xff)
#define CFA_RULE(off)	((off) + SAVE_AREA)

/*
 * DEFAULT rows have the return address at a fixed offset, or store its offset:
 * RA_WORD is that word, if any, and RA_WORDS counts it. RA_OFF is relative to
 * the CFA, RA_AT to the caller's stack pointer.
 */
#if UNWIND_USER_SFRAME_RA_OFF
#define RA_OFF		UNWIND_USER_SFRAME_RA_OFF
#define RA_WORDS	0
#define RA_WORD
#else
#define RA_OFF		(SAVE_AREA ? -48 : -8)
#define RA_WORDS	1
#define RA_BYTE		((u8)RA_OFF)
#define RA_WORD		RA_BYTE,
#endif
#define RA_AT		(RA_OFF + SAVE_AREA)
/* Maximum number of words in a DEFAULT row. */
#define MAX_WORDS	(2 + RA_WORDS)
/* Bytes of a row with only CFA and return address. */
#define ROW_SIZE	(3 + RA_WORDS)

/* Byte @nr of a number of @size bytes, as the machine stores it. */
#define BYTE(val, size, nr)						\
	((val) >> 8 * (IS_ENABLED(CONFIG_CPU_BIG_ENDIAN) ?		\
		       (size) - 1 - (nr) : (nr)) & 0xff)

/* The same for the CFA offset as stored in a row. */
#define CFA_BYTE(off, size, nr)	BYTE((off) / CFA_SCALE, size, nr)

/* Info bytes of rows with one-byte words; RA_WORDS is added to @words. */
#define INFO_SP_RA(words)	INFO_SP((words) + RA_WORDS, 0)
#define INFO_FP_RA(words)	INFO_FP((words) + RA_WORDS, 0)

/* Info byte of a row: @words of 1 << @size bytes. */
#define INFO_SP(words, size)	(1 | (words) << 1 | (size) << 5)
#define INFO_FP(words, size)	((words) << 1 | (size) << 5)
#define INFO_FLEX(words)	INFO_FP(words, 0)

/* Control words of FLEX rows */
#define REG(nr)			((nr) << 3 | SFRAME_FLEX_REG_P)
#define REG_DEREF(nr)		(REG(nr) | SFRAME_FLEX_DEREF_P)
#define OTHER_REG		UNWIND_USER_KUNIT_REG

/* Initializers of struct sframe_test_rows. */
#define BYTES(...)							\
	.bytes = { __VA_ARGS__ },					\
	.nr_bytes = sizeof((u8 []){ __VA_ARGS__ })
#define FLEX			.info2 = SFRAME_FDE_TYPE_FLEX

/**
 * struct sframe_test_rows - the rows of a function and the expected result
 * @name:	of the case
 * @reason:	expected
 * @frame:	expected if @reason is SFRAME_REASON_NONE
 * @info:	of the attributes
 * @info2:	of the attributes
 * @rep_size:	of the attributes
 * @nr:		number of rows
 * @nr_bytes:	of the rows
 * @bytes:	the rows
 */
struct sframe_test_rows {
	const char			*name;
	enum sframe_reason		reason;
	struct unwind_user_frame	frame;
	u8				info;
	u8				info2;
	u8				rep_size;
	u8				nr;
	u8				nr_bytes;
	u8				bytes[48];
};

int sframe_test_init(struct kunit *test);
unsigned long sframe_test_map(struct kunit *test, unsigned long where,
			      struct file *file, unsigned long prot);
unsigned long sframe_test_ip(const struct sframe_test *ctx);

void sframe_test_put(struct kunit *test, unsigned long addr, const void *bytes,
		     unsigned long nr);
void sframe_test_set_rows(struct sframe_test *ctx, unsigned int nr,
			  const u8 *bytes, unsigned int nr_bytes);
void sframe_test_use_rows(struct kunit *test,
			  const struct sframe_test_rows *rows);
void sframe_test_write(struct kunit *test, unsigned long nr);
int sframe_test_header(struct kunit *test);
bool sframe_test_fault_in(const struct unwind_user_state *state);

void sframe_test_start(struct unwind_user_state *state);
enum sframe_reason sframe_test_read_nofault(struct kunit *test,
					    struct unwind_user_state *state,
					    unsigned long ip,
					    struct sframe_func *func);
enum sframe_reason sframe_test_read(struct kunit *test, unsigned long ip,
				    struct unwind_user_state *state,
				    struct sframe_func *func);
enum sframe_reason sframe_test_reason(struct kunit *test, unsigned long ip);

#define SFRAME_EXPECT_AT(test, ip, reason)				\
	KUNIT_EXPECT_EQ(test, sframe_test_reason(test, ip), reason)

struct sframe_window *sframe_test_publish(struct kunit *test,
					  unsigned long key, bool replace);
int sframe_test_insert(struct kunit *test, unsigned long key,
		       unsigned long start, unsigned long end);
int sframe_test_replace(struct kunit *test, unsigned long key,
			unsigned long start, unsigned long end);

#define SFRAME_TEST_KEY		1
#define SFRAME_TEST_RA		0x12345

/* A function that has pushed nothing. */
extern const struct sframe_test_rows sframe_call_rows;

void sframe_test_put_word(struct kunit *test, unsigned long addr,
			  unsigned long word);
unsigned long sframe_test_stack(const struct sframe_test *ctx);
void sframe_test_begin(struct kunit *test, struct pt_regs *regs,
		       struct unwind_user_state *state);
void sframe_test_walk(struct kunit *test, struct pt_regs *regs,
		      struct unwind_user_state *state,
		      const struct sframe_test_rows *rows);
int sframe_test_step_nofault(struct unwind_user_state *state);
int sframe_test_step(struct unwind_user_state *state);
void sframe_expect_refused(struct kunit *test, struct unwind_user_state *state,
			   enum sframe_reason reason);

#endif
