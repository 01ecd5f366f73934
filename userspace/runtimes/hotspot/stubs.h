/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * How the VM's own code is entered, by its name.
 */
#ifndef SFJIT_STUBS_H
#define SFJIT_STUBS_H

#include <stdbool.h>

#include <flow.h>

/* Of a codelet of the interpreter. */
enum flow_kind stub_codelet_kind(const char *name);

/* A buffer with that name is not one for code that is moved elsewhere. */
bool stub_is_kept(const char *name);

/* Of a stub or blob with that code; FLOW_NOTHING if it is not known. */
enum flow_kind stub_kind(const char *name, const void *code);

/* Whether stacks end in it since their other frames are not on the stack. */
bool stub_moves_frames(const char *name);

/* Of code in it, or in a codelet, that nothing else leads to. */
enum flow_kind stub_rest(const char *name);

#endif /* SFJIT_STUBS_H */
