# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# LUA_CPATH='build/lib/lua/5.4/?.so' lua5.4 -l sfjit script.lua
#
# The functions of Lua come from the program or library that loads it.

LUA_INC := $(firstword $(wildcard /usr/include/lua5.4))
LUA_SRC := $(wildcard userspace/runtimes/lua/*.c)
LUA_OBJ := $(LUA_SRC:%.c=$(O)/obj/%.o)
LUA_SO := $(O)/lib/lua/5.4/sfjit.so
LUA_H := $(wildcard userspace/runtimes/lua/*.h) userspace/include/sfjit-lua.h \
	userspace/include/sfjit-assist.h $(wildcard arch/$(ARCH)/context.h)

# Without the headers of Lua 5.4 there is no module, so that `make install' leaves
# it to `make install-lua'.
ifneq ($(LUA_INC),)
ALL += $(LUA_SO)
endif

$(LUA_OBJ): $(O)/obj/%.o: %.c $(LUA_H)
	@mkdir -p $(@D)
	$(CC) $(SF_CFLAGS) -isystem $(LUA_INC) $(CFLAGS) -fPIC \
		-fvisibility=hidden -pthread -c -o $@ $<

# What was registered is called as long as the process lives.
$(LUA_SO): $(LUA_OBJ) $(O)/lib/libsfjit.so
	@mkdir -p $(@D)
	$(CC) -shared $(CFLAGS) $(LDFLAGS) -pthread -Wl,-z,now -Wl,-z,nodelete \
		-Wl,--build-id -Wl,-rpath,'$$ORIGIN/../..' -o $@ $^

LUADIR ?= $(LIBDIR)/lua/5.4

install-lua: $(LUA_SO)
	install -d $(DESTDIR)$(LUADIR) $(DESTDIR)$(PREFIX)/include
	install -m 644 $(LUA_SO) $(DESTDIR)$(LUADIR)
	install -m 644 userspace/include/sfjit-lua.h \
		$(DESTDIR)$(PREFIX)/include

.PHONY: install-lua
