# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors

# The agent for HotSpot. No JDK is needed to build it. Its copy of the library is
# its own, whatever the program is linked with.

HOTSPOT := $(O)/lib/sfjit/libsfjit-hotspot.so
lib.arch/x86_64/flow := $(pic) -pthread
room.userspace/runtimes/hotspot := -D_GNU_SOURCE -Iarch/x86_64/flow
lib.userspace/runtimes/hotspot := $(pic) -pthread

hotspot_obj := $(call objects,userspace/runtimes/hotspot/*.c)

$(HOTSPOT): $(hotspot_obj) $(call objects,arch/x86_64/flow/*.c) \
		$(O)/lib/libsfjit.a
	$(call to,LD) $(CC) -shared $(CFLAGS) $(LDFLAGS) -pthread -Wl,-z,defs \
		-Wl,-z,now -Wl,-soname,$(@F) -o $@ $^

ifneq ($(and $(amd64),$(hotspot_obj)),)
ALL += $(HOTSPOT)
install: install-hotspot
endif

install-hotspot: $(HOTSPOT)
	$(call put,755,$(PREFIX)/lib/sfjit,$<)

# Lua: LUA_CPATH='build/lib/lua/5.4/?.so' lua5.4 -l sfjit script.lua
#
# The functions of Lua come from the program or library that loads it. What was
# registered is called as long as the process lives. Without the headers of Lua
# 5.4 there is no module, so that `make install' leaves it to `make install-lua'.

LUA_INC := $(firstword $(wildcard /usr/include/lua5.4))
LUA_SO := $(O)/lib/lua/5.4/sfjit.so
LUADIR ?= $(LIBDIR)/lua/5.4
room.userspace/runtimes/lua := -isystem $(LUA_INC)
lib.userspace/runtimes/lua := $(pic) -pthread

lua_obj := $(call objects,userspace/runtimes/lua/*.c)
ALL += $(and $(LUA_INC),$(amd64),$(lua_obj),$(LUA_SO))

$(LUA_SO): $(lua_obj) $(O)/lib/libsfjit.so
	$(call to,LD) $(CC) -shared $(CFLAGS) $(LDFLAGS) -pthread -Wl,-z,now \
		-Wl,-z,nodelete -Wl,--build-id -Wl,-rpath,'$$ORIGIN/../..' -o $@ $^

install-lua: $(LUA_SO)
	$(call put,644,$(LUADIR),$<)
	$(call put,644,$(PREFIX)/include,userspace/include/sfjit-lua.h)

# CPython: PYTHONPATH=build/lib/python python3.13 -m sfjit script.py
#
# What the reader has to know of the interpreter is in its internal headers: those
# that this machine has, or PYTHON_INC names. `make python' takes Debian 13's from
# the archive if there are none, and `make install' leaves it to `make
# install-python' then.

PYTHON_INC ?= $(if $(native),$(patsubst %/Python.h,%,$(wildcard \
	/usr/include/python3.13/Python.h)))
python_given := $(PYTHON_INC)
ifndef python_given
PYTHON_INC = $(eval PYTHON_INC := $(call tool,python-headers $(ARCH)))$(PYTHON_INC)
endif
python_dir := $(O)/lib/python/sfjit
python_so = $(python_dir)/_evaluator.cpython-313-$(shell $(CC) -dumpmachine).so
python_py := $(patsubst userspace/runtimes/python/sfjit/%,$(python_dir)/%, \
	$(wildcard userspace/runtimes/python/sfjit/*.py))
python_cflags = -isystem $(PYTHON_INC) -isystem $(PYTHON_INC)/internal \
	-isystem $(PYTHON_INC)/internal/mimalloc -DNDEBUG
room.userspace/runtimes/python = $(python_cflags)
lib.userspace/runtimes/python := $(pic)

# Where the shared libsfjit is, seen from the module: here, and as installed in
# PREFIX. A process has one copy of it, which Lua's module uses, too. A package for
# which the loader finds it by itself says that there is none.
PYTHON_RUNPATH ?= $$ORIGIN/../..:$$ORIGIN/../../..
PYTHONDIR ?= $(PREFIX)/lib/python3.13/dist-packages

$(python_so): $(call objects,userspace/runtimes/python/*.c) $(O)/lib/libsfjit.so
	$(call to,LD) $(CC) -shared $(CFLAGS) $(LDFLAGS) -pthread -Wl,-z,now \
		-Wl,--build-id $(PYTHON_RUNPATH:%=-Wl,-rpath,'%') -o $@ $^

$(python_py): $(python_dir)/%: userspace/runtimes/python/sfjit/%
	$(call to,CP) cp $< $@

python: $(python_so) $(python_py)

install-python: $(python_so) $(python_py)
	$(call put,644,$(PYTHONDIR)/sfjit,$^)

ifdef walks
TESTS += python
ifdef python_given
ALL += $(python_so) $(python_py)
install: install-python
endif
endif

.PHONY: python install-python install-hotspot install-lua
