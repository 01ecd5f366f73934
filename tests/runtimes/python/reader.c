// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/*
 * The module _reader: asks the reader of userspace/runtimes/python for Python
 * functions at each instruction, in a handler like libsfjit's, after unwinding
 * by call frame information.
 *
 *   start(), stop() one instruction at a time in between, in one thread; stop()
 *                   returns steps, refused questions, steps without a walk,
 *                   answers, and where were refusals
 *   ask(patches)    asks once; patches are (ADDRESS, WORD): what memory holds
 *                   meanwhile
 *   frames()        (ADDRESS, PREVIOUS, OWNER, NAME) of this thread's frames
 *   make_other(), run_other(source), end_other()
 *                   another interpreter, in this thread
 *   garble(seed)    asks once, with some words of frames made up
 */
#define Py_BUILD_CORE
#include <Python.h>
#include <internal/pycore_frame.h>

#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <ucontext.h>
#include <unistd.h>

#include <sframegen.h>

#include "../../userspace/runtimes/python/assist.h"

#define STACK_BYTES	(256UL << 10)
#define MOST_MODULES	64
#define MOST_NAMES	4096
#define MOST_PATCHES	8
#define STATE_WORDS	(32UL << 20)
#define TRAP_FLAG	0x100

/* ---- What is libsfjit's elsewhere ----------------------------------------- */

struct name {
	uint64_t id[2];
	char text[256];
	int length;
};

struct patch {
	uintptr_t at, word;
};

static struct name names[MOST_NAMES];
static unsigned int nr_names;
static struct patch patches[MOST_PATCHES];
static unsigned int nr_patches;
static sfjit_assist_callback callback;

/* An answer: names, and the frames of the walk that precede them. */
static uint16_t answer_names[SFJIT_ASSIST_FRAMES];
static uint16_t answer_behind[SFJIT_ASSIST_FRAMES];
static unsigned int nr_answer;

int sfjit_assist_enable(unsigned int flags)
{
	return 0;
}

int sfjit_assist_register(const void *text, size_t length,
			  sfjit_assist_callback function, void *data)
{
	callback = function;
	return 0;
}

int sfjit_assist_unregister(const void *text)
{
	callback = NULL;
	return 0;
}

int sfjit_assist_insert(const struct sfjit_assist_stack *stack,
			uint32_t behind, uint64_t address)
{
	if (!address)
		return -EINVAL;
	if (behind >= stack->nr ||
	    (nr_answer && behind < answer_behind[nr_answer - 1]))
		return -ERANGE;
	if (stack->nr + nr_answer >= SFJIT_ASSIST_FRAMES)
		return -ENOSPC;
	answer_names[nr_answer] = address - 1;
	answer_behind[nr_answer++] = behind;
	return 0;
}

uint64_t sfjit_assist_name(uint64_t id0, uint64_t id1,
			   int (*write)(char *text, size_t size, void *data),
			   void *data)
{
	unsigned int i;

	for (i = 0; i < nr_names; i++)
		if (names[i].id[0] == id0 && names[i].id[1] == id1)
			return i + 1;
	if (i == MOST_NAMES)
		return 0;
	names[i].length = write(names[i].text, sizeof(names[i].text), data);
	if (names[i].length <= 0)
		return 0;
	names[i].id[0] = id0;
	names[i].id[1] = id1;
	return ++nr_names;
}

static uint64_t random64(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

/* Puts the word in, and keeps what was there. */
static void exchange(struct patch *patch)
{
	uintptr_t word;

	memcpy(&word, (void *)patch->at, sizeof(word));
	memcpy((void *)patch->at, &patch->word, sizeof(word));
	patch->word = word;
}

int sfjit_assist_read(void *to, const void *from, size_t length)
{
	struct iovec local = { to, length }, remote = { (void *)from, length };

	return process_vm_readv(getpid(), &local, 1, &remote, 1, 0) ==
	       (ssize_t)length ? 0 : -EFAULT;
}

/* ---- The walk ------------------------------------------------------------- */

struct module {
	uintptr_t start, end;
	struct sfg_cfi *cfi;
};

/* Rows by address: programs of call frame information are run anew each time. */
#define ROWS	(1 << 16)

static struct row {
	uint64_t addr;
	bool has_row;
	struct sfjit_row row;
} *rows;

static struct module modules[MOST_MODULES];
static unsigned int nr_modules;
static uintptr_t stack_end;

static uintptr_t segment_end(const struct dl_phdr_info *info, uintptr_t at)
{
	const ElfW(Phdr) *ph = info->dlpi_phdr;
	uintptr_t start;
	int i;

	for (i = 0; i < info->dlpi_phnum; i++) {
		start = info->dlpi_addr + ph[i].p_vaddr;
		if (ph[i].p_type == PT_LOAD && at >= start &&
		    at < start + ph[i].p_memsz)
			return start + ph[i].p_memsz;
	}
	return at;
}

/* Linkers write it as DW_EH_PE_pcrel | DW_EH_PE_sdata4. */
static int open_cfi(const struct dl_phdr_info *info, const uint8_t *header,
		    struct sfg_cfi **cfi)
{
	struct sfg_input in = { .abi = SFRAME_ABI_AMD64_LE };
	struct sfg_error error;
	int32_t distance;

	memcpy(&distance, header + 4, sizeof(distance));
	in.cfi.data = header + 4 + distance;
	in.cfi.addr = (uintptr_t)in.cfi.data;
	in.cfi.len = segment_end(info, in.cfi.addr) - in.cfi.addr;
	return sfg_open_cfi(&in, cfi, &error);
}

static int add_module(struct dl_phdr_info *info, size_t size, void *unused)
{
	struct module *module = &modules[nr_modules];
	const ElfW(Phdr) *ph = info->dlpi_phdr;
	const uint8_t *header = NULL;
	int i;

	module->start = UINTPTR_MAX;
	module->end = 0;
	for (i = 0; i < info->dlpi_phnum; i++, ph++) {
		uintptr_t start = info->dlpi_addr + ph->p_vaddr;

		if (ph->p_type == PT_GNU_EH_FRAME)
			header = (const uint8_t *)start;
		if (ph->p_type != PT_LOAD || !(ph->p_flags & PF_X))
			continue;
		if (start < module->start)
			module->start = start;
		if (start + ph->p_memsz > module->end)
			module->end = start + ph->p_memsz;
	}
	if (header && module->end && nr_modules < MOST_MODULES &&
	    !open_cfi(info, header, &module->cfi))
		nr_modules++;
	return 0;
}

static void open_modules(void)
{
	while (nr_modules)
		sfg_close_cfi(modules[--nr_modules].cfi);
	memset(rows, 0, ROWS * sizeof(*rows));
	dl_iterate_phdr(add_module, NULL);
}

static const struct module *find_module(uintptr_t pc)
{
	unsigned int i;

	for (i = 0; i < nr_modules; i++)
		if (pc >= modules[i].start && pc < modules[i].end)
			return &modules[i];
	return NULL;
}

static bool read_word(void *low, uint64_t at, uint64_t *word)
{
	if (at < *(uint64_t *)low || at > stack_end - sizeof(*word))
		return false;
	*word = *(const uint64_t *)at;
	return true;
}

static const int gregs[] = {
	REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI, REG_RBP, REG_RSP,
	REG_R8, REG_R9, REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15,
};

static const struct row *find_row(const struct module *module, uint64_t addr)
{
	struct row *row = &rows[addr % ROWS];
	uint64_t budget = SFG_FRAME_BUDGET;

	if (row->addr != addr) {
		row->addr = addr;
		row->has_row = !sfg_find_cfi_row(module->cfi, addr, &budget,
						 &row->row);
	}
	return row;
}

/* A row is not for what expressions say. */
static int step(struct sfg_frame *frame)
{
	uint64_t addr = frame->pc - frame->called;
	const struct module *module = find_module(addr);
	const struct row *row;

	if (!module)
		return -ENOENT;
	row = find_row(module, addr);
	return row->has_row ?
	       sfg_step_row(SFRAME_ABI_AMD64_LE, &row->row, frame) :
	       sfg_step_cfi(module->cfi, 0, frame);
}

/* The number of frames, or 0: it did not reach the outermost one. */
static unsigned int walk(const ucontext_t *context, uint64_t *pcs)
{
	uint64_t low = context->uc_mcontext.gregs[REG_RSP] - 128;
	struct sfg_frame frame = {
		.pc = context->uc_mcontext.gregs[REG_RIP], .known = 0xffff,
		.budget = SFG_FRAME_BUDGET, .read = read_word, .arg = &low,
	};
	unsigned int nr = 0, i;
	int ret = 0;

	for (i = 0; i < sizeof(gregs) / sizeof(*gregs); i++)
		frame.reg[i] = context->uc_mcontext.gregs[gregs[i]];
	while (!ret && nr < SFJIT_ASSIST_FRAMES) {
		pcs[nr++] = frame.pc;
		ret = step(&frame);
	}
	return ret == 1 ? nr : 0;
}

/* ---- A question ----------------------------------------------------------- */

/*
 * What was answered: the number of loops and of functions, and of each function,
 * the innermost first, its name and its loop, from the outermost.
 */
static uint16_t *states;
static size_t nr_words, last_state;
static unsigned long steps, refused, unwalked;

static unsigned int loops_from(const uint64_t *pcs, unsigned int nr,
			       unsigned int first)
{
	unsigned int loops = 0, i;

	for (i = first; i < nr; i++)
		loops += assist_is_loop(pcs[i], i > 0);
	return loops;
}

static size_t write_state(uint16_t *to, const uint64_t *pcs, unsigned int nr)
{
	unsigned int i;

	to[0] = loops_from(pcs, nr, 0);
	to[1] = nr_answer;
	for (i = 0; i < nr_answer; i++) {
		to[2 + 2 * i] = answer_names[i];
		to[3 + 2 * i] = loops_from(pcs, nr, answer_behind[i]) - 1;
	}
	return 2 + 2 * nr_answer;
}

static int question(const ucontext_t *context, uint64_t *pcs, unsigned int nr)
{
	struct sfjit_assist_stack stack = {
		sizeof(stack), nr, pcs, context,
	};

	nr_answer = 0;
	return callback(&stack, NULL);
}

static void note(const uint64_t *pcs, unsigned int nr)
{
	uint16_t *last = states + last_state, *now = states + nr_words;
	size_t length;

	if (nr_words + 2 + 2 * nr_answer > STATE_WORDS)
		return;
	length = write_state(now, pcs, nr);
	if (nr_words && length == (size_t)(now - last) &&
	    !memcmp(last, now, length * sizeof(*now)))
		return;
	last_state = nr_words;
	nr_words += length;
}

static PyObject *make_state(const uint16_t *state)
{
	PyObject *functions = PyTuple_New(state[1]);
	const struct name *name;
	unsigned int i;

	if (!functions)
		return NULL;
	for (i = 0; i < state[1]; i++) {
		name = &names[state[2 + 2 * i]];
		PyTuple_SET_ITEM(functions, i, Py_BuildValue("s#H", name->text,
				 (Py_ssize_t)name->length, state[3 + 2 * i]));
	}
	return Py_BuildValue("HN", *state, functions);
}

/* ---- One instruction at a time -------------------------------------------- */

static unsigned long where[1 << 16];	/* refusals, by hash */
static uint64_t where_pc[1 << 16];

static void note_refusal(uint64_t pc)
{
	where[pc % (1 << 16)]++;
	where_pc[pc % (1 << 16)] = pc;
}

static void on_trap(int signal, siginfo_t *info, void *data)
{
	const ucontext_t *context = data;
	uint64_t pcs[SFJIT_ASSIST_FRAMES];
	unsigned int nr;
	int saved = errno;

	steps++;
	nr = walk(context, pcs);
	if (!nr) {
		unwalked++;
		if (getenv("READER_UNWALKED"))
			note_refusal(*pcs);
	} else if (question(context, pcs, nr)) {
		refused++;
		note_refusal(*pcs);
	} else {
		note(pcs, nr);
	}
	errno = saved;
}

static void set_trap_flag(bool on)
{
	if (on)
		asm volatile("lea -128(%%rsp), %%rsp\n\tpushfq\n\t"
			     "orq %0, (%%rsp)\n\tpopfq\n\t"
			     "lea 128(%%rsp), %%rsp"
			     : : "i" (TRAP_FLAG) : "memory", "cc");
	else
		asm volatile("lea -128(%%rsp), %%rsp\n\tpushfq\n\t"
			     "andq %0, (%%rsp)\n\tpopfq\n\t"
			     "lea 128(%%rsp), %%rsp"
			     : : "i" (~TRAP_FLAG) : "memory", "cc");
}

static int make_memory(void)
{
	if (states)
		return 0;
	rows = calloc(ROWS, sizeof(*rows));
	states = mmap(NULL, STATE_WORDS * sizeof(*states),
		      PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (!rows || states == MAP_FAILED)
		return -1;
	open_modules();
	return 0;
}

static int find_stack(void)
{
	pthread_attr_t attributes;
	size_t size;
	void *start;

	if (pthread_getattr_np(pthread_self(), &attributes))
		return -1;
	pthread_attr_getstack(&attributes, &start, &size);
	pthread_attr_destroy(&attributes);
	stack_end = (uintptr_t)start + size;
	return 0;
}

/* Of this thread. */
static int prepare(void)
{
	struct sigaction action = {
		.sa_sigaction = on_trap, .sa_flags = SA_SIGINFO | SA_ONSTACK,
	};
	static char bytes[STACK_BYTES];
	stack_t stack = { .ss_sp = bytes, .ss_size = sizeof(bytes) };

	return make_memory() || find_stack() || sigaltstack(&stack, NULL) ||
	       sigaction(SIGTRAP, &action, NULL) ? -1 : 0;
}

static PyObject *list_states(void)
{
	PyObject *list = PyList_New(0), *state;
	size_t i;

	for (i = 0; list && i < nr_words; i += 2 + 2 * states[i + 1]) {
		state = make_state(states + i);
		PyList_Append(list, state);
		Py_XDECREF(state);
	}
	return list;
}

static PyObject *list_refusals(void)
{
	PyObject *list = PyList_New(0), *item;
	size_t i;

	for (i = 0; list && i < 1 << 16; i++) {
		if (!where[i])
			continue;
		item = Py_BuildValue("kk", where[i], where_pc[i]);
		PyList_Append(list, item);
		Py_XDECREF(item);
	}
	return list;
}

static PyObject *step_start(PyObject *self, PyObject *unused)
{
	if (prepare())
		return PyErr_SetFromErrno(PyExc_OSError);
	steps = refused = unwalked = nr_words = last_state = 0;
	memset(where, 0, sizeof(where));
	set_trap_flag(true);
	Py_RETURN_NONE;
}

static PyObject *step_stop(PyObject *self, PyObject *unused)
{
	set_trap_flag(false);
	return Py_BuildValue("kkkNN", steps, refused, unwalked, list_states(),
			     list_refusals());
}

/* ---- Once ------------------------------------------------------------------ */

static PyObject *ask_once(void)
{
	uint64_t pcs[SFJIT_ASSIST_FRAMES];
	ucontext_t context;
	unsigned int nr, i;
	int ret;

	if (prepare())
		return PyErr_SetFromErrno(PyExc_OSError);
	getcontext(&context);
	nr = walk(&context, pcs);
	if (!nr) {
		PyErr_SetString(PyExc_RuntimeError, "no walk");
		return NULL;
	}
	for (i = 0; i < nr_patches; i++)
		exchange(&patches[i]);
	ret = question(&context, pcs, nr);
	/* Two may be of the same word. */
	while (i--)
		exchange(&patches[i]);
	if (ret)
		Py_RETURN_NONE;
	write_state(states, pcs, nr);
	return make_state(states);
}

static PyObject *step_ask(PyObject *self, PyObject *arguments)
{
	PyObject *result;
	Py_ssize_t i;

	for (i = 0; i < PyTuple_GET_SIZE(arguments); i++)
		if (i == MOST_PATCHES ||
		    !PyArg_ParseTuple(PyTuple_GET_ITEM(arguments, i), "kk",
				      &patches[i].at, &patches[i].word))
			return NULL;
	nr_patches = i;
	result = ask_once();
	nr_patches = 0;
	return result;
}

/* What a word is made: of the memory of frames, or small, or anything. */
static uintptr_t made_up(uint64_t *state, uintptr_t near)
{
	uint64_t value = random64(state);

	switch (value >> 60) {
	case 0 ... 5:
		return near + (value % 4096 - 2048) * 8;
	case 6:
		return near + value % 64;
	case 7:
		return (uintptr_t)Py_None;
	case 8:
		/* The last word of a page; the next page may be missing. */
		return near | 0xff8;
	case 9:
		return value % 65536;
	default:
		return value >> (value >> 58 & 31);
	}
}

static PyObject *step_garble(PyObject *self, PyObject *seed)
{
	const size_t words = sizeof(_PyInterpreterFrame) / sizeof(uintptr_t);
	const _PyInterpreterFrame *frame, *first;
	uint64_t state = PyLong_AsUnsignedLongMask(seed) * 0x9e3779b97f4a7c15;
	PyObject *result;
	size_t i;

	first = PyThreadState_Get()->current_frame;
	nr_patches = 1 + random64(&state) % MOST_PATCHES;
	for (i = 0; i < nr_patches; i++) {
		frame = first;
		while (frame->previous && random64(&state) % 4)
			frame = frame->previous;
		patches[i].at = (uintptr_t)frame + random64(&state) %
				(words - 1) * sizeof(uintptr_t);
		patches[i].word = made_up(&state, (uintptr_t)frame);
	}
	result = ask_once();
	nr_patches = 0;
	return result;
}

static PyObject *frame_name(const _PyInterpreterFrame *frame)
{
	if (!PyCode_Check(frame->f_executable))
		return PyUnicode_FromString("");
	return Py_NewRef(((PyCodeObject *)frame->f_executable)->co_qualname);
}

static PyObject *step_frames(PyObject *self, PyObject *unused)
{
	const _PyInterpreterFrame *frame = PyThreadState_Get()->current_frame;
	PyObject *list = PyList_New(0), *item;

	for (; list && frame; frame = frame->previous) {
		item = Py_BuildValue("kkiN", (unsigned long)frame,
				     (unsigned long)frame->previous,
				     frame->owner, frame_name(frame));
		PyList_Append(list, item);
		Py_XDECREF(item);
	}
	return list;
}

/* Another interpreter, in this thread. */
static PyThreadState *other;

static PyObject *step_make_other(PyObject *self, PyObject *unused)
{
	PyThreadState *mine = PyThreadState_Get();

	other = Py_NewInterpreter();
	PyThreadState_Swap(mine);
	return PyBool_FromLong(other != NULL);
}

static PyObject *step_run_other(PyObject *self, PyObject *source)
{
	PyThreadState *mine = PyThreadState_Swap(other);
	int ret = PyRun_SimpleString(PyUnicode_AsUTF8(source));

	PyThreadState_Swap(mine);
	return PyLong_FromLong(ret);
}

static PyObject *step_end_other(PyObject *self, PyObject *unused)
{
	PyThreadState *mine = PyThreadState_Swap(other);

	Py_EndInterpreter(other);
	PyThreadState_Swap(mine);
	Py_RETURN_NONE;
}

/* Offsets in a frame, and of the first one in the thread's state. */
static PyObject *step_offsets(PyObject *self, PyObject *unused)
{
	PyThreadState *thread = PyThreadState_Get();

	return Py_BuildValue("{sksksksk}", "current",
			     (unsigned long)&thread->current_frame,
			     "previous", offsetof(_PyInterpreterFrame, previous),
			     "code", offsetof(_PyInterpreterFrame, f_executable),
			     "stacktop", offsetof(_PyInterpreterFrame, stacktop));
}

static PyObject *step_install(PyObject *self, PyObject *unused)
{
	if (assist_install())
		return NULL;
	Py_RETURN_NONE;
}

static PyMethodDef methods[] = {
	{ "install", step_install, METH_NOARGS, NULL },
	{ "start", step_start, METH_NOARGS, NULL },
	{ "stop", step_stop, METH_NOARGS, NULL },
	{ "ask", step_ask, METH_VARARGS, NULL },
	{ "garble", step_garble, METH_O, NULL },
	{ "frames", step_frames, METH_NOARGS, NULL },
	{ "make_other", step_make_other, METH_NOARGS, NULL },
	{ "run_other", step_run_other, METH_O, NULL },
	{ "end_other", step_end_other, METH_NOARGS, NULL },
	{ "offsets", step_offsets, METH_NOARGS, NULL },
	{ },
};

static struct PyModuleDef definition = {
	PyModuleDef_HEAD_INIT,
	.m_name = "_reader",
	.m_size = -1,
	.m_methods = methods,
};

PyMODINIT_FUNC PyInit__reader(void)
{
	return PyModule_Create(&definition);
}
