/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * The frame evaluator (PEP 523) and the launcher; errors are those of the C
 * API: -1 or NULL with an exception set. All under the GIL.
 */
#ifndef SFJIT_PYTHON_EVALUATOR_H
#define SFJIT_PYTHON_EVALUATOR_H

#include <Python.h>
#include <sfjit.h>

/* From now on, every call of a Python function goes through a trampoline. */
int evaluator_install(void);
void evaluator_uninstall(void);
void evaluator_stat(struct sfjit_pool_info *stat);

/*
 * Run like the interpreter's own main program: with nothing of the caller on
 * the Python stack. Return 0, or 1 after the exception has been printed.
 * SystemExit ends the process.
 */
int launch_file(const char *path);
int launch_command(const char *command);
int launch_module(const char *name, int alter_argv);

#endif /* SFJIT_PYTHON_EVALUATOR_H */
