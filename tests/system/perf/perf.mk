# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors

$(O)/tests/system/perf/names: tests/system/perf/names.c userspace/include/sfjit.h \
		$(O)/lib/libsfjit.a
	@mkdir -p $(@D)
	$(CC) $(SF_CFLAGS) -O1 -g -fno-omit-frame-pointer \
		-fno-optimize-sibling-calls -o $@ $< $(O)/lib/libsfjit.a

$(O)/tests/system/perf/assist: tests/system/perf/assist.c $(sfjit_h) $(O)/lib/libsfjit.a
	@mkdir -p $(@D)
	$(CC) $(SF_CFLAGS) -O1 -g -fno-omit-frame-pointer \
		-fno-optimize-sibling-calls -o $@ $< $(O)/lib/libsfjit.a \
		-pthread

$(O)/tests/system/perf/assist-shared: tests/system/perf/assist.c $(sfjit_h) \
		$(O)/lib/libsfjit.so
	@mkdir -p $(@D)
	$(CC) $(SF_CFLAGS) -O1 -g -fno-omit-frame-pointer \
		-fno-optimize-sibling-calls -o $@ $< $(O)/lib/libsfjit.so \
		-pthread -Wl,-rpath,'$$ORIGIN/../../../lib'

$(O)/tests/system/perf/took: tests/system/perf/took.c tests/lib/tap.c tests/lib/tap.h \
		$(addprefix bench/guest/, made.c probe.c event.c stack.c \
		measure.c) bench/guest/$(ARCH)/trigger.S \
		$(wildcard bench/guest/*.h bench/guest/$(ARCH)/*.h)
	@mkdir -p $(@D)
	$(CC) $(SF_CFLAGS) $(CFLAGS) -Itests/lib -Ibench/guest \
		-iquote bench/guest/$(ARCH) -static -o $@ \
		$(filter %.c %.S, $^)

# At the addresses that the list of its instructions has.
$(O)/tests/system/perf/offsets: tests/system/perf/offsets.c
	@mkdir -p $(@D)
	$(CC) $(SF_CFLAGS) $(CFLAGS) -static -no-pie -o $@ $<
	objdump -d --no-show-raw-insn --disassemble=one_round $@ | \
		sed -n 's/^ *\([0-9a-f]*\):\s*/\1 /p' >$@.list

# Two libraries that differ in the size of a frame, and who loads them.
$(O)/tests/system/perf/unload: tests/system/perf/unload.c
	@mkdir -p $(@D)
	$(CC) $(SF_CFLAGS) $(CFLAGS) -fomit-frame-pointer -o $@ $<

$(O)/tests/system/perf/unload-first.so: unload_flags := -DLIBRARY=first -DFRAME=24
$(O)/tests/system/perf/unload-second.so: unload_flags := -DLIBRARY=second -DFRAME=104
$(addprefix $(O)/tests/system/perf/unload-, first.so second.so): tests/system/perf/unload.c
	@mkdir -p $(@D)
	$(CC) $(SF_CFLAGS) $(CFLAGS) -shared -fPIC $(unload_flags) -o $@ $<

TESTS += $(addprefix $(O)/tests/system/perf/, assist assist-shared names offsets \
	took)
TESTS += $(addprefix $(O)/tests/system/perf/, unload unload-first.so unload-second.so)

# sfjit inject with elfutils as its tracker. Its libraries are those of the guest's
# next release, which need a later libc than the host may have.
$(O)/tests/system/perf/dwflst: tests/system/perf/dwflst.c $(CONVERT_SRC) $(PERFDATA_OBJ) \
		$(PERFDATA_H) tools/elfutils
	@mkdir -p $(@D)/elfutils
	elfutils=$$(tools/elfutils) && \
	cp -L $$elfutils/lib/*/lib*.so.1 $(@D)/elfutils && \
	$(CC) $(SF_CFLAGS) $(CFLAGS) -D_GNU_SOURCE -isystem $$elfutils/include \
		-iquote userspace/sfjit/perfdata -iquote userspace/sfjit \
		-iquote sframegen/cmd -o $@ \
		$(filter %.c %.o,$^) $(@D)/elfutils/libdw.so.1 \
		$(@D)/elfutils/libelf.so.1 -Wl,-rpath,'$$ORIGIN/elfutils' \
		-Wl,--allow-shlib-undefined

dwflst: $(O)/tests/system/perf/dwflst
.PHONY: dwflst
