# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors

PRELOAD := $(O)/lib/sfjit/libsfjit-preload.so
preload_obj := $(O)/obj/userspace/preload
# What it takes of the machine is compiled as it is itself.
preload_flow := arch/bare $(basename $(wildcard $(addprefix arch/$(ARCH)/flow/, \
	bare.c framed.c)))
preload_flow_obj := $(preload_flow:%=$(preload_obj)/%.o)

ALL += $(if $(walks),$(PRELOAD))

# A table that another converter made is not taken from the cache. The tag is of
# what was compiled, which no source, header or flag escapes: the converter,
# and what in this module gives it input and memory. cache.c has the tag in it.
$(O)/gen/cache-tag.h: $(O)/lib/libsframegen.a $(preload_flow_obj) $(addprefix \
		$(preload_obj)/, cfi.o image.o table.o make_table.o amend.o \
		arena.o) userspace/preload/cache.c
	$(call to,GEN) sum=$$(cat $^ | cksum) && \
		echo "#define SFJIT_CACHE_TAG $${sum%% *}U" >$@

$(preload_obj)/cache.o: $(O)/gen/cache-tag.h

# Frame pointers: a sample that falls into this module before its own window
# exists is walked by them. No builtins: arena.c defines malloc(). musl has no
# functions of _FORTIFY_SOURCE, by which packages are built.
room.userspace/preload := -D_GNU_SOURCE
lib.userspace/preload := $(pic) -fno-omit-frame-pointer -fno-builtin-malloc \
	-U_FORTIFY_SOURCE

$(preload_obj)/arch/%.o: arch/%.c
	$(cc) -D_GNU_SOURCE $(lib.userspace/preload) -c $<

# Of libsfjit only the object that talks to the module for stock kernels, which
# needs no other. The prctl() that this module calls is not the one that it defines
# for the program.
preload_parts := $(call objects,userspace/preload/*.c) $(preload_flow_obj) \
	$(O)/obj/arch/$(ARCH)/event.o $(O)/obj/userspace/libsfjit/node.o \
	$(O)/lib/libsframegen.a userspace/preload/preload.map
link_preload = $(call to,LD) $(CC) -shared $(CFLAGS) $(LDFLAGS) -Wl,-z,defs \
	-Wl,-z,now -Wl,--wrap=prctl -Wl,--build-id -Wl,-soname,$(@F) \
	-Wl,--version-script=$(filter %.map,$^) -o $@ $(filter-out %.map,$^)

$(PRELOAD): $(preload_parts)
	$(link_preload)

# sfjit finds it in ../lib/sfjit of its own directory, whatever LIBDIR is; so does
# libsfjit.
install-preload: $(PRELOAD)
	$(call put,755,$(PREFIX)/lib/sfjit,$(PRELOAD))

.PHONY: install-preload
