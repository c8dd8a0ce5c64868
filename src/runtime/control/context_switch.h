/*
 * The switch between user-level threads, inline for the fast path (point_fast.c).
 */
#ifndef RUNTIME_CONTROL_CONTEXT_SWITCH_H
#define RUNTIME_CONTROL_CONTEXT_SWITCH_H

#include "runtime/control/control.h"

SNARLRT_HIDDEN void context_swap_stack(void **from, void *to, uint64_t fs);

/* Saves the floating-point control words: they belong to a thread as its registers do. */
static inline void context_save_fp_control(struct ctl_thread *t)
{
	__asm__ volatile("stmxcsr %0\n\tfnstcw %1" : "=m"(t->mxcsr), "=m"(t->x87));
}

/* Leaves the running thread `from`, whose control words are saved already, for `to`. */
static inline void context_jump_saved(struct ctl_thread *from, struct ctl_thread *to)
{
	void **sp = &from->sp, *to_sp = to->sp;
	uint64_t fs = to->fs;

	if (unlikely(from->mxcsr != to->mxcsr || from->x87 != to->x87))
		__asm__ volatile("ldmxcsr %0\n\tfldcw %1" : : "m"(to->mxcsr), "m"(to->x87));
	__asm__ volatile("call context_swap_stack"
			 : "+D"(sp), "+S"(to_sp), "+d"(fs)
			 :
			 : "rax", "rbx", "rcx", "r8", "r9", "r10", "r11", "r12", "r13", "r14",
			   "r15", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7",
			   "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15",
			   "memory", "cc");
}

static inline void context_jump(struct ctl_thread *from, struct ctl_thread *to)
{
	context_save_fp_control(from);
	context_jump_saved(from, to);
}

#endif
