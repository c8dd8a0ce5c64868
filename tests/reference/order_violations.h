/*
 * Reference of the order violations before-init and use-free (analyze/order/order_violation.c), for
 * one short run of reads, writes and semaphores that ends with a free.
 *
 * slow_byte() follows one byte: which thread alone used it, its first and its latest write by then,
 * and the first access of each other thread. slow_free() takes the last read and the last write of
 * each thread to one byte. A pair is wanted if happens-before does not order it and if the later
 * thread has not seen the earlier one's write by reading a flag (has_seen()). The caller fills
 * `before` with the transitive closure of program order and of the order from each post to its
 * wait.
 */
#ifndef REFERENCE_ORDER_VIOLATIONS_H
#define REFERENCE_ORDER_VIOLATIONS_H

#include <stdbool.h>
#include <stddef.h>

#define THREADS 4u	/* the first only creates */
#define STEPS 40u
#define BYTES 24u

struct step {
	unsigned thread, from, size, index;
	enum { READ, WRITE, POST, WAIT, FREE } what;
};

struct run {
	struct step step[STEPS];
	size_t count;
	bool before[STEPS][STEPS];
	bool wanted[STEPS][STEPS];	/* [a][b]: a run with step a before step b is a violation */
	unsigned pairs;
};

/* Does step i access the byte? */
static bool touches(const struct run *r, size_t i, unsigned byte)
{
	return r->step[i].what <= WRITE && byte - r->step[i].from < r->step[i].size;
}

/*
 * Has the thread of step `at` read by then a flag that the thread of step `w` set in step `w` or
 * later?
 */
static bool has_seen(const struct run *r, size_t at, size_t w)
{
	for (size_t i = 0; i < at; i++) {
		if (r->step[i].thread != r->step[at].thread || r->step[i].what != READ)
			continue;
		for (unsigned byte = 0; byte < BYTES + 8; byte++) {
			size_t last = STEPS;
			bool blind = true;

			for (size_t k = 0; k < i && touches(r, i, byte); k++)
				if (touches(r, k, byte) && r->step[k].what == WRITE)
					last = k;
			if (last == STEPS || r->step[last].thread != r->step[w].thread || last < w)
				continue;
			for (size_t k = 0; k < last; k++)
				blind &= !(touches(r, k, byte) && r->step[k].what == READ &&
					   r->step[k].thread == r->step[last].thread);
			if (blind)
				return true;
		}
	}
	return false;
}

/* Notes the pair once; returns true. */
static bool want(struct run *r, size_t early, size_t late)
{
	r->pairs += !r->wanted[early][late];
	r->wanted[early][late] = true;
	return true;
}

/* Notes the pair if the use could come before the write. */
static bool init_pair(struct run *r, size_t init, size_t use)
{
	return !r->before[init][use] && !has_seen(r, use, init) && want(r, use, init);
}

/* Counts the posts of the thread so far: of its writes between two posts the first one counts. */
static unsigned releases(const struct run *r, size_t at)
{
	unsigned n = 0;

	for (size_t i = 0; i < at; i++)
		n += r->step[i].what == POST && r->step[i].thread == r->step[at].thread;
	return n;
}

static void slow_byte(struct run *r, unsigned byte)
{
	/* steps; `owner`: the last one of the owner */
	size_t owner = STEPS, first = STEPS, latest = STEPS;
	bool shared = false, met[THREADS] = { false };

	for (size_t i = 0; i < r->count; i++) {
		bool write = r->step[i].what == WRITE;

		if (!touches(r, i, byte))
			continue;
		if (owner == STEPS || (!shared && r->step[owner].thread != r->step[i].thread &&
				       r->before[owner][i])) {
			owner = i;
			first = latest = write ? i : STEPS;
		} else if (!shared && r->step[owner].thread == r->step[i].thread && write &&
			   first != STEPS && releases(r, latest) != releases(r, i)) {
			latest = i;
		}
		if (r->step[owner].thread == r->step[i].thread) {
			owner = shared ? owner : i;
			continue;
		}
		shared = true;
		if (first == STEPS || met[r->step[i].thread])
			continue;
		met[r->step[i].thread] = true;
		if (!init_pair(r, first, i) && latest != first)
			init_pair(r, latest, i);
	}
}

static void slow_free(struct run *r, unsigned byte)
{
	size_t end = r->count - 1;

	for (unsigned t = 1; t < THREADS; t++)
		for (int what = READ; what <= WRITE; what++) {
			size_t last = STEPS;

			for (size_t i = 0; i < end; i++)
				if (touches(r, i, byte) && r->step[i].thread == t &&
				    (int)r->step[i].what == what)
					last = i;
			if (last != STEPS && t != r->step[end].thread && !r->before[last][end] &&
			    !has_seen(r, end, last))
				want(r, end, last);
		}
}

#endif
