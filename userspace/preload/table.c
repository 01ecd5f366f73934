// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/* Memory of tables. */
#include <elf.h>
#include <link.h>
#include <sframegen.h>
#include <string.h>

#include "sys.h"
#include "table.h"

/* This module's own header, by the linker: which machine this is. */
extern const ElfW(Ehdr) __ehdr_start __attribute__((visibility("hidden")));

unsigned int table_abi(void)
{
	return sfg_abi_of_elf(__ehdr_start.e_machine,
			      __ehdr_start.e_ident[EI_DATA]);
}

int table_alloc(struct table *table, size_t length)
{
	size_t page = getpagesize();

	table->mapped = (length + page - 1) & ~(page - 1);
	table->length = length;
	table->data = sys_map(table->mapped);
	return table->data ? 0 : -ENOMEM;
}

void table_free(struct table *table)
{
	if (table->data)
		sys_unmap(table->data, table->mapped);
	table->data = NULL;
}
