# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
# build/lib/libsframegen.a (no dependency) and build/bin/sframegen (libelf)

SFG_LIB_OBJS := $(patsubst %,$(O)/obj/sframegen/%.o, \
	arch convert encode expr frames layout pack program read rows rules)
SFG_BIN_OBJS := $(patsubst %,$(O)/obj/sframegen/%.o, \
	main dump elf_file elf_relocate elf_symbols file format report \
	template verify window_cfi)

ALL += $(O)/bin/sframegen $(O)/lib/libsframegen.a

$(SFG_LIB_OBJS) $(SFG_BIN_OBJS): $(O)/obj/sframegen/%.o: sframegen/%.c \
		sframegen/*.h userspace/include/sfjit/sframe.h
	@mkdir -p $(@D)
	$(CC) $(SF_CFLAGS) $(CFLAGS) -fPIC -fvisibility=hidden -c -o $@ $<

$(O)/lib/libsframegen.a: $(SFG_LIB_OBJS)
	@mkdir -p $(@D)
	rm -f $@
	$(AR) rcs $@ $^

$(O)/bin/sframegen: $(SFG_BIN_OBJS) $(O)/lib/libsframegen.a
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) -o $@ $^ -lelf

install: install-sframegen

install-sframegen: $(O)/bin/sframegen
	install -d $(DESTDIR)$(PREFIX)/bin $(DESTDIR)$(PREFIX)/share/man/man1
	install -m 755 $< $(DESTDIR)$(PREFIX)/bin
	install -m 644 Documentation/man/sframegen.1 \
		$(DESTDIR)$(PREFIX)/share/man/man1

.PHONY: install install-sframegen
