/*
 * A thread's ring of raw records, and how it becomes chunks of the trace.
 *
 * The ring lies in live memory. A full ring is encoded into one chunk. If few of its accesses are
 * undecided, the chunk goes to the outbox. Otherwise it goes to the stash, until its accesses are
 * decided (undecided_chunks.c). Only then is the ring cleared, from its start, and its chunk number
 * incremented. If the process is killed in between, live memory has the chunk twice, and the tool
 * recognises the copy by its number.
 *
 * Chunks are small and a write call is expensive. So the outbox, which is in live memory, too,
 * collects chunks, and one call writes them.
 */
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "runtime/core/lock.h"
#include "runtime/core/sys.h"
#include "runtime/record/clock.h"
#include "runtime/record/nest.h"
#include "runtime/record/parallel_coverage.h"
#include "runtime/record/ring.h"
#include "runtime/record/trace_file.h"

/* A full ring is not decided if less than 1 in this many records or events is undecided. */
#define UNDECIDED_SHARE 16u

__thread struct snarlrt_nest __snarl_nest;
struct clock_stripe snarlrt_stripes[CLOCK_STRIPES] SNARLRT_BIG;

static struct snarlrt_lock file_lock;
static bool outbox_tried;	/* the outbox's memory has been reserved, or that failed */
/* Identity of the trace file, to notice that the program closed its descriptor. */
static uint64_t file_dev, file_ino;

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

/*
 * Returns a descriptor of the trace file. The program may have closed it, or opened another file
 * under its number, so it is checked before each write.
 */
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

		/* Use a high number: the program may rely on low ones. */
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

/*
 * Whether the file may grow by this many bytes. A write beyond ulimit -f would not fail, but kill
 * the process (SIGXFSZ).
 */
static bool may_grow_by(uint64_t bytes, uint64_t room)
{
	struct rlimit limit = { .rlim_cur = RLIM_INFINITY };
	struct stat st;

	sys_call(SYS_getrlimit, RLIMIT_FSIZE, &limit, 0);
	if (room && room < limit.rlim_cur)
		limit.rlim_cur = room;
	return limit.rlim_cur == RLIM_INFINITY ||
	       (sys_call(SYS_fstat, snarlrt.trace_fd, &st, 0) == 0 &&
		(uint64_t)st.st_size + bytes <= limit.rlim_cur);
}

static bool file_write(const void *data, uint64_t size, uint64_t room)
{
	int fd = trace_file();

	return fd >= 0 && may_grow_by(size, room) && sys_write_all(fd, data, size) == 0;
}

/* Writes one chunk to the file. `bytes` need not be aligned. */
static bool file_write_chunk(const uint8_t *bytes)
{
	struct trace_chunk chunk;
	bool done;

	__builtin_memcpy(&chunk, bytes, sizeof(chunk));
	/*
	 * Only event chunks are limited by the option room=. The others are small, and without them
	 * events cannot be interpreted.
	 */
	done = file_write(bytes, sizeof(chunk) + chunk.stored,
			  chunk.type == TRACE_CHUNK_EVENTS ? snarlrt.room : 0);
	if (!done)
		__atomic_fetch_add(&snarlrt.live->lost_records, chunk.count, __ATOMIC_RELAXED);
	return done;
}

/*
 * Writes the outbox to the file; the caller holds file_lock. If the limit leaves no room for all of
 * it, writes the chunks for which there is room.
 */
static void outbox_write(void)
{
	struct live_header *live = snarlrt.live;
	const uint8_t *at = (const uint8_t *)live + live->out, *end = at + live->out_used;

	if (at == end)
		return;
	if (!file_write(at, live->out_used, snarlrt.room))
		while (at < end) {
			struct trace_chunk chunk;

			__builtin_memcpy(&chunk, at, sizeof(chunk));
			file_write_chunk(at);
			at += sizeof(chunk) + chunk.stored;
		}
	__atomic_store_n(&live->out_used, 0, __ATOMIC_RELEASE);
}

/* Adds a chunk to the outbox, under file_lock. False: it must go to the file directly. */
static bool outbox_add(const struct trace_chunk *chunk, uint64_t size)
{
	struct live_header *live = snarlrt.live;
	uint8_t *box = (uint8_t *)live + live->out;

	/* After the END chunk, nothing writes the outbox to the file. */
	if (chunk->type != TRACE_CHUNK_EVENTS || live->ended)
		return false;
	if (!outbox_tried) {
		outbox_tried = true;
		if (!snarlrt_live_room(box, live->out_size))
			live->out_size = 0;
	}
	if (size > live->out_size - live->out_used)
		outbox_write();
	if (size > live->out_size)
		return false;
	sys_copy(box + live->out_used, chunk, size);
	__atomic_store_n(&live->out_used, live->out_used + size, __ATOMIC_RELEASE);
	return true;
}

bool snarlrt_chunk_write(struct trace_chunk *chunk)
{
	bool done = true;

	if (snarlrt.profiling)
		return true;	/* mode=profile has no file */
	chunk->magic = TRACE_CHUNK_MAGIC;
	chunk->size = chunk->stored;
	chunk->check = trace_check(chunk + 1, chunk->stored);
	chunk->header_check = trace_check(chunk, offsetof(struct trace_chunk, header_check));
	snarlrt_lock(&file_lock);
	if (!outbox_add(chunk, sizeof(*chunk) + chunk->stored)) {
		outbox_write();
		done = file_write_chunk((const uint8_t *)chunk);
	}
	snarlrt_unlock(&file_lock);
	return done;
}

void snarlrt_outbox_flush(void)
{
	snarlrt_lock(&file_lock);
	outbox_write();
	snarlrt_unlock(&file_lock);
}

static void ring_clear(struct snarlrt_thread *self, struct trace_record *end)
{
	sys_clear(self->ring, (size_t)((char *)end - (char *)self->ring));
}

/*
 * Whether a chunk goes to the stash. Deciding costs as much as the rest of recording. If a ring is
 * at least half full, and few of its records and of the events they stand for are undecided, all
 * are kept, which is always correct.
 */
static bool is_worth_deciding(const struct snarlrt_thread *self, uint32_t undecided, uint32_t count)
{
	return undecided &&
	       (undecided > count / UNDECIDED_SHARE || count < LIVE_RING_RECORDS / 2 ||
		undecided + self->undecided_more > (count + self->loop_excess) / UNDECIDED_SHARE);
}

void snarlrt_flush(struct snarlrt_thread *self)
{
	struct snarlrt_tls *tls = &__snarl_tls;
	struct trace_chunk *chunk = (struct trace_chunk *)self->out;
	uint8_t *payload = (uint8_t *)(chunk + 1), *out = payload;
	const struct trace_record *in = self->ring;
	struct trace_record *end = tls->cur;

	if (snarlrt.profiling)
		snarlrt_profile_flush(self);
	if (in == end || snarlrt.profiling)
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
	if (snarlrt.filter && is_worth_deciding(self, tls->undecided, chunk->count))
		snarlrt_stash_push(chunk, chunk->count + self->loop_excess);
	else
		snarlrt_chunk_write(chunk);
	tls->undecided = 0;
	self->loop_excess = self->undecided_more = 0;
	nest_forget();
	ring_clear(self, end);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	self->live->seq++;
	self->live->time = clock_now(self);
	tls->cur = self->ring;
}

void snarlrt_flush_early(void)
{
	struct snarlrt_thread *self;

	if (!mode_traces())
		return;
	self = snarlrt_enter();
	if (!self)
		return;
	snarlrt_flush(self);
	snarlrt_leave(self);
}

/*
 * Flushes the ring if `count` records do not fit, and adds a stamp at a multiple of STAMP_BYTES.
 * Compiled code never appends there, so stamps come often enough.
 */
static void make_room(struct snarlrt_thread *self, unsigned count)
{
	struct snarlrt_tls *tls = &__snarl_tls;

	if (tls->cur + count + 1 > self->ring_end)
		snarlrt_flush(self);
	if ((uintptr_t)tls->cur % STAMP_BYTES == 0 && tls->cur != self->ring)
		*tls->cur++ =
			(struct trace_record){ clock_now(self), TRACE_SITE(TRACE_STAMP, 0, 0) };
}

void snarlrt_make_room(struct snarlrt_thread *self)
{
	if (unlikely(snarlrt_near_end()) && !snarlrt.profiling)
		make_room(self, 2);
}

void snarlrt_append(struct snarlrt_thread *self, const struct trace_record *records,
		    unsigned count)
{
	struct snarlrt_tls *tls = &__snarl_tls;

	if (unlikely(tls->cur + count + 1 > self->ring_end ||
		     (uintptr_t)tls->cur % STAMP_BYTES == 0)) {
		if (snarlrt.profiling) {
			snarlrt_profile_flush(self);
			snarlrt_profile_fold();
		} else {
			make_room(self, count);
		}
	}
	/* The site of the first record makes the event valid, so it is written last. */
	for (unsigned i = count; i-- > 0;) {
		tls->cur[i].addr = records[i].addr;
		__atomic_signal_fence(__ATOMIC_SEQ_CST);
		tls->cur[i].site = records[i].site;
	}
	tls->cur += count;
}

void snarlrt_stamp(void)
{
	struct snarlrt_thread *self = snarlrt_enter();
	struct trace_record r;

	if (!self)
		return;
	r = (struct trace_record){ clock_now(self), TRACE_SITE(TRACE_STAMP, 0, 0) };
	snarlrt_append(self, &r, 1);
	snarlrt_leave(self);
}

void snarlrt_emit_calls(struct snarlrt_thread *self)
{
	struct snarlrt_tls *tls = &__snarl_tls;

	if (snarlrt.profiling)
		tls->emitted = tls->frame;
	while (tls->emitted < tls->frame) {
		struct trace_record r = { tls->emitted->caller & TRACE_ADDR_MASK,
					  TRACE_SITE(TRACE_FUNC_ENTRY, 0, tls->emitted->pc) };

		self->empty_calls[tls->emitted->pc % SNARLRT_EMPTY_CALLS] = 0;
		tls->emitted++;
		if (!snarlrt_append_quick(r.addr, r.site))
			snarlrt_append(self, &r, 1);
	}
}

void snarlrt_ring_forked(void)
{
	file_lock.state = 0;
	outbox_tried = false;
	snarlrt.trace_fd = -1;
}
