#include "explore/bug/suppressed.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/mem.h"
#include "explore/search/replay_trace.h"

#define FRAMES 16

static bool site_matches(const struct suppressions *s, enum suppress_type type,
			 struct places *places, uint64_t pc)
{
	const struct places_module *m = places_module(places, pc);
	const char *module = m ? m->path : NULL;
	struct symbol_frame frames[FRAMES];
	size_t count = symbols_frames(places->symbols, pc, frames, FRAMES);

	return suppress_frames(s, type, frames, count, module) ||
	       suppress_name(s, SUPPRESS_CALLED_FROM_LIB, module) ||
	       (type == SUPPRESS_RACE && suppress_frames(s, SUPPRESS_RACE_TOP, frames, 1, NULL));
}

/* Of failures that are by themselves what a line may be about. */
static bool places_match(const struct oracle_result *r, const struct suppressions *s,
			 struct places *places)
{
	enum suppress_type type;

	switch (r->failure) {
	case ORACLE_DEADLOCK: type = SUPPRESS_DEADLOCK; break;
	case ORACLE_MISUSE: type = SUPPRESS_MUTEX; break;
	case ORACLE_UAF: case ORACLE_DOUBLE_FREE: type = SUPPRESS_RACE; break;
	default: return false;
	}
	for (size_t i = 0; i < r->telling; i++)
		if (!site_matches(s, type, places, r->sites[i].pc))
			return false;
	return r->telling > 0;
}

static struct lead *find_cause(struct bug *b, const struct suppressions *s,
			       const struct replay_config *config, const struct places *places)
{
	const char *tmp = getenv("TMPDIR");
	char *path = xasprintf("%s/snarl-cause-XXXXXX", tmp && *tmp ? tmp : "/tmp");
	struct leads none = { .suppress = s };
	struct lead *cause = NULL;
	struct err err;
	int fd = mkstemp(path);

	if (fd >= 0 && replay_record(config, &b->failure->schedule, places, path, false, &err) == 0)
		cause = b->explain ? b->explain(b->explain_ctx, b->failure, path) :
				     leads_explain(&none, path, b->failure->result.failure);
	if (fd >= 0) {
		close(fd);
		unlink(path);
	}
	free(path);
	return cause;
}

bool suppressed_failure(struct bug *b, const struct suppressions *s,
			const struct replay_config *config, struct places *places)
{
	struct lead *found = NULL;
	bool suppressed;

	if (places_match(&b->failure->result, s, places))
		return true;
	if (!bug_cause(b)) {
		found = find_cause(b, s, config, places);
		if (b->explain)
			b->cause = found;
	}
	suppressed = found ? found->suppressed == SUPPRESS_ALL :
			     bug_cause(b) && bug_cause(b)->suppressed == SUPPRESS_ALL;
	if (found && !b->explain)
		lead_free(found);
	return suppressed;
}
