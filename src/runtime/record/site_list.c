/* Reads a list of sites into memory that is never freed. */
#include "runtime/record/site_list.h"

#include <fcntl.h>
#include <sys/mman.h>

#include "abi/site_list_format.h"
#include "runtime/core/arena.h"
#include "runtime/core/sys.h"

#define PAGE 4096ull

struct sitefile_module {
	struct sitefile_module *next;
	uint8_t id[SITELIST_ID_MAX];
	uint32_t id_size;
	const uint64_t *sites, *sharing;	/* offsets, ascending */
	size_t count, sharing_count;
};

static bool same_id(const struct sitefile_module *m, const uint8_t *id, uint32_t size)
{
	return sitelist_compare_ids(m->id, m->id_size, id, size) == 0;
}

static const struct sitefile_module *find(const struct sitefile *f, const uint8_t *id,
					  uint32_t id_size)
{
	const struct sitefile_module *m = id_size ? f->modules : NULL;

	while (m && !same_id(m, id, id_size))
		m = m->next;
	return m;
}

const uint64_t *sitefile_places(const struct sitefile *f, const uint8_t *id, uint32_t id_size,
				size_t *count)
{
	const struct sitefile_module *m = find(f, id, id_size);

	*count = m ? m->count : 0;
	return m ? m->sites : NULL;
}

const uint64_t *sitefile_sharing(const struct sitefile *f, const uint8_t *id, uint32_t id_size,
				 size_t *count)
{
	const struct sitefile_module *m = find(f, id, id_size);

	*count = m ? m->sharing_count : 0;
	return m ? m->sharing : NULL;
}

static struct sitefile_module *add_module(struct sitefile *f, const struct sitelist_line *line,
					  const uint64_t *sites, const uint64_t *sharing)
{
	struct sitefile_module *m = arena_alloc(sizeof(*m));

	if (!m)
		return NULL;
	for (uint32_t i = 0; i < line->id_size; i++)
		m->id[i] = line->id[i];
	m->id_size = line->id_size;
	m->sites = sites;
	m->sharing = sharing;
	m->next = f->modules;
	f->modules = m;
	return m;
}

/* Returns NULL, or what is wrong with the text. */
static const char *parse(struct sitefile *f, const char *text, size_t size)
{
	struct sitelist in;
	struct sitefile_module *module = NULL;
	enum sitelist_got got;
	uint64_t *site, *sharing;
	size_t room = size / 5 * sizeof(*site) + PAGE;

	if (!sitelist_open(&in, text, size))
		return "it is not a list of sites";
	/* Room for the most lines that the text can have; pages that are not used cost nothing. */
	site = arena_pages(room);
	sharing = arena_pages(room);
	if (!site || !sharing)
		return "no memory for it";
	while ((got = sitelist_next(&in)) == SITELIST_LINE) {
		if (!module || !same_id(module, in.last.id, in.last.id_size))
			module = add_module(f, &in.last, site, sharing);
		if (!module)
			return "no memory for it";
		if (in.last.has_site) {
			*site++ = in.last.offset;
			module->count++;
		}
		if (in.last.shares) {
			*sharing++ = in.last.offset;
			module->sharing_count++;
		}
	}
	return got == SITELIST_END ? NULL : "it is damaged";
}

const char *sitefile_load(struct sitefile *f, const char *path)
{
	long fd = sys_call(SYS_open, path, O_RDONLY | O_CLOEXEC, 0), size;
	const char *text, *error;

	if (fd < 0)
		return "it cannot be opened";
	size = sys_call(SYS_lseek, fd, 0, SEEK_END);
	text = size > 0 ? sys_mmap(NULL, (size_t)size, PROT_READ, MAP_PRIVATE, (int)fd, 0)
			: (const char *)-1;
	sys_call(SYS_close, fd, 0, 0);
	if (sys_failed(text))
		return size == 0 ? "it is empty" : "it cannot be read";
	error = parse(f, text, (size_t)size);
	sys_call(SYS_munmap, text, size, 0);
	return error;
}
