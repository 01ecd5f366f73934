/* SPDX-License-Identifier: GPL-2.0 */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM sframe_probe

#if !defined(SFRAME_PROBE_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define SFRAME_PROBE_TRACE_H

#include <linux/tracepoint.h>

TRACE_EVENT(sframe_probe,
	TP_PROTO(char context),
	TP_ARGS(context),
	TP_STRUCT__entry(
		__field(char, context)
	),
	TP_fast_assign(
		__entry->context = context;
	),
	TP_printk("context=%c", __entry->context)
);

#endif /* SFRAME_PROBE_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE sframe_probe_trace
#include <trace/define_trace.h>
