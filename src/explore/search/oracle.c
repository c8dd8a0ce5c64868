/*
 * Verdicts: from the wait status, the runtime's report and the output to struct oracle_result.
 *
 * Priority: damaged shared memory, fork bomb, time limit, lost server, the runtime's report
 * (deadlock, use after free, divergence), signal, --check, exit status, expected output.
 */
#include "explore/search/oracle.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/proc.h"
#include "explore/search/ignore.h"
#include "trace/read/kinds.h"

static const struct {
	const char *name, *class;
} names[] = {
	[ORACLE_NONE] = { "none", "other" },
	[ORACLE_ASSERT] = { "assert", "other" },
	[ORACLE_SIGNAL] = { "signal", "other" },
	[ORACLE_EXIT] = { "exit", "other" },
	[ORACLE_DEADLOCK] = { "deadlock", "deadlock" },
	[ORACLE_HANG] = { "hang", "other" },
	[ORACLE_OUTPUT] = { "output", "other" },
	[ORACLE_CHECK] = { "check", "other" },
	[ORACLE_UAF] = { "uaf", "memory" },
	[ORACLE_DOUBLE_FREE] = { "double-free", "memory" },
	[ORACLE_BAD_FREE] = { "bad-free", "memory" },
	[ORACLE_MISUSE] = { "misuse", "misuse" },
	[ORACLE_OVERFLOW] = { "overflow", "memory" },
	[ORACLE_BOMB] = { "processes", "other" },
	[ORACLE_TIMEOUT] = { "timeout", "other" },
	[ORACLE_STEPS] = { "max-steps", "other" },
};

const char *oracle_failure_name(enum oracle_failure failure)
{
	return names[failure].name;
}

const char *oracle_class(enum oracle_failure failure)
{
	return names[failure].class;
}

void oracle_brief(const struct oracle_result *r, struct buf *out)
{
	buf_add_text(out, names[r->failure].name);
	if (r->failure == ORACLE_SIGNAL || r->failure == ORACLE_EXIT)
		buf_addf(out, " %d", r->number);
}

int oracle_expect_output(struct oracle *o, const char *path, struct err *err)
{
	char piece[64 << 10];
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t got = -1;

	if (fd < 0)
		return err_set(err, "cannot open %s: %s", path, strerror(errno));
	o->output_size = 0;
	o->output_hash = HASH_START;
	while ((got = read(fd, piece, sizeof(piece))) > 0) {
		o->output_size += (uint64_t)got;
		o->output_hash = hash_bytes(o->output_hash, piece, (size_t)got);
	}
	close(fd);
	if (got < 0)
		return err_set(err, "cannot read %s: %s", path, strerror(errno));
	o->has_output = true;
	return 0;
}

void oracle_to_schedule(const struct oracle *o, struct schedule *s)
{
	s->expect_exit = o->exit;
	s->expect_output = o->has_output;
	s->output_size = o->output_size;
	s->output_hash = o->output_hash;
	s->check = o->check ? xstrdup(o->check) : NULL;
}

void oracle_from(struct oracle *o, const struct schedule *s)
{
	*o = (struct oracle){ .exit = s->expect_exit, .has_output = s->expect_output,
			      .output_size = s->output_size, .output_hash = s->output_hash,
			      .check = s->check };
}

static void fail(struct oracle_result *r, enum oracle_failure failure, int number)
{
	r->verdict = ORACLE_FAILED;
	r->failure = failure;
	r->number = number;
}

static void add_site(struct oracle_result *r, uint32_t thread, uint64_t pc, uint64_t object,
		     const char *op)
{
	if (r->site_count < ORACLE_SITES)
		r->sites[r->site_count++] = (struct oracle_site){ thread, pc, object, op };
}

/* Finds the last line of stderr that looks like an assertion's or std::terminate()'s message. */
static bool find_assertion_text(const struct capture *error, char *out, size_t size)
{
	static const char *const marks[] = { "ssertion", "assert", "terminate called" };
	struct buf text = { 0 };
	const char *all, *found = NULL, *start;

	capture_text(error, &text);
	all = buf_string(&text);
	for (size_t i = 0; i < ARRAY_SIZE(marks) && !found; i++)
		for (const char *p = all; (p = strstr(p, marks[i])); p++)
			found = p;
	if (found) {
		for (start = found; start > all && start[-1] != '\n'; start--)
			;
		snprintf(out, size, "%.*s", (int)strcspn(start, "\n"), start);
	}
	buf_free(&text);
	return found != NULL;
}

static void judge_signal(const struct server *s, int signal, struct oracle_result *r)
{
	const struct ctl_report *report = &s->block->report;

	fail(r, ORACLE_SIGNAL, signal);
	if (signal == SIGABRT && find_assertion_text(&s->result.error, r->text, sizeof(r->text)))
		r->failure = ORACLE_ASSERT;
	if (report->signal == (uint32_t)signal && report->pc)
		add_site(r, report->thread, report->pc, report->object,
			 signal == SIGABRT ? "abort" : "crash");
}

/* The operation that a blocked thread waits in, for oracle_site.op. */
static const char *blocked_op(uint32_t op)
{
	switch (op) {
	case SCHED_OP_ACQUIRE: return "lock";
	case SCHED_OP_JOIN: return "join";
	case SCHED_OP_CALL: return "call";
	case SCHED_OP_WAIT: return "wait";
	default: return "stand";
	}
}

/* Adds the threads of the waits-for cycle, which identify the deadlock, then the other threads. */
static void judge_deadlock(const struct ctl_report *report, struct oracle_result *r)
{
	uint32_t count = report->described < CTL_REPORT_THREADS ? report->described :
								  CTL_REPORT_THREADS;
	uint32_t at = UINT32_MAX;
	bool in_cycle[CTL_REPORT_THREADS] = { false };

	for (uint32_t i = 0; i < count && at == UINT32_MAX; i++) {
		uint32_t walk = i;

		/* After `count` steps along the owners the walk is on a cycle, or has ended. */
		for (uint32_t n = 0; n < count && walk < count; n++)
			walk = report->at[walk].state == CTL_REPORT_ENDED ?
				       UINT32_MAX :
				       report->at[walk].owner;
		if (walk < count)
			at = walk;
	}
	for (uint32_t i = at; i < count && !in_cycle[i]; i = report->at[i].owner) {
		in_cycle[i] = true;
		add_site(r, report->at[i].number, report->at[i].site, report->at[i].object,
			 blocked_op(report->at[i].op));
	}
	r->key_site_count = r->site_count;
	for (uint32_t i = 0; i < count; i++)
		if (!in_cycle[i] && report->at[i].state != CTL_REPORT_ENDED)
			add_site(r, report->at[i].number, report->at[i].site, report->at[i].object,
				 blocked_op(report->at[i].op));
}

static void judge_runtime(const struct ctl_report *report, struct oracle_result *r)
{
	snprintf(r->text, sizeof(r->text), "%.*s", (int)CTL_TEXT - 1, report->text);
	switch (report->failure) {
	case CTL_FAIL_DEADLOCK:
		fail(r, ORACLE_DEADLOCK, 0);
		judge_deadlock(report, r);
		break;
	case CTL_FAIL_HANG:
		fail(r, ORACLE_HANG, 0);
		judge_deadlock(report, r);
		break;
	case CTL_FAIL_UAF:
	case CTL_FAIL_DOUBLE_FREE:
	case CTL_FAIL_BAD_FREE:
		fail(r,
		     report->failure == CTL_FAIL_UAF	    ? ORACLE_UAF
		     : report->failure == CTL_FAIL_BAD_FREE ? ORACLE_BAD_FREE
							    : ORACLE_DOUBLE_FREE,
		     0);
		add_site(r, report->thread, report->pc, report->object,
			 report->failure == CTL_FAIL_UAF ? "use" : "free");
		if (report->pc2)
			add_site(r, UINT32_MAX, report->pc2, report->object, "free");
		if (report->pc3)
			add_site(r, UINT32_MAX, report->pc3, report->object, "malloc");
		break;
	case CTL_FAIL_OVERFLOW:
		fail(r, ORACLE_OVERFLOW, 0);
		add_site(r, report->thread, report->pc, report->object, "overflow");
		if (report->pc3)
			add_site(r, UINT32_MAX, report->pc3, report->object, "malloc");
		break;
	default:
		fail(r, ORACLE_MISUSE, 0);
		add_site(r, report->thread, report->pc, report->object, "misuse");
	}
}

#define CHECK_SLOW 2	/* result of a check that did not end in time */

/* A check that does not end says nothing about the run. Returns CHECK_SLOW, -1 if all time is up.
 */
static int give_up_check(struct oracle *o, const struct server *s, struct err *err)
{
	if (deadline_over(s->config.deadline))
		return err_set(err, "%s", deadline_why(s->config.deadline));
	if (!o->check_slow)
		log_warn("--check '%s' did not end within %g s (--timeout) and was killed: such "
			 "runs count "
			 "neither as passed nor as failed",
			 o->check, s->config.timeout);
	o->check_slow = true;
	return CHECK_SLOW;
}

/* Runs the --check command. Returns 0: passed, 1: failed, CHECK_SLOW, -1: it could not be run. */
static int run_check(struct oracle *o, const struct server *s, int code, struct err *err)
{
	char *argv[] = { (char *)"/bin/sh", (char *)"-c", (char *)o->check, NULL }, number[16];
	struct proc_start start = { .argv = argv, .name = "SNARL_STATUS", .value = number,
				    .in = memfd_create("snarl-output", MFD_CLOEXEC),
				    .out = STDERR_FILENO, .error = -1, .own_group = true };
	struct buf text = { 0 };
	pid_t pid = -1;
	int status = -1;

	capture_text(&s->result.out, &text);
	snprintf(number, sizeof(number), "%d", code);
	if (start.in < 0 || write(start.in, text.data, text.size) != (ssize_t)text.size ||
	    lseek(start.in, 0, SEEK_SET) < 0)
		err_set(err, "cannot pass the program's output to the --check command: %s",
			strerror(errno));
	else
		pid = proc_spawn(&start, NULL, err);
	if (pid > 0)
		status = proc_wait_group(pid, s->config.timeout, s->config.deadline);
	if (start.in >= 0)
		close(start.in);
	buf_free(&text);
	if (pid < 0)
		return -1;
	if (status < 0)
		return give_up_check(o, s, err);
	if (WIFEXITED(status) && (WEXITSTATUS(status) == 126 || WEXITSTATUS(status) == 127))
		return err_set(err, "--check '%s' cannot be run: exit status %d", o->check,
			       WEXITSTATUS(status));
	return proc_code(status) != 0;
}

static int judge_end(struct oracle *o, const struct server *s, struct oracle_result *r,
		     struct err *err)
{
	const struct capture *out = &s->result.out;
	int status = s->result.status, failed;

	if (WIFSIGNALED(status)) {
		judge_signal(s, WTERMSIG(status), r);
		return 0;
	}
	if (o->check) {
		failed = run_check(o, s, proc_code(status), err);
		if (failed == CHECK_SLOW) {
			r->verdict = ORACLE_INCONCLUSIVE;
			r->failure = ORACLE_TIMEOUT;
		} else if (failed) {
			fail(r, ORACLE_CHECK, 0);
		}
		return failed < 0 ? -1 : 0;
	}
	if (o->exit != ORACLE_ANY_EXIT && WEXITSTATUS(status) != o->exit) {
		fail(r, ORACLE_EXIT, WEXITSTATUS(status));
		find_assertion_text(&s->result.error, r->text, sizeof(r->text));
		return 0;
	}
	if (o->has_output && (out->size != o->output_size || out->hash != o->output_hash)) {
		fail(r, ORACLE_OUTPUT, 0);
		return 0;
	}
	if (o->same_output && !o->has_output) {
		o->has_output = true;
		o->output_size = out->size;
		o->output_hash = out->hash;
	}
	return 0;
}

void oracle_divergence(const struct ctl_report *report, struct oracle_result *out)
{
	out->verdict = ORACLE_DIVERGED;
	out->thread = report->thread;
	out->turn = report->turn;
	out->event = report->event;
	snprintf(out->text, sizeof(out->text), "%.*s", (int)CTL_TEXT - 1, report->text);
	if (report->event && kind_name(report->kind))
		add_site(out, report->thread, report->pc, report->object, kind_name(report->kind));
}

void oracle_threads(const struct ctl_report *report, struct oracle_result *r)
{
	*r = (struct oracle_result){ .verdict = ORACLE_INCONCLUSIVE, .failure = ORACLE_STEPS,
				     .thread = report->thread };
	judge_deadlock(report, r);
}

/* Computes the signature. Unless judge_deadlock() found a cycle, all sites are key sites. */
static void compute_signature(struct oracle_result *r, const struct ctl_report *report)
{
	uint64_t hash = hash_bytes(HASH_START, &r->failure, sizeof(r->failure));
	uint64_t sum = 0;

	hash = hash_bytes(hash, &r->number, sizeof(r->number));
	/* All assertions abort at one pc; their text distinguishes them. */
	if (r->failure == ORACLE_ASSERT)
		for (const char *p = r->text; *p; p++)
			hash = hash_bytes(hash, p, 1);
	/* A sum, since the order in which a deadlock's threads are listed does not matter. */
	if (!r->key_site_count)
		r->key_site_count = r->site_count;
	for (size_t i = 0; i < r->key_site_count; i++)
		if (r->sites[i].pc)
			sum += hash_bytes(HASH_START, &r->sites[i].pc, sizeof(r->sites[i].pc));
	/* All calls of abort() crash at one pc; the callers distinguish them. */
	if (r->failure == ORACLE_SIGNAL && report->signal)
		for (size_t i = 0; i < ARRAY_SIZE(report->calls) && report->calls[i]; i++)
			hash = hash_bytes(hash, &report->calls[i], sizeof(report->calls[i]));
	r->signature = hash_bytes(hash, &sum, sizeof(sum));
}

/* Result of a process that ended before it opened the control block. */
static void judge_early_end(int status, struct oracle_result *r)
{
	r->verdict = ORACLE_BROKEN;
	if (WIFSIGNALED(status))
		snprintf(r->text, sizeof(r->text), "killed by signal %d (%s) before main",
			 WTERMSIG(status), strsignal(WTERMSIG(status)));
	else
		snprintf(r->text, sizeof(r->text),
			 "it ended before main; was it built with snarl-cc?");
}

int oracle_judge(struct oracle *o, const struct server *s, struct oracle_result *r,
		 struct err *err)
{
	const struct ctl_report *report = &s->block->report;
	int result = 0;

	*r = (struct oracle_result){ .verdict = ORACLE_PASSED, .thread = report->thread };
	if (s->result.damage) {
		r->verdict = ORACLE_DAMAGED;
		snprintf(r->text, sizeof(r->text), "the program damaged the memory that it "
			 "shares with snarl: %s makes no sense", s->result.damage);
	} else if (s->result.fork_bomb) {
		fail(r, ORACLE_BOMB, 0);
	} else if (s->result.timed_out) {
		r->verdict = ORACLE_INCONCLUSIVE;
		r->failure = ORACLE_TIMEOUT;
	} else if (s->result.lost) {
		r->verdict = ORACLE_BROKEN;
		snprintf(r->text, sizeof(r->text), "the fork server was lost");
	} else if (report->outcome == CTL_FAILED) {
		judge_runtime(report, r);
	} else if (report->outcome == CTL_STEPS) {
		oracle_threads(report, r);
	} else if (report->outcome == CTL_DIVERGED) {
		oracle_divergence(report, r);
	} else if (report->outcome == CTL_UNSUPPORTED) {
		r->verdict = ORACLE_BROKEN;
		snprintf(r->text, sizeof(r->text), "%.*s", (int)CTL_TEXT - 1, report->text);
	} else if (report->outcome == CTL_RUNNING && WIFEXITED(s->result.status) &&
		   WEXITSTATUS(s->result.status) == CTL_STATUS) {
		r->verdict = ORACLE_BROKEN;
		snprintf(r->text, sizeof(r->text), "the runtime in the program gave up; if another "
			 "version of snarl-cc built it, build it again");
	} else if (s->exec && !s->block->ready) {
		judge_early_end(s->result.status, r);
	} else {
		result = judge_end(o, s, r, err);
	}
	r->outlives_exit = report->exiting && report->exiting - 1 != r->thread;
	compute_signature(r, report);
	if (r->verdict == ORACLE_FAILED && o->ignore && ignore_matches(o->ignore, r, report))
		*r = (struct oracle_result){ .verdict = ORACLE_PASSED, .ignored = true,
					     .thread = report->thread };
	return result;
}
