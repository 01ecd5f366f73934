# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# The kernel's selftests; see tests/kernel/selftests/kselftest.mk.

$(ksft_out)/%_test: $(ksft_dir)/%_test.c $(ksft_common) $(ksft_headers)
	$(ksft_link)

# Those that need a module.
ksft_module := $(addprefix $(ksft_out)/,nmi_test tracer_test)

$(ksft_module): $(ksft_out)/%: tests/kernel/module/%.c $(ksft_common) $(ksft_headers)
	$(ksft_link)

$(ksft_module): ksft_cc += -iquote tests/kernel/module/$(ksft_arch)
$(ksft_out)/nmi_test: $(addprefix tests/kernel/module/$(ksft_arch)/,code.h toggle.S)
$(ksft_out)/tracer_test: tests/kernel/module/$(ksft_arch)/below.h

# Those of the library.
ksft_lib := $(addprefix $(ksft_out)/,libsfjit_test libsfjit_live_test)

$(ksft_lib): $(ksft_out)/%: tests/libsfjit/%.c tests/libsfjit/check_slot.h \
		$(ksft_common) $(ksft_headers) $(O)/lib/libsfjit.a
	$(ksft_link)

$(ksft_lib): ksft_cc += -Iuserspace/include -Isframegen/include

KSELFTESTS := $(addprefix $(ksft_out)/,$(ksft_tests) tracer_test)
ifneq ($(wildcard tests/kernel/module/$(ksft_arch)/toggle.S),)
KSELFTESTS += $(ksft_out)/nmi_test
endif
ifeq ($(CROSS_COMPILE),)
KSELFTESTS += $(ksft_lib)
endif

kselftests: $(KSELFTESTS)

.PHONY: kselftests
