/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Which addresses of a module its windows cover.
 */
#ifndef SFJIT_PRELOAD_WINDOWS_H
#define SFJIT_PRELOAD_WINDOWS_H

#include "image.h"
#include "module.h"

void windows_choose(struct module *module, const struct image *image);

#endif /* SFJIT_PRELOAD_WINDOWS_H */
