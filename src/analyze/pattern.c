#include "analyze/pattern.h"

#include <string.h>

#define RACE_TEXTS                                                                                 \
	.by_values = true, .title = "Data race on %s",                                             \
	.effect = { NULL, "with nothing that orders the two" },                                    \
	.hint = "Let both accesses hold the same lock, or make them atomic."

#define BELONG_TOGETHER                                                                            \
	"Put steps $1 and $3 in one critical section, protected by a lock that step $2 also takes."

#define NOTHING_WAITS \
	"Nothing makes one thread wait for the other here, and a lock alone would not do so."

#define TWO_TEXTS                                                                                  \
	.two = true, .note = "two variables that are used together may disagree",                  \
	.hint = "Protect both variables with one lock, held across both accesses in every thread."

static const struct pattern_row rows[PATTERN_COUNT] = {
	[PATTERN_NONE] = { .name = "" },
#define PATTERN(id, text, of, base, ...)                                                           \
	[PATTERN_##id] = { .name = text, .class = CANDIDATE_##of, .score = base, __VA_ARGS__ },
#define PATTERN_TWO(a, b, c, d)                                                                    \
	PATTERN(a##x##b##x##c##y##d##y, #a "x" #b "x" #c "y" #d "y", ATOMICITY2, 5.5, TWO_TEXTS)   \
	PATTERN(a##x##b##y##c##x##d##y, #a "x" #b "y" #c "x" #d "y", ATOMICITY2, 5.5, TWO_TEXTS)
#include "analyze/pattern.def"
#undef PATTERN
#undef PATTERN_TWO
};

const char *candidate_class_name(enum candidate_class class)
{
	static const char *const names[] = {
		[CANDIDATE_RACE] = "race", [CANDIDATE_ATOMICITY] = "atomicity",
		[CANDIDATE_ATOMICITY2] = "atomicity2", [CANDIDATE_DEADLOCK] = "deadlock",
		[CANDIDATE_ORDER] = "order", [CANDIDATE_MISUSE] = "misuse",
	};

	return names[class];
}

const struct pattern_row *pattern_row(enum pattern pattern)
{
	return &rows[pattern < PATTERN_COUNT ? pattern : PATTERN_NONE];
}

enum pattern pattern_find(const char *name)
{
	for (unsigned i = 0; name && i < PATTERN_COUNT; i++)
		if (strcmp(rows[i].name, name) == 0)
			return (enum pattern)i;
	return PATTERN_NONE;
}

enum pattern pattern_reversed(enum pattern pattern)
{
	switch (pattern) {
	case PATTERN_RW: return PATTERN_WR;
	case PATTERN_WR: return PATTERN_RW;
	case PATTERN_WW: return PATTERN_WW;
	default: return PATTERN_NONE;
	}
}
