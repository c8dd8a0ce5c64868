/*
 * The role of locks in a bug: which lock is missing, or why the locks that are held do not help.
 */
#include <string.h>

#include "base/mem.h"
#include "report/describe.h"

#define CAUSE_MOST 16u

/* The cause of a bug, and where its description goes. */
struct cause {
	const struct report_bug *bug;
	const struct report_step *at[CAUSE_MOST];	/* in the order of the run */
	size_t count;
	struct buf *out;
};

static void open_cause(struct cause *c, const struct report_bug *b, struct buf *out)
{
	*c = (struct cause){ .bug = b, .out = out };
	for (size_t i = 0; i < b->step_count && c->count < CAUSE_MOST; i++)
		if (b->steps[i].rank)
			c->at[c->count++] = &b->steps[i];
}

static bool same_object(const struct report_step *a, const struct report_step *b)
{
	return a->object && b->object && strcmp(a->object, b->object) == 0;
}

/*
 * Sets *lock to the next name in *list ("a, b") and advances *list. Returns its length, 0 at the
 * end.
 */
static size_t next_lock(const char **list, const char **lock)
{
	size_t size;

	if (!*list)
		return 0;
	*lock = *list;
	size = strcspn(*list, ",");
	*list += size + strspn(*list + size, ", ");
	return size;
}

static bool holds(const struct report_step *s, const char *lock, size_t size)
{
	const char *list = s->locks, *other;
	size_t length;

	while ((length = next_lock(&list, &other)))
		if (length == size && memcmp(lock, other, size) == 0)
			return true;
	return false;
}

static bool in_common(const struct report_step *a, const struct report_step *b)
{
	const char *list = a->locks, *lock;
	size_t size;

	while ((size = next_lock(&list, &lock)))
		if (holds(b, lock, size))
			return true;
	return false;
}

static void add_place(struct cause *c, const struct report_step *s)
{
	size_t before = c->out->size;

	describe_place(&s->at, c->out);
	if (c->out->size == before)
		buf_addf(c->out, "step %u", s->number);
}

/* "bank.c:22 and bank.c:30", or "steps 1 and 3" if both are on one line. */
static void add_places(struct cause *c, const struct report_step *a, const struct report_step *b)
{
	if (a->at.line == b->at.line && a->at.file && b->at.file &&
	    strcmp(a->at.file, b->at.file) == 0) {
		buf_addf(c->out, "steps %u and %u", a->number, b->number);
		return;
	}
	add_place(c, a);
	buf_add_text(c->out, " and ");
	add_place(c, b);
}

static void add_holding(struct cause *c, const struct report_step *s)
{
	buf_addf(c->out, "thread %s holds %s at ", c->bug->threads[s->thread].name,
		 s->locks ? s->locks : "none");
	add_place(c, s);
}

/* "No lock in common: thread 0.1 holds log_lock at log.c:39, thread 0.2 holds none at log.c:48." */
static void describe_unlocked_pair(struct cause *c, const struct report_step *a,
				   const struct report_step *b)
{
	buf_add_text(c->out, "No lock in common: ");
	if (!a->locks && !b->locks) {
		buf_add_text(c->out, "no lock is held at ");
		add_place(c, a);
		buf_add_text(c->out, " or at ");
		add_place(c, b);
	} else {
		add_holding(c, a);
		buf_add_text(c->out, ", ");
		add_holding(c, b);
	}
	buf_add_char(c->out, '.');
}

/*
 * Describes the first two steps of different threads that share no lock, if `one_object` only steps
 * on the same object. Returns false if there are none.
 */
static bool describe_missing_lock(struct cause *c, bool one_object)
{
	for (size_t i = 0; i < c->count; i++)
		for (size_t k = i + 1; k < c->count; k++) {
			const struct report_step *a = c->at[i], *b = c->at[k];

			if (a->thread == b->thread || (one_object && !same_object(a, b)) ||
			    in_common(a, b))
				continue;
			describe_unlocked_pair(c, a, b);
			return true;
		}
	return false;
}

/* Did another thread hold the lock between two steps of one thread? Then it was released there. */
static bool came_between(const struct cause *c, size_t from, size_t to, const char *lock,
			 size_t size)
{
	for (size_t i = from + 1; i < to; i++)
		if (c->at[i]->thread != c->at[from]->thread && holds(c->at[i], lock, size))
			return true;
	return false;
}

/* Describes a lock that a thread holds at two steps, but not all the time between them. */
static bool describe_two_sections(struct cause *c)
{
	for (size_t i = 0; i < c->count; i++)
		for (size_t k = i + 2; k < c->count; k++) {
			const struct report_step *a = c->at[i], *b = c->at[k];
			const char *list = a->locks, *lock;
			size_t size;

			while (a->thread == b->thread && (size = next_lock(&list, &lock))) {
				if (!holds(b, lock, size) || !came_between(c, i, k, lock, size))
					continue;
				buf_addf(c->out,
					 "Every access holds %.*s, but thread %s releases it "
					 "between ",
					 (int)size, lock, c->bug->threads[a->thread].name);
				add_places(c, a, b);
				buf_add_text(c->out,
					     ": two critical sections where one is needed.");
				return true;
			}
		}
	return false;
}

/* "length is protected by length_lock, text by text_lock, but no lock protects both." */
static void describe_two_locks(struct cause *c)
{
	const struct report_step *first = c->count ? c->at[0] : NULL;

	for (size_t i = 1; i < c->count; i++) {
		const struct report_step *s = c->at[i];

		if (same_object(first, s) || !first->object || !s->object || !first->locks ||
		    !s->locks)
			continue;
		describe_object(first->object, c->out);
		buf_addf(c->out, " is protected by %s, ", first->locks);
		describe_object(s->object, c->out);
		buf_addf(c->out, " by %s, but no lock protects both.", s->locks);
		return;
	}
}

/* "Lock order: thread 0.1 takes left, then right; thread 0.2 takes right, then left." */
static void describe_lock_order(struct cause *c)
{
	const char *between = "Lock order: ";

	for (size_t t = 0; t < c->bug->thread_count; t++) {
		bool first = true;

		for (size_t i = 0; i < c->count; i++) {
			if (c->at[i]->thread != t || !c->at[i]->object)
				continue;
			if (first)
				buf_addf(c->out, "%sthread %s takes ", between,
					 c->bug->threads[t].name);
			else
				buf_add_text(c->out, ", then ");
			describe_object(c->at[i]->object, c->out);
			first = false;
			between = "; ";
		}
	}
	if (*between == ';')
		buf_add_char(c->out, '.');
}

void describe_locks(const struct report_bug *b, struct buf *out)
{
	const struct pattern_row *p = describe_pattern(b);
	struct cause c;

	open_cause(&c, b, out);
	if (p->outcome) {
		buf_add_text(out, p->outcome);
	} else if (pattern_find(b->pattern) == PATTERN_LOCK_CYCLE) {
		describe_lock_order(&c);
	} else if (p->two) {
		if (!describe_missing_lock(&c, true) && !describe_two_sections(&c))
			describe_two_locks(&c);
	} else if (*p->name && (p->class == CANDIDATE_RACE || p->class == CANDIDATE_ATOMICITY)) {
		if (!describe_missing_lock(&c, false))
			describe_two_sections(&c);
	}
}
