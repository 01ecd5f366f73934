/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * The libraries that programs are linked with.
 */
#ifndef SFJIT_RUN_LIBRARIES_H
#define SFJIT_RUN_LIBRARIES_H

#include "names.h"

/*
 * Adds a program, searched for in PATH, a library, or each library in a
 * directory; and the libraries that ld.so finds for them. Runs none of them.
 * Returns NULL, or a constant that says what is wrong.
 */
const char *libraries_add(struct names *files, const char *what);

#endif /* SFJIT_RUN_LIBRARIES_H */
