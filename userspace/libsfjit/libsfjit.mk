# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors

# $(call library,NAME,ROOM,LIBRARIES): build/lib/NAME.a and .so consist of one
# object, in which the encoder's names are local, so that a program can link
# libsframegen as well. In the archive the names of the version map are hidden:
# they resolve, but a plugin with the archive does not export them. Otherwise
# two such plugins would call each other's copy. A symbol gets the strictest
# visibility that any object gives it.
define library
lib.$(2) := $(pic) -pthread

$(O)/obj/$(2).o: $(call objects,$(2)/*.c) $(O)/lib/libsframegen.a
	$$(call to,LD) $$(CC) -r -nostdlib -o $$@ $$^
	@$$(OBJCOPY) --localize-hidden $$@

$(O)/obj/$(2)-hidden.s: $(2)/$(1).map
	$$(call to,GEN) { sed -n 's/^\t\(sfjit_.*\);$$$$/.hidden \1/p' $$< && \
		echo '.section .note.GNU-stack,"",%progbits'; } >$$@

$(O)/obj/$(2)-hidden.o: $(O)/obj/$(2).o $(O)/obj/$(2)-hidden.s
	$$(call to,LD) $$(CC) -r -nostdlib -o $$@ $$^

$(O)/lib/$(1).a: $(O)/obj/$(2)-hidden.o

$(O)/lib/$(1).so.$(SFJIT_VERSION): $(O)/obj/$(2).o $(2)/$(1).map
	$$(call to,LD) $$(CC) $$(CFLAGS) $$(LDFLAGS) -shared -pthread \
		-Wl,-z,defs -Wl,-Bsymbolic -Wl,-z,relro,-z,now \
		-Wl,-soname,$(1).so.$(SFJIT_MAJOR) \
		-Wl,--version-script=$(2)/$(1).map -o $$@ $$< $(3)

$(O)/lib/$(1).so.$(SFJIT_MAJOR): $(O)/lib/$(1).so.$(SFJIT_VERSION)
	$$(call to,LN) ln -sf $$(<F) $$@

$(O)/lib/$(1).so: $(O)/lib/$(1).so.$(SFJIT_MAJOR)
	$$(call to,LN) ln -sf $$(<F) $$@

ALL += $(O)/lib/$(1).a $(O)/lib/$(1).so
endef

# $(call put_library,NAME,ROOM)
define put_library
$(call put,644,$(LIBDIR),$(O)/lib/$(1).a)
$(call put,755,$(LIBDIR),$(O)/lib/$(1).so.$(SFJIT_VERSION))
ln -sf $(1).so.$(SFJIT_VERSION) $(DESTDIR)$(LIBDIR)/$(1).so.$(SFJIT_MAJOR)
ln -sf $(1).so.$(SFJIT_MAJOR) $(DESTDIR)$(LIBDIR)/$(1).so
$(call put_pc,$(2)/$(1).pc.in)
endef

$(eval $(call library,libsfjit,userspace/libsfjit))
test.userspace/libsfjit := -DSFJIT_TEST

# With fault injection and self-check, for tests only.
$(O)/obj/userspace/libsfjit-test.a: $(call objects,userspace/libsfjit/*.c,test/)

$(foreach variant,/ /test/ /san/ /race/,$(call objects, \
	userspace/libsfjit/*.c,$(variant:/%=%))): | $(O)/gen/sfjit_trampoline.h

$(O)/lib/pkgconfig/libsfjit.pc: userspace/libsfjit/libsfjit.pc.in $(version_h)
	$(call to,GEN) $(fill_pc) $< >$@

# The examples of tests/system/patterns, which write AMD64 code.
PATTERNS := freelist_jit moving_jit regex_jit trace_jit

EXAMPLES := $(patsubst userspace/%.c,$(O)/%,$(wildcard $(patsubst \
	%,userspace/examples/%.c,hello_jit area_jit rows_jit eh_frame_jit \
	text_jit asked_loop $(PATTERNS))))

$(EXAMPLES): $(O)/examples/%: userspace/examples/%.c $(O)/lib/libsfjit.a
	$(program) -pthread

ALL += $(O)/lib/pkgconfig/libsfjit.pc $(if $(amd64),$(EXAMPLES))

install: install-libsfjit

# Its headers are of both, and JITs for other processes need the other. It loads the
# module in sfjit_cover_modules().
install-libsfjit: $(O)/lib/libsfjit.a $(O)/lib/libsfjit.so install-libsframegen \
		$(if $(walks),install-preload)
	$(call put_library,libsfjit,userspace/libsfjit)
	$(call put,644,$(PREFIX)/include,$(addprefix userspace/include/, \
		sfjit.h sfjit-assist.h))
	$(call put,644,$(PREFIX)/include/sfjit,$(wildcard userspace/include/sfjit/*.h))
	$(call put_man,7,sfjit libsfjit sfjit_*)
	$(call put_man,3,*)
	$(call put,644,$(PREFIX)/share/man/man3,$(wildcard Documentation/man/*.3type))
	$(call put_man,2,PR_*)
	ln -sf PR_SFRAME_REGISTER.2 \
		$(DESTDIR)$(PREFIX)/share/man/man2/PR_SFRAME_UNREGISTER.2

.PHONY: install-libsfjit
