# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors

PATTERN_CALLS := $(PATTERNS:%=$(O)/tests/system/patterns/%.calls)

$(PATTERN_CALLS): $(O)/tests/system/patterns/%.calls: $(O)/examples/% \
		tests/system/patterns/calls
	@mkdir -p $(@D)
	tests/system/patterns/calls $< >$@

TESTS += $(PATTERN_CALLS)
