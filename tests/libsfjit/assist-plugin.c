// SPDX-License-Identifier: MIT
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * A runtime as a plugin, which brings the library as an archive.
 */
#include "assist-two.h"

extern const struct copy plugin_copy;
const struct copy plugin_copy = COPY;
