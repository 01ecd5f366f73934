/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Version of the headers, and of the libraries and commands they came with.
 */
#ifndef SFJIT_VERSION_H
#define SFJIT_VERSION_H

#define SFJIT_VERSION_MAJOR	0
#define SFJIT_VERSION_MINOR	1

#endif /* SFJIT_VERSION_H */
