/*
 * Creates the trace file and the live memory of a process, and finishes the trace at exit, fork and
 * exec.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>

#include "runtime/record/trace_file.h"

#include "runtime/record/clock.h"
#include "runtime/record/parallel_coverage.h"
#include "runtime/record/record_mode.h"
#include "runtime/record/ring.h"
#include "runtime/record/shadow.h"
#include "runtime/record/thread.h"

#define PAGE 4096ull
#define POPULATE_WRITE 23	/* MADV_POPULATE_WRITE, since Linux 5.14 */
/* Bytes of the stash for each record of the window; most encoded records are smaller. */
#define STASH_RECORD_BYTES 8u

static struct run_options options SNARLRT_BIG;	/* as given; forked children use them again */
static uint64_t start_ticks, start_ns;
static size_t live_size;
/* Live memory is a file on a disk. If the disk is full, touching a new page kills the process. */
static bool live_on_disk;
static uint32_t finished;	/* 1: snarlrt_finish() was called */

bool snarlrt_exit_noted;

static size_t append_text(char *to, size_t n, size_t size, const char *text)
{
	while (*text && n + 1 < size)
		to[n++] = *text++;
	to[n] = 0;
	return n;
}

static size_t append_number(char *to, size_t n, size_t size, uint64_t v)
{
	char digits[24], *p = digits + sizeof(digits) - 1;

	*p = 0;
	do {
		*--p = (char)('0' + v % 10);
		v /= 10;
	} while (v);
	return append_text(to, n, size, p);
}

/*
 * Creates the trace: the first of TRACE, TRACE.PID, TRACE.PID.2 and so on that does not exist.
 * *first becomes true if it is TRACE.
 */
static int create_trace(bool *first)
{
	char *path = snarlrt.trace_path;
	size_t size = sizeof(snarlrt.trace_path);
	long fd = -EEXIST;

	for (uint64_t n = 0; n < 1000 && fd == -EEXIST; n++) {
		size_t len = append_text(path, 0, size, options.trace);

		if (n > 0) {
			len = append_text(path, len, size, ".");
			len = append_number(path, len, size,
					    (uint64_t)sys_call(SYS_getpid, 0, 0, 0));
		}
		if (n > 1) {
			len = append_text(path, len, size, ".");
			append_number(path, len, size, n);
		}
		fd = sys_call(SYS_open, path, O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC,
			      0644);
		*first = n == 0;
	}
	return (int)fd;
}

static bool write_header(int fd)
{
	struct trace_header h = {
		.magic = TRACE_MAGIC,
		.version = TRACE_VERSION,
		.size = sizeof(h),
		.start_time = sys_ticks() & ~1ull,
		.start_unix_ns = sys_clock_ns(CLOCK_REALTIME),
		.pid = (uint32_t)sys_call(SYS_getpid, 0, 0, 0),
		.flags = (snarlrt.filter ? 0 : TRACE_UNFILTERED) |
			 (mode_controls() ? TRACE_TOTAL_ORDER : 0),
	};

	start_ticks = h.start_time;
	start_ns = sys_clock_ns(CLOCK_MONOTONIC);
	h.check = trace_check(&h, offsetof(struct trace_header, check));
	return sys_write_all(fd, &h, sizeof(h)) == 0;
}

bool snarlrt_live_room(const void *start, size_t size)
{
	uint64_t low = (uint64_t)start & ~(PAGE - 1);
	long got;

	if (!live_on_disk)
		return true;
	do
		got = sys_call(SYS_madvise, low, (uint64_t)start + size - low, POPULATE_WRITE);
	while (got == -EINTR);
	return got == 0 || got == -EINVAL;	/* EINVAL: the kernel is older than the call */
}

/* Whether a file may have this size. Writing beyond ulimit -f kills the process. */
static bool may_grow_to(uint64_t size)
{
	struct rlimit limit = { .rlim_cur = RLIM_INFINITY };

	sys_call(SYS_getrlimit, RLIMIT_FSIZE, &limit, 0);
	if (size <= limit.rlim_cur)
		return true;
	sys_warn("the limit of file sizes (ulimit -f) is less than recording needs: "
		 "raise it to 2 GB or more");
	return false;
}

/*
 * Opens the file for live memory and sets its size to live_size. Returns its descriptor, or a
 * negative number.
 */
static long open_live(bool first)
{
	char path[4200];
	long fd = -ENOENT;

	if (first && options.live[0])
		fd = sys_call(SYS_open, options.live, O_RDWR | O_CLOEXEC, 0);
	if (fd < 0) {
		size_t n = append_text(path, 0, sizeof(path), snarlrt.trace_path);

		append_text(path, n, sizeof(path), ".live");
		fd = sys_call(SYS_open, path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
		live_on_disk = true;
	}
	if (fd >= 0 && (!may_grow_to(live_size) || sys_call(SYS_ftruncate, fd, live_size, 0) < 0)) {
		sys_call(SYS_close, fd, 0, 0);
		return -1;
	}
	return fd;
}

/*
 * Maps the live memory. `at` is NULL at start. A forked child maps its own where the parent's was,
 * so that pointers stay valid. In mode=profile it need not outlive the process.
 */
static struct live_header *map_live(bool first, void *at)
{
	size_t slots = (sizeof(struct live_header) + PAGE - 1) & ~(PAGE - 1);
	size_t rings = (slots + LIVE_SLOTS * sizeof(struct live_slot) + PAGE - 1) & ~(PAGE - 1);
	size_t box = rings + (size_t)LIVE_SLOTS * LIVE_RING_BYTES;
	size_t stash = box + LIVE_OUT_BYTES;
	struct live_header *live;
	long fd = -1;

	live_size = stash + ((options.window * STASH_RECORD_BYTES + PAGE - 1) & ~(PAGE - 1));
	if (options.mode != RUN_MODE_PROFILE) {
		fd = open_live(first);
		if (fd < 0)
			return NULL;
	}
	live = sys_mmap(at, live_size, PROT_READ | PROT_WRITE,
			(fd < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED) | MAP_NORESERVE |
			(at ? MAP_FIXED : 0), (int)fd, 0);
	if (fd >= 0)
		sys_call(SYS_close, fd, 0, 0);
	if (sys_failed(live) || !snarlrt_live_room(live, rings))
		return NULL;
	live->version = LIVE_VERSION;
	live->pid = (uint32_t)sys_call(SYS_getpid, 0, 0, 0);
	live->size = live_size;
	live->slots = slots;
	live->rings = rings;
	live->out = box;
	live->out_size = LIVE_OUT_BYTES;
	live->stash = stash;
	live->stash_size = live_size - stash;
	__atomic_store_n(&live->magic, LIVE_MAGIC, __ATOMIC_RELEASE);
	return live;
}

static bool open_files(void *at)
{
	bool first = false;
	int fd;

	if (options.mode == RUN_MODE_PROFILE) {
		snarlrt.live = map_live(true, at);
		return snarlrt.live;
	}
	fd = create_trace(&first);
	if (fd < 0 || !write_header(fd)) {
		sys_warn("cannot create the trace file; the program runs unrecorded");
		return false;
	}
	sys_call(SYS_close, fd, 0, 0);
	snarlrt.trace_fd = -1;	/* the first write opens it again, with a high number */
	snarlrt.live = map_live(first, at);
	if (!snarlrt.live) {
		/* Remove the header: the file is no recording. */
		sys_call(SYS_truncate, snarlrt.trace_path, 0, 0);
		sys_warn("cannot create the live memory beside the trace; "
			 "the program runs unrecorded");
		return false;
	}
	return true;
}

/* Writes a META chunk with the command line. */
static void write_command(void)
{
	static struct {
		struct trace_chunk chunk;
		char text[16384];
	} out SNARLRT_BIG;
	static char args[8192] SNARLRT_BIG;
	size_t n = 0, size = sizeof(out.text);
	long fd = sys_call(SYS_open, "/proc/self/cmdline", O_RDONLY | O_CLOEXEC, 0), got;

	got = fd < 0 ? 0 : sys_call(SYS_read, fd, args, sizeof(args) - 1);
	if (fd >= 0)
		sys_call(SYS_close, fd, 0, 0);
	for (long i = 0; i < got && n + 8 < size; i++) {
		n = append_text(out.text, n, size, "arg") + 1;
		n = append_text(out.text, n, size, args + i) + 1;
		while (args[i])
			i++;
	}
	out.chunk = (struct trace_chunk){ .type = TRACE_CHUNK_META, .stored = (uint32_t)n };
	snarlrt_chunk_write(&out.chunk);
}

bool snarlrt_process_open(const struct run_options *o)
{
	options = *o;
	snarlrt.filter = o->filter == RUN_FILTER_ON;
	snarlrt_timed = o->times == RUN_TIMES_ALL && snarlrt.filter;
	snarlrt.fork_off = o->fork == RUN_FORK_OFF || o->mode == RUN_MODE_PROFILE;
	snarlrt.profiling = o->mode == RUN_MODE_PROFILE;
	snarlrt.without = o->without;
	snarlrt.window = o->window;
	snarlrt.room = o->room;
	if (!open_files(NULL))
		return false;
	write_command();
	return true;
}

static void stop_recording(void)
{
	struct snarlrt_tls *tls = &__snarl_tls;

	mode_set(&mode_off);
	tls->ended = 1;
	snarlrt_set_own(tls, 0);
	tls->own_uncut = 0;
	tls->cur = tls->saved = NULL;
	tls->self = NULL;
	tls->frame = tls->frame_end = tls->frame_first = tls->eager_end = NULL;
	tls->emitted = (struct snarlrt_frame *)-1;
}

/*
 * The child has only the thread that forked. Its live memory is still the parent's, and is replaced
 * before anything is written to it.
 */
void record_forked(void)
{
	struct snarlrt_tls *tls = &__snarl_tls;
	struct snarlrt_thread *self = tls->self;
	void *at = snarlrt.live;

	if (snarlrt.fork_off || !self) {
		sys_mmap(at, live_size, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
		stop_recording();
		return;
	}
	tls->busy = 1;
	finished = 0;
	snarlrt_ring_forked();
	snarlrt_stash_forked();
	if (!open_files(at) || !snarlrt_thread_forked()) {
		sys_mmap(at, live_size, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
		tls->busy = 0;
		stop_recording();
		return;
	}
	tls->emitted = self->frames;
	snarlrt_thread_set_slot(self, 0);
	snarlrt_thread_start_event(self, self->parent, self->ordinal, NULL);
	write_command();
	snarlrt_leave(self);
}

static void flush_self(void)
{
	struct snarlrt_thread *self = snarlrt_enter();

	if (!self)
		return;
	snarlrt_flush(self);
	snarlrt_leave(self);
}

void snarlrt_before_exec(void)
{
	if (!mode_records())
		return;
	flush_self();
	snarlrt_stash_drain();
}

static size_t put_count(char *to, size_t n, size_t size, const char *key, uint64_t v)
{
	n = append_text(to, n, size, key) + 1;
	return append_number(to, n, size, v) + 1;
}

static uint64_t cut_locations(const struct live_header *live)
{
	const struct live_slot *slots =
		(const struct live_slot *)((const char *)live + live->slots);
	uint64_t sum = 0;

	for (uint32_t i = 0; i < LIVE_SLOTS; i++)
		sum += __atomic_load_n(&slots[i].cut_locations, __ATOMIC_RELAXED);
	return sum;
}

static size_t append_hex(char *to, size_t n, size_t size, uint64_t v)
{
	char digits[20], *p = digits + sizeof(digits) - 1;

	*p = 0;
	do {
		*--p = "0123456789abcdef"[v % 16];
		v /= 16;
	} while (v);
	return append_text(to, n, size, p);
}

static bool others_run(const struct live_header *live)
{
	const struct live_slot *slots =
		(const struct live_slot *)((const char *)live + live->slots);
	uint32_t self = __snarl_tls.self ? __snarl_tls.self->id : 0;

	for (uint32_t i = 0; i < LIVE_SLOTS; i++) {
		uint32_t thread = __atomic_load_n(&slots[i].thread, __ATOMIC_RELAXED);

		if (thread && thread != self)
			return true;
	}
	return false;
}

/*
 * Appends the lines that have memory whose history was cut (docs/trace-format.md, cut_lines).
 * Appends nothing if that is not known, because other threads still run, or if there are too many
 * lines.
 */
static size_t put_cut_lines(char *to, size_t n, size_t size, const struct live_header *live)
{
	const uint8_t *lines = snarlrt_cut_lines;
	bool any = cut_locations(live) > 0;
	size_t start = n;

	if (others_run(live))
		return start;
	n = append_text(to, n, size, "cut_lines") + 1;
	for (uint32_t i = 0, first; any && i < SHADOW_CUT_LINES; i++) {
		if (!lines[i])
			continue;
		for (first = i; i + 1 < SHADOW_CUT_LINES && lines[i + 1];)
			i++;
		if (n + sizeof("3ffff-3ffff,") > size)
			return start;
		n = append_hex(to, append_text(to, n, size, to[n - 1] ? "," : ""), size, first);
		n = append_hex(to, append_text(to, n, size, "-"), size, i);
	}
	return (any ? n : append_text(to, n, size, "none")) + 1;
}

void snarlrt_finish(int status)
{
	static struct {
		struct trace_chunk chunk;
		char text[4096];
	} out SNARLRT_BIG;
	struct live_header *live = snarlrt.live;
	uint64_t ns;
	size_t n = 0;

	if (mode_is_off() || !live || __atomic_exchange_n(&finished, 1, __ATOMIC_ACQ_REL))
		return;
	if (!snarlrt_exit_noted && mode_records())
		snarlrt_note(TRACE_EXIT, 0, NULL, (uint64_t)status, 0, NULL);
	if (snarlrt.profiling) {
		snarlrt_profile_end();
		return;
	}
	flush_self();
	snarlrt_stash_drain();
	ns = sys_clock_ns(CLOCK_MONOTONIC) - start_ns;
	live->ticks_per_second = ns ? (uint64_t)((double)(sys_ticks() - start_ticks) * 1e9 /
						 (double)ns)
				    : 0;
	n = put_count(out.text, n, sizeof(out.text), "status", (uint64_t)(unsigned)status);
	n = put_count(out.text, n, sizeof(out.text), "ticks_per_second", live->ticks_per_second);
	n = put_count(out.text, n, sizeof(out.text), "lost_records", live->lost_records);
	n = put_count(out.text, n, sizeof(out.text), "lost_threads", live->lost_threads);
	n = put_count(out.text, n, sizeof(out.text), "lost_signals", live->lost_signals);
	n = put_count(out.text, n, sizeof(out.text), "cut_locations", cut_locations(live));
	n = put_count(out.text, n, sizeof(out.text), "cut_records", live->cut_records);
	if (mode_records())
		n = put_cut_lines(out.text, n, sizeof(out.text), live);
	out.chunk = (struct trace_chunk){ .type = TRACE_CHUNK_END, .stored = (uint32_t)n };
	snarlrt_chunk_write(&out.chunk);
	__atomic_store_n(&live->ended, 1, __ATOMIC_RELEASE);
}
