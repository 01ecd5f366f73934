# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# Programs for `sfjit run' in a guest without a root file system, and what runs
# them there: the C library that the compiler links with.

ifeq ($(ARCH),aarch64)
edges_out := $(O)/tests/guest
edges_lib := $(addprefix $(edges_out)/lib/, ld-linux-aarch64.so.1 libc.so.6 \
	libm.so.6)

$(edges_lib): $(edges_out)/lib/%:
	@mkdir -p $(@D)
	cp -L $$($(CC) -print-file-name=$*) $@

# Functions have no frame records. Not PIE: the address of a function of a
# library is that of its PLT entry, and functions are bound when they are called.
$(edges_out)/edges $(edges_out)/edges-signed: tests/qemu/edges.c \
		tests/lib/case.c tests/lib/case.h
	@mkdir -p $(@D)
	$(CC) $(SF_CFLAGS) -D_GNU_SOURCE -O2 -g $(edges_signed) \
		-fomit-frame-pointer -fno-pie -no-pie -Wl,-z,lazy \
		-static-libgcc -o $@ $(filter %.c,$^)

$(edges_out)/edges-signed: edges_signed := -mbranch-protection=standard

edges: $(addprefix $(edges_out)/, edges edges-signed) $(edges_lib) \
	$(SFJIT) $(PRELOAD)

.PHONY: edges
endif
