#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"
#include "trace/kinds.h"
#include "trace/outfile.h"
#include "trace/sites.h"

struct site {
	const struct reader_module *module;
	uint64_t offset;
};

struct collector {
	const struct reader_info *info;
	struct site *sites;
	size_t count, capacity, unknown;
};

static int compare_sites(const void *pa, const void *pb)
{
	const struct site *a = pa, *b = pb;
	const struct reader_module *m = a->module, *n = b->module;
	size_t size = m->build_id_size < n->build_id_size ? m->build_id_size : n->build_id_size;
	int by_id = memcmp(m->build_id, n->build_id, size);

	if (by_id || m->build_id_size != n->build_id_size)
		return by_id ? by_id : m->build_id_size < n->build_id_size ? -1 : 1;
	return a->offset < b->offset ? -1 : a->offset > b->offset;
}

/*
 * Two modules may have been at the same address one after the other: the site
 * is listed for both, since one too many costs little and one too few an access.
 */
static void add_pc(void *ctx, uint64_t pc, uint64_t value)
{
	struct collector *c = ctx;
	bool found = false;

	(void)value;
	for (size_t i = 0; i < c->info->module_count; i++) {
		const struct reader_module *m = &c->info->modules[i];

		if (pc < m->start || pc >= m->end || !m->build_id_size)
			continue;
		c->sites = xgrow(c->sites, c->count, &c->capacity, sizeof(*c->sites));
		c->sites[c->count++] = (struct site){ m, pc - m->base };
		found = true;
	}
	c->unknown += !found;
}

static int write_sites(const char *path, struct collector *c, size_t *written, struct err *err)
{
	struct outfile out;
	struct buf line = { 0 };

	if (outfile_open(&out, path, err) < 0)
		return -1;
	if (c->count)
		qsort(c->sites, c->count, sizeof(*c->sites), compare_sites);
	buf_addf(&line, "%s\n", SITES_MAGIC);
	for (size_t i = 0; i < c->count; i++) {
		const struct site *s = &c->sites[i];

		if (i && !compare_sites(s - 1, s))
			continue;
		for (size_t b = 0; b < s->module->build_id_size; b++)
			buf_addf(&line, "%02x", s->module->build_id[b]);
		buf_addf(&line, " %" PRIx64 "\n", s->offset);
		outfile_write(&out, line.data, line.size);
		buf_clear(&line);
		++*written;
	}
	outfile_write(&out, line.data, line.size);
	buf_free(&line);
	return outfile_commit(&out, err);
}

int sites_write(struct reader *r, const char *path, struct sites_stats *stats, struct err *err)
{
	struct collector c = { .info = reader_info(r) };
	struct map pcs = { 0 };
	struct event ev;
	size_t written = 0;
	int got = reader_rewind(r, err);

	while (got >= 0 && (got = reader_next(r, &ev, err)) > 0)
		if (kind_class(ev.kind) == TRACE_CLASS_ACCESS)
			*map_put(&pcs, ev.pc, NULL) = 1;
	if (got == 0) {
		map_each(&pcs, add_pc, &c);
		got = write_sites(path, &c, &written, err);
	}
	if (stats)
		*stats = (struct sites_stats){ written, c.unknown };
	map_free(&pcs);
	free(c.sites);
	return got;
}
