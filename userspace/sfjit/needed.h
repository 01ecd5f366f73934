/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * What programs are linked with.
 */
#ifndef SFJIT_RUN_NEEDED_H
#define SFJIT_RUN_NEEDED_H

#include "names.h"

/*
 * Adds the file of a program, which is searched for in PATH, or of a library;
 * or each library in a directory; and the libraries that ld.so finds for these.
 * Nothing of them is run. Returns 0; or a constant, what is wrong.
 */
const char *needed_add(struct names *files, const char *what);

#endif /* SFJIT_RUN_NEEDED_H */
