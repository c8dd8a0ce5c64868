#include "runtime/watch_cell.h"

#include "runtime/arena.h"
#include "runtime/sys.h"

#define CELLS (1u << 16)
#define SPINS 200

static struct cell *cells;

bool cells_init(void)
{
	cells = arena_pages(CELLS * sizeof(*cells));
	return cells != NULL;
}

static inline struct cell *cell_of(uint64_t tag)
{
	return &cells[tag * 0x9e3779b97f4a7c15ull >> 48];
}

static bool try_lock(struct cell *c)
{
	uint32_t free = 0;

	return __atomic_load_n(&c->lock, __ATOMIC_RELAXED) == 0 &&
	       __atomic_compare_exchange_n(&c->lock, &free, 1, false, __ATOMIC_ACQUIRE,
					   __ATOMIC_RELAXED);
}

static void clear(struct cell *c, uint64_t tag)
{
	c->tag = tag;
	c->count = 0;
	c->touched = c->wrote = 0;
	sys_clear(&c->own, sizeof(c->own));
	cell_moved(c);
}

/* Whoever holds it may have been interrupted for long: do not wait for that. */
struct cell *cell_lock(uint64_t tag)
{
	struct cell *c = cell_of(tag);

	for (int i = 0; !try_lock(c); i++) {
		if (i == SPINS) {
			watch_count(&watch.log->lost_busy, 1);
			return NULL;
		}
		sys_pause();
	}
	if (c->tag != tag) {
		if (c->tag)
			watch_count(&watch.log->lost_cells, 1);
		clear(c, tag);
	}
	return c;
}

struct cell *cell_peek(uint64_t tag)
{
	static struct cell empty;
	struct cell *c = cell_of(tag);

	if (__atomic_load_n(&c->lock, __ATOMIC_RELAXED))
		return NULL;
	return __atomic_load_n(&c->tag, __ATOMIC_RELAXED) == tag ? c : &empty;
}

void cell_forget(uint64_t tag)
{
	struct cell *c = cell_of(tag);

	if (__atomic_load_n(&c->tag, __ATOMIC_RELAXED) != tag || !try_lock(c))
		return;
	if (c->tag == tag)
		clear(c, 0);
	cell_unlock(c);
}

/* Some may be locked by threads that are not here any more. */
void cells_forked(void)
{
	struct cell *fresh = arena_pages(CELLS * sizeof(*cells));

	if (fresh)
		cells = fresh;
	else
		watch.log->off = 1;
}
