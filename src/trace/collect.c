#include "trace/collect.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "abi/live_memory.h"
#include "base/log.h"
#include "base/mem.h"
#include "trace/read/reader.h"
#include "trace/write/finish.h"

#define LIVE_SUFFIX ".live"

static const char *const loss_keys[COLLECT_LOSSES] = {
	"lost_records", "lost_threads", "lost_signals", "cut_locations", "cut_records",
};

static uint32_t pid_of(const char *path)
{
	struct trace_header header = { 0 };
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return 0;
	if (read(fd, &header, sizeof(header)) != (ssize_t)sizeof(header))
		header.pid = 0;
	close(fd);
	return header.pid;
}

/* Whether the runtime found and initialised the live memory that was made for it. */
static bool live_used(int fd)
{
	struct live_header header = { 0 };

	return fd >= 0 && pread(fd, &header, sizeof(header), 0) == (ssize_t)sizeof(header) &&
	       header.magic == LIVE_MAGIC;
}

static int copy_file(int from, const char *path)
{
	int to = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	struct stat st;
	off_t at = 0;
	bool good = to >= 0 && fstat(from, &st) == 0 && ftruncate(to, st.st_size) == 0;

	/* Live memory is sparse: copy only its data. */
	while (good && (at = lseek(from, at, SEEK_DATA)) >= 0) {
		off_t end = lseek(from, at, SEEK_HOLE);
		char block[65536];

		while (good && at < end) {
			ssize_t got = pread(from, block, sizeof(block), at);

			good = got > 0 && pwrite(to, block, (size_t)got, at) == got;
			at += got > 0 ? got : 0;
		}
	}
	if (to >= 0)
		close(to);
	return good ? 0 : -1;
}

/* Removes the live memory or, if it is still needed, keeps it as the file `keep_as`. */
static void dispose_live(const char *live, int live_fd, const char *keep_as)
{
	if (!keep_as) {
		if (live)
			unlink(live);
	} else if (live_fd >= 0) {
		if (copy_file(live_fd, keep_as) < 0)
			log_warn("cannot keep the live memory as %s: %s", keep_as, strerror(errno));
	} else if (live && strcmp(live, keep_as) != 0) {
		rename(live, keep_as);
	}
}

static void describe(struct collected_trace *t)
{
	struct err err;
	struct reader *r = reader_open(t->path, &err);
	const struct reader_info *info;

	if (!r) {
		log_warn("%s", err.text);
		return;
	}
	info = reader_info(r);
	t->records = info->records;
	t->bytes = info->file_size;
	t->threads = info->thread_count;
	t->incomplete = info->incomplete;
	t->pid = info->header->pid;
	for (size_t i = 0; i < COLLECT_LOSSES; i++) {
		const char *value = reader_meta(r, loss_keys[i], 0);

		t->losses[i] = value ? strtoull(value, NULL, 10) : 0;
	}
	sites_effect(r, &t->sites);
	reader_close(r);
}

static struct collected_trace *add(struct collected_traces *t, const char *path)
{
	struct collected_trace *item;

	t->items = xgrow(t->items, t->count, &t->capacity, sizeof(*t->items));
	item = &t->items[t->count++];
	*item = (struct collected_trace){ .path = xstrdup(path), .pid = pid_of(path) };
	return item;
}

static int collect_one(struct collected_traces *t, const char *work, int live_fd, const char *out,
		       bool may_run, bool keep_live, struct err *err)
{
	struct collected_trace *item = add(t, work);
	char *live_file = xasprintf("%s" LIVE_SUFFIX, work);
	char *kept = xasprintf("%s" LIVE_SUFFIX, out), *live = NULL;
	bool from_fd = live_used(live_fd);
	int result = -1;

	if (may_run && item->pid && kill((pid_t)item->pid, 0) == 0) {
		item->running = true;
		result = 0;
		goto done;
	}
	if (from_fd)
		live = xasprintf("/proc/self/fd/%d", live_fd);
	else if (access(live_file, R_OK) == 0)
		live = xstrdup(live_file);
	if (finish_trace(work, live, NULL, err) < 0) {
		dispose_live(from_fd ? NULL : live, from_fd ? live_fd : -1, live_file);
		err_prefix(err, "the recording is kept as %s, but could not be finished", work);
		goto done;
	}
	if (rename(work, out) < 0) {
		err_set(err, "cannot move %s to %s: %s", work, out, strerror(errno));
		goto done;
	}
	dispose_live(from_fd ? NULL : live, from_fd ? live_fd : -1, keep_live ? kept : NULL);
	free(item->path);
	item->path = xstrdup(out);
	describe(item);
	result = 0;
done:
	free(live_file);
	free(kept);
	free(live);
	return result;
}

/* The suffix of a name WORK.PID or WORK.PID.N; NULL for any other name. */
static const char *child_suffix(const char *name, const char *work)
{
	const char *base = strrchr(work, '/') + 1;
	size_t length = strlen(base);

	if (strncmp(name, base, length) != 0 || name[length] != '.' ||
	    strspn(name + length, ".0123456789") != strlen(name + length))
		return NULL;
	return name + length;
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
	return strverscmp((*a)->d_name, (*b)->d_name);
}

static int collect_children(struct collected_traces *t, const char *work, const char *out,
			    bool may_run, bool keep_live, struct err *err)
{
	char *folder = xstrndup(work, (size_t)(strrchr(work, '/') - work) + 1);
	struct dirent **entries;
	int count = scandir(folder, &entries, NULL, by_name), result = 0;

	for (int i = 0; i < count; i++) {
		const char *suffix = child_suffix(entries[i]->d_name, work);

		if (suffix && result == 0) {
			char *from = xasprintf("%s%s", folder, entries[i]->d_name);
			char *to = xasprintf("%s%s", out, suffix);

			result = collect_one(t, from, -1, to, may_run, keep_live, err);
			free(from);
			free(to);
		}
		free(entries[i]);
	}
	if (count >= 0)
		free(entries);
	free(folder);
	return result;
}

int collect_traces(struct collected_traces *t, const char *work, int live_fd, const char *out,
		   bool may_run, bool keep_live, struct err *err)
{
	*t = (struct collected_traces){ 0 };
	if (access(work, F_OK) != 0)
		return 0;
	/* The runtime created the file but could not write: keep an earlier trace at `out`. */
	if (pid_of(work) == 0) {
		char *live = xasprintf("%s" LIVE_SUFFIX, work);

		unlink(live);
		free(live);
		unlink(work);
		return err_set(err,
			       "nothing was recorded: %s could not be written; is the disk full, "
			       "or ulimit -f low?",
			       out);
	}
	if (collect_one(t, work, live_fd, out, may_run, keep_live, err) < 0)
		return -1;
	return collect_children(t, work, out, may_run, keep_live, err);
}

void collected_traces_free(struct collected_traces *t)
{
	for (size_t i = 0; i < t->count; i++)
		free(t->items[i].path);
	free(t->items);
	*t = (struct collected_traces){ 0 };
}

const char *collect_loss_key(unsigned kind)
{
	return loss_keys[kind];
}
