/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * How the VM's own code is entered, by its name.
 */
#ifndef SFJIT_STUBS_H
#define SFJIT_STUBS_H

#include <stdbool.h>

#include "flow.h"

/* For a codelet of the interpreter. */
enum flow_kind stub_codelet_kind(const char *name);

/* Whether code stays in the buffer of that name, not moved elsewhere. */
bool stub_is_kept(const char *name);

/* For a stub or blob; FLOW_NOTHING if unknown. */
enum flow_kind stub_kind(const char *name, const void *code);

/* Whether stacks end in it, because its callers are on another stack. */
bool stub_moves_frames(const char *name);

/* For code in it, or in a codelet, that is reached by no jump. */
enum flow_kind stub_rest(const char *name);

#endif /* SFJIT_STUBS_H */
