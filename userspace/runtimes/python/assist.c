// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/* Call chains with the reader's help: all that has to be there, in order. */
#include <errno.h>

#include "assist.h"

/* What the words for the number of sfjit_assist_enable() would not tell. */
static const char *why_not_enabled(int error)
{
	switch (error) {
	case -EOPNOTSUPP:
		return "the kernel does not ask programs for call chains";
	case -EPERM:
		return "sfjit run --reasons traces this program, and the "
		       "kernel does not ask a traced one: use one of the two";
	case -ENOSPC:
		return "the alternate signal stack of this thread is too "
		       "small, as that of faulthandler is";
	}
	return NULL;
}

/* @words: NULL for those of the number */
static int fail(int error, const char *words)
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
			     "frames of this interpreter are not known: %s",
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
				"the interpreter's loop is not found");
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

/* No handler reads frames when this has returned. */
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
		return fail(ret, NULL);
	ret = sfjit_assist_enable(0);
	return ret ? fail(ret, why_not_enabled(ret)) : 0;
}
