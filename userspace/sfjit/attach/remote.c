// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/*
 * The kernel restarts an interrupted call such as nanosleep() when the thread
 * leaves the stop that interrupted it, as its registers say. It does not when
 * the thread leaves a stop at the end of another system call. So interrupt the
 * thread again, and restore its registers in that stop. No call made here
 * changes what restart_syscall() needs.
 */
#include <elf.h>
#include <errno.h>
#include <linux/rseq.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/uio.h>

#include "remote.h"
#include "trace.h"

#define CALL_NS		1000000000ULL

/* si_code of SIGSYS, from <asm-generic/siginfo.h>, Linux 5.11. */
#ifndef SYS_USER_DISPATCH
#define SYS_USER_DISPATCH	2
#endif

/*
 * We may always read a tracee. Any error but EFAULT means that it is exiting.
 */
static int copy_result(ssize_t n, size_t length)
{
	if (n < 0)
		return errno == EFAULT ? -EFAULT : -ESRCH;
	return (size_t)n == length ? 0 : -EFAULT;
}

int remote_read(pid_t pid, uint64_t address, void *to, size_t length)
{
	struct iovec here = { to, length };
	struct iovec there = { (void *)(uintptr_t)address, length };

	return copy_result(process_vm_readv(pid, &here, 1, &there, 1, 0),
			   length);
}

int remote_write(pid_t pid, uint64_t address, const void *from, size_t length)
{
	struct iovec here = { (void *)from, length };
	struct iovec there = { (void *)(uintptr_t)address, length };

	return copy_result(process_vm_writev(pid, &here, 1, &there, 1, 0),
			   length);
}

static int set_registers(pid_t tid, const registers *r)
{
	struct iovec v = { (void *)r, sizeof(*r) };

	return ptrace(PTRACE_SETREGSET, tid, NT_PRSTATUS, &v) ? -errno : 0;
}

static int get_registers(pid_t tid, registers *r)
{
	struct iovec v = { r, sizeof(*r) };

	if (ptrace(PTRACE_GETREGSET, tid, NT_PRSTATUS, &v))
		return -errno;
	return v.iov_len == sizeof(*r) ? 0 : -EOPNOTSUPP;
}

/*
 * Abort a restartable sequence in which the thread was stopped. The kernel
 * would do so on return there, but forgets the sequence when the thread first
 * runs elsewhere. It kills the thread if the abort address has no signature
 * before it.
 */
static int leave_sequence(struct remote *r)
{
	struct __ptrace_rseq_configuration area;
	uint64_t pointer, none = 0;
	uint32_t signature;
	struct rseq_cs cs;
	int ret;

	if (ptrace(PTRACE_GET_RSEQ_CONFIGURATION, r->tid, sizeof(area),
		   &area) < 0 || !area.rseq_abi_pointer)
		return 0;
	ret = remote_read(r->tid, area.rseq_abi_pointer +
			  offsetof(struct rseq, rseq_cs), &pointer,
			  sizeof(pointer));
	if (ret || !pointer)
		return ret;
	ret = remote_read(r->tid, pointer, &cs, sizeof(cs));
	if (ret || registers_ip(&r->own) - cs.start_ip >= cs.post_commit_offset)
		return ret;
	ret = remote_read(r->tid, cs.abort_ip - sizeof(signature), &signature,
			  sizeof(signature));
	if (ret || signature != area.signature)
		return -EFAULT;
	registers_set_ip(&r->own, cs.abort_ip);
	r->elsewhere = true;
	return remote_write(r->tid, area.rseq_abi_pointer +
			    offsetof(struct rseq, rseq_cs), &none,
			    sizeof(none));
}

static int take_registers(struct remote *r)
{
	int ret = get_registers(r->tid, &r->own);

	return ret ? ret : leave_sequence(r);
}

static int put_back(struct remote *r)
{
	int ret = r->elsewhere ? set_registers(r->tid, &r->own) : 0;

	r->elsewhere = false;
	return ret;
}

int remote_begin(struct remote *r, pid_t tid, uint64_t code)
{
	*r = (struct remote) { .tid = tid, .code = code };
	return take_registers(r);
}

static uint64_t deadline(void)
{
	return trace_clock_ns() + CALL_NS;
}

static int deliver(struct remote *r, int signal)
{
	int ret = put_back(r);

	if (ret)
		return ret;
	ptrace(PTRACE_INTERRUPT, r->tid, 0, 0);
	ptrace(PTRACE_CONT, r->tid, 0, signal);
	ret = trace_settle(r->tid, deadline());
	return ret ? ret : take_registers(r);
}

/*
 * Syscall User Dispatch refused our call. The program's own SIGSYS are
 * delivered.
 */
static bool is_dispatch_refusal(const struct remote *r, int signal)
{
	siginfo_t info;

	return signal == SIGSYS &&
	       !ptrace(PTRACE_GETSIGINFO, r->tid, 0, &info) &&
	       info.si_code == SYS_USER_DISPATCH;
}

/* The thread may be frozen. Make sure that it does not make the call later. */
static int give_up(struct remote *r)
{
	r->lost = true;
	ptrace(PTRACE_INTERRUPT, r->tid, 0, 0);
	if (!trace_settle(r->tid, deadline()))
		put_back(r);
	return -ETIMEDOUT;
}

/*
 * Runs to the start of the call, or from there to its end. Returns -EAGAIN if a
 * signal came before the start.
 */
static int advance(struct remote *r)
{
	struct trace_report report;
	int ret;

	do {
		if (ptrace(PTRACE_SYSCALL, r->tid, 0, 0))
			return -errno;
		ret = trace_wait(r->tid, deadline(), &report);
		if (ret)
			return ret == -ETIMEDOUT ? give_up(r) : ret;
	} while (report.event == TRACE_STOP);
	if (report.event == TRACE_CALL)
		return 0;
	if (is_dispatch_refusal(r, report.signal))
		return -ECONNREFUSED;
	ret = deliver(r, report.signal);
	return ret ? ret : -EAGAIN;
}

static int begin_call(struct remote *r, long nr, const uint64_t args[6])
{
	registers ours;
	int ret;

	do {
		ours = r->own;
		registers_call(&ours, r->code, nr, args);
		r->elsewhere = true;
		ret = set_registers(r->tid, &ours);
		if (!ret)
			ret = advance(r);
	} while (ret == -EAGAIN);
	return ret;
}

long remote_call(struct remote *r, long nr, const uint64_t args[6])
{
	registers after;
	int ret = r->lost ? -ETIMEDOUT : begin_call(r, nr, args);

	if (!ret)
		ret = advance(r);
	if (!ret)
		ret = get_registers(r->tid, &after);
	return ret ? ret : registers_result(&after);
}

int remote_end(struct remote *r)
{
	struct trace_report report;
	int ret;

	if (!r->elsewhere)
		return 0;
	ptrace(PTRACE_INTERRUPT, r->tid, 0, 0);
	ptrace(PTRACE_CONT, r->tid, 0, 0);
	ret = trace_wait(r->tid, deadline(), &report);
	if (!ret && report.event == TRACE_SIGNAL &&
	    !is_dispatch_refusal(r, report.signal))
		ret = deliver(r, report.signal);
	return ret ? ret : put_back(r);
}
