# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors

comma := ,
lib_test := tests/unit/lib-test.h tests/unit/lib-machine.h tests/lib/tap.h \
	tests/lib/tap.c

LIB_UNIT := $(addprefix $(O)/tests/unit/, lib-absent lib-atfork \
	lib-memory lib-names lib-signals lib-threads)
# These bring sfjit_fault() and see what is hidden.
LIB_UNIT_INNER := $(addprefix $(O)/tests/unit/, lib-assist lib-assist-names \
	lib-debug lib-pool lib-register)

$(LIB_UNIT): $(O)/tests/unit/%: tests/unit/%.c $(lib_test) \
		$(O)/lib/libsfjit.a
	@mkdir -p $(@D)
	$(CC) $(SF_CFLAGS) $(CFLAGS) -o $@ $(filter %.c %.a,$^) -pthread

$(LIB_UNIT_INNER): $(O)/tests/unit/%: tests/unit/%.c $(lib_test) \
		$(O)/obj/userspace/libsfjit-test.a $(O)/lib/libsframegen.a
	@mkdir -p $(@D)
	$(CC) $(SF_CFLAGS) $(CFLAGS) -o $@ $(filter %.c %.a, $^) -pthread

$(addprefix $(O)/tests/unit/, lib-debug lib-register lib-fork): \
	tests/unit/lib-prctl.h
$(addprefix $(O)/tests/unit/, lib-assist lib-assist-names): \
	tests/unit/lib-assist.h

$(O)/tests/unit/lib-fork: tests/unit/lib-fork.c $(lib_test) \
		$(O)/obj/userspace/libsfjit-test.a $(O)/lib/libsframegen.a
	@mkdir -p $(@D)
	$(CC) $(SF_CFLAGS) $(CFLAGS) -o $@ $(filter %.c %.a, $^) -pthread \
		-Wl,--wrap=pthread_atfork

# Its allocator is between the library and libc's.
$(O)/tests/unit/lib-alloc: tests/unit/lib-alloc.c $(lib_test) \
		tests/unit/lib-prctl.h $(O)/obj/userspace/libsfjit-test.a \
		$(O)/lib/libsframegen.a
	@mkdir -p $(@D)
	$(CC) $(SF_CFLAGS) $(CFLAGS) -o $@ $(filter %.c %.a, $^) -pthread \
		$(addprefix -Wl$(comma)--wrap=,malloc calloc realloc free strdup)

$(O)/tests/unit/lib-atfork-shared: tests/unit/lib-atfork.c \
		$(lib_test) $(O)/lib/libsfjit.so
	@mkdir -p $(@D)
	$(CC) $(SF_CFLAGS) $(CFLAGS) -o $@ $(filter %.c %.so,$^) -pthread \
		-Wl,-rpath,$(abspath $(O)/lib)

$(O)/tests/unit/lib-cover: tests/unit/lib-cover.c $(lib_test) \
		$(O)/lib/libsfjit.so | $(O)/lib/sfjit/libsfjit-preload.so
	@mkdir -p $(@D)
	$(CC) $(SF_CFLAGS) -D_GNU_SOURCE $(CFLAGS) -o $@ \
		$(filter %.c %.so,$^) -Wl,-rpath,'$$ORIGIN/../../lib'

# Two copies of the library: the program's is shared, the plugin's in it.
$(O)/tests/run/lib-two-plugin.so: tests/unit/lib-two-plugin.c \
		tests/unit/lib-two.h $(sfjit_h) $(O)/lib/libsfjit.a
	@mkdir -p $(@D)
	$(CC) $(SF_CFLAGS) $(CFLAGS) -fPIC -shared -Wl,--exclude-libs,ALL \
		-o $@ $(filter %.c %.a,$^) -pthread

$(O)/tests/unit/lib-two: tests/unit/lib-two.c $(lib_test) \
		tests/unit/lib-prctl.h tests/unit/lib-two.h $(O)/lib/libsfjit.so \
		| $(O)/tests/run/lib-two-plugin.so
	@mkdir -p $(@D)
	$(CC) $(SF_CFLAGS) $(CFLAGS) -o $@ $(filter %.c %.so,$^) -pthread \
		-Wl,-rpath,'$$ORIGIN/../../lib'

# The same of what the kernel asks.
$(O)/tests/run/lib-assist-plugin.so: tests/unit/lib-assist-plugin.c \
		tests/unit/lib-assist-two.h $(sfjit_h) $(O)/lib/libsfjit.a
	@mkdir -p $(@D)
	$(CC) $(SF_CFLAGS) $(CFLAGS) -fPIC -shared -Wl,--exclude-libs,ALL \
		-o $@ $(filter %.c %.a,$^) -pthread

$(O)/tests/unit/lib-assist-two: tests/unit/lib-assist-two.c $(lib_test) \
		tests/unit/lib-assist.h tests/unit/lib-assist-two.h \
		$(O)/lib/libsfjit.so | $(O)/tests/run/lib-assist-plugin.so
	@mkdir -p $(@D)
	$(CC) $(SF_CFLAGS) $(CFLAGS) -o $@ $(filter %.c %.so,$^) -pthread \
		-Wl,-rpath,'$$ORIGIN/../../lib'

# Without the library.
$(O)/tests/unit/lib-client: tests/unit/lib-client.c $(lib_test) $(SFG_PUBLIC_H)
	@mkdir -p $(@D)
	$(CC) -Isframegen/include $(CFLAGS) -o $@ $(filter %.c,$^)

# What writes a perf map needs besides its callers.
LIB_PERF_MAP := assist_book assist_names file perfmap

# What areas need, and epochs.
LIB_AREA := area check create live_section lock memory pieces register section
LIB_EPOCH := $(LIB_AREA) $(LIB_PERF_MAP) epoch jitdump names scan

# The libraries once more with the sanitizers, and with the one for races.
lib_asan := $(O)/obj/san/test
lib_tsan := $(O)/obj/race
LIB_ASAN := $(patsubst %,$(lib_asan)/%.o,$(LIB_EPOCH) code eh_frame live rows) \
	$(SFG_LIB_OBJS:$(O)/obj/%=$(O)/obj/san/%)
SFG_TSAN := $(SFG_LIB_OBJS:$(O)/obj/%=$(lib_tsan)/%)
LIB_AREA_TSAN := $(patsubst %,$(lib_tsan)/%.o,$(LIB_AREA)) $(SFG_TSAN)
LIB_EPOCH_TSAN := $(patsubst %,$(lib_tsan)/%.o,$(LIB_EPOCH)) $(SFG_TSAN)

LIB_UNIT_SANITIZED := $(addprefix $(O)/tests/unit/, lib-area lib-check \
	lib-eh-frame lib-epoch lib-live lib-rows)

lib_checks := -fsanitize=address,undefined -fno-sanitize-recover=all -DSFJIT_TEST
lib_races := -fsanitize=thread -Wno-tsan -DSFJIT_TEST

$(lib_asan)/%.o: userspace/libsfjit/%.c $(LIBSFJIT_DEPS)
	@mkdir -p $(@D)
	$(CC) $(SF_CFLAGS) $(CFLAGS) $(lib_checks) -c -o $@ $<

$(lib_tsan)/%.o: userspace/libsfjit/%.c $(LIBSFJIT_DEPS)
	@mkdir -p $(@D)
	$(CC) $(SF_CFLAGS) $(CFLAGS) $(lib_races) -c -o $@ $<

$(SFG_TSAN): $(lib_tsan)/%.o: %.c $(SFG_H)
	@mkdir -p $(@D)
	$(CC) $(SF_CFLAGS) $(CFLAGS) $(lib_races) -c -o $@ $<

$(LIB_UNIT_SANITIZED): $(O)/tests/unit/%: tests/unit/%.c $(lib_test) \
		tests/unit/lib-prctl.h $(LIB_ASAN) | $(O)/bin/sframegen
	@mkdir -p $(@D)
	$(CC) $(SF_CFLAGS) $(CFLAGS) $(lib_checks) -o $@ $(filter %.c %.o,$^) \
		-pthread

$(O)/tests/unit/lib-area-races: tests/unit/lib-area.c $(LIB_AREA_TSAN)
$(O)/tests/unit/lib-epoch-races: tests/unit/lib-epoch.c $(LIB_EPOCH_TSAN)

$(O)/tests/unit/lib-area-races $(O)/tests/unit/lib-epoch-races: $(lib_test) \
		tests/unit/lib-prctl.h
	@mkdir -p $(@D)
	$(CC) $(SF_CFLAGS) $(CFLAGS) $(lib_races) -o $@ $(filter %.c %.o,$^) \
		-pthread

$(O)/tests/unit/lib-assist-races: tests/unit/lib-assist-names.c $(lib_test) \
		tests/unit/lib-assist.h $(LIBSFJIT_SRC) $(LIBSFJIT_DEPS)
	@mkdir -p $(@D)
	$(CC) $(SF_CFLAGS) $(CFLAGS) -fsanitize=thread -DSFJIT_TEST -o $@ \
		$(filter tests/%.c, $^) \
		$(patsubst %,userspace/libsfjit/%.c, $(LIB_PERF_MAP) assist \
		assist_kernel assist_runtimes assist_stack lock memory) \
		-pthread

# As programs are linked that use both libraries.
LIB_UNIT_BOTH := $(addprefix $(O)/tests/unit/, lib-jitdump lib-section)

$(LIB_UNIT_BOTH): $(O)/tests/unit/%: tests/unit/%.c $(lib_test) \
		$(O)/lib/libsfjit.a $(O)/lib/libsframegen.a
	@mkdir -p $(@D)
	$(CC) $(SF_CFLAGS) $(CFLAGS) -o $@ $(filter %.c %.a,$^) -pthread

# For a guest: tests/qemu/library.sh.
$(O)/tests/guest/lib-kernel: tests/unit/lib-kernel.c $(lib_test) \
		$(O)/lib/libsfjit.a
	@mkdir -p $(@D)
	$(CC) $(SF_CFLAGS) $(CFLAGS) -o $@ $(filter %.c %.a,$^) -pthread

$(O)/tests/unit/lib-call: tests/unit/lib-call.c $(lib_test) \
		tests/unit/lib-saved-registers.S $(O)/lib/libsfjit.a
	@mkdir -p $(@D)
	$(CC) $(SF_CFLAGS) $(CFLAGS) -o $@ $(filter %.c %.S %.a, $^) -pthread

TESTS += $(O)/tests/unit/lib-alloc $(LIB_UNIT) $(LIB_UNIT_INNER) $(O)/tests/unit/lib-call \
	$(O)/tests/unit/lib-atfork-shared $(O)/tests/unit/lib-fork \
	$(O)/tests/unit/lib-area-races $(O)/tests/unit/lib-epoch-races \
	$(O)/tests/unit/lib-assist-races $(O)/tests/unit/lib-assist-two \
	$(O)/tests/run/lib-assist-plugin.so \
	$(O)/tests/unit/lib-client \
	$(O)/tests/unit/lib-cover $(LIB_UNIT_BOTH) \
	$(O)/tests/unit/lib-two $(O)/tests/run/lib-two-plugin.so \
	$(LIB_UNIT_SANITIZED) $(O)/tests/guest/lib-kernel
