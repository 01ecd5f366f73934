# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
# build/lib/libsframegen.a (no dependency) and build/bin/sframegen (libelf)

lib.sframegen/lib := $(pic)
lib.sframegen/cmd := $(pic)
sframegen_lib := $(call objects,sframegen/lib/*.c)
sframegen_headers := $(wildcard sframegen/include/sfjit/*.h)

# The command runs here, whatever machine the libraries are for.
ifdef native
SFRAMEGEN := $(O)/bin/sframegen
ALL += $(SFRAMEGEN)
install: install-sframegen
else
SFRAMEGEN ?= $(O)/here/bin/sframegen

$(O)/here/bin/sframegen: $(wildcard sframegen/*/*.[ch]) $(sframegen_headers)
	$(MAKE) CROSS_COMPILE= CC=gcc O=$(O)/here $@
endif

ALL += $(O)/lib/libsframegen.a

$(O)/lib/libsframegen.a: $(sframegen_lib)

$(O)/bin/sframegen: $(call objects,sframegen/cmd/*.c) $(O)/lib/libsframegen.a
	$(call to,LD) $(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ -lelf

install: install-libsframegen

install-libsframegen: $(O)/lib/libsframegen.a
	$(call put,644,$(LIBDIR),$<)
	$(call put_man,7,libsframegen)
	$(call put_pc,sframegen/libsframegen.pc.in)
	$(call put,644,$(PREFIX)/include,sframegen/include/sframegen.h)
	$(call put,644,$(PREFIX)/include/sfjit,$(sframegen_headers))

install-sframegen: $(O)/bin/sframegen
	$(call put,755,$(PREFIX)/bin,$<)
	$(call put_man,1,sframegen)

.PHONY: install-sframegen install-libsframegen
