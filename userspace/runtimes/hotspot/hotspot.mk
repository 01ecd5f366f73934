# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# The agent for HotSpot. No JDK is needed to build it.

HOTSPOT := $(O)/lib/sfjit/libsfjit-hotspot.so
HOTSPOT_OBJ := $(patsubst %.c,$(O)/obj/%.o,$(wildcard userspace/runtimes/hotspot/*.c))
FLOW_OBJ := $(patsubst %.c,$(O)/obj/%.o,$(wildcard arch/x86_64/flow/*.c))
FLOW_H := $(wildcard arch/bare.h arch/x86_64/flow/*.h)

ALL += $(HOTSPOT)

$(HOTSPOT_OBJ) $(FLOW_OBJ): $(O)/obj/%.o: %.c $(FLOW_H) $(SFG_PUBLIC_H) \
		$(wildcard userspace/runtimes/hotspot/*.h userspace/include/*.h)
	@mkdir -p $(@D)
	$(CC) $(SF_CFLAGS) $(CFLAGS) -D_GNU_SOURCE -Iarch/x86_64/flow -fPIC \
		-fvisibility=hidden -pthread -c -o $@ $<

# Its copy of the library is its own, whatever the program is linked with.
$(HOTSPOT): $(HOTSPOT_OBJ) $(FLOW_OBJ) $(O)/lib/libsfjit.a
	@mkdir -p $(@D)
	$(CC) -shared $(CFLAGS) $(LDFLAGS) -pthread -Wl,-z,defs -Wl,-z,now \
		-Wl,--exclude-libs,ALL -Wl,-soname,$(@F) -o $@ $^

install: install-hotspot

install-hotspot: $(HOTSPOT)
	install -d $(DESTDIR)$(PREFIX)/lib/sfjit
	install -m 755 $(HOTSPOT) $(DESTDIR)$(PREFIX)/lib/sfjit

.PHONY: install-hotspot
