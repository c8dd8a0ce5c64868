/*
 * Switches off access sites by changing code (site_filter.h).
 *
 * Each executable segment of a module is scanned for inlined sites, loops and calls of range hooks
 * (site_scan.h). A site that the list does not name gets a short jump over its check. If all sites
 * of a loop are off, its copy without hooks runs, and the code behind it is skipped. Segments are
 * writable only while they are changed, and always executable.
 */
#include "runtime/record/site_filter.h"

#include <elf.h>
#include <sys/mman.h>

#include "runtime/core/sys.h"
#include "abi/layout.h"
#include "runtime/record/ring.h"
#include "runtime/record/shadow.h"
#include "runtime/record/site_list.h"
#include "runtime/record/site_scan.h"

#define PAGE 4096ull

static struct {
	bool wanted;		/* there is a list or a lookup function */
	sites_lookup *lookup;	/* used instead of `file`; or NULL */
	bool emitted;		/* the META chunk about the list has been written */
	bool denied;		/* code could not be changed, and the warning was printed */
	const char *error;	/* why the list is not used; NULL: it is used */
	/* pcs of the range hooks, whose calls are switched off, too. */
	uint64_t range_hooks[2];
	struct sitefile file;
} list;

static size_t append_text(char *to, size_t n, size_t size, const char *text)
{
	while (*text && n + 1 < size)
		to[n++] = *text++;
	to[n] = 0;
	return n;
}

void snarlrt_sites_load(const char *path, const uint64_t range_hooks[2])
{
	list.wanted = true;
	list.range_hooks[0] = range_hooks[0];
	list.range_hooks[1] = range_hooks[1];
	list.error = sitefile_load(&list.file, path);
	if (list.error)
		sys_warn_about("all sites are recorded, the list was not used: ", list.error, path);
}

void snarlrt_sites_use(sites_lookup *lookup)
{
	list.wanted = true;
	list.lookup = lookup;
}

/* An address in the dynamic section. Some C libraries relocate these addresses, some do not. */
static uint64_t dynamic_entry(const struct dl_phdr_info *info, const ElfW(Dyn) *d, ElfW(Sxword) tag)
{
	for (; d->d_tag != DT_NULL; d++)
		if (d->d_tag == tag)
			return d->d_un.d_ptr < info->dlpi_addr ? d->d_un.d_ptr + info->dlpi_addr
							       : d->d_un.d_ptr;
	return 0;
}

static bool same_name(const char *a, const char *b)
{
	while (*a && *a == *b)
		a++, b++;
	return *a == *b;
}

/*
 * Whether the module may have inlined sites: a library with sites imports __snarl_tls. So the code
 * of large foreign libraries is not even read from disk.
 */
static bool may_have_sites(const struct dl_phdr_info *info)
{
	const ElfW(Dyn) *section = NULL;
	const ElfW(Sym) *symbols;
	const uint32_t *hash, *old_hash;
	const char *names;
	uint32_t count;

	for (int i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_DYNAMIC)
			section = (const void *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
	if (!section || !info->dlpi_name || !info->dlpi_name[0])
		return true;	/* the program itself */
	symbols = (const void *)dynamic_entry(info, section, DT_SYMTAB);
	names = (const void *)dynamic_entry(info, section, DT_STRTAB);
	hash = (const void *)dynamic_entry(info, section, DT_GNU_HASH);
	old_hash = (const void *)dynamic_entry(info, section, DT_HASH);
	if (!symbols || !names || (!hash && !old_hash))
		return true;
	/* The GNU hash table has no imported symbols; these come before its first one, hash[1]. */
	count = hash ? hash[1] : old_hash[1];
	for (uint32_t i = 0; i < count; i++)
		if (same_name(names + symbols[i].st_name, "__snarl_tls"))
			return true;
	return false;
}

/* The executable segment that is being changed. */
struct segment {
	struct snarlrt_sites *sites;
	bool listed;		/* the list names the module */
	const struct dl_phdr_info *info;
	uint8_t *text;
	uint64_t base;
	/* Sites of the list that the scan has not reached yet, ascending. */
	const uint64_t *kept, *kept_end;
	uint64_t size, first_page, pages;	/* in bytes */
	int protection;
	bool writable, denied;
	/* Start of the code behind a loop that was found last, and that loop's descriptor. */
	uint8_t *end;
	const struct loop *end_of;
};

static bool protect(const struct segment *s, int protection)
{
	return sys_call(SYS_mprotect, s->first_page, s->pages, protection) == 0;
}

/* Makes the segment writable. It stays executable, because this code is part of it. */
static bool make_writable(struct segment *s)
{
	if (s->writable || s->denied)
		return s->writable;
	s->writable = s->protection & PROT_WRITE || protect(s, s->protection | PROT_WRITE);
	s->denied = !s->writable;
	if (s->denied && !list.denied)
		sys_warn("this system forbids to change code: all sites are recorded");
	list.denied |= s->denied;
	return s->writable;
}

/* Whether the site whose code ends at `end` stays on. Called for sites in ascending order. */
static bool stays_on(struct segment *s, size_t end)
{
	uint64_t pc = (uint64_t)s->text + end - s->base;

	while (s->kept < s->kept_end && *s->kept < pc)
		s->kept++;
	return !s->listed || (s->kept < s->kept_end && *s->kept == pc);
}

static void on_site(void *context, size_t start, size_t end)
{
	struct segment *s = context;
	uint8_t jump[SITES_JUMP_SIZE];

	s->sites->found++;
	if (stays_on(s, end) || !make_writable(s))
		return;
	sites_jump(jump, start, end);
	for (size_t i = 0; i < sizeof(jump); i++)
		s->text[start + i] = jump[i];
	sites_skip_split(s->text, start, end);
	s->sites->off++;
	s->sites->jump = s->text + start;
}

static bool is_mapped(const struct dl_phdr_info *info, uint64_t addr, uint64_t size)
{
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *ph = &info->dlpi_phdr[i];
		uint64_t from = addr - info->dlpi_addr - ph->p_vaddr;

		if (ph->p_type == PT_LOAD && ph->p_flags & PF_R && from <= ph->p_filesz &&
		    size <= ph->p_filesz - from)
			return true;
	}
	return false;
}

/* Whether these bytes can be the descriptor of a loop. */
static bool is_loop(const struct segment *s, const struct loop *l)
{
	return (uint64_t)l % sizeof(uint64_t) == 0 && is_mapped(s->info, (uint64_t)l, sizeof(*l)) &&
	       l->accesses - 1 < TRACE_LOOP_ACCESSES && l->silent <= TRACE_LOOP_ACCESSES &&
	       is_mapped(s->info, (uint64_t)l->access,
			 l->accesses * sizeof(l->access[0]) +
				 (l->silent ? l->silent + 1u : 0) * sizeof(uint64_t));
}

static bool is_switched_off(const struct segment *s, uint64_t pc)
{
	uint64_t offset = pc - (uint64_t)s->text;

	return offset <= s->size && sites_is_off(s->text + offset, offset);
}

/*
 * Whether all sites that the descriptor names are switched off. If so, it cannot be other data that
 * has the form of a descriptor.
 */
static bool is_loop_off(const struct segment *s, const struct loop *l)
{
	for (uint32_t i = 0; i < l->accesses; i++)
		if (!is_switched_off(s, l->access[i].site & TRACE_ADDR_MASK))
			return false;
	return true;
}

/*
 * Whether the loop may run without hooks: all its silent accesses, which no record describes, are
 * switched off. If so, the jump to the copy with hooks, if there is one, becomes a nop.
 */
static bool may_drop_hooks(const struct segment *s, const struct loop *l)
{
	const uint64_t *silent = loop_silent(l);
	uint64_t jump;

	for (uint32_t i = 0; i < l->silent; i++)
		if (!is_switched_off(s, silent[i]))
			return false;
	if (l->silent == 0)
		return true;
	jump = silent[l->silent] - (uint64_t)s->text;
	return jump < s->size && s->size - jump >= SITES_CALL_SIZE && sites_no_jump(s->text + jump);
}

/*
 * Handles the code behind a loop without hooks: a call of __snarl_loop, perhaps preceded by inlined
 * code. If all sites of the loop are switched off, both are skipped, and the loop is not recorded.
 */
static void on_loop(void *context, size_t start, size_t descriptor)
{
	struct segment *s = context;
	uint8_t *at = s->text + start;
	const struct loop *l = (const void *)(s->text + descriptor);

	if (*at == SITES_PREFIX) {
		s->end = at;
		s->end_of = l;
	} else if (is_loop(s, l) && may_drop_hooks(s, l) && is_loop_off(s, l)) {
		if (s->end_of == l)
			sites_go(s->end, at);
		sites_no_call(at);
	}
}

/*
 * Replaces a call of a range hook by a nop, unless the list names it. gcc emits such calls for
 * copies of structures, and for members of packed ones.
 */
static void on_call(void *context, size_t start, size_t target)
{
	struct segment *s = context;
	uint64_t to = (uint64_t)s->text + target;

	if ((to == list.range_hooks[0] || to == list.range_hooks[1]) &&
	    !stays_on(s, start + SITES_CALL_SIZE) && make_writable(s))
		sites_no_call(s->text + start);
}

static void apply_segment(struct snarlrt_sites *sites, const uint64_t *kept_sites, size_t count,
			  const struct dl_phdr_info *info, const ElfW(Phdr) *ph)
{
	uint64_t base = info->dlpi_addr;
	struct segment s = { .sites = sites,
			     .info = info,
			     .size = ph->p_filesz,
			     .listed = kept_sites != NULL,
			     .kept = kept_sites,
			     .kept_end = kept_sites + count,
			     .text = (uint8_t *)(base + ph->p_vaddr),
			     .base = base,
			     .first_page = (base + ph->p_vaddr) & ~(PAGE - 1),
			     .protection = PROT_READ | PROT_EXEC };

	s.pages = ((base + ph->p_vaddr + ph->p_filesz + PAGE - 1) & ~(PAGE - 1)) - s.first_page;
	if (ph->p_flags & PF_W)
		s.protection |= PROT_WRITE;
	sites_scan(s.text, s.size, on_site, &s);
	if (s.writable)
		sites_scan_loops(s.text, s.size, on_loop, &s);
	s.kept = kept_sites;
	if (s.listed && sites->found && !list.lookup)
		sites_scan_calls(s.text, s.size, on_call, &s);
	if (s.writable)
		protect(&s, s.protection);
}

/* Adds the module's sharing sites. They stay when the module is unmapped. */
static void add_sharing_sites(const struct dl_phdr_info *info, const uint8_t *id, uint32_t id_size)
{
	size_t count;
	const uint64_t *sites = sitefile_sharing(&list.file, id, id_size, &count);

	for (size_t i = 0; i < count; i++)
		shadow_add_sharing_site(info->dlpi_addr + sites[i]);
}

void snarlrt_sites_apply(struct snarlrt_sites *s, const struct dl_phdr_info *info,
			 const uint8_t *id, uint32_t id_size)
{
	size_t count;
	const uint64_t *kept_sites = list.lookup ? list.lookup(id, id_size, &count)
					     : sitefile_places(&list.file, id, id_size, &count);

	if (!list.wanted || list.error || (s->jump && *s->jump == 0xeb))
		return;
	*s = (struct snarlrt_sites){ .unknown = !kept_sites };
	add_sharing_sites(info, id, id_size);
	if (count == 0 && !may_have_sites(info))
		return;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *ph = &info->dlpi_phdr[i];

		if (ph->p_type == PT_LOAD && (ph->p_flags & (PF_R | PF_X)) == (PF_R | PF_X))
			apply_segment(s, kept_sites, count, info, ph);
	}
}

static struct {
	struct trace_chunk chunk;
	char text[256];
} meta;

static size_t put_number(size_t n, const char *key, uint64_t v)
{
	char digits[24], *p = digits + sizeof(digits) - 1;

	*p = 0;
	do {
		*--p = (char)('0' + v % 10);
		v /= 10;
	} while (v);
	n = append_text(meta.text, n, sizeof(meta.text), key) + 1;
	return append_text(meta.text, n, sizeof(meta.text), p) + 1;
}

static void write_meta(size_t size)
{
	meta.chunk = (struct trace_chunk){ .type = TRACE_CHUNK_META, .stored = (uint32_t)size };
	snarlrt_chunk_write(&meta.chunk);
}

void snarlrt_sites_write_meta(void)
{
	size_t n;

	if (!list.wanted || list.emitted)
		return;
	list.emitted = true;
	n = append_text(meta.text, 0, sizeof(meta.text), "sites_list") + 1;
	n = append_text(meta.text, n, sizeof(meta.text),
			list.error ? list.error : "used") + 1;
	write_meta(n);
}

void snarlrt_sites_write_module(const struct snarlrt_sites *s)
{
	size_t n;

	if (!s->found)
		return;
	n = put_number(0, "sites_total", s->found);
	n = put_number(n, "sites_off", s->off);
	if (s->unknown)
		n = put_number(n, "sites_unknown", s->found);
	write_meta(n);
}

void snarlrt_sites_forked(void)
{
	list.emitted = false;
}
