/*
 * snarl dump --chunks: the headers of the chunks in file order, to study the format or a damaged
 * trace.
 */
#include <stdlib.h>

#include "base/json.h"
#include "base/mem.h"
#include "cmd/dump/dump.h"
#include "trace/read/index.h"

static const char *type_name(unsigned type)
{
	static const char *const name[] = { "?", "events", "module", "meta", "end", "bunches" };

	return type < ARRAY_SIZE(name) ? name[type] : name[0];
}

/* For qsort(): offsets in ascending order. */
static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static void show(struct dump *d, uint64_t offset, const struct trace_chunk *c, bool json)
{
	struct json j = { .out = &d->out };

	if (!json) {
		buf_addf(&d->out, "%12llu  %-6s  %6u  %8llu  %9u  %9u  %9u  %s%llu\n",
			 (unsigned long long)offset, type_name(c->type), c->thread,
			 (unsigned long long)c->seq, c->count, c->size, c->stored,
			 c->flags & TRACE_CHUNK_ZSTD ? "zstd  " : "      ",
			 (unsigned long long)c->time);
		return;
	}
	json_open(&j, NULL, '{');
	json_number(&j, "offset", offset);
	json_text(&j, "type", type_name(c->type));
	json_number(&j, "thread", c->thread);
	json_number(&j, "seq", c->seq);
	json_number(&j, "records", c->count);
	json_number(&j, "size", c->size);
	json_number(&j, "stored", c->stored);
	json_bool(&j, "zstd", c->flags & TRACE_CHUNK_ZSTD);
	json_number(&j, "time", c->time);
	json_close(&j, '}');
	buf_add_char(&d->out, '\n');
}

int dump_chunks(struct dump *d, bool json, struct err *err)
{
	struct index index;
	uint64_t *offsets;
	size_t count = 0;

	if (index_open(&index, d->path, INDEX_LOSSY, err) < 0)
		return err_prefix(err, "%s", d->path);
	offsets = xcalloc(index.event_count + index.other_count + 1, sizeof(*offsets));
	for (size_t i = 0; i < index.event_count; i++)
		offsets[count++] = index.events[i].offset;
	for (size_t i = 0; i < index.other_count; i++)
		offsets[count++] = index.others[i];
	qsort(offsets, count, sizeof(*offsets), compare);
	if (!json)
		buf_addf(&d->out, "%12s  %-6s  %6s  %8s  %9s  %9s  %9s  %-6s%s\n", "offset", "type",
			 "thread", "seq", "records", "size", "stored", "", "time");
	for (size_t i = 0; i < count && !d->failure; i++) {
		struct trace_chunk chunk = index_header(&index, offsets[i]);

		show(d, offsets[i], &chunk, json);
		dump_flush(d, false);
	}
	if (!json && index.torn_bytes)
		buf_addf(&d->out, "%llu bytes belong to no complete chunk\n",
			 (unsigned long long)index.torn_bytes);
	free(offsets);
	index_close(&index);
	return 0;
}
