/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Code of JITs that is jumped to, and runs in the frame of other code: PHP's,
 * in that of the interpreter. What it tells gdb has its caller, and not where
 * the frame pointer was saved, by the other code, which may have changed it
 * since; of its stubs not even that.
 */
#ifndef SFJIT_PRELOAD_BORROWED_H
#define SFJIT_PRELOAD_BORROWED_H

#include <sframegen.h>

/*
 * For sfg_input.amend: the frame pointer of its callers is unknown. A caller
 * whose frame is found by it ends the stack. Code with a false row has none, and
 * ends it, too.
 */
int borrowed_amend(const struct sfg_input *in, struct sfg_fdes *fdes);

#endif /* SFJIT_PRELOAD_BORROWED_H */
