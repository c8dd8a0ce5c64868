/*
 * Stacks and switches of controlled threads: two back ends with the same meaning.
 *
 * User-level threads: each thread of the program has a *host thread*, a kernel thread that
 * provides stack and thread-local storage and sleeps. The thread's code runs on the one kernel
 * thread that is awake, with the stack switched and the FS base set, so that errno, pthread_self()
 * and libc's caches are its own. fork() copies the whole program at any point, since only one
 * kernel thread runs.
 *
 * Kernel threads: each thread runs on its own kernel thread and sleeps on its futex `token` until
 * it is passed the token.
 *
 * Both back ends map stacks at fixed addresses, so that addresses are the same in every run and
 * with either back end. No address is used twice.
 *
 * A user-level thread needs its host thread only to be created. The fork server therefore creates
 * the first host threads of a run in advance, as many as earlier runs had. A fork copies them as
 * memory, and the run saves the system calls. State that a new thread inherits (locale,
 * floating-point control words) is set again when such a thread is used.
 */
#include <errno.h>
#include <linux/futex.h>
#include <locale.h>
#include <sys/auxv.h>
#include <sys/mman.h>

#include "runtime/control/context_switch.h"
#include "runtime/control/control.h"
#include "runtime/core/deferred_signals.h"
#include "runtime/core/real.h"
#include "runtime/core/sys.h"

#define DEFAULT_STACKS 0x5ff003000000ull	/* near main's stack: shares page tables */
#define OTHER_STACKS 0x600000000000ull	/* stacks of other sizes */
#define STACK_GUARD (64ull << 10)	/* unmapped bytes below each stack */
#define STACK_DEFAULT (8ull << 20)	/* bytes, as glibc's default */
#define STACK_MIN (256ull << 10)	/* thread-local storage and the host's frames are on it */
#define HOST_FRAMES 512		/* bytes of the stack that the host thread uses while it sleeps */
#define HWCAP2_FSGSBASE 2ul
#define SIGNAL_SETXID 33	/* by which glibc has every thread change its credentials */

static uint32_t default_stacks_used;	/* by threads of this run */
static uint64_t next_other_stack = OTHER_STACKS;
/* Host threads created in advance. Only handle, tls, stack and registers are used. */
static struct ctl_thread prepared[CTL_PREPARED_MAX] SNARLRT_BIG;
static uint32_t prepared_count;

extern char __libc_single_threaded __attribute__((weak));	/* since glibc 2.32 */

bool context_user_supported(void)
{
	return getauxval(AT_HWCAP2) & HWCAP2_FSGSBASE;
}

static inline uint64_t fs_base(void)
{
	uint64_t v;

	__asm__ volatile("rdfsbase %0" : "=r"(v));
	return v;
}

/*
 * context_swap_stack(from, to, fs): stores the stack pointer of the running thread in *from and
 * continues at `to`, which an earlier call has stored. The caller saves all other registers: it
 * knows which it uses.
 */
__asm__(".text\n"
	".globl context_swap_stack\n"
	".hidden context_swap_stack\n"
	".p2align 4\n"
	".type context_swap_stack, @function\n"
	"context_swap_stack:\n"
	"	pushq %rbp\n"
	"	movq %rsp, (%rdi)\n"
	"	movq %rsi, %rsp\n"
	"	wrfsbase %rdx\n"
	"	popq %rbp\n"
	"	ret\n"
	".size context_swap_stack, . - context_swap_stack\n");

/* context_call_on(stack_top, fn, arg): rbp leads back to the old stack, for unwinders and gdb. */
__asm__(".text\n"
	".globl context_call_on\n"
	".hidden context_call_on\n"
	".p2align 4\n"
	".type context_call_on, @function\n"
	"context_call_on:\n"
	"	.cfi_startproc\n"
	"	pushq %rbp\n"
	"	.cfi_def_cfa_offset 16\n"
	"	.cfi_offset rbp, -16\n"
	"	movq %rsp, %rbp\n"
	"	.cfi_def_cfa_register rbp\n"
	"	movq %rdi, %rsp\n"
	"	movq %rdx, %rdi\n"
	"	callq *%rsi\n"
	"	movq %rbp, %rsp\n"
	"	popq %rbp\n"
	"	.cfi_def_cfa rsp, 8\n"
	"	ret\n"
	"	.cfi_endproc\n"
	".size context_call_on, . - context_call_on\n");

static void futex_wait_for(uint32_t *word)
{
	while (__atomic_load_n(word, __ATOMIC_ACQUIRE) == 0)
		sys_call6(SYS_futex, (long)word, FUTEX_WAIT_PRIVATE, 0, 0, 0, 0);
}

static void futex_set(uint32_t *word)
{
	__atomic_store_n(word, 1, __ATOMIC_RELEASE);
	sys_call6(SYS_futex, (long)word, FUTEX_WAKE_PRIVATE, 1, 0, 0, 0);
}

static int first_function(void *unused)
{
	(void)unused;
	if (ctl.current->prepared)
		/* The global locale may have changed since the host thread was created. */
		uselocale(LC_GLOBAL_LOCALE);
	ctl_thread_main(ctl.current);
	return 0;
}

/* Makes a new stack look as if context_swap_stack had left it. */
static void *first_frame(char *top)
{
	uint64_t *sp = (uint64_t *)top;	/* aligned to 16 */

	*--sp = 0;		/* return address; the ABI wants rsp = 16n + 8 at entry */
	*--sp = (uint64_t)(uintptr_t)first_function;
	*--sp = 0;		/* rbp 0: the outermost frame */
	return sp;
}

/* Runs in the new kernel thread, with all signals blocked. */
static void *host_main(void *v)
{
	struct ctl_thread *t = v;
	/* Both back ends begin at this address, so that addresses on the stack are the same. */
	char *top = (char *)(((uintptr_t)__builtin_frame_address(0) - HOST_FRAMES) & ~15ull);

	__snarl_tls.hidden = 1;
	t->tls = &__snarl_tls;
	if (ctl.kernel_threads) {
		/* It gets the signals of its own faults. */
		snarlrt_signals_set(~(BY_INSTRUCTION | BIT(SIGNAL_SETXID)));
		futex_set(&t->host_ready);
		futex_wait_for(&t->token);
		__atomic_store_n(&t->token, 0, __ATOMIC_RELAXED);
		t->tid = sys_call(SYS_gettid, 0, 0, 0);
		/* From now on ticks may come, too. */
		snarlrt_signals_set(~(BY_INSTRUCTION | BIT(CTL_TICK_SIGNAL) | BIT(SIGNAL_SETXID)));
		context_call_on(top, first_function, NULL);
		return NULL;
	}
	t->fs = fs_base();
	t->sp = first_frame(top);
	context_save_fp_control(t);
	futex_set(&t->host_ready);
	futex_wait_for(&t->may_exit);
	return NULL;
}

/* Maps a stack of the given size, with unmapped memory below it. */
static bool map_stack(struct ctl_thread *t, size_t size)
{
	uint64_t at = DEFAULT_STACKS + default_stacks_used * (STACK_DEFAULT + STACK_GUARD);
	void *got;

	size = ((size < STACK_MIN ? STACK_MIN : size) + 4095) & ~4095ull;
	if (size == STACK_DEFAULT)
		default_stacks_used++;
	else
		at = next_other_stack;
	got = sys_mmap((void *)at, size, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
	if ((uint64_t)got != at)
		return false;
	if (size != STACK_DEFAULT)
		next_other_stack += size + STACK_GUARD;
	t->stack = got;
	t->stack_size = size;
	return true;
}

static bool has_own_stack(const pthread_attr_t *attr)
{
	void *low = NULL;
	size_t size = 0;

	return attr && pthread_attr_getstack(attr, &low, &size) == 0 && size &&
	       (uintptr_t)low + size > size;
}

static int create_host(struct ctl_thread *t, const pthread_attr_t *attr)
{
	pthread_attr_t mine;
	size_t size = STACK_DEFAULT;
	int error = pthread_attr_init(&mine);

	if (error)
		return error;
	if (has_own_stack(attr)) {
		void *low;

		pthread_attr_getstack(attr, &low, &size);
		error = pthread_attr_setstack(&mine, low, size);
	} else {
		if (attr)
			pthread_attr_getstacksize(attr, &size);
		if (!map_stack(t, size))
			error = EAGAIN;
		else
			error = pthread_attr_setstack(&mine, t->stack, t->stack_size);
	}
	if (!error)
		error = REAL(pthread_create)(&t->handle, &mine, host_main, t);
	pthread_attr_destroy(&mine);
	return error;
}

/* Could a prepared host thread serve, whose stack has the default size? */
static bool has_default_stack(const pthread_attr_t *attr)
{
	size_t size;

	return !attr || (!has_own_stack(attr) && pthread_attr_getstacksize(attr, &size) == 0 &&
			 size == STACK_DEFAULT);
}

static void use_prepared(struct ctl_thread *t)
{
	const struct ctl_thread *from = &prepared[default_stacks_used++];

	t->handle = from->handle;
	t->tls = from->tls;
	t->fs = from->fs;
	t->sp = from->sp;
	t->stack = from->stack;
	t->stack_size = from->stack_size;
	t->host_pid = from->host_pid;
	t->prepared = true;
	context_save_fp_control(t);
	if (&__libc_single_threaded)
		__libc_single_threaded = 0;
}

void context_create_prepared(uint32_t count)
{
	char single = &__libc_single_threaded ? __libc_single_threaded : 0;

	while (prepared_count < count && prepared_count < CTL_PREPARED_MAX) {
		default_stacks_used = prepared_count;
		if (context_create(&prepared[prepared_count], NULL))
			break;
		prepared_count++;
	}
	default_stacks_used = 0;
	if (single)
		/* To the program there is still one thread. */
		__libc_single_threaded = single;
}

int context_create(struct ctl_thread *t, const pthread_attr_t *attr)
{
	uint64_t mask;
	int error;

	if (default_stacks_used < prepared_count && has_default_stack(attr)) {
		use_prepared(t);
		return 0;
	}
	/* The host inherits the mask: no signal reaches it. */
	mask = snarlrt_signals_block();
	snarlrt_hide();
	ctl.creating_host = true;
	error = create_host(t, attr);
	snarlrt_unhide();
	if (!error) {
		t->host_pid = (int)sys_call(SYS_getpid, 0, 0, 0);
		futex_wait_for(&t->host_ready);
	}
	ctl.creating_host = false;
	snarlrt_signals_set(mask);
	return error;
}

void context_attach_main(struct ctl_thread *t)
{
	t->tls = &__snarl_tls;
	t->handle = pthread_self();
	t->host_pid = 0;
	t->tid = sys_call(SYS_gettid, 0, 0, 0);
	if (!ctl.kernel_threads)
		t->fs = fs_base();
}

void context_switch(struct ctl_thread *from, struct ctl_thread *to)
{
	if (!ctl.kernel_threads) {
		context_jump(from, to);
		return;
	}
	from->sp = __builtin_frame_address(0);
	futex_set(&to->token);
	futex_wait_for(&from->token);
	__atomic_store_n(&from->token, 0, __ATOMIC_RELAXED);
}

/* The thread has ended. A kernel thread sleeps until it is reaped and then returns. */
void context_switch_from_ended(struct ctl_thread *from, struct ctl_thread *to)
{
	if (!ctl.kernel_threads)
		context_jump(from, to);
	futex_set(&to->token);
	futex_wait_for(&from->may_exit);
}

void context_reap(struct ctl_thread *t)
{
	if (t->host_pid != (int)sys_call(SYS_getpid, 0, 0, 0))
		return;		/* main, or a thread of the parent process */
	t->host_pid = 0;
	futex_set(&t->may_exit);
	snarlrt_hide();
	REAL(pthread_join)(t->handle, NULL);
	snarlrt_unhide();
	if (t->stack)
		sys_call(SYS_madvise, t->stack, t->stack_size, MADV_DONTNEED);
}
