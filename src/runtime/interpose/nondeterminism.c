/*
 * Functions whose results differ from run to run. In mode control they repeat.
 *
 * getrandom, getentropy and arc4random return bytes of a generator with a fixed seed. gettid()
 * returns the process's id plus the thread's number, the same with both back ends. getpid() and
 * getppid() stay real, since other processes and the kernel know these numbers; the report of a run
 * that diverges names their last call. Also real are /dev/urandom, raw system calls and the
 * processor's random instructions.
 */
#include <sys/random.h>

#include "runtime/control/model/external.h"
#include "runtime/core/sys.h"
#include "sched/rng.h"

static uint64_t rng_state = 0x736e61726c5eedull;

static void fill_random(void *to, size_t n, const void *pc)
{
	unsigned char *p = to;

	ctl_point(SCHED_OP_OTHER, NULL, pc);
	while (n > 0) {
		uint64_t x = rng_next(&rng_state);

		for (int i = 0; i < 8 && n > 0; i++, n--, x >>= 8)
			*p++ = (unsigned char)x;
	}
}

SNARLRT_INTERPOSE ssize_t getrandom(void *buf, size_t n, unsigned flags)
{
	snarlrt_real_ready();
	if (likely(!ctl_on()) || flags & ~(unsigned)(GRND_NONBLOCK | GRND_RANDOM | GRND_INSECURE))
		return REAL(getrandom)(buf, n, flags);
	fill_random(buf, n, SNARLRT_PC());
	return (ssize_t)n;
}

SNARLRT_INTERPOSE int getentropy(void *buf, size_t n)
{
	snarlrt_real_ready();
	if (likely(!ctl_on()) || n > 256)
		return REAL(getentropy)(buf, n);
	fill_random(buf, n, SNARLRT_PC());
	return 0;
}

SNARLRT_INTERPOSE uint32_t arc4random(void)
{
	uint32_t v;

	snarlrt_real_ready();
	if (likely(!ctl_on()))
		return REAL(arc4random)();
	fill_random(&v, sizeof(v), SNARLRT_PC());
	return v;
}

SNARLRT_INTERPOSE void arc4random_buf(void *buf, size_t n)
{
	snarlrt_real_ready();
	if (likely(!ctl_on())) {
		REAL(arc4random_buf)(buf, n);
		return;
	}
	fill_random(buf, n, SNARLRT_PC());
}

SNARLRT_INTERPOSE uint32_t arc4random_uniform(uint32_t below)
{
	uint64_t v;

	snarlrt_real_ready();
	if (likely(!ctl_on()))
		return REAL(arc4random_uniform)(below);
	fill_random(&v, sizeof(v), SNARLRT_PC());
	return below ? (uint32_t)(v % below) : 0;
}

SNARLRT_INTERPOSE pid_t getpid(void)
{
	snarlrt_real_ready();
	if (unlikely(ctl_on()))
		ctl_outside_result("getpid", SNARLRT_PC());
	return REAL(getpid)();
}

SNARLRT_INTERPOSE pid_t getppid(void)
{
	snarlrt_real_ready();
	if (unlikely(ctl_on()))
		ctl_outside_result("getppid", SNARLRT_PC());
	return REAL(getppid)();
}

SNARLRT_INTERPOSE pid_t gettid(void)
{
	snarlrt_real_ready();
	if (likely(!ctl_on()))
		return REAL(gettid)();
	ctl_outside_result("gettid", SNARLRT_PC());
	return (pid_t)sys_call(SYS_getpid, 0, 0, 0) + (pid_t)ctl_self()->number;
}
