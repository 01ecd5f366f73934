// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/* The header features of a recording. */
#include <errno.h>
#include <grow.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "attr.h"
#include "features.h"
#include "format.h"

struct build_id_of {
	char *path;
	struct build_id id;
	size_t next;		/* with the same hash, as in the table */
};

void features_free(struct features *features)
{
	size_t i;

	for (i = 0; i < features->nr; i++)
		free(features->ids[i].path);
	free(features->ids);
	table_free(&features->by_name);
}

/* ---- Build-ids -------------------------------------------------------- */

struct build_id_record {
	struct perf_event_header header;
	int32_t pid;
	uint8_t id[BUILD_ID_MOST];
	uint8_t length, reserved[3];
};

static uint64_t hash_path(const char *path)
{
	uint64_t sum = 0xcbf29ce484222325ULL;

	for (; *path; path++)
		sum = (sum ^ (uint8_t)*path) * 0x100000001b3ULL;
	return sum;
}

static struct build_id_of *find_path_id(const struct features *features,
					const char *path)
{
	const uint64_t *first = table_find(&features->by_name, hash_path(path));
	struct build_id_of *found;
	size_t i = first ? *first : 0;

	for (; i; i = found->next) {
		found = &features->ids[i - 1];
		if (!strcmp(found->path, path))
			return found;
	}
	return NULL;
}

const struct build_id *features_build_id(const struct features *features,
					 const char *path)
{
	struct build_id_of *found = find_path_id(features, path);

	return found ? &found->id : NULL;
}

static struct build_id_of *append_build_id(struct features *features)
{
	if (!grow_array(&features->ids, &features->max, features->nr,
			sizeof(*features->ids)))
		return NULL;
	return &features->ids[features->nr];
}

static int add_build_id(struct features *features, const char *path,
			const struct build_id *id)
{
	struct build_id_of *entry = append_build_id(features);
	uint64_t *first = table_add(&features->by_name, hash_path(path));

	if (!entry || !first)
		return -ENOMEM;
	*entry = (struct build_id_of){ strdup(path), *id, *first };
	if (!entry->path)
		return -ENOMEM;
	*first = ++features->nr;
	return 0;
}

static bool is_of_host(uint16_t misc)
{
	misc &= PERF_RECORD_MISC_CPUMODE_MASK;
	return misc != PERF_RECORD_MISC_GUEST_KERNEL &&
	       misc != PERF_RECORD_MISC_GUEST_USER;
}

static uint8_t length_of(const struct build_id_record *record)
{
	if (!(record->header.misc & MISC_BUILD_ID_SIZE))
		return BUILD_ID_MOST;
	return record->length < BUILD_ID_MOST ? record->length : BUILD_ID_MOST;
}

int features_add_build_id(struct features *features, const uint8_t *event,
			  size_t size, uint64_t offset,
			  struct trouble *trouble)
{
	const char *path = (const char *)event + sizeof(struct build_id_record);
	struct build_id_record record;
	struct build_id_of *known;
	struct build_id id = { };

	if (size <= sizeof(record) ||
	    !memchr(path, '\0', size - sizeof(record)))
		return trouble_damaged(trouble, offset,
				       "a build-id without the end of a name");
	memcpy(&record, event, sizeof(record));
	id.length = length_of(&record);
	memcpy(id.bytes, record.id, id.length);
	if (!id.length || !is_of_host(record.header.misc))
		return 0;
	known = find_path_id(features, path);
	if (known)
		known->id = id;
	else if (add_build_id(features, path, &id))
		return trouble_failed(trouble, "build-ids", -ENOMEM);
	return 0;
}

size_t features_put_build_id(const struct perfdata_build_id *id,
			     uint8_t *event)
{
	struct build_id_record record = {
		.header.type = RECORD_HEADER_BUILD_ID,
		.header.misc = MISC_BUILD_ID_SIZE |
			       (id->kernel ? PERF_RECORD_MISC_KERNEL :
					     PERF_RECORD_MISC_USER),
		.pid = -1, .length = id->length,
	};
	size_t name = strnlen(id->path, EVENT_MOST - sizeof(record) - 8);
	size_t length = sizeof(record) + ((name + 8) & ~(size_t)7);

	record.header.size = length;
	memcpy(record.id, id->bytes, id->length);
	memset(event, 0, length);
	memcpy(event, &record, sizeof(record));
	memcpy(event + sizeof(record), id->path, name);
	return length;
}

size_t features_build_id_length(const uint8_t *record, size_t left)
{
	size_t length = left < EVENT_HEADER_SIZE ? 0 :
			get_u16(record +
				offsetof(struct perf_event_header, size));

	return length > left ? 0 : length;
}

static int read_build_ids(struct features *features, const uint8_t *data,
			  size_t size, uint64_t offset,
			  struct trouble *trouble)
{
	size_t at, length;
	int ret = 0;

	for (at = 0; at < size && !ret; at += length) {
		length = features_build_id_length(data + at, size - at);
		if (!length)
			return trouble_damaged(trouble, offset + at,
				"a build-id that leaves its section");
		ret = features_add_build_id(features, data + at, length,
					    offset + at, trouble);
	}
	return ret;
}

/* ---- Tracepoints ------------------------------------------------------ */

/* The number after @key, up to the next @end; false: there is none. */
static bool number_after(const char *text, const char *end, const char *key,
			 unsigned long *number)
{
	const char *at = memmem(text, end - text, key, strlen(key));
	char digits[24];
	size_t n = 0;

	if (!at)
		return false;
	at += strlen(key);
	while (at < end && n < sizeof(digits) - 1 && *at >= '0' && *at <= '9')
		digits[n++] = *at++;
	digits[n] = '\0';
	*number = strtoul(digits, NULL, 10);
	return n;
}

/* Of a field of 8 bytes. */
static bool find_number_field(const char *text, const char *end,
			      const char *name, size_t *offset)
{
	const char *at = memmem(text, end - text, name, strlen(name));
	unsigned long value, size;
	const char *line;

	line = at ? memchr(at, '\n', end - at) : NULL;
	if (!line || !number_after(at, line, "offset:", &value) ||
	    !number_after(at, line, "size:", &size) || size != 8)
		return false;
	*offset = value;
	return true;
}

#define MUNMAP_NAME	"name: sys_enter_munmap\n"
#define FIELDS_END	"\nprint fmt:"

/*
 * Look for one text in the copy of /sys/kernel/tracing, which has the form of
 * trace-cmd's files. Without it the recording has no system calls.
 */
static void read_tracing(struct features *features, const uint8_t *data,
			 size_t size)
{
	const char *end = (const char *)data + size;
	const char *text = memmem(data, size, MUNMAP_NAME,
				  strlen(MUNMAP_NAME));
	unsigned long id;

	if (text)
		end = memmem(text, end - text, FIELDS_END, strlen(FIELDS_END));
	if (!text || !end || !number_after(text, end, "\nID: ", &id) ||
	    !find_number_field(text, end, " addr;", &features->munmap_addr) ||
	    !find_number_field(text, end, " len;", &features->munmap_len))
		return;
	features->munmap = id;
	features->has_munmap = true;
}

/* ---- The machine ------------------------------------------------------ */

/* Nobody depends on it: one that is damaged is none. */
static void read_hostname(struct features *features, const uint8_t *data,
			  size_t size)
{
	const char *name = (const char *)data + 4;
	struct utsname host;

	features->elsewhere = size > 4 && get_u32(data) <= size - 4 &&
			      memchr(name, '\0', get_u32(data)) &&
			      !uname(&host) && strcmp(name, host.nodename);
}

/* A string is its length, padded, and as many bytes. */
static int check_arch(const uint8_t *data, size_t size, uint64_t offset,
		      struct trouble *trouble)
{
	const char *name = (const char *)data + 4;
	struct utsname host;

	if (size < 5 || get_u32(data) > size - 4 ||
	    !memchr(name, '\0', get_u32(data)))
		return trouble_damaged(trouble, offset,
				       "the name of a machine has no end");
	if (!uname(&host) && strcmp(name, host.machine))
		return trouble_refused(trouble,
			"recorded on a machine of another kind, %.32s", name);
	return 0;
}

/* ---- Compression ------------------------------------------------------ */

#define COMPRESSED_ZSTD		1

/* Words: version, kind, level, ratio, and the size of perf's buffers. */
static int read_compressed(struct features *features, const uint8_t *data,
			   size_t size, uint64_t offset,
			   struct trouble *trouble)
{
	if (size < 20)
		return trouble_damaged(trouble, offset,
			"a description of compression of %zu bytes", size);
	if (get_u32(data + 4) != COMPRESSED_ZSTD)
		return trouble_refused(trouble, "compressed in another way "
			"than by zstd (%u): record without -z",
			get_u32(data + 4));
	features->unpacked_most = get_u32(data + 16);
	return 0;
}

/* ---- Descriptions of events ------------------------------------------- */

/*
 * Two numbers: of events, and of bytes of an attribute. For each the attribute,
 * the number of ids, a string and the ids.
 */
static bool convert_desc(uint8_t *data, size_t size, size_t attr_bytes,
			 size_t *at)
{
	uint64_t ids, name;
	uint8_t *attr;

	if (attr_bytes + 8 > size - *at)
		return false;
	attr = data + *at;
	*at += attr_bytes;
	ids = get_u32(data + *at);
	name = get_u32(data + *at + 4);
	*at += 8;
	if (attr_size(attr) > attr_bytes || name + 8 * ids > size - *at)
		return false;
	attr_convert(attr, attr_size(attr));
	*at += name + 8 * ids;
	return true;
}

static int convert_event_desc(uint8_t *data, size_t size, uint64_t offset,
			      struct trouble *trouble)
{
	uint32_t nr = size < 8 ? 0 : get_u32(data);
	size_t attr_bytes = size < 8 ? 0 : get_u32(data + 4), at = 8;

	if (attr_bytes < ATTR_LEAST || attr_bytes > ATTR_MOST)
		return trouble_damaged(trouble, offset,
				       "descriptions of events of %zu bytes",
				       attr_bytes);
	for (; nr; nr--)
		if (!convert_desc(data, size, attr_bytes, &at))
			return trouble_damaged(trouble, offset + at,
				"the description of an event has no end");
	return 0;
}

/* ---- All -------------------------------------------------------------- */

int features_read(struct features *features, unsigned int feature,
		  const uint8_t *data, size_t size, uint64_t offset,
		  struct trouble *trouble)
{
	switch (feature) {
	case FEATURE_BUILD_ID:
		return read_build_ids(features, data, size, offset, trouble);
	case FEATURE_TRACING_DATA:
		read_tracing(features, data, size);
		return 0;
	case FEATURE_HOSTNAME:
		read_hostname(features, data, size);
		return 0;
	case FEATURE_ARCH:
		return check_arch(data, size, offset, trouble);
	case FEATURE_COMPRESSED:
		return read_compressed(features, data, size, offset, trouble);
	default:
		return 0;
	}
}

bool features_is_read(unsigned int feature)
{
	return feature == FEATURE_BUILD_ID || feature == FEATURE_ARCH ||
	       feature == FEATURE_HOSTNAME ||
	       feature == FEATURE_TRACING_DATA ||
	       feature == FEATURE_COMPRESSED ||
	       feature == FEATURE_EVENT_DESC;
}

bool features_is_kept(unsigned int feature)
{
	return feature != FEATURE_COMPRESSED;
}

int features_convert(unsigned int feature, uint8_t *data, size_t size,
		     uint64_t offset, struct trouble *trouble)
{
	return feature == FEATURE_EVENT_DESC ?
	       convert_event_desc(data, size, offset, trouble) : 0;
}

int features_refuse(unsigned int feature, struct trouble *trouble)
{
	switch (feature) {
	case FEATURE_AUXTRACE:
		return trouble_refused(trouble,
			"recordings with AUX area data are not converted");
	case FEATURE_DIR_FORMAT:
		return trouble_refused(trouble, "recordings in directories are "
			"not converted: record without --threads");
	default:
		return 0;
	}
}
