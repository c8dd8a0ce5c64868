#include "learn/rule_database_internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"

/* Returns the program's number, and its name in k->program. */
static int64_t choose(struct db *d, const char *wanted, struct known *k, struct err *err)
{
	struct buf names = { 0 };
	uint64_t count = 0;
	int64_t id = -1;
	int got;

	while ((got = db_row(d, PROGRAMS, err)) > 0) {
		const char *name = db_text(d, PROGRAMS, 1);

		buf_addf(&names, "%s%s", names.size ? ", " : "", name);
		if (wanted && strcmp(wanted, name) != 0)
			continue;
		count++;
		id = db_number(d, PROGRAMS, 0);
		free(k->program);
		k->program = xstrdup(name);
	}
	if (got == 0 && count != 1) {
		if (count > 1)
			err_set(err,
				"the database knows several programs, choose with --program: %s",
				buf_string(&names));
		else if (wanted)
			err_set(err, "the database knows no program %s (but %s)", wanted,
				buf_string(&names));
		else
			err_set(err, "the database is empty: snarl learn -- PROGRAM fills it");
	}
	buf_free(&names);
	return got == 0 && count == 1 ? id : -1;
}

static int load_sites(struct db *d, struct known *k, struct err *err)
{
	int got;

	while ((got = db_row(d, SITES, err)) > 0) {
		k->sites = xgrow(k->sites, k->count, &k->capacity, sizeof(*k->sites));
		k->sites[k->count] = (struct known_site){
			.id = db_number(d, SITES, 0),
			.access = (enum learn_access)db_number(d, SITES, 1),
			.line = (unsigned)db_number(d, SITES, 2),
			.column = (unsigned)db_number(d, SITES, 3),
			.cuts = (unsigned)db_number(d, SITES, 4),
			.runs = (uint64_t)db_number(d, SITES, 5),
			.broken = (uint64_t)db_number(d, SITES, 6),
			.failed = (uint64_t)db_number(d, SITES, 7),
			.harmed = (uint64_t)db_number(d, SITES, 8),
			.key = xstrdup(db_text(d, SITES, 9)),
			.function = xstrdup(db_text(d, SITES, 10)),
			.file = xstrdup(db_text(d, SITES, 11)),
		};
		*map_put(&k->at, (uint64_t)k->sites[k->count].id, NULL) = k->count + 1;
		k->count++;
	}
	return got;
}

/* false: the site belongs to another program. */
static bool site_at(struct db *d, const struct known *k, enum statement which, int column,
		    uint32_t *out)
{
	const uint64_t *at = map_find(&k->at, (uint64_t)db_number(d, which, column));

	*out = at ? (uint32_t)*at - 1 : 0;
	return at != NULL;
}

static int load_addresses(struct db *d, struct known *k, struct err *err)
{
	int got;

	while ((got = db_row(d, PLACES, err)) > 0) {
		struct learnt_address p = { .offset = (uint64_t)db_number(d, PLACES, 1),
					 .current = db_number(d, PLACES, 3) != 0 };

		if (!site_at(d, k, PLACES, 0, &p.site))
			continue;
		p.build = xstrdup(db_text(d, PLACES, 2));
		k->addresses = xgrow(k->addresses, k->address_count, &k->address_capacity,
				     sizeof(*k->addresses));
		k->addresses[k->address_count++] = p;
	}
	return got;
}

/* Loads pairs of sites that are stored with numbers of runs. */
static int load_pairs(struct db *d, const struct known *k, enum statement which,
		      struct known_pair **list, size_t *count, size_t *capacity, struct err *err)
{
	int got;

	while ((got = db_row(d, which, err)) > 0) {
		struct known_pair p = { .seen = (uint64_t)db_number(d, which, 2),
					.expected = (uint64_t)db_number(d, which, 3),
					.how = which == PAIRS ? (unsigned)db_number(d, which, 4)
							      : 0 };

		if (!site_at(d, k, which, 0, &p.first) || !site_at(d, k, which, 1, &p.second))
			continue;
		*list = xgrow(*list, *count, capacity, sizeof(**list));
		(*list)[(*count)++] = p;
	}
	return got;
}

static int load_locals(struct db *d, struct known *k, struct err *err)
{
	int got;

	while ((got = db_row(d, LOCALS, err)) > 0) {
		struct learnt_local l = { .runs = (uint64_t)db_number(d, LOCALS, 2),
					 .breakable = (uint64_t)db_number(d, LOCALS, 3) };

		if (!site_at(d, k, LOCALS, 0, &l.p) || !site_at(d, k, LOCALS, 1, &l.i))
			continue;
		k->locals =
			xgrow(k->locals, k->local_count, &k->local_capacity, sizeof(*k->locals));
		k->locals[k->local_count++] = l;
	}
	return got;
}

/* Loads pairs of sites that are stored with flags, or with nothing. */
static int load_flagged_pairs(struct db *d, const struct known *k, enum statement which,
			      struct known_pair **list, size_t *count, size_t *capacity,
			      struct err *err)
{
	int got;

	while ((got = db_row(d, which, err)) > 0) {
		struct known_pair p = { .how = which == ORDERS || which == LOCKS
						       ? (unsigned)db_number(d, which, 2)
						       : 0 };

		if (!site_at(d, k, which, 0, &p.first) || !site_at(d, k, which, 1, &p.second))
			continue;
		*list = xgrow(*list, *count, capacity, sizeof(**list));
		(*list)[(*count)++] = p;
	}
	return got;
}

static int load_triples(struct db *d, struct known *k, struct err *err)
{
	int got;

	while ((got = db_row(d, TRIPLES, err)) > 0) {
		struct known_triple t = { .pattern = (enum avio_pattern)db_number(d, TRIPLES, 3),
					  .runs = (uint64_t)db_number(d, TRIPLES, 4) };

		if (!site_at(d, k, TRIPLES, 0, &t.p) || !site_at(d, k, TRIPLES, 1, &t.r) ||
		    !site_at(d, k, TRIPLES, 2, &t.i) || t.pattern >= AVIO_PATTERNS)
			continue;
		k->triples = xgrow(k->triples, k->triple_count, &k->triple_capacity,
				   sizeof(*k->triples));
		k->triples[k->triple_count++] = t;
	}
	return got;
}

static int load_runs(struct db *d, struct known *k, struct err *err)
{
	int got;

	while ((got = db_row(d, RUNS, err)) > 0) {
		k->runs = xgrow(k->runs, k->run_count, &k->run_capacity, sizeof(*k->runs));
		k->runs[k->run_count++] = (struct learnt_run){
			.news = { .sites = (uint64_t)db_number(d, RUNS, 0),
				  .broken = (uint64_t)db_number(d, RUNS, 1),
				  .pairs = (uint64_t)db_number(d, RUNS, 2),
				  .expected = (uint64_t)db_number(d, RUNS, 3),
				  .cuts = (uint64_t)db_number(d, RUNS, 4) },
			.input = xstrdup(db_text(d, RUNS, 5)), .how = xstrdup(db_text(d, RUNS, 6)),
		};
	}
	return got;
}

int store_load(struct store *s, const char *program, struct known *k, struct err *err)
{
	static const enum statement by_program[] = { SITES,    PLACES,	PAIRS,	 LOCALS,
						     BETWEENS, MEMBERS, ORDERS,	 LOCKS,
						     NEARS,    VISITS,	TRIPLES, RUNS };
	struct db *d = &s->db;
	int64_t id;

	*k = (struct known){ 0 };
	id = choose(d, program, k, err);
	if (id < 0)
		return -1;
	for (size_t i = 0; i < ARRAY_SIZE(by_program); i++)
		db_bind(d, by_program[i], 1, 1, &id);
	return load_sites(d, k, err) < 0 || load_addresses(d, k, err) < 0 ||
			       load_pairs(d, k, PAIRS, &k->pairs, &k->pair_count, &k->pair_capacity,
					  err) < 0 ||
			       load_pairs(d, k, NEARS, &k->unblocked, &k->unblocked_count,
					  &k->unblocked_capacity, err) < 0 ||
			       load_pairs(d, k, VISITS, &k->visits, &k->visit_count,
					  &k->visit_capacity, err) < 0 ||
			       load_locals(d, k, err) < 0 ||
			       load_flagged_pairs(d, k, BETWEENS, &k->between, &k->between_count,
						  &k->between_capacity, err) < 0 ||
			       load_flagged_pairs(d, k, MEMBERS, &k->members, &k->member_count,
						  &k->member_capacity, err) < 0 ||
			       load_flagged_pairs(d, k, ORDERS, &k->orders, &k->order_count,
						  &k->order_capacity, err) < 0 ||
			       load_flagged_pairs(d, k, LOCKS, &k->locks, &k->lock_count,
						  &k->lock_capacity, err) < 0 ||
			       load_triples(d, k, err) < 0 || load_runs(d, k, err) < 0
		       ? -1
		       : 0;
}

void known_free(struct known *k)
{
	for (size_t i = 0; i < k->count; i++) {
		free(k->sites[i].key);
		free(k->sites[i].function);
		free(k->sites[i].file);
	}
	for (size_t i = 0; i < k->address_count; i++)
		free(k->addresses[i].build);
	for (size_t i = 0; i < k->run_count; i++) {
		free(k->runs[i].input);
		free(k->runs[i].how);
	}
	free(k->program);
	free(k->sites);
	free(k->addresses);
	free(k->pairs);
	free(k->locals);
	free(k->between);
	free(k->members);
	free(k->orders);
	free(k->locks);
	free(k->unblocked);
	free(k->visits);
	free(k->triples);
	free(k->runs);
	map_free(&k->at);
	*k = (struct known){ 0 };
}
