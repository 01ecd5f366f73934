// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/*
 * The module _sample: the cost of a sample of this thread, in a guest that
 * counts instructions.
 *
 *   open(ring)	opens the event, with a deferred call chain
 *   take()	takes one sample; returns the instructions until the program
 *		continues
 *   close()	returns the addresses of the call chain, if there is a ring
 *   ask(on)	sets whether the kernel requests this thread's stack
 *   answered()	returns the number of requests answered with functions
 */
#include <Python.h>

#include <sfjit-assist.h>

#include "event.h"
#include "measure.h"

#define CHAIN_MAX	1024

static struct event event;

extern const char sample_insn[];

static PyObject *sample_open(PyObject *self, PyObject *ring)
{
	event_open_at(&event, sample_insn, EVENT_DEFERRED,
		      PyObject_IsTrue(ring));
	Py_RETURN_NONE;
}

/* On the current stack, unlike bench_trigger(): the callers are walked. */
static PyObject *sample_take(PyObject *self, PyObject *unused)
{
	unsigned long count;

	asm volatile("rdtsc\n\t"
		     "shl $32, %%rdx\n\t"
		     "or %%rdx, %%rax\n\t"
		     "mov %%rax, %%r8\n\t"
		     "sample_insn:\n\t"
		     "nop\n\t"
		     "rdtsc\n\t"
		     "shl $32, %%rdx\n\t"
		     "or %%rdx, %%rax\n\t"
		     "sub %%r8, %%rax"
		     : "=a" (count) : : "rdx", "r8", "cc", "memory");
	return PyLong_FromUnsignedLong(count);
}

static PyObject *sample_close(PyObject *self, PyObject *unused)
{
	uint64_t chain[CHAIN_MAX];
	size_t nr = 0;

	if (event.ring)
		nr = event_read_chain(&event, chain, CHAIN_MAX);
	event_close(&event);
	return PyLong_FromSize_t(nr);
}

static PyObject *sample_ask(PyObject *self, PyObject *on)
{
	int ret = PyObject_IsTrue(on) ? sfjit_assist_enable(0) :
					sfjit_assist_disable();

	if (ret) {
		errno = -ret;
		return PyErr_SetFromErrno(PyExc_OSError);
	}
	Py_RETURN_NONE;
}

static PyObject *sample_answered(PyObject *self, PyObject *unused)
{
	struct sfjit_assist_stats stats = { .size = sizeof(stats) };

	sfjit_assist_stats(&stats);
	return PyLong_FromUnsignedLongLong(stats.answered);
}

static PyMethodDef methods[] = {
	{ "open", sample_open, METH_O, NULL },
	{ "take", sample_take, METH_NOARGS, NULL },
	{ "close", sample_close, METH_NOARGS, NULL },
	{ "ask", sample_ask, METH_O, NULL },
	{ "answered", sample_answered, METH_NOARGS, NULL },
	{ },
};

static struct PyModuleDef definition = {
	PyModuleDef_HEAD_INIT,
	.m_name = "_sample",
	.m_size = -1,
	.m_methods = methods,
};

PyMODINIT_FUNC PyInit__sample(void)
{
	check_icount();
	return PyModule_Create(&definition);
}
