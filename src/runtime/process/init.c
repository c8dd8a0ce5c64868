/*
 * Starts the runtime before constructors of libraries and before main.
 *
 * Instrumented code may run even before its thread is attached. Its inlined checks compare the
 * shadow word of the memory with tls.own. Both are 0 then, so the check finds nothing to record.
 * But it needs the shadow to be mapped, which is therefore done in every mode. A production build
 * (process/production.h) runs no checks until functions are switched on, and maps the shadow then.
 */
#include <stdlib.h>
#include <sys/auxv.h>
#include <sys/resource.h>

#include "abi/program_note.h"
#include "abi/run_options.h"
#include "runtime/control/control.h"
#include "runtime/control/control_mode.h"
#include "runtime/control/library_waits.h"
#include "runtime/control/model/external.h"
#include "runtime/core/process_calls.h"
#include "runtime/core/sys.h"
#include "runtime/core/thread_end.h"
#include "runtime/hooks/entry.h"
#include "runtime/interpose/call.h"
#include "runtime/monitor/monitor.h"
#include "runtime/process/init.h"
#include "runtime/process/modules.h"
#include "runtime/process/production.h"
#include "runtime/record/parallel_coverage.h"
#include "runtime/record/record_mode.h"
#include "runtime/record/ring.h"
#include "runtime/record/shadow.h"
#include "runtime/record/site_filter.h"
#include "runtime/record/thread.h"
#include "runtime/record/trace_file.h"

/*
 * The value of SNARL_OPTIONS. A program that runs with more rights than its caller (set-user-ID)
 * ignores it: the caller must not choose the files that it writes.
 */
static const char *find_option(char **envp)
{
	static const char key[] = SNARL_OPTIONS_ENV "=";

	if (getauxval(AT_SECURE))
		return NULL;
	for (; envp && *envp; envp++) {
		size_t i = 0;

		while (key[i] && (*envp)[i] == key[i])
			i++;
		if (!key[i])
			return *envp + i;
	}
	return NULL;
}

/*
 * Estimates the bounds of main's stack. The kernel puts the environment's strings above the first
 * frame, so the end of the last one is near the stack's top.
 */
static void find_main_stack(char **envp)
{
	struct rlimit limit = { .rlim_cur = 8u << 20 };
	const char *top = (const char *)envp;
	uint64_t high;

	for (; envp && *envp; envp++)
		top = *envp;
	while (*top)
		top++;
	sys_call(SYS_getrlimit, RLIMIT_STACK, &limit, 0);
	if (limit.rlim_cur > 1u << 30)
		limit.rlim_cur = 1u << 30;
	high = ((uint64_t)top + 2 * 4096) & ~4095ull;
	snarlrt.main_stack_low = high - limit.rlim_cur;
	snarlrt.main_stack_high = high;
}

static void at_exit(int status, void *unused)
{
	(void)unused;
	snarlrt_finish(status);
}

static void start_recording(const struct mode *mode, const struct run_options *o, char **envp)
{
	const uint64_t range_hooks[2] = { (uint64_t)__tsan_read_range,
					  (uint64_t)__tsan_write_range };

	if (!snarlrt_process_open(o))
		return;
	if (o->sites[0])
		snarlrt_sites_load(o->sites, range_hooks);
	mode_set(mode);
	snarlrt_thread_end_init();
	find_main_stack(envp);
	/* If main() ends by pthread_exit, its thread ends like any other. */
	if (snarlrt_thread_attach(snarlrt_thread_new_id(), 0, 0, NULL, NULL))
		snarlrt_thread_arm_exit();
	/* Exit handlers run in reverse order: the first one registered runs last. */
	on_exit(at_exit, NULL);
	snarlrt_process_init();
	snarlrt_modules_scan();
}

static void start_coverage(const struct run_options *o, char **envp)
{
	if (snarlrt_profile_begin(o->control))
		start_recording(&mode_coverage, o, envp);
}

static void at_controlled_exit(int status, void *unused)
{
	(void)unused;
	ctl_finish(status);
}

static void start_control(const struct run_options *o, char **envp)
{
	if (!ctl_open(o->control, o->server == RUN_NO_SERVER ? -1 : (int)o->server,
		      o->backend == RUN_BACKEND_KERNEL)) {
		sys_warn("SNARL_OPTIONS has mode=control but no usable control=FILE; "
			 "the program runs on its own");
		return;
	}
	ctl_signal_calls = &snarlrt_signal_calls;
	mode_set(&mode_control);
	/* Only a run without a fork server is traced: all runs of a server would write one file. */
	ctl.tracing = o->trace[0] && o->server == RUN_NO_SERVER && snarlrt_process_open(o);
	ctl.values = ctl.tracing && o->values;
	ctl_crash_install();
	ctl_libraries_scan();
	on_exit(at_controlled_exit, NULL);
	snarlrt_process_init();
	find_main_stack(envp);
	if (ctl.tracing)
		snarlrt_modules_scan();
}

static void start_monitor(const struct run_options *o)
{
	if (!monitor_start(o))
		return;
	if (rules_header())
		snarlrt_sites_use(rules_offsets);
	shadow_map();
	mode_set(&mode_monitor);
	snarlrt.sync_ignored = !(monitor.pset | monitor.tx | monitor.noise);
	snarlrt_thread_end_init();
	monitor_attach();
	snarlrt_process_init();
	snarlrt_modules_scan();
}

static bool is_recording(uint64_t mode)
{
	return mode == RUN_MODE_RECORD || mode == RUN_MODE_PROFILE;
}

static void start_mode(const struct run_options *o, char **envp)
{
	switch (o->mode) {
	case RUN_MODE_CONTROL:
		start_control(o, envp);
		break;
	case RUN_MODE_PROFILE:
		start_coverage(o, envp);
		break;
	case RUN_MODE_RECORD:
		if (o->trace[0])
			start_recording(&mode_record, o, envp);
		else
			sys_warn("SNARL_OPTIONS has mode=record but no trace=FILE; not recording");
		break;
	case RUN_MODE_CHECK:
	case RUN_MODE_GUARD:
		start_monitor(o);
		break;
	default:
		if (o->noise)
			start_monitor(o);
	}
}

/* The dual_chooser of modes check and guard: functions with a site that the rules name. */
static bool has_rule_site(void *context, const struct dual_module_id *module, uint64_t start,
			  uint64_t end)
{
	(void)context;
	return rules_matter(module->id, module->size, module->base, start, end);
}

/* Switches on the functions of a production build whose events the mode needs. */
static void start_production(const struct run_options *o)
{
	if (mode_monitors()) {
		dual_start("none", false);
		dual_choose(monitor.everywhere ? dual_choose_all : has_rule_site, NULL);
	} else {
		dual_start(o->active, !mode_is_off());
	}
}

static void around_fork(bool begin)
{
	if (begin) {
		snarlrt_modules_fork(true);
		dual_fork(true);
	} else {
		dual_fork(false);
		snarlrt_modules_fork(false);
	}
}

static void forked(void)
{
	snarlrt_modules_forked();
	snarlrt_modules_scan();
}

static const struct process_calls process_calls = {
	.modules_scan = snarlrt_modules_scan,
	.fork = around_fork,
	.forked = forked,
};

static void init(char **envp)
{
	static struct run_options options SNARLRT_BIG;
	static bool done;

	if (done)
		return;
	done = true;
	snarlrt_vector_width_find();
	snarlrt_real_resolve();
	snarlrt_options_parse(&options, find_option(envp));
	if (!dual_is_program() || is_recording(options.mode) || options.mode == RUN_MODE_CONTROL)
		shadow_map();
	snarlrt_process = &process_calls;
	mode_set(&mode_off);
	start_mode(&options, envp);
	start_production(&options);
}

static void preinit(int argc, char **argv, char **envp)
{
	(void)argc;
	(void)argv;
	init(envp);
}

__attribute__((section(PROGRAM_NOTE_SECTION), used, aligned(4)))
static const struct program_note note = PROGRAM_NOTE;

__attribute__((section(".preinit_array"), used)) static void (*const at_start)(int, char **,
									       char **) = preinit;

void snarlrt_init(void)
{
	extern char **environ;

	init(environ);
}

/*
 * Called by the first constructor of every instrumented file. For a library that was just opened,
 * this is the first sign of it.
 */
SNARLRT_EXPORT void __tsan_init(void)
{
	snarlrt_init();
	shadow_map();
	if (!mode_is_off())
		snarlrt_modules_scan();
}
