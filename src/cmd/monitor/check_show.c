/*
 * snarl check of traces: violations as text or JSON, and the summary.
 */
#include "cmd/monitor/check_internal.h"

#include "base/json.h"
#include "cmd/learn/learn.h"

static const char *const rank_text[DETECT_RANKS] = {
	[DETECT_BROKEN] = "  passing runs came here, but never in this order",
	[DETECT_NEW] = "  no invariant, but passing runs never had this order, or hardly ever this "
		       "pair of accesses",
	[DETECT_UNTRAINED] = "  no passing run came here",
	[DETECT_KNOWN] = "  passing runs have this order, too",
};

static void show_event(const struct detect_event *e, struct buf *out)
{
	buf_addf(out, "  %-6s ", e->thread ? e->thread : "");
	learn_describe_site(e->site, out);
	if (e->has_value)
		buf_addf(out, ", value %lld", (long long)e->value);
	buf_add_char(out, '\n');
}

static void show_item(const struct detect *d, const struct detect_item *item, struct buf *out)
{
	if (item->events == 3)
		buf_addf(out, "%s", avio_pattern_name(item->pattern));
	else
		buf_add_text(out, "dependency");
	buf_addf(out, "%s%s", item->object ? " on " : "", item->object ? item->object : "");
	if (d->traces > 1)
		buf_addf(out, ", in %llu of %llu traces", (unsigned long long)item->traces,
			 (unsigned long long)d->traces);
	if (item->count > 1)
		buf_addf(out, ", %llu times", (unsigned long long)item->count);
	buf_add_char(out, '\n');
	for (unsigned e = 0; e < item->events; e++)
		show_event(&item->event[e], out);
	buf_addf(out, "%s (%llu)\n", rank_text[item->rank], (unsigned long long)item->runs);
}

void check_text(const struct detect *d, size_t count, uint64_t limit, struct buf *out)
{
	for (size_t i = 0; i < count && i < limit; i++) {
		if (i)
			buf_add_char(out, '\n');
		show_item(d, &d->items[i], out);
	}
}

static void json_event(struct json *j, const struct detect_event *e)
{
	json_open(j, NULL, '{');
	if (e->thread)
		json_text(j, "thread", e->thread);
	json_text(j, "op", learn_access_name(e->site->access));
	json_text(j, "function", e->site->function);
	json_text(j, "file", e->site->file);
	json_number(j, "line", e->site->line);
	json_text(j, "place", e->site->key);
	if (e->has_value)
		json_number(j, "value", e->value);
	json_close(j, '}');
}

void check_json(const struct detect *d, size_t count, uint64_t limit, struct buf *out)
{
	struct json j = { .out = out };

	json_open(&j, NULL, '{');
	json_number(&j, "version", 1);
	json_number(&j, "traces", d->traces);
	json_number(&j, "runs", d->known.run_count);
	json_open(&j, "violations", '[');
	for (size_t i = 0; i < count && i < limit; i++) {
		const struct detect_item *item = &d->items[i];

		json_open(&j, NULL, '{');
		json_text(&j, "pattern",
			  item->events == 3 ? avio_pattern_name(item->pattern) : "dependency");
		json_text(&j, "rank", detect_rank_name(item->rank));
		json_text(&j, "variable", item->object);
		json_number(&j, "traces", item->traces);
		json_number(&j, "count", item->count);
		json_number(&j, "passing_runs", item->runs);
		json_open(&j, "sites", '[');
		for (unsigned e = 0; e < item->events; e++)
			json_event(&j, &item->event[e]);
		json_close(&j, ']');
		json_close(&j, '}');
	}
	json_close(&j, ']');
	json_open(&j, "ranks", '{');
	for (unsigned i = 0; i < DETECT_RANKS; i++)
		json_number(&j, detect_rank_name(i), d->ranks[i]);
	json_close(&j, '}');
	json_close(&j, '}');
	buf_add_char(out, '\n');
}

void check_summary(const struct detect *d, size_t count, FILE *out)
{
	fprintf(out,
		"snarl: %zu reported that %zu passing runs never did; by rank: %llu new (no "
		"invariant there), %llu untrained (no passing run came there), %llu known (passing "
		"runs do it, too)\n",
		count, d->known.run_count, (unsigned long long)d->ranks[DETECT_NEW],
		(unsigned long long)d->ranks[DETECT_UNTRAINED],
		(unsigned long long)d->ranks[DETECT_KNOWN]);
}
