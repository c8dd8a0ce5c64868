#include "learn/compile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "abi/rules_format.h"
#include "base/mem.h"
#include "learn/fold/lifetx.h"
#include "learn/unfinished_pairs.h"
#include "learn/guard_set.h"
#include "trace/codec/codec.h"

/*
 * Marks the sites that check has to watch: those whose invariant another thread could break, those
 * that may come between, and all others that access the same variables. If check missed one of
 * these, two accesses would look like accesses in a row. Sites of a local pair access the same
 * variable.
 */
static void mark_checked(const struct known *k, uint64_t threshold, uint32_t *marks)
{
	bool more = true;

	for (size_t i = 0; i < k->local_count; i++) {
		const struct learnt_local *l = &k->locals[i];

		if (l->breakable && learnt_often(k, l) && known_holds(&k->sites[l->i], threshold))
			marks[l->i] |= RULES_BREAKABLE | RULES_CHECK;
	}
	for (size_t i = 0; i < k->between_count; i++)
		if (marks[k->between[i].second] & RULES_BREAKABLE)
			marks[k->between[i].first] |= RULES_CHECK;
	while (more) {
		more = false;
		for (size_t i = 0; i < k->local_count; i++) {
			uint32_t *p = &marks[k->locals[i].p], *next = &marks[k->locals[i].i];

			if ((*p ^ *next) & RULES_CHECK) {
				*p |= RULES_CHECK;
				*next |= RULES_CHECK;
				more = true;
			}
		}
	}
}

static bool is_missing(const struct known_pair *p)
{
	return p->expected && !p->seen;
}

struct marking {
	uint32_t *marks;
	uint8_t *begin;
};

static void mark_begin(void *ctx, uint32_t p, uint32_t r)
{
	struct marking *m = ctx;

	m->begin[p] = 1;
	m->marks[p] |= RULES_SOURCE;
	m->marks[r] |= RULES_OPEN;
}

static void mark_end(void *ctx, uint32_t p, uint32_t i)
{
	struct marking *m = ctx;

	if (m->begin[p])
		m->marks[i] |= RULES_SOURCE;
}

/* Marks both sites of unfinished pairs: a thread that waits for the second must see it happen. */
static void mark_unfinished(const struct known *k, uint32_t *marks)
{
	struct marking m = { marks, xcalloc(k->count + 1, 1) };

	unfinished_pairs_each(k, mark_begin, &m);
	unfinished_pairs_ends(k, mark_end, &m);
	free(m.begin);
}

static bool is_late(const struct known_pair *p)
{
	return p->first == p->second && (p->how & (STORE_AFTER | STORE_FIRST)) == STORE_AFTER;
}

/*
 * Marks sites that were never first (RULES_LATE), and sites that may come before them, which guard
 * must see. Accesses that a lock protects are left out: the delayed thread would hold the lock that
 * the other threads need. There the site that takes the lock may be late instead.
 */
static void mark_late(const struct known *k, uint32_t *marks)
{
	uint8_t *races = xcalloc(k->count + 1, 1);

	for (size_t i = 0; i < k->pair_count; i++)
		races[k->pairs[i].second] |= (k->pairs[i].how & STORE_RACE) != 0;
	for (size_t i = 0; i < k->pair_count; i++) {
		uint32_t site = k->pairs[i].first;

		if (is_late(&k->pairs[i]) && (races[site] || k->sites[site].access > LEARN_WRITE))
			marks[site] |= RULES_LATE;
	}
	free(races);
	for (size_t i = 0; i < k->pair_count; i++) {
		const struct known_pair *p = &k->pairs[i];
		bool lock = k->sites[p->first].access == LEARN_LOCK;

		if ((p->how & STORE_CONFLICT || lock) && marks[p->second] & RULES_LATE)
			marks[p->first] |= RULES_SOURCE;
	}
}

uint32_t *compile_marks(const struct known *k, uint64_t threshold)
{
	uint32_t *marks = xcalloc(k->count + 1, sizeof(*marks));

	for (size_t i = 0; i < k->pair_count; i++)
		if (is_missing(&k->pairs[i]) && k->sites[k->pairs[i].second].access != LEARN_LOCK) {
			marks[k->pairs[i].second] |= RULES_OPEN;
			marks[k->pairs[i].first] |= RULES_SOURCE;
		}
	mark_unfinished(k, marks);
	for (size_t i = 0; i < k->lock_count; i++)
		if (k->locks[i].how & STORE_CYCLE)
			/* guard must see which thread holds one of these locks */
			marks[k->locks[i].first] |= RULES_SOURCE;
	mark_late(k, marks);
	guard_set_mark(k, marks, NULL);
	mark_checked(k, threshold, marks);
	return marks;
}

/* The contents of the rules file under construction. Site 0 is empty. */
struct rules {
	const struct known *k;
	uint64_t threshold;
	uint32_t *marks;
	struct guard_set_gate *gates;	/* by site of `k` */
	bool any_tx;
	struct rules_module *modules;
	size_t module_count, module_capacity;
	struct rules_site *sites;
	size_t site_count, site_capacity;
	struct rules_function *functions;
	size_t function_count, function_capacity;
	/* (index in k->sites, number in the file), ascending. */
	struct link {
		uint32_t site, number;
	} *links;
	size_t link_count, link_capacity;
	uint32_t *numbers;
	size_t number_count, number_capacity;
};

static void add_module(struct rules *r, const char *build)
{
	struct rules_module m = { .first_site = (uint32_t)r->site_count,
				  .first_function = (uint32_t)r->function_count };
	unsigned byte;

	for (; m.id_size < RULES_ID_MAX && sscanf(build, "%2x", &byte) == 1; build += 2)
		m.id[m.id_size++] = (uint8_t)byte;
	r->modules = xgrow(r->modules, r->module_count, &r->module_capacity, sizeof(*r->modules));
	r->modules[r->module_count++] = m;
}

static uint32_t flags_of(const struct rules *r, uint32_t site)
{
	const struct known_site *s = &r->k->sites[site];
	const struct guard_set_gate *gate = &r->gates[site];
	uint32_t flags = RULES_PSET | r->marks[site];

	flags |= known_holds(s, r->threshold) ? RULES_INVARIANT : 0;
	flags |= s->access == LEARN_LOCK     ? RULES_LOCK
		 : s->access == LEARN_CANCEL ? RULES_CANCEL
					     : 0;
	flags |= r->any_tx && (gate->cut || (s->cuts & LIFETX_BEFORE && !gate->no_cut)) ? RULES_CUT
											: 0;
	flags |= (uint32_t)gate->number << RULES_GATE_SHIFT;
	return flags | (s->access != LEARN_READ ? RULES_WRITE : 0);
}

/* A call such as memcpy reads and writes: two sites at one offset; the reading one comes first. */
static void add_site(struct rules *r, const struct learnt_address *p)
{
	uint32_t module = (uint32_t)r->module_count - 1;

	r->sites = xgrow(r->sites, r->site_count, &r->site_capacity, sizeof(*r->sites));
	r->sites[r->site_count] = (struct rules_site){ .offset = p->offset, .module = module,
						       .flags = flags_of(r, p->site) };
	r->modules[module].sites++;
	r->links = xgrow(r->links, r->link_count, &r->link_capacity, sizeof(*r->links));
	r->links[r->link_count++] = (struct link){ p->site, (uint32_t)r->site_count++ };
}

static void add_function(struct rules *r, const struct learnt_address *p)
{
	unsigned cuts = r->k->sites[p->site].cuts;
	uint32_t flags = r->marks[p->site] & RULES_HOLDS_TX;

	flags |= cuts & LIFETX_ENTRY ? RULES_CUT_ENTRY : 0;
	flags |= cuts & LIFETX_EXIT ? RULES_CUT_EXIT : 0;
	if (!flags || !r->any_tx)
		return;
	r->functions = xgrow(r->functions, r->function_count, &r->function_capacity,
			     sizeof(*r->functions));
	r->functions[r->function_count++] = (struct rules_function){
		.offset = p->offset, .module = (uint32_t)r->module_count - 1, .flags = flags };
	r->modules[r->module_count - 1].functions++;
}

static int by_site(const void *a, const void *b)
{
	const struct link *x = a, *y = b;

	if (x->site != y->site)
		return x->site < y->site ? -1 : 1;
	return x->number < y->number ? -1 : x->number > y->number;
}

/* The links of a site of `k`, and in *count their number. */
static const struct link *links_of(const struct rules *r, uint32_t site, size_t *count)
{
	size_t low = 0, high = r->link_count;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (r->links[middle].site < site)
			low = middle + 1;
		else
			high = middle;
	}
	for (*count = 0; low + *count < r->link_count && r->links[low + *count].site == site;)
		++*count;
	return r->links + low;
}

static void add_number(struct rules *r, uint32_t number)
{
	r->numbers = xgrow(r->numbers, r->number_count, &r->number_capacity, sizeof(*r->numbers));
	r->numbers[r->number_count++] = number;
}

/* An entry P of the predecessor list of M, as numbers in the file. */
struct predecessor {
	uint32_t m, p;
};

static int by_m(const void *a, const void *b)
{
	const struct predecessor *x = a, *y = b;

	if (x->m != y->m)
		return x->m < y->m ? -1 : 1;
	return x->p < y->p ? -1 : x->p > y->p;
}

/* All predecessor lists under construction. */
struct sets {
	const struct rules *r;
	struct predecessor *all;
	size_t count, capacity;
};

static void add_predecessors(struct sets *s, uint32_t first, uint32_t second, uint32_t flag)
{
	size_t ps, ms;
	const struct link *p = links_of(s->r, first, &ps), *m = links_of(s->r, second, &ms);

	for (size_t j = 0; j < ms; j++)
		for (size_t n = 0; n < ps; n++) {
			s->all = xgrow(s->all, s->count, &s->capacity, sizeof(*s->all));
			s->all[s->count++] =
				(struct predecessor){ m[j].number, p[n].number | flag };
		}
}

static void add_unfinished(void *ctx, uint32_t p, uint32_t r)
{
	add_predecessors(ctx, p, r, RULES_UNFINISHED);
}

static void add_sets(struct rules *r)
{
	struct sets s = { .r = r };
	struct predecessor *all;
	size_t count;

	for (size_t i = 0; i < r->k->pair_count; i++)
		if (r->k->pairs[i].seen)
			add_predecessors(&s, r->k->pairs[i].first, r->k->pairs[i].second, 0);
	unfinished_pairs_each(r->k, add_unfinished, &s);
	for (size_t i = 0; i < r->k->local_count; i++)
		if (learnt_often(r->k, &r->k->locals[i]))
			add_predecessors(&s, r->k->locals[i].p, r->k->locals[i].i, RULES_OWN);
	all = s.all;
	count = s.count;
	if (count > 1)
		qsort(all, count, sizeof(*all), by_m);
	for (size_t i = 0; i < count; i++) {
		struct rules_site *m = &r->sites[all[i].m];

		if (i > 0 && all[i].m == all[i - 1].m && all[i].p == all[i - 1].p)
			continue;
		if (!m->before_count)
			m->before = (uint32_t)r->number_count;
		m->before_count++;
		add_number(r, all[i].p);
		/* To judge an access of M, guard must have seen its predecessor. */
		if (m->flags & RULES_OPEN && !(all[i].p & RULES_OWN))
			r->sites[all[i].p & ~RULES_UNFINISHED].flags |= RULES_SOURCE;
	}
	free(all);
}

/*
 * Sets rules_site.after: the site that check --all assumes for the thread's previous access if it
 * skipped that access. Writes also have local pairs with the thread's last write
 * (breakable_pairs.c), so a site that reads is preferred: it was the direct predecessor.
 */
static void add_after(struct rules *r)
{
	const struct known *k = r->k;
	/* by site i: index of its usual local pair, plus 1; 0: none */
	uint32_t *usual = xcalloc(k->count + 1, sizeof(*usual));

	for (uint32_t n = 0; n < k->local_count; n++) {
		const struct learnt_local *new = &k->locals[n];
		const struct learnt_local *old =
			usual[new->i] ? &k->locals[usual[new->i] - 1] : NULL;

		bool old_reads = old && k->sites[old->p].access == LEARN_READ;
		bool new_reads = k->sites[new->p].access == LEARN_READ;

		if (!old || (old_reads == new_reads ? old->runs < new->runs : new_reads))
			usual[new->i] = n + 1;
	}
	for (size_t i = 0; i < r->link_count; i++) {
		uint32_t at = r->links[i].site;
		size_t count = 0;
		const struct link *p =
			usual[at] ? links_of(r, k->locals[usual[at] - 1].p, &count) : NULL;

		if (count)
			r->sites[r->links[i].number].after = p->number;
	}
	free(usual);
}

static uint64_t put(struct buf *out, const void *data, size_t size)
{
	uint64_t at;

	while (out->size % 8)
		buf_add_char(out, '\0');
	at = out->size;
	if (size)
		buf_add(out, data, size);
	return at;
}

static void write_out(const struct rules *r, struct buf *out)
{
	struct rules_header h = {
		.magic = RULES_MAGIC,
		.version = RULES_VERSION,
		.modules = (uint32_t)r->module_count,
		.sites = (uint32_t)r->site_count,
		.functions = (uint32_t)r->function_count,
		.numbers = (uint32_t)r->number_count,
	};

	buf_clear(out);
	buf_add(out, &h, sizeof(h));
	h.modules_at = put(out, r->modules, r->module_count * sizeof(*r->modules));
	h.sites_at = put(out, r->sites, r->site_count * sizeof(*r->sites));
	h.functions_at = put(out, r->functions, r->function_count * sizeof(*r->functions));
	h.numbers_at = put(out, r->numbers, r->number_count * sizeof(*r->numbers));
	h.size = out->size;
	h.check = trace_check(out->data + sizeof(h), out->size - sizeof(h));
	memcpy(out->data, &h, sizeof(h));
}

static void count_up(const struct rules *r, struct compile_stats *s)
{
	*s = (struct compile_stats){ .modules = (uint32_t)r->module_count,
				     .functions = (uint32_t)r->function_count };
	for (size_t i = 1; i < r->site_count; i++) {
		if (r->sites[i].flags & (RULES_LOCK | RULES_CANCEL))
			continue;
		s->sites++;
		s->invariants += (r->sites[i].flags & RULES_INVARIANT) != 0;
		s->watched += (r->sites[i].flags & RULES_CHECK) != 0;
		s->open += (r->sites[i].flags & RULES_OPEN) != 0;
		s->members += (r->sites[i].flags & RULES_IN_TX) != 0;
	}
	for (size_t i = 0; i < r->function_count; i++)
		s->transactions += (r->functions[i].flags & RULES_HOLDS_TX) != 0;
}

void compile_rules(const struct known *k, uint64_t threshold, struct buf *out,
		   struct compile_stats *stats)
{
	struct rules r = { .k = k, .threshold = threshold, .marks = compile_marks(k, threshold),
			   .gates = xcalloc(k->count + 1, sizeof(*r.gates)) };
	const char *build = NULL;

	/* Again, for the gates, which only the rules file needs; may add RULES_IN_TX. */
	guard_set_mark(k, r.marks, r.gates);
	for (size_t i = 0; i < k->count; i++)
		r.any_tx |= (r.marks[i] & RULES_HOLDS_TX) != 0;
	r.sites = xgrow(r.sites, 0, &r.site_capacity, sizeof(*r.sites));
	r.sites[r.site_count++] = (struct rules_site){ 0 };
	for (size_t i = 0; i < k->address_count; i++) {
		const struct learnt_address *p = &k->addresses[i];

		if (!p->current || !*p->build)
			continue;
		if (!build || strcmp(build, p->build) != 0)
			add_module(&r, p->build);
		build = p->build;
		if (k->sites[p->site].access == LEARN_FUNCTION)
			add_function(&r, p);
		else if (k->sites[p->site].access <= LEARN_WRITE || r.gates[p->site].number ||
			 r.marks[p->site])
			add_site(&r, p);
	}
	if (r.link_count > 1)
		qsort(r.links, r.link_count, sizeof(*r.links), by_site);
	add_sets(&r);
	add_after(&r);
	write_out(&r, out);
	count_up(&r, stats);
	free(r.marks);
	free(r.gates);
	free(r.modules);
	free(r.sites);
	free(r.functions);
	free(r.links);
	free(r.numbers);
}

int compile_write(const struct known *k, uint64_t threshold, const char *path,
		  struct compile_stats *stats, struct err *err)
{
	char *work = xasprintf("%s.tmp-%d", path, (int)getpid());
	int fd = open(work, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644), result = 0;
	struct buf out = { 0 };
	bool good = fd >= 0;

	compile_rules(k, threshold, &out, stats);
	good = good && write(fd, out.data, out.size) == (ssize_t)out.size;
	if (fd >= 0)
		good = close(fd) == 0 && good;
	if (!good || rename(work, path) < 0) {
		result = err_set(err, "cannot write %s: %s", path, strerror(errno));
		unlink(work);
	}
	buf_free(&out);
	free(work);
	return result;
}
