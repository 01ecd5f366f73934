/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * The frame evaluator (PEP 523) and the launcher. Errors are those of the C
 * API: -1 or NULL with an exception set. Call everything with the GIL.
 */
#ifndef SFJIT_PYTHON_EVALUATOR_H
#define SFJIT_PYTHON_EVALUATOR_H

#include <Python.h>
#include <sfjit.h>

/* Send every call of a Python function through a trampoline. */
int evaluator_install(void);
void evaluator_uninstall(void);
void evaluator_stat(struct sfjit_pool_info *stat);

/*
 * Run like the interpreter's own main program, with an empty Python stack.
 * Return 0, or 1 after printing the exception. SystemExit ends the process.
 */
int launch_file(const char *path);
int launch_command(const char *command);
int launch_module(const char *name, int alter_argv);

#endif /* SFJIT_PYTHON_EVALUATOR_H */
