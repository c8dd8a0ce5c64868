/*
 * Guard delays orders that no training run had. If a delay had no effect, the order happened all
 * the same. The user says that the run was good: the order is harmless, and is stored as if a
 * passing run had it.
 */
#include "learn/guard_feedback.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Splits "BUILD+0xOFFSET" into build and offset. */
static bool split_key(char *key, uint64_t *offset)
{
	char *plus = strchr(key, '+'), *end;

	if (!plus)
		return false;
	*plus = '\0';
	*offset = strtoull(plus + 1, &end, 16);
	return end > plus + 1 && !*end;
}

/* Adds the order of a line if all of its delays timed out. */
static int take_line(struct store *store, char *line, struct guard_feedback *sum, struct err *err)
{
	struct store_news news = { 0 };
	char before[160], delayed[160];
	unsigned long long count, resolved, timed_out;
	struct store_at p, m;
	uint64_t offset;

	if (sscanf(line, "pset %159s %159s %llu %llu %llu", before, delayed, &count, &resolved,
		   &timed_out) != 5 || !timed_out || resolved || !split_key(before, &offset))
		return 0;
	if (store_find(store, before, offset, &p, err) < 0)
		return -1;
	if (!split_key(delayed, &offset))
		return 0;
	if (store_find(store, delayed, offset, &m, err) < 0)
		return -1;
	for (unsigned i = 0; i < p.count; i++)
		for (unsigned k = 0; k < m.count; k++)
			if (store_follows(store, p.site[i], m.site[k], STORE_SEEN, true, &news,
					  err) < 0)
				return -1;
	sum->taken += p.count && m.count;
	sum->unknown += !p.count || !m.count;
	sum->new += news.pairs > 0;
	return 0;
}

int guard_feedback_add(struct store *store, const char *path, struct guard_feedback *sum,
		       struct err *err)
{
	FILE *f = fopen(path, "re");
	char *line = NULL;
	size_t size = 0;
	int result = 0;

	if (!f)
		return err_set(err, "cannot open %s: %s", path, strerror(errno));
	if (getline(&line, &size, f) < 0 || strcmp(line, "snarl-guard 1\n") != 0)
		result = err_set(err, "%s is not a log of snarl guard", path);
	if (result == 0)
		result = store_begin(store, err);
	while (result == 0 && getline(&line, &size, f) > 0)
		result = take_line(store, line, sum, err);
	if (result == 0)
		result = store_commit(store, err);
	else
		store_rollback(store);
	free(line);
	fclose(f);
	return result;
}
