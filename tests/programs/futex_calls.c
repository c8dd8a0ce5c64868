/*
 * Futexes by hand, through syscall(); and that other calls come through whole.
 *
 * Whether a waiter is there already is asked by a requeue that goes around
 * libc and is therefore not in the trace.
 */
#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static uint32_t first, second, third;

static void want(long got, long expected)
{
	if (got != expected)
		abort();
}

static void want_error(long got, int expected)
{
	want(got, -1);
	want(errno, expected);
}

static long unseen_requeue(uint32_t *from, uint32_t *to)
{
	register long count __asm__("r10") = 1;
	register uint32_t *other __asm__("r8") = to;
	register long unused __asm__("r9") = 0;
	long got;

	__asm__ volatile("syscall"
			 : "=a"(got)
			 : "a"(SYS_futex), "D"(from), "S"(FUTEX_REQUEUE_PRIVATE), "d"(0), "r"(count),
			   "r"(other), "r"(unused)
			 : "rcx", "r11", "memory");
	return got;
}

static void *waiter(void *arg)
{
	want(syscall(SYS_futex, &first, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0), 0);
	return arg;
}

static void one_thread(void)
{
	static const struct timespec nothing = { 0, 0 }, past = { 1, 0 };
	char *odd = (char *)&third + 1;

	want_error(syscall(SYS_futex, &first, FUTEX_WAIT, 5, NULL, NULL, 0), EAGAIN);
	want_error(syscall(SYS_futex, &first, FUTEX_WAIT, 0, &nothing, NULL, 0), ETIMEDOUT);
	want_error(syscall(SYS_futex, &first, FUTEX_WAIT_BITSET | FUTEX_CLOCK_REALTIME, 0, &past,
			   NULL, 1),
		   ETIMEDOUT);
	want(syscall(SYS_futex, &first, FUTEX_WAKE, INT_MAX, NULL, NULL, 0), 0);
	want(syscall(SYS_futex, &first, FUTEX_WAKE_BITSET, 1, NULL, NULL, 1), 0);
	want_error(syscall(SYS_futex, odd, FUTEX_WAKE, 1, NULL, NULL, 0), EINVAL);
	want_error(syscall(SYS_futex, &first, FUTEX_CMP_REQUEUE, 1, 1l, &second, 9), EAGAIN);
}

static void others(void)
{
	char *page;

	want(syscall(SYS_getpid), getpid());
	want_error(syscall(SYS_close, -1), EBADF);
	page = (char *)syscall(SYS_mmap, NULL, 4096ul, PROT_READ | PROT_WRITE,
			       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0ul);
	want(page != MAP_FAILED, 1);
	page[4095] = 1;
	want(munmap(page, 4096), 0);
}

int main(void)
{
	pthread_t t;

	one_thread();
	others();
	want(pthread_create(&t, NULL, waiter, NULL), 0);
	while (unseen_requeue(&first, &second) != 1)
		;
	want(syscall(SYS_futex, &second, FUTEX_REQUEUE_PRIVATE, 0, 1l, &third, 0), 1);
	want(syscall(SYS_futex, &third, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0), 1);
	want(pthread_join(t, NULL), 0);
	return 0;
}
