/*
 * Decides which functions of a production build run instrumented, and switches them.
 */
#include "runtime/process/production.h"

#include "abi/production_table.h"
#include "runtime/core/arena.h"
#include "runtime/core/deferred_signals.h"
#include "runtime/core/lock.h"
#include "runtime/core/sys.h"
#include "runtime/process/code_patch.h"
#include "runtime/process/init.h"
#include "runtime/process/modules.h"
#include "runtime/record/shadow.h"
#include "runtime/record/site_list.h"

/* The executable's table, if it has one; the linker defines these symbols. */
extern const struct dual_record __start_snarl_dual[] __attribute__((weak));
extern const struct dual_record __stop_snarl_dual[] __attribute__((weak));

struct module {
	struct module *next;
	const struct dual_record *start, *stop;	/* its table */
	struct dual_module_id id;
	bool *wanted;		/* for each record, whether its function is to be on */
};

static struct {
	struct snarlrt_lock lock;
	struct module *modules, *unused;	/* loaded modules; free list */
	dual_chooser *chooser;	/* NULL: none was set, and no function is on */
	void *context;		/* argument of the chooser */
	struct sitefile sites;	/* the list of active=FILE */
} dual;

static uint64_t entry_of(const struct dual_record *r)
{
	return (uint64_t)&r->entry + (uint64_t)(int64_t)r->entry;
}

static uint64_t inst_of(const struct dual_record *r)
{
	return (uint64_t)&r->inst + (uint64_t)(int64_t)r->inst;
}

bool dual_is_program(void)
{
	return &__start_snarl_dual[0] != &__stop_snarl_dual[0];
}

bool dual_choose_all(void *context, const struct dual_module_id *module, uint64_t start,
		     uint64_t end)
{
	(void)context;
	(void)module;
	return start < end;
}

bool dual_choose_none(void *context, const struct dual_module_id *module, uint64_t start,
		      uint64_t end)
{
	(void)context;
	(void)module;
	(void)start;
	(void)end;
	return false;
}

/* The dual_chooser of active=FILE. A pc follows a call, so it may equal `end` but not `start`. */
static bool choose_listed(void *context, const struct dual_module_id *module, uint64_t start,
			  uint64_t end)
{
	const struct sitefile *f = context;
	size_t count, low = 0, high;
	const uint64_t *sites = sitefile_places(f, module->id, module->size, &count);

	for (high = count; low < high;) {
		size_t middle = low + (high - low) / 2;

		if (sites[middle] + module->base <= start)
			low = middle + 1;
		else
			high = middle;
	}
	return low < count && sites[low] + module->base <= end;
}

/* Marks the callers of marked DUAL_INNER functions, transitively: these have no entry to switch. */
static void mark_callers(const struct module *m)
{
	size_t count = (size_t)(m->stop - m->start);
	bool changed = true;

	while (changed) {
		changed = false;
		for (size_t i = 0; i < count; i++) {
			uint64_t caller;

			if (m->start[i].kind != DUAL_INNER || !m->wanted[i])
				continue;
			caller = entry_of(&m->start[i]);
			for (size_t k = 0; k < count; k++)
				if (!m->wanted[k] && inst_of(&m->start[k]) == caller &&
				    m->start[k].kind != DUAL_COUNT)
					m->wanted[k] = changed = true;
		}
	}
}

/* Switches each function on or off, as `wanted` says. */
static void switch_all(struct module *m)
{
	struct code_patch p = { 0 };

	for (const struct dual_record *r = m->start; r < m->stop; r++)
		if (r->kind == DUAL_PAIR)
			code_patch_entry(&p, entry_of(r), inst_of(r), m->wanted[r - m->start]);
	code_patch_end(&p);
}

static void choose(struct module *m)
{
	if (!m->wanted)
		m->wanted = arena_pages((size_t)(m->stop - m->start) * sizeof(*m->wanted));
	if (!m->wanted)
		return;
	for (const struct dual_record *r = m->start; r < m->stop; r++)
		m->wanted[r - m->start] = r->kind != DUAL_COUNT &&
					  dual.chooser(dual.context, &m->id, inst_of(r),
						       inst_of(r) + r->size);
	if (dual.chooser != dual_choose_all && dual.chooser != dual_choose_none)
		mark_callers(m);
	switch_all(m);
}

static uint64_t lock_modules(void)
{
	uint64_t mask = snarlrt_signals_block();

	snarlrt_lock(&dual.lock);
	return mask;
}

static void unlock_modules(uint64_t mask)
{
	snarlrt_unlock(&dual.lock);
	snarlrt_signals_set(mask);
}

/* Adds the module with this table, unless it is known. The lock is held. */
static void add_module(const struct dual_record *start, const struct dual_record *stop)
{
	struct module *m = dual.modules;

	while (m && m->start != start)
		m = m->next;
	if (m || start >= stop)
		return;
	m = dual.unused ? dual.unused : arena_alloc(sizeof(*m));
	if (!m)
		return;
	if (m == dual.unused)
		dual.unused = m->next;
	*m = (struct module){ .next = dual.modules, .start = start, .stop = stop };
	m->id.size = snarlrt_module_id(start, m->id.id, sizeof(m->id.id), &m->id.base);
	dual.modules = m;
	if (dual.chooser)
		choose(m);
}

void dual_choose(dual_chooser *chooser, void *context)
{
	uint64_t mask;

	shadow_map();
	mask = lock_modules();
	dual.chooser = chooser;
	dual.context = context;
	for (struct module *m = dual.modules; m; m = m->next)
		choose(m);
	unlock_modules(mask);
}

static bool is_same(const char *a, const char *b)
{
	while (*a && *a == *b)
		a++, b++;
	return *a == *b;
}

void dual_start(const char *active, bool observing)
{
	const char *reason;

	add_module(__start_snarl_dual, __stop_snarl_dual);
	if (is_same(active, "all") || (!active[0] && observing)) {
		dual_choose(dual_choose_all, NULL);
	} else if (active[0] && !is_same(active, "none")) {
		reason = sitefile_load(&dual.sites, active);
		if (reason)
			sys_warn_about("no function is instrumented, the list was not used: ",
				       reason, active);
		else
			dual_choose(choose_listed, &dual.sites);
	}
}

static unsigned switch_in(struct module *m, uint64_t address, bool on)
{
	struct code_patch p = { 0 };
	unsigned count = 0;

	if (!m->wanted)
		m->wanted = arena_pages((size_t)(m->stop - m->start) * sizeof(*m->wanted));
	if (!m->wanted)
		return 0;
	for (const struct dual_record *r = m->start; r < m->stop; r++)
		m->wanted[r - m->start] =
			r->kind != DUAL_COUNT &&
			((r->kind == DUAL_PAIR && entry_of(r) == address) ||
			 (address >= inst_of(r) && address < inst_of(r) + r->size));
	mark_callers(m);
	for (const struct dual_record *r = m->start; r < m->stop; r++)
		if (r->kind == DUAL_PAIR && m->wanted[r - m->start])
			count += code_patch_entry(&p, entry_of(r), inst_of(r), on);
	code_patch_end(&p);
	return count;
}

unsigned dual_switch(const void *address, bool on)
{
	unsigned count = 0;
	uint64_t mask;

	shadow_map();
	mask = lock_modules();
	for (struct module *m = dual.modules; m; m = m->next)
		count += switch_in(m, (uint64_t)address, on);
	unlock_modules(mask);
	return count;
}

void dual_fork(bool begin)
{
	if (begin)
		snarlrt_lock(&dual.lock);
	else
		snarlrt_unlock(&dual.lock);
}

unsigned __snarl_dual_switch(const void *function, int on)
{
	return dual_switch(function, on != 0);
}

void __snarl_dual_all(int on)
{
	dual_choose(on ? dual_choose_all : dual_choose_none, NULL);
}

unsigned __snarl_dual_count(unsigned *of)
{
	unsigned on = 0, all = 0;
	uint64_t mask = lock_modules();

	for (struct module *m = dual.modules; m; m = m->next)
		for (const struct dual_record *r = m->start; r < m->stop; r++)
			if (r->kind == DUAL_PAIR) {
				all++;
				on += code_patch_is_on(entry_of(r));
			}
	unlock_modules(mask);
	if (of)
		*of = all;
	return on;
}

void __snarl_dual_module_init(const struct dual_record *start, const struct dual_record *stop)
{
	uint64_t mask;

	snarlrt_init();
	mask = lock_modules();
	add_module(start, stop);
	unlock_modules(mask);
}

/* Called at exit, too, when the module's code may still run: its entries are not changed. */
void __snarl_dual_module_fini(const struct dual_record *start, const struct dual_record *stop)
{
	uint64_t mask = lock_modules();

	(void)stop;
	for (struct module **at = &dual.modules; *at; at = &(*at)->next)
		if ((*at)->start == start) {
			struct module *m = *at;

			if (m->wanted)
				sys_call(SYS_munmap, m->wanted,
					 (m->stop - m->start) * sizeof(*m->wanted), 0);
			*at = m->next;
			m->next = dual.unused;
			dual.unused = m;
			break;
		}
	unlock_modules(mask);
}
