// SPDX-License-Identifier: MIT
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Sampling threads by the clock.
 */
#include <pthread.h>
#include <sys/ioctl.h>

#include "check.h"
#include "sample.h"

#define MAX_EVENTS	64

/* A clock event fires at most every 10 us; the rest is for the guest's work. */
#define PERIOD_NS	25000

struct source {
	struct sft_event	event;
	bool			defer;
	sample_fn		fn;
	void			*arg;
};

static struct source sources[MAX_EVENTS];
static unsigned int nr_sources;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_t sampler;
static bool stop;
static int broken;

/*
 * fork() makes the next write to private memory copy the page, which is not
 * there meanwhile: a sample without faults then ends. Shared memory stays.
 */
void *sample_memory(size_t size)
{
	void *mem = mmap(NULL, size, SFT_RW, MAP_SHARED | MAP_ANONYMOUS |
			 MAP_POPULATE, -1, 0);

	return mem == MAP_FAILED ? NULL : mem;
}

void sample_prepare(void)
{
	sft_write_text("/proc/sys/kernel/perf_event_max_sample_rate", "100000\n");
	/* Without it the rate goes down when samples take long, as here. */
	sft_write_text("/proc/sys/kernel/perf_cpu_time_max_percent", "0\n");
}

static int open_source(struct source *source, sample_fn fn, void *arg,
		       bool defer)
{
	struct perf_event_attr attr;
	int ret;

	sft_attr_init(&attr, PERF_TYPE_SOFTWARE, defer);
	attr.config = PERF_COUNT_SW_CPU_CLOCK;
	attr.sample_period = PERIOD_NS;
	ret = sft_event_open(&source->event, &attr);
	if (ret)
		return ret;
	source->fn = fn;
	source->arg = arg;
	source->defer = defer;
	ioctl(source->event.fd, PERF_EVENT_IOC_ENABLE, 0);
	return 0;
}

static int add_source(sample_fn fn, void *arg, bool defer)
{
	int ret = -E2BIG;

	pthread_mutex_lock(&lock);
	if (nr_sources < MAX_EVENTS)
		ret = open_source(&sources[nr_sources], fn, arg, defer);
	if (!ret)
		__atomic_store_n(&nr_sources, nr_sources + 1,
				 __ATOMIC_RELEASE);
	pthread_mutex_unlock(&lock);
	return ret;
}

int sample_self(sample_fn fn, void *arg)
{
	int ret = add_source(fn, arg, false);

	return ret ? ret : add_source(fn, arg, true);
}

static void drain(struct source *source)
{
	static struct sft_chain chain;
	int ret;

	while (!(ret = sft_event_any_chain(&source->event, &chain)))
		source->fn(&chain, source->defer, source->arg);
	if (ret != -ENODATA)
		broken = ret;
}

static void *sample(void *arg)
{
	bool last;
	unsigned int i;

	do {
		last = __atomic_load_n(&stop, __ATOMIC_ACQUIRE);
		for (i = 0; i < __atomic_load_n(&nr_sources, __ATOMIC_ACQUIRE);
		     i++)
			drain(&sources[i]);
		usleep(1000);
	} while (!last);
	return NULL;
}

int sample_start(void)
{
	return -pthread_create(&sampler, NULL, sample, NULL);
}

int sample_stop(void)
{
	__atomic_store_n(&stop, true, __ATOMIC_RELEASE);
	pthread_join(sampler, NULL);
	while (nr_sources)
		sft_event_close(&sources[--nr_sources].event);
	return broken;
}
