/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * A JIT with a copy of the library: the calls that two.c makes.
 */
#ifndef LIB_TWO_H
#define LIB_TWO_H

#include <sfjit.h>
#include <sfjit/area.h>

struct jit {
	__typeof__(sfjit_area_create)		*create;
	__typeof__(sfjit_area_publish)		*publish;
	__typeof__(sfjit_area_withdraw)		*withdraw;
	__typeof__(sfjit_area_reset)		*reset;
	__typeof__(sfjit_area_retire)		*retire;
	__typeof__(sfjit_area_stat)		*stat;
	__typeof__(sfjit_register_functions)	*register_functions;
	__typeof__(sfjit_code_retire)		*code_retire;
	__typeof__(sfjit_pool_create)		*pool_create;
	__typeof__(sfjit_pool_retire)		*pool_retire;
	__typeof__(sfjit_tramp_get)		*tramp_get;
	__typeof__(sfjit_perf_map_name)		*name;
};

#define JIT {							\
	.create = sfjit_area_create,				\
	.publish = sfjit_area_publish,				\
	.withdraw = sfjit_area_withdraw,			\
	.reset = sfjit_area_reset,				\
	.retire = sfjit_area_retire,				\
	.stat = sfjit_area_stat,				\
	.register_functions = sfjit_register_functions,		\
	.code_retire = sfjit_code_retire,			\
	.pool_create = sfjit_pool_create,			\
	.pool_retire = sfjit_pool_retire,			\
	.tramp_get = sfjit_tramp_get,				\
	.name = sfjit_perf_map_name,				\
}

#endif /* LIB_TWO_H */
