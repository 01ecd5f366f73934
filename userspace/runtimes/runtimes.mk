# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors

# The agent for HotSpot. Building it needs no JDK. It has its own copy of the
# library, whatever the program is linked with.

HOTSPOT := $(O)/lib/sfjit/libsfjit-hotspot.so
lib.arch/x86_64/flow := $(pic) -pthread
room.userspace/runtimes/hotspot := -D_GNU_SOURCE -Isframegen/lib
lib.userspace/runtimes/hotspot := $(pic) -pthread

hotspot_obj := $(call objects,userspace/runtimes/hotspot/*.c)

$(HOTSPOT): $(hotspot_obj) $(call objects,arch/x86_64/flow/*.c) \
		$(O)/lib/libsfjit.a $(O)/lib/libsframegen.a
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
# The program or library that loads the module supplies the functions of Lua.
# Registered callbacks are called as long as the process lives. Without the
# headers of Lua 5.4 the module is not built; `make install-lua' installs it
# later.

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
# The module uses the interpreter's internal headers: those of this machine, or
# of PYTHON_INC. If there are none, `make python' fetches Debian 13's from the
# archive, and `make install-python' installs the module.

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

# The path from the module to the shared libsfjit: in the build, and as
# installed in PREFIX. A process has one copy, which Lua's module uses, too.
# Packages whose libsfjit the loader finds by itself set it to nothing.
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
