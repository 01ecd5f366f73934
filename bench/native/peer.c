// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/* The encoder of binutils' libsframe, called like the assembler does. */
#include <stdbool.h>
#include <string.h>

#include <sframe.h>
#include <sframe-api.h>

#include "encode.h"

static int add_row(sframe_encoder_ctx *encoder, unsigned int index,
		   const struct peer_row *row)
{
	sframe_frame_row_entry entry;
	unsigned int base = row->cfa_is_fp ? SFRAME_BASE_REG_FP :
					     SFRAME_BASE_REG_SP;

	entry.fre_start_addr = row->start;
	entry.fre_info = SFRAME_V1_FRE_INFO(base, row->nr_words, 0);
	memcpy(entry.fre_datawords, row->words, sizeof(row->words));
	return sframe_encoder_add_fre(encoder, index, &entry);
}

static int add_function(sframe_encoder_ctx *encoder, unsigned int index,
			const struct peer_function *function)
{
	uint32_t reach = function->rep_size ?: function->size;
	unsigned int type = function->rep_size ? SFRAME_V3_FDE_PCTYPE_MASK :
						 SFRAME_V3_FDE_PCTYPE_INC;
	unsigned int i;
	int ret;

	ret = sframe_encoder_add_funcdesc_v3(encoder, function->start,
		function->size,
		SFRAME_V3_FDE_FUNC_INFO(type, sframe_calc_fre_type(reach)),
		SFRAME_FDE_TYPE_DEFAULT, function->rep_size, 0);
	for (i = 0; i < function->nr_rows && !ret; i++)
		ret = add_row(encoder, index, &function->rows[i]);
	return ret;
}

size_t peer_encode(const struct peer_function *functions, size_t nr,
		   void *copy, size_t len)
{
	sframe_encoder_ctx *encoder;
	size_t i, size = 0;
	int err = 0;
	char *data = NULL;

	encoder = sframe_encode(SFRAME_VERSION_3,
		SFRAME_F_FDE_FUNC_START_PCREL, SFRAME_ABI_AMD64_ENDIAN_LITTLE,
		0, -8, &err);
	if (!encoder)
		return 0;
	for (i = 0; i < nr && !err; i++)
		err = add_function(encoder, i, &functions[i]);
	if (!err)	/* it sets the sorted flag only after sorting */
		data = sframe_encoder_write(encoder, &size, true, &err);
	if (data && copy)
		memcpy(copy, data, size < len ? size : len);
	sframe_encoder_free(&encoder);
	return data ? size : 0;
}
