# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# Programs for `sfjit run' in a guest without a root file system, and what runs
# them there: the C library that the compiler links with.

edges_out := $(O)/tests/system/guest
edges_libc := $(dir $(shell $(CC) -print-file-name=libc.so.6))
edges_loader := $(notdir $(wildcard $(edges_libc)ld*.so.[0-9]))
edges_lib := $(addprefix $(edges_out)/lib/, $(edges_loader) libc.so.6 libm.so.6)

# What compilers make in other ways.
edges_aarch64 := edges-signed

edges := $(addprefix $(edges_out)/, edges $(edges_$(ARCH)))

$(edges_lib): $(edges_out)/lib/%:
	@mkdir -p $(@D)
	cp -L $(edges_libc)$* $@

# Functions have no frame records. Not PIE: the address of a function of a
# library is that of its PLT entry, and functions are bound when they are called.
$(edges): tests/system/guest/edges.c tests/arch/edges-$(ARCH).c tests/arch/edges.h \
		tests/lib/tap.c tests/lib/tap.h
	@mkdir -p $(@D)
	$(CC) $(SF_CFLAGS) -D_GNU_SOURCE -O2 -g $(edges_flags) \
		-DEDGES_LOADER='"/$(edges_loader)"' \
		-fomit-frame-pointer -fno-pie -no-pie -Wl,-z,lazy \
		-static-libgcc -o $@ $(filter %.c,$^)

$(edges_out)/edges-signed: edges_flags := -mbranch-protection=standard

edges: $(edges) $(edges_lib) $(SFJIT) $(PRELOAD)

.PHONY: edges
