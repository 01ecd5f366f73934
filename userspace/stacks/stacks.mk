# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
# build/lib/libsfjit-stacks.a and .so (libelf)

room.userspace/stacks := -D_GNU_SOURCE

ifdef native
ifdef walks
$(eval $(call library,libsfjit-stacks,userspace/stacks,-lelf))

ALL += $(patsubst userspace/%.c,$(O)/%,$(wildcard userspace/examples/profiler.c))
install: install-libsfjit-stacks
endif
endif

install-libsfjit-stacks: $(O)/lib/libsfjit-stacks.a $(O)/lib/libsfjit-stacks.so
	$(call put_library,libsfjit-stacks,userspace/stacks)
	$(call put,644,$(PREFIX)/include,userspace/include/sfjit-stacks.h)
	$(call put,644,$(PREFIX)/include/sfjit,$(version_h))
	$(call put_man,7,libsfjit-stacks)

.PHONY: install-libsfjit-stacks

$(O)/examples/profiler: userspace/examples/profiler.c $(O)/lib/libsfjit-stacks.a
	$(program) -lelf
