// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/*
 * A program must not notice how it was started: its first frame has no caller,
 * tracebacks begin with it, and sys._getframe() ends there. All three ways to
 * run a program use the interpreter's own functions.
 */
#include <stdio.h>

#include "assist.h"
#include "evaluator.h"

struct hidden {
	PyThreadState *thread;
	struct _PyInterpreterFrame *frame;
};

static struct hidden hide_callers(void)
{
	struct hidden h = { .thread = PyThreadState_Get() };

	assist_hide(h.thread);
	h.frame = h.thread->current_frame;
	h.thread->current_frame = NULL;
	return h;
}

static void show_callers(struct hidden h)
{
	h.thread->current_frame = h.frame;
	assist_show();
}

int launch_file(const char *path)
{
	struct hidden h;
	FILE *file;
	int ret;

	file = fopen(path, "rbe");
	if (!file) {
		PyErr_SetFromErrnoWithFilename(PyExc_OSError, path);
		return -1;
	}
	h = hide_callers();
	ret = PyRun_AnyFileExFlags(file, path, 1, NULL);
	show_callers(h);
	return ret ? 1 : 0;
}

int launch_command(const char *command)
{
	struct hidden h = hide_callers();
	int ret = PyRun_SimpleStringFlags(command, NULL);

	show_callers(h);
	return ret ? 1 : 0;
}

/* Used by python -m, and for a directory with a __main__.py. */
static PyObject *run_module(const char *name, int alter_argv)
{
	PyObject *runpy = PyImport_ImportModule("runpy"), *result;

	if (!runpy)
		return NULL;
	result = PyObject_CallMethod(runpy, "_run_module_as_main", "sN", name,
				     PyBool_FromLong(alter_argv));
	Py_DECREF(runpy);
	return result;
}

int launch_module(const char *name, int alter_argv)
{
	struct hidden h = hide_callers();
	PyObject *result = run_module(name, alter_argv);

	if (!result)
		PyErr_Print();
	show_callers(h);
	Py_XDECREF(result);
	return result ? 0 : 1;
}
