# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors

$(O)/tests/perf/names: tests/perf/names.c userspace/include/sfjit.h \
		$(O)/lib/libsfjit.a
	@mkdir -p $(@D)
	$(CC) $(SF_CFLAGS) -O1 -g -fno-omit-frame-pointer \
		-fno-optimize-sibling-calls -o $@ $< $(O)/lib/libsfjit.a

$(O)/tests/perf/assist: tests/perf/assist.c $(sfjit_h) $(O)/lib/libsfjit.a
	@mkdir -p $(@D)
	$(CC) $(SF_CFLAGS) -O1 -g -fno-omit-frame-pointer \
		-fno-optimize-sibling-calls -o $@ $< $(O)/lib/libsfjit.a \
		-pthread

$(O)/tests/perf/assist-shared: tests/perf/assist.c $(sfjit_h) \
		$(O)/lib/libsfjit.so
	@mkdir -p $(@D)
	$(CC) $(SF_CFLAGS) -O1 -g -fno-omit-frame-pointer \
		-fno-optimize-sibling-calls -o $@ $< $(O)/lib/libsfjit.so \
		-pthread -Wl,-rpath,'$$ORIGIN/../../lib'

$(O)/tests/perf/took: tests/perf/took.c tests/lib/case.c tests/lib/case.h \
		$(addprefix bench/guest/, made.c probe.c event.c stack.c \
		measure.c) bench/guest/$(ARCH)/trigger.S \
		$(wildcard bench/guest/*.h bench/guest/$(ARCH)/*.h)
	@mkdir -p $(@D)
	$(CC) $(SF_CFLAGS) $(CFLAGS) -Itests/lib -Ibench/guest \
		-iquote bench/guest/$(ARCH) -static -o $@ \
		$(filter %.c %.S, $^)

# Two libraries that differ in the size of a frame, and who loads them.
$(O)/tests/perf/unload: tests/perf/unload.c
	@mkdir -p $(@D)
	$(CC) $(SF_CFLAGS) $(CFLAGS) -fomit-frame-pointer -o $@ $<

$(O)/tests/perf/unload-first.so: unload_flags := -DLIBRARY=first -DFRAME=24
$(O)/tests/perf/unload-second.so: unload_flags := -DLIBRARY=second -DFRAME=104
$(addprefix $(O)/tests/perf/unload-, first.so second.so): tests/perf/unload.c
	@mkdir -p $(@D)
	$(CC) $(SF_CFLAGS) $(CFLAGS) -shared -fPIC $(unload_flags) -o $@ $<

TESTS += $(addprefix $(O)/tests/perf/, assist assist-shared names took)
TESTS += $(addprefix $(O)/tests/perf/, unload unload-first.so unload-second.so)

# sfjit inject with elfutils as its tracker. Its libraries are those of the guest's
# next release, which need a later libc than the host may have.
$(O)/tests/perf/dwflst: tests/perf/dwflst.c $(CONVERT_SRC) $(PERFDATA_OBJ) \
		$(PERFDATA_H) tools/elfutils
	@mkdir -p $(@D)/elfutils
	elfutils=$$(tools/elfutils) && \
	cp -L $$elfutils/lib/*/lib*.so.1 $(@D)/elfutils && \
	$(CC) $(SF_CFLAGS) $(CFLAGS) -D_GNU_SOURCE -isystem $$elfutils/include \
		-iquote userspace/perfdata -iquote userspace/run \
		-iquote sframegen/cmd -o $@ \
		$(filter %.c %.o,$^) $(@D)/elfutils/libdw.so.1 \
		$(@D)/elfutils/libelf.so.1 -Wl,-rpath,'$$ORIGIN/elfutils' \
		-Wl,--allow-shlib-undefined

dwflst: $(O)/tests/perf/dwflst
.PHONY: dwflst
