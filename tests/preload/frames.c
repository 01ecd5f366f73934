// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 The sfjit authors
/*
 * Description: frames given to __register_frame() are read as far as memory
 * goes: whole, one FDE, broken in any way (built with AddressSanitizer).
 *
 * The frames end where memory does.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "../lib/tap.h"
#include "cfi.h"
#include "programs/jit_code.h"

#define PAGE	4096
#define ROUNDS	20000
#define CODE	0x7f0012340000

static uint8_t *page;
static struct frames frames;
static unsigned int second;
static uint64_t seed = 88172645463325252ULL;

static uint64_t random_number(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	return seed ^= seed << 17;
}

static void make_page(void)
{
	page = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	MUST(page != MAP_FAILED);
	MUST(!mprotect(page + PAGE, PAGE, PROT_NONE));
}

static void make_frames(void)
{
	frames_begin(&frames, 0);
	frames_function(&frames, CODE, 16, 0);
	second = frames_function(&frames, CODE + 32, 16, 0);
	frames_end(&frames);
}

/* Places the bytes so that the last one is the last of the memory. */
static uint8_t *place(unsigned int length)
{
	return memcpy(page + PAGE - length, frames.bytes, length);
}

static int read_at(const uint8_t *begin, struct sfg_image *image,
		   const char **reason)
{
	*reason = NULL;
	return cfi_read_frames((uintptr_t)begin, image, reason);
}

/* Functions that the image is for, or -errno. */
static int functions(const struct sfg_image *image)
{
	const struct sfg_input in = { .abi = SFG_HOST_ABI, .cfi = *image };
	struct sfg_image *list;
	struct sfg_output out;
	size_t nr;
	int ret;

	ret = sfg_list_functions(&in, &list, &nr, NULL);
	if (ret)
		return ret;
	ret = sfg_convert(&in, &out, NULL, NULL);
	if (!ret)
		free(out.data);
	if (!ret && nr)
		ret = list[nr - 1].addr == CODE + 32 ? 0 : -ERANGE;
	free(list);
	return ret ? ret : (int)nr;
}

static void check_whole(void)
{
	uint8_t *at = place(frames.length);
	struct sfg_image image;
	const char *reason;

	make_frames();
	at = place(frames.length);
	IS("whole frames", read_at(at, &image, &reason), 0);
	IS("without the terminator", image.len, frames.length - 4);
	IS("their address", image.addr, (uintptr_t)at);
	IS("two functions", functions(&image), 2);
	free((void *)image.data);

	IS("one FDE", read_at(at + second, &image, &reason), 0);
	IS("one function", functions(&image), 1);
	free((void *)image.data);

	memset(page + PAGE - 4, 0, 4);
	IS("an empty section", read_at(page + PAGE - 4, &image, &reason),
	   -ENODATA);
}

static void refused(const char *name, unsigned int length, const char *why)
{
	struct sfg_image image;
	const char *reason;
	int ret = read_at(page + PAGE - length, &image, &reason);

	result(ret == -EINVAL && reason && !strcmp(reason, why), name,
	       "%d, %s", ret, reason);
}

static void check_lengths(void)
{
	static const char leaves[] = "the frames leave mapped memory";
	uint8_t *at;

	place(frames.length - 4);
	refused("no terminator", frames.length - 4, leaves);
	place(frames.length - 5);
	refused("cut in a record", frames.length - 5, leaves);
	place(frames.length - 4);
	refused("not a length", 3, leaves);
	at = place(frames.length);
	memcpy(at + second, (uint32_t []){ 1 << 20 }, 4);
	refused("a length past memory", frames.length, leaves);
	memcpy(at + second, (uint32_t []){ 0xfffffffe }, 4);
	refused("a length of 4 GiB", frames.length,
		"the frames are over 32 MiB");
	memcpy(at + second, (uint32_t []){ 0xffffffff, 0xffffffff,
					   0xffffffff }, 12);
	refused("a length around the end", frames.length,
		"the frames are over 32 MiB");
	memcpy(at + second, (uint32_t []){ 3 }, 4);
	refused("a length without an id", frames.length,
		"a record of the frames is too short");
}

static void check_one_fde(void)
{
	uint8_t *at = place(frames.length);

	memcpy(at + second + 4, (uint32_t []){ second }, 4);
	refused("a CIE that is no CIE", frames.length - second,
		"the frame names no CIE");
	memcpy(at + second + 4, (uint32_t []){ 0x7fffffff }, 4);
	refused("a CIE outside of memory", frames.length - second,
		"the frames leave mapped memory");
	memcpy(at + second + 4, (uint32_t []){ -8 }, 4);
	refused("a CIE in its own FDE", frames.length - second,
		"the frames leave mapped memory");
}

static void check_damaged(void)
{
	unsigned int i, n, read = 0, converted = 0;
	struct sfg_image image;
	const char *reason;
	uint8_t *at;
	int ret;

	for (i = 0; i < ROUNDS; i++) {
		at = place(frames.length);
		for (n = random_number() % 4 + 1; n; n--)
			at[random_number() % frames.length] = random_number();
		ret = read_at(at + (i % 2 ? second : 0), &image, &reason);
		if (ret && !reason) {
			result(false, "damaged frames", "no reason");
			return;
		}
		if (ret)
			continue;
		read++;
		converted += functions(&image) > 0;
		free((void *)image.data);
	}
	result(read > ROUNDS / 10 && read < ROUNDS && converted &&
	       converted < read, "damaged frames", "%u read, %u converted",
	       read, converted);
}

/* The module frees a whole arena. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
	return "detect_leaks=0";
}

int main(void)
{
	make_page();
	make_frames();
	check_whole();
	check_lengths();
	check_one_fde();
	check_damaged();
	return finish();
}
