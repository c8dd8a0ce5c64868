#include "explore/search/replay_trace.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/mem.h"
#include "trace/write/finish.h"

/* Makes a path absolute: the program runs in another working directory. */
static char *absolute(const char *path, struct err *err)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	char *folder = slash ? xstrndup(path, (size_t)(slash - path) + 1) : xstrdup(".");
	char *real = realpath(folder, NULL), *result = NULL;

	if (!real || !*name)
		err_set(err, "cannot record to %s: %s", path,
			real ? "no file name" : strerror(errno));
	else
		result = xasprintf("%s/%s", strcmp(real, "/") == 0 ? "" : real, name);
	free(folder);
	free(real);
	return result;
}

int replay_trace_open(struct replay_trace *t, const char *path, bool values, struct err *err)
{
	struct buf options = { 0 };
	char live[64];

	*t = (struct replay_trace){ .live = -1, .path = absolute(path, err) };
	if (!t->path)
		return -1;
	t->work = xasprintf("%s.tmp-%d", t->path, (int)getpid());
	t->live = memfd_create("snarl-live", MFD_CLOEXEC);
	if (t->live < 0)
		return err_set(err, "cannot make memory for the trace: %s", strerror(errno));
	snprintf(live, sizeof(live), "/proc/%d/fd/%d", (int)getpid(), t->live);
	buf_add_option(&options, "trace", t->work);
	buf_add_option(&options, "live", live);
	buf_add_option(&options, "fork", "off");
	buf_add_option(&options, "values", values ? "1" : "0");
	t->options = xstrdup(buf_string(&options));
	buf_free(&options);
	return 0;
}

/* Removes the trace WORK, and WORK.PID of each program that the target started by exec. */
static void remove_work(const char *work)
{
	char *folder = xstrndup(work, (size_t)(strrchr(work, '/') - work) + 1);
	const char *base = strrchr(work, '/') + 1;
	DIR *dir = opendir(folder);

	for (struct dirent *e; dir && (e = readdir(dir));)
		if (strncmp(e->d_name, base, strlen(base)) == 0)
			unlinkat(dirfd(dir), e->d_name, 0);
	if (dir)
		closedir(dir);
	free(folder);
}

int replay_trace_close(struct replay_trace *t, bool keep, struct err *err)
{
	char live[64];
	int result = 0;

	snprintf(live, sizeof(live), "/proc/self/fd/%d", t->live);
	if (keep && t->live >= 0) {
		if (access(t->work, F_OK) != 0)
			result = err_set(err, "the program wrote no trace");
		else if (finish_trace(t->work, live, NULL, err) < 0)
			result = -1;
		else if (rename(t->work, t->path) < 0)
			result = err_set(err, "cannot move the trace to %s: %s", t->path,
					 strerror(errno));
	}
	if (t->work)
		remove_work(t->work);
	if (t->live >= 0)
		close(t->live);
	free(t->path);
	free(t->work);
	free(t->options);
	*t = (struct replay_trace){ .live = -1 };
	return result;
}

/* Whether the run matches the schedule in turns, check of each turn, and check of each event. */
static bool is_same_run(const struct schedule *s, const struct ctl_block *b)
{
	struct schedule now = { 0 };
	bool same;

	schedule_set_turns(&now, b);
	same = now.turn_count == s->turn_count && now.events.size == s->events.size &&
	       (!s->events.size || memcmp(now.events.data, s->events.data, s->events.size) == 0);
	for (size_t i = 0; same && i < s->turn_count; i++) {
		const struct schedule_turn *a = &s->turns[i], *c = &now.turns[i];

		same = a->kind == c->kind && a->steps == c->steps && a->check == c->check &&
		       strcmp(s->threads.items[a->thread], now.threads.items[c->thread]) == 0;
	}
	schedule_free(&now);
	return same;
}

static int record(const struct replay_config *config, const struct schedule *s,
		  const struct places *places, const char *path, bool values, struct err *err)
{
	struct replay_config recording = *config;
	struct replay replay = { 0 };
	struct replay_trace trace;
	struct oracle_result got;
	struct oracle oracle;
	struct err closing;
	int result = replay_trace_open(&trace, path, values, err);

	if (result == 0) {
		oracle_from(&oracle, s);
		recording.exec = true;
		recording.options = trace.options;
		result = replay_open(&replay, &recording, s, err);
		if (result == 0)
			result = replay_once(&replay, s, places, &oracle, &got, err);
		if (result == 0 && (!replay_same(s, &got) || !is_same_run(s, replay.server.block)))
			result = err_set(err, "the recorded replay differed from the schedule");
		replay_close(&replay);
	}
	if (replay_trace_close(&trace, result == 0, &closing) < 0 && result == 0) {
		*err = closing;
		result = -1;
	}
	return result;
}

int replay_record(const struct replay_config *config, const struct schedule *s,
		  const struct places *places, const char *path, bool values, struct err *err)
{
	/* Recording values may exceed the run's time limit. Then record again without them. */
	if (values && s->steps <= REPLAY_VALUES_STEPS &&
	    record(config, s, places, path, true, err) == 0)
		return 0;
	return record(config, s, places, path, false, err);
}
