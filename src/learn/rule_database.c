/*
 * Schema and statements of the rule database, and the functions that write it.
 * rule_database_load.c reads it.
 */
#include "learn/rule_database_internal.h"

#include <stdlib.h>
#include <time.h>

#include "base/mem.h"

static const char schema[] =
	"CREATE TABLE program (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);"
	"CREATE TABLE build (program INTEGER NOT NULL REFERENCES program, build TEXT NOT NULL,"
	" UNIQUE (program, build));"
	"CREATE TABLE site (id INTEGER PRIMARY KEY, program INTEGER NOT NULL REFERENCES program,"
	" key TEXT NOT NULL, access INTEGER NOT NULL, function TEXT NOT NULL, file TEXT NOT NULL,"
	" line INTEGER NOT NULL, column INTEGER NOT NULL, runs INTEGER NOT NULL DEFAULT 0,"
	" broken INTEGER NOT NULL DEFAULT 0, cuts INTEGER NOT NULL DEFAULT 0,"
	" doubtful INTEGER NOT NULL DEFAULT 0, failed INTEGER NOT NULL DEFAULT 0,"
	" harmed INTEGER NOT NULL DEFAULT 0, UNIQUE (program, key, access));"
	"CREATE TABLE place (build TEXT NOT NULL, offset INTEGER NOT NULL,"
	" site INTEGER NOT NULL REFERENCES site, PRIMARY KEY (build, offset, site)) WITHOUT ROWID;"
	"CREATE INDEX place_site ON place (site);"
	"CREATE TABLE triple (p INTEGER NOT NULL, r INTEGER NOT NULL, i INTEGER NOT NULL,"
	" pattern INTEGER NOT NULL, runs INTEGER NOT NULL, PRIMARY KEY (p, r, i, pattern))"
	" WITHOUT ROWID;"
	"CREATE TABLE follows (m INTEGER NOT NULL, p INTEGER NOT NULL, seen INTEGER NOT NULL,"
	" expected INTEGER NOT NULL, meet INTEGER NOT NULL, PRIMARY KEY (m, p)) WITHOUT ROWID;"
	"CREATE TABLE local (i INTEGER NOT NULL, p INTEGER NOT NULL, runs INTEGER NOT NULL,"
	" breakable INTEGER NOT NULL, PRIMARY KEY (i, p)) WITHOUT ROWID;"
	"CREATE TABLE \"between\" (i INTEGER NOT NULL, r INTEGER NOT NULL, runs INTEGER NOT NULL,"
	" PRIMARY KEY (i, r)) WITHOUT ROWID;"
	"CREATE TABLE member (function INTEGER NOT NULL, site INTEGER NOT NULL,"
	" runs INTEGER NOT NULL, PRIMARY KEY (function, site)) WITHOUT ROWID;"
	"CREATE TABLE sequence (i INTEGER NOT NULL, p INTEGER NOT NULL, torn INTEGER NOT NULL,"
	" PRIMARY KEY (i, p)) WITHOUT ROWID;"
	"CREATE TABLE locking (a INTEGER NOT NULL, b INTEGER NOT NULL, how INTEGER NOT NULL,"
	" PRIMARY KEY (a, b)) WITHOUT ROWID;"
	"CREATE TABLE near (i INTEGER NOT NULL, p INTEGER NOT NULL, runs INTEGER NOT NULL,"
	" PRIMARY KEY (i, p)) WITHOUT ROWID;"
	"CREATE TABLE visit (r INTEGER NOT NULL, p INTEGER NOT NULL, may INTEGER NOT NULL,"
	" inside INTEGER NOT NULL, PRIMARY KEY (r, p)) WITHOUT ROWID;"
	"CREATE TABLE run (id INTEGER PRIMARY KEY, program INTEGER NOT NULL REFERENCES program,"
	" time INTEGER NOT NULL, input TEXT NOT NULL, how TEXT NOT NULL, seed INTEGER NOT NULL,"
	" sites INTEGER NOT NULL, broken INTEGER NOT NULL, pairs INTEGER NOT NULL,"
	" expected INTEGER NOT NULL, cuts INTEGER NOT NULL);"
	"CREATE INDEX run_program ON run (program);";

static const char *const texts[STATEMENTS] = {
	[PROGRAM] = "INSERT INTO program (name) VALUES (?1) ON CONFLICT (name) DO UPDATE"
		    " SET name = name RETURNING id",
	[SITE] = "INSERT INTO site (program, key, access, function, file, line, column)"
		 " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7) ON CONFLICT (program, key, access) DO UPDATE"
		 " SET function = excluded.function, file = excluded.file, line = excluded.line,"
		 " column = excluded.column RETURNING id, cuts",
	[PLACE] = "INSERT INTO place (build, offset, site) VALUES (?1, ?2, ?3)"
		" ON CONFLICT DO NOTHING",
	[PASSED] = "UPDATE site SET runs = runs + 1, broken = broken + ?2 WHERE id = ?1"
		" RETURNING runs, broken",
	[FAILED] = "UPDATE site SET failed = failed + 1, harmed = harmed + ?2 WHERE id = ?1",
	[TRIPLE] = "INSERT INTO triple VALUES (?1, ?2, ?3, ?4, 1)"
		   " ON CONFLICT DO UPDATE SET runs = runs + 1 RETURNING runs",
	[FOLLOWS] = "INSERT INTO follows (p, m, seen, expected, meet) VALUES (?1, ?2, ?3, ?4, 0)"
		    " ON CONFLICT DO UPDATE"
		    " SET seen = seen + ?3, expected = expected + ?4 RETURNING seen, expected",
	/*
	 * A bit that is not sure (?4) is stored as the next higher bit. If that was set before,
	 * the bit itself is.
	 */
	[MEET] = "UPDATE follows SET meet = meet | ?3 | (meet >> 1 & ?4) | (?4 << 1) WHERE p = ?1"
		 " AND m = ?2 AND meet | ?3 | (meet >> 1 & ?4) | (?4 << 1) != meet RETURNING 1",
	[LOCAL] = "INSERT INTO local (p, i, runs, breakable) VALUES (?1, ?2, 1, ?3)"
		  " ON CONFLICT DO UPDATE SET runs = runs + 1, breakable = breakable + ?3",
	[BETWEEN] = "INSERT INTO \"between\" (r, i, runs) VALUES (?1, ?2, 1)"
		    " ON CONFLICT DO UPDATE SET runs = runs + 1",
	[MEMBER] = "INSERT INTO member VALUES (?1, ?2, 1) ON CONFLICT DO UPDATE SET runs = runs + 1"
		" RETURNING runs",
	[ORDER] = "INSERT INTO sequence (p, i, torn) VALUES (?1, ?2, ?3) ON CONFLICT DO UPDATE"
		  " SET torn = torn | ?3 WHERE torn | ?3 != torn RETURNING 1",
	[BEFORE] = "SELECT p FROM sequence WHERE i = ?1",
	[FORGET_ORDER] = "DELETE FROM sequence WHERE p = ?1 AND i = ?2",
	[LOCK] = "INSERT INTO locking VALUES (?1, ?2, ?3) ON CONFLICT DO UPDATE SET how = how | ?3",
	[NEAR] = "INSERT INTO near (p, i, runs) VALUES (?1, ?2, 1) ON CONFLICT DO UPDATE"
		" SET runs = runs + 1",
	[VISIT] = "INSERT INTO visit (p, r, may, inside) VALUES (?1, ?2, ?3, ?4)"
		  " ON CONFLICT DO UPDATE"
		  " SET may = may + ?3, inside = inside + ?4 RETURNING inside",
	[CUT] = "UPDATE site SET cuts = cuts | (doubtful & ?2), doubtful = doubtful | ?2"
		" WHERE id = ?1 AND cuts & ?2 != ?2 RETURNING (cuts & ?2) * 2 + 1",
	[RUN] = "INSERT INTO run (program, seed, sites, broken, pairs, expected, cuts, time, input,"
		" how) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
	[BUILD] = "INSERT INTO build VALUES (?1, ?2) ON CONFLICT DO NOTHING",
	[HAS_BUILD] = "SELECT EXISTS (SELECT 1 FROM build WHERE program = ?1 AND build = ?2)",
	[FORGET_BUILDS] = "DELETE FROM build WHERE program = ?1",
	[AT] = "SELECT site.id FROM place JOIN site ON site.id = place.site"
	       " WHERE place.build = ?1 AND place.offset = ?2 AND site.access != 2"
	       " ORDER BY site.access",
	[UNBROKEN] = "SELECT EXISTS (SELECT 1 FROM local JOIN site ON site.id = i"
		     " WHERE site.program = ?1"
		     " AND breakable > 0 AND (broken <= ?2 OR (harmed > 0 AND (harmed = failed"
		     " OR harmed * site.runs >= ?3 * broken * failed))))",
	[ANY_RUN] = "SELECT EXISTS (SELECT 1 FROM run)",
	[PROGRAMS] = "SELECT id, name FROM program ORDER BY id",
	[SITES] = "SELECT id, access, line, column, cuts, runs, broken, failed, harmed, key,"
		  " function, file FROM site"
		  " WHERE program = ?1 ORDER BY file, line, column, access, id",
	[PLACES] = "SELECT place.site, place.offset, place.build,"
		   " EXISTS (SELECT 1 FROM build b WHERE b.program = ?1 AND b.build = place.build)"
		   " FROM place JOIN site ON site.id = place.site WHERE site.program = ?1"
		   " ORDER BY place.build, place.offset, site.access",
	[PAIRS] = "SELECT p, m, seen, follows.expected, meet FROM follows JOIN site ON site.id = m"
		  " WHERE site.program = ?1 ORDER BY m, p",
	[LOCALS] = "SELECT p, i, local.runs, breakable FROM local JOIN site ON site.id = i"
		   " WHERE site.program = ?1 ORDER BY i, p",
	[BETWEENS] = "SELECT r, i FROM \"between\" JOIN site ON site.id = i WHERE site.program = ?1"
		" ORDER BY i, r",
	[MEMBERS] = "SELECT member.function, member.site FROM member"
		    " JOIN site ON site.id = member.site"
		    " WHERE site.program = ?1 ORDER BY member.function, member.site",
	[ORDERS] = "SELECT sequence.p, sequence.i, torn FROM sequence"
		   " JOIN site ON site.id = sequence.i"
		   " WHERE site.program = ?1 ORDER BY sequence.i, sequence.p",
	[LOCKS] = "SELECT locking.a, locking.b, how FROM locking JOIN site ON site.id = locking.a"
		  " WHERE site.program = ?1 ORDER BY locking.a, locking.b",
	[NEARS] = "SELECT near.p, near.i, near.runs, 0 FROM near JOIN site ON site.id = near.p"
		  " WHERE site.program = ?1 ORDER BY near.p, near.i",
	[VISITS] = "SELECT visit.p, visit.r, inside, may FROM visit JOIN site ON site.id = visit.p"
		   " WHERE site.program = ?1 ORDER BY visit.p, visit.r",
	[TRIPLES] = "SELECT p, r, i, pattern, triple.runs FROM triple JOIN site ON site.id = i"
		    " WHERE site.program = ?1 ORDER BY i, p, r, pattern",
	[RUNS] = "SELECT sites, broken, pairs, expected, cuts, input, how FROM run"
		" WHERE program = ?1 ORDER BY id",
};

/*
 * Adds the database `other`. Rows are matched by names, since the numbers of programs and sites
 * differ.
 */
static const char merging[] =
	"INSERT INTO program (name) SELECT name FROM other.program WHERE true"
	" ON CONFLICT DO NOTHING;"
	"CREATE TEMP TABLE programs AS SELECT o.id AS old, p.id AS new FROM other.program o"
	" JOIN program p ON p.name = o.name;"
	"INSERT INTO build SELECT p.new, build FROM other.build o"
	" JOIN programs p ON p.old = o.program"
	" WHERE NOT EXISTS (SELECT 1 FROM main.build b WHERE b.program = p.new)"
	" ON CONFLICT DO NOTHING;"
	"INSERT INTO site (program, key, access, function, file, line, column, runs, broken, cuts,"
	" doubtful, failed,"
	" harmed) SELECT p.new, key, access, function, file, line, column, runs, broken, cuts,"
	" doubtful, failed, harmed FROM other.site"
	" JOIN programs p ON p.old = program WHERE true ON CONFLICT (program, key, access)"
	" DO UPDATE SET runs = runs + excluded.runs, broken = broken + excluded.broken,"
	" cuts = cuts | excluded.cuts,"
	" doubtful = doubtful | excluded.doubtful, failed = failed + excluded.failed,"
	" harmed = harmed + excluded.harmed;"
	"CREATE TEMP TABLE sites AS SELECT o.id AS old, s.id AS new FROM other.site o"
	" JOIN programs p ON p.old = o.program"
	" JOIN site s ON s.program = p.new AND s.key = o.key AND s.access = o.access;"
	"CREATE UNIQUE INDEX temp.sites_old ON sites (old);"
	"INSERT INTO place SELECT build, offset, s.new FROM other.place"
	" JOIN sites s ON s.old = site WHERE true ON CONFLICT DO NOTHING;"
	"INSERT INTO triple SELECT p.new, r.new, i.new, pattern, runs FROM other.triple o"
	" JOIN sites p ON p.old = o.p JOIN sites r ON r.old = o.r JOIN sites i ON i.old = o.i"
	" WHERE true ON CONFLICT DO UPDATE SET runs = runs + excluded.runs;"
	"INSERT INTO follows SELECT m.new, p.new, seen, expected, meet FROM other.follows o"
	" JOIN sites p ON p.old = o.p JOIN sites m ON m.old = o.m"
	" WHERE true ON CONFLICT DO UPDATE SET seen = seen + excluded.seen,"
	" expected = expected + excluded.expected, meet = meet | excluded.meet;"
	"INSERT INTO local SELECT i.new, p.new, runs, breakable FROM other.local o"
	" JOIN sites p ON p.old = o.p JOIN sites i ON i.old = o.i"
	" WHERE true ON CONFLICT DO UPDATE SET runs = runs + excluded.runs,"
	" breakable = breakable + excluded.breakable;"
	"INSERT INTO \"between\" SELECT i.new, r.new, runs FROM other.\"between\" o"
	" JOIN sites r ON r.old = o.r JOIN sites i ON i.old = o.i"
	" WHERE true ON CONFLICT DO UPDATE SET runs = runs + excluded.runs;"
	"INSERT INTO member SELECT f.new, s.new, runs FROM other.member o"
	" JOIN sites f ON f.old = o.function"
	" JOIN sites s ON s.old = o.site WHERE true ON CONFLICT DO UPDATE"
	" SET runs = runs + excluded.runs;"
	"INSERT INTO sequence SELECT i.new, p.new, torn FROM other.sequence o"
	" JOIN sites i ON i.old = o.i JOIN sites p ON p.old = o.p WHERE true ON CONFLICT DO UPDATE"
	" SET torn = torn | excluded.torn;"
	"INSERT INTO locking SELECT a.new, b.new, how FROM other.locking o"
	" JOIN sites a ON a.old = o.a JOIN sites b ON b.old = o.b WHERE true ON CONFLICT DO UPDATE"
	" SET how = how | excluded.how;"
	"INSERT INTO near SELECT i.new, p.new, runs FROM other.near o JOIN sites i ON i.old = o.i"
	" JOIN sites p ON p.old = o.p WHERE true ON CONFLICT DO UPDATE"
	" SET runs = runs + excluded.runs;"
	"INSERT INTO visit SELECT r.new, p.new, may, inside FROM other.visit o"
	" JOIN sites r ON r.old = o.r JOIN sites p ON p.old = o.p WHERE true ON CONFLICT DO UPDATE"
	" SET may = may + excluded.may, inside = inside + excluded.inside;"
	"INSERT INTO run (program, time, input, how, seed, sites, broken, pairs, expected, cuts)"
	" SELECT p.new, time, input, how, seed, sites, broken, pairs, expected, cuts FROM other.run"
	" JOIN programs p ON p.old = program ORDER BY other.run.id;"
	"DROP TABLE programs; DROP TABLE sites;";

static const struct db_kind kind = {
	.what = "rule database", .hint = "snarl learn -- PROGRAM makes one",
	.application = 0x736e6c6eu, .version = 4,	/* "snln" */
	.schema = schema, .statements = texts, .count = STATEMENTS,
};

struct store *store_open(const char *path, bool create, struct err *err)
{
	struct store *s = xcalloc(1, sizeof(*s));

	if (db_open(&s->db, &kind, path, create, err) == 0)
		return s;
	store_close(s);
	return NULL;
}

void store_close(struct store *s)
{
	if (s)
		db_close(&s->db);
	free(s);
}

bool store_is_empty(struct store *s)
{
	int64_t any = 1;
	struct err err;

	return db_run(&s->db, ANY_RUN, &any, 1, &err) == 0 && !any;
}

int store_begin(struct store *s, struct err *err)
{
	return db_begin(&s->db, err);
}

int store_commit(struct store *s, struct err *err)
{
	return db_commit(&s->db, err);
}

void store_rollback(struct store *s)
{
	db_rollback(&s->db);
}

int64_t store_program(struct store *s, const char *name, struct err *err)
{
	int64_t id;

	db_bind_text(&s->db, PROGRAM, 1, name);
	return db_run(&s->db, PROGRAM, &id, 1, err) < 0 ? -1 : id;
}

int64_t store_site(struct store *s, int64_t program, const struct store_site_info *p,
		   unsigned *cuts, struct err *err)
{
	int64_t got[2];

	db_bind(&s->db, SITE, 1, 1, &program);
	db_bind_text(&s->db, SITE, 2, p->key);
	db_bind(&s->db, SITE, 3, 1, (int64_t[]){ p->access });
	db_bind_text(&s->db, SITE, 4, p->function);
	db_bind_text(&s->db, SITE, 5, p->file);
	db_bind(&s->db, SITE, 6, 2, (int64_t[]){ p->line, p->column });
	if (db_run(&s->db, SITE, got, 2, err) < 0)
		return -1;
	db_bind_text(&s->db, PLACE, 1, p->build);
	db_bind(&s->db, PLACE, 2, 2, (int64_t[]){ (int64_t)p->offset, got[0] });
	*cuts = (unsigned)got[1];
	return db_run(&s->db, PLACE, NULL, 0, err) < 0 ? -1 : got[0];
}

int store_find(struct store *s, const char *build, uint64_t offset, struct store_at *at,
	       struct err *err)
{
	int got;

	*at = (struct store_at){ 0 };
	db_bind_text(&s->db, AT, 1, build);
	db_bind(&s->db, AT, 2, 1, (int64_t[]){ (int64_t)offset });
	while ((got = db_row(&s->db, AT, err)) > 0)
		if (at->count < 2)
			at->site[at->count++] = db_number(&s->db, AT, 0);
	return got;
}

uint64_t store_news_sum(const struct store_news *n)
{
	return n->sites + n->broken + n->pairs + n->expected + n->cuts + n->triples + n->others;
}

int store_passed(struct store *s, int64_t site, bool broken, uint64_t threshold,
		 struct store_news *news, struct err *err)
{
	int64_t got[2];

	db_bind(&s->db, PASSED, 1, 2, (int64_t[]){ site, broken });
	if (db_run(&s->db, PASSED, got, 2, err) < 0)
		return -1;
	news->sites += got[0] == 1;
	news->broken += broken && (uint64_t)got[1] == threshold + 1;
	return 0;
}

int store_failed(struct store *s, int64_t site, bool broken, struct err *err)
{
	db_bind(&s->db, FAILED, 1, 2, (int64_t[]){ site, broken });
	return db_run(&s->db, FAILED, NULL, 0, err);
}

int store_unbroken(struct store *s, int64_t program, uint64_t threshold, struct err *err)
{
	int64_t any;

	db_bind(&s->db, UNBROKEN, 1, 3, (int64_t[]){ program, (int64_t)threshold, LEARNT_HARM });
	return db_run(&s->db, UNBROKEN, &any, 1, err) < 0 ? -1 : any != 0;
}

int store_triple(struct store *s, int64_t p, int64_t r, int64_t i, enum avio_pattern pattern,
		 struct store_news *news, struct err *err)
{
	int64_t runs;

	db_bind(&s->db, TRIPLE, 1, 4, (int64_t[]){ p, r, i, pattern });
	if (db_run(&s->db, TRIPLE, &runs, 1, err) < 0)
		return -1;
	news->triples += runs == 1;
	return 0;
}

/* Runs a statement that returns a row if it changed anything, and counts that. */
static int add_others(struct store *s, enum statement which, struct store_news *news,
		      struct err *err)
{
	int64_t changed;

	if (db_run(&s->db, which, &changed, 1, err) < 0)
		return -1;
	news->others += changed != 0;
	return 0;
}

int store_follows(struct store *s, int64_t p, int64_t m, unsigned how, bool sure,
		  struct store_news *news, struct err *err)
{
	bool seen = how & STORE_SEEN, expected = how & STORE_EXPECTED;
	unsigned doubtful = sure ? 0 : how & STORE_RACE;
	unsigned others = how & ~(unsigned)(STORE_SEEN | STORE_EXPECTED);
	int64_t got[2];

	db_bind(&s->db, FOLLOWS, 1, 4, (int64_t[]){ p, m, seen, expected });
	if (db_run(&s->db, FOLLOWS, got, 2, err) < 0)
		return -1;
	news->pairs += seen && got[0] == 1;
	news->expected += expected && got[1] == 1;
	if (!others)
		return 0;
	db_bind(&s->db, MEET, 1, 4, (int64_t[]){ p, m, others & ~doubtful, doubtful });
	return add_others(s, MEET, news, err);
}

int store_local(struct store *s, int64_t p, int64_t i, bool breakable, struct err *err)
{
	db_bind(&s->db, LOCAL, 1, 3, (int64_t[]){ p, i, breakable });
	return db_run(&s->db, LOCAL, NULL, 0, err);
}

int store_between(struct store *s, int64_t r, int64_t i, struct err *err)
{
	db_bind(&s->db, BETWEEN, 1, 2, (int64_t[]){ r, i });
	return db_run(&s->db, BETWEEN, NULL, 0, err);
}

int store_member(struct store *s, int64_t function, int64_t site, struct store_news *news,
		 struct err *err)
{
	int64_t runs;

	db_bind(&s->db, MEMBER, 1, 2, (int64_t[]){ function, site });
	if (db_run(&s->db, MEMBER, &runs, 1, err) < 0)
		return -1;
	news->others += runs == 1;
	return 0;
}

int store_order(struct store *s, int64_t p, int64_t i, unsigned torn, struct store_news *news,
		struct err *err)
{
	db_bind(&s->db, ORDER, 1, 3, (int64_t[]){ p, i, torn });
	return add_others(s, ORDER, news, err);
}

int store_forget_orders(struct store *s, const struct map *sites, int64_t i, struct err *err)
{
	int64_t *before = NULL;
	size_t count = 0, capacity = 0;
	int got;

	db_bind(&s->db, BEFORE, 1, 1, &i);
	while ((got = db_row(&s->db, BEFORE, err)) > 0) {
		before = xgrow(before, count, &capacity, sizeof(*before));
		before[count++] = db_number(&s->db, BEFORE, 0);
	}
	for (size_t n = 0; n < count && got == 0; n++)
		if (map_find(sites, (uint64_t)before[n])) {
			db_bind(&s->db, FORGET_ORDER, 1, 2, (int64_t[]){ before[n], i });
			got = db_run(&s->db, FORGET_ORDER, NULL, 0, err);
		}
	free(before);
	return got;
}

int store_lock_pair(struct store *s, int64_t a, int64_t b, unsigned how, struct err *err)
{
	db_bind(&s->db, LOCK, 1, 3, (int64_t[]){ a, b, how });
	return db_run(&s->db, LOCK, NULL, 0, err);
}

int store_unblocked(struct store *s, int64_t p, int64_t i, struct err *err)
{
	db_bind(&s->db, NEAR, 1, 2, (int64_t[]){ p, i });
	return db_run(&s->db, NEAR, NULL, 0, err);
}

int store_visit(struct store *s, int64_t p, int64_t r, bool may, bool inside,
		struct store_news *news, struct err *err)
{
	int64_t runs;

	db_bind(&s->db, VISIT, 1, 4, (int64_t[]){ p, r, may, inside });
	if (db_run(&s->db, VISIT, &runs, 1, err) < 0)
		return -1;
	news->others += inside && runs == 1;
	return 0;
}

int store_cut(struct store *s, int64_t site, unsigned cuts, struct store_news *news,
	      struct err *err)
{
	int64_t changed;

	db_bind(&s->db, CUT, 1, 2, (int64_t[]){ site, cuts });
	if (db_run(&s->db, CUT, &changed, 1, err) < 0)
		return -1;
	news->cuts += changed > 1;
	news->others += changed == 1;
	return 0;
}

int store_run(struct store *s, int64_t program, const char *input, const char *how, uint64_t seed,
	      const struct store_news *n, struct err *err)
{
	db_bind(&s->db, RUN, 1, 8,
		(int64_t[]){ program, (int64_t)seed, (int64_t)n->sites, (int64_t)n->broken,
			     (int64_t)n->pairs, (int64_t)n->expected, (int64_t)n->cuts,
			     (int64_t)time(NULL) });
	db_bind_text(&s->db, RUN, 9, input);
	db_bind_text(&s->db, RUN, 10, how);
	return db_run(&s->db, RUN, NULL, 0, err);
}

int store_build(struct store *s, int64_t program, const char *build, struct err *err)
{
	db_bind(&s->db, BUILD, 1, 1, &program);
	db_bind_text(&s->db, BUILD, 2, build);
	return db_run(&s->db, BUILD, NULL, 0, err);
}

int store_has_build(struct store *s, int64_t program, const char *build, struct err *err)
{
	int64_t has;

	db_bind(&s->db, HAS_BUILD, 1, 1, &program);
	db_bind_text(&s->db, HAS_BUILD, 2, build);
	return db_run(&s->db, HAS_BUILD, &has, 1, err) < 0 ? -1 : has != 0;
}

int store_forget_builds(struct store *s, int64_t program, struct err *err)
{
	db_bind(&s->db, FORGET_BUILDS, 1, 1, &program);
	return db_run(&s->db, FORGET_BUILDS, NULL, 0, err);
}

int store_merge(struct store *s, const char *path, struct err *err)
{
	return db_merge(&s->db, path, merging, err);
}
