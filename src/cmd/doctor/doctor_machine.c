/*
 * Checks of processor and kernel. A check tries a feature where it can instead of asking for it:
 * a container may forbid what the kernel offers.
 */
#include <cpuid.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "abi/layout.h"
#include "base/proc.h"
#include "cmd/doctor/doctor.h"

#define HWCAP2_FSGSBASE_BIT 2u

/* The first number in a file of /proc or /sys, or `missing` if it cannot be read. */
static long file_number(const char *path, long missing)
{
	FILE *file = fopen(path, "re");
	long value;

	if (!file)
		return missing;
	if (fscanf(file, "%ld", &value) != 1)
		value = missing;
	fclose(file);
	return value;
}

static void check_cores(struct doctor_finding *f)
{
	long cores = sysconf(_SC_NPROCESSORS_ONLN);

	doctor_report(f, cores > 1 ? DOCTOR_OK : DOCTOR_WARN, "%ld cores", cores);
	if (cores < 2)
		doctor_advise(f, "threads never run in parallel here; recordings show fewer "
				 "interleavings");
}

static void check_memory(struct doctor_finding *f)
{
	long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
	unsigned long megabytes = (unsigned long)pages / 1024 * (unsigned long)page / 1024;

	doctor_report(f, megabytes >= 1024 ? DOCTOR_OK : DOCTOR_WARN, "%lu MB", megabytes);
	if (megabytes < 1024)
		doctor_advise(f, "record with --window 1M");
}

static void check_shadow(struct doctor_finding *f)
{
	struct rlimit limit;
	void *p = mmap((void *)SHADOW_BASE, SHADOW_BYTES, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
	int failure = errno;

	if (p == (void *)SHADOW_BASE) {
		munmap(p, SHADOW_BYTES);
		doctor_report(f, DOCTOR_OK, "32 TB of address space can be reserved");
		return;
	}
	if (p != MAP_FAILED)
		munmap(p, SHADOW_BYTES);
	doctor_report(f, DOCTOR_FAIL, "cannot reserve address space for shadow memory: %s",
		   strerror(failure));
	if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
		doctor_advise(f, "the address space is limited to %llu MB: ulimit -v unlimited",
			      (unsigned long long)limit.rlim_cur >> 20);
	else if (file_number("/proc/sys/vm/overcommit_memory", 0) == 2)
		doctor_advise(f,
			      "the kernel forbids overcommitment: sysctl vm.overcommit_memory=0");
	else
		doctor_advise(f, "the kernel or a sandbox refuses large mappings");
}

static void check_live(struct doctor_finding *f)
{
	int fd = memfd_create("snarl-doctor", MFD_CLOEXEC);
	struct statvfs st;
	char path[64];
	int again;

	if (fd >= 0) {
		snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)getpid(), fd);
		again = access(path, R_OK | W_OK);
		close(fd);
		if (again == 0) {
			doctor_report(f, DOCTOR_OK, "memfd_create works");
			return;
		}
	}
	if (statvfs("/dev/shm", &st) == 0 && access("/dev/shm", W_OK) == 0)
		doctor_report(f, DOCTOR_WARN,
			      "memfd cannot be opened under /proc; /dev/shm can be used");
	else
		doctor_report(f, DOCTOR_WARN, "neither memfd under /proc nor /dev/shm can be used");
	doctor_advise(f, "unwritten records are kept in a file beside the trace instead; slower "
			 "unless that file system is in memory");
}

/* Whether `try` returns 0 in a child process. */
static int child_can(int (*try)(void))
{
	pid_t pid = fork();
	int status;

	if (pid == 0)
		_exit(try() == 0 ? 0 : 1);
	status = pid > 0 ? proc_wait(pid) : -1;
	return status >= 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static int try_personality(void)
{
	int old = personality(0xffffffff);

	return old < 0 || personality((unsigned long)old | ADDR_NO_RANDOMIZE) < 0 ? -1 : 0;
}

static void check_aslr(struct doctor_finding *f)
{
	if (child_can(try_personality)) {
		doctor_report(f, DOCTOR_OK, "address randomisation can be turned off");
		return;
	}
	doctor_report(f, DOCTOR_WARN, "address randomisation cannot be turned off (personality)");
	doctor_advise(f, "controlled runs need it; in a container: --security-opt "
			 "seccomp=…/share/snarl/seccomp.json");
}

static int try_ptrace(void)
{
	return ptrace(PTRACE_TRACEME, 0, NULL, NULL) < 0 ? -1 : 0;
}

static void check_ptrace(struct doctor_finding *f)
{
	long scope = file_number("/proc/sys/kernel/yama/ptrace_scope", 0);

	if (!child_can(try_ptrace)) {
		doctor_report(f, DOCTOR_WARN, "ptrace is forbidden");
		doctor_advise(f, "debuggers will not work; in a container: --cap-add SYS_PTRACE");
	} else if (scope > 1) {
		doctor_report(f, DOCTOR_WARN, "ptrace_scope is %ld", scope);
		doctor_advise(f, "attaching a debugger needs root: sysctl "
				 "kernel.yama.ptrace_scope=1");
	} else {
		doctor_report(f, DOCTOR_OK, "ptrace works");
	}
}

static void check_fsgsbase(struct doctor_finding *f)
{
	if (getauxval(AT_HWCAP2) & HWCAP2_FSGSBASE_BIT) {
		doctor_report(f, DOCTOR_OK, "FSGSBASE is available");
		return;
	}
	doctor_report(f, DOCTOR_WARN, "FSGSBASE is not available");
	doctor_advise(f, "controlled runs will use kernel threads, which switch more slowly");
}

static void check_perf(struct doctor_finding *f)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_TASK_CLOCK,
		.disabled = 1,
		.exclude_kernel = 1,
		.exclude_hv = 1,
	};
	int fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	int failure = errno;

	if (fd >= 0) {
		close(fd);
		doctor_report(f, DOCTOR_OK, "perf_event_open works");
		return;
	}
	doctor_report(f, DOCTOR_WARN, "perf_event_open: %s (perf_event_paranoid %ld)",
		   strerror(failure), file_number("/proc/sys/kernel/perf_event_paranoid", -1));
	doctor_advise(f, "hardware watchpoints are not available; recording does not need them");
}

static void check_tsc(struct doctor_finding *f)
{
	unsigned a, b, c, d;

	if (__get_cpuid(0x80000007, &a, &b, &c, &d) && (d >> 8 & 1)) {
		doctor_report(f, DOCTOR_OK, "invariant");
		return;
	}
	doctor_report(f, DOCTOR_WARN, "the processor does not report an invariant clock");
	doctor_advise(f, "times in traces may drift between cores; the order of "
			 "synchronisation stays correct");
}

const struct doctor_check doctor_machine[] = {
	{ "cores", check_cores },
	{ "memory", check_memory },
	{ "shadow", check_shadow },
	{ "live", check_live },
	{ "tsc", check_tsc },
	{ "aslr", check_aslr },
	{ "ptrace", check_ptrace },
	{ "fsgsbase", check_fsgsbase },
	{ "perf", check_perf },
	{ 0 },
};
