// SPDX-License-Identifier: MIT
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * A JIT as a plugin, which brings the library as an archive.
 */
#include "two.h"

extern const struct jit plugin_jit;
const struct jit plugin_jit = JIT;
