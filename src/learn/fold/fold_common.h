/*
 * What the folds of this folder have in common: places of one run, its steps, and memory cut
 * into cells.
 */
#ifndef LEARN_FOLD_FOLD_COMMON_H
#define LEARN_FOLD_FOLD_COMMON_H

#include <stddef.h>
#include <stdint.h>

#include "analyze/context/granules.h"
#include "base/map.h"
#include "coverage/fold/iroot_fold.h"

/* LEARN_LOCK takes a mutex, LEARN_CANCEL cancels a thread. */
enum learn_access { LEARN_READ, LEARN_WRITE, LEARN_FUNCTION, LEARN_LOCK, LEARN_CANCEL };

/* "read", "write", "function", "lock", "cancel" */
const char *learn_access_name(enum learn_access access);

/* Numbers of sites are places in this list; 0 is none. All zero is empty. */
struct learn_site {
	uint64_t pc;
	enum learn_access access;
};

struct learn_sites {
	struct learn_site *items;
	size_t count, capacity;
	struct map at;
	uint32_t recent[1024];	/* by hash of the pc: where to look first */
};

uint32_t learn_sites_number(struct learn_sites *s, uint64_t pc, enum learn_access access);
void learn_sites_free(struct learn_sites *s);

struct learn_step {
	uint32_t thread;
	uint32_t op;		/* enum iroot_op */
	uint64_t addr, size;
	uint32_t site;		/* of accesses and of what takes a mutex, else 0 */
	uint64_t at;		/* place in the order of all: ascending */
	uint64_t pc;		/* of the event; 0: unknown */
};

/* An item of `size` bytes for each `granularity` bytes of memory that were ever asked for. */
struct cells {
	struct granules at;
	unsigned granularity;
	size_t size;
	uint8_t *items;
	size_t count, capacity;
};

#define LEARN_GRANULARITY 8u	/* as the runtime watches */

void cells_init(struct cells *c, unsigned granularity, size_t size);
/* `clear`: frees what an item owns; may be NULL. */
void cells_free(struct cells *c, void (*clear)(void *item));

/* Zero at first. Good until the next call. `cell`: an address / granularity. */
void *cells_get(struct cells *c, uint64_t cell);

/* Memory begins anew: its items are cleared, then zero. */
void cells_forget(struct cells *c, uint64_t addr, uint64_t size, void (*clear)(void *item));

static inline uint64_t cells_first(const struct cells *c, uint64_t addr)
{
	return addr / c->granularity;
}

static inline uint64_t cells_last(const struct cells *c, uint64_t addr, uint64_t size)
{
	return (addr + (size ? size - 1 : 0)) / c->granularity;
}

/* Pairs of sites, each once, in the order in which they were added. All zero is empty. */
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
