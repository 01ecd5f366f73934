// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/* One step of the kernel's and of the reference's. */
#include <linux/sframe.h>

#include "input.h"

static void check(bool holds, const char *what)
{
	if (!holds)
		finding(what);
}

/* What must hold whatever the reference says. */
static void check_step(const struct unwind_user_state *before,
		       const struct unwind_user_state *after, int ret)
{
	struct unwind_user_state same = *before;

	check(after->budget <= before->budget, "the budget grows");
	same.budget = after->budget;
	if (ret) {
		check(!memcmp(&same, after, sizeof(same)),
		      "a failed step changes the state");
		return;
	}
	same.done = true;
	if (after->done) {
		check(!memcmp(&same, after, sizeof(same)),
		      "the outermost frame changes the state");
		return;
	}
	check(after->signals <= 8, "too many signal frames");
	check(after->sp > before->sp ||
	      (after->sp == before->sp && before->topmost) ||
	      after->signals == before->signals + 1,
	      "the stack goes down");
}

void compare_step(struct unwind_user_state *state, bool nofault)
{
	struct unwind_user_state before = *state, want = before;
	enum sframe_reason reason;
	int ret, want_ret;

	model_start(nofault);
	model.registry.counters.last_reason = SFRAME_REASON_NONE;
	ret = nofault ? nofault_step(state) : sframe_step(state);
	model_end();

	check_step(&before, state, ret);
	want_ret = ref_step(&want, &reason);
	/* Each lookup has compared what it spent. */
	want.budget = state->budget;
	check(ret == want_ret, "a step is decided otherwise");
	check(!memcmp(&want, state, sizeof(want)), "another caller");
	check(model_all_taken(), "a step reads what it does not need");
	check(model.registry.counters.last_reason == reason,
	      "another reason is counted");
}
