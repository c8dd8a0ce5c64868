/*
 * Why it stays serializable. Among themselves, and against all other accesses of the program, the processor
 * keeps hardware transactions apart. Software ones are known by their marks in cells: at each place of the rules the
 * cell is looked at, as the software would, and if a transaction under way is in the way this one is undone and
 * waits in software. To look is to subscribe: whoever writes to the cell later, to leave a mark there, makes the
 * processor undo us. The switch guard --off is read for the same reason.
 *
 * In hardware nothing is written but the thread's own words, and once for each site that it is not the last; all that
 * is undone with the rest. What PSet wants to know of the accesses is told afterwards. Where a transaction might end
 * otherwise:
 *
 * - A system call, a signal, a page fault, a debugger: the processor gives up, before a handler runs. The handler
 *   finds the thread in the first hook, busy.
 * - fork, exec, exit: system calls. So a child, and a new image, is never in hardware.
 * - A function left by longjmp or an exception, a thread that ends: watch.c ends the transaction there, as in software.
 *   That the frame of the first hook is long gone does not matter, since the stack is undone too.
 * - Transactions of the program's own: within ours they are part of it. If a thread is in one already, software has it:
 *   ours would end, or be given up, with somebody else's. If the program ends ours instead of its own, xtest tells:
 *   there is nothing to end any more, and hardware is not used again.
 * - A loop that waits for another thread: that one sees nothing of us yet. Such regions were cut when they were
 *   learnt; should one be left, its atomics come here and are counted, and the timer's interrupt ends all others.
 *
 * Software at once: places behind a gate, since those who wait there must see who is in; calls that
 * synchronise or allocate, once they were met in the region.
 */
#include "runtime/guard_rtm.h"

#include <cpuid.h>

#include "runtime/arena.h"
#include "runtime/guard.h"
#include "runtime/sys.h"

#define TRIALS 64		/* at the start; one at least must commit */
#define RETRIES 3		/* of a conflict, or if somebody is in the way: then software has it this time */
#define PAUSES 16		/* before the first of them; before the next ones twice as many */
#define UNFIT 8u		/* so often in a row for other reasons: software from now on, but for one in … */
#define AGAIN 4096u		/* … so many of a thread: what was new memory then is not any more */
#define DONE 59u		/* accesses of a transaction that PSet is told of */
#define HOOKS 1000u		/* in a transaction: it goes round in circles, maybe */
#define RANGE_CELLS 512u	/* as in watch.c */

enum { RTM_STARTED = -1, RTM_EXPLICIT = 1, RTM_RETRY = 2, RTM_CONFLICT = 4, RTM_CAPACITY = 8 };
enum { CODE_BUSY = 0x5b, CODE_UNFIT = 0x5d };

/* Within one page, which the hook touches beforehand: a page fault would undo it all. */
struct rtm_thread {
	uint32_t count, hooks;
	uint8_t *score;
	uint64_t refused;	/* to places that were given up */
	struct {
		uint64_t tag;
		const struct rules_place *place;
	} done[DONE];
} __attribute__((aligned(1024)));

_Static_assert(sizeof(struct rtm_thread) == 1024, "thread");

static struct {
	uint8_t *scores;		/* of each site that begins one: aborts in a row that were not conflicts */
	struct rtm_thread *threads;	/* as watch.threads */
} rtm;

/* As bytes: neither the compiler nor the assembler has to know them. */
static inline int xbegin(void)
{
	int status = RTM_STARTED;

	/* Goes on behind it in any case. */
	__asm__ volatile(".byte 0xc7, 0xf8; .long 0" : "+a"(status) : : "memory");
	return status;
}

static inline void xend(void)
{
	__asm__ volatile(".byte 0x0f, 0x01, 0xd5" : : : "memory");
}

static inline bool xtest(void)
{
	bool inside;

	__asm__ volatile(".byte 0x0f, 0x01, 0xd6; setnz %0" : "=q"(inside) : : "memory");
	return inside;
}

#define xabort(code) __asm__ volatile(".byte 0xc6, 0xf8, %c0" : : "i"(code) : "memory")

static bool cpu_has_it(void)
{
	unsigned a, b, c, d;

	/* The second one: it has the instructions, but gives up always. */
	return __get_cpuid_count(7, 0, &a, &b, &c, &d) && b >> 11 & 1 && !(d >> 11 & 1);
}

static bool one_commits(void)
{
	for (int i = 0; i < TRIALS; i++)
		if (xbegin() == RTM_STARTED) {
			xend();
			return true;
		}
	return false;
}

bool rtm_start(enum options_rtm choice)
{
	if (choice == OPTIONS_RTM_OFF || !(choice == OPTIONS_RTM_TRUST || cpu_has_it()) || !one_commits())
		return false;
	rtm.scores = arena_pages(rules_header()->sites);
	rtm.threads = arena_pages(WATCH_THREADS * sizeof(*rtm.threads));
	watch.log->rtm.used = rtm.scores && rtm.threads;
	return watch.log->rtm.used;
}

/*
 * Software has what waits, or may not be done in hardware. Returns only if the program ended the transaction: then
 * nothing can be undone, and finish() will find that out.
 */
static void undo(bool busy)
{
	if (busy)
		xabort(CODE_BUSY);
	else
		xabort(CODE_UNFIT);
}

/* May it be tried again soon? */
static bool aborted(unsigned status, uint8_t *score)
{
	struct watchlog_rtm *log = &watch.log->rtm;

	if (status & RTM_EXPLICIT && status >> 24 == CODE_BUSY) {
		watch_count(&log->busy, 1);
		return true;
	}
	if (!(status & (RTM_EXPLICIT | RTM_CAPACITY)) && status & (RTM_CONFLICT | RTM_RETRY)) {
		watch_count(&log->conflicts, 1);
		return true;
	}
	watch_count(status & RTM_CAPACITY ? &log->capacity : &log->unfit, 1);
	if (*score < UNFIT && ++*score == UNFIT)
		watch_count(&log->given_up, 1);
	return false;
}

static bool in_the_way(struct cell *c, const struct rules_place *place, bool write, bool first)
{
	struct guard_conflict unused;
	struct rules_place late = *place;

	/* Within a transaction only those wait that were never the first, as pset_conflict has it. */
	if (!first)
		late.flags &= ~(uint32_t)RULES_OPEN;
	return tx_conflict(c, write, &unused) || (watch.pset && pset_conflict(c, &late, write, &unused));
}

static void remember(struct rtm_thread *t, uint64_t tag, const struct rules_place *place)
{
	if (t->count && t->done[t->count - 1].tag == tag && t->done[t->count - 1].place == place)
		return;
	if (t->count == DONE) {
		undo(false);
		return;
	}
	t->done[t->count].tag = tag;
	t->done[t->count++].place = place;
}

/* false: something is in the way. */
static bool look(struct rtm_thread *t, uint64_t addr, uint64_t size, const struct rules_place *place, bool write,
		 bool first)
{
	uint64_t tag = (addr & TRACE_ADDR_MASK) >> watch.shift;
	uint64_t last = ((addr & TRACE_ADDR_MASK) + (size ? size : 1) - 1) >> watch.shift;

	if (last - tag >= RANGE_CELLS)
		last = tag + RANGE_CELLS - 1;
	for (; tag <= last; tag++) {
		struct cell *c = cell_peek(tag);

		if (!c || in_the_way(c, place, write, first))
			return false;
		if (watch.pset)
			remember(t, tag, place);
	}
	if (place->flags & RULES_IN_TX)
		watch_self.last = place->site;
	return true;
}

/*
 * Whoever was in the way has soon done with it. If we went to software at once we would be in the way of the next one
 * ourselves, and so on: one that is interrupted in software would bring all others there.
 */
static void pause_a_little(int tries)
{
	for (int i = 0; i < PAUSES << tries; i++)
		sys_pause();
}

static bool given_up(struct rtm_thread *t, uint32_t site)
{
	return rtm.scores[site] >= UNFIT && ++t->refused % AGAIN;
}

/* Hooks may go deeper in hardware than in software: into a page of the stack that would be missing each time. */
static __attribute__((noinline)) void touch_stack(void)
{
	volatile char below[4096];

	below[0] = 0;
	(void)below[0];
}

bool rtm_begin(uint64_t addr, uint64_t size, const struct rules_place *place, bool write)
{
	struct rtm_thread *t = &rtm.threads[watch_self.place - 1];
	int status;

	if (!(place->flags & RULES_IN_TX) || place->flags >> RULES_GATE_SHIFT || !watch_self.root ||
	    given_up(t, place->site) || (watch_me()->epoch & 1 && !(place->flags & RULES_CUT)) || xtest())
		return false;
	tx_before_access(place);
	touch_stack();
	t->score = &rtm.scores[place->site];
	for (int tries = 0;; tries++) {
		t->count = t->hooks = 0;
		status = xbegin();
		if (status == RTM_STARTED)
			break;
		if (!aborted((unsigned)status, t->score) || tries == RETRIES)
			return false;
		pause_a_little(tries);
	}
	if (watch.log->off || !look(t, addr, size, place, write, true)) {
		undo(true);
		return false;
	}
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	watch_self.busy = WATCH_HARD;
	return true;
}

/* What others may know, now that it is so. */
static void committed(bool ends)
{
	struct rtm_thread *t = &rtm.threads[watch_self.place - 1];

	watch_count(&watch.log->rtm.commits, 1);
	if (*t->score)
		*t->score = 0;
	if (ends)
		tx_note_last(watch_self.last, true);
	watch_self.over = ends ? 0 : watch_self.last;
	for (uint32_t i = 0; i < t->count; i++) {
		const struct rules_place *place = t->done[i].place;
		struct cell *c = cell_lock(t->done[i].tag);

		if (!c)
			continue;
		pset_done(c, place, place->flags & RULES_WRITE);
		cell_moved(c);
		cell_unlock(c);
	}
}

static void finish(bool ends)
{
	/* Before it ends: a signal right after it finds us here. */
	watch_self.busy = WATCH_BUSY;
	if (xtest())
		xend();
	else
		watch.rtm = false;
	committed(ends);
	watch_leave(&watch_self);
}

bool rtm_leave(bool ends)
{
	if (!rtm_hard())
		return false;
	if (!ends && !tx_is_last(watch_self.last))
		undo(false);
	finish(ends);
	return true;
}

static bool gate_is_free(const struct rules_place *place)
{
	struct cell *c = cell_peek(place->flags >> RULES_GATE_SHIFT | CELL_GATE);
	struct guard_conflict unused;

	return c && !tx_conflict(c, true, &unused);
}

bool rtm_access(uint64_t addr, uint64_t size, const struct rules_place *place, bool write)
{
	struct rtm_thread *t;

	if (!rtm_hard())
		return false;
	t = &rtm.threads[watch_self.place - 1];
	if (++t->hooks > HOOKS)
		undo(false);
	if (!place || !(place->flags & watch.active))
		return false;
	if (place->flags & RULES_CUT) {
		finish(true);
		return true;
	}
	if (place->flags & RULES_IN_TX)
		tx_note_last(watch_self.last, false);
	if ((place->flags >> RULES_GATE_SHIFT && !gate_is_free(place)) || !look(t, addr, size, place, write, false))
		undo(true);
	return false;
}
