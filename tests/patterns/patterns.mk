# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors

PATTERN_CALLS := $(PATTERNS:%=$(O)/tests/patterns/%.calls)

$(PATTERN_CALLS): $(O)/tests/patterns/%.calls: $(O)/examples/% \
		tests/patterns/calls
	@mkdir -p $(@D)
	tests/patterns/calls $< >$@

TESTS += $(PATTERN_CALLS)
