// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/* The place where a stack ends. */
#include "bytes.h"
#include "place.h"

void place_find(struct sfjit_stacks *stacks, pid_t pid, uint64_t time,
		const uint64_t *address, const uint64_t *callee,
		struct perfdata_end *end)
{
	struct sfjit_stacks_mapping mapping;
	const char *slash;

	end->place = PERFDATA_NOWHERE;
	if (sfjit_stacks_find(stacks, pid, time, *address, &mapping) &&
	    (!callee || sfjit_stacks_find(stacks, pid, time, *callee,
					  &mapping)))
		return;
	if (!mapping.path[0]) {
		end->place = PERFDATA_CODE;
	} else if (sfjit_stacks_is_memory(mapping.path)) {
		end->place = PERFDATA_MEMORY;
	} else {
		slash = strrchr(mapping.path, '/');
		end->place = PERFDATA_FILE;
		end->module = slash ? slash + 1 : mapping.path;
	}
}

pid_t place_pid(const struct event *event)
{
	return event->attr->tid ? get_u32(event->bytes + event->attr->tid) : 0;
}

struct perfdata_end place_of_copy(struct sfjit_stacks *stacks,
				  const struct event *event,
				  const struct frames *frames)
{
	struct perfdata_end end = { .why = frames->end, .samples = 1 };
	const uint64_t *last = frames->ips + frames->nr;

	/* more frames than there is room for */
	if (end.why == SFJIT_STACKS_STOPPED)
		end.why = SFJIT_STACKS_LIMIT;
	end.place = PERFDATA_NOWHERE;
	if (frames->nr)
		place_find(stacks, place_pid(event), event->time, &last[-1],
			   frames->nr > 1 ? &last[-2] : NULL, &end);
	return end;
}
