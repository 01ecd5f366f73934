// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/*
 * One trampoline per code object, found through the code object's extra data.
 *
 * Each interpreter allocates indexes of extra data. evaluate() has no time to
 * look up its interpreter's index, so all interpreters must use the same one.
 */
#include <stdbool.h>

#include "evaluator.h"

/*
 * The type of SFJIT_TRAMP_ARG's trampolines: the target is the sixth argument,
 * or the fifth where the sixth is not in a register.
 */
typedef PyObject *(*trampoline)(PyThreadState *, struct _PyInterpreterFrame *,
				int, long, _PyFrameEvalFunction,
				_PyFrameEvalFunction);

/* Set once by the first interpreter; each may have its own GIL. */
static struct sfjit_pool *pool;
static Py_ssize_t extra_index = -1;

/* Marks code without a trampoline. */
static char without;

/*
 * The last frame of a function drops the code object before it has returned
 * through the trampoline. That is safe: all trampolines of this kind have the
 * same code, and the pool is never retired.
 */
static void release(void *extra)
{
	if (extra && extra != &without)
		sfjit_tramp_put(pool, extra);
}

static PyObject *make_name(PyCodeObject *code)
{
	PyObject *text = PyUnicode_FromFormat("py::%U:%U", code->co_qualname,
					      code->co_filename);
	PyObject *bytes;

	if (!text)
		return NULL;
	/* Names of undecodable files have lone surrogates. */
	bytes = PyUnicode_AsEncodedString(text, "utf-8", "backslashreplace");
	Py_DECREF(text);
	return bytes;
}

static void *make_trampoline(PyCodeObject *code)
{
	PyObject *name = make_name(code);
	void *entry = NULL;

	if (!name)
		return NULL;
	if (sfjit_tramp_get(pool, NULL, PyBytes_AS_STRING(name), &entry))
		entry = NULL;
	Py_DECREF(name);
	return entry;
}

/* Called at the first call of a function, possibly with an exception set. */
static void *add_trampoline(PyObject *code)
{
	PyObject *pending = PyErr_GetRaisedException();
	void *extra = make_trampoline((PyCodeObject *)code);

	if (!extra)
		extra = &without;
	if (PyUnstable_Code_SetExtra(code, extra_index, extra)) {
		release(extra);
		extra = &without;
	}
	PyErr_SetRaisedException(pending);
	return extra;
}

static void *get_trampoline(struct _PyInterpreterFrame *frame)
{
	PyObject *code = PyUnstable_InterpreterFrame_GetCode(frame);
	void *extra = NULL;

	PyUnstable_Code_GetExtra(code, extra_index, &extra);
	if (!extra)
		extra = add_trampoline(code);
	Py_DECREF(code);	/* the frame holds its own reference */
	return extra;
}

/*
 * Tail calls, so that this function is on no stack. Not where an argument
 * register is callee-saved, as s390x's fifth is.
 */
static PyObject *evaluate(PyThreadState *thread,
			  struct _PyInterpreterFrame *frame, int throwing)
{
	void *extra = get_trampoline(frame);

	if (extra == &without)
		return _PyEval_EvalFrameDefault(thread, frame, throwing);
	return ((trampoline)extra)(thread, frame, throwing, 0,
				   _PyEval_EvalFrameDefault,
				   _PyEval_EvalFrameDefault);
}

/* Interpreters count up; indexes below the common one stay unused. */
static bool request_index(void)
{
	Py_ssize_t index, first = -1;

	do
		index = PyUnstable_Eval_RequestCodeExtraIndex(release);
	while (index >= 0 &&
	       index < __atomic_load_n(&extra_index, __ATOMIC_ACQUIRE));
	if (index < 0)
		return false;
	return __atomic_compare_exchange_n(&extra_index, &first, index, false,
					   __ATOMIC_ACQ_REL,
					   __ATOMIC_ACQUIRE) || first == index;
}

/* Allocates the index once per interpreter, however often this is installed. */
static int share_index(PyInterpreterState *interp)
{
	PyObject *notes = PyInterpreterState_GetDict(interp);

	if (!notes) {
		PyErr_NoMemory();
		return -1;
	}
	if (PyDict_GetItemString(notes, "sfjit"))
		return 0;
	if (!request_index()) {
		PyErr_SetString(PyExc_RuntimeError,
				"the extra data of code objects is in use");
		return -1;
	}
	return PyDict_SetItemString(notes, "sfjit", Py_True);
}

static int share_pool(void)
{
	struct sfjit_pool *mine, *first = NULL;
	int ret;

	if (__atomic_load_n(&pool, __ATOMIC_ACQUIRE))
		return 0;
	ret = sfjit_pool_create(SFJIT_TRAMP_ARG, &mine);
	if (ret) {
		errno = -ret;
		PyErr_SetFromErrno(PyExc_OSError);
		return -1;
	}
	if (!__atomic_compare_exchange_n(&pool, &first, mine, false,
					 __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
		sfjit_pool_retire(mine);
	return 0;
}

int evaluator_install(void)
{
	PyInterpreterState *interp = PyInterpreterState_Get();
	_PyFrameEvalFunction old = _PyInterpreterState_GetEvalFrameFunc(interp);

	if (old == evaluate)
		return 0;
	if (old != _PyEval_EvalFrameDefault) {
		PyErr_SetString(PyExc_RuntimeError,
				"another frame evaluator is installed");
		return -1;
	}
	if (share_index(interp) || share_pool())
		return -1;
	_PyInterpreterState_SetEvalFrameFunc(interp, evaluate);
	return 0;
}

void evaluator_uninstall(void)
{
	PyInterpreterState *interp = PyInterpreterState_Get();

	if (_PyInterpreterState_GetEvalFrameFunc(interp) == evaluate)
		_PyInterpreterState_SetEvalFrameFunc(interp,
						     _PyEval_EvalFrameDefault);
}

void evaluator_stat(struct sfjit_pool_info *stat)
{
	*stat = (struct sfjit_pool_info) { 0 };
	if (pool)
		sfjit_pool_stat(pool, stat);
}
