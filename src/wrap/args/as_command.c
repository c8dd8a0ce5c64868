#include "wrap/args/as_command.h"

#include <string.h>

#include "base/mem.h"

/* Options of GNU as whose value is the next word. */
static bool has_value(const char *word)
{
	static const char *const list[] = {
		"-o", "-I", "--defsym", "--MD", "-MD", "--debug-prefix-map", "--hash-size",
		"--itbl", "-t", "--listing-lhs-width", "--listing-lhs-width2",
		"--listing-rhs-width", "--listing-cont-lines", "--scfi",
	};

	for (size_t i = 0; i < ARRAY_SIZE(list); i++)
		if (strcmp(word, list[i]) == 0)
			return true;
	return false;
}

/* Options for another syntax or word size, and those that only ask for information. */
static bool is_unsupported(const char *word)
{
	static const char *const list[] = {
		"--", "--32", "--x32", "--version", "-version", "--help", "--target-help",
		"-msyntax=intel", "-mmnemonic=intel",
	};

	for (size_t i = 0; i < ARRAY_SIZE(list); i++)
		if (strcmp(word, list[i]) == 0)
			return true;
	return false;
}

static void add_input(struct as_command *c, const char *path)
{
	c->inputs = xgrow(c->inputs, c->count, &c->room, sizeof(*c->inputs));
	c->inputs[c->count++] = (struct as_input){ .path = path, .fd = -1 };
}

void as_command_read(const struct args *in, struct as_command *c)
{
	for (size_t i = 0; i < in->count; i++) {
		const char *word = in->v[i];

		if (word[0] != '-' || word[1] == '\0') {
			add_input(c, word);
			continue;
		}
		c->unsupported |= is_unsupported(word);
		args_add(&c->words, word);
		if (has_value(word) && i + 1 < in->count)
			args_add(&c->words, in->v[++i]);
	}
	if (c->count == 0)
		add_input(c, "-");
}
