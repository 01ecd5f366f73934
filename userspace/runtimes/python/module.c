// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/* The extension module sfjit._evaluator. */
#include "assist.h"
#include "evaluator.h"

static PyObject *status_or_error(int ret)
{
	return ret < 0 ? NULL : PyLong_FromLong(ret);
}

static PyObject *install(PyObject *self, PyObject *unused)
{
	if (evaluator_install())
		return NULL;
	Py_RETURN_NONE;
}

static PyObject *uninstall(PyObject *self, PyObject *unused)
{
	evaluator_uninstall();
	Py_RETURN_NONE;
}

static PyObject *pool_stat(PyObject *self, PyObject *unused)
{
	struct sfjit_pool_info s;

	evaluator_stat(&s);
	return Py_BuildValue("{sIsIsIsi}", "windows", s.windows, "registered",
			     s.registered, "used", s.used, "error", s.error);
}

static PyObject *sync_names(PyObject *self, PyObject *unused)
{
	sfjit_perf_map_sync();
	Py_RETURN_NONE;
}

static PyObject *assist(PyObject *self, PyObject *unused)
{
	if (assist_install())
		return NULL;
	Py_RETURN_NONE;
}

static PyObject *end_assist(PyObject *self, PyObject *unused)
{
	assist_end();
	Py_RETURN_NONE;
}

static PyObject *assist_stat(PyObject *self, PyObject *unused)
{
	struct sfjit_assist_stats s = { .size = sizeof(s) };

	sfjit_assist_stats(&s);
	return Py_BuildValue("{sIsKsKsKsKsKsKsK}", "signal", s.signal, "asked",
			     s.asked, "answered", s.answered, "native",
			     s.native, "late", s.late, "unsure", s.unsure,
			     "names", s.names, "names_full", s.names_full);
}

static PyObject *run_file(PyObject *self, PyObject *args)
{
	PyObject *path;
	int ret;

	if (!PyArg_ParseTuple(args, "O&", PyUnicode_FSConverter, &path))
		return NULL;
	ret = launch_file(PyBytes_AS_STRING(path));
	Py_DECREF(path);
	return status_or_error(ret);
}

static PyObject *run_command(PyObject *self, PyObject *args)
{
	const char *command;

	if (!PyArg_ParseTuple(args, "s", &command))
		return NULL;
	return status_or_error(launch_command(command));
}

static PyObject *run_module(PyObject *self, PyObject *args)
{
	const char *name;
	int alter_argv;

	if (!PyArg_ParseTuple(args, "sp", &name, &alter_argv))
		return NULL;
	return status_or_error(launch_module(name, alter_argv));
}

static PyMethodDef methods[] = {
	{ "install", install, METH_NOARGS, NULL },
	{ "uninstall", uninstall, METH_NOARGS, NULL },
	{ "stat", pool_stat, METH_NOARGS, NULL },
	{ "sync_names", sync_names, METH_NOARGS, NULL },
	{ "assist", assist, METH_NOARGS, NULL },
	{ "end_assist", end_assist, METH_NOARGS, NULL },
	{ "assist_stat", assist_stat, METH_NOARGS, NULL },
	{ "run_file", run_file, METH_VARARGS, NULL },
	{ "run_command", run_command, METH_VARARGS, NULL },
	{ "run_module", run_module, METH_VARARGS, NULL },
	{ },
};

static PyModuleDef_Slot slots[] = {
	{ Py_mod_multiple_interpreters, Py_MOD_PER_INTERPRETER_GIL_SUPPORTED },
	{ Py_mod_gil, Py_MOD_GIL_USED },
	{ },
};

static struct PyModuleDef definition = {
	PyModuleDef_HEAD_INIT,
	.m_name = "sfjit._evaluator",
	.m_methods = methods,
	.m_slots = slots,
};

PyMODINIT_FUNC PyInit__evaluator(void)
{
	return PyModuleDef_Init(&definition);
}
