/*
 * Tells the trace which files are mapped where, so that the tool can name pcs.
 */
#include <elf.h>
#include <link.h>

#include "runtime/arena.h"
#include "runtime/clock.h"
#include "runtime/lock.h"
#include "runtime/process.h"
#include "runtime/rt.h"
#include "runtime/sys.h"

#define BUILD_ID_MAX 64u

struct module {
	uint64_t base, start;
	struct module *next;
};

struct found {
	struct trace_chunk chunk;
	struct trace_module module;
	uint8_t rest[BUILD_ID_MAX + 4096];
};

static struct module *known;
static struct snarlrt_lock scan_lock;

static bool seen_before(uint64_t base, uint64_t start)
{
	struct module *m;

	for (m = known; m; m = m->next)
		if (m->base == base && m->start == start)
			return true;
	m = arena_alloc(sizeof(*m));
	if (m) {
		*m = (struct module){ base, start, known };
		known = m;
	}
	return false;
}

static uint32_t copy_build_id(uint8_t *to, uint64_t base, const ElfW(Phdr) *ph)
{
	const uint8_t *p = (const uint8_t *)base + ph->p_vaddr, *end = p + ph->p_memsz;

	while (end - p >= (ptrdiff_t)sizeof(ElfW(Nhdr))) {
		const ElfW(Nhdr) *n = (const ElfW(Nhdr) *)p;
		const uint8_t *name = p + sizeof(*n), *desc = name + ((n->n_namesz + 3) & ~3u);

		if (desc > end || n->n_descsz > (size_t)(end - desc))
			return 0;
		if (n->n_type == NT_GNU_BUILD_ID && n->n_namesz == 4 && name[0] == 'G' &&
		    name[1] == 'N' && name[2] == 'U' && n->n_descsz <= BUILD_ID_MAX) {
			for (uint32_t i = 0; i < n->n_descsz; i++)
				to[i] = desc[i];
			return n->n_descsz;
		}
		p = desc + ((n->n_descsz + 3) & ~3u);
	}
	return 0;
}

/* The main program has no name of its own here. */
static uint32_t copy_path(uint8_t *to, size_t room, const char *name)
{
	uint32_t n = 0;
	long got;

	if (!name || !name[0]) {
		got = sys_call(SYS_readlink, "/proc/self/exe", to, room);
		return got > 0 ? (uint32_t)got : 0;
	}
	for (; name[n] && n < room; n++)
		to[n] = (uint8_t)name[n];
	return n;
}

static int on_module(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct found *f = arg;
	uint64_t start = UINT64_MAX, end = 0;
	uint32_t id_size = 0;

	(void)size;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *ph = &info->dlpi_phdr[i];

		if (ph->p_type == PT_LOAD) {
			if (info->dlpi_addr + ph->p_vaddr < start)
				start = info->dlpi_addr + ph->p_vaddr;
			if (info->dlpi_addr + ph->p_vaddr + ph->p_memsz > end)
				end = info->dlpi_addr + ph->p_vaddr + ph->p_memsz;
		}
		if (ph->p_type == PT_NOTE && !id_size)
			id_size = copy_build_id(f->rest, info->dlpi_addr, ph);
	}
	if (end == 0 || seen_before(info->dlpi_addr, start))
		return 0;
	f->module = (struct trace_module){ .time = sys_ticks() & ~1ull,
					   .base = info->dlpi_addr,
					   .start = start,
					   .end = end,
					   .build_id_size = id_size };
	f->module.path_size = copy_path(f->rest + id_size, sizeof(f->rest) - id_size,
					info->dlpi_name);
	f->chunk = (struct trace_chunk){ .type = TRACE_CHUNK_MODULE,
					 .time = f->module.time,
					 .stored = (uint32_t)sizeof(f->module) + id_size +
						   f->module.path_size };
	snarlrt_chunk_write(&f->chunk);
	return 0;
}

void snarlrt_modules_scan(void)
{
	static struct found found;

	if (snarlrt.mode != SNARLRT_RECORD)
		return;
	snarlrt_hide();
	snarlrt_lock(&scan_lock);
	dl_iterate_phdr(on_module, &found);
	snarlrt_unlock(&scan_lock);
	snarlrt_unhide();
}

/* A forked child writes a trace of its own, and all modules anew. */
void snarlrt_modules_forked(void)
{
	known = NULL;
	scan_lock.state = 0;
}
