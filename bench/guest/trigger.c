// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
#include <string.h>
#include <sys/prctl.h>

#include <sfjit/format.h>
#include <sfjit/sframe.h>
#include <sfjit_trampoline.h>

#include "machine.h"
#include "measure.h"
#include "trigger.h"

/* Bytes of code of the window. */
#define SIZE		4
#define KEY		((uintptr_t)bench_trigger_insn)

static struct {
	struct sframe_header header;
	struct sframe_fde fde;
	struct sframe_fde_attr attr;
	uint8_t start;
	struct {
		uint8_t info;
		int8_t cfa, ra, fp;
	} row;
} __attribute__((packed)) section = {
	.fde.func_size = SIZE,
	.attr.num_fres = 1,
	.row = TRIGGER_ROW,
};

void trigger_window_register(void)
{
	if (FP_GIVES_ROW)
		return;

	/* Take the machine's numbers from a trampoline's header. */
	memcpy(&section.header, sfjit_tramp_arg_sframe, sizeof(section.header));
	section.header.num_fdes = 1;
	section.header.num_fres = 1;
	section.header.fdes_off = 0;
	section.header.fres_off = sizeof(section.fde);
	section.header.fre_len = sizeof(section) - sizeof(section.header) -
				 sizeof(section.fde);
	section.fde.func_start = KEY - (uintptr_t)&section.fde;
	if (prctl(PR_SFRAME_REGISTER, KEY, &section, sizeof(section), 0))
		die("PR_SFRAME_REGISTER of the trigger: %m");
}

void trigger_window_unregister(void)
{
	if (!FP_GIVES_ROW && prctl(PR_SFRAME_UNREGISTER, KEY, 0, 0, 0))
		die("PR_SFRAME_UNREGISTER of the trigger: %m");
}
