/*
 * Reports where each module is mapped, so that the tool can symbolise pcs, and applies lists of
 * sites to the module's code.
 */
#include <elf.h>
#include <link.h>

#include "runtime/control/control.h"
#include "runtime/control/library_waits.h"
#include "runtime/core/arena.h"
#include "runtime/core/deferred_signals.h"
#include "runtime/core/lock.h"
#include "runtime/core/sys.h"
#include "runtime/monitor/monitor.h"
#include "runtime/process/modules.h"
#include "runtime/record/ring.h"
#include "runtime/record/site_filter.h"

#define BUILD_ID_MAX 64u

/* State of one scan, and the module that dl_iterate_phdr() is at. */
struct found {
	uint64_t seen;		/* for on_opened(): number of modules visited */
	bool any_new;		/* a module was reported for the first time */
	unsigned long long adds, subs;	/* dlpi_adds and dlpi_subs of this scan */
	/* A MODULE chunk: the members from here on are written in one piece. */
	struct trace_chunk chunk;
	struct trace_module module;
	uint8_t rest[BUILD_ID_MAX + 4096];	/* the build-id, then the path */
};

/* A module that the last scan saw. */
struct module {
	uint64_t base, start, end;	/* load bias; addresses that it is mapped to */
	/* Checksum of build-id and path: distinguishes files mapped at one address in turn. */
	uint32_t check;
	uint32_t scan;		/* number of the last scan that saw it */
	bool reported;
	struct snarlrt_sites sites;
	struct module *next;
};

static struct module *loaded, *unused;	/* unused: a free list */
static struct snarlrt_lock scan_lock;
static uint32_t scans;			/* number of scans so far */
static unsigned long long adds, subs;	/* dlpi_adds and dlpi_subs of the last scan */

/* Returns the entry of the module, which is added if it is new. NULL: there is no memory. */
static struct module *get_module(const struct trace_module *found, uint32_t check)
{
	struct module *m;

	for (m = loaded; m; m = m->next)
		if (m->base == found->base && m->start == found->start && m->check == check)
			return m;
	m = unused ? unused : arena_alloc(sizeof(*m));
	if (!m)
		return NULL;
	if (m == unused)
		unused = m->next;
	*m = (struct module){ .base = found->base,
			      .start = found->start,
			      .end = found->end,
			      .check = check,
			      .next = loaded };
	loaded = m;
	return m;
}

/* Copies the build-id from a note segment; returns its size, or 0. */
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

/*
 * Copies the module's absolute path and returns its length. dl_iterate_phdr() gives the executable
 * an empty name. A library opened by a relative path keeps that name even if the program changes
 * its directory later.
 */
static uint32_t copy_path(uint8_t *to, size_t room, const char *name)
{
	uint32_t n = 0;
	bool relative = false;
	long got;

	if (!name || !name[0]) {
		got = sys_call(SYS_readlink, "/proc/self/exe", to, room);
		return got > 0 ? (uint32_t)got : 0;
	}
	for (const char *p = name; *p && name[0] != '/'; p++)
		relative |= *p == '/';
	got = relative ? sys_call(SYS_getcwd, to, room - 1, 0) : 0;
	if (got > 1) {
		n = (uint32_t)got;	/* includes the NUL, which becomes the slash */
		to[n - 1] = '/';
		name += name[0] == '.' && name[1] == '/' ? 2 : 0;
	}
	for (; *name && n < room; n++)
		to[n] = (uint8_t)*name++;
	return n;
}

static void describe(struct found *f, const struct dl_phdr_info *info)
{
	struct trace_module *m = &f->module;

	*m = (struct trace_module){ .base = info->dlpi_addr, .start = UINT64_MAX };
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *ph = &info->dlpi_phdr[i];

		if (ph->p_type == PT_LOAD) {
			if (m->base + ph->p_vaddr < m->start)
				m->start = m->base + ph->p_vaddr;
			if (m->base + ph->p_vaddr + ph->p_memsz > m->end)
				m->end = m->base + ph->p_vaddr + ph->p_memsz;
		}
		if (ph->p_type == PT_NOTE && !m->build_id_size)
			m->build_id_size = copy_build_id(f->rest, m->base, ph);
	}
	m->path_size = copy_path(f->rest + m->build_id_size, sizeof(f->rest) - 1 - m->build_id_size,
				 info->dlpi_name);
}

static void report_module(struct found *f, struct module *m)
{
	m->reported = f->any_new = true;
	if (mode_monitors()) {
		f->rest[f->module.build_id_size + f->module.path_size] = 0;
		monitor_module(f->rest, f->module.build_id_size, f->module.base,
			     (const char *)f->rest + f->module.build_id_size);
		return;
	}
	f->module.time = sys_ticks() & ~1ull;
	f->chunk = (struct trace_chunk){ .type = TRACE_CHUNK_MODULE,
					 .time = f->module.time,
					 .stored = (uint32_t)sizeof(f->module) +
						   f->module.build_id_size + f->module.path_size };
	snarlrt_chunk_write(&f->chunk);
	snarlrt_sites_write_meta();
	snarlrt_sites_write_module(&m->sites);
}

static int on_module(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct found *f = arg;
	struct module *m;

	(void)size;
	/* Constructors cause a scan for each file of a library; usually no module is new. */
	if (loaded && info->dlpi_adds == adds && info->dlpi_subs == subs)
		return 1;
	f->adds = info->dlpi_adds;
	f->subs = info->dlpi_subs;
	describe(f, info);
	if (f->module.end == 0)
		return 0;
	m = get_module(&f->module,
			trace_check(f->rest, f->module.build_id_size + f->module.path_size));
	if (!m)
		return 0;
	m->scan = scans;
	snarlrt_sites_apply(&m->sites, info, f->rest, f->module.build_id_size);
	if (!m->reported)
		report_module(f, m);
	return 0;
}

/* Removes unmapped modules, and resets the shadow of their memory: addresses may be reused. */
static void drop_unmapped(void)
{
	struct module **at = &loaded;

	while (*at) {
		struct module *m = *at;

		if (m->scan == scans) {
			at = &m->next;
			continue;
		}
		snarlrt_fresh((const void *)m->start, m->end - m->start);
		*at = m->next;
		m->next = unused;
		unused = m;
	}
}

/*
 * In a controlled run: adds the module to the report. With a fork server, only modules opened since
 * main began are added, since the tool finds the others in the server's /proc/PID/maps.
 */
static int on_opened(struct dl_phdr_info *info, size_t size, void *arg)
{
	/* Number of modules loaded before main. They come first: the order is that of loading. */
	static uint64_t at_start;
	struct ctl_report *r = &ctl.block->report;
	struct found *f = arg;
	struct ctl_module *m;

	(void)size;
	f->seen++;
	if (!ctl.begun)
		at_start = ctl.server < 0 ? 0 : f->seen;
	if (f->seen <= at_start || r->modules >= CTL_MODULES)
		return 0;
	describe(f, info);
	for (uint32_t i = 0; i < r->modules; i++)
		if (r->module[i].base == f->module.base)
			return 0;
	if (f->module.path_size >= sizeof(m->path))
		return 0;
	m = &r->module[r->modules++];
	m->base = f->module.base;
	for (uint32_t i = 0; i < f->module.path_size; i++)
		m->path[i] = (char)f->rest[f->module.build_id_size + i];
	m->path[f->module.path_size] = 0;
	return 0;
}

static void report_opened(void)
{
	static struct found found;

	if (!ctl.block || ctl.private_child || ctl.ended)
		return;
	found.seen = 0;
	snarlrt_hide();
	dl_iterate_phdr(on_opened, &found);
	snarlrt_unhide();
}

void snarlrt_modules_scan(void)
{
	static struct found found;
	uint64_t mask;
	int nothing_new;

	if (mode_controls()) {
		ctl_libraries_scan();
		report_opened();
	}
	if (mode_is_off() || (!snarlrt.live && !mode_monitors()))
		return;
	mask = snarlrt_signals_block();
	snarlrt_lock(&scan_lock);
	scans++;
	snarlrt_hide();
	nothing_new = dl_iterate_phdr(on_module, &found);
	snarlrt_unhide();
	if (!nothing_new) {
		drop_unmapped();
		if (found.any_new && adds)
			snarlrt_stamp();	/* accesses by the new modules' code come later */
		found.any_new = false;
		adds = found.adds;
		subs = found.subs;
	}
	snarlrt_unlock(&scan_lock);
	snarlrt_signals_set(mask);
}

/* Arguments and results of snarlrt_module_id(). */
struct id_query {
	uint64_t address, base;
	uint32_t room, size;	/* bytes of the buffer `id`; bytes of the build-id found */
	uint8_t *id;
};

static int on_queried(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct id_query *w = arg;
	bool inside = false;
	uint32_t found = 0;
	uint8_t id[BUILD_ID_MAX];

	(void)size;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *ph = &info->dlpi_phdr[i];

		inside |= ph->p_type == PT_LOAD &&
			  w->address - info->dlpi_addr - ph->p_vaddr < ph->p_memsz;
		if (ph->p_type == PT_NOTE && !found)
			found = copy_build_id(id, info->dlpi_addr, ph);
	}
	if (!inside)
		return 0;
	w->base = info->dlpi_addr;
	w->size = found <= w->room ? found : 0;
	for (uint32_t i = 0; i < w->size; i++)
		w->id[i] = id[i];
	return 1;
}

uint32_t snarlrt_module_id(const void *address, uint8_t *id, uint32_t room, uint64_t *base)
{
	struct id_query w = { .address = (uint64_t)address, .id = id, .room = room };

	snarlrt_hide();
	dl_iterate_phdr(on_queried, &w);
	snarlrt_unhide();
	*base = w.base;
	return w.size;
}

void snarlrt_modules_fork(bool begin)
{
	if (begin)
		snarlrt_lock(&scan_lock);
	else
		snarlrt_unlock(&scan_lock);
}

void snarlrt_modules_forked(void)
{
	for (struct module *m = loaded; m; m = m->next)
		m->reported = false;
	adds = subs = 0;
	snarlrt_sites_forked();
}
