// SPDX-License-Identifier: MIT
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * usage: bpf_stacks PID KIND CONFIG
 *
 * A BPF program takes the user stack at each event of a process, until stdin
 * ends: by bpf_get_stack() and by bpf_get_stackid(). Prints "ready", and in the
 * end a line for each stack: the name and the addresses, or the errno.
 *
 * KIND is clock, with a frequency; callchain, the same for an event that has
 * a callchain of its own; fault, with a period; tracepoint or probe, with the
 * id of the event; or raw, with the name of a tracepoint.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <linux/bpf.h>
#include <linux/perf_event.h>

#define MAX_STACKS	4096
#define MAX_DEPTH	127
#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

struct stack {
	int64_t		size;
	int64_t		id;
	uint64_t	ips[MAX_DEPTH];
};

#define IPS_SIZE	sizeof(((struct stack *)0)->ips)

static int check(const char *what, int ret)
{
	if (ret >= 0)
		return ret;
	perror(what);
	exit(1);
}

static int bpf(int command, union bpf_attr *attr)
{
	return check("bpf", syscall(SYS_bpf, command, attr, sizeof(*attr)));
}

static int make_map(int type, size_t value_size, int entries)
{
	union bpf_attr attr = {
		.map_type = type,
		.key_size = sizeof(uint32_t),
		.value_size = value_size,
		.max_entries = entries,
	};

	return bpf(BPF_MAP_CREATE, &attr);
}

static void look_up(int map, uint32_t key, void *value)
{
	union bpf_attr attr = {
		.map_fd = map,
		.key = (uintptr_t)&key,
		.value = (uintptr_t)value,
	};

	bpf(BPF_MAP_LOOKUP_ELEM, &attr);
}

#define INSN(c, d, s, o, i) \
	((struct bpf_insn){ .code = (c), .dst_reg = BPF_REG_##d, \
			    .src_reg = BPF_REG_##s, .off = (o), .imm = (i) })
#define CALL(f)		INSN(BPF_JMP | BPF_CALL, 0, 0, 0, BPF_FUNC_##f)
#define MOVE(d, s)	INSN(BPF_ALU64 | BPF_MOV | BPF_X, d, s, 0, 0)
#define SET(d, i)	INSN(BPF_ALU64 | BPF_MOV | BPF_K, d, 0, 0, i)
#define ADD(d, i)	INSN(BPF_ALU64 | BPF_ADD | BPF_K, d, 0, 0, i)
#define SHIFT(d, i)	INSN(BPF_ALU64 | BPF_RSH | BPF_K, d, 0, 0, i)
#define STORE(d, o, s)	INSN(BPF_STX | BPF_MEM | BPF_DW, d, s, o, 0)
#define STORE_KEY(s)	INSN(BPF_STX | BPF_MEM | BPF_W, 10, s, -4, 0)
#define FETCH_ADD(d, s)	INSN(BPF_STX | BPF_ATOMIC | BPF_DW, d, s, 0, \
			     BPF_ADD | BPF_FETCH)
#define JUMP_NE(d, i, o)	INSN(BPF_JMP | BPF_JNE | BPF_K, d, 0, o, i)
#define JUMP_0(d, o)	INSN(BPF_JMP | BPF_JEQ | BPF_K, d, 0, o, 0)
#define MAP(d, fd)	INSN(BPF_LD | BPF_IMM | BPF_DW, d, 1, 0, fd), \
			INSN(0, 0, 0, 0, 0)
#define EXIT		INSN(BPF_JMP | BPF_EXIT, 0, 0, 0, 0)

/* The jumps lead to the end. */
static int load(int type, int pid, int count, int stacks, int by_id)
{
	const struct bpf_insn insns[] = {
		MOVE(6, 1),
		CALL(get_current_pid_tgid),
		SHIFT(0, 32),
		JUMP_NE(0, pid, 31),
		/* r0 = one more stack */
		SET(1, 0),
		STORE_KEY(1),
		MAP(1, count),
		MOVE(2, 10),
		ADD(2, -4),
		CALL(map_lookup_elem),
		JUMP_0(0, 23),
		SET(1, 1),
		FETCH_ADD(0, 1),
		/* r7 = where it goes */
		STORE_KEY(1),
		MAP(1, stacks),
		MOVE(2, 10),
		ADD(2, -4),
		CALL(map_lookup_elem),
		JUMP_0(0, 14),
		MOVE(7, 0),
		MOVE(1, 6),
		MOVE(2, 7),
		ADD(2, offsetof(struct stack, ips)),
		SET(3, IPS_SIZE),
		SET(4, BPF_F_USER_STACK),
		CALL(get_stack),
		STORE(7, offsetof(struct stack, size), 0),
		MOVE(1, 6),
		MAP(2, by_id),
		SET(3, BPF_F_USER_STACK),
		CALL(get_stackid),
		STORE(7, offsetof(struct stack, id), 0),
		SET(0, 0),
		EXIT,
	};
	union bpf_attr attr = {
		.prog_type = type,
		.insn_cnt = ARRAY_SIZE(insns),
		.insns = (uintptr_t)insns,
		.license = (uintptr_t)"GPL",
	};

	return bpf(BPF_PROG_LOAD, &attr);
}

static void attach_raw(int program, const char *name)
{
	union bpf_attr attr = {
		.raw_tracepoint.name = (uintptr_t)name,
		.raw_tracepoint.prog_fd = program,
	};

	bpf(BPF_RAW_TRACEPOINT_OPEN, &attr);
}

static void attach(int program, struct perf_event_attr *attr, int pid)
{
	int event = check("perf_event_open",
			  syscall(SYS_perf_event_open, attr, pid, -1, -1,
				  PERF_FLAG_FD_CLOEXEC));

	check("PERF_EVENT_IOC_SET_BPF",
	      ioctl(event, PERF_EVENT_IOC_SET_BPF, program));
	check("PERF_EVENT_IOC_ENABLE", ioctl(event, PERF_EVENT_IOC_ENABLE, 0));
}

static int set_kind(const char *kind, long config, struct perf_event_attr *attr)
{
	attr->size = sizeof(*attr);
	attr->disabled = 1;
	attr->type = PERF_TYPE_SOFTWARE;
	attr->sample_period = config;
	if (!strcmp(kind, "clock") || !strcmp(kind, "callchain")) {
		attr->config = PERF_COUNT_SW_CPU_CLOCK;
		attr->freq = 1;
		if (!strcmp(kind, "callchain"))
			attr->sample_type = PERF_SAMPLE_CALLCHAIN;
		return BPF_PROG_TYPE_PERF_EVENT;
	}
	if (!strcmp(kind, "fault")) {
		attr->config = PERF_COUNT_SW_PAGE_FAULTS;
		return BPF_PROG_TYPE_PERF_EVENT;
	}
	attr->type = PERF_TYPE_TRACEPOINT;
	attr->config = config;
	attr->sample_period = 1;
	return strcmp(kind, "probe") ? BPF_PROG_TYPE_TRACEPOINT :
		BPF_PROG_TYPE_KPROBE;
}

static void print(const char *name, const uint64_t *ips, int count)
{
	int i;

	printf("%s", name);
	for (i = 0; i < count && ips[i]; i++)
		printf(" %#llx", (unsigned long long)ips[i]);
	printf("\n");
}

static void print_stacks(int count, int stacks, int by_id)
{
	uint64_t i, taken, ips[MAX_DEPTH];
	struct stack stack;

	look_up(count, 0, &taken);
	for (i = 0; i < taken && i < MAX_STACKS; i++) {
		look_up(stacks, i, &stack);
		if (stack.size < 0)
			printf("get_stack %lld\n", (long long)stack.size);
		else
			print("get_stack", stack.ips,
			      stack.size / sizeof(ips[0]));
		if (stack.id < 0) {
			printf("get_stackid %lld\n", (long long)stack.id);
			continue;
		}
		look_up(by_id, stack.id, ips);
		print("get_stackid", ips, MAX_DEPTH);
	}
}

int main(int argc, char **argv)
{
	struct perf_event_attr attr = { 0 };
	int count, stacks, by_id, pid;
	char line[16];

	if (argc != 4)
		return 2;
	pid = atoi(argv[1]);
	count = make_map(BPF_MAP_TYPE_ARRAY, sizeof(uint64_t), 1);
	stacks = make_map(BPF_MAP_TYPE_ARRAY, sizeof(struct stack), MAX_STACKS);
	by_id = make_map(BPF_MAP_TYPE_STACK_TRACE, IPS_SIZE, 4 * MAX_STACKS);
	if (!strcmp(argv[2], "raw"))
		attach_raw(load(BPF_PROG_TYPE_RAW_TRACEPOINT, pid, count,
				stacks, by_id), argv[3]);
	else
		attach(load(set_kind(argv[2], atol(argv[3]), &attr), pid, count,
			    stacks, by_id), &attr, pid);
	puts("ready");
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin))
		;
	print_stacks(count, stacks, by_id);
	return 0;
}
