/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: 2026 The sfjit authors */
/* What the fuzz targets of this directory ask of the code they run. */
#ifndef FUZZ_ORACLE_H
#define FUZZ_ORACLE_H

#include "core.h"

/* Says what and where, and ends the process so that libFuzzer sees it. */
void oracle_failed(const char *file, int line, const char *what)
	__attribute__((noreturn));

#define REQUIRE(condition) \
	((condition) ? (void)0 : \
	 oracle_failed(__FILE__, __LINE__, #condition))

typedef void run_fn(const uint8_t *data, size_t size);

/* Runs it, within 5 million basic blocks of sframegen for each 4 KiB begun. */
void run_bounded(run_fn *run, const uint8_t *data, size_t size);

/* Sets the content of uninitialized memory of malloc() and the stack. */
void fill_memory(uint8_t byte);

/*
 * The n-th malloc(), calloc() or realloc() of sframegen from now on fails;
 * 0: none does. Its files are compiled to call these.
 */
void fail_allocation(unsigned int n);
bool allocation_failed(void);
void *fuzz_malloc(size_t size);
void *fuzz_calloc(size_t nr, size_t size);
void *fuzz_realloc(void *p, size_t size);

/* An exact copy: reads past its end are seen. */
void *exact_copy(const void *data, size_t len);

/* An error of this input: no lack of memory, its place inside 'len'. */
void require_error(int ret, const struct sfg_error *err, size_t len);

/* FDEs as the encoder takes them: sorted, apart, rows in order. */
void require_good_fdes(const struct sfg_arch *arch,
		       const struct sfg_fdes *fdes);

/* How many bytes of the FDE's code no range holds; the ranges are apart. */
uint64_t bytes_outside(const struct sfg_image *text, size_t nr,
		       const struct sfjit_function *fde);

/* The section that the strict reader has to accept, as FDEs and rows. */
void read_section(const void *data, size_t len, uint64_t addr,
		  struct sfg_fdes *fdes);
/* The same for a section that was checked. */
void read_checked(const struct sfg_section *s, struct sfg_fdes *fdes);

/* Says of a row what it means: rules that are none hold nothing. */
struct sfjit_row plain_row(const struct sfjit_row *row);

/* FDE by FDE and row by row the same. */
void require_equal_fdes(const struct sfg_fdes *a, const struct sfg_fdes *b);

/* A machine that is known, with this number, also if it is one for trials. */
const struct sfg_arch *arch_by_number(unsigned int abi);

/* Encodes FDEs of any kind both ways; 0 or what both of them refused. */
int encode(const struct sfg_arch *arch, const struct sfg_fdes *fdes,
	   uint64_t addr, struct sfg_output *out);

/* sfg_find_row() against a plain search, around each row. */
void require_found(const struct sfg_section *s, const struct sfg_fdes *fdes);

/*
 * The packed table of good FDEs says of each instruction what they say; 'fails':
 * also that each lack of memory is noticed.
 */
void require_packed(const struct sfg_arch *arch, const struct sfg_fdes *fdes,
		    bool fails);
/* One that was made of FDEs that say the same, but for these flags of rows. */
void require_is_packed(const struct sfg_output *out,
		       const struct sfg_fdes *fdes, uint32_t more);

/* sfg_rebase() there and back. */
void require_rebase(const void *data, size_t len, int64_t delta);

#endif /* FUZZ_ORACLE_H */
