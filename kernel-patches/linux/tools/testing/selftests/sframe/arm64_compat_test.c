// SPDX-License-Identifier: GPL-2.0
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * AArch32 tasks: they cannot register windows, and walks follow AArch32 frame
 * pointers.
 */
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <linux/elf.h>
#include <linux/hw_breakpoint.h>

#include "harness.h"

#include "slots.h"

#define TEXT		0x10000
/* Exit status of a child that could not execute the 32-bit program. */
#define NOT_RUN		255

/* Addresses in a program: the sampled one, and two return addresses. */
#define AT(off)		(TEXT + offsetof(struct program, code) + (off))
#define AT_NOP		AT(0x58)
#define AT_INNER_RET	AT(0x48)
#define AT_OUTER_RET	AT(0x28)
/* Version 5 of the EABI. */
#define ABI		0x05000000

/**
 * struct program - an ELF file, as it is loaded
 * @ehdr:	its header
 * @phdr:	all of it is text
 * @code:	begins with a prctl(), whose negative result is the exit status
 */
struct program {
	struct elf32_hdr	ehdr;
	struct elf32_phdr	phdr;
	__u32			code[24];
};

/* Index of prctl()'s option in @code. */
#define CODE_OPTION	13

static const struct program program = {
	.ehdr = {
		.e_ident = ELFMAG "\1\1\1",
		.e_type = ET_EXEC,
		.e_machine = EM_ARM,
		.e_version = EV_CURRENT,
		.e_entry = TEXT + offsetof(struct program, code),
		.e_phoff = offsetof(struct program, phdr),
		.e_flags = ABI,
		.e_ehsize = sizeof(struct elf32_hdr),
		.e_phentsize = sizeof(struct elf32_phdr),
		.e_phnum = 1,
	},
	.phdr = {
		.p_type = PT_LOAD,
		.p_vaddr = TEXT,
		.p_filesz = sizeof(struct program),
		.p_memsz = sizeof(struct program),
		.p_flags = PF_R | PF_X,
		.p_align = SFT_PAGE,
	},
	.code = {
		0xe59f002c,	/* 00: ldr r0, 34 */
		0xe3a01001,	/* 04: mov r1, #1 */
		0xe3a02000,	/* 08: mov r2, #0 */
		0xe3a03000,	/* 0c: mov r3, #0 */
		0xe3a04000,	/* 10: mov r4, #0 */
		0xe3a070ac,	/* 14: mov r7, #172: prctl */
		0xef000000,	/* 18: svc #0 */
		0xe1a05000,	/* 1c: mov r5, r0 */
		0xe3a0b000,	/* 20: mov fp, #0 */
		0xeb000003,	/* 24: bl 38 */
		0xe2650000,	/* 28: rsb r0, r5, #0 */
		0xe3a07001,	/* 2c: mov r7, #1: exit */
		0xef000000,	/* 30: svc #0 */
		0,		/* 34: the option */
		0xe1a0c00d,	/* 38: mov ip, sp */
		0xe92dd800,	/* 3c: push {fp, ip, lr, pc} */
		0xe24cb004,	/* 40: sub fp, ip, #4 */
		0xeb000000,	/* 44: bl 4c */
		0xe89da800,	/* 48: ldm sp, {fp, sp, pc} */
		0xe1a0c00d,	/* 4c: mov ip, sp */
		0xe92dd800,	/* 50: push {fp, ip, lr, pc} */
		0xe24cb004,	/* 54: sub fp, ip, #4 */
		0xe320f000,	/* 58: nop */
		0xe89da800,	/* 5c: ldm sp, {fp, sp, pc} */
	},
};

FIXTURE(compat)
{
	int	file;
	int	go[2];
	pid_t	pid;
};

FIXTURE_VARIANT(compat)
{
	int	option;
	bool	defer;
};

FIXTURE_VARIANT_ADD(compat, register_fp) { PR_SFRAME_REGISTER, false };
FIXTURE_VARIANT_ADD(compat, register_defer) { PR_SFRAME_REGISTER, true };
FIXTURE_VARIANT_ADD(compat, unregister_fp) { PR_SFRAME_UNREGISTER, false };
FIXTURE_VARIANT_ADD(compat, unregister_defer) { PR_SFRAME_UNREGISTER, true };
FIXTURE_VARIANT_ADD(compat, query_fp) { PR_SFRAME_QUERY, false };
FIXTURE_VARIANT_ADD(compat, query_defer) { PR_SFRAME_QUERY, true };

/* Create a file with a program that calls prctl() with this option. */
static int make_file(int option)
{
	struct program copy = program;
	int file = syscall(__NR_memfd_create, "program", 0);

	copy.code[CODE_OPTION] = option;
	if (file >= 0 && write(file, &copy, sizeof(copy)) != sizeof(copy))
		return -1;
	return file;
}

static void child(int file, int go)
{
	static char *const none[] = { "program", NULL };
	char byte;

	if (read(go, &byte, 1) == 1)
		syscall(__NR_execveat, file, "", none, none + 1,
			AT_EMPTY_PATH);
	_exit(NOT_RUN);
}

FIXTURE_SETUP(compat)
{
	if (sft_missing())
		SKIP(return, "%s", sft_missing());
	self->file = make_file(variant->option);
	ASSERT_LE(0, self->file);
	ASSERT_EQ(0, pipe(self->go));
	self->pid = fork();
	ASSERT_LE(0, self->pid);
	if (!self->pid)
		child(self->file, self->go[0]);
}

FIXTURE_TEARDOWN(compat)
{
	close(self->file);
	close(self->go[0]);
	close(self->go[1]);
}

/* Let the child execute the program; returns its exit status. */
static int run(int go, pid_t pid)
{
	int status;

	if (write(go, "", 1) != 1 || waitpid(pid, &status, 0) != pid ||
	    !WIFEXITED(status))
		return -1;
	return WEXITSTATUS(status);
}

static int open_event(struct sft_event *event, pid_t pid, bool defer)
{
	struct perf_event_attr attr;

	sft_attr_init(&attr, PERF_TYPE_BREAKPOINT, defer);
	attr.bp_type = HW_BREAKPOINT_X;
	attr.bp_addr = AT_NOP;
	attr.bp_len = SFT_BREAK_LEN;
	attr.exclude_kernel = 1;
	attr.enable_on_exec = 1;
	return sft_event_open_of(event, &attr, pid, -1);
}

/*
 * Guards against: windows for 32-bit code, and walks of it that assume 64-bit
 * frames. The callchain is taken immediately, even if it may be deferred.
 */
TEST_F(compat, calls_are_refused_and_frames_are_its_own)
{
	static const __u64 frames[] = { AT_NOP, AT_INNER_RET, AT_OUTER_RET };
	struct sft_event event;
	struct sft_chain chain;
	int status;

	ASSERT_EQ(0, open_event(&event, self->pid, variant->defer));
	status = run(self->go[1], self->pid);
	if (status == NOT_RUN)
		SKIP(return, "neither kernel nor processor have AArch32");
	EXPECT_EQ(EOPNOTSUPP, status);
	ASSERT_EQ(0, sft_event_chain(&event, &chain));
	EXPECT_TRUE(sft_chain_check(&chain, frames, ARRAY_SIZE(frames)));
	EXPECT_EQ(-ENODATA, sft_event_chain(&event, &chain));
	sft_event_close(&event);
}

TEST_HARNESS_MAIN
