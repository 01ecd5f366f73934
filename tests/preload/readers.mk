# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors

# The parts that read what they find in memory, with every access checked.
RUN_READERS := $(addprefix $(O)/tests/preload/, amend borrowed \
	clip covers image frames symfile)
$(O)/tests/preload/amend: parts := amend.c image.c \
	$(PRELOAD_BARE:%=../../%)
$(O)/tests/preload/borrowed: parts := borrowed.c
$(O)/tests/preload/clip: parts := clip.c store.c
$(O)/tests/preload/covers: parts := clip.c covers.c store.c
$(O)/tests/preload/image: parts := image.c windows.c
$(O)/tests/preload/frames: parts := cfi_read.c self.c
$(O)/tests/preload/symfile: parts := symfile.c self.c

ifeq ($(CROSS_COMPILE),)
reader_checks := -fsanitize=address,undefined -fno-sanitize-recover=undefined
reader_lib := $(SFG_LIB_OBJS:$(O)/obj/%=$(O)/obj/san/%)
else
reader_lib := $(SFG_LIB_OBJS)
endif

$(RUN_READERS): $(O)/tests/preload/%: tests/preload/%.c \
		tests/preload/programs/jit_code.h tests/preload/programs/jit_elf.h \
		tests/lib/tap.c tests/lib/tap.h \
		$(wildcard userspace/preload/*.[ch]) \
		$(reader_lib) $(SFG_H)
	@mkdir -p $(@D)
	$(CC) $(SF_CFLAGS) $(CFLAGS) -D_GNU_SOURCE -Iuserspace/preload \
		$(reader_checks) \
		-o $@ $< tests/lib/tap.c \
		$(addprefix userspace/preload/, $(parts)) \
		$(reader_lib)
