// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/* Bytes of files and pipes. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "file.h"

static bool is_regular_file(int fd, uint64_t *size)
{
	struct stat st;

	if (fstat(fd, &st) || !S_ISREG(st.st_mode))
		return false;
	*size = st.st_size;
	return true;
}

int file_open(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	uint64_t size;

	if (fd < 0)
		return -errno;
	if (is_regular_file(fd, &size))
		return fd;
	close(fd);
	return -ENOTSUP;
}

/* ---- Input ------------------------------------------------------------ */

int input_begin(struct input *input, int fd, struct trouble *trouble)
{
	*input = (struct input){ .fd = fd };
	input->seekable = is_regular_file(fd, &input->size);
	input->buffer = malloc(FILE_BUFFER);
	return input->buffer ? 0 : trouble_failed(trouble, "input", -ENOMEM);
}

void input_end(struct input *input)
{
	input_forget(input);
	free(input->buffer);
}

void input_forget(struct input *input)
{
	free(input->kept);
	input->kept = NULL;
	input->keep = false;
}

/* Without memory it goes on without. */
static void keep_unread(struct input *input, size_t length)
{
	size_t room = input->room ? input->room : FILE_BUFFER;
	uint8_t *grown;

	while (room - input->nr_kept < length)
		room *= 2;
	if (room != input->room) {
		grown = realloc(input->kept, room);
		if (!grown) {
			input_forget(input);
			return;
		}
		input->kept = grown;
		input->room = room;
	}
	memcpy(input->kept + input->nr_kept, input->buffer, length);
	input->nr_kept += length;
}

static int read_some(struct input *input, uint64_t offset, void *to,
		     size_t length, struct trouble *trouble)
{
	ssize_t n;

	do {
		n = input->seekable ? pread(input->fd, to, length, offset) :
				      read(input->fd, to, length);
	} while (n < 0 && errno == EINTR);
	return n < 0 ? trouble_failed(trouble, "input", -errno) : n;
}

static int fill_input(struct input *input, struct trouble *trouble)
{
	int n = read_some(input, input->offset, input->buffer, FILE_BUFFER,
			  trouble);

	input->begin = 0;
	input->end = n > 0 ? n : 0;
	if (input->keep && n > 0)
		keep_unread(input, n);
	return n;
}

int input_read(struct input *input, void *to, size_t length,
	       struct trouble *trouble)
{
	size_t done = 0, n;
	int ret;

	while (done < length) {
		if (input->begin == input->end) {
			ret = fill_input(input, trouble);
			if (ret < 0)
				return ret;
			if (!ret)
				break;
		}
		n = input->end - input->begin;
		if (n > length - done)
			n = length - done;
		memcpy((uint8_t *)to + done, input->buffer + input->begin, n);
		input->begin += n;
		input->offset += n;
		done += n;
	}
	return done == length ? 0 : -ENODATA;
}

int input_read_at(struct input *input, uint64_t offset, void *to,
		  size_t length, struct trouble *trouble)
{
	int n;

	for (; length; length -= n) {
		n = read_some(input, offset, to, length > FILE_BUFFER ?
			      FILE_BUFFER : length, trouble);
		if (n < 0)
			return n;
		if (!n)
			return trouble_damaged(trouble, offset,
					       "the file ends here");
		to = (uint8_t *)to + n;
		offset += n;
	}
	return 0;
}

void input_seek(struct input *input, uint64_t offset)
{
	input->offset = offset;
	input->begin = input->end = 0;
}

/* ---- Output ----------------------------------------------------------- */

int output_begin(struct output *output, int fd, struct trouble *trouble)
{
	uint64_t size;

	*output = (struct output){ .fd = fd };
	/* A shell's >> puts each byte at the end, wherever it is written to. */
	output->seekable = is_regular_file(fd, &size) && !size &&
			   !(fcntl(fd, F_GETFL) & O_APPEND);
	output->buffer = malloc(FILE_BUFFER);
	return output->buffer ? 0 : trouble_failed(trouble, "output", -ENOMEM);
}

void output_end(struct output *output)
{
	free(output->buffer);
}

static int write_failed(struct output *output, struct trouble *trouble)
{
	output->error = errno;
	return trouble_failed(trouble, "output", -errno);
}

static int write_some(struct output *output, const void *from, size_t length,
		      struct trouble *trouble)
{
	ssize_t n;

	do {
		n = write(output->fd, from, length);
	} while (n < 0 && errno == EINTR);
	return n < 0 ? write_failed(output, trouble) : n;
}

/* Bytes of the buffer that are in the file. */
static void find_mark(struct output *output, size_t done)
{
	for (; done && !(output->marks[done / 8] >> done % 8 & 1); done--)
		;
	if (done)
		output->whole = output->flushed + done;
	memset(output->marks, 0, sizeof(output->marks));
}

int output_flush(struct output *output, struct trouble *trouble)
{
	size_t done;
	int n = 0;

	for (done = 0; done < output->used && n >= 0; done += n > 0 ? n : 0)
		n = write_some(output, output->buffer + done,
			       output->used - done, trouble);
	find_mark(output, done);
	if (n < 0)
		return n;
	output->flushed += output->used;
	output->used = 0;
	return 0;
}

int output_write(struct output *output, const void *from, size_t length,
		 struct trouble *trouble)
{
	size_t n;
	int ret;

	output->offset += length;
	for (; length; length -= n) {
		if (output->used == FILE_BUFFER) {
			ret = output_flush(output, trouble);
			if (ret)
				return ret;
		}
		n = FILE_BUFFER - output->used;
		if (n > length)
			n = length;
		memcpy(output->buffer + output->used, from, n);
		output->used += n;
		from = (const uint8_t *)from + n;
	}
	return 0;
}

int output_write_at(struct output *output, uint64_t offset, const void *from,
		    size_t length, struct trouble *trouble)
{
	ssize_t n;
	int ret = output_flush(output, trouble);

	for (; !ret && length; length -= n) {
		n = pwrite(output->fd, from, length, offset);
		if (n < 0 && errno != EINTR)
			return write_failed(output, trouble);
		if (n < 0)
			n = 0;
		from = (const uint8_t *)from + n;
		offset += n;
	}
	return ret;
}

void output_mark(struct output *output)
{
	output->marks[output->used / 8] |= 1 << output->used % 8;
}

uint64_t output_keep(struct output *output)
{
	struct trouble ignored;

	if (!output->error)
		output_flush(output, &ignored);
	if (!output->seekable || ftruncate(output->fd, output->whole))
		return 0;
	return output->whole;
}

int output_raw(struct output *output, struct input *input,
	       struct trouble *trouble)
{
	int n, ret;

	output->used = 0;
	output->offset = output->flushed;
	ret = output_write(output, input->kept, input->nr_kept, trouble);
	input_forget(input);
	while (!ret) {
		n = fill_input(input, trouble);
		if (n <= 0)
			return n < 0 ? n : output_flush(output, trouble);
		ret = output_write(output, input->buffer, n, trouble);
	}
	return ret;
}
