// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/* Records about processes. */
#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include "format.h"
#include "sample.h"
#include "track.h"

struct record {
	const struct attr *attr;
	uint8_t *event;
	size_t size;
	uint16_t misc;
	uint64_t time, offset;
	struct trouble *trouble;
};

/* Of PERF_RECORD_MMAP and PERF_RECORD_MMAP2. */
struct mapped {
	struct perf_event_header header;
	uint32_t pid, tid;
	uint64_t address, length, offset;
};

/* Behind it in the second. */
struct mapped_file {
	uint32_t major, minor;
	uint64_t inode, generation;
	uint32_t prot, flags;
};

/* In its place, with PERF_RECORD_MISC_MMAP_BUILD_ID. */
struct mapped_build_id {
	uint8_t length, reserved[3];
	uint8_t id[BUILD_ID_MOST];
	uint32_t prot, flags;
};

/* Of PERF_RECORD_FORK and PERF_RECORD_EXIT. */
struct task {
	struct perf_event_header header;
	uint32_t pid, parent, tid, parent_tid;
	uint64_t time;
};

void track_free(struct track *track)
{
	jitdumps_free(&track->dumps);
	table_free(&track->launched);
	sfjit_stacks_end(track->stacks);
}

/* Other refusals are for addresses that no process has. */
static int done(const struct record *record, int ret)
{
	return ret == -ENOMEM ?
	       trouble_failed(record->trouble, "processes", ret) : 0;
}

static int short_record(const struct record *record)
{
	return trouble_damaged(record->trouble, record->offset,
			       "a record of type %u with %zu bytes",
			       get_u32(record->event), record->size);
}

/* ---- Mappings --------------------------------------------------------- */

/* Those of the kernel and of guests are not of a process. */
static bool is_user(uint16_t misc)
{
	misc &= PERF_RECORD_MISC_CPUMODE_MASK;
	return misc == PERF_RECORD_MISC_USER ||
	       misc == PERF_RECORD_MISC_CPUMODE_UNKNOWN;
}

static void set_build_id(struct sfjit_stacks_mapping *mapping,
			 const uint8_t *bytes, uint8_t length)
{
	if (length > BUILD_ID_MOST)
		length = BUILD_ID_MOST;
	memcpy(mapping->build_id, bytes, length);
	mapping->build_id_length = length;
}

static void set_known_build_id(const struct features *features,
			       struct sfjit_stacks_mapping *mapping)
{
	const struct build_id *known;

	if (mapping->build_id_length)
		return;
	known = features_build_id(features, mapping->path);
	if (!known)
		return;
	set_build_id(mapping, known->bytes, known->length);
	/* Inodes of another machine say nothing of files here. */
	if (features->elsewhere)
		mapping->inode = 0;
}

static void set_inode(struct sfjit_stacks_mapping *mapping,
		      const struct mapped_file *file)
{
	mapping->inode = file->inode;
	mapping->device_major = file->major;
	mapping->device_minor = file->minor;
}

static void set_file(struct sfjit_stacks_mapping *mapping,
		     const struct record *record, const uint8_t *at)
{
	struct mapped_build_id id;
	struct mapped_file file;

	memcpy(&file, at, sizeof(file));
	memcpy(&id, at, sizeof(id));
	/* Of running processes, old versions of perf say only what is code. */
	mapping->executable = file.prot & PROT_EXEC ||
		(!file.prot && !file.flags &&
		 !(record->misc & PERF_RECORD_MISC_MMAP_DATA));
	if (record->misc & PERF_RECORD_MISC_MMAP_BUILD_ID)
		set_build_id(mapping, id.id, id.length);
	else
		set_inode(mapping, &file);
}

static int note_launched(struct track *track, const struct record *record,
			 pid_t pid)
{
	if (track->launched.used >= LAUNCHED_MOST ||
	    table_add(&track->launched, pid))
		return 0;
	return done(record, -ENOMEM);
}

static bool is_launcher(const struct track *track, const char *path)
{
	const char *name = strrchr(path, '/');

	return track->launcher && name && !strcmp(name + 1, track->launcher);
}

static int add_mapping(struct track *track, const struct record *record,
		       pid_t pid, struct sfjit_stacks_mapping *mapping)
{
	int ret = jitdumps_take_over(&track->dumps, pid, record->time,
				     mapping->path);

	if (ret)
		return ret == 1 ? 0 : done(record, ret);
	set_known_build_id(track->features, mapping);
	if (is_launcher(track, mapping->path)) {
		ret = note_launched(track, record, pid);
		if (ret)
			return ret;
	}
	ret = sfjit_stacks_mmap(track->stacks, pid, record->time, mapping);
	if (ret != -ENOMEM && mapping->executable &&
	    jitdump_is_marker(mapping->path))
		ret = jitdumps_add(&track->dumps, pid, record->time,
				   mapping->path);
	return done(record, ret);
}

/* Behind it is what says which event the record is of. */
static bool has_name(const struct record *record, size_t at)
{
	size_t behind = at + record->attr->id_size;

	return record->size > behind &&
	       memchr(record->event + at, '\0', record->size - behind);
}

/* The header has one build-id of a path; records of other files have theirs. */
static void tell_file(const struct track *track, const struct record *record,
		      pid_t pid, const struct sfjit_stacks_mapping *mapping,
		      bool has_file)
{
	const struct perfdata_files *files = track->files;
	uint64_t time = track->dumps.monotonic ? record->time : 0;
	struct mapped_build_id to = { };
	struct perfdata_build_id own;

	if (!files || !mapping->executable ||
	    jitdump_is_marker(mapping->path) ||
	    !files->mapped(files->arg, pid, time, mapping, &own) || !has_file)
		return;
	to.length = own.length;
	memcpy(to.id, own.bytes, own.length);
	memcpy(record->event + sizeof(struct mapped), &to,
	       offsetof(struct mapped_build_id, prot));
	put_u16(record->event + offsetof(struct perf_event_header, misc),
		record->misc | PERF_RECORD_MISC_MMAP_BUILD_ID);
}

static int track_mmap(struct track *track, const struct record *record,
		      bool has_file)
{
	size_t name = sizeof(struct mapped) +
		      (has_file ? sizeof(struct mapped_file) : 0);
	struct sfjit_stacks_mapping mapping = { };
	struct mapped mapped;
	int ret;

	if (!is_user(record->misc))
		return 0;
	if (!has_name(record, name))
		return short_record(record);
	memcpy(&mapped, record->event, sizeof(mapped));
	mapping.start = mapped.address;
	mapping.length = mapped.length;
	mapping.offset = mapped.offset;
	mapping.path = (const char *)record->event + name;
	if (has_file)
		set_file(&mapping, record, record->event + sizeof(mapped));
	else
		mapping.executable = !(record->misc &
				       PERF_RECORD_MISC_MMAP_DATA);
	ret = add_mapping(track, record, mapped.pid, &mapping);
	if (!ret)
		tell_file(track, record, mapped.pid, &mapping, has_file);
	return ret;
}

/* ---- Processes -------------------------------------------------------- */

static bool read_task(const struct record *record, struct task *task)
{
	if (record->size < sizeof(*task))
		return false;
	memcpy(task, record->event, sizeof(*task));
	return true;
}

/* What perf found running has what it says next, not what its parent has. */
static int track_fork(struct track *track, const struct record *record)
{
	struct task task;

	if (!read_task(record, &task))
		return short_record(record);
	if (record->misc & MISC_FORK_RUNNING && task.pid != task.parent)
		task.parent = 0;
	if (table_find(&track->launched, task.parent) &&
	    note_launched(track, record, task.pid))
		return -ENOMEM;
	return done(record, sfjit_stacks_fork(track->stacks, task.pid, task.tid,
					      task.parent, record->time));
}

static int track_exit(struct track *track, const struct record *record)
{
	struct task task;

	if (!read_task(record, &task))
		return short_record(record);
	if (task.pid == task.tid)
		jitdumps_remove(&track->dumps, task.pid);
	return done(record, sfjit_stacks_exit(track->stacks, task.pid, task.tid,
					      record->time));
}

static int track_comm(struct track *track, const struct record *record)
{
	pid_t pid;

	if (record->size < EVENT_HEADER_SIZE + 8)
		return short_record(record);
	pid = get_u32(record->event + EVENT_HEADER_SIZE);
	jitdumps_remove(&track->dumps, pid);
	return done(record, sfjit_stacks_exec(track->stacks, pid,
					      record->time));
}

/* ---- System calls ----------------------------------------------------- */

static uint64_t page_up(uint64_t length)
{
	uint64_t mask = sysconf(_SC_PAGESIZE) - 1;

	return length > UINT64_MAX - mask ? length : (length + mask) & ~mask;
}

static int unmap_text(struct track *track, const struct record *record,
		      const struct sample *sample)
{
	const struct features *features = track->features;
	pid_t pid = get_u32(record->event + record->attr->tid);
	uint64_t address, length;

	if (!sample->raw || sample->raw_size < 8 ||
	    features->munmap_addr > sample->raw_size - 8 ||
	    features->munmap_len > sample->raw_size - 8)
		return 0;
	address = get_u64(sample->raw + features->munmap_addr);
	length = page_up(get_u64(sample->raw + features->munmap_len));
	return done(record, sfjit_stacks_munmap(track->stacks, pid,
						record->time, address,
						length));
}

static int track_sample(struct track *track, const struct record *record)
{
	struct sample sample;

	if (sample_parse(record->attr, record->event, record->size, &sample))
		return short_record(record);
	return unmap_text(track, record, &sample);
}

bool track_wants(const struct track *track, const struct attr *attr,
		 const uint8_t *event)
{
	struct perf_event_header header;

	memcpy(&header, event, sizeof(header));
	switch (header.type) {
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2:
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT:
		return true;
	case PERF_RECORD_COMM:
		return header.misc & PERF_RECORD_MISC_COMM_EXEC;
	case PERF_RECORD_SAMPLE:
		return attr->type == PERF_TYPE_TRACEPOINT && attr->tid &&
		       track->features->has_munmap &&
		       attr->config == track->features->munmap;
	default:
		return false;
	}
}

int track_record(struct track *track, const struct attr *attr,
		 uint8_t *event, size_t size, uint64_t time,
		 uint64_t offset, struct trouble *trouble)
{
	struct perf_event_header header;
	struct record record = { attr, event, size, 0, time, offset, trouble };

	memcpy(&header, event, sizeof(header));
	record.misc = header.misc;
	switch (header.type) {
	case PERF_RECORD_MMAP:
		return track_mmap(track, &record, false);
	case PERF_RECORD_MMAP2:
		return track_mmap(track, &record, true);
	case PERF_RECORD_FORK:
		return track_fork(track, &record);
	case PERF_RECORD_EXIT:
		return track_exit(track, &record);
	case PERF_RECORD_COMM:
		return track_comm(track, &record);
	case PERF_RECORD_SAMPLE:
		return track_sample(track, &record);
	default:
		return 0;
	}
}
