/*
 * One ELF file: its symbol table and its debug information, which may be in a separate file.
 * Addresses are those in the file, before the load bias. Both are read at the first look-up.
 */
#ifndef SYMBOL_IMAGE_H
#define SYMBOL_IMAGE_H

#include "base/err.h"
#include "symbol/symbol.h"

struct image;

/*
 * Opens a file. Returns NULL and sets *err if it cannot be read or has another build-id (NULL:
 * any).
 */
struct image *image_open(const char *path, const uint8_t *build_id, size_t build_id_size,
			 struct err *err);

/* Returns `image` with one more reference if its build-id is the one given, else NULL. */
struct image *image_share(struct image *image, const uint8_t *build_id, size_t build_id_size);

/* Drops a reference; the last one closes the file. */
void image_close(struct image *image);

/* As symbols_frames(), but looks up `addr` itself, not addr - 1. */
size_t image_frames(struct image *image, uint64_t addr, struct symbol_frame *out, size_t max);

bool image_variable(struct image *image, uint64_t addr, struct symbol_variable *out);
bool image_part(struct image *image, uint64_t addr, uint64_t size, struct symbol_part *out);

#endif
