/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Rows that are amended before they are written, where the instructions or the
 * maker of the code know better than its call frame information.
 */
#ifndef SFJIT_PRELOAD_AMEND_H
#define SFJIT_PRELOAD_AMEND_H

#include <sframegen.h>

/*
 * Functions of a module: leaves without any get a row, and what libgcc's says
 * falsely of its unwinder has none.
 *
 * For sfg_input.amend; the text that has data is read. With an arena.
 */
int amend_functions(const struct sfg_input *in, struct sfg_fdes *fdes);

/*
 * JIT code that is entered by a jump and runs in another function's frame:
 * PHP's runs in the interpreter's. Its CFI for gdb gives the caller, but not
 * where the interpreter saved the frame pointer, which may have changed since.
 * Its stubs have no CFI at all.
 *
 * For sfg_input.amend: the frame pointer of its callers is unknown. A caller
 * whose frame is found by it ends the stack. Code with a false row has none,
 * and ends it, too.
 */
int amend_borrowed(const struct sfg_input *in, struct sfg_fdes *fdes);

#endif /* SFJIT_PRELOAD_AMEND_H */
