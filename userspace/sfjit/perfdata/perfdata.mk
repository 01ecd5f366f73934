# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors

PERFDATA_OBJ := $(patsubst %.c,$(O)/obj/%.o,$(wildcard userspace/sfjit/perfdata/*.c))
PERFDATA_H := $(wildcard userspace/sfjit/perfdata/*.h) $(stacks_h) $(SFG_PUBLIC_H) \
	userspace/include/jitdump-format.h

$(PERFDATA_OBJ): $(O)/obj/%.o: %.c $(PERFDATA_H)
	@mkdir -p $(@D)
	$(CC) $(SF_CFLAGS) $(CFLAGS) -D_GNU_SOURCE -c -o $@ $<
