// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/*
 * Find the Python frames of an interrupted thread for its call chain.
 *
 * The interpreter's loop runs a function and the Python functions that it
 * calls. Calls through C enter the loop again. Each time the loop puts its own
 * frame, the entry, below the first function's. So the frames of a thread form
 * one run for each time that the loop is on the stack.
 *
 * The thread may be anywhere in the loop. So every read is checked first, and
 * frames that do not fit mean no answer. Runs and native loops are matched one
 * to one, without any left over. So there is no answer either if the walk ends
 * early, or if the thread has frames of another interpreter. Only an
 * interrupted loop may lack a run, before it has begun it or after it has ended
 * it. Its entry is at a fixed distance from its stack pointer.
 *
 * A frame that was just linked might still point to the previous one. Frames on
 * the data stack begin where the next outer one ends. Between them may lie
 * frames that have ended but whose references are still being dropped, which
 * may run functions.
 */
#define Py_BUILD_CORE
#include <Python.h>
#include <internal/pycore_frame.h>
#include <internal/pycore_runtime.h>

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <unwind.h>

#include <code.h>
#include <context.h>

#include "assist.h"

#define FRAME_BYTES	offsetof(_PyInterpreterFrame, localsplus)

/* Frames of an answer, entries, and the innermost run again. */
#define MOST_FRAMES	(3 * SFJIT_ASSIST_FRAMES)

/* A page, or a part of one. */
#define PAGE		4096UL

/*
 * Bytes that a call in the loop may push below its frame. This is less than the
 * least distance of two loops: two return addresses and the alignment.
 */
#define ARGUMENTS	16

/* ---- What is known of this interpreter ------------------------------------ */

static _Py_CODEUNIT *entry_code;
static uintptr_t entry_distance;	/* from the loop's stack pointer */

/* The thread whose outer frames are hidden. @top: the first outer frame. */
static struct {
	PyThreadState *thread;
	uint32_t runs;
	uintptr_t top;
} hidden;

#define SAME(part, field, type, member) \
	(offsets->part.field == offsetof(type, member))

static bool has_layout(const _Py_DebugOffsets *offsets)
{
	return SAME(thread_state, interp, PyThreadState, interp) &&
	       SAME(thread_state, current_frame, PyThreadState,
		    current_frame) &&
	       SAME(thread_state, thread_id, PyThreadState, thread_id) &&
	       SAME(interpreter_frame, previous, _PyInterpreterFrame,
		    previous) &&
	       SAME(interpreter_frame, executable, _PyInterpreterFrame,
		    f_executable) &&
	       SAME(interpreter_frame, instr_ptr, _PyInterpreterFrame,
		    instr_ptr) &&
	       SAME(interpreter_frame, localsplus, _PyInterpreterFrame,
		    localsplus) &&
	       SAME(interpreter_frame, owner, _PyInterpreterFrame, owner) &&
	       SAME(code_object, filename, PyCodeObject, co_filename) &&
	       SAME(code_object, name, PyCodeObject, co_name) &&
	       SAME(code_object, qualname, PyCodeObject, co_qualname) &&
	       SAME(code_object, co_code_adaptive, PyCodeObject,
		    co_code_adaptive) &&
	       SAME(unicode_object, state, PyASCIIObject, state) &&
	       SAME(unicode_object, length, PyASCIIObject, length) &&
	       offsets->unicode_object.asciiobject_size ==
	       sizeof(PyASCIIObject);
}

/* The thread's state, even while it does not hold the GIL. */
static PyThreadState *thread_state(void)
{
	const Py_tss_t *key = &_PyRuntime.autoTSSkey;

	/* An array lookup in the thread's memory: async-signal-safe. */
	return key->_is_initialized ? pthread_getspecific(key->_key) : NULL;
}

const char *assist_foreign_layout(void)
{
	const _Py_DebugOffsets *offsets = &_PyRuntime.debug_offsets;

	if (memcmp(offsets->cookie, _Py_Debug_Cookie, sizeof(offsets->cookie)))
		return "it has no description of its structures";
	if (offsets->version >> 16 != PY_VERSION_HEX >> 16)
		return "it is another version";
	if (offsets->free_threaded)
		return "it has no GIL";
	if (!has_layout(offsets) ||
	    thread_state() != PyGILState_GetThisThreadState())
		return "its structures are not those of a release";
	return NULL;
}

/* ---- Memory, in a handler ------------------------------------------------- */

/*
 * Whether 8 bytes are readable. The cheapest test is a system call that reads
 * them and then rejects the arguments; copying takes ten times as long. Frames
 * belong to this thread, which alone frees them, until the interpreter ends;
 * assist_end() is called before that.
 */
static bool can_read(uintptr_t at)
{
	return syscall(SYS_rt_sigprocmask, ~0, at, NULL, sizeof(uint64_t)) &&
	       errno == EINVAL;
}

/* The last page known to be readable, for each kind of memory. */
enum kind { STACK, FRAMES, NR_KINDS };

static __attribute__((noinline))
bool is_there(uintptr_t pages[NR_KINDS], enum kind kind, uintptr_t at)
{
	if (pages[kind] == (at & -PAGE))
		return true;
	if (!can_read(at & -sizeof(uint64_t)))
		return false;
	pages[kind] = at & -PAGE;
	return true;
}

/* Only its first page is remembered: other objects are at lower addresses. */
static inline bool has_object(uintptr_t pages[NR_KINDS], enum kind kind,
			      uintptr_t at, size_t size)
{
	/* The usual case: the whole object is in a known page. */
	if (at - pages[kind] <= PAGE - size)
		return true;
	return is_there(pages, kind, at + size - 1) &&
	       is_there(pages, kind, at);
}

/* ---- Runs, in a handler --------------------------------------------------- */

struct walk {
	const struct sfjit_assist_stack *stack;
	uint32_t loop, next;	/* frames of the kernel's walk */
	uintptr_t entry;	/* the last entry; at first the stack pointer */
	uintptr_t inner;	/* the last frame on the data stack */
	unsigned int crossed;	/* entries since then */
	unsigned int left;	/* frames left to read: links may form a ring */
	uintptr_t pages[NR_KINDS];
};

/* All entries lie on the thread's stack, near each other. */
#define NEAR	(256UL << 10)

static inline const _PyInterpreterFrame *read_frame(struct walk *walk,
						    uintptr_t at)
{
	/* A half-written link. */
	if (!at || at % sizeof(void *) || !walk->left--)
		return NULL;
	return has_object(walk->pages, at - walk->entry < NEAR ? STACK : FRAMES,
			  at, FRAME_BYTES) ? (const void *)at : NULL;
}

static bool is_entry_frame(const _PyInterpreterFrame *frame)
{
	/* The entry is linked before its owner is set. */
	return frame->f_executable == Py_None &&
	       (frame->owner == FRAME_OWNED_BY_CSTACK ||
		frame->instr_ptr == entry_code);
}

/* Goes to the next loop of the walk, or returns false. */
static bool next_loop(struct walk *walk)
{
	uint32_t i = walk->next;

	while (i < walk->stack->nr &&
	       !assist_is_loop(walk->stack->frames[i], i > 0))
		i++;
	walk->loop = i;
	walk->next = i + 1;
	return i < walk->stack->nr;
}

/* Whether only frames that have ended are left. */
static bool have_ended(struct walk *walk, uintptr_t at)
{
	const _PyInterpreterFrame *frame;
	struct assist_code code;

	while (at < walk->inner) {
		frame = read_frame(walk, at);
		if (!frame || frame->owner != FRAME_OWNED_BY_THREAD ||
		    frame->stacktop ||
		    assist_find_code(frame->f_executable, &code))
			return false;
		at += code.frame_size;
	}
	return at == walk->inner;
}

/*
 * The first frame of each chunk of the data stack follows its header; in the
 * first chunk one word is skipped.
 */
#define PIECE_START	offsetof(_PyStackChunk, data)
#define STACK_START	(PIECE_START + sizeof(PyObject *))

/*
 * Frames of generators lie elsewhere. A frame that has ended belongs to this
 * run's loop, and dropping its references has started another one.
 */
static bool fits_chunk(struct walk *walk, uintptr_t at, size_t size)
{
	return !walk->inner || at + size == walk->inner ||
	       walk->inner % PAGE == PIECE_START ||
	       (walk->crossed && have_ended(walk, at + size));
}

/*
 * Whether no frame is left between the outermost one and the start of the
 * stack. One that has ended has an entry of its own, after that of the
 * outermost one.
 */
static bool is_last(struct walk *walk, bool has_hidden)
{
	uintptr_t start = has_hidden ? hidden.top :
				       (walk->inner & -PAGE) + STACK_START;

	return !walk->inner || walk->inner == start ||
	       (has_hidden && walk->inner % PAGE == PIECE_START) ||
	       (walk->crossed > 1 && have_ended(walk, start));
}

/* @direct: called by the frame read last, not through C. */
static int add_python_frame(struct walk *walk, uintptr_t at,
			    const _PyInterpreterFrame *frame, bool direct)
{
	bool stacked = frame->owner == FRAME_OWNED_BY_THREAD;
	struct assist_code code;

	/* A torn frame, or its code is not a function. */
	if ((!stacked && frame->owner != FRAME_OWNED_BY_GENERATOR) ||
	    assist_find_code(frame->f_executable, &code))
		return -1;
	/* A caller inside the loop has stored its stack top. */
	if (direct && frame->stacktop < 0)
		return -1;
	if (stacked) {
		/*
		 * Frames between them are missing, or none of them are frames.
		 */
		if (!fits_chunk(walk, at, code.frame_size))
			return -1;
		walk->inner = at;
		walk->crossed = 0;
	}
	return code.name ? sfjit_assist_insert(walk->stack, walk->loop,
					       code.name) : 0;
}

/* Goes to the first frame of the next outer run. */
static int add_run(struct walk *walk, uintptr_t *at)
{
	const _PyInterpreterFrame *frame = read_frame(walk, *at);
	bool direct = false, stacked;

	while (frame && !is_entry_frame(frame)) {
		stacked = frame->owner == FRAME_OWNED_BY_THREAD;
		if (add_python_frame(walk, *at, frame, direct))
			return -1;
		direct = stacked;
		*at = (uintptr_t)frame->previous;
		frame = read_frame(walk, *at);
	}
	/* Outer entries are at higher addresses. */
	if (!frame || *at <= walk->entry)
		return -1;
	walk->entry = *at;
	walk->crossed++;
	*at = (uintptr_t)frame->previous;
	return 0;
}

static int add_runs(struct walk *walk, uintptr_t at, bool has_hidden)
{
	uint32_t hidden_runs = has_hidden ? hidden.runs : 0;

	while (at)
		/* The walk has fewer loops than the thread. */
		if (!next_loop(walk) || add_run(walk, &at))
			return -1;
	while (next_loop(walk))
		/* The walk has too many loops. */
		if (!hidden_runs--)
			return -1;
	return hidden_runs || !is_last(walk, has_hidden) ? -1 : 0;
}

/*
 * Finds the entry of the innermost run, 0 if there is none; fails on a fault.
 */
static int find_entry_frame(struct walk *walk, uintptr_t *at)
{
	const _PyInterpreterFrame *frame;

	while (*at) {
		frame = read_frame(walk, *at);
		if (!frame)
			return -1;
		if (is_entry_frame(frame))
			return 0;
		*at = (uintptr_t)frame->previous;
	}
	return 0;
}

/*
 * The innermost loop itself was interrupted. Skip it if the innermost run
 * belongs to another loop.
 */
static int check_innermost(struct walk *walk, uintptr_t at)
{
	uintptr_t entry = at;

	if (find_entry_frame(walk, &entry))
		return -1;
	if (!entry || entry - walk->entry > entry_distance + ARGUMENTS) {
		next_loop(walk);
		return 0;
	}
	/* It cannot be nearer. */
	return entry - walk->entry < entry_distance ? -1 : 0;
}

/* Another thread may have deleted the state. */
static bool is_known_thread(struct walk *walk, const PyThreadState *thread)
{
	return thread && has_object(walk->pages, FRAMES, (uintptr_t)thread,
				    sizeof(*thread)) &&
	       thread->thread_id == (unsigned long)pthread_self() &&
	       assist_is_watched(thread->interp);
}

int assist_add_frames(const struct sfjit_assist_stack *stack, void *data)
{
	const PyThreadState *thread = thread_state();
	struct walk walk = {
		.stack = stack,
		.entry = CONTEXT_SP((const ucontext_t *)stack->context),
		.left = MOST_FRAMES,
	};
	uintptr_t frame;

	/* The page of this function's frame is readable. */
	walk.pages[STACK] = walk.pages[FRAMES] = (uintptr_t)&walk & -PAGE;
	if (!is_known_thread(&walk, thread))
		return -1;
	frame = (uintptr_t)thread->current_frame;
	if (assist_is_loop(stack->frames[0], false) &&
	    check_innermost(&walk, frame))
		return -1;
	return add_runs(&walk, frame, thread == hidden.thread);
}

/* ---- Under the GIL -------------------------------------------------------- */

static const _PyInterpreterFrame *entry_frame(const _PyInterpreterFrame *frame)
{
	while (frame && frame->owner != FRAME_OWNED_BY_CSTACK)
		frame = frame->previous;
	return frame;
}

void assist_hide(PyThreadState *thread)
{
	const _PyInterpreterFrame *entry =
		entry_frame(thread->current_frame);

	hidden.runs = 0;
	for (; entry; entry = entry_frame(entry->previous))
		hidden.runs++;
	hidden.top = (uintptr_t)thread->datastack_top;
	hidden.thread = thread;
}

void assist_show(void)
{
	hidden.thread = NULL;
}

/* Finds the stack pointer of the innermost loop, in a call that it made. */
static _Unwind_Reason_Code find_stack(struct _Unwind_Context *context,
				      void *stack)
{
	if (!assist_is_loop(_Unwind_GetIP(context), true))
		return _URC_NO_REASON;
	/* In the frame of a caller this is the CFA of its callee. */
	*(uintptr_t *)stack = _Unwind_GetCFA(context) - CODE_CFA_ABOVE_SP;
	return _URC_NORMAL_STOP;
}

int assist_measure_frames(void)
{
	const _PyInterpreterFrame *entry =
		entry_frame(PyThreadState_Get()->current_frame);
	uintptr_t stack = 0;

	_Unwind_Backtrace(find_stack, &stack);
	if (!stack || !entry || (uintptr_t)entry <= stack)
		return -ENOENT;
	entry_code = entry->instr_ptr;
	entry_distance = (uintptr_t)entry - stack;
	return 0;
}
