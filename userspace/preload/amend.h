/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Functions of a module, where the instructions know better than its call frame
 * information: leaves without any get a row, and what libgcc's says falsely of
 * its unwinder has none.
 */
#ifndef SFJIT_PRELOAD_AMEND_H
#define SFJIT_PRELOAD_AMEND_H

#include <sframegen.h>

/* For sfg_input.amend; the text that has data is read. With an arena. */
int amend_functions(const struct sfg_input *in, struct sfg_fdes *fdes);

#endif /* SFJIT_PRELOAD_AMEND_H */
