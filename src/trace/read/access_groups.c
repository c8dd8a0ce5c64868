#include "trace/read/access_groups.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

void access_groups_free(struct access_groups *b)
{
	free(b->entries);
	free(b->accesses);
	map_free(&b->by_site);
	*b = (struct access_groups){ 0 };
}

static bool is_access(uint16_t op)
{
	unsigned kind = op & 0xff;

	return op == 0 || kind == TRACE_READ || kind == TRACE_WRITE;
}

static void add(struct access_groups *b, const struct trace_access_group *from, uint64_t time)
{
	uint64_t *last = map_put(&b->by_site, from->site & TRACE_ADDR_MASK, NULL);
	struct trace_record accesses[ACCESS_GROUP_MAX];
	unsigned n = trace_access_group_expand(from, 0, accesses);

	b->entries = xgrow(b->entries, b->count, &b->capacity, sizeof(*b->entries));
	b->entries[b->count++] = (struct access_group){
		.time = time,
		.first = b->access_count,
		.accesses = n,
		.count = from->count,
		.earlier = *last,
	};
	*last = b->count;
	for (unsigned i = 0; i < n; i++) {
		b->accesses = xgrow(b->accesses, b->access_count, &b->access_capacity,
				    sizeof(*b->accesses));
		b->accesses[b->access_count++] = accesses[i];
	}
}

int access_groups_add(struct access_groups *b, const uint8_t *payload, size_t size, uint64_t time)
{
	union {
		struct trace_access_group group;
		uint8_t bytes[sizeof(struct trace_access_group) +
			      ACCESS_GROUP_MAX * sizeof(struct trace_group_access)];
	} one;

	while (size > 0) {
		size_t bytes;

		if (size < sizeof(one.group))
			return -1;
		memcpy(one.bytes, payload, sizeof(one.group));
		bytes = trace_access_group_size(one.group.count);
		if (one.group.count < ACCESS_GROUP_MIN || one.group.count > ACCESS_GROUP_MAX ||
		    bytes > size)
			return -1;
		memcpy(one.bytes, payload, bytes);
		for (unsigned i = 0; i < one.group.count; i++)
			if (!is_access(one.group.access[i].op))
				return -1;
		add(b, &one.group, time);
		payload += bytes;
		size -= bytes;
	}
	return 0;
}

/* The group that a record refers to; NULL if there is none with its number of accesses. */
static const struct access_group *find(const struct access_groups *b, uint64_t site, uint64_t time)
{
	const uint64_t *at = map_find(&b->by_site, site & TRACE_ADDR_MASK);
	const struct access_group *e;

	if (!at)
		return NULL;
	e = &b->entries[*at - 1];
	while (e->time > time && e->earlier)
		e = &b->entries[e->earlier - 1];
	return e->count == trace_access_group_count(site) ? e : NULL;
}

int access_groups_expand(const struct access_groups *b, const struct trace_record *r, uint64_t time,
			 struct trace_record *to)
{
	const struct access_group *e = find(b, r->site, time);
	uint64_t addr = r->addr;

	if (!e)
		return -1;
	for (uint32_t i = 0; i < e->accesses; i++) {
		const struct trace_record *a = &b->accesses[e->first + i];

		to[i].addr = (addr + a->addr) & TRACE_ADDR_MASK;
		to[i].site = a->site;
	}
	return (int)e->accesses;
}
