/*
 * Reference of the predicted iRoots of a run (coverage/fold/iroot_fold.h, "Predicted"; section 4.2
 * of the Maple thesis).
 *
 * split() cuts each access into parts of 8 aligned bytes and notes for each part the vector clock,
 * the critical sections and the thread's next access to the same bytes. predicted() decides every
 * two parts by the definition. find_pairs() notes which accesses a thread made within the window.
 * slow_predict() then tries all combinations for the compound idioms.
 */
#ifndef REFERENCE_IROOTS_PREDICTED_H
#define REFERENCE_IROOTS_PREDICTED_H

#include "iroot_util.h"

#define PARTS 1000

/*
 * The part of an access that lies in one granule, or a lock operation, with what its thread knew
 * then.
 */
struct part {
	uint32_t thread, step;
	uint64_t place, index, first;	/* granule or lock; index in the thread; first byte */
	uint8_t mask;
	struct iroot_event event;
	uint32_t clock[8], own;
	/* of each lock: the number of the critical section, 0: not held */
	uint64_t held[2];
	int next;			/* the thread's next access to one of the bytes; -1: none */
};

static struct part parts[PARTS];
static bool edge[PARTS][PARTS];
static uint8_t pair[PARTS][PARTS];	/* bits: 1 next access, 2 same first byte, 4 another one */
static uint8_t over[PARTS][PARTS];	/* the locks held throughout in all instances of bit 4 */
static int count;

/* The access of an iRoot event that stands for the operation of a step. */
static unsigned access_kind(unsigned op)
{
	return op == IROOT_OP_READ ? IROOT_READ : op == IROOT_OP_WRITE ? IROOT_WRITE :
	       op == IROOT_OP_ACQUIRE ? IROOT_ACQUIRE : IROOT_RELEASE;
}

static void add_part(const struct iroot_step *s, uint64_t place, uint8_t mask, uint64_t index,
		     uint32_t (*clock)[8], uint64_t (*held)[2])
{
	struct part *x = &parts[count++];

	*x = (struct part){
		.thread = s->thread, .place = place, .mask = mask, .index = index, .next = -1
	};
	x->first = place * 8 + (unsigned)__builtin_ctz(mask);
	x->event = (struct iroot_event){ s->site, access_kind(s->op) };
	memcpy(x->clock, clock[s->thread], sizeof(x->clock));
	x->own = clock[s->thread][s->thread];
	for (int i = 0; i < 2; i++)
		x->held[i] = place == (LOCK + (uint64_t)i * 64) << 8 ? 0 : held[s->thread][i];
}

static void split(const struct iroot_step *steps, size_t n)
{
	uint32_t clock[8][8] = { { 0 } }, object[16][8] = { { 0 } };
	uint64_t held[8][2] = { { 0 } }, index[8] = { 0 }, section = 0;

	count = 0;
	for (int i = 0; i < 8; i++)
		clock[i][i] = 1;
	for (size_t k = 0; k < n; k++) {
		const struct iroot_step *s = &steps[k];
		uint32_t *mine = clock[s->thread], lock = (uint32_t)(s->addr - LOCK) / 64;

		switch (s->op) {
		case IROOT_OP_READ: case IROOT_OP_WRITE:
			index[s->thread]++;
			for (uint64_t g = s->addr / 8; g <= (s->addr + s->size - 1) / 8; g++) {
				uint8_t mask = 0;

				for (unsigned b = 0; b < 8; b++)
					if (g * 8 + b >= s->addr && g * 8 + b < s->addr + s->size)
						mask |= (uint8_t)(1u << b);
				add_part(s, g, mask, index[s->thread], clock, held);
			}
			break;
		case IROOT_OP_ACQUIRE:
			add_part(s, s->addr << 8, 1, ++index[s->thread], clock, held);
			held[s->thread][lock] = ++section;
			break;
		case IROOT_OP_RELEASE:
			held[s->thread][lock] = 0;
			add_part(s, s->addr << 8, 1, ++index[s->thread], clock, held);
			break;
		case IROOT_OP_SIGNAL:
			for (int i = 0; i < 8; i++)
				if (mine[i] > object[s->addr][i])
					object[s->addr][i] = mine[i];
			mine[s->thread]++;
			break;
		case IROOT_OP_CREATE:
			for (int i = 0; i < 8; i++)
				if (mine[i] > clock[s->addr][i])
					clock[s->addr][i] = mine[i];
			mine[s->thread]++;
			break;
		case IROOT_OP_WAIT:
			for (int i = 0; i < 8; i++)
				if (object[s->addr][i] > mine[i])
					mine[i] = object[s->addr][i];
			break;
		}
	}
	for (int i = 0; i < count; i++)
		for (int k = i + 1; k < count && parts[i].next < 0; k++)
			if (parts[k].thread == parts[i].thread &&
			    parts[k].place == parts[i].place && parts[k].mask & parts[i].mask)
				parts[i].next = k;
}

static bool comes_before(const struct part *a, const struct part *b)
{
	return b->clock[a->thread] >= a->own;
}

/* Can part i come right before part k in another schedule? */
static bool predicted(int i, int k)
{
	const struct part *a = &parts[i], *b = &parts[k];
	uint64_t x = a->event.access, y = b->event.access;
	bool is_lock = x >= IROOT_ACQUIRE;

	if (a->thread == b->thread || a->place != b->place || !(a->mask & b->mask) ||
	    (is_lock ? x != IROOT_RELEASE || y != IROOT_ACQUIRE
		     : x == IROOT_READ && y == IROOT_READ) ||
	    comes_before(b, a) || (a->next >= 0 && comes_before(&parts[a->next], b)))
		return false;
	for (int j = 0; j < count; j++)
		if (parts[j].next == k && comes_before(a, &parts[j]))
			return false;
	for (int lock = 0; lock < 2; lock++) {
		if (!a->held[lock] || !b->held[lock])
			continue;
		if (a->next >= 0 && parts[a->next].held[lock] == a->held[lock])
			return false;
		for (int j = 0; j < count; j++)
			if (parts[j].next == k && parts[j].held[lock] == b->held[lock])
				return false;
	}
	return true;
}

/* Pairs and dependencies do not distinguish these two. */
static bool same_node(int i, int k)
{
	return parts[i].thread == parts[k].thread && parts[i].place == parts[k].place &&
	       parts[i].first == parts[k].first &&
	       memcmp(&parts[i].event, &parts[k].event, sizeof(struct iroot_event)) == 0;
}

/* The first part that is not distinguished from part i. */
static int node(int i)
{
	for (int k = 0; k < i; k++)
		if (same_node(i, k))
			return k;
	return i;
}

static bool same_event(int i, int k)
{
	return parts[i].thread == parts[k].thread &&
	       memcmp(&parts[i].event, &parts[k].event, sizeof(struct iroot_event)) == 0;
}

/* Notes that the thread made the two accesses, if they are within the window. */
static void pair_up(int before, int i, uint32_t window)
{
	uint8_t kind = parts[before].first == parts[i].first ? 2 : 4, kept = 0;

	if (parts[before].index >= parts[i].index || parts[i].index - parts[before].index > window)
		return;
	for (int lock = 0; lock < 2; lock++)
		if (parts[i].held[lock] && parts[before].held[lock] == parts[i].held[lock])
			kept |= (uint8_t)(1 << lock);
	if (kind == 4)
		over[node(before)][node(i)] &= kept;
	pair[node(before)][node(i)] |= kind;
}

static void find_pairs(uint32_t window)
{
	for (int i = 0; i < count; i++) {
		if (parts[i].next >= 0 && parts[parts[i].next].index - parts[i].index <= window)
			pair[node(i)][node(parts[i].next)] |= 1;
		for (int k = i - 1; k >= 0; k--) {
			bool is_last = parts[k].thread == parts[i].thread;

			for (int j = k + 1; j < i; j++)
				is_last &= !same_event(j, k);
			if (!is_last)
				continue;
			pair_up(k, i, window);
			for (int j = k - 1; j >= 0; j--)
				if (same_event(j, k) && parts[j].first != parts[k].first) {
					pair_up(j, i, window);
					break;
				}
		}
	}
}

static void add_root(struct roots *out, uint64_t idiom, int a, int b, int c, int d)
{
	struct iroot root = { .idiom = idiom, .event = { parts[a].event, parts[b].event } };

	if (c >= 0)
		root.event[2] = parts[c].event;
	if (d >= 0)
		root.event[3] = parts[d].event;
	roots_add(out, &root);
}

/* Adds the compound iRoots of x, y of one thread and b, c of another. */
static void slow_join(struct roots *out, int x, int y, int b, int c)
{
	if (parts[b].thread != parts[c].thread)
		return;
	if (edge[x][b] && edge[c][y]) {
		if (pair[x][y] & 1 && b == c)
			add_root(out, 2, x, b, y, -1);
		if (pair[x][y] & 1 && pair[b][c] & 3)
			add_root(out, 3, x, b, c, y);
		if (pair[x][y] & 4 && pair[b][c] & 4 && !(over[x][y] & over[b][c]))
			add_root(out, 4, x, b, c, y);
		if (pair[x][y] & 4 && pair[c][b] & 4 && !(over[x][y] & over[c][b]))
			add_root(out, 5, x, b, c, y);
	}
	if (edge[x][b] && edge[y][c] && pair[x][y] & 4 && pair[b][c] & 4)
		add_root(out, 6, x, b, y, c);
}

static void slow_predict(const struct iroot_step *steps, size_t n, uint32_t window,
			 struct roots *out)
{
	split(steps, n);
	memset(edge, 0, sizeof(edge));
	memset(pair, 0, sizeof(pair));
	memset(over, 3, sizeof(over));
	for (int i = 0; i < count; i++)
		for (int k = 0; k < count; k++)
			if (predicted(i, k)) {
				edge[node(i)][node(k)] = true;
				add_root(out, 1, i, k, -1, -1);
			}
	find_pairs(window);
	for (int x = 0; x < count; x++)
		for (int y = 0; y < count; y++)
			for (int b = 0; pair[x][y] && b < count; b++)
				for (int c = 0; edge[x][b] && c < count; c++)
					slow_join(out, x, y, b, c);
}

#endif
