# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# PYTHONPATH=build/lib/python python3.13 -m sfjit script.py

PYTHON_DIR := $(O)/lib/python/sfjit
PYTHON_EXT = $(PYTHON_DIR)/_evaluator.cpython-313-$(shell $(CC) -dumpmachine).so
PYTHON_PY := $(patsubst userspace/runtimes/python/sfjit/%,$(PYTHON_DIR)/%, \
	$(wildcard userspace/runtimes/python/sfjit/*.py))
PYTHON_OBJ := $(patsubst %.c,$(O)/obj/%.o,$(wildcard userspace/runtimes/python/*.c))

ALL += $(PYTHON_EXT) $(PYTHON_PY)

# What the reader has to know of the interpreter is in its internal headers.
PYTHON_CFLAGS = $(SF_CFLAGS) -isystem $(PYTHON_INC) \
	-isystem $(PYTHON_INC)/internal -isystem $(PYTHON_INC)/internal/mimalloc

$(PYTHON_OBJ): $(O)/obj/%.o: %.c $(wildcard userspace/runtimes/python/*.h) \
		$(wildcard arch/$(ARCH)/*.h) userspace/include/sfjit.h \
		userspace/include/sfjit-assist.h
	@mkdir -p $(@D)
	$(CC) $(PYTHON_CFLAGS) $(CFLAGS) -DNDEBUG -fPIC -fvisibility=hidden \
		-c -o $@ $<

# Where the shared libsfjit is, seen from the module: here, and as installed in
# PREFIX. A process has one copy of it, which Lua's module uses, too. A package for
# which the loader finds it by itself says that there is none.
PYTHON_RUNPATH ?= $$ORIGIN/../..:$$ORIGIN/../../..

$(PYTHON_EXT): $(PYTHON_OBJ) $(O)/lib/libsfjit.so
	@mkdir -p $(@D)
	$(CC) -shared $(CFLAGS) $(LDFLAGS) -pthread -Wl,-z,now -Wl,--build-id \
		$(PYTHON_RUNPATH:%=-Wl,-rpath,'%') -o $@ $^

$(PYTHON_PY): $(PYTHON_DIR)/%: userspace/runtimes/python/sfjit/%
	@mkdir -p $(@D)
	cp $< $@

PYTHONDIR ?= $(PREFIX)/lib/python3.13/dist-packages

install: install-python

install-python: $(PYTHON_EXT) $(PYTHON_PY)
	install -d $(DESTDIR)$(PYTHONDIR)/sfjit
	install -m 644 $(PYTHON_EXT) $(PYTHON_PY) \
		$(DESTDIR)$(PYTHONDIR)/sfjit

.PHONY: install-python
