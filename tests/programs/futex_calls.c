/*
 * Futexes by hand, through syscall(); other system calls are passed on unchanged.
 *
 * Whether a waiter is there already is asked by calls that bypass libc and therefore are not in the
 * trace.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static uint32_t first, second, third;
static volatile long waiter_id;

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

/* A system call that bypasses libc, and so the trace. */
static long unseen(long number, long a, long b, long c, long d, void *e)
{
	register long fourth __asm__("r10") = d;
	register void *fifth __asm__("r8") = e;
	register long sixth __asm__("r9") = 0;
	long got;

	__asm__ volatile("syscall"
			 : "=a"(got)
			 : "a"(number), "D"(a), "S"(b), "d"(c), "r"(fourth), "r"(fifth), "r"(sixth)
			 : "rcx", "r11", "memory");
	return got;
}

static long unseen_requeue(uint32_t *from, uint32_t *to)
{
	return unseen(SYS_futex, (long)from, FUTEX_REQUEUE_PRIVATE, 0, 1, to);
}

/*
 * Waits until the waiter sleeps. Linux 6.18 sometimes wakes a waiter that is requeued just before
 * it sleeps, so the requeue must not come earlier.
 */
static void wait_for_waiter(void)
{
	char path[64], text[256];
	long file, size;
	char *state = NULL;

	while (!state || *state != 'S') {
		snprintf(path, sizeof(path), "/proc/self/task/%ld/stat", waiter_id);
		file = unseen(SYS_open, (long)path, O_RDONLY, 0, 0, NULL);
		if (file < 0)
			continue;
		size = unseen(SYS_read, file, (long)text, sizeof(text) - 1, 0, NULL);
		unseen(SYS_close, file, 0, 0, 0, NULL);
		text[size > 0 ? size : 0] = 0;
		state = strrchr(text, ')');
		state = state ? state + 2 : NULL;
	}
}

static void *waiter(void *arg)
{
	waiter_id = unseen(SYS_gettid, 0, 0, 0, 0, NULL);
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
	do
		wait_for_waiter();
	while (unseen_requeue(&first, &second) != 1);
	want(syscall(SYS_futex, &second, FUTEX_REQUEUE_PRIVATE, 0, 1l, &third, 0), 1);
	want(syscall(SYS_futex, &third, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0), 1);
	want(pthread_join(t, NULL), 0);
	return 0;
}
