// SPDX-License-Identifier: MIT
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Nearly all stubs are called, or jumped to with the return address on top of
 * the stack, which is the same. These are the exceptions.
 */
#include <fnmatch.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "stubs.h"

struct kind {
	const char	*pattern;
	enum flow_kind	kind;
};

/*
 * The native entry of the interpreter calls handlers. Method entries get the
 * sender's stack pointer in r13. Bytecodes, whose names are one word, run in a
 * method's frame, as do the addresses that methods return to.
 */
static const struct kind codelets[] = {
	{ "*method entry point*", FLOW_SENDER },
	{ "result handlers*", FLOW_CALLED },
	{ "slow signature handler", FLOW_CALLED },
	{ "*entry points", FLOW_SENDER_FRAME },
	{ "exception handling", FLOW_SENDER_FRAME },
	{ "throw exception entrypoints", FLOW_SENDER_FRAME },
	{ "* *", FLOW_NOTHING },
	{ "*", FLOW_SENDER_FRAME },
};

/*
 * Each stub of a shared buffer has its own event, except adapters of native
 * signatures and inline caches. Code that moves frames between stacks (Cont)
 * has no frame that rows could describe.
 */
static const struct kind stubs[] = {
	{ "I2C/C2I adapters*", FLOW_ADAPTER },
	{ "catch_exception", FLOW_FP_FRAME },
	{ "ExceptionBlob", FLOW_JUMPED_RDX },
	{ "_invoke*", FLOW_SENDER },
	{ "_linkTo*", FLOW_SENDER },
	{ "Cont*", FLOW_NOTHING },
	{ "cont_*", FLOW_NOTHING },
	{ "Interpreter", FLOW_NOTHING },
	{ "adapters", FLOW_NOTHING },
	{ "StubRoutines*", FLOW_NOTHING },
	{ "*[Bb]uffer", FLOW_NOTHING },
	{ "*_buffer*", FLOW_NOTHING },
	{ "Compile*", FLOW_NOTHING },
	{ "*", FLOW_CALLED },
};

static enum flow_kind find_kind(const struct kind *kind, const char *name)
{
	while (fnmatch(kind->pattern, name, 0))
		kind++;
	return kind->kind;
}

enum flow_kind stub_codelet_kind(const char *name)
{
	return find_kind(codelets, name);
}

/*
 * There are three safepoint blobs of one name. Those that a signal handler
 * jumps to first make room for a return address with push %rbx.
 */
enum flow_kind stub_kind(const char *name, const void *code)
{
	if (!strcmp(name, "SafepointBlob") && *(const uint8_t *)code == 0x53)
		return FLOW_JUMPED;
	if (!strcmp(name, "InlineCacheBuffer"))
		return FLOW_CALLED;
	return find_kind(stubs, name);
}

/* The VM declares no frame for the last two. */
static const char *const kept[] = {
	"I2C/C2I adapters*", "InlineCacheBuffer", "native signature handlers",
	"jni_fast_*", "*_stub", "vtable*", "itable*", "* Runtime1 stub",
	"*_barrier_slow", NULL,
};

bool stub_is_kept(const char *name)
{
	const char *const *pattern = kept;

	while (*pattern && fnmatch(*pattern, name, 0))
		pattern++;
	return *pattern;
}

bool stub_moves_frames(const char *name)
{
	return !fnmatch("Cont *", name, 0);
}

/* Buffers of many pieces, all entered in the same way. */
enum flow_kind stub_rest(const char *name)
{
	if (!strcmp(name, "InlineCacheBuffer") ||
	    !strcmp(name, "native signature handlers") ||
	    !fnmatch("I2C/C2I adapters*", name, 0) ||
	    !fnmatch("result handlers*", name, 0))
		return FLOW_CALLED;
	return FLOW_NOTHING;
}
