# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# The demo's C workload. It is compiled with frame pointers on purpose: what it
# shows is what happens to such code when it calls through code without. In place
# of these s390x has back chains.

DEMO_CFLAGS := -fno-omit-frame-pointer -mno-omit-leaf-frame-pointer
demo_cflags_s390x := -mbackchain
DEMO_CFLAGS := $(or $(demo_cflags_$(ARCH)),$(DEMO_CFLAGS))

$(O)/tests/system/demo/c-trampolines: tools/demo.d/c-trampolines.c \
		userspace/include/sfjit.h $(O)/lib/libsfjit.a
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(SF_CFLAGS) -O2 $(DEMO_CFLAGS) -o $@ $< \
		$(O)/lib/libsfjit.a -lpthread

ALL += $(O)/tests/system/demo/c-trampolines
