# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# The reader of Lua with the Lua of this machine, and without libsfjit.

ifneq ($(LUA_INC),)
TESTS += $(O)/tests/runtimes/lua/steps
endif

$(O)/tests/runtimes/lua/steps: tests/runtimes/lua/steps.c tests/lib/tap.c \
		tests/lib/tap.h $(filter-out %/module.c,$(LUA_SRC)) $(LUA_H)
	@mkdir -p $(@D)
	$(CC) $(SF_CFLAGS) -isystem $(LUA_INC) -iquote userspace/runtimes/lua $(CFLAGS) \
		-o $@ $(filter %.c,$^) -llua5.4 -pthread -Wl,-z,now
