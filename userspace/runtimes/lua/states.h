/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 */
#ifndef SFJIT_LUA_STATES_H
#define SFJIT_LUA_STATES_H

#include "reader.h"

/* For the Lua of this process. */
extern struct lua_reader lua_reader;

#endif /* SFJIT_LUA_STATES_H */
