# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
# sframegen under libFuzzer: tests/kernel/fuzz/user/NAME.c is sframegen-NAME.

fuzz_sfg := cfi rows section elf
FUZZ_TARGETS += $(addprefix sframegen-,$(fuzz_sfg))

# To make allocations fail where no allocation of the target is meant.
fuzz_sfg_cflags = $(SF_CFLAGS) -Isframegen/lib -Isframegen/cmd \
	-Itests/kernel/fuzz/user -g -O1 \
	-Dmalloc=fuzz_malloc -Dcalloc=fuzz_calloc -Drealloc=fuzz_realloc
fuzz_sfg_fuzz := -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all
# run_bounded() counts basic blocks, in place of libFuzzer.
fuzz_sfg_count_fuzz := -fsanitize-coverage=trace-pc
fuzz_sfg_wrap := -Wl,--wrap=__sanitizer_cov_trace_pc
fuzz_sfg_cov := -fsanitize=fuzzer -fprofile-instr-generate -fcoverage-mapping
fuzz_sfg_headers := $(SFG_H) tests/kernel/fuzz/user/*.h

fuzz_sfg_lib := $(SFG_LIB_OBJS:$(O)/obj/%=%)
fuzz_sfg_cfi := $(fuzz_sfg_lib) user/cfi.o user/cfi-mutate.o user/cfi-step.o \
	user/cfi-written.o user/oracle.o
fuzz_sfg_rows := $(fuzz_sfg_lib) user/rows.o user/oracle.o
fuzz_sfg_section := $(fuzz_sfg_lib) sframegen/cmd/format.o user/section.o \
	user/oracle.o
fuzz_sfg_elf := $(fuzz_sfg_lib) $(filter-out %/main.o %/output.o %/path.o, \
	$(SFG_CMD_OBJS:$(O)/obj/%=%)) user/elf.o user/files.o user/oracle.o

# fuzz_sfg_variant NAME
define fuzz_sfg_variant
$(FUZZ_OUT)/$(1)/sframegen/%.o: sframegen/%.c $(fuzz_sfg_headers)
	@mkdir -p $$(@D)
	$$(FUZZ_CC) $$(fuzz_sfg_cflags) $(fuzz_sfg_$(1)) \
		$(fuzz_sfg_count_$(1)) -c -o $$@ $$<
$(FUZZ_OUT)/$(1)/user/%.o: tests/kernel/fuzz/user/%.c $(fuzz_sfg_headers)
	@mkdir -p $$(@D)
	$$(FUZZ_CC) $$(fuzz_sfg_cflags) $(fuzz_sfg_$(1)) -c -o $$@ $$<
endef
$(foreach variant,fuzz cov,$(eval $(call fuzz_sfg_variant,$(variant))))

# fuzz_sfg_target NAME
define fuzz_sfg_target
$(FUZZ_OUT)/sframegen-$(1): $(addprefix $(FUZZ_OUT)/fuzz/,$(fuzz_sfg_$(1)))
	$$(FUZZ_CC) $(fuzz_sfg_fuzz) $(fuzz_sfg_wrap) -o $$@ $$^ $(if $(filter elf,$(1)),-lelf)
$(FUZZ_OUT)/sframegen-$(1)-cov: $(addprefix $(FUZZ_OUT)/cov/,$(fuzz_sfg_$(1)))
	$$(FUZZ_CC) $(fuzz_sfg_cov) -o $$@ $$^ $(if $(filter elf,$(1)),-lelf)
endef
$(foreach name,$(fuzz_sfg),$(eval $(call fuzz_sfg_target,$(name))))

# Recordings of perf, with the tracker of tests/sfjit/inject.
fuzz_perfdata := recording jitdump retired ends
FUZZ_TARGETS += $(addprefix perfdata-,$(fuzz_perfdata))
fuzz_perfdata_lib := $(fuzz_sfg_lib) $(PERFDATA_OBJ:$(O)/obj/%=%) \
	user/oracle.o perfdata/fake.o
fuzz_perfdata_headers := $(PERFDATA_H) tests/kernel/fuzz/user/oracle.h
fuzz_perfdata_cflags = $(fuzz_sfg_cflags) -D_GNU_SOURCE \
	-iquote userspace/sfjit/perfdata

# fuzz_perfdata_variant NAME
define fuzz_perfdata_variant
$(FUZZ_OUT)/$(1)/userspace/sfjit/perfdata/%.o: userspace/sfjit/perfdata/%.c \
		$(fuzz_perfdata_headers)
	@mkdir -p $$(@D)
	$$(FUZZ_CC) $$(fuzz_perfdata_cflags) $(fuzz_sfg_$(1)) -c -o $$@ $$<
$(FUZZ_OUT)/$(1)/perfdata/%.o: tests/kernel/fuzz/perfdata/%.c $(fuzz_perfdata_headers)
	@mkdir -p $$(@D)
	$$(FUZZ_CC) $$(fuzz_perfdata_cflags) $(fuzz_sfg_$(1)) -c -o $$@ $$<
$(FUZZ_OUT)/$(1)/perfdata/fake.o: tests/sfjit/inject/fake.c $(stacks_h)
	@mkdir -p $$(@D)
	$$(FUZZ_CC) $$(SF_CFLAGS) -D_GNU_SOURCE -g -O1 $(fuzz_sfg_$(1)) -c \
		-o $$@ $$<
endef
$(foreach variant,fuzz cov,$(eval $(call fuzz_perfdata_variant,$(variant))))

# fuzz_perfdata_target NAME
define fuzz_perfdata_target
$(FUZZ_OUT)/perfdata-$(1): $(addprefix $(FUZZ_OUT)/fuzz/, \
		$(fuzz_perfdata_lib) perfdata/$(1).o)
	$$(FUZZ_CC) $(fuzz_sfg_fuzz) $(fuzz_sfg_wrap) -o $$@ $$^
$(FUZZ_OUT)/perfdata-$(1)-cov: $(addprefix $(FUZZ_OUT)/cov/, \
		$(fuzz_perfdata_lib) perfdata/$(1).o)
	$$(FUZZ_CC) $(fuzz_sfg_cov) -o $$@ $$^
endef
$(foreach name,$(fuzz_perfdata),$(eval $(call fuzz_perfdata_target,$(name))))

# libsfjit-stacks in the same way.
FUZZ_TARGETS += stacks-tracker
fuzz_stacks_lib := $(STACKS_OBJ:$(O)/obj/%=%)
fuzz_stacks := $(fuzz_sfg_lib) $(fuzz_stacks_lib) user/oracle.o \
	stacks/tracker.o
fuzz_stacks_headers := $(STACKS_H) tests/kernel/fuzz/user/oracle.h

# fuzz_stacks_variant NAME
define fuzz_stacks_variant
$(FUZZ_OUT)/$(1)/userspace/stacks/%.o: userspace/stacks/%.c \
		$(fuzz_stacks_headers)
	@mkdir -p $$(@D)
	$$(FUZZ_CC) $$(fuzz_sfg_cflags) -D_GNU_SOURCE $(fuzz_sfg_$(1)) -c \
		-o $$@ $$<
$(FUZZ_OUT)/$(1)/stacks/%.o: tests/kernel/fuzz/stacks/%.c $(fuzz_stacks_headers)
	@mkdir -p $$(@D)
	$$(FUZZ_CC) $$(fuzz_sfg_cflags) $(fuzz_sfg_$(1)) -c -o $$@ $$<
endef
$(foreach variant,fuzz cov,$(eval $(call fuzz_stacks_variant,$(variant))))

$(FUZZ_OUT)/stacks-tracker: $(addprefix $(FUZZ_OUT)/fuzz/,$(fuzz_stacks))
	$(FUZZ_CC) $(fuzz_sfg_fuzz) $(fuzz_sfg_wrap) -o $@ $^ -lelf
$(FUZZ_OUT)/stacks-tracker-cov: $(addprefix $(FUZZ_OUT)/cov/,$(fuzz_stacks))
	$(FUZZ_CC) $(fuzz_sfg_cov) -o $@ $^ -lelf
