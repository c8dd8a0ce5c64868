/* What the folds share: the sites of one run, steps, and memory divided into cells. */
#ifndef LEARN_FOLD_FOLD_COMMON_H
#define LEARN_FOLD_FOLD_COMMON_H

#include <stddef.h>
#include <stdint.h>

#include "analyze/context/granules.h"
#include "base/map.h"
#include "coverage/fold/iroot_fold.h"

/* How a site accesses memory. LEARN_LOCK takes a mutex, LEARN_CANCEL cancels a thread. */
enum learn_access { LEARN_READ, LEARN_WRITE, LEARN_FUNCTION, LEARN_LOCK, LEARN_CANCEL };

/* "read", "write", "function", "lock", "cancel" */
const char *learn_access_name(enum learn_access access);

/* A site's number is its index in this list; 0 means none. All zero is an empty list. */
struct learn_site {
	uint64_t pc;
	enum learn_access access;
};

struct learn_sites {
	struct learn_site *items;
	size_t count, capacity;
	struct map at;
	uint32_t recent[1024];	/* cache, by hash of the pc */
};

uint32_t learn_sites_number(struct learn_sites *s, uint64_t pc, enum learn_access access);
void learn_sites_free(struct learn_sites *s);

struct learn_step {
	uint32_t thread;
	uint32_t op;		/* enum iroot_op */
	uint64_t addr, size;
	uint32_t site;		/* of accesses and of steps that take a mutex, else 0 */
	uint64_t at;		/* number of the event in the trace's order */
	uint64_t pc;		/* of the event; 0: not known */
};

/* A table with an item of `size` bytes for each cell (`granularity` bytes of memory) in use. */
struct cells {
	struct granules at;
	unsigned granularity;
	size_t size;
	uint8_t *items;
	size_t count, capacity;
};

#define LEARN_GRANULARITY 8u	/* bytes; the default of check and guard */

void cells_init(struct cells *c, unsigned granularity, size_t size);
/* `clear` frees what an item owns; may be NULL. */
void cells_free(struct cells *c, void (*clear)(void *item));

/* The item of a cell (address / granularity), all zero at first. Valid until the next call. */
void *cells_get(struct cells *c, uint64_t cell);

/* Clears the items of memory that was allocated or freed. */
void cells_forget(struct cells *c, uint64_t addr, uint64_t size, void (*clear)(void *item));

static inline uint64_t cells_first(const struct cells *c, uint64_t addr)
{
	return addr / c->granularity;
}

static inline uint64_t cells_last(const struct cells *c, uint64_t addr, uint64_t size)
{
	return (addr + (size ? size - 1 : 0)) / c->granularity;
}

/* A list of pairs of sites without duplicates, in the order of insertion. All zero is empty. */
struct learn_pair {
	uint32_t first, second;
};

struct learn_pairs {
	struct learn_pair *items;
	size_t count, capacity;
	struct map at;
};

void learn_pairs_add(struct learn_pairs *p, uint32_t first, uint32_t second);
int learn_pairs_have(const struct learn_pairs *p, uint32_t first, uint32_t second);
void learn_pairs_free(struct learn_pairs *p);

#endif
