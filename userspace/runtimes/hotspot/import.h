/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Calls that a library makes to other libraries, led elsewhere.
 */
#ifndef SFJIT_IMPORT_H
#define SFJIT_IMPORT_H

/*
 * Calls of the function @name by the library that has the code at @address go
 * to @to from now on. Returns where they went, or NULL: then nothing has
 * changed.
 */
void *import_replace(const void *address, const char *name, void *to);

#endif /* SFJIT_IMPORT_H */
