# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors

sfjit_h := userspace/include/sfjit.h userspace/include/sfjit-assist.h

LIBSFJIT_SRC := $(wildcard userspace/libsfjit/*.c)
LIBSFJIT_DIR := $(O)/obj/userspace/libsfjit
LIBSFJIT_OBJ := $(LIBSFJIT_SRC:userspace/libsfjit/%.c=$(LIBSFJIT_DIR)/%.o)
LIBSFJIT_TEST_OBJ := $(LIBSFJIT_OBJ:.o=.test.o)
LIBSFJIT_DEPS := $(wildcard userspace/libsfjit/*.h) $(sfjit_h) \
	userspace/include/jitdump-format.h \
	$(SFG_PUBLIC_H) $(wildcard arch/$(ARCH)/*.h) \
	$(O)/gen/sfjit_trampoline.h
LIBSFJIT_SO := $(O)/lib/libsfjit.so.$(SFJIT_VERSION)
LIBSFJIT_PC := $(O)/lib/pkgconfig/libsfjit.pc
LIBSFJIT_MAN := $(wildcard Documentation/man/*.[23] Documentation/man/sfjit.7)

$(LIBSFJIT_DIR)/%.o: userspace/libsfjit/%.c $(LIBSFJIT_DEPS)
	@mkdir -p $(@D)
	$(CC) $(SF_CFLAGS) $(CFLAGS) -fPIC -fvisibility=hidden -pthread \
		-c -o $@ $<

# With fault injection and self-check, for tests only.
$(LIBSFJIT_DIR)/%.test.o: userspace/libsfjit/%.c $(LIBSFJIT_DEPS)
	@mkdir -p $(@D)
	$(CC) $(SF_CFLAGS) $(CFLAGS) -fPIC -pthread -DSFJIT_TEST \
		-c -o $@ $<

$(O)/obj/userspace/libsfjit-test.a: $(LIBSFJIT_TEST_OBJ)
	rm -f $@
	$(AR) rcs $@ $^

# One object in which the encoder's names are local: a program may link
# libsframegen as well.
$(LIBSFJIT_DIR).o: $(LIBSFJIT_OBJ) $(O)/lib/libsframegen.a
	$(CC) -r -nostdlib -o $@ $^
	$(OBJCOPY) --localize-hidden $@

$(O)/lib/libsfjit.a: $(LIBSFJIT_DIR).o
	@mkdir -p $(@D)
	rm -f $@
	$(AR) rcs $@ $<

$(LIBSFJIT_SO): $(LIBSFJIT_DIR).o userspace/libsfjit/libsfjit.map
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(LDFLAGS) -shared -pthread -Wl,-z,defs -Wl,-Bsymbolic \
		-Wl,-z,relro,-z,now \
		-Wl,-soname,libsfjit.so.$(SFJIT_MAJOR) \
		-Wl,--version-script=userspace/libsfjit/libsfjit.map \
		-o $@ $<

$(O)/lib/libsfjit.so.$(SFJIT_MAJOR): $(LIBSFJIT_SO)
	ln -sf $(<F) $@

$(O)/lib/libsfjit.so: $(O)/lib/libsfjit.so.$(SFJIT_MAJOR)
	ln -sf $(<F) $@

$(LIBSFJIT_PC): userspace/libsfjit/libsfjit.pc.in $(SFG_PUBLIC_H)
	@mkdir -p $(@D)
	$(fill_pc) $< >$@

# Those of tests/system/patterns. The examples write code of AMD64.
PATTERNS := append_jit freelist_jit moving_jit regex_jit trace_jit

EXAMPLES := $(addprefix $(O)/examples/, hello_jit live_jit rows_jit \
	eh_frame_jit text_jit $(PATTERNS))

$(PATTERNS:%=$(O)/examples/%): userspace/examples/emit.h

$(EXAMPLES): $(O)/examples/%: userspace/examples/%.c $(O)/lib/libsfjit.a \
		$(sfjit_h)
	@mkdir -p $(@D)
	$(CC) $(SF_CFLAGS) $(CFLAGS) -o $@ $< $(O)/lib/libsfjit.a -pthread

ALL += $(O)/lib/libsfjit.a $(O)/lib/libsfjit.so $(LIBSFJIT_PC)
ifneq ($(wildcard arch/$(ARCH)/arch.mk),)
ALL += $(EXAMPLES)
endif

install: install-libsfjit

# Its headers are of both, and JITs for other processes need the other.
install-libsfjit: $(O)/lib/libsfjit.a $(O)/lib/libsfjit.so install-libsframegen
	install -d $(DESTDIR)$(LIBDIR)/pkgconfig \
		$(DESTDIR)$(PREFIX)/include/sfjit
	install -m 644 $(O)/lib/libsfjit.a $(DESTDIR)$(LIBDIR)
	install -m 755 $(LIBSFJIT_SO) $(DESTDIR)$(LIBDIR)
	ln -sf $(notdir $(LIBSFJIT_SO)) \
		$(DESTDIR)$(LIBDIR)/libsfjit.so.$(SFJIT_MAJOR)
	ln -sf libsfjit.so.$(SFJIT_MAJOR) $(DESTDIR)$(LIBDIR)/libsfjit.so
	$(fill_pc) userspace/libsfjit/libsfjit.pc.in \
		>$(DESTDIR)$(LIBDIR)/pkgconfig/libsfjit.pc
	install -m 644 $(sfjit_h) $(DESTDIR)$(PREFIX)/include
	install -m 644 sframegen/include/sfjit/*.h \
		$(DESTDIR)$(PREFIX)/include/sfjit
	for page in $(LIBSFJIT_MAN); do \
		dir=$(DESTDIR)$(PREFIX)/share/man/man$${page##*.}; \
		install -d $$dir && install -m 644 $$page $$dir && \
		sed -n '/^\.SH NAME/{n;s/ \\-.*//;s/,//g;p;}' $$page | \
		tr ' ' '\n' | while read -r name; do \
			[ -e $$dir/$$name.$${page##*.} ] || \
			ln -s $${page##*/} $$dir/$$name.$${page##*.}; \
		done || exit 1; \
	done

.PHONY: install install-libsfjit
