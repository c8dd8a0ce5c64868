/*
 * One ELF file: its symbol table, and its debug information, which may lie in
 * a file of its own. Addresses are those in the file.
 */
#ifndef SYMBOL_IMAGE_H
#define SYMBOL_IMAGE_H

#include "base/err.h"
#include "symbol/symbol.h"

struct image;

/* NULL and *err if it cannot be read or its build-id is not the one given (may be NULL). */
struct image *image_open(const char *path, const uint8_t *build_id, size_t build_id_size,
			 struct err *err);

/* The same once more, if it is of this build: both have to be closed. Else NULL. */
struct image *image_share(struct image *image, const uint8_t *build_id, size_t build_id_size);
void image_close(struct image *image);

/* As symbols_frames(), but `addr` is looked up as it is. */
size_t image_frames(struct image *image, uint64_t addr, struct symbol_frame *out, size_t max);

bool image_variable(struct image *image, uint64_t addr, struct symbol_variable *out);
bool image_part(struct image *image, uint64_t addr, uint64_t size, struct symbol_part *out);

#endif
