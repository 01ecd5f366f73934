# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors

PRELOAD := $(O)/lib/sfjit/libsfjit-preload.so
PRELOAD_OBJ := $(patsubst %.c,$(O)/obj/%.o,$(wildcard userspace/preload/*.c))
PRELOAD_PRCTL := $(O)/obj/userspace/libsfjit/register.o
PRELOAD_BARE := arch/bare.c $(wildcard $(addprefix arch/$(ARCH)/flow/, bare.c \
	insn.c))
PRELOAD_FLOW := $(PRELOAD_BARE:%.c=$(O)/obj/userspace/preload/%.o)
PRELOAD_H := $(wildcard userspace/preload/*.h userspace/include/*.h arch/*.h \
	arch/*/code.h arch/*/flow/*.h) $(SFG_PUBLIC_H)

ALL += $(PRELOAD)

# A table that another converter made is not taken from the cache. The tag is of
# what was compiled, which no source, header or flag escapes: the converter,
# and what in this module gives it input and memory. cache.c has the tag in it.
PRELOAD_CONVERTER := $(O)/lib/libsframegen.a $(PRELOAD_FLOW) $(addprefix \
	$(O)/obj/userspace/preload/, image.o windows.o make_table.o amend.o \
	arena.o)

$(O)/gen/cache-tag.h: $(PRELOAD_CONVERTER) userspace/preload/cache.c
	@mkdir -p $(@D)
	sum=$$(cat $^ | cksum) && \
	echo "#define SFJIT_CACHE_TAG $${sum%% *}U" > $@

# Frame pointers: a sample that falls into this module before its own window
# exists is walked by them. No builtins: arena.c defines malloc().
$(PRELOAD_OBJ): $(O)/obj/%.o: %.c
$(PRELOAD_FLOW): $(O)/obj/userspace/preload/%.o: %.c
$(PRELOAD_OBJ) $(PRELOAD_FLOW): $(PRELOAD_H)
	@mkdir -p $(@D)
	$(CC) $(SF_CFLAGS) -D_GNU_SOURCE $(CFLAGS) -fPIC \
		-fvisibility=hidden -fno-omit-frame-pointer -fno-builtin-malloc -c -o $@ \
		$(filter %.c,$^)

$(O)/obj/userspace/preload/cache.o: $(O)/gen/cache-tag.h

# Of libsfjit only the object that calls prctl(), which needs no other.
$(PRELOAD): $(PRELOAD_OBJ) $(PRELOAD_FLOW) $(CODE_OBJ) $(PRELOAD_PRCTL) $(O)/lib/libsframegen.a \
		userspace/preload/preload.map
	@mkdir -p $(@D)
	$(CC) -shared $(CFLAGS) $(LDFLAGS) -Wl,-z,defs -Wl,-z,now -Wl,--build-id \
		-Wl,-soname,$(@F) \
		-Wl,--version-script=userspace/preload/preload.map \
		-o $@ $(PRELOAD_OBJ) $(PRELOAD_FLOW) $(CODE_OBJ) \
		$(PRELOAD_PRCTL) $(O)/lib/libsframegen.a
