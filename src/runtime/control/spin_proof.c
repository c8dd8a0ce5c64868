/*
 * Proofs of spinning, by Brent's cycle detection (BIT 20, 1980) on samples of each thread's state.
 *
 * For a sample, the return address to the program is replaced by that of a gate. The gate saves the
 * registers, calls snarlrt_spin_sample() and jumps to the program. The runtime has frame pointers,
 * so the address is found by following them.
 *
 * Hashing the memory takes long, and threads switch often during a proof. So the number of steps
 * until the next one doubles with each proof that failed.
 *
 * Compiled without vector registers, which may be those of the program.
 */
#include "runtime/control/spin_proof.h"

#include <cpuid.h>

#include "runtime/control/program_state.h"
#include "runtime/core/bounds.h"

#define PROOF_ROUNDS 500u	/* rounds of spinning before a proof */
#define STEPS_AFTER 100000ull	/* steps between the first proof, if it fails, and the next one */
#define DOUBLINGS_MOST 10u
#define SAMPLES_MOST 160u	/* of a thread in one proof; a spinning loop has few points */
#define MEMORY_MOST 12u		/* hashes of the whole memory for a thread in one proof */
#define FRAMES_MOST 64u		/* of the runtime, between a point and the program */
#define XSAVE_STATES "0xe7"	/* x87, vector and mask registers */
#define XSAVE_BYTES 2688u	/* of these */

extern SNARLRT_HIDDEN const char snarlrt_access_keeping[], snarlrt_access_keeping_end[];

static struct spinner {
	uint64_t stack_end;
	uint64_t anchor;	/* state that later samples are compared with */
	uint64_t memory;	/* hash of the memory at the last repetition; 0: none yet */
	uint64_t outside;	/* ctl.outside_calls at the anchor */
	uint32_t samples, hashes;
	uint32_t length, limit;	/* samples since the anchor, and those until it is replaced */
	bool proven;
} spinners[SCHED_MAX_THREADS] SNARLRT_BIG;

static struct {
	uint64_t progress;	/* value of ctl.progress: the proof ends when it changes */
	uint32_t failed;	/* number of proofs that failed */
	uint64_t not_before;	/* value of ctl.steps from which another one may begin */
	bool exhausted;		/* a thread took its samples and is not proven */
	uint64_t *slot;		/* the word on the stack that has the gate's address; or NULL */
	uint64_t back;		/* the return address that was there */
	enum state_live live;	/* there */
} proof;

SNARLRT_HIDDEN char snarlrt_spin_vectors[XSAVE_BYTES + 64] __attribute__((aligned(64)));
SNARLRT_HIDDEN uint8_t snarlrt_spin_xsave;	/* 1: the processor has xsave */
SNARLRT_HIDDEN void snarlrt_spin_gate(void);
SNARLRT_HIDDEN void snarlrt_spin_sample(greg_t *regs);

/* Pushes the return address and what gregset_t has, in that order. */
__asm__(".text\n"
	".globl snarlrt_spin_gate\n"
	".hidden snarlrt_spin_gate\n"
	".p2align 4\n"
	"snarlrt_spin_gate:\n"
	"	pushq $0\n"
	"	pushfq\n"
	"	pushq $0\n"	/* rip and rsp: set by C */
	"	pushq $0\n"
	"	pushq %rcx\n"
	"	pushq %rax\n"
	"	pushq %rdx\n"
	"	pushq %rbx\n"
	"	pushq %rbp\n"
	"	pushq %rsi\n"
	"	pushq %rdi\n"
	"	pushq %r15\n"
	"	pushq %r14\n"
	"	pushq %r13\n"
	"	pushq %r12\n"
	"	pushq %r11\n"
	"	pushq %r10\n"
	"	pushq %r9\n"
	"	pushq %r8\n"
	"	movq %rsp, %rdi\n"
	"	movq %rsp, %rbx\n"
	"	andq $-16, %rsp\n"
	"	cld\n"
	"	leaq snarlrt_spin_vectors(%rip), %rcx\n"
	"	cmpb $0, snarlrt_spin_xsave(%rip)\n"
	"	je 1f\n"
	"	movl $" XSAVE_STATES ", %eax\n"
	"	xorl %edx, %edx\n"
	"	xsave (%rcx)\n"
	"	jmp 2f\n"
	"1:	fxsave (%rcx)\n"
	"2:	call snarlrt_spin_sample\n"
	"	movq %rbx, %rsp\n"
	"	popq %r8\n"
	"	popq %r9\n"
	"	popq %r10\n"
	"	popq %r11\n"
	"	popq %r12\n"
	"	popq %r13\n"
	"	popq %r14\n"
	"	popq %r15\n"
	"	popq %rdi\n"
	"	popq %rsi\n"
	"	popq %rbp\n"
	"	popq %rbx\n"
	"	popq %rdx\n"
	"	popq %rax\n"
	"	popq %rcx\n"
	"	leaq 16(%rsp), %rsp\n"
	"	popfq\n"
	"	ret\n");

static void set_anchor(struct spinner *s, uint64_t state)
{
	s->anchor = state;
	s->memory = 0;
	s->outside = ctl.outside_calls;
	s->length = 0;
	s->limit += s->limit / 2 + 1;	/* of both parities */
}

static void take_sample(struct spinner *s, const struct state_at *at)
{
	uint64_t state, memory;

	if (++s->samples >= SAMPLES_MOST)
		proof.exhausted = true;
	if (!s->stack_end)
		s->stack_end = state_mapping_end((uint64_t)at->regs[REG_RSP]);
	state = state_registers(at) ^ state_stack(at, s->stack_end);
	s->length++;
	if (s->outside != ctl.outside_calls ||
	    (s->anchor != state && s->length > s->limit)) {
		set_anchor(s, state);
		return;
	}
	if (s->anchor != state)
		return;
	if (++s->hashes >= MEMORY_MOST)
		proof.exhausted = true;
	memory = state_memory(at);
	s->proven = memory && memory == s->memory;
	ctl.silent_epoch += s->proven;
	s->memory = memory;
	s->length = 0;
}

/* `regs` is followed by the word for the address to which the gate returns. */
void snarlrt_spin_sample(greg_t *regs)
{
	struct state_at at = { regs, snarlrt_spin_vectors,
			       snarlrt_spin_xsave ? XSAVE_BYTES : 0, proof.live };

	regs[REG_RIP] = regs[REG_EFL + 1] = (greg_t)proof.back;
	regs[REG_RSP] = (greg_t)(uintptr_t)(regs + REG_EFL + 2);
	proof.slot = NULL;
	take_sample(&spinners[ctl.current->number], &at);
}

/* Puts the gate in the place of the return address to the program. */
static bool set_gate(uint64_t *frame)
{
	uint64_t pc = 0;

	for (uint32_t i = 0; i < FRAMES_MOST && frame; i++) {
		uint64_t *caller = (uint64_t *)frame[0];

		if (!bounds_has_code(frame[1])) {
			proof.slot = frame + 1;
			proof.back = frame[1];
			proof.live = pc >= (uintptr_t)snarlrt_access_keeping &&
						     pc < (uintptr_t)snarlrt_access_keeping_end ?
					     STATE_AFTER_ACCESS :
					     STATE_AFTER_CALL;
			frame[1] = (uintptr_t)snarlrt_spin_gate;
			return true;
		}
		if (caller <= frame)
			return false;
		pc = frame[1];
		frame = caller;
	}
	return false;
}

/* Has the kernel enabled xsave? */
static bool has_xsave(void)
{
	uint32_t a, b, c, d;

	return __get_cpuid(1, &a, &b, &c, &d) && c & bit_OSXSAVE;
}

static void proof_begin(void)
{
	for (uint32_t i = 0; i < ctl.count; i++)
		spinners[i] = (struct spinner){ 0 };
	proof.progress = ctl.progress;
	proof.exhausted = false;
	snarlrt_spin_xsave = has_xsave();
	ctl.proving = true;
}

static void proof_end(void)
{
	ctl.proving = false;
	proof.not_before = ctl.steps + (STEPS_AFTER << proof.failed);
	if (proof.failed < DOUBLINGS_MOST)
		proof.failed++;
}

static bool proven(const uint32_t *runnable, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const struct ctl_thread *t = ctl.threads[runnable[i]];

		if (!spinners[t->number].proven &&
		    !(t->silence == CTL_SPINS_SILENTLY && t->silence_epoch == ctl.silent_epoch))
			return false;
	}
	return true;
}

bool spin_proof_done(const uint32_t *runnable, size_t count, uint32_t rounds)
{
	if (!ctl.proving) {
		if (rounds >= PROOF_ROUNDS && ctl.steps >= proof.not_before)
			proof_begin();
		return false;
	}
	if (proof.progress == ctl.progress && proven(runnable, count))
		return true;
	if (proof.exhausted)
		proof_end();
	return false;
}

void spin_proof_resume(const struct ctl_thread *t)
{
	if (proof.progress != ctl.progress || proof.exhausted) {
		proof_end();
		return;
	}
	if (spinners[t->number].proven)
		return;
	if (!set_gate(__builtin_frame_address(0)))
		proof.exhausted = true;
}

bool spin_proof_stop(const struct ctl_thread *t)
{
	if (proof.slot)
		*proof.slot = proof.back;
	proof.slot = NULL;
	return spinners[t->number].proven;
}
