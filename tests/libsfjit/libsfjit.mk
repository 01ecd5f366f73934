# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors

comma := ,
lib_test := tests/libsfjit/test.h tests/libsfjit/machine.h tests/lib/tap.h \
	tests/lib/tap.c

LIB_UNIT := $(addprefix $(O)/tests/libsfjit/, absent atfork \
	memory names signals threads)
# These bring sfjit_fault() and see what is hidden.
LIB_UNIT_INNER := $(addprefix $(O)/tests/libsfjit/, assist assist-names \
	debug pool register)

$(LIB_UNIT): $(O)/tests/libsfjit/%: tests/libsfjit/%.c $(lib_test) \
		$(O)/lib/libsfjit.a
	@mkdir -p $(@D)
	$(CC) $(SF_CFLAGS) $(CFLAGS) -o $@ $(filter %.c %.a,$^) -pthread

$(LIB_UNIT_INNER): $(O)/tests/libsfjit/%: tests/libsfjit/%.c $(lib_test) \
		$(O)/obj/userspace/libsfjit-test.a $(O)/lib/libsframegen.a
	@mkdir -p $(@D)
	$(CC) $(SF_CFLAGS) $(CFLAGS) -o $@ $(filter %.c %.a, $^) -pthread

$(addprefix $(O)/tests/libsfjit/, debug register fork): \
	tests/libsfjit/prctl.h
$(addprefix $(O)/tests/libsfjit/, assist assist-names): \
	tests/libsfjit/assist.h

$(O)/tests/libsfjit/fork: tests/libsfjit/fork.c $(lib_test) \
		$(O)/obj/userspace/libsfjit-test.a $(O)/lib/libsframegen.a
	@mkdir -p $(@D)
	$(CC) $(SF_CFLAGS) $(CFLAGS) -o $@ $(filter %.c %.a, $^) -pthread \
		-Wl,--wrap=pthread_atfork

# Its allocator is between the library and libc's.
$(O)/tests/libsfjit/alloc: tests/libsfjit/alloc.c $(lib_test) \
		tests/libsfjit/prctl.h $(O)/obj/userspace/libsfjit-test.a \
		$(O)/lib/libsframegen.a
	@mkdir -p $(@D)
	$(CC) $(SF_CFLAGS) $(CFLAGS) -o $@ $(filter %.c %.a, $^) -pthread \
		$(addprefix -Wl$(comma)--wrap=,malloc calloc realloc free strdup)

$(O)/tests/libsfjit/atfork-shared: tests/libsfjit/atfork.c \
		$(lib_test) $(O)/lib/libsfjit.so
	@mkdir -p $(@D)
	$(CC) $(SF_CFLAGS) $(CFLAGS) -o $@ $(filter %.c %.so,$^) -pthread \
		-Wl,-rpath,$(abspath $(O)/lib)

$(O)/tests/libsfjit/cover: tests/libsfjit/cover.c $(lib_test) \
		$(O)/lib/libsfjit.so | $(O)/lib/sfjit/libsfjit-preload.so
	@mkdir -p $(@D)
	$(CC) $(SF_CFLAGS) -D_GNU_SOURCE $(CFLAGS) -o $@ \
		$(filter %.c %.so,$^) -Wl,-rpath,'$$ORIGIN/../../lib'

# Two copies of the library: the program's is shared, the plugin's in it.
$(O)/tests/libsfjit/programs/two-plugin.so: tests/libsfjit/two-plugin.c \
		tests/libsfjit/two.h $(sfjit_h) $(O)/lib/libsfjit.a
	@mkdir -p $(@D)
	$(CC) $(SF_CFLAGS) $(CFLAGS) -fPIC -shared -Wl,--exclude-libs,ALL \
		-o $@ $(filter %.c %.a,$^) -pthread

$(O)/tests/libsfjit/two: tests/libsfjit/two.c $(lib_test) \
		tests/libsfjit/prctl.h tests/libsfjit/two.h $(O)/lib/libsfjit.so \
		| $(O)/tests/libsfjit/programs/two-plugin.so
	@mkdir -p $(@D)
	$(CC) $(SF_CFLAGS) $(CFLAGS) -o $@ $(filter %.c %.so,$^) -pthread \
		-Wl,-rpath,'$$ORIGIN/../../lib'

# The same of what the kernel asks.
$(O)/tests/libsfjit/programs/assist-plugin.so: tests/libsfjit/assist-plugin.c \
		tests/libsfjit/assist-two.h $(sfjit_h) $(O)/lib/libsfjit.a
	@mkdir -p $(@D)
	$(CC) $(SF_CFLAGS) $(CFLAGS) -fPIC -shared -Wl,--exclude-libs,ALL \
		-o $@ $(filter %.c %.a,$^) -pthread

$(O)/tests/libsfjit/assist-two: tests/libsfjit/assist-two.c $(lib_test) \
		tests/libsfjit/assist.h tests/libsfjit/assist-two.h \
		$(O)/lib/libsfjit.so | $(O)/tests/libsfjit/programs/assist-plugin.so
	@mkdir -p $(@D)
	$(CC) $(SF_CFLAGS) $(CFLAGS) -o $@ $(filter %.c %.so,$^) -pthread \
		-Wl,-rpath,'$$ORIGIN/../../lib'

# Without the library.
$(O)/tests/libsfjit/client: tests/libsfjit/client.c $(lib_test) $(SFG_PUBLIC_H)
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

LIB_UNIT_SANITIZED := $(addprefix $(O)/tests/libsfjit/, area check \
	eh-frame epoch live rows)

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

$(LIB_UNIT_SANITIZED): $(O)/tests/libsfjit/%: tests/libsfjit/%.c $(lib_test) \
		tests/libsfjit/prctl.h $(LIB_ASAN) | $(O)/bin/sframegen
	@mkdir -p $(@D)
	$(CC) $(SF_CFLAGS) $(CFLAGS) $(lib_checks) -o $@ $(filter %.c %.o,$^) \
		-pthread

$(O)/tests/libsfjit/area-races: tests/libsfjit/area.c $(LIB_AREA_TSAN)
$(O)/tests/libsfjit/epoch-races: tests/libsfjit/epoch.c $(LIB_EPOCH_TSAN)

$(O)/tests/libsfjit/area-races $(O)/tests/libsfjit/epoch-races: $(lib_test) \
		tests/libsfjit/prctl.h
	@mkdir -p $(@D)
	$(CC) $(SF_CFLAGS) $(CFLAGS) $(lib_races) -o $@ $(filter %.c %.o,$^) \
		-pthread

$(O)/tests/libsfjit/assist-races: tests/libsfjit/assist-names.c $(lib_test) \
		tests/libsfjit/assist.h $(LIBSFJIT_SRC) $(LIBSFJIT_DEPS)
	@mkdir -p $(@D)
	$(CC) $(SF_CFLAGS) $(CFLAGS) -fsanitize=thread -DSFJIT_TEST -o $@ \
		$(filter tests/%.c, $^) \
		$(patsubst %,userspace/libsfjit/%.c, $(LIB_PERF_MAP) assist \
		assist_kernel assist_runtimes assist_stack lock memory) \
		-pthread

# As programs are linked that use both libraries.
LIB_UNIT_BOTH := $(addprefix $(O)/tests/libsfjit/, jitdump section)

$(LIB_UNIT_BOTH): $(O)/tests/libsfjit/%: tests/libsfjit/%.c $(lib_test) \
		$(O)/lib/libsfjit.a $(O)/lib/libsframegen.a
	@mkdir -p $(@D)
	$(CC) $(SF_CFLAGS) $(CFLAGS) -o $@ $(filter %.c %.a,$^) -pthread

# For a guest: tests/system/guest/library.sh.
$(O)/tests/libsfjit/programs/kernel: tests/libsfjit/kernel.c $(lib_test) \
		$(O)/lib/libsfjit.a
	@mkdir -p $(@D)
	$(CC) $(SF_CFLAGS) $(CFLAGS) -o $@ $(filter %.c %.a,$^) -pthread

$(O)/tests/libsfjit/call: tests/libsfjit/call.c $(lib_test) \
		tests/libsfjit/saved-registers.S $(O)/lib/libsfjit.a
	@mkdir -p $(@D)
	$(CC) $(SF_CFLAGS) $(CFLAGS) -o $@ $(filter %.c %.S %.a, $^) -pthread

TESTS += $(O)/tests/libsfjit/alloc $(LIB_UNIT) $(LIB_UNIT_INNER) $(O)/tests/libsfjit/call \
	$(O)/tests/libsfjit/atfork-shared $(O)/tests/libsfjit/fork \
	$(O)/tests/libsfjit/area-races $(O)/tests/libsfjit/epoch-races \
	$(O)/tests/libsfjit/assist-races $(O)/tests/libsfjit/assist-two \
	$(O)/tests/libsfjit/programs/assist-plugin.so \
	$(O)/tests/libsfjit/client \
	$(O)/tests/libsfjit/cover $(LIB_UNIT_BOTH) \
	$(O)/tests/libsfjit/two $(O)/tests/libsfjit/programs/two-plugin.so \
	$(LIB_UNIT_SANITIZED) $(O)/tests/libsfjit/programs/kernel
