/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The sfjit authors */
/*
 * A window for bench_trigger_insn, for machines where a step without one would
 * not give the register that the next frame may start from.
 */
#ifndef BENCH_TRIGGER_H
#define BENCH_TRIGGER_H

void trigger_window_register(void);
void trigger_window_unregister(void);

#endif /* BENCH_TRIGGER_H */
