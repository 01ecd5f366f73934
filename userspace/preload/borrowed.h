/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * JIT code that is entered by a jump and runs in another function's frame:
 * PHP's runs in the interpreter's. Its CFI for gdb gives the caller, but not
 * where the interpreter saved the frame pointer, which may have changed since.
 * Its stubs have no CFI at all.
 */
#ifndef SFJIT_PRELOAD_BORROWED_H
#define SFJIT_PRELOAD_BORROWED_H

#include <sframegen.h>

/*
 * For sfg_input.amend: the frame pointer of its callers is unknown. A caller
 * whose frame is found by it ends the stack. Code with a false row has none,
 * and ends it, too.
 */
int borrowed_amend(const struct sfg_input *in, struct sfg_fdes *fdes);

#endif /* SFJIT_PRELOAD_BORROWED_H */
