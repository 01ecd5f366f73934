// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/* Set up assisted unwinding for Python, step by step. */
#include <errno.h>

#include "assist.h"

/* Errors of sfjit_assist_enable() that strerror() would not explain. */
static const char *why_not_enabled(int error)
{
	switch (error) {
	case -EOPNOTSUPP:
		return "this kernel has no assisted unwinding";
	case -EPERM:
		return "sfjit run --reasons traces this program: use one of "
		       "the two";
	case -ENOSPC:
		return "the alternate signal stack of this thread is too "
		       "small: disable faulthandler, which installs it";
	}
	return NULL;
}

/* @words: NULL to use strerror(). */
static int fail_assist(int error, const char *words)
{
	PyObject *arguments;

	errno = -error;
	if (!words) {
		PyErr_SetFromErrno(PyExc_OSError);
		return -1;
	}
	arguments = Py_BuildValue("is", -error, words);
	if (arguments)
		PyErr_SetObject(PyExc_OSError, arguments);
	Py_XDECREF(arguments);
	return -1;
}

static int check_interpreter(void)
{
	PyInterpreterState *interp = PyInterpreterState_Get();
	const char *foreign = assist_foreign_layout();

	if (foreign) {
		PyErr_Format(PyExc_RuntimeError,
			     "unknown frame layout of this interpreter: %s",
			     foreign);
		return -1;
	}
	if (_PyInterpreterState_GetEvalFrameFunc(interp) !=
	    _PyEval_EvalFrameDefault) {
		PyErr_SetString(PyExc_RuntimeError,
				"another frame evaluator is installed");
		return -1;
	}
	if (assist_find_loop() || assist_measure_frames()) {
		PyErr_SetString(PyExc_RuntimeError,
				"no call frame information for the interpreter's loop");
		return -1;
	}
	return assist_watch(interp);
}

static bool registered;

static int register_reader(void)
{
	const void *text;
	size_t length;
	int ret;

	if (registered)
		return 0;
	assist_loop_range(&text, &length);
	ret = sfjit_assist_register(text, length, assist_add_frames, NULL);
	registered = !ret;
	return ret;
}

/* After this returns, no handler reads frames. */
void assist_end(void)
{
	const void *text;
	size_t length;

	if (!registered)
		return;
	assist_loop_range(&text, &length);
	sfjit_assist_unregister(text);
	registered = false;
}

int assist_install(void)
{
	int ret;

	if (check_interpreter())
		return -1;
	ret = register_reader();
	if (ret)
		return fail_assist(ret, NULL);
	ret = sfjit_assist_enable(0);
	return ret ? fail_assist(ret, why_not_enabled(ret)) : 0;
}
