/*
 * The run ends with the use, so that its trace mostly lacks the use, and the analyses see a block
 * that was freed and never used again. The failure says where the use was, which completes the
 * order.
 */
#include "explore/lead/use_after_free.h"

#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "trace/read/kinds.h"

struct walk {
	struct map blocks;	/* address of a block to its size; 0: freed */
	struct map indexes;	/* by thread: number of events so far */
	const char *user;	/* path of the thread that used the block */
	uint64_t object, use_pc;	/* address and pc of the use, from the failure */
	struct candidate_event freed, used;	/* thread 0: not found yet */
};

static bool is_user(const struct walk *w, struct reader *r, uint32_t thread)
{
	const struct reader_thread *t = reader_thread(r, thread);

	return t && strcmp(t->name, w->user) == 0;
}

/* Keeps track of blocks; sets w->freed if the event frees the block that was used. */
static void note_block(struct walk *w, const struct event *ev, uint64_t index)
{
	uint64_t *size;

	if (ev->kind == TRACE_MALLOC && ev->result == 0) {
		*map_put(&w->blocks, ev->addr, NULL) = ev->arg;
		return;
	}
	size = ev->kind == TRACE_FREE ? map_find(&w->blocks, ev->addr) : NULL;
	if (!size || w->object - ev->addr >= *size)
		return;
	w->freed = (struct candidate_event){
		.thread = ev->thread, .kind = ev->kind, .index = index, .time = ev->time,
		.addr = ev->addr, .size = *size, .pc = ev->pc,
	};
	*size = 0;
}

/*
 * Finds the free, and the index of the use: the last event of its thread, if that is the use, else
 * the one that would have come next.
 */
static void find(struct walk *w, struct reader *r)
{
	struct event ev;
	struct err err;

	while (reader_next(r, &ev, &err) > 0) {
		uint64_t index = (*map_put(&w->indexes, ev.thread, NULL))++;

		note_block(w, &ev, index);
		if (!is_user(w, r, ev.thread))
			continue;
		w->used = (struct candidate_event){
			.thread = ev.thread, .kind = ev.kind, .index = index, .time = ev.time,
			.addr = ev.addr, .size = ev.size, .pc = ev.pc,
		};
	}
	if (w->used.pc != w->use_pc || w->used.time < w->freed.time ||
	    (kind_has_size(w->used.kind) && w->object - w->used.addr >= w->used.size))
		w->used.index++;	/* the trace ends before the use */
}

/* Counts the visits to both sites, in a second pass over the trace. */
static void count(struct walk *w, struct reader *r)
{
	struct event ev;
	struct err err;

	map_free(&w->indexes);
	while (reader_next(r, &ev, &err) > 0) {
		uint64_t index = (*map_put(&w->indexes, ev.thread, NULL))++;

		w->freed.nth += ev.thread == w->freed.thread && ev.pc == w->freed.pc &&
				index <= w->freed.index;
		w->used.nth +=
			ev.thread == w->used.thread && ev.pc == w->use_pc && index < w->used.index;
	}
	w->used.nth++;
}

/* Reads from the failure's text what the use was: "4-byte write at ..." or "unlock at ...". */
static void read_use(struct candidate_event *used, const char *text)
{
	static const char head[] = "use after free: ";
	int kind;

	if (strncmp(text, head, sizeof(head) - 1) == 0)
		text += sizeof(head) - 1;
	kind = kind_find(text, strcspn(text, " "));
	used->size = kind >= 0 ? 1 : strtoull(text, NULL, 10);
	if (kind >= 0)
		used->kind = (uint16_t)kind;
	else
		used->kind = strstr(text, "-byte write ") ? TRACE_WRITE : TRACE_READ;
}

bool use_after_free_candidate(struct reader *r, const char *user,
			      const struct oracle_result *failure, struct candidate *out)
{
	struct walk w = { .user = user };
	struct err err;
	bool found = false;

	if (failure->failure == ORACLE_UAF && failure->site_count) {
		w.object = failure->sites[0].object;
		w.use_pc = failure->sites[0].pc;
		if (reader_rewind(r, &err) == 0)
			find(&w, r);
		found = w.freed.thread && w.used.thread && w.freed.thread != w.used.thread &&
			reader_rewind(r, &err) == 0;
	}
	if (found) {
		count(&w, r);
		read_use(&w.used, failure->text);
		w.used.pc = w.use_pc;
		w.used.addr = w.object;
		*out = (struct candidate){
			.class = CANDIDATE_ORDER,
			.pattern = PATTERN_USE_FREE,
			.events = 2,
			.orders = 1,
			.count = 1,
			.event = { w.freed, w.used },
			.order = { { 0, 1 } },
			.addr = w.object,
			.size = w.used.size,
			.seen = true,
			.note = "it was freed before its last use",
		};
		memset(out->hold, -1, sizeof(out->hold));
	}
	map_free(&w.blocks);
	map_free(&w.indexes);
	return found;
}
