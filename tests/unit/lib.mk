# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors

lib_test := tests/unit/lib-test.h tests/lib/case.h tests/lib/case.c

LIB_UNIT := $(addprefix $(O)/tests/unit/, lib-absent lib-atfork \
	lib-memory lib-names lib-section lib-signals lib-threads)
# These bring sfjit_fault() and see what is hidden.
LIB_UNIT_INNER := $(addprefix $(O)/tests/unit/, lib-pool lib-register)

$(LIB_UNIT): $(O)/tests/unit/%: tests/unit/%.c $(lib_test) \
		$(O)/lib/libsfjit.a
	@mkdir -p $(@D)
	$(CC) $(SF_CFLAGS) $(CFLAGS) -o $@ $(filter %.c %.a,$^) -pthread

$(LIB_UNIT_INNER): $(O)/tests/unit/%: tests/unit/%.c $(lib_test) \
		$(O)/obj/userspace/libsfjit-test.a $(O)/lib/libsframegen.a
	@mkdir -p $(@D)
	$(CC) $(SF_CFLAGS) $(CFLAGS) -o $@ $(filter %.c %.a, $^) -pthread

$(O)/tests/unit/lib-register $(O)/tests/unit/lib-fork: tests/unit/lib-prctl.h

$(O)/tests/unit/lib-fork: tests/unit/lib-fork.c $(lib_test) \
		$(O)/obj/userspace/libsfjit-test.a $(O)/lib/libsframegen.a
	@mkdir -p $(@D)
	$(CC) $(SF_CFLAGS) $(CFLAGS) -o $@ $(filter %.c %.a, $^) -pthread \
		-Wl,--wrap=pthread_atfork

$(O)/tests/unit/lib-atfork-shared: tests/unit/lib-atfork.c \
		$(lib_test) $(O)/lib/libsfjit.so
	@mkdir -p $(@D)
	$(CC) $(SF_CFLAGS) $(CFLAGS) -o $@ $(filter %.c %.so,$^) -pthread \
		-Wl,-rpath,$(abspath $(O)/lib)

# All that it uses with the sanitizers.
$(O)/tests/unit/lib-live: tests/unit/lib-live.c $(lib_test) \
		tests/unit/lib-prctl.h $(LIBSFJIT_SRC) $(LIBSFJIT_DEPS) \
		$(SFG_LIB_OBJS:$(O)/obj/%.o=%.c) $(O)/bin/sframegen
	@mkdir -p $(@D)
	$(CC) $(SF_CFLAGS) $(CFLAGS) -fsanitize=address,undefined \
		-fno-sanitize-recover=all -DSFJIT_TEST -o $@ \
		$(filter tests/%.c sframegen/%.c, $^) \
		$(addprefix userspace/libsfjit/, live.c lock.c memory.c \
		register.c section.c) -pthread

# For a guest: tests/qemu/library.sh.
$(O)/tests/guest/lib-kernel: tests/unit/lib-kernel.c $(lib_test) \
		$(O)/lib/libsfjit.a
	@mkdir -p $(@D)
	$(CC) $(SF_CFLAGS) $(CFLAGS) -o $@ $(filter %.c %.a,$^) -pthread

$(O)/tests/unit/lib-call: tests/unit/lib-call.c $(lib_test) \
		tests/unit/lib-saved-registers.S $(O)/lib/libsfjit.a
	@mkdir -p $(@D)
	$(CC) $(SF_CFLAGS) $(CFLAGS) -o $@ $(filter %.c %.S %.a, $^) -pthread

TESTS += $(LIB_UNIT) $(LIB_UNIT_INNER) $(O)/tests/unit/lib-call \
	$(O)/tests/unit/lib-atfork-shared $(O)/tests/unit/lib-fork \
	$(O)/tests/unit/lib-live $(O)/tests/guest/lib-kernel
