# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
# build/lib/libsfjit-stacks.a and .so (libelf)

stacks_h := userspace/include/sfjit-stacks.h
stacks_name := libsfjit-stacks
STACKS_DIR := $(O)/obj/userspace/stacks
STACKS_OBJ := $(patsubst %.c,$(O)/obj/%.o,$(wildcard userspace/stacks/*.c))
STACKS_H := $(wildcard userspace/stacks/*.h) $(stacks_h) $(SFG_PUBLIC_H)
STACKS_SO := $(O)/lib/$(stacks_name).so.$(SFJIT_VERSION)

$(STACKS_OBJ): $(O)/obj/%.o: %.c $(STACKS_H)
	@mkdir -p $(@D)
	$(CC) $(SF_CFLAGS) -D_GNU_SOURCE $(CFLAGS) -fPIC -fvisibility=hidden \
		-c -o $@ $<

# As of libsfjit: a program may link libsframegen as well.
$(STACKS_DIR).o: $(STACKS_OBJ) $(O)/lib/libsframegen.a
	$(CC) -r -nostdlib -o $@ $^
	$(OBJCOPY) --localize-hidden $@

$(O)/lib/$(stacks_name).a: $(STACKS_DIR).o
	@mkdir -p $(@D)
	rm -f $@
	$(AR) rcs $@ $<

$(STACKS_SO): $(STACKS_DIR).o userspace/stacks/$(stacks_name).map
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(LDFLAGS) -shared -Wl,-z,defs -Wl,-Bsymbolic \
		-Wl,-z,relro,-z,now \
		-Wl,-soname,$(stacks_name).so.$(SFJIT_MAJOR) \
		-Wl,--version-script=userspace/stacks/$(stacks_name).map \
		-o $@ $< -lelf

$(O)/lib/$(stacks_name).so.$(SFJIT_MAJOR): $(STACKS_SO)
	ln -sf $(<F) $@

$(O)/lib/$(stacks_name).so: $(O)/lib/$(stacks_name).so.$(SFJIT_MAJOR)
	ln -sf $(<F) $@

ALL += $(O)/lib/$(stacks_name).a $(O)/lib/$(stacks_name).so

install: install-libsfjit-stacks

install-libsfjit-stacks: $(O)/lib/$(stacks_name).a $(O)/lib/$(stacks_name).so
	install -d $(DESTDIR)$(LIBDIR)/pkgconfig \
		$(DESTDIR)$(PREFIX)/include/sfjit \
		$(DESTDIR)$(PREFIX)/share/man/man7
	install -m 644 $(O)/lib/$(stacks_name).a $(DESTDIR)$(LIBDIR)
	install -m 755 $(STACKS_SO) $(DESTDIR)$(LIBDIR)
	ln -sf $(notdir $(STACKS_SO)) \
		$(DESTDIR)$(LIBDIR)/$(stacks_name).so.$(SFJIT_MAJOR)
	ln -sf $(stacks_name).so.$(SFJIT_MAJOR) \
		$(DESTDIR)$(LIBDIR)/$(stacks_name).so
	$(fill_pc) userspace/stacks/$(stacks_name).pc.in \
		>$(DESTDIR)$(LIBDIR)/pkgconfig/$(stacks_name).pc
	install -m 644 $(stacks_h) $(DESTDIR)$(PREFIX)/include
	install -m 644 sframegen/include/sfjit/version.h \
		$(DESTDIR)$(PREFIX)/include/sfjit
	install -m 644 Documentation/man/$(stacks_name).7 \
		$(DESTDIR)$(PREFIX)/share/man/man7

.PHONY: install install-libsfjit-stacks

$(O)/examples/profiler: userspace/examples/profiler.c $(stacks_h) \
		$(O)/lib/$(stacks_name).a
	@mkdir -p $(@D)
	$(CC) $(SF_CFLAGS) $(CFLAGS) -o $@ $(filter %.c %.a,$^) -lelf

ALL += $(O)/examples/profiler
