/* SPDX-License-Identifier: MIT */
/*
 * SPDX-FileCopyrightText: 2026 The sfjit authors
 *
 * Bytes of files and pipes. Memory does not depend on their length.
 */
#ifndef SFJIT_PERFDATA_FILE_H
#define SFJIT_PERFDATA_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trouble.h"

#define FILE_BUFFER	(64U << 10)

/*
 * A descriptor to read a file whose path comes from a recording, or -errno;
 * -ENOTSUP: it is no file.
 */
int file_open(const char *path);

struct input {
	int fd;
	bool seekable;
	uint64_t size;		/* of the file; if it is @seekable */
	uint64_t offset;	/* of what is read next */
	uint8_t *buffer;
	size_t begin, end;	/* what the buffer has */
	bool keep;		/* all that is read: @kept has @nr_kept bytes */
	uint8_t *kept;
	size_t nr_kept, room;
};

/* @fd stays the caller's. A file is read from its beginning. */
int input_begin(struct input *input, int fd, struct trouble *trouble);
void input_end(struct input *input);

/*
 * Exactly so many bytes. -ENODATA, and no message: the input ends before the
 * last of them; @offset is its end then.
 */
int input_read(struct input *input, void *to, size_t length,
	       struct trouble *trouble);
/* At any place of a file that is seekable. */
int input_read_at(struct input *input, uint64_t offset, void *to,
		  size_t length, struct trouble *trouble);
/* Keeps nothing any more. */
void input_forget(struct input *input);
/* input_read() goes on there. */
void input_seek(struct input *input, uint64_t offset);

struct output {
	int fd;
	bool seekable;
	uint64_t offset;	/* of what is written next */
	uint64_t flushed;	/* of what the buffer begins with */
	uint64_t whole;		/* the last mark that the file has */
	int error;		/* of a write that failed, or 0 */
	uint8_t *buffer;
	size_t used;
	uint8_t marks[FILE_BUFFER / 8 + 1];	/* bits: at bytes of it */
};

int output_begin(struct output *output, int fd, struct trouble *trouble);
void output_end(struct output *output);

int output_write(struct output *output, const void *from, size_t length,
		 struct trouble *trouble);
/* Output that was written before and is seekable. */
int output_write_at(struct output *output, uint64_t offset, const void *from,
		    size_t length, struct trouble *trouble);
int output_flush(struct output *output, struct trouble *trouble);
/*
 * Replaces the buffer by the whole input, which kept all that was read, up to
 * its end.
 */
int output_raw(struct output *output, struct input *input,
	       struct trouble *trouble);

/* A reader can use the output up to here without the rest. */
void output_mark(struct output *output);
/*
 * After a failure: cuts a file off at the last mark that it has. Returns its
 * length; 0: nothing is of use.
 */
uint64_t output_keep(struct output *output);

#endif /* SFJIT_PERFDATA_FILE_H */
