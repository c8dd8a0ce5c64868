/*
 * The log of abi/monitor_log.h. Without log= it is private memory, where guard only keeps its
 * counts.
 */
#include <fcntl.h>
#include <sys/mman.h>

#include "abi/mix.h"
#include "runtime/core/sys.h"
#include "runtime/monitor/monitor.h"

#define PROBES 64u	/* slots to try for a record before the log counts as full */

struct monitor_log *monitor_log_open(const char *path)
{
	long fd = path[0] ? sys_call(SYS_open, path, O_RDWR | O_CLOEXEC, 0) : -1;
	struct monitor_log *log = (void *)-1;
	uint32_t unset = 0;

	if (fd >= 0 && sys_call(SYS_lseek, fd, 0, SEEK_END) >= (long)sizeof(*log))
		log = sys_mmap(NULL, sizeof(*log), PROT_READ | PROT_WRITE, MAP_SHARED, (int)fd, 0);
	if (fd >= 0)
		sys_call(SYS_close, fd, 0, 0);
	if (path[0] && (sys_failed(log) || log->magic != MONITOR_LOG_MAGIC ||
			log->version != MONITOR_LOG_VERSION)) {
		sys_warn_about("nothing is logged: ", "it is not a log of this version of snarl",
			       path);
		log = (void *)-1;
	}
	if (sys_failed(log))
		log = sys_mmap(NULL, sizeof(*log), PROT_READ | PROT_WRITE,
			       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (sys_failed(log))
		return NULL;
	__atomic_compare_exchange_n(&log->pid, &unset, (uint32_t)sys_call(SYS_getpid, 0, 0, 0),
				    false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
	return log;
}

static bool is(const struct monitor_log_record *r, enum monitor_log_kind kind, const uint32_t *site)
{
	/* pairs with make() */
	return __atomic_load_n(&r->kind, __ATOMIC_ACQUIRE) == kind && r->site[0] == site[0] &&
	       r->site[1] == site[1] && r->site[2] == site[2];
}

static void make(struct monitor_log_record *r, enum monitor_log_kind kind, const uint32_t *site)
{
	for (int i = 0; i < 3; i++)
		r->site[i] = site[i];
	r->pid = (uint32_t)sys_call(SYS_getpid, 0, 0, 0);
	__atomic_store_n(&r->kind, kind, __ATOMIC_RELEASE);
}

struct monitor_log_record *monitor_log_record(enum monitor_log_kind kind, uint32_t a, uint32_t b,
					   uint32_t c)
{
	uint32_t site[3] = { a, b, c };
	uint64_t hash = ((a * 31ull + b) * 31 + c) * 7 + kind;

	for (uint32_t i = 0; i < PROBES; i++) {
		struct monitor_log_record *r = &monitor.log->record[
			((mix_spread(hash) >> 40) + i) & (MONITOR_LOG_RECORDS - 1)];

		if (is(r, kind, site))
			return r;
		/*
		 * If two threads create the same record at the same time there are two; the tool
		 * adds them up.
		 */
		if (!__atomic_load_n(&r->taken, __ATOMIC_RELAXED) &&
		    !__atomic_exchange_n(&r->taken, 1, __ATOMIC_ACQ_REL)) {
			make(r, kind, site);
			return r;
		}
	}
	monitor_count(&monitor.log->lost_records, 1);
	return NULL;
}

void monitor_log_module(uint32_t module, uint64_t base, const char *path)
{
	for (uint32_t i = 0; i < MONITOR_LOG_MODULES; i++) {
		struct monitor_log_module *m = &monitor.log->module[i];
		uint32_t used = __atomic_load_n(&m->used, __ATOMIC_ACQUIRE), n = 0;

		if (used && m->module == module && m->base == base)
			return;
		if (used)
			continue;
		m->module = module;
		m->base = base;
		for (; path[n] && n + 1 < sizeof(m->path); n++)
			m->path[n] = path[n];
		m->path[n] = 0;
		__atomic_store_n(&m->used, 1, __ATOMIC_RELEASE);
		return;
	}
}
