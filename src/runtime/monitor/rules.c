/*
 * Active sites are entries of a hash by absolute pc that only grows, so readers need no lock. A
 * module that is unloaded leaves its entries behind. If another module takes its addresses, the
 * worst is an access that is monitored without need.
 */
#include "runtime/monitor/rules.h"

#include <fcntl.h>
#include <sys/mman.h>

#include "abi/mix.h"
#include "runtime/core/arena.h"
#include "runtime/core/sys.h"

#define LOADED 64u		/* loaded modules with rules; further ones are not monitored */
#define FUNCTION_CACHE 4096u	/* a power of two */
/* A function's entry hook returns to a pc at most this many bytes behind the function's start. */
#define FUNCTION_HEAD 64u

static struct {
	const struct rules_header *header;
	const struct rules_module *modules;
	const struct rules_site *sites;
	const struct rules_function *functions;
	const uint32_t *numbers;
	uint32_t wanted;
	struct active_site *active;
	uint64_t mask;
	uint64_t *offsets;	/* of active sites; those of module m begin at first[m] */
	uint32_t *first, *count;
	uint8_t *with_writes;	/* by site: rules_tx_writes() */
	struct {
		uint64_t base;
		uint32_t module;
	} loaded[LOADED];
	uint32_t loaded_count;
} rules;

/* Direct-mapped cache of answers: pc << 16 | 1 << 15 | flags. 0: free. */
static uint64_t function_cache[FUNCTION_CACHE] SNARLRT_BIG;

static bool fits(const struct rules_header *h, uint64_t at, uint64_t count, uint64_t size)
{
	return at % 8 == 0 && at >= sizeof(*h) && at <= h->size && count <= (h->size - at) / size;
}

static bool lists_fit(const struct rules_header *h, const struct rules_site *s)
{
	for (uint32_t i = 1; i < h->sites; i++)
		if (s[i].module >= h->modules || s[i].before > h->numbers ||
		    s[i].before_count > h->numbers - s[i].before || s[i].after >= h->sites)
			return false;
	return true;
}

static bool modules_fit(const struct rules_header *h, const struct rules_module *m)
{
	for (uint32_t i = 0; i < h->modules; i++)
		if (m[i].id_size > RULES_ID_MAX || m[i].first_site > h->sites ||
		    m[i].sites > h->sites - m[i].first_site || m[i].first_function > h->functions ||
		    m[i].functions > h->functions - m[i].first_function)
			return false;
	return true;
}

/* Returns NULL, or what is wrong with the file. */
static const char *check(const struct rules_header *h, uint64_t size)
{
	const char *start = (const char *)h;

	if (size < sizeof(*h) || h->magic != RULES_MAGIC)
		return "it is not a rules file";
	if (h->version != RULES_VERSION)
		return "it was made by another version of snarl; run snarl learn again";
	if (h->size != size || h->check != trace_check(h + 1, size - sizeof(*h)) || h->sites == 0 ||
	    !fits(h, h->modules_at, h->modules, sizeof(struct rules_module)) ||
	    !fits(h, h->sites_at, h->sites, sizeof(struct rules_site)) ||
	    !fits(h, h->functions_at, h->functions, sizeof(struct rules_function)) ||
	    !fits(h, h->numbers_at, h->numbers, sizeof(uint32_t)) ||
	    !modules_fit(h, (const void *)(start + h->modules_at)) ||
	    !lists_fit(h, (const void *)(start + h->sites_at)))
		return "it is damaged; run snarl learn again";
	return NULL;
}

static bool is_active(const struct rules_site *s)
{
	return s->flags & rules.wanted;
}

static bool make_tables(void)
{
	uint32_t n = rules.header->sites, modules = rules.header->modules;
	uint64_t *at;

	rules.mask = 1;
	while (rules.mask < 4ull * n)
		rules.mask *= 2;
	rules.active = arena_pages(rules.mask-- * sizeof(*rules.active));
	rules.offsets = at = arena_pages((n + 1) * sizeof(*at));
	rules.first = arena_pages((modules + 1) * sizeof(*rules.first));
	rules.count = arena_pages((modules + 1) * sizeof(*rules.count));
	rules.with_writes = arena_pages(n);
	if (!rules.active || !at || !rules.first || !rules.count || !rules.with_writes)
		return false;
	for (uint32_t m = 0; m < modules; m++) {
		const struct rules_site *s = rules.sites + rules.modules[m].first_site;

		rules.first[m] = (uint32_t)(at - rules.offsets);
		for (uint32_t i = 0; i < rules.modules[m].sites; i++)
			if (is_active(&s[i]))
				*at++ = s[i].offset;
		rules.count[m] = (uint32_t)(at - rules.offsets) - rules.first[m];
	}
	return true;
}

/* The last function of the module that begins at or before the offset, or NULL. */
static const struct rules_function *function_at(uint32_t module, uint64_t offset)
{
	const struct rules_module *m = &rules.modules[module];
	const struct rules_function *f = rules.functions + m->first_function;
	uint32_t low = 0, high = m->functions;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (f[middle].offset <= offset)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? &f[low - 1] : NULL;
}

static void mark_writers(void)
{
	uint8_t *writes = arena_pages(rules.header->functions + 1);

	for (int pass = 0; pass < 2 && writes; pass++)
		for (uint32_t i = 1; i < rules.header->sites; i++) {
			const struct rules_site *s = &rules.sites[i];
			const struct rules_function *f =
				s->flags & RULES_IN_TX ? function_at(s->module, s->offset) : NULL;

			if (f && pass == 0 && s->flags & RULES_WRITE)
				writes[f - rules.functions] = 1;
			if (f && pass == 1)
				rules.with_writes[i] = writes[f - rules.functions];
		}
}

long rules_load(const char *path, uint32_t wanted, const char **trouble)
{
	long fd = sys_call(SYS_open, path, O_RDONLY | O_CLOEXEC, 0), size, active = 0;
	const char *start;

	*trouble = "it cannot be opened";
	if (fd < 0)
		return -1;
	size = sys_call(SYS_lseek, fd, 0, SEEK_END);
	start = size > 0 ? sys_mmap(NULL, (size_t)size, PROT_READ, MAP_PRIVATE, (int)fd, 0)
			 : (const char *)-1;
	sys_call(SYS_close, fd, 0, 0);
	*trouble = "it cannot be read";
	if (sys_failed(start))
		return -1;
	*trouble = check((const void *)start, (uint64_t)size);
	if (*trouble)
		return -1;
	rules.header = (const void *)start;
	rules.modules = (const void *)(start + rules.header->modules_at);
	rules.sites = (const void *)(start + rules.header->sites_at);
	rules.functions = (const void *)(start + rules.header->functions_at);
	rules.numbers = (const void *)(start + rules.header->numbers_at);
	rules.wanted = wanted;
	for (uint32_t i = 1; i < rules.header->sites; i++)
		active += is_active(&rules.sites[i]);
	*trouble = "not enough memory";
	if (!make_tables())
		return -1;
	mark_writers();
	return active;
}

const struct rules_header *rules_header(void)
{
	return rules.header;
}

bool rules_any(uint32_t flag)
{
	for (uint32_t i = 1; i < rules.header->sites; i++)
		if (rules.sites[i].flags & flag)
			return true;
	return false;
}

static int module_of(const uint8_t *id, uint32_t size)
{
	for (uint32_t m = 0; rules.header && size && m < rules.header->modules; m++) {
		uint32_t i = 0;

		while (i < size && rules.modules[m].id[i] == id[i])
			i++;
		if (i == size && rules.modules[m].id_size == size)
			return (int)m;
	}
	return -1;
}

static struct active_site *entry_of(uint64_t key)
{
	uint64_t i = mix_spread(key) >> 20 & rules.mask;

	while (rules.active[i].key && rules.active[i].key != key)
		i = (i + 1) & rules.mask;
	return &rules.active[i];
}

int rules_add_module(const uint8_t *id, uint32_t id_size, uint64_t base)
{
	int m = module_of(id, id_size);

	if (m < 0)
		return -1;
	for (uint32_t i = 0; i < rules.loaded_count; i++)
		if (rules.loaded[i].base == base && rules.loaded[i].module == (uint32_t)m)
			return m;
	/*
	 * The hash has room for each site twice. If modules are loaded more often, sites of further
	 * ones do not become active.
	 */
	if (rules.loaded_count >= LOADED || rules.loaded_count > 2 * rules.header->modules)
		return -1;
	for (uint32_t i = 0; i < rules.modules[m].sites; i++) {
		uint32_t number = rules.modules[m].first_site + i;
		const struct rules_site *s = &rules.sites[number];
		uint64_t key = (s->offset + base) * 2 + !!(s->flags & RULES_WRITE);
		struct active_site *p = entry_of(key);

		if (!is_active(s) || !number)
			continue;
		p->number = number;
		p->flags = s->flags;
		__atomic_store_n(&p->key, key, __ATOMIC_RELEASE);
	}
	rules.loaded[rules.loaded_count].base = base;
	rules.loaded[rules.loaded_count].module = (uint32_t)m;
	__atomic_store_n(&rules.loaded_count, rules.loaded_count + 1, __ATOMIC_RELEASE);
	return m;
}

const uint64_t *rules_offsets(const uint8_t *id, uint32_t id_size, size_t *count)
{
	int m = module_of(id, id_size);

	*count = m < 0 ? 0 : rules.count[m];
	return m < 0 ? rules.offsets : rules.offsets + rules.first[m];
}

bool rules_matter(const uint8_t *id, uint32_t id_size, uint64_t base, uint64_t start, uint64_t end)
{
	size_t count, low = 0, high;
	const uint64_t *offsets = rules_offsets(id, id_size, &count);
	const struct rules_function *f;
	int m = module_of(id, id_size);

	for (high = count; low < high;) {
		size_t middle = low + (high - low) / 2;

		if (offsets[middle] + base <= start)
			low = middle + 1;
		else
			high = middle;
	}
	if (low < count && offsets[low] + base <= end)
		return true;
	f = m < 0 || !(rules.wanted & RULES_IN_TX) ? NULL
						   : function_at((uint32_t)m, end - 1 - base);
	return f && f->offset + base >= start;
}

const struct active_site *rules_find(uint64_t pc, bool write)
{
	uint64_t key = pc * 2 + write;
	const struct active_site *p;

	if (unlikely(!rules.active))
		return NULL;
	p = entry_of(key);
	return __atomic_load_n(&p->key, __ATOMIC_ACQUIRE) == key ? p : NULL;
}

bool rules_follows(uint32_t earlier, uint32_t later)
{
	const struct rules_site *s = &rules.sites[later];
	const uint32_t *list = rules.numbers + s->before;
	uint32_t low = 0, high = s->before_count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (list[middle] == earlier)
			return true;
		if (list[middle] < earlier)
			low = middle + 1;
		else
			high = middle;
	}
	return false;
}

static uint32_t find_function_flags(uint64_t pc)
{
	for (uint32_t i = 0; i < __atomic_load_n(&rules.loaded_count, __ATOMIC_ACQUIRE); i++) {
		uint64_t base = rules.loaded[i].base;
		const struct rules_function *f =
			pc > base ? function_at(rules.loaded[i].module, pc - base) : NULL;

		if (f && pc - base - f->offset <= FUNCTION_HEAD)
			return f->flags;
	}
	return 0;
}

uint32_t rules_function_flags(uint64_t pc)
{
	uint64_t *at = &function_cache[mix_spread(pc) >> 52];
	uint64_t seen = __atomic_load_n(at, __ATOMIC_RELAXED);

	if (seen >> 16 != (pc & TRACE_ADDR_MASK)) {
		seen = (pc & TRACE_ADDR_MASK) << 16 | 1u << 15 | (find_function_flags(pc) & 0xff);
		__atomic_store_n(at, seen, __ATOMIC_RELAXED);
	}
	return seen & 0xff;
}

uint32_t rules_usual_predecessor(uint32_t site, bool *write)
{
	uint32_t after = rules.sites[site].after;

	*write = rules.sites[after].flags & RULES_WRITE;
	return after;
}

bool rules_tx_writes(uint32_t site)
{
	return rules.with_writes[site];
}
