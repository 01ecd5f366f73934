/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The sfjit authors */
#ifndef GUESS_H
#define GUESS_H

#include <stddef.h>

/* Maps memory for code, at @at if it is free. */
void *guess_map(void *at, size_t size);

/*
 * A window of the library, and its end: 0 or -errno. Each thread has its own
 * text; starts are 128 bytes apart, and within 128 KiB.
 */
int guess_register(void *text, size_t size);
int guess_unregister(void *text);

#endif /* GUESS_H */
