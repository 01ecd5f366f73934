/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Redirect calls from one library to others.
 */
#ifndef SFJIT_IMPORT_H
#define SFJIT_IMPORT_H

/*
 * Redirects calls of the function @name by the library that contains @address
 * to @to. Returns the previous target, or NULL if nothing was changed.
 */
void *import_replace(const void *address, const char *name, void *to);

#endif /* SFJIT_IMPORT_H */
