/*
 * A list of sites (abi/site_list_format.h) in memory, by module.
 */
#ifndef RUNTIME_RECORD_SITE_LIST_H
#define RUNTIME_RECORD_SITE_LIST_H

#include "runtime/core/runtime.h"

struct sitefile_module;

struct sitefile {
	struct sitefile_module *modules;
};

/* NULL, or what is wrong with the file. */
SNARLRT_HIDDEN const char *sitefile_load(struct sitefile *f, const char *path);

/* The module's places, ascending, as offsets; NULL if the list does not name it. */
SNARLRT_HIDDEN const uint64_t *sitefile_places(const struct sitefile *f, const uint8_t *id,
					       uint32_t id_size, size_t *count);

/* The same for those that share what they are the first to touch. */
SNARLRT_HIDDEN const uint64_t *sitefile_sharing(const struct sitefile *f, const uint8_t *id,
						uint32_t id_size, size_t *count);

#endif
