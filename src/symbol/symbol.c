#include "symbol/symbol.h"

#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"
#include "symbol/image.h"

#define FRAMES_MAX 64	/* of a pc */

struct module {
	char *path;
	struct image *image;	/* NULL: the file cannot be used */
	uint64_t base, start, end;
};

/* The frames of a pc. */
struct pc_frames {
	struct symbol_frame *frame;
	size_t count;
};

struct symbols {
	struct module *modules;
	size_t count, capacity;
	size_t last;		/* index of the module that was found last */
	bool overlap;		/* some modules overlap earlier ones */
	uint64_t low, high;	/* range of all modules */
	/* A cache of frames by pc: a trace has the same pcs millions of times. */
	struct map frames_of_pc;	/* pc to index in `frames` */
	struct pc_frames *frames;
	size_t frames_count, frames_capacity;
	const struct symbols *shared;	/* its files are used if they fit; may be NULL */
};

struct symbols *symbols_new(void)
{
	return xcalloc(1, sizeof(struct symbols));
}

/* Empties the cache of frames. */
static void forget_frames(struct symbols *s)
{
	for (size_t i = 0; i < s->frames_count; i++)
		free(s->frames[i].frame);
	s->frames_count = 0;
	map_free(&s->frames_of_pc);
}

void symbols_free(struct symbols *s)
{
	if (!s)
		return;
	forget_frames(s);
	for (size_t i = 0; i < s->count; i++) {
		image_close(s->modules[i].image);
		free(s->modules[i].path);
	}
	free(s->modules);
	free(s->frames);
	free(s);
}

void symbols_share(struct symbols *s, const struct symbols *other)
{
	s->shared = other;
}

static struct image *image_of(const struct symbols *s, const char *path, const uint8_t *build_id,
			      size_t build_id_size, struct err *err)
{
	struct image *image = NULL;

	for (size_t i = 0; s->shared && i < s->shared->count && !image; i++) {
		const struct module *m = &s->shared->modules[i];

		/* By build-id, not by path: /lib is often a link to /usr/lib. */
		if (m->image)
			image = image_share(m->image, build_id, build_id_size);
	}
	return image ? image : image_open(path, build_id, build_id_size, err);
}

int symbols_add(struct symbols *s, const char *path, const uint8_t *build_id,
		size_t build_id_size, uint64_t base, uint64_t start, uint64_t end,
		struct err *err)
{
	struct module *m;

	forget_frames(s);
	s->modules = xgrow(s->modules, s->count, &s->capacity, sizeof(*s->modules));
	m = &s->modules[s->count++];
	*m = (struct module){
		.path = xstrdup(path),
		.image = image_of(s, path, build_id, build_id_size, err),
		.base = base,
		.start = start,
		.end = end,
	};
	for (size_t i = 0; i + 1 < s->count; i++)
		if (start < s->modules[i].end && s->modules[i].start < end)
			s->overlap = true;
	s->low = s->count == 1 || start < s->low ? start : s->low;
	s->high = s->count == 1 || end > s->high ? end : s->high;
	s->last = s->count - 1;
	return m->image ? 0 : -1;
}

static bool covers(const struct module *m, uint64_t addr)
{
	return addr >= m->start && addr < m->end;
}

/* The module added last is found: it was loaded where earlier ones were unloaded. */
static struct module *find_module(struct symbols *s, uint64_t addr)
{
	if (s->count == 0 || addr < s->low || addr >= s->high)
		return NULL;
	if (!s->overlap && covers(&s->modules[s->last], addr))
		return &s->modules[s->last];
	for (size_t i = s->count; i-- > 0;)
		if (covers(&s->modules[i], addr)) {
			s->last = i;
			return &s->modules[i];
		}
	return NULL;
}

static struct pc_frames find_frames(struct symbols *s, uint64_t pc)
{
	struct symbol_frame all[FRAMES_MAX] = { { .function = "??" } };
	struct module *m = pc == 0 ? NULL : find_module(s, pc - 1);
	struct pc_frames found = { .count = 1 };

	if (m && m->image)
		found.count = image_frames(m->image, pc - 1 - m->base, all, FRAMES_MAX);
	found.frame = xmalloc(found.count * sizeof(*all));
	memcpy(found.frame, all, found.count * sizeof(*all));
	return found;
}

size_t symbols_frames(struct symbols *s, uint64_t pc, struct symbol_frame *out, size_t max)
{
	bool added;
	uint64_t *index = map_put(&s->frames_of_pc, pc, &added);
	const struct pc_frames *found;
	size_t count;

	if (added) {
		*index = s->frames_count;
		s->frames = xgrow(s->frames, s->frames_count, &s->frames_capacity,
				  sizeof(*s->frames));
		s->frames[s->frames_count++] = find_frames(s, pc);
	}
	found = &s->frames[*index];
	count = found->count < max ? found->count : max;
	memcpy(out, found->frame, count * sizeof(*out));
	return count;
}

bool symbols_variable(struct symbols *s, uint64_t addr, struct symbol_variable *out)
{
	struct module *m = find_module(s, addr);

	return m && m->image && image_variable(m->image, addr - m->base, out);
}

bool symbols_part(struct symbols *s, uint64_t addr, uint64_t size, struct symbol_part *out)
{
	struct module *m = find_module(s, addr);

	return m && m->image && image_part(m->image, addr - m->base, size, out);
}

const char *symbols_module(struct symbols *s, uint64_t pc, uint64_t *offset)
{
	struct module *m = find_module(s, pc);

	if (!m)
		return NULL;
	if (offset)
		*offset = pc - m->base;
	return m->path;
}

bool symbol_is_systems(const char *file)
{
	static const char *const folders[] = { "/usr/include/", "/usr/lib/",
					       "/usr/local/include/" };

	for (size_t i = 0; i < ARRAY_SIZE(folders); i++)
		if (strncmp(file, folders[i], strlen(folders[i])) == 0)
			return true;
	return false;
}

const struct symbol_frame *symbol_own_frame(const struct symbol_frame *frames, size_t count)
{
	const struct symbol_frame *best = NULL;

	for (size_t i = 0; i < count; i++) {
		if (!frames[i].file || !frames[i].line)
			continue;
		if (!symbol_is_systems(frames[i].file))
			return &frames[i];
		best = best ? best : &frames[i];
	}
	return best ? best : frames;
}
