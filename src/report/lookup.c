#include "report/lookup.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#define FRAMES 16	/* inlined frames of a pc among which the one to show is chosen */

void lookup_free(struct lookup *l)
{
	map_free(&l->index);
	free(l->frames);
	pool_free(&l->names);
}

/*
 * The label of an address in a text trace, or NULL. `kind` is "label" for pcs, "object" for memory.
 */
static const char *label_of(const struct lookup *l, const char *kind, uint64_t addr)
{
	char key[40];

	snprintf(key, sizeof(key), "%s:0x%llx", kind, (unsigned long long)addr);
	return reader_meta(l->reader, key, 0);
}

void lookup_origin(struct lookup *l, struct object *object)
{
	const struct symbol_frame *frame;

	if ((object->kind != OBJECT_HEAP && object->kind != OBJECT_MAPPING) || object->file)
		return;
	frame = lookup_frame(l, object->site);
	object->file = frame->file;
	object->line = frame->line;
	object->function = frame->function;
}

void lookup_object(struct lookup *l, const struct object *object, struct buf *out)
{
	const char *label = object->kind == OBJECT_RAW ? label_of(l, "object", object->addr) : NULL;
	struct object now = *object;

	lookup_origin(l, &now);
	now.gone = false;
	if (label)
		buf_add_text(out, label);
	else
		object_describe(&now, out);
}

static bool frame_of_label(struct lookup *l, uint64_t pc, struct symbol_frame *out)
{
	const char *label = label_of(l, "label", pc), *file, *line;

	if (!label)
		return false;
	*out = (struct symbol_frame){ .function = label };
	line = strrchr(label, ':');
	if (!line)
		return true;
	file = memchr(label, ':', (size_t)(line - label));
	out->function = file ? pool_bytes(&l->names, label, (size_t)(file - label)) : "??";
	file = file ? file + 1 : label;
	out->file = pool_bytes(&l->names, file, (size_t)(line - file));
	out->line = (unsigned)strtoul(line + 1, NULL, 10);
	return true;
}

const struct symbol_frame *lookup_frame(struct lookup *l, uint64_t pc)
{
	struct symbol_frame frames[FRAMES];
	bool added;
	uint64_t *slot = map_put(&l->index, pc, &added);
	size_t count;

	if (!added)
		return &l->frames[*slot];
	*slot = l->count;
	count = frame_of_label(l, pc, frames) ? 1 : symbols_frames(l->symbols, pc, frames, FRAMES);
	l->frames = xgrow(l->frames, l->count, &l->capacity, sizeof(*l->frames));
	l->frames[l->count] = *symbol_own_frame(frames, count);
	return &l->frames[l->count++];
}
