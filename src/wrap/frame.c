#include "wrap/frame.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* A name that needs no quotes. */
static bool is_plain(struct asmtext_word name)
{
	for (uint32_t i = 0; i < name.size; i++)
		if (!strchr("._$", name.at[i]) && !isalnum((unsigned char)name.at[i]))
			return false;
	return true;
}

/* An address of the stack gets into another register. */
static bool exposes_stack(struct asmtext_word line)
{
	struct asmtext_word verb = asmtext_verb(line);
	const char *end = line.at + line.size, *at = line.at, *found;
	bool lea = asmtext_starts(verb, "lea"), push = asmtext_starts(verb, "push");

	while ((found = memmem(at, (size_t)(end - at), "%rsp", 4))) {
		bool last = found + 4 == end || !memchr(found, ',', (size_t)(end - found));
		bool inside = found[-1] == '(' || memchr(found, ')', (size_t)(end - found));

		if (inside ? lea : !last || push)
			return true;
		at = found + 4;
	}
	return false;
}

static bool below_stack(struct asmtext_word line)
{
	const char *open = memmem(line.at, line.size, "(%rsp", 5);
	const char *at = open;

	while (at && at > line.at && strchr("-0123456789", at[-1]))
		at--;
	return open && *at == '-';
}

/* gcc puts what is seldom run elsewhere, with the same stack. */
static bool has_cold_part(const struct asmtext *t, const struct asmtext_atom *a)
{
	struct asmtext_word name = t->symbols[a->symbol].name;
	char *cold = xasprintf("%.*s.cold", (int)name.size, name.at);
	bool has = asmtext_find(t, (struct asmtext_word){ cold, name.size + 5 }) != 0;

	free(cold);
	return has;
}

enum frame frame_judge(const struct asmtext *t, const struct asmtext_atom *a, bool below)
{
	enum frame frame = has_cold_part(t, a) ? FRAME_SHARED : FRAME_OWN;

	if (!is_plain(t->sections[a->section].name) || !is_plain(t->sections[a->section].group))
		return FRAME_BAD;
	for (size_t i = a->first; i <= a->last; i++) {
		const struct asmtext_line *l = &t->lines[i];

		if (l->kind != ASMTEXT_CODE || !memmem(l->text.at, l->text.size, "%rsp", 4))
			continue;
		if (below && below_stack(l->text))
			return FRAME_BAD;
		if (l->user || exposes_stack(l->text))
			frame = FRAME_SHARED;
	}
	return frame;
}
