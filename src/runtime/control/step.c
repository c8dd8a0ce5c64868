/*
 * Steps: counts and processes what a thread under control did since it was chosen.
 *
 * Steps that need no question are counted by the ring itself. tls.cur is set so that it reaches
 * the end of ctl_page after as many inlined appends as the thread may take steps. The access after
 * those calls C. A step without a question thus costs one append. The page is processed (hash,
 * trace, spinning) when it is full or the thread stops.
 *
 * Spinning: a thread whose last SPIN_EVENTS events changed nothing, and were the same few, lets
 * other threads go first (point.c).
 */
#include "runtime/control/step.h"

#include "abi/trace_roles.h"

struct trace_record ctl_page[PAGE_RECORDS] __attribute__((aligned(4096)));

/* The ninth different event since the last change shows that the thread does not spin. */
bool mark_no_progress(struct ctl_thread *t, uint64_t object, uint64_t site)
{
	uint64_t key = object ^ site << 20;
	uint32_t i;

	for (i = 0; i < t->recent_event_count && t->recent_events[i] != key; i++)
		;
	if (i == ARRAY_SIZE(t->recent_events)) {
		t->recent_event_count = 0;
		t->unchanged_events = 0;
		return false;
	}
	if (i == t->recent_event_count)
		t->recent_events[t->recent_event_count++] = key;
	t->unchanged_events++;
	return true;
}

/* Processes plain accesses of the page that are not processed yet. */
static void process_page(struct ctl_thread *t, const struct trace_record *r, uint64_t count)
{
	bool wrote = false;

	for (uint64_t i = 0; i < count; i++)
		wrote |= (r[i].site >> 48 & 0xff) == TRACE_WRITE;
	if (wrote)
		mark_progress(t);
	else
		for (uint64_t i = count; i > 0 && mark_no_progress(t, r[i - 1].addr, r[i - 1].site);
		     i--)
			;
	if (ctl.tracing)
		ctl_trace_page(t, r, count);
	if (ctl.profile)
		ctl_profile_page(t, r, count);
	if (unlikely(ctl.private_child || ctl.borrowed))
		for (uint64_t i = 0; i < count; i++)
			ctl_uncontrolled_access(
				r[i].addr & TRACE_ADDR_MASK,
				(const void *)(uintptr_t)(r[i].site & TRACE_ADDR_MASK));
	if (ctl.flags & CTL_OBSERVE)
		for (uint64_t i = 0; i < count; i++)
			ctl_observe_event(r[i].addr, r[i].site, 0);
}

void ctl_account(struct ctl_thread *t)
{
	uint64_t count = (uint64_t)(page_cursor(t) - t->processed);

	if (!count)
		return;
	count_steps(t, count);
	t->processed += count;	/* first: process_page() may end the run, which accounts */
	process_page(t, t->processed - count, count);
}

static void emit_event(const struct trace_record *r, uint64_t arg)
{
	if (ctl.tracing)
		ctl_trace_event(ctl.current, r, arg);
	if (ctl.profile)
		ctl_profile_event(ctl.current, r, arg);
}

static void emit_access(uint64_t addr, uint64_t size, uint64_t site)
{
	struct trace_record r = { addr & TRACE_ADDR_MASK, site };
	uint64_t kind = site >> 48 & 0xff;

	if (trace_roles(kind) & ROLE_RANGE) {
		emit_event(&r, size);
		return;
	}
	if (ctl.tracing)
		ctl_trace_page(ctl.current, &r, 1);
	if (ctl.values && kind == TRACE_READ)
		ctl_trace_read(ctl.current, addr, site >> 56 & TRACE_SIZE_MASK);
	else if (ctl.values && kind == TRACE_WRITE)
		ctl_trace_written(ctl.current, addr, site >> 56 & TRACE_SIZE_MASK);
	if (ctl.profile)
		ctl_profile_page(ctl.current, &r, 1);
}

void ctl_accessed(uint64_t addr, uint64_t size, uint64_t site)
{
	bool reads = is_read(site);

	if (!known_shared(addr, size))	/* the block may have been freed while other threads ran */
		ctl_touch(addr, size, !reads, (const void *)(site & TRACE_ADDR_MASK));
	if (reads)
		mark_no_progress(ctl.current, addr, site);
	else
		mark_progress(ctl.current);
	if (ctl.flags & CTL_OBSERVE)
		ctl_observe_event(addr, site, 0);
	if (ctl_records())
		emit_access(addr, size, site);
}

void ctl_access_slow(uint64_t addr, uint64_t size, uint64_t site)
{
	struct snarlrt_tls *tls = &__snarl_tls;
	bool reads = is_read(site);

	if (!known_shared(addr, size) &&
	    !ctl_touch(addr, size, !reads, (const void *)(site & TRACE_ADDR_MASK)))
		return;
	if (!tls->cur)
		tls->cur = tls->saved;	/* NULL because calls must be recorded first */
	ctl_step(reads ? SCHED_OP_READ : SCHED_OP_WRITE, addr, size, site & TRACE_ADDR_MASK);
	ctl_accessed(addr, size, site);
}

static enum sched_op atomic_op(enum trace_kind kind)
{
	if (kind == TRACE_ATOMIC_LOAD)
		return SCHED_OP_READ;
	return kind == TRACE_ATOMIC_STORE ? SCHED_OP_WRITE : SCHED_OP_UPDATE;
}

void ctl_atomic(enum trace_kind kind, unsigned log2, const volatile void *addr, const void *pc)
{
	uint64_t object = (uint64_t)(uintptr_t)addr, size = 1u << log2;

	ctl_touch(object, size, kind != TRACE_ATOMIC_LOAD, pc);
	ctl_step(atomic_op(kind), object, size, (uint64_t)(uintptr_t)pc);
	ctl_touch(object, size, kind != TRACE_ATOMIC_LOAD, pc);
}

static uint64_t value_at(const volatile void *addr, unsigned log2)
{
	switch (log2) {
	case 0: return *(const volatile uint8_t *)addr;
	case 1: return *(const volatile uint16_t *)addr;
	case 2: return *(const volatile uint32_t *)addr;
	}
	return *(const volatile uint64_t *)addr;
}

/* `value` is what a read-modify-write found. If it is still there, nothing changed. */
void ctl_atomic_done(enum trace_kind kind, unsigned log2, int order, int fail_order,
		     const volatile void *addr, uint64_t value, const void *pc)
{
	struct ctl_thread *t = ctl.current;
	uint64_t object = (uint64_t)(uintptr_t)addr;

	if (kind == TRACE_ATOMIC_STORE ||
	    (atomic_op(kind) == SCHED_OP_UPDATE && log2 < 4 && value_at(addr, log2) != value))
		mark_progress(t);
	else
		mark_no_progress(t, object, (uint64_t)(uintptr_t)pc);
	if (ctl.flags & CTL_OBSERVE)
		ctl_observe_event(object, (uint64_t)(uintptr_t)pc | (uint64_t)kind << 48, value);
	if (ctl_records()) {
		unsigned detail = log2 | ((unsigned)order & TRACE_ORDER_MASK) << TRACE_ORDER_SHIFT;
		struct trace_record r = { (object & TRACE_ADDR_MASK) |
						  (uint64_t)(uint16_t)fail_order << 48,
					  TRACE_SITE(kind, detail, pc) };

		emit_event(&r, value);
		/* The record has the old value, and only half of a 16-byte value. */
		if (ctl.values && (log2 == 4 || (atomic_op(kind) == SCHED_OP_UPDATE &&
						 kind != TRACE_ATOMIC_CAS_FAIL)))
			ctl_trace_read(t, object, log2);
	}
}

/* Operations that a polling loop repeats, such as lock, look, unlock, count as changing nothing. */
static bool is_polling(enum trace_kind kind)
{
	return trace_roles(kind) & (ROLE_ACQUIRE | ROLE_RELEASE | ROLE_NOTIFY) ||
	       kind == TRACE_YIELD || kind == TRACE_SLEEP || kind == TRACE_CALL_ENTER;
}

void ctl_note(enum trace_kind kind, unsigned detail, const void *object, uint64_t arg, int result,
	      const void *pc)
{
	if (!ctl_on())
		return;
	if (ctl_records() || ctl.flags & CTL_OBSERVE)
		ctl_account(ctl.current);	/* earlier accesses go first */
	if (result != 0 || is_polling(kind))
		mark_no_progress(ctl.current, (uint64_t)(uintptr_t)object, (uint64_t)(uintptr_t)pc);
	else if (kind != TRACE_MALLOC && kind != TRACE_FREE)
		mark_progress(ctl.current);
	/* Only traces have the end of the process. */
	if (ctl.flags & CTL_OBSERVE && kind != TRACE_EXIT && kind != TRACE_EXEC)
		ctl_observe_event((uint64_t)(uintptr_t)object,
			       (uint64_t)(uintptr_t)pc | (uint64_t)(kind | detail << 8) << 48, 0);
	/* Thread starts are recorded by ctl_trace_attach(). */
	if (ctl_records() && kind != TRACE_THREAD_START) {
		struct trace_record r = {
			((uint64_t)(uintptr_t)object & TRACE_ADDR_MASK) |
				(uint64_t)(uint16_t)result << 48,
			TRACE_SITE(kind, detail, pc),
		};

		emit_event(&r, arg);
	}
}
