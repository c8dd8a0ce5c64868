/*
 * Functions for a debugger's breakpoints. They do nothing.
 *
 * `snarl replay --gdb` sets CTL_DEBUG, and every step then asks the scheduler. The commands of
 * cmd/replay/snarl-gdb.py have breakpoints in snarlrt_debug_here and snarlrt_debug_switch.
 */
#include "runtime/control/step.h"

uint64_t snarlrt_debug_site;	/* set by the debugger: stop at this pc only; 0: at every event */

__attribute__((noinline)) void snarlrt_debug_here(struct ctl_thread *t, const struct ctl_wait *w)
{
	__asm__ volatile("" : : "r"(t), "r"(w) : "memory");
}

void snarlrt_debug_step(struct ctl_thread *t, const struct ctl_wait *w)
{
	if (!snarlrt_debug_site || w->event.site == snarlrt_debug_site)
		snarlrt_debug_here(t, w);
}

__attribute__((noinline)) void snarlrt_debug_switch(struct ctl_thread *from, struct ctl_thread *to)
{
	__asm__ volatile("" : : "r"(from), "r"(to) : "memory");
}
