# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
#
# Of what the tests of sfjit run run, what is for any machine that has it.

RUN_TESTS := $(O)/tests/preload/programs
RUN_ANY := $(addprefix $(RUN_TESTS)/, filter format hello prefork state)

run_cc = @mkdir -p $(@D) && $(CC) $(SF_CFLAGS) $(CFLAGS)
# The name of the table in the cache, known without readelf.
run_id = -Wl,--build-id=0x$(firstword \
	$(shell printf %s '$(notdir $@)' | sha1sum))

$(RUN_TESTS)/format $(RUN_TESTS)/filter: $(RUN_TESTS)/%: tests/preload/programs/%.c
	$(run_cc) -o $@ $<

$(RUN_TESTS)/state $(RUN_TESTS)/prefork $(RUN_TESTS)/hello: $(RUN_TESTS)/%: \
		tests/preload/programs/%.c
	$(run_cc) $(run_id) -o $@ $<
