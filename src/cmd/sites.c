#include "cmd/sites.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"
#include "trace/reader.h"

#define LIST_MAGIC "snarl-sites "
#define SHARED UINT64_MAX
#define GRANULE 3	/* log2: the runtime tells owners apart by 8 bytes */

static bool is_access(const struct event *ev)
{
	return ev->kind == TRACE_READ || ev->kind == TRACE_WRITE;
}

/* Who touched what: a thread's id, or SHARED. */
static int find_shared(struct reader *r, struct map *owners, struct err *err)
{
	struct event ev;
	int got;

	while ((got = reader_next(r, &ev, err)) > 0) {
		if (!is_access(&ev))
			continue;
		for (uint64_t g = ev.addr >> GRANULE; g <= (ev.addr + ev.size - 1) >> GRANULE; g++) {
			uint64_t *owner = map_put(owners, g, NULL);

			*owner = *owner == 0 || *owner == ev.thread ? ev.thread : SHARED;
		}
	}
	return got < 0 ? -1 : reader_rewind(r, err);
}

static bool touches_shared(const struct map *owners, const struct event *ev)
{
	for (uint64_t g = ev->addr >> GRANULE; g <= (ev->addr + ev->size - 1) >> GRANULE; g++) {
		const uint64_t *owner = map_find(owners, g);

		if (owner && *owner == SHARED)
			return true;
	}
	return false;
}

static int find_sites(struct reader *r, struct map *sites, struct err *err)
{
	/* The filter kept only what is shared; without it that has to be found out. */
	bool all = !(reader_info(r)->header->flags & TRACE_UNFILTERED);
	struct map owners = { 0 };
	struct event ev;
	int got = all ? 0 : find_shared(r, &owners, err);

	if (got == 0)
		while ((got = reader_next(r, &ev, err)) > 0)
			if (is_access(&ev) && ev.pc && (all || touches_shared(&owners, &ev)))
				map_put(sites, ev.pc, NULL);
	map_free(&owners);
	return got;
}

struct pcs {
	uint64_t *items;
	size_t count;
};

static void collect(void *context, uint64_t pc, uint64_t unused)
{
	struct pcs *pcs = context;

	(void)unused;
	pcs->items[pcs->count++] = pc;
}

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static void write_module(FILE *out, const struct reader_module *m, const struct pcs *pcs)
{
	fputs("module ", out);
	for (size_t i = 0; i < m->build_id_size; i++)
		fprintf(out, "%02x", m->build_id[i]);
	fprintf(out, "%s %s\n", m->build_id_size ? "" : "-", m->path);
	for (size_t i = 0; i < pcs->count; i++)
		if (pcs->items[i] > m->start && pcs->items[i] <= m->end)
			fprintf(out, "%llx\n", (unsigned long long)(pcs->items[i] - m->base));
}

static int write_list(const struct reader *r, const struct map *sites, FILE *out)
{
	const struct reader_info *info = reader_info(r);
	struct pcs pcs = { .items = xcalloc(map_count(sites) + 1, sizeof(*pcs.items)) };

	map_each(sites, collect, &pcs);
	qsort(pcs.items, pcs.count, sizeof(*pcs.items), compare);
	fputs(LIST_MAGIC "1\n", out);
	for (size_t i = 0; i < info->module_count; i++)
		write_module(out, &info->modules[i], &pcs);
	free(pcs.items);
	return ferror(out) ? -1 : 0;
}

/* 1 if it was a list and is copied, 0 if it is something else, -1. */
static int copy_list(const char *given, FILE *out, struct err *err)
{
	FILE *in = fopen(given, "re");
	char block[4096];
	size_t got;
	bool list;

	if (!in)
		return err_set(err, "%s: %s", given, strerror(errno));
	got = fread(block, 1, sizeof(block), in);
	list = got > strlen(LIST_MAGIC) && memcmp(block, LIST_MAGIC, strlen(LIST_MAGIC)) == 0;
	while (list && got > 0) {
		fwrite(block, 1, got, out);
		got = fread(block, 1, sizeof(block), in);
	}
	fclose(in);
	return list;
}

int sites_prepare(const char *given, const char *made, struct err *err)
{
	FILE *out = fopen(made, "we");
	struct reader *r = NULL;
	struct map sites = { 0 };
	int result;

	if (!out)
		return err_set(err, "cannot write %s: %s", made, strerror(errno));
	result = copy_list(given, out, err);
	if (result == 0) {
		r = reader_open(given, err);
		result = r ? find_sites(r, &sites, err) : -1;
		if (result == 0)
			write_list(r, &sites, out);
	}
	if (ferror(out) || fflush(out) != 0)
		result = err_set(err, "cannot write %s: %s", made, strerror(errno));
	fclose(out);
	map_free(&sites);
	if (r)
		reader_close(r);
	return result < 0 ? -1 : 0;
}
