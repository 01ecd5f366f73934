// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/* A sample's frames of user space, and the place where they end. */
#include <errno.h>

#include "format.h"
#include "unwind.h"

/*
 * As perf has it when it unwinds: of a caller an address inside of its call,
 * which may be the last instruction of a function.
 */
static int add_user_frame(void *arg, const struct sfjit_stacks_frame *frame)
{
	struct frames *frames = arg;
	bool exact = !frames->nr || frame->flags & SFJIT_STACKS_AFTER_SIGNAL;

	frames->ips[frames->nr++] = frame->ip - !exact;
	frames->by_code |= frame->flags & SFJIT_STACKS_BY_CODE;
	if (frame->flags & SFJIT_STACKS_BY_FRAME_POINTER && !frames->by_pointer)
		frames->by_pointer = frames->nr - 1;
	return frames->nr == SFJIT_STACKS_MAX_FRAMES;
}

static int unwind_copy(struct sfjit_stacks *stacks, const struct attr *attr,
		       const struct sample *sample, uint64_t time,
		       struct frames *frames)
{
	uint64_t registers[64];
	struct sfjit_stacks_sample taken = {
		.pid = get_u32(sample->event + attr->tid),
		.time = time,
		.mask = attr->regs_user,
		.registers = registers,
		.stack = sample->stack,
		.stack_length = sample->stack_size,
	};
	int ret;

	memcpy(registers, sample->registers,
	       8 * __builtin_popcountll(attr->regs_user));
	frames->end = SFJIT_STACKS_NO_REGISTER;
	ret = sfjit_stacks_frames(stacks, &taken, add_user_frame, frames,
				  &frames->end);
	return ret == -ENOMEM ? ret : 0;
}

static bool is_in_user_space(const struct sample *sample)
{
	struct perf_event_header header;

	memcpy(&header, sample->event, sizeof(header));
	return (header.misc & PERF_RECORD_MISC_CPUMODE_MASK) ==
	       PERF_RECORD_MISC_USER;
}

int unwind_sample(struct sfjit_stacks *stacks, const struct attr *attr,
		  const struct sample *sample, uint64_t time,
		  struct frames *frames)
{
	int ret = 0;

	frames->nr = 0;
	frames->by_code = false;
	frames->by_pointer = 0;
	frames->end = SFJIT_STACKS_NOT_SUPPORTED;
	if (sample->abi == PERF_SAMPLE_REGS_ABI_64 && attr->tid)
		ret = unwind_copy(stacks, attr, sample, time, frames);
	if (!frames->nr && attr->ip && is_in_user_space(sample))
		frames->ips[frames->nr++] = get_u64(sample->event + attr->ip);
	return ret;
}

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
