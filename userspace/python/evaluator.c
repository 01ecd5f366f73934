// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/*
 * One trampoline per code object, found through the code object's extra data.
 *
 * Only the main interpreter: the index of the extra data and the evaluator
 * belong to an interpreter, and evaluate() has no time to look them up.
 */
#include <stdbool.h>

#include "evaluator.h"

/* What sfjit_tramp_get() of SFJIT_TRAMP_ARG gives out. */
typedef PyObject *(*trampoline)(PyThreadState *, struct _PyInterpreterFrame *,
				int, long, long, _PyFrameEvalFunction);

static struct sfjit_pool *pool;
static Py_ssize_t extra_index = -1;

/* In the extra data of code that gets no trampoline. */
static char without;

/*
 * The last frame of a function drops the code object while it is still on its
 * way back through the trampoline. It may: all trampolines of this kind are the
 * same code, whoever owns them, and the pool is never retired.
 */
static void release(void *extra)
{
	if (extra != &without)
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

/* The first call of a function. An exception may be on its way into it. */
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
	Py_DECREF(code);	/* the frame has a reference of its own */
	return extra;
}

/* The calls are jumps: this function is on no stack. */
static PyObject *evaluate(PyThreadState *thread,
			  struct _PyInterpreterFrame *frame, int throwing)
{
	void *extra = get_trampoline(frame);

	if (extra == &without)
		return _PyEval_EvalFrameDefault(thread, frame, throwing);
	return ((trampoline)extra)(thread, frame, throwing, 0, 0,
				   _PyEval_EvalFrameDefault);
}

static int prepare(void)
{
	int ret = 0;

	if (extra_index < 0)
		extra_index = PyUnstable_Eval_RequestCodeExtraIndex(release);
	if (extra_index < 0) {
		PyErr_SetString(PyExc_RuntimeError,
				"no extra data of code objects is left");
		return -1;
	}
	if (!pool)
		ret = sfjit_pool_create(SFJIT_TRAMP_ARG, &pool);
	if (ret) {
		errno = -ret;
		PyErr_SetFromErrno(PyExc_OSError);
		return -1;
	}
	return 0;
}

int evaluator_install(void)
{
	PyInterpreterState *interp = PyInterpreterState_Get();
	_PyFrameEvalFunction old = _PyInterpreterState_GetEvalFrameFunc(interp);

	if (old == evaluate)
		return 0;
	if (interp != PyInterpreterState_Main()) {
		PyErr_SetString(PyExc_RuntimeError,
				"works in the main interpreter only");
		return -1;
	}
	if (old != _PyEval_EvalFrameDefault) {
		PyErr_SetString(PyExc_RuntimeError,
				"another frame evaluator is installed");
		return -1;
	}
	if (prepare())
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
