/*
 * Streams under control. Reads take bytes out of the stream's buffer, so that each refill can be
 * waited for. The stream's lock is held during the whole read, as in libc.
 *
 * Two waits are not modelled: for room when buffered output is written, and for the input of
 * scanf. They block the whole program until the kernel is ready. For output to a user and input
 * from one this does no harm.
 */
#include "runtime/control/model/stdio.h"

/* The layout of what FILE._lock points to. */
struct stream_lock {
	int lock, depth;
	void *owner;
};

static bool is_free(const struct ctl_wait *w)
{
	const struct stream_lock *l = ((FILE *)w->arg)->_lock;

	/* With both back ends libc's owner is the pthread_t of the thread. */
	return !l || !l->owner || l->owner == (void *)ctl.threads[w->thread]->handle;
}

void ctl_stdio_point(FILE *f, const void *pc)
{
	struct ctl_wait w = CTL_WAIT(SCHED_OP_CALL, f, f ? is_free : NULL, pc);

	w.arg = f;
	ctl_wait(&w);
	ctl_outside_stale();
}

static bool has_input(const FILE *f)
{
	return f->_IO_read_ptr < f->_IO_read_end;
}

static int descriptor(FILE *f)
{
	int saved = errno, fd = fileno_unlocked(f);

	errno = saved;
	return fd;
}

/* A point, even if the buffer has input. Streams without a descriptor do not wait. */
static bool begin_input(FILE *f, const void *pc)
{
	int fd = descriptor(f);
	struct snarlrt_call c = { .object = snarlrt_fd(fd), .pc = pc, .control = true };

	return has_input(f) ? ctl_call_point(&c) : ctl_call_may(&c, fd, POLLIN);
}

/* A point only if it has to wait: in how many pieces input comes must not change steps. */
static bool await_input(FILE *f, const void *pc)
{
	struct pollfd one = { .fd = descriptor(f), .events = POLLIN };
	struct timespec zero = { 0 };

	return has_input(f) || one.fd < 0 || REAL(ppoll)(&one, 1, &zero, NULL) != 0 ||
	       begin_input(f, pc);
}

bool ctl_stdio_input(FILE *f, const void *pc)
{
	ctl_stdio_point(f, pc);
	return begin_input(f, pc);
}

static void unlock(FILE **f)
{
	REAL(funlockfile)(*f);
	ctl_changed(*f);
}

#define LOCKED(f, pc)                                                                     \
	ctl_stdio_point(f, pc);                                                            \
	REAL(flockfile)(f);                                                               \
	ctl_changed(f);                                                                   \
	FILE *locked __attribute__((cleanup(unlock), unused)) = f

size_t ctl_fread(void *p, size_t size, size_t n, FILE *f, const void *pc)
{
	size_t done = 0, bytes = size * n;

	LOCKED(f, pc);
	if (bytes == 0 || !begin_input(f, pc))
		return 0;
	while (done < bytes && await_input(f, pc)) {
		size_t there = (size_t)(f->_IO_read_end - f->_IO_read_ptr);
		size_t piece = there < bytes - done ? there : bytes - done, got;

		/* An empty buffer: reading one byte makes libc fill it. */
		got = REAL(fread)((char *)p + done, 1, piece ? piece : 1, f);
		done += got;
		if (got == 0)
			break;
	}
	return size ? done / size : 0;
}

char *ctl_fgets(char *s, int n, FILE *f, const void *pc)
{
	int i = 0, c = 0;

	LOCKED(f, pc);
	if (n <= 0 || !begin_input(f, pc))
		return NULL;
	while (i + 1 < n && c != '\n') {
		c = await_input(f, pc) ? getc_unlocked(f) : EOF;
		if (c == EOF)
			break;
		s[i++] = (char)c;
	}
	if (i == 0 && n > 1)
		return NULL;
	s[i] = 0;
	return s;
}

int ctl_getc(FILE *f, const void *pc)
{
	LOCKED(f, pc);
	return begin_input(f, pc) ? getc_unlocked(f) : EOF;
}
