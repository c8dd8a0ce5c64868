/*
 * Steps of threads for coverage/fold/iroot_fold.h, and what it says about them.
 */
#ifndef TESTS_IROOT_UTIL_H
#define TESTS_IROOT_UTIL_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "coverage/fold/iroot_fold.h"

#define MEMORY (16u << 20)
#define ROOTS 20000u

struct roots {
	struct iroot at[ROOTS];
	size_t count;
};

static int compare_roots(const void *a, const void *b)
{
	return memcmp(a, b, sizeof(struct iroot));
}

static bool roots_have(const struct roots *r, const struct iroot *root)
{
	for (size_t i = 0; i < r->count; i++)
		if (memcmp(&r->at[i], root, sizeof(*root)) == 0)
			return true;
	return false;
}

static inline void roots_add(struct roots *r, const struct iroot *root)
{
	struct iroot canonical = *root;

	/* The crossing of idiom 5 is the same from either side. */
	if (root->idiom == 5 &&
	    (root->event[0].site > root->event[2].site ||
	     (root->event[0].site == root->event[2].site &&
	      (root->event[0].access > root->event[2].access ||
	       (root->event[0].access == root->event[2].access &&
		(root->event[1].site > root->event[3].site ||
		 (root->event[1].site == root->event[3].site &&
		  root->event[1].access > root->event[3].access))))))) {
		canonical.event[0] = root->event[2], canonical.event[1] = root->event[3];
		canonical.event[2] = root->event[0], canonical.event[3] = root->event[1];
	}
	if (roots_have(r, &canonical))
		return;
	assert_true(r->count < ROOTS);
	r->at[r->count++] = canonical;
}

/* Those with the flag, sorted; to be freed. */
static inline struct roots *roots_of(const struct iroot_step *steps, size_t count, uint32_t window,
				     uint32_t flag)
{
	struct roots *out = calloc(1, sizeof(*out));
	void *memory = calloc(1, MEMORY);
	struct iroot_profile *p = iroot_profile_init(memory, MEMORY, window);
	struct iroot_profile_stats stats;
	uint32_t cursor = 0, flags;
	struct iroot root;

	assert_non_null(p);
	for (size_t i = 0; i < count; i++)
		iroot_profile_step(p, &steps[i]);
	iroot_profile_finish(p);
	iroot_profile_stats(p, &stats);
	assert_int_equal(stats.lost, 0);
	while ((flags = iroot_profile_next(p, &cursor, &root)))
		if (flags & flag)
			out->at[out->count++] = root;
	free(memory);
	qsort(out->at, out->count, sizeof(*out->at), compare_roots);
	return out;
}

static inline void roots_print(const struct roots *r)
{
	static const char access[] = "RWal";

	for (size_t i = 0; i < r->count; i++) {
		print_message("  %u:", (unsigned)r->at[i].idiom);
		for (unsigned e = 0; e < IROOT_EVENTS && (e < 2 || r->at[i].event[e].site); e++)
			print_message(" %llu%c", (unsigned long long)r->at[i].event[e].site,
				      access[r->at[i].event[e].access & 3]);
		print_message("\n");
	}
}

static inline void roots_expect_same(struct roots *got, struct roots *wanted)
{
	qsort(wanted->at, wanted->count, sizeof(*wanted->at), compare_roots);
	if (got->count != wanted->count ||
	    memcmp(got->at, wanted->at, got->count * sizeof(*got->at)) != 0) {
		for (size_t i = 0; i < got->count; i++)
			if (!roots_have(wanted, &got->at[i])) {
				struct roots one = { .count = 1 };

				one.at[0] = got->at[i];
				print_message("too much:");
				roots_print(&one);
			}
		for (size_t i = 0; i < wanted->count; i++)
			if (!roots_have(got, &wanted->at[i])) {
				struct roots one = { .count = 1 };

				one.at[0] = wanted->at[i];
				print_message("missing:");
				roots_print(&one);
			}
		fail();
	}
}

static inline uint32_t random_below(uint64_t *state, uint32_t n)
{
	*state = *state * 6364136223846793005ull + 1442695040888963407ull;
	return (uint32_t)((*state >> 33) % n);
}

#define DATA 0x1000u
#define LOCK 0x9000u

/* A thread takes a lock that no thread holds, and releases one that it holds. */
static inline bool random_lock(uint64_t *rng, struct iroot_step *s, uint32_t *owner)
{
	uint32_t lock = random_below(rng, 2);

	s->addr = LOCK + lock * 64;
	if (owner[lock] == s->thread) {
		owner[lock] = 0;
		s->op = IROOT_OP_RELEASE;
		s->site = 40 + random_below(rng, 2);
	} else if (owner[lock] == 0) {
		owner[lock] = s->thread;
		s->op = IROOT_OP_ACQUIRE;
		s->site = 30 + random_below(rng, 2);
	} else {
		return false;
	}
	return true;
}

/*
 * Some 70 % accesses. `starts`: how many places of 4 bytes; `fresh`: memory begins anew at times.
 */
static inline size_t random_steps(uint64_t *rng, struct iroot_step *out, size_t most,
				  uint32_t threads, uint32_t starts, bool fresh)
{
	static const uint64_t sizes[] = { 4, 4, 4, 8, 2, 1, 16 };
	uint32_t owner[2] = { 0, 0 };
	size_t n = 0;

	while (n < most) {
		struct iroot_step s = { .thread = 1 + random_below(rng, threads) };
		uint32_t what = random_below(rng, 100);

		if (what < 70) {
			s.op = random_below(rng, 2) ? IROOT_OP_WRITE : IROOT_OP_READ;
			s.addr = DATA + 4 * random_below(rng, starts);
			s.size = sizes[random_below(rng, fresh ? 7 : 4)];
			s.site = (s.op == IROOT_OP_WRITE ? 20 : 10) + random_below(rng, 3);
		} else if (what < 90) {
			if (!random_lock(rng, &s, owner))
				continue;
		} else if (what < 98 || !fresh) {
			s.op = random_below(rng, 2) ? IROOT_OP_SIGNAL : IROOT_OP_WAIT;
			s.addr = 7 + random_below(rng, 2);
		} else {
			s.op = IROOT_OP_FRESH;
			s.addr = DATA + 8 * random_below(rng, 2);
			s.size = 8;
		}
		out[n++] = s;
	}
	return n;
}

#endif
