#include "learn/fold/lifetx_members.h"

#include <stdlib.h>

#include "base/mem.h"

static void note_order(const struct tx_members *m, struct tx_orders *orders,
		       const struct tx_member *p, uint32_t site)
{
	learn_pairs_add(&orders->all, p->site, site);
	if (p->released)
		learn_pairs_add(&orders->released, p->site, site);
	for (size_t i = 0; i < m->hold_count; i++)
		if (m->holds[i].since > p->first) {
			learn_pairs_add(&orders->acquired, p->site, site);
			break;
		}
}

/* While the held locks do not change, each order is noted once: see tx_member.after. */
void tx_members_add(struct tx_members *m, struct tx_orders *orders, uint32_t site, uint64_t now)
{
	size_t all = m->count, i = 0;

	while (i < all && m->items[i].site != site)
		i++;
	if (i == all) {
		m->items = xgrow(m->items, m->count, &m->capacity, sizeof(*m->items));
		m->items[m->count++] = (struct tx_member){ .site = site, .first = now };
	}
	for (size_t from = m->items[i].after; from < all; from++)
		note_order(m, orders, &m->items[from], site);
	m->items[i].after = all;
	m->items[i].last = now;
}

/* The held locks changed: each order has to be noted again. */
static void note_all_again(struct tx_members *m)
{
	for (size_t i = 0; i < m->count; i++)
		m->items[i].after = 0;
}

void tx_members_clear(struct tx_members *m)
{
	m->count = 0;
	m->start_count = 0;
}

bool tx_members_starts_iteration(const struct tx_members *m, uint64_t lock, uint64_t path)
{
	for (size_t i = 0; i < m->start_count; i++)
		if (m->starts[i] == path)
			return !m->hold_count && lock != m->waited.lock;
	return false;
}

void tx_members_acquire(struct tx_members *m, uint64_t lock, uint64_t path, uint64_t now)
{
	/* After a condition wait the thread is in the iteration that it began before. */
	if (lock == m->waited.lock) {
		path = m->waited.path;
		m->waited.lock = 0;
	}
	if (!m->hold_count) {
		m->starts =
			xgrow(m->starts, m->start_count, &m->start_capacity, sizeof(*m->starts));
		m->starts[m->start_count++] = path;
	}
	m->holds = xgrow(m->holds, m->hold_count, &m->hold_capacity, sizeof(*m->holds));
	m->holds[m->hold_count++] = (struct tx_hold){ lock, now, path };
	note_all_again(m);
}

void tx_members_release(struct tx_members *m, uint64_t lock, bool to_wait)
{
	for (size_t i = m->hold_count; i > 0; i--)
		if (m->holds[i - 1].lock == lock) {
			for (size_t n = 0; n < m->count; n++)
				m->items[n].released |= m->items[n].last > m->holds[i - 1].since;
			if (to_wait)
				m->waited = m->holds[i - 1];
			m->holds[i - 1] = m->holds[--m->hold_count];
			note_all_again(m);
			return;
		}
}

void tx_members_free(struct tx_members *m)
{
	free(m->items);
	free(m->holds);
	free(m->starts);
}

void tx_orders_free(struct tx_orders *o)
{
	learn_pairs_free(&o->all);
	learn_pairs_free(&o->released);
	learn_pairs_free(&o->acquired);
}
