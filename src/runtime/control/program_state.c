/*
 * Hashes of the program's state. Memory is found by /proc/self/maps.
 *
 * Compiled without vector registers, which may be those of the program.
 */
#include "runtime/control/program_state.h"

#include <fcntl.h>
#include <sys/mman.h>

#include "abi/mix.h"
#include "runtime/core/arena.h"
#include "runtime/core/bounds.h"
#include "runtime/core/sys.h"

#define PAGE 4096ull
#define RED_ZONE 128u		/* bytes below the stack pointer that a function may use */
#define STACK_MOST (64u << 10)	/* bytes hashed by state_stack() */
#define TCB_BYTES 4096u		/* at the thread pointer: libc's, and the kernel's rseq area */
#define FLAGS_OF_STEPPING 0x10100u	/* TF and RF */
#define XSAVE_AT 576u		/* where the parts behind legacy area and header begin */
#define LEGACY_BYTES 416u	/* of the legacy area: x87 and xmm registers */
#define SKIPPED_MAX 1024u	/* ranges left out: with more threads, no state is computed */
#define PAGES_AT_ONCE 16384u	/* pages asked for with one mincore() */
#define PAGES_MOST (1ull << 25)	/* 128 GiB of address space */

struct range {
	uint64_t low, high;
};

static struct range skipped[SKIPPED_MAX] SNARLRT_BIG;
static uint32_t skipped_count;
static unsigned char resident[PAGES_AT_ONCE] SNARLRT_BIG;

static uint64_t hash_words(uint64_t hash, const void *from, size_t bytes)
{
	const uint64_t *p = from;
	uint64_t a = hash, b = ~hash;

	for (size_t i = 0; i + 2 <= bytes / 8; i += 2) {
		a = (a ^ p[i]) * MIX_FACTOR;
		b = (b ^ p[i + 1]) * MIX_FACTOR;
		a ^= a >> 29;
		b ^= b >> 31;
	}
	if (bytes / 8 % 2)
		a = (a ^ p[bytes / 8 - 1]) * MIX_FACTOR;
	return mix_spread(a) ^ b;
}

static uint64_t hash_vectors(uint64_t hash, const struct state_at *at)
{
	hash = hash_words(hash, at->vectors, LEGACY_BYTES);
	if (at->extended > XSAVE_AT)
		hash = hash_words(hash, (const char *)at->vectors + XSAVE_AT,
				  at->extended - XSAVE_AT);
	return hash;
}

uint64_t state_registers(const struct state_at *at)
{
	static const int kept[] = { REG_RIP, REG_RSP, REG_RBX, REG_RBP,
				    REG_R12, REG_R13, REG_R14, REG_R15 };
	static const int others[] = { REG_RDX, REG_RSI, REG_RDI, REG_R8,
				      REG_R9, REG_R10, REG_R11 };
	const greg_t *r = at->regs;
	uint64_t v[18], n = 0;

	for (size_t i = 0; i < ARRAY_SIZE(kept); i++)
		v[n++] = (uint64_t)r[kept[i]];
	for (size_t i = 0; at->live != STATE_AFTER_CALL && i < ARRAY_SIZE(others); i++)
		v[n++] = (uint64_t)r[others[i]];
	if (at->live == STATE_ALL) {
		v[n++] = (uint64_t)r[REG_RAX];
		v[n++] = (uint64_t)r[REG_RCX];
		v[n++] = (uint64_t)r[REG_EFL] & ~(uint64_t)FLAGS_OF_STEPPING;
	}
	n = hash_words(at->live, v, n * sizeof(v[0]));
	if (at->live != STATE_AFTER_CALL && at->vectors)
		n = hash_vectors(n, at);
	return n;
}

/* The lowest byte of the stack that belongs to the program. After a call there is no red zone. */
static uint64_t stack_low(const struct state_at *at)
{
	return ((uint64_t)at->regs[REG_RSP] - (at->live == STATE_ALL ? RED_ZONE : 0)) & ~7ull;
}

uint64_t state_stack(const struct state_at *at, uint64_t high)
{
	uint64_t low = stack_low(at), fs = (uint64_t)&__snarl_tls & ~7ull;

	if (high <= low)
		return 0;
	if (high - low > STACK_MOST)
		high = low + STACK_MOST;
	if (fs > low && fs < high)
		high = fs;	/* the thread's storage lies above its frames */
	return hash_words(low, (const void *)low, high - low);
}

static void skip(const void *from, uint64_t bytes)
{
	uint64_t low = (uint64_t)from;

	if (bytes && skipped_count < SKIPPED_MAX)
		skipped[skipped_count++] = (struct range){ low & ~7ull, (low + bytes + 7) & ~7ull };
}

static void skip_between(const char *from, const char *to)
{
	skip(from, (uint64_t)(to - from));
}

/* What runtime, libc and kernel change in a thread's local storage. */
static void skip_storage_of(const struct ctl_thread *t)
{
	const char *tls = (const char *)t->tls, *self = (const char *)&__snarl_tls;
	const char *pointer;

	__asm__("movq %%fs:0, %0" : "=r"(pointer));
	skip(tls, sizeof(struct snarlrt_tls));
	skip(tls + (pointer - self), TCB_BYTES);
}

/*
 * What does not belong to the program: the stack below the stack pointer, where signal handlers
 * write, too. Other threads that can run are compared on their own. `sp` is the running thread's.
 */
static void skip_stack_of(const struct ctl_thread *t, uint64_t sp)
{
	uint64_t low = t->number ? (uint64_t)t->stack : snarlrt.main_stack_low;
	uint64_t size = t->number ? t->stack_size : snarlrt.main_stack_high - low;

	if (t != ctl.current)
		sp = t->runnable ? low + size : (uint64_t)t->sp;
	if (sp - low <= size)
		skip((const void *)low, sp - low);
}

static bool collect_skipped(const struct state_at *at)
{
	uint64_t sp = stack_low(at);

	skipped_count = 0;
	skip_between(snarlrt_data_begin, snarlrt_data_end);
	skip_between(snarlrt_data_local_begin, snarlrt_data_local_end);
	skip_between(snarlrt_bss_begin, snarlrt_bss_end);
	skip_between(snarlrt_big_begin, snarlrt_big_end);
	skip((const void *)ARENA_BEGIN, ARENA_END - ARENA_BEGIN);
	skip((const void *)SHADOW_BASE, SHADOW_BYTES);
	skip(ctl.block, ctl.block->size);
	if (snarlrt.live)
		skip(snarlrt.live, snarlrt.live->size);
	for (uint32_t i = 0; i < ctl.count; i++)
		if (ctl.threads[i]->state == CTL_LIVE && ctl.threads[i]->tls) {
			skip_storage_of(ctl.threads[i]);
			skip_stack_of(ctl.threads[i], sp);
		}
	return skipped_count < SKIPPED_MAX;
}

/* Hashes memory without the ranges that are left out. */
static uint64_t hash_memory(uint64_t hash, uint64_t low, uint64_t high)
{
	while (low < high) {
		uint64_t next = high, after = high;

		for (uint32_t i = 0; i < skipped_count; i++)
			if (skipped[i].low < next && skipped[i].high > low) {
				next = skipped[i].low > low ? skipped[i].low : low;
				after = skipped[i].high;
			}
		if (next > low)
			hash = hash_words(hash ^ low, (const void *)low, next - low);
		low = after;
	}
	return hash;
}

static bool is_skipped(const struct range *m)
{
	for (uint32_t i = 0; i < skipped_count; i++)
		if (skipped[i].low <= m->low && skipped[i].high >= m->high)
			return true;
	return false;
}

/* Only pages in memory: others have never been written, and reading them might take long. */
static bool hash_mapping(uint64_t *hash, const struct range *m, uint64_t *pages_left)
{
	if (is_skipped(m))
		return true;
	if ((m->high - m->low) / PAGE > *pages_left)
		return false;
	*pages_left -= (m->high - m->low) / PAGE;
	for (uint64_t at = m->low; at < m->high;) {
		uint64_t end = m->high - at > PAGES_AT_ONCE * PAGE ? at + PAGES_AT_ONCE * PAGE :
								     m->high;

		if (sys_call(SYS_mincore, at, end - at, resident) != 0)
			return false;
		for (uint64_t i = 0; at < end; i++, at += PAGE)
			if (resident[i] & 1)
				*hash = hash_memory(*hash, at, at + PAGE);
	}
	return true;
}

/* Reads /proc/self/maps character by character. */
struct maps {
	char buffer[1024];
	long at, end;
	int fd;
};

static int next_char(struct maps *m)
{
	if (m->at == m->end) {
		m->at = 0;
		m->end = sys_call(SYS_read, m->fd, m->buffer, sizeof(m->buffer));
		if (m->end <= 0) {
			m->end = 0;
			return -1;
		}
	}
	return (unsigned char)m->buffer[m->at++];
}

static uint64_t next_number(struct maps *m, int *stop)
{
	uint64_t v = 0;
	int c;

	while ((c = next_char(m)) > 0 && ((c >= '0' && c <= '9') || (c >= 'a' && c <= 'f')))
		v = v << 4 | (uint64_t)(c <= '9' ? c - '0' : c - 'a' + 10);
	*stop = c;
	return v;
}

struct mapping {
	struct range range;
	bool writable;		/* and readable */
	uint64_t path;		/* hash of the file's path; 0: no file */
};

/* Reads a line, "low-high rw-p ... path". Returns false at the end. */
static bool next_mapping(struct maps *m, struct mapping *out)
{
	char begin[5] = { 0 };
	uint32_t n = 0;
	int c;

	out->path = 0;
	out->range.low = next_number(m, &c);
	if (c != '-')
		return false;
	out->range.high = next_number(m, &c);
	out->writable = next_char(m) == 'r';
	out->writable &= next_char(m) == 'w';
	while ((c = next_char(m)) > 0 && c != '\n') {
		if (c != '/' && !n)
			continue;
		out->path = mix_add(out->path, (uint64_t)c);
		if (n < sizeof(begin))
			begin[n++] = (char)c;
	}
	/* Reading the memory of a device may have effects. */
	if (begin[1] == 'd' && begin[2] == 'e' && begin[3] == 'v' && begin[4] == '/')
		out->writable = false;
	return c > 0;
}

static bool maps_open(struct maps *m)
{
	m->at = m->end = 0;
	m->fd = (int)sys_call(SYS_open, "/proc/self/maps", O_RDONLY | O_CLOEXEC, 0);
	return m->fd >= 0;
}

static void maps_close(const struct maps *m)
{
	sys_call(SYS_close, m->fd, 0, 0);
}

static bool find_mapping(uint64_t addr, struct mapping *out)
{
	bool found = false;
	struct maps m;

	if (!maps_open(&m))
		return false;
	while (!found && next_mapping(&m, out))
		found = addr >= out->range.low && addr < out->range.high;
	maps_close(&m);
	return found;
}

uint64_t state_mapping_end(uint64_t addr)
{
	struct mapping r;

	return find_mapping(addr, &r) && r.writable ? r.range.high : 0;
}

void state_module(uint64_t addr, uint64_t *low, uint64_t *high)
{
	struct mapping r, of;
	struct maps m;

	*low = *high = 0;
	if (!find_mapping(addr, &of) || !of.path || !maps_open(&m))
		return;
	while (next_mapping(&m, &r))
		if (r.path == of.path) {
			*low = *low ? *low : r.range.low;
			*high = r.range.high;
		}
	maps_close(&m);
}

uint64_t state_memory(const struct state_at *at)
{
	uint64_t hash = 1, pages_left = PAGES_MOST;
	bool whole = true;
	struct mapping r;
	struct maps m;

	if (!collect_skipped(at) || !maps_open(&m))
		return 0;
	while (whole && next_mapping(&m, &r))
		if (r.writable)
			whole = hash_mapping(&hash, &r.range, &pages_left);
	maps_close(&m);
	return whole ? hash | 1 : 0;
}
