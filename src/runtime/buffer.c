/*
 * A thread's ring of raw records, and how it becomes chunks of the trace.
 *
 * The ring lives in live memory. A full ring is encoded into one chunk. If all
 * its accesses are to shared memory the chunk goes to the file; otherwise it waits
 * in the stash. Only then is the ring cleared, from its start, and its number
 * moved on: a process killed in between leaves at worst the same chunk twice, which
 * the reader of the live memory recognises by its number.
 */
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "runtime/clock.h"
#include "runtime/control.h"
#include "runtime/lock.h"
#include "runtime/process.h"
#include "runtime/rt.h"
#include "runtime/sys.h"

struct clock_stripe snarlrt_stripes[CLOCK_STRIPES];

static struct snarlrt_lock file_lock;
static uint64_t file_dev, file_ino;	/* to notice that the program closed our file */

uint64_t clock_stripe_wait(uint64_t *stripe)
{
	uint64_t seen;

	for (int i = 0;; i++) {
		seen = __atomic_load_n(stripe, __ATOMIC_RELAXED);
		if (!(seen & 1))
			return seen;
		if (i < 64)
			sys_pause();
		else
			sys_call(SYS_sched_yield, 0, 0, 0);
	}
}

/* The program may have closed all descriptors, or reused ours: look before each write. */
static int trace_file(void)
{
	struct stat st;

	if (snarlrt.trace_fd >= 0 && sys_call(SYS_fstat, snarlrt.trace_fd, &st, 0) == 0 &&
	    st.st_dev == file_dev && st.st_ino == file_ino)
		return snarlrt.trace_fd;
	snarlrt.trace_fd = (int)sys_call(SYS_open, snarlrt.trace_path,
					 O_WRONLY | O_APPEND | O_CLOEXEC, 0);
	if (snarlrt.trace_fd >= 0) {
		struct rlimit limit = { .rlim_cur = 1024 };
		long high;

		/* Out of the program's way: it may count on its numbers. */
		sys_call(SYS_getrlimit, RLIMIT_NOFILE, &limit, 0);
		high = sys_call(SYS_fcntl, snarlrt.trace_fd, F_DUPFD_CLOEXEC,
				limit.rlim_cur > 500 ? 500 : limit.rlim_cur - 1);
		if (high >= 0) {
			sys_call(SYS_close, snarlrt.trace_fd, 0, 0);
			snarlrt.trace_fd = (int)high;
		}
		sys_call(SYS_fstat, snarlrt.trace_fd, &st, 0);
		file_dev = st.st_dev;
		file_ino = st.st_ino;
	}
	return snarlrt.trace_fd;
}

/* Beyond ulimit -f the kernel does not refuse, it kills. */
static bool may_grow_by(uint64_t bytes)
{
	struct rlimit limit = { .rlim_cur = RLIM_INFINITY };
	struct stat st;

	sys_call(SYS_getrlimit, RLIMIT_FSIZE, &limit, 0);
	return limit.rlim_cur == RLIM_INFINITY ||
	       (sys_call(SYS_fstat, snarlrt.trace_fd, &st, 0) == 0 &&
		(uint64_t)st.st_size + bytes <= limit.rlim_cur);
}

bool snarlrt_chunk_write(struct trace_chunk *chunk)
{
	int fd, failed;

	chunk->magic = TRACE_CHUNK_MAGIC;
	chunk->size = chunk->stored;
	chunk->check = trace_check(chunk + 1, chunk->stored);
	chunk->header_check = trace_check(chunk, offsetof(struct trace_chunk, header_check));
	snarlrt_lock(&file_lock);
	fd = trace_file();
	failed = fd < 0 || !may_grow_by(sizeof(*chunk) + chunk->stored) ||
		 sys_write_all(fd, chunk, sizeof(*chunk) + chunk->stored) < 0;
	snarlrt_unlock(&file_lock);
	if (failed)
		__atomic_fetch_add(&snarlrt.live->lost_records, chunk->count, __ATOMIC_RELAXED);
	return !failed;
}

static void ring_clear(struct snarlrt_thread *self, struct trace_record *end)
{
	sys_clear(self->ring, (size_t)((char *)end - (char *)self->ring));
}

void snarlrt_flush(struct snarlrt_thread *self)
{
	struct snarlrt_tls *tls = &__snarl_tls;
	struct trace_chunk *chunk = (struct trace_chunk *)self->out;
	uint8_t *payload = (uint8_t *)(chunk + 1), *out = payload;
	const struct trace_record *in = self->ring;
	struct trace_record *end = tls->cur;

	if (in == end)
		return;
	trace_coder_init(self->coder, self->live->time);
	out = trace_encode(self->coder, out, in, end);
	out = trace_encode_end(self->coder, out);
	*chunk = (struct trace_chunk){
		.type = TRACE_CHUNK_EVENTS,
		.thread = self->id,
		.stored = (uint32_t)(out - payload),
		.count = (uint32_t)(end - self->ring),
		.seq = self->live->seq,
		.time = self->live->time,
	};
	if (tls->undecided && snarlrt.filter)
		snarlrt_stash_push(chunk);
	else
		snarlrt_chunk_write(chunk);
	tls->undecided = 0;
	ring_clear(self, end);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	self->live->seq++;
	self->live->time = clock_now(self);
	tls->cur = self->ring;
}

/* The thunks never write at a multiple of STAMP_BYTES: so a time comes by often enough. */
static void make_room(struct snarlrt_thread *self, unsigned count)
{
	struct snarlrt_tls *tls = &__snarl_tls;

	if (tls->cur + count + 1 > self->ring_end)
		snarlrt_flush(self);
	if ((uintptr_t)tls->cur % STAMP_BYTES == 0 && tls->cur != self->ring)
		*tls->cur++ = (struct trace_record){ clock_now(self), TRACE_SITE(TRACE_STAMP, 0, 0) };
}

void snarlrt_append(struct snarlrt_thread *self, const struct trace_record *records,
		    unsigned count)
{
	struct snarlrt_tls *tls = &__snarl_tls;

	if (unlikely(tls->cur + count + 1 > self->ring_end ||
		     (uintptr_t)tls->cur % STAMP_BYTES == 0))
		make_room(self, count);
	/* The site of the first record makes all of them valid: it goes in last. */
	for (unsigned i = count; i-- > 0;) {
		tls->cur[i].addr = records[i].addr;
		__atomic_signal_fence(__ATOMIC_SEQ_CST);
		tls->cur[i].site = records[i].site;
	}
	tls->cur += count;
}

void snarlrt_tell_frames(struct snarlrt_thread *self)
{
	struct snarlrt_tls *tls = &__snarl_tls;

	while (tls->told < tls->frame) {
		struct trace_record r = { tls->told->caller & TRACE_ADDR_MASK,
					  TRACE_SITE(TRACE_FUNC_ENTRY, 0, tls->told->pc) };

		tls->told++;
		snarlrt_append(self, &r, 1);
	}
}

/* Kinds that come so often that reading the counter for each would show. */
static bool is_frequent(enum trace_kind kind)
{
	return (kind >= TRACE_MUTEX_LOCK && kind <= TRACE_SPIN_UNLOCK) || kind == TRACE_MALLOC ||
	       kind == TRACE_FREE;
}

void snarlrt_note(enum trace_kind kind, unsigned detail, const void *object, uint64_t arg,
		  int result, const void *pc)
{
	struct snarlrt_thread *self;
	struct trace_record r[2];

	if (unlikely(snarlrt.mode == SNARLRT_CONTROL)) {
		ctl_note(kind, detail, object, arg, result, pc);
		return;
	}
	self = snarlrt_enter();
	if (!self)
		return;
	snarlrt_tell_frames(self);
	r[0].addr = ((uint64_t)object & TRACE_ADDR_MASK) | (uint64_t)(uint16_t)result << 48;
	r[0].site = TRACE_SITE(kind, detail, pc);
	if (!is_frequent(kind))
		self->unlooked = 0;
	/* A wait lets go of its mutex and takes it again: ordered with both. */
	if (kind == TRACE_COND_WAIT || kind == TRACE_COND_WAKE)
		r[1].addr = clock_meet_both(self, object, (const void *)arg);
	else
		r[1].addr = clock_meet(self, object);
	r[1].site = arg;
	snarlrt_append(self, r, 2);
	snarlrt_leave(self);
}

/* Between begin and end the thread holds nothing of ours, so plain stores do. */
void snarlrt_wait_begin(enum trace_kind kind, const void *object, const void *pc)
{
	struct snarlrt_thread *self = __snarl_tls.self;

	if (!self || __snarl_tls.hidden)
		return;
	self->live->waiting_for = (uint64_t)object & TRACE_ADDR_MASK;
	self->live->waiting_pc = (uint64_t)pc;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	self->live->waiting_in = kind;
}

void snarlrt_wait_end(void)
{
	struct snarlrt_thread *self = __snarl_tls.self;

	if (self)
		self->live->waiting_in = 0;
}

void snarlrt_buffer_forked(void)
{
	file_lock.state = 0;
	snarlrt.trace_fd = -1;
}
