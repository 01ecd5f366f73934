// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/*
 * Where stacks end.
 *
 * A deferred call chain is a record of its own, of all samples since the kernel
 * was entered, and has their cookie. It may be read before or after them, but
 * not more than a round before.
 */
#include <errno.h>
#include <stdlib.h>

#include "ends.h"
#include "format.h"
#include "reader.h"
#include "unwind.h"

/* Cookies that are kept; of those beyond nothing is known. */
#define COOKIES_MOST	(1U << 20)
#define COMPLETE	((uint64_t)-1)

struct explain {
	struct reader reader;
	struct perfdata_ends *result;
	struct ends ends;
	struct frames frames;
	struct table waiting;	/* samples, by cookie */
	uint64_t nr_waiting;	/* samples, of all */
	/* Of this round and of the one before: an end's place, by cookie. */
	struct table known[2];
};

/* ---- Ends ------------------------------------------------------------- */

static int no_memory(struct explain *explain)
{
	return trouble_failed(explain->reader.trouble, "ends", -ENOMEM);
}

/* Its place among the ends, or COMPLETE, goes to @where. */
static int count_at(struct explain *explain, const struct perfdata_end *end,
		    uint64_t *where)
{
	int place;

	*where = COMPLETE;
	if (end->why == SFJIT_STACKS_OUTERMOST) {
		explain->result->complete += end->samples;
		return 0;
	}
	place = ends_add(&explain->ends, end);
	*where = place;
	return place < 0 ? no_memory(explain) : 0;
}

static int count_end(struct explain *explain, const struct perfdata_end *end)
{
	uint64_t where;

	return count_at(explain, end, &where);
}

/* ---- Copies of stacks ------------------------------------------------- */

static int take_copy(struct explain *explain, const struct event *event,
		     const struct sample *sample)
{
	struct sfjit_stacks *stacks = explain->reader.track.stacks;
	struct perfdata_end end;

	if (sample->abi == PERF_SAMPLE_REGS_ABI_NONE) {
		explain->result->without++;
		return 0;
	}
	if (unwind_sample(stacks, event->attr, sample, event->time,
			  &explain->frames))
		return no_memory(explain);
	explain->result->by_code += explain->frames.by_code;
	end = place_of_copy(stacks, event, &explain->frames);
	return count_end(explain, &end);
}

/* ---- Call chains ------------------------------------------------------ */

struct chain {
	size_t nr;		/* addresses, in all */
	size_t nr_user;
	uint64_t last, callee;	/* of user space */
	bool deferred;
	uint64_t cookie;
};

static void add_user(struct chain *chain, uint64_t ip)
{
	chain->nr_user++;
	chain->callee = chain->last;
	chain->last = ip;
}

static struct chain read_chain(const uint8_t *ips, size_t nr, bool user)
{
	struct chain chain = { };
	uint64_t ip;
	size_t i;

	for (i = 0; i < nr; i++) {
		ip = get_u64(ips + 8 * i);
		if (ip == CONTEXT_USER_DEFERRED && i + 1 < nr) {
			chain.deferred = true;
			chain.cookie = get_u64(ips + 8 * ++i);
		} else if (ip >= CONTEXT_MOST) {
			user = ip == CONTEXT_USER;
		} else {
			chain.nr++;
			if (user)
				add_user(&chain, ip);
		}
	}
	return chain;
}

/* kernel.perf_event_max_stack holds if nothing is told; this is its default. */
static bool is_full(const struct chain *chain, size_t most)
{
	return most ? chain->nr >= most : chain->nr == PERF_MAX_STACK_DEPTH;
}

/*
 * The last address is one that a call returns to, unless it is the only one. In
 * a chain that perf has unwound it is one less; a call has two bytes or more.
 */
static struct perfdata_end end_of_chain(struct explain *explain,
					const struct event *event, pid_t pid,
					const struct chain *chain, size_t most)
{
	struct track *track = &explain->reader.track;
	uint64_t address = chain->last - (chain->nr_user > 1);
	struct perfdata_end end = { .chain = true };

	end.why = sfjit_stacks_look(track->stacks, pid, event->time, address);
	place_find(track->stacks, pid, event->time, &address,
		   chain->nr_user > 1 ? &chain->callee : NULL, &end);
	if (end.why != SFJIT_STACKS_OUTERMOST && is_full(chain, most))
		end.why = SFJIT_STACKS_LIMIT;
	end.launched = end.why == SFJIT_STACKS_STOPPED &&
		       table_find(&track->launched, pid);
	return end;
}

/* ---- Deferred ones ---------------------------------------------------- */

static int count_missing(struct explain *explain, uint64_t samples)
{
	struct perfdata_end end = {
		.chain = true, .why = PERFDATA_NOT_DEFERRED,
		.place = PERFDATA_NOWHERE, .samples = samples,
	};

	return samples ? count_end(explain, &end) : 0;
}

static void count_known(struct explain *explain, uint64_t where)
{
	if (where == COMPLETE)
		explain->result->complete++;
	else
		explain->ends.list[where].samples++;
}

/* A sample whose chain was read, or will be. */
static int take_cookie(struct explain *explain, uint64_t cookie)
{
	uint64_t *at = table_find(&explain->known[0], cookie);

	if (!at)
		at = table_find(&explain->known[1], cookie);
	if (at) {
		count_known(explain, *at);
		return 0;
	}
	at = table_find(&explain->waiting, cookie);
	if (!at && explain->waiting.used >= COOKIES_MOST)
		return count_missing(explain, 1);
	if (!at)
		at = table_add(&explain->waiting, cookie);
	if (!at)
		return no_memory(explain);
	++*at;
	explain->nr_waiting++;
	return 0;
}

static uint64_t take_waiting(struct explain *explain, uint64_t cookie)
{
	uint64_t *at = table_find(&explain->waiting, cookie);
	uint64_t samples = at ? *at : 0;

	table_remove(&explain->waiting, cookie);
	explain->nr_waiting -= samples;
	return samples;
}

/* Where the process is, in a record that is no sample. */
static pid_t pid_at_end(const struct event *event)
{
	const struct attr *attr = event->attr;

	return attr->tid && attr->id_size ?
	       get_u32(event->bytes + event->size - attr->id_size) : 0;
}

static int take_deferred(struct explain *explain, const struct event *event)
{
	size_t begin = EVENT_HEADER_SIZE + 16;
	const uint8_t *bytes = event->bytes;
	struct perfdata_end end;
	struct chain chain;
	uint64_t cookie, nr, where, *at;
	int ret;

	if (!event->attr)
		return 0;
	if (event->size < begin + event->attr->id_size)
		return trouble_damaged(explain->reader.trouble, event->offset,
			"a deferred call chain of %zu bytes", event->size);
	cookie = get_u64(bytes + EVENT_HEADER_SIZE);
	nr = get_u64(bytes + EVENT_HEADER_SIZE + 8);
	if (nr > (event->size - begin - event->attr->id_size) / 8)
		return trouble_damaged(explain->reader.trouble, event->offset,
			"a deferred call chain of %llu addresses",
			(unsigned long long)nr);
	chain = read_chain(bytes + begin, nr, true);
	end =
		end_of_chain(explain, event, pid_at_end(event), &chain,
			     DEFERRED_MOST);
	end.samples = take_waiting(explain, cookie);
	ret = count_at(explain, &end, &where);
	if (ret || explain->known[0].used >= COOKIES_MOST)
		return ret;
	at = table_add(&explain->known[0], cookie);
	if (!at)
		return no_memory(explain);
	*at = where;
	return 0;
}

/* Drop what the round before knew. */
static void end_round(struct explain *explain)
{
	table_free(&explain->known[1]);
	explain->known[1] = explain->known[0];
	explain->known[0] = (struct table){ };
}

/* ---- Records ---------------------------------------------------------- */

static int count_chain(struct explain *explain, const struct event *event,
		       const struct sample *sample)
{
	struct chain chain = read_chain(sample->ips, sample->nr_ips, false);
	struct perfdata_end end;

	if (chain.deferred)
		return take_cookie(explain, chain.cookie);
	if (!chain.nr_user) {
		explain->result->without++;
		return 0;
	}
	end = end_of_chain(explain, event, place_pid(event), &chain,
			   event->attr->max_stack);
	end.samples = 1;
	return count_end(explain, &end);
}

static int count_sample(struct explain *explain, const struct event *event)
{
	struct sample sample;
	int ret = reader_sample(&explain->reader, event, &sample);

	explain->result->samples++;
	if (ret)
		return ret;
	return event->attr->convert ? take_copy(explain, event, &sample) :
				      count_chain(explain, event, &sample);
}

static int take_event(void *arg, const struct event *event)
{
	struct explain *explain = arg;

	switch (get_u32(event->bytes)) {
	case PERF_RECORD_SAMPLE:
		return count_sample(explain, event);
	case RECORD_CALLCHAIN_DEFERRED:
		return take_deferred(explain, event);
	case RECORD_FINISHED_ROUND:
		end_round(explain);
	}
	return 0;
}

/* ---- The result ------------------------------------------------------- */

static int count_recording(struct explain *explain,
			   const struct perfdata_options *options,
			   struct trouble *trouble)
{
	int ret = reader_begin(&explain->reader, options, trouble);

	if (!ret)
		ret = reader_run(&explain->reader, take_event, explain);
	if (!ret)
		ret = count_missing(explain, explain->nr_waiting);
	explain->result->lost = reader_lost(&explain->reader);
	return ret;
}

static void release_explain(struct explain *explain)
{
	reader_end(&explain->reader);
	ends_free(&explain->ends);
	table_free(&explain->waiting);
	table_free(&explain->known[0]);
	table_free(&explain->known[1]);
	free(explain);
}

int perfdata_explain(const struct perfdata_options *options,
		     struct perfdata_ends *result, struct trouble *trouble)
{
	struct explain *explain = calloc(1, sizeof(*explain));
	int ret;

	*result = (struct perfdata_ends){ };
	if (!explain)
		return trouble_failed(trouble, "explain", -ENOMEM);
	explain->result = result;
	ret = count_recording(explain, options, trouble);
	if (!ret)
		ends_take(&explain->ends, result);
	release_explain(explain);
	return ret;
}
