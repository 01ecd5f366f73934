# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
# build/lib/libsframegen.a (no dependency) and build/bin/sframegen (libelf)

SFG_LIB_OBJS := $(patsubst %.c,$(O)/obj/%.o,$(wildcard sframegen/lib/*.c))
SFG_CMD_OBJS := $(patsubst %.c,$(O)/obj/%.o,$(wildcard sframegen/cmd/*.c))
SFG_PUBLIC_H := $(wildcard sframegen/include/*.h sframegen/include/*/*.h)
SFG_H := $(SFG_PUBLIC_H) $(wildcard sframegen/*/*.h)

# The command runs here, whatever machine the libraries are for.
ifeq ($(CROSS_COMPILE),)
SFRAMEGEN := $(O)/bin/sframegen
ALL += $(SFRAMEGEN)
install: install-sframegen
else
SFRAMEGEN ?= $(O)/here/bin/sframegen

$(O)/here/bin/sframegen: $(wildcard sframegen/*/*.c) $(SFG_H)
	$(MAKE) CROSS_COMPILE= CC=gcc O=$(O)/here $@
endif

ALL += $(O)/lib/libsframegen.a

$(SFG_LIB_OBJS) $(SFG_CMD_OBJS): $(O)/obj/%.o: %.c $(SFG_H)
	@mkdir -p $(@D)
	$(CC) $(SF_CFLAGS) $(CFLAGS) -fPIC -fvisibility=hidden -c -o $@ $<

$(O)/lib/libsframegen.a: $(SFG_LIB_OBJS)
	@mkdir -p $(@D)
	rm -f $@
	$(AR) rcs $@ $^

$(O)/bin/sframegen: $(SFG_CMD_OBJS) $(O)/lib/libsframegen.a
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ -lelf

install: install-libsframegen

install-libsframegen: $(O)/lib/libsframegen.a
	install -d $(DESTDIR)$(LIBDIR)/pkgconfig \
		$(DESTDIR)$(PREFIX)/include/sfjit \
		$(DESTDIR)$(PREFIX)/share/man/man7
	install -m 644 $< $(DESTDIR)$(LIBDIR)
	install -m 644 Documentation/man/libsframegen.7 \
		$(DESTDIR)$(PREFIX)/share/man/man7
	$(fill_pc) sframegen/libsframegen.pc.in \
		>$(DESTDIR)$(LIBDIR)/pkgconfig/libsframegen.pc
	install -m 644 sframegen/include/sframegen.h \
		$(DESTDIR)$(PREFIX)/include
	install -m 644 sframegen/include/sfjit/*.h \
		$(DESTDIR)$(PREFIX)/include/sfjit

install-sframegen: $(O)/bin/sframegen
	install -d $(DESTDIR)$(PREFIX)/bin $(DESTDIR)$(PREFIX)/share/man/man1
	install -m 755 $< $(DESTDIR)$(PREFIX)/bin
	install -m 644 Documentation/man/sframegen.1 \
		$(DESTDIR)$(PREFIX)/share/man/man1

.PHONY: install install-sframegen install-libsframegen
