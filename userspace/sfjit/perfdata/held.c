// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/* Records that wait to be written. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "format.h"
#include "held.h"

void held_free(struct held *held)
{
	while (held->first)
		held_remove(held);
}

static uint8_t *copy_of_bytes(const uint8_t *bytes, size_t length)
{
	uint8_t *copied = malloc(length);

	return copied ? memcpy(copied, bytes, length) : NULL;
}

int held_outcome(struct held_record *record, const struct outcome *outcome)
{
	const char *module = outcome->end.module;
	char *name = module ? strdup(module) : NULL;

	if (module && !name)
		return -ENOMEM;
	free(record->module);
	record->module = name;
	record->outcome = *outcome;
	record->outcome.end.module = name;
	return 0;
}

static void free_record(struct held_record *record)
{
	free(record->bytes);
	free(record->sample);
	free(record->module);
	free(record);
}

static struct held_record *new_record(const uint8_t *bytes, size_t length)
{
	struct held_record *record = calloc(1, sizeof(*record));

	if (!record)
		return NULL;
	record->length = length;
	record->bytes = copy_of_bytes(bytes, length);
	if (record->bytes)
		return record;
	free(record);
	return NULL;
}

static void append_record(struct held *held, struct held_record *record)
{
	held->bytes += sizeof(*record) + record->length + record->size;
	if (held->first)
		held->last->next = record;
	else
		held->first = record;
	held->last = record;
}

int held_add(struct held *held, const uint8_t *bytes, size_t length)
{
	struct held_record *record = new_record(bytes, length);

	if (!record)
		return -ENOMEM;
	append_record(held, record);
	return 0;
}

static int keep_sample(struct held_record *record, const struct sample *sample)
{
	uint8_t *whole = malloc(sample->size);

	if (!whole)
		return -ENOMEM;
	record->size = sample_shrink(sample, whole);
	record->sample = realloc(whole, record->size);
	if (!record->sample)
		record->sample = whole;
	return 0;
}

int held_add_sample(struct held *held, const uint8_t *bytes, size_t length,
		    const struct event *event, const struct sample *sample,
		    uint64_t address, const struct outcome *outcome)
{
	struct held_record *record = new_record(bytes, length);

	if (!record)
		return -ENOMEM;
	if (held_outcome(record, outcome) || keep_sample(record, sample)) {
		free_record(record);
		return -ENOMEM;
	}
	record->address = address;
	record->time = event->time;
	record->offset = event->offset;
	record->pid = get_u32(event->bytes + event->attr->tid);
	record->waits = true;
	append_record(held, record);
	return 0;
}

int held_replace(struct held *held, struct held_record *record,
		 const uint8_t *bytes, size_t length)
{
	uint8_t *copied = copy_of_bytes(bytes, length);

	if (!copied)
		return -ENOMEM;
	free(record->bytes);
	held->bytes += length;
	held->bytes -= record->length;
	record->bytes = copied;
	record->length = length;
	return 0;
}

void held_release(struct held *held, struct held_record *record)
{
	held->bytes -= record->size;
	free(record->sample);
	free(record->module);
	record->sample = NULL;
	record->module = NULL;
	record->size = 0;
	record->waits = false;
}

void held_remove(struct held *held)
{
	struct held_record *record = held->first;

	held_release(held, record);
	held->bytes -= sizeof(*record) + record->length;
	held->first = record->next;
	free_record(record);
}
