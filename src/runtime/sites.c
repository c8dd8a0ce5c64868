#include "runtime/sites.h"

#include <elf.h>
#include <fcntl.h>
#include <sys/mman.h>

#include "runtime/arena.h"
#include "runtime/sites_scan.h"
#include "runtime/sys.h"
#include "trace/sitelist.h"

#define PAGE 4096ull

/* A module of the list. */
struct listed {
	struct listed *next;
	uint8_t id[SITELIST_ID_MAX];
	uint32_t id_size;
	const uint64_t *places;		/* ascending */
	size_t count;
};

static struct {
	bool wanted;		/* a list was given */
	bool told;		/* in the trace */
	bool denied;		/* code could not be changed, and that was said */
	const char *trouble;	/* why it is not used */
	struct listed *modules;
} list;

static bool same_id(const struct listed *l, const uint8_t *id, uint32_t size)
{
	return sitelist_compare_ids(l->id, l->id_size, id, size) == 0;
}

static const struct listed *find_listed(const uint8_t *id, uint32_t size)
{
	const struct listed *l = list.modules;

	while (l && !same_id(l, id, size))
		l = l->next;
	return size ? l : NULL;
}

static struct listed *add_listed(const struct sitelist_line *line, const uint64_t *places)
{
	struct listed *l = arena_alloc(sizeof(*l));

	if (!l)
		return NULL;
	for (uint32_t i = 0; i < line->id_size; i++)
		l->id[i] = line->id[i];
	l->id_size = line->id_size;
	l->places = places;
	l->next = list.modules;
	list.modules = l;
	return l;
}

/* NULL, or what is wrong. */
static const char *parse(const char *text, size_t size)
{
	struct sitelist in;
	struct listed *module = NULL;
	enum sitelist_got got;
	uint64_t *place;

	if (!sitelist_open(&in, text, size))
		return "it is not a list of sites";
	/* Room for the shortest lines there can be; only what is used is touched. */
	place = arena_pages(size / 5 * sizeof(*place) + PAGE);
	if (!place)
		return "no memory for it";
	while ((got = sitelist_next(&in)) == SITELIST_LINE) {
		if (!module || !same_id(module, in.last.id, in.last.id_size))
			module = add_listed(&in.last, place);
		if (!module)
			return "no memory for it";
		if (in.last.place) {
			*place++ = in.last.offset;
			module->count++;
		}
	}
	return got == SITELIST_END ? NULL : "it is damaged";
}

static const char *load(const char *path)
{
	long fd = sys_call(SYS_open, path, O_RDONLY | O_CLOEXEC, 0), size;
	const char *text, *trouble;

	if (fd < 0)
		return "it cannot be opened";
	size = sys_call(SYS_lseek, fd, 0, SEEK_END);
	text = size > 0 ? sys_mmap(NULL, (size_t)size, PROT_READ, MAP_PRIVATE, (int)fd, 0)
			: (const char *)-1;
	sys_call(SYS_close, fd, 0, 0);
	if (sys_failed(text))
		return size == 0 ? "it is empty" : "it cannot be read";
	trouble = parse(text, (size_t)size);
	sys_call(SYS_munmap, text, size, 0);
	return trouble;
}

static size_t append_text(char *to, size_t n, size_t size, const char *text)
{
	while (*text && n + 1 < size)
		to[n++] = *text++;
	to[n] = 0;
	return n;
}

void snarlrt_sites_load(const char *path)
{
	char line[480];
	size_t n;

	list.wanted = true;
	list.trouble = load(path);
	if (!list.trouble)
		return;
	n = append_text(line, 0, sizeof(line), "all sites are recorded, the list was not used: ");
	n = append_text(line, n, sizeof(line), list.trouble);
	n = append_text(line, n, sizeof(line), ": ");
	append_text(line, n, sizeof(line), path);
	sys_warn(line);
}

/* Of the dynamic section; addresses in it are relocated or not, as the C library likes. */
static uint64_t dynamic(const struct dl_phdr_info *info, const ElfW(Dyn) *d, ElfW(Sxword) tag)
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
 * Whether there can be sites in it: the inlined code of a library refers to
 * __snarl_tls. So the code of large foreign libraries is not even read from the disk.
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
	symbols = (const void *)dynamic(info, section, DT_SYMTAB);
	names = (const void *)dynamic(info, section, DT_STRTAB);
	hash = (const void *)dynamic(info, section, DT_GNU_HASH);
	old_hash = (const void *)dynamic(info, section, DT_HASH);
	if (!symbols || !names || (!hash && !old_hash))
		return true;
	/* What is imported is not in the GNU hash: it comes before the first that is. */
	count = hash ? hash[1] : old_hash[1];
	for (uint32_t i = 0; i < count; i++)
		if (same_name(names + symbols[i].st_name, "__snarl_tls"))
			return true;
	return false;
}

/* One executable segment under way. */
struct segment {
	struct snarlrt_sites *sites;
	const struct listed *listed;
	uint8_t *text;
	uint64_t base;
	const uint64_t *place, *places_end;	/* not passed yet */
	uint64_t first_page, pages;		/* bytes */
	int protection;
	bool writable, denied;
};

static bool protect(const struct segment *s, int protection)
{
	return sys_call(SYS_mprotect, s->first_page, s->pages, protection) == 0;
}

/* It stays executable all the time: we are in it too. */
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

static void on_site(void *context, size_t start, size_t end)
{
	struct segment *s = context;
	uint64_t pc = (uint64_t)s->text + end - s->base;
	uint8_t jump[SITES_JUMP_SIZE];

	s->sites->found++;
	while (s->place < s->places_end && *s->place < pc)
		s->place++;
	if (!s->listed || (s->place < s->places_end && *s->place == pc) || !make_writable(s))
		return;
	sites_jump(jump, start, end);
	for (size_t i = 0; i < sizeof(jump); i++)
		s->text[start + i] = jump[i];
	s->sites->off++;
	s->sites->jump = s->text + start;
}

static void apply_segment(struct snarlrt_sites *sites, const struct listed *listed, uint64_t base,
			  const ElfW(Phdr) *ph)
{
	struct segment s = { .sites = sites,
			     .listed = listed,
			     .text = (uint8_t *)(base + ph->p_vaddr),
			     .base = base,
			     .first_page = (base + ph->p_vaddr) & ~(PAGE - 1),
			     .protection = PROT_READ | PROT_EXEC };

	s.pages = ((base + ph->p_vaddr + ph->p_filesz + PAGE - 1) & ~(PAGE - 1)) - s.first_page;
	if (ph->p_flags & PF_W)
		s.protection |= PROT_WRITE;
	if (listed) {
		s.place = listed->places;
		s.places_end = s.place + listed->count;
	}
	sites_scan(s.text, ph->p_filesz, on_site, &s);
	if (s.writable)
		protect(&s, s.protection);
}

void snarlrt_sites_apply(struct snarlrt_sites *s, const struct dl_phdr_info *info,
			 const uint8_t *id, uint32_t id_size)
{
	const struct listed *listed = find_listed(id, id_size);

	if (!list.wanted || list.trouble || (s->jump && *s->jump == 0xeb))
		return;
	*s = (struct snarlrt_sites){ .unknown = !listed };
	if (!(listed && listed->count) && !may_have_sites(info))
		return;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *ph = &info->dlpi_phdr[i];

		if (ph->p_type == PT_LOAD && (ph->p_flags & (PF_R | PF_X)) == (PF_R | PF_X))
			apply_segment(s, listed, info->dlpi_addr, ph);
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

void snarlrt_sites_tell(void)
{
	size_t n;

	if (!list.wanted || list.told)
		return;
	list.told = true;
	n = append_text(meta.text, 0, sizeof(meta.text), "sites_list") + 1;
	n = append_text(meta.text, n, sizeof(meta.text),
			list.trouble ? list.trouble : "used") + 1;
	write_meta(n);
}

void snarlrt_sites_tell_module(const struct snarlrt_sites *s)
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
	list.told = false;
}
