/* A list of sites (abi/site_list_format.h), read into memory, by module. */
#ifndef RUNTIME_RECORD_SITE_LIST_H
#define RUNTIME_RECORD_SITE_LIST_H

#include "runtime/core/runtime.h"

struct sitefile_module;

struct sitefile {
	struct sitefile_module *modules;
};

/* Reads the file. Returns NULL, or what is wrong with it. */
SNARLRT_HIDDEN const char *sitefile_load(struct sitefile *f, const char *path);

/* The module's sites as ascending offsets; NULL if the list does not name the module. */
SNARLRT_HIDDEN const uint64_t *sitefile_places(const struct sitefile *f, const uint8_t *id,
					       uint32_t id_size, size_t *count);

/*
 * The module's sites that are marked with '+': memory that such a site is the first to access is
 * shared.
 */
SNARLRT_HIDDEN const uint64_t *sitefile_sharing(const struct sitefile *f, const uint8_t *id,
						uint32_t id_size, size_t *count);

#endif
