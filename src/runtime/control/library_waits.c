/*
 * Which instructions are replaced: a `syscall` is, if 202 (SYS_futex) is put into a register at
 * most REACH bytes before it, and every `pause` of a library with such a call, or of libomp, which
 * waits by libc's functions but also spins. Code is decoded instruction by instruction, so that
 * bytes inside of another instruction are left alone. libc and the dynamic linker are not searched:
 * interposers take their place, and their own waits are short.
 *
 * A forked child keeps the replaced code and the handler. There, and before main, the handler makes
 * the real system call.
 */
#include <errno.h>
#include <link.h>
#include <sys/mman.h>
#include <ucontext.h>

#include "runtime/control/instruction.h"
#include "runtime/control/library_waits.h"
#include "runtime/control/model/external.h"
#include "runtime/control/model/models.h"
#include "runtime/core/arena.h"
#include "runtime/core/sys.h"

#define REACH 2048u	/* bytes between mov $202 and syscall: compilers hoist it out of loops */
#define PAGE 4096ull

enum { SITE_SIZE = 2 };	/* bytes of syscall, pause and ud2 */

static const uint8_t syscall_code[SITE_SIZE] = { 0x0f, 0x05 };
static const uint8_t pause_code[SITE_SIZE] = { 0xf3, 0x90 };
static const uint8_t trap_code[SITE_SIZE] = { 0x0f, 0x0b };

struct site {
	uint32_t offset;	/* from the start of its code */
	bool is_pause;
};

/* The executable segment of a library in which instructions were replaced. */
struct library {
	uint64_t start;
	uint32_t size, count;
	struct site *sites;	/* [count], by offset */
	struct library *next;
};

static struct library *libraries;
static bool code_is_read_only;	/* the system forbids to replace code */
static unsigned long long adds;	/* dlpi_adds of the last scan */

static bool starts_with(const uint8_t *code, const uint8_t *with)
{
	return code[0] == with[0] && code[1] == with[1];
}

/* Is the instruction a mov of SYS_futex into a register? */
static bool loads_futex(const uint8_t *code, size_t length)
{
	static const uint8_t number[4] = { SYS_futex, 0, 0, 0 };

	if (length < 5 || (code[length - 5] & 0xf8) != 0xb8)
		return false;
	for (size_t i = 0; i < sizeof(number); i++)
		if (code[length - 4 + i] != number[i])
			return false;
	return length == 5 || (length == 6 && (code[0] & 0xf0) == 0x40);
}

/* Quick test that most libraries fail: bytes of `syscall` shortly behind those of the number. */
static bool may_have_futex(const uint8_t *code, size_t size)
{
	size_t number = SIZE_MAX;

	for (size_t i = 0; i + 4 <= size; i++) {
		if (code[i] == SYS_futex && !code[i + 1] && !code[i + 2] && !code[i + 3])
			number = i;
		else if (starts_with(code + i, syscall_code) && number != SIZE_MAX &&
			 i - number <= REACH)
			return true;
	}
	return false;
}

/* Finds the sites; stores them if `sites` is not NULL. *calls: number of system calls. */
static uint32_t find_sites(const uint8_t *code, size_t size, struct site *sites, uint32_t *calls)
{
	size_t number = SIZE_MAX;
	uint32_t count = 0;

	*calls = 0;
	for (size_t at = 0, length; at + SITE_SIZE <= size; at += length ? length : 1) {
		bool is_pause = starts_with(code + at, pause_code);

		length = instruction_length(code + at, size - at);
		if (loads_futex(code + at, length))
			number = at;
		if (length != SITE_SIZE)
			continue;
		if (!is_pause && !(starts_with(code + at, syscall_code) && number != SIZE_MAX &&
				   at - number <= REACH))
			continue;
		*calls += !is_pause;
		if (sites)
			sites[count] = (struct site){ (uint32_t)at, is_pause };
		count++;
	}
	return count;
}

static bool replace(const struct library *l, int protection)
{
	uint64_t low = l->start & ~(PAGE - 1), high = (l->start + l->size + PAGE - 1) & ~(PAGE - 1);

	if (sys_call(SYS_mprotect, low, high - low, PROT_READ | PROT_WRITE | PROT_EXEC) != 0)
		return false;
	for (uint32_t i = 0; i < l->count; i++)
		for (unsigned j = 0; j < SITE_SIZE; j++)
			((volatile uint8_t *)l->start)[l->sites[i].offset + j] = trap_code[j];
	sys_call(SYS_mprotect, low, high - low, protection);
	return true;
}

static void search(uint64_t start, uint64_t size, int protection, bool spins)
{
	const uint8_t *code = (const uint8_t *)start;
	struct library *l;
	uint32_t calls, count;

	if (size > UINT32_MAX || !(spins || may_have_futex(code, size)))
		return;
	count = find_sites(code, size, NULL, &calls);
	if (!count || !(spins || calls))
		return;
	l = arena_alloc(sizeof(*l));
	if (!l)
		return;
	*l = (struct library){ .start = start, .size = (uint32_t)size, .count = count };
	l->sites = arena_alloc(count * sizeof(*l->sites));
	if (!l->sites)
		return;
	find_sites(code, size, l->sites, &calls);
	l->next = libraries;
	libraries = l;
	if (!replace(l, protection)) {
		libraries = l->next;
		code_is_read_only = true;
	}
}

/* Does a file name begin with one of these? */
static bool begins_with(const char *name, const char *const *list, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const char *a = list[i], *b = name;

		while (*a && *a == *b)
			a++, b++;
		if (!*a)
			return true;
	}
	return false;
}

/* The file name of a path. The executable and the vdso have none: no slash, or no name at all. */
static const char *file_name(const char *path)
{
	const char *name = NULL;

	for (; path && *path; path++)
		if (*path == '/')
			name = path + 1;
	return name;
}

/* Was this library searched before? A library that was closed may have left its entry behind. */
static bool is_replaced(uint64_t start)
{
	for (struct library **at = &libraries; *at; at = &(*at)->next) {
		struct library *l = *at;

		if (l->start != start)
			continue;
		if (starts_with((const uint8_t *)start + l->sites[0].offset, trap_code))
			return true;
		*at = l->next;
		return false;
	}
	return false;
}

static int on_library(struct dl_phdr_info *info, size_t size, void *now)
{
	static const char *const libc[] = { "libc.so", "libc-", "ld-linux", "libpthread" };
	static const char *const spinning[] = { "libomp", "libiomp" };
	const char *name = file_name(info->dlpi_name);
	bool spins;

	(void)size;
	/* Constructors cause a scan for each file of the program; usually no library is new. */
	if (info->dlpi_adds == adds)
		return 1;
	*(unsigned long long *)now = info->dlpi_adds;
	if (!name || begins_with(name, libc, ARRAY_SIZE(libc)))
		return 0;
	spins = begins_with(name, spinning, ARRAY_SIZE(spinning));
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *ph = &info->dlpi_phdr[i];

		if (ph->p_type == PT_LOAD && ph->p_flags & PF_X && ph->p_flags & PF_R &&
		    !is_replaced(info->dlpi_addr + ph->p_vaddr))
			search(info->dlpi_addr + ph->p_vaddr, ph->p_filesz,
			       PROT_READ | PROT_EXEC | (ph->p_flags & PF_W ? PROT_WRITE : 0),
			       spins);
	}
	return 0;
}

void ctl_libraries_scan(void)
{
	unsigned long long now = adds;

	snarlrt_hide();
	dl_iterate_phdr(on_library, &now);
	snarlrt_unhide();
	adds = now;
}

#ifdef SNARLRT_STATIC
/* Defined if the program uses OpenMP. */
void GOMP_parallel(void (*fn)(void *), void *data, unsigned threads, unsigned flags)
	__attribute__((weak));
void __kmpc_fork_call(void *location, int count, void *fn, ...) __attribute__((weak));

static bool static_openmp(void)
{
	return GOMP_parallel || __kmpc_fork_call;
}
#else
static bool static_openmp(void)
{
	return false;
}
#endif

void ctl_libraries_check(void)
{
	if (static_openmp())
		ctl_unsupported("OpenMP in a static program is not supported: "
				"link without -static");
	if (code_is_read_only)
		ctl_unsupported("a library makes futex system calls of its own (as OpenMP's "
				"does), and the system forbids to change its code (mprotect)");
}

static const struct site *site_at(uint64_t pc)
{
	for (const struct library *l = libraries; l; l = l->next) {
		uint32_t low = 0, high = l->count;

		if (pc - l->start >= l->size)
			continue;
		while (low < high) {
			uint32_t middle = low + (high - low) / 2;

			if (l->start + l->sites[middle].offset == pc)
				return &l->sites[middle];
			if (l->start + l->sites[middle].offset < pc)
				low = middle + 1;
			else
				high = middle;
		}
	}
	return NULL;
}

static long make_call(long number, const long v[6], const void *pc)
{
	long answer;

	if (number == SYS_futex && ctl_on() && model_futex(v, &answer, pc))
		return answer < 0 ? -errno : answer;
	return sys_call6(number, v[0], v[1], v[2], v[3], v[4], v[5]);
}

/* Other threads may run from here on: the handler's own mask must not become theirs. */
static void leave_mask(const ucontext_t *interrupted)
{
	sys_call6(SYS_rt_sigprocmask, SIG_SETMASK, (long)&interrupted->uc_sigmask, 0,
		  sizeof(uint64_t), 0, 0);
}

/* On return the kernel sets the mask that is valid now, which may be another one. */
static void keep_mask(ucontext_t *interrupted)
{
	sys_call6(SYS_rt_sigprocmask, SIG_BLOCK, 0, (long)&interrupted->uc_sigmask,
		  sizeof(uint64_t), 0, 0);
}

void ctl_library_yield(void *context, const void *pc)
{
	int saved = errno;

	leave_mask(context);
	if (ctl_on()) {
		snarlrt_note(TRACE_YIELD, 0, NULL, 0, 0, pc);
		ctl_yield(pc);
	}
	keep_mask(context);
	errno = saved;
}

bool ctl_library_has(uint64_t pc)
{
	const struct library *l = libraries;

	while (l && pc - l->start >= l->size)
		l = l->next;
	return l != NULL;
}

bool ctl_library_trap(void *context)
{
	ucontext_t *interrupted = context;
	greg_t *regs = interrupted->uc_mcontext.gregs;
	const struct site *site = site_at((uint64_t)regs[REG_RIP]);
	long v[6] = { regs[REG_RDI], regs[REG_RSI], regs[REG_RDX],
		      regs[REG_R10], regs[REG_R8],  regs[REG_R9] };
	const void *pc = (const void *)(regs[REG_RIP] + SITE_SIZE);
	int saved = errno;

	if (!site)
		return false;
	regs[REG_RIP] = (greg_t)pc;
	if (site->is_pause) {
		ctl_library_yield(context, pc);
		return true;
	}
	leave_mask(interrupted);
	regs[REG_RAX] = make_call(regs[REG_RAX], v, pc);
	regs[REG_RCX] = (greg_t)pc;
	regs[REG_R11] = regs[REG_EFL];
	keep_mask(interrupted);
	errno = saved;
	return true;
}
