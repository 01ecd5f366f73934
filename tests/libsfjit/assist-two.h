/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * The calls of one copy of the library, to test requests of the kernel.
 */
#ifndef LIB_ASSIST_TWO_H
#define LIB_ASSIST_TWO_H

#include <sfjit-assist.h>

struct copy {
	__typeof__(&sfjit_assist_enable)	enable;
	__typeof__(&sfjit_assist_disable)	disable;
	__typeof__(&sfjit_assist_register)	add;
	__typeof__(&sfjit_assist_insert)	insert;
	__typeof__(&sfjit_assist_name)		name;
};

#define COPY { \
	sfjit_assist_enable, sfjit_assist_disable, sfjit_assist_register, \
	sfjit_assist_insert, sfjit_assist_name, \
}

#endif /* LIB_ASSIST_TWO_H */
