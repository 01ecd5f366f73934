// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/* Memory of tables: whole pages, so that they can be made read-only. */
#include "sys.h"
#include "table.h"

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
