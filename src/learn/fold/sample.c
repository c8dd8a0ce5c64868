#include "learn/fold/sample.h"

#include <stdlib.h>

#include "base/hash.h"
#include "base/mem.h"

#define LINE_SHIFT 6		/* log2 of SAMPLE_LINE */
#define PAGE_SHIFT 12		/* 64 lines per page, one bit each */
#define FRESH_MOST (1ull << 30)	/* bytes; larger mappings are reserves, mostly never used */

struct page {
	uint64_t key;		/* number of the page, plus 1; 0: free */
	uint64_t decided, taken;
	/* by line: its index in sample.lines, plus 1; NULL: no line was taken */
	uint32_t *lines;
};

/* A line that is taken. Even phases are bursts, odd ones rests. */
struct line {
	uint64_t left;		/* accesses left in this phase */
	uint32_t phase;
};

enum answer { SKIP, TAKE, TAKE_AFTER_REST };

struct sample {
	uint64_t random;
	uint64_t taken;		/* number of accesses taken so far */
	struct page *pages;
	size_t page_count, slots;	/* slots: a power of two */
	struct page *last;	/* the page of the last question */
	struct line *lines;
	size_t count, capacity;
	uint64_t *firsts;	/* by site: number of lines that it touched first */
	size_t site_count;
};

struct sample *sample_new(uint64_t seed)
{
	struct sample *s = xcalloc(1, sizeof(*s));

	s->random = hash_spread(seed) | 1;
	s->slots = 1024;
	s->pages = xcalloc(s->slots, sizeof(*s->pages));
	return s;
}

void sample_free(struct sample *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->slots; i++)
		free(s->pages[i].lines);
	free(s->pages);
	free(s->lines);
	free(s->firsts);
	free(s);
}

static struct page *slot_of(const struct sample *s, uint64_t key)
{
	size_t at = hash_spread(key) >> 20 & (s->slots - 1);

	while (s->pages[at].key && s->pages[at].key != key)
		at = (at + 1) & (s->slots - 1);
	return &s->pages[at];
}

static void grow(struct sample *s)
{
	struct page *old = s->pages;
	size_t count = s->slots;

	s->slots *= 2;
	s->pages = xcalloc(s->slots, sizeof(*s->pages));
	for (size_t i = 0; i < count; i++)
		if (old[i].key)
			*slot_of(s, old[i].key) = old[i];
	free(old);
}

static struct page *page_at(struct sample *s, uint64_t number)
{
	if (s->last && s->last->key == number + 1)
		return s->last;
	if (2 * s->page_count >= s->slots)
		grow(s);
	s->last = slot_of(s, number + 1);
	if (!s->last->key) {
		s->last->key = number + 1;
		s->page_count++;
	}
	return s->last;
}

static uint64_t chance(struct sample *s)
{
	s->random ^= s->random << 13;
	s->random ^= s->random >> 7;
	s->random ^= s->random << 17;
	return s->random >> 11;
}

/*
 * Decides whether a line is taken. An access to a large range says little about its parts, so it
 * does not reject a line for other sites.
 */
static bool decide(struct sample *s, struct page *p, uint64_t bit, uint32_t site, bool large)
{
	s->firsts = xreach(s->firsts, site, &s->site_count, sizeof(*s->firsts));
	if (large && s->firsts[site] >= SAMPLE_SITE_LINES)
		return false;
	p->decided |= bit;
	s->firsts[site]++;
	if (s->firsts[site] > SAMPLE_SITE_LINES && chance(s) % s->firsts[site] >= SAMPLE_SITE_LINES)
		return false;
	p->taken |= bit;
	return true;
}

/* The length of a burst. Falls with the square of the accesses taken: a run may have many lines. */
static uint64_t burst_now(const struct sample *s)
{
	uint64_t over = s->taken / SAMPLE_ENOUGH + 1, burst = SAMPLE_BURST / over / over;

	return burst < SAMPLE_BURST_MIN ? SAMPLE_BURST_MIN : burst;
}

static enum answer burst(struct sample *s, struct page *p, uint64_t number)
{
	uint64_t most = burst_now(s);
	struct line *line;
	uint32_t *at;
	bool rests;

	if (!p->lines)
		p->lines = xcalloc(64, sizeof(*p->lines));
	at = &p->lines[number & 63];
	if (!*at) {
		s->lines = xgrow(s->lines, s->count, &s->capacity, sizeof(*s->lines));
		s->lines[s->count] = (struct line){ most, 0 };
		*at = (uint32_t)++s->count;
	}
	line = &s->lines[*at - 1];
	rests = line->phase % 2;
	if (!rests && line->left > most)
		line->left = most;
	if (line->left-- > 0) {
		s->taken += !rests;
		return rests ? SKIP : TAKE;
	}
	line->phase++;
	line->left = (rests ? most : most << (line->phase < 60 ? line->phase / 2 + 1 : 31)) - 1;
	s->taken += rests;
	return rests ? TAKE_AFTER_REST : SKIP;
}

static enum answer ask(struct sample *s, uint32_t site, uint64_t number, bool large)
{
	struct page *p = page_at(s, number >> (PAGE_SHIFT - LINE_SHIFT));
	uint64_t bit = 1ull << (number & 63);

	if (p->decided & bit ? !(p->taken & bit) : !decide(s, p, bit, site, large))
		return SKIP;
	return burst(s, p, number);
}

bool sample_next(struct sample *s, uint32_t site, uint64_t *addr, uint64_t end,
		 struct sample_part *part)
{
	bool large = end - *addr > SAMPLE_LINE;

	while (*addr < end) {
		uint64_t number = *addr >> LINE_SHIFT, next = (number + 1) << LINE_SHIFT;
		enum answer answer = ask(s, site, number, large);

		*part = (struct sample_part){ *addr, (next < end ? next : end) - *addr,
					      answer == TAKE_AFTER_REST };
		*addr += part->size;
		if (answer != SKIP)
			return true;
	}
	return false;
}

void sample_fresh(struct sample *s, uint64_t addr, uint64_t size)
{
	/* Only lines that lie entirely in this memory are decided again. */
	uint64_t first = (addr + SAMPLE_LINE - 1) >> LINE_SHIFT, last = (addr + size) >> LINE_SHIFT;

	if (size > FRESH_MOST)
		return;
	while (first < last) {
		uint64_t next = (first | 63) + 1, to = next < last ? next : last;
		struct page *p = slot_of(s, (first >> (PAGE_SHIFT - LINE_SHIFT)) + 1);
		uint64_t bits = (to - first == 64 ? ~0ull : (1ull << (to - first)) - 1)
				<< (first & 63);

		if (p->key) {
			p->decided &= ~bits;
			p->taken &= ~bits;
		}
		first = to;
	}
}
