/*
 * Recording under control: the same trace as in mode record, in the total order of the run.
 *
 * Under control hooks append to one page, ctl_page (step.h), which all threads share. In a recorded
 * run each thread also has a ring. Records of the page are copied into the running thread's ring,
 * after a time stamp, before any other event is recorded, and when the thread stops. Only
 * one thread runs at a time, so the stamps order all events. While the ring is written to, it
 * replaces the page in thread-local storage.
 *
 * Values: hooks are called before the access. The value of a read is in memory then. The value of
 * a write is in memory when the thread next calls the runtime, before another thread runs.
 */
#include <sys/uio.h>

#include "runtime/control/control.h"
#include "runtime/core/sys.h"
#include "runtime/record/ring.h"

static struct trace_record *page_cur, *page_saved;

/* Returns a time later than all earlier ones of all threads, and reserves `more` later ones. */
static uint64_t next_time(struct snarlrt_thread *self, uint64_t more)
{
	static uint64_t last;
	uint64_t now = sys_ticks() & ~1ull, time = now > last ? now : last + 2;

	last = self->last_time = (time + more + 1) & ~1ull;
	return time;
}

static struct snarlrt_thread *ring_enter(struct ctl_thread *t)
{
	struct snarlrt_tls *tls = &__snarl_tls;

	page_cur = tls->cur;
	page_saved = tls->saved;
	tls->cur = t->ring_cur;
	tls->self = t->ring;
	tls->busy = 1;
	return t->ring;
}

static void ring_leave(struct ctl_thread *t)
{
	struct snarlrt_tls *tls = &__snarl_tls;

	t->ring_cur = tls->cur;
	tls->cur = page_cur;
	tls->saved = page_saved;
	tls->self = NULL;
	tls->busy = 0;
}

/* Reads memory of the program that may be unmapped. */
static bool read_memory(uint64_t addr, void *to, size_t size)
{
	struct iovec local = { to, size }, remote = { (void *)addr, size };

	return sys_call6(SYS_process_vm_readv, sys_call(SYS_getpid, 0, 0, 0), (long)&local, 1,
			 (long)&remote, 1, 0) == (long)size;
}

void ctl_trace_read(struct ctl_thread *t, uint64_t addr, unsigned log2)
{
	uint64_t value[2] = { 0 };
	struct snarlrt_thread *self;

	if (log2 > 4 || !read_memory(addr, value, 1ull << log2))
		return;
	self = ring_enter(t);
	for (unsigned i = 0; i < (log2 == 4 ? 2 : 1); i++) {
		struct trace_record pair[2] = {
			{ (addr + 8 * i) & TRACE_ADDR_MASK,
			  TRACE_SITE(TRACE_VALUE, log2 == 4 ? 3 : log2, 0) },
			{ next_time(self, 0), value[i] },
		};

		snarlrt_append(self, pair, 2);
	}
	ring_leave(t);
}

/* The write of the current thread whose value is not recorded yet. */
static struct {
	struct ctl_thread *thread;	/* NULL: there is none */
	uint64_t addr;
	unsigned log2;
} pending_write;

void ctl_trace_written(struct ctl_thread *t, uint64_t addr, unsigned log2)
{
	pending_write.thread = t;
	pending_write.addr = addr;
	pending_write.log2 = log2;
}

/* Records the value of the last write. Called before anything else is recorded. */
static void emit_pending_write(void)
{
	struct ctl_thread *t = pending_write.thread;

	if (likely(!t))
		return;
	pending_write.thread = NULL;
	ctl_trace_read(t, pending_write.addr, pending_write.log2);
}

void ctl_trace_crash(uint64_t addr)
{
	if (addr - pending_write.addr < 1ull << pending_write.log2)
		pending_write.thread = NULL;
	emit_pending_write();
}

/* Also sets up a call stack in thread-local storage; thread_attach() replaces it afterwards. */
void ctl_trace_attach(struct ctl_thread *t)
{
	struct snarlrt_tls *tls = &__snarl_tls;
	struct trace_record *cur = tls->cur;
	uint32_t parent = t->number ? t->parent + 1 : 0;
	/* Not from libc, which would allocate: the run would differ from one without a trace. */
	struct snarlrt_stack stack = { snarlrt.main_stack_low, snarlrt.main_stack_high };

	if (t->stack)
		stack = (struct snarlrt_stack){ (uint64_t)t->stack,
						(uint64_t)t->stack + t->stack_size };
	tls->ended = 0;
	t->ring = snarlrt_thread_attach(t->id, parent, t->ordinal,
					(const void *)(uintptr_t)t->routine, &stack);
	t->ring_cur = tls->cur;
	tls->self = NULL;
	tls->cur = cur;
}

void ctl_trace_page(struct ctl_thread *t, const struct trace_record *records, uint64_t count)
{
	struct snarlrt_thread *self;
	struct trace_record stamp = { 0, TRACE_SITE(TRACE_STAMP, 0, 0) };

	emit_pending_write();
	self = ring_enter(t);
	stamp.addr = next_time(self, count);
	snarlrt_append(self, &stamp, 1);
	for (uint64_t i = 0; i < count; i++)
		snarlrt_append(self, &records[i], 1);
	ring_leave(t);
}

void ctl_trace_frames(struct ctl_thread *t)
{
	emit_pending_write();
	snarlrt_emit_calls(ring_enter(t));
	ring_leave(t);
}

void ctl_trace_event(struct ctl_thread *t, const struct trace_record *r, uint64_t arg)
{
	struct trace_record pair[2] = { *r, { 0, arg } };
	struct snarlrt_thread *self;

	emit_pending_write();
	self = ring_enter(t);
	snarlrt_emit_calls(self);
	pair[1].addr = next_time(self, 0);
	snarlrt_append(self, pair, 2);
	ring_leave(t);
}

/* A recorded call returns. */
void ctl_trace_exit(struct ctl_thread *t, uint64_t pc)
{
	struct snarlrt_tls *tls = &__snarl_tls;
	struct trace_record r = { 0, TRACE_SITE(TRACE_FUNC_EXIT, 0, pc) };
	struct snarlrt_thread *self;

	ctl_account(t);
	if (tls->frame <= t->frames)
		return;
	emit_pending_write();
	self = ring_enter(t);
	tls->frame--;
	tls->emitted = tls->frame;
	snarlrt_append(self, &r, 1);
	ring_leave(t);
}

/* Flushes the rings of all threads, from the last thread that runs. */
void ctl_trace_finish(int status)
{
	emit_pending_write();
	for (uint32_t i = 0; i < ctl.count; i++) {
		struct ctl_thread *t = ctl.threads[i];
		struct snarlrt_thread *self;

		if (!t->ring)
			continue;
		self = ring_enter(t);
		snarlrt_flush(self);
		ring_leave(t);
	}
	snarlrt_finish(status);
}
