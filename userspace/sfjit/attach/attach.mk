# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# sfjit attach and detach, for machines whose registers are known.

ATTACH_ENGINE := $(addprefix userspace/sfjit/attach/, remote.c threads.c trace.c)
ATTACH_OBJ := $(patsubst %.c,$(O)/obj/%.o,$(wildcard userspace/sfjit/attach/*.c))

$(ATTACH_OBJ): $(O)/obj/%.o: %.c $(wildcard userspace/sfjit/attach/*.h \
		userspace/sfjit/*.h userspace/preload/*.h) \
		arch/$(ARCH)/registers.h $(SFG_PUBLIC_H)
	@mkdir -p $(@D)
	$(CC) $(SF_CFLAGS) $(CFLAGS) -D_GNU_SOURCE -iquote userspace/sfjit \
		-iquote userspace/preload -c -o $@ $<
