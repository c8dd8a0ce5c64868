/*
 * snarl help options: lists the keys of SNARL_OPTIONS from the table that the runtime parses with.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "abi/run_options.h"
#include "base/buf.h"
#include "base/mem.h"
#include "cmd/cmd.h"

#define WIDTH 92u	/* columns of wrapped text */
#define INDENT "      "

enum type { CHOICE, SET, NUMBER, LOG2, SIZE, PATH };

static const struct option {
	const char *key;
	enum type type;
	uint64_t standard, low, high;
	const char *values, *modes, *meaning;
} table[] = {
#define OPTION(key, type, standard, low, high, values, modes, meaning) \
	{ #key, type, standard, low, high, values, modes, meaning },
#include "abi/run_options.def"
#undef OPTION
};

static void add_form(const struct option *o, struct buf *out)
{
	buf_addf(out, "  %s=", o->key);
	if (o->values[0])
		buf_add_text(out, o->values);
	if (o->type == SET)
		buf_add_text(out, ",…");
	if (o->type == PATH)
		buf_addf(out, "%sPATH", o->values[0] ? "|" : "");
	else if (o->type == NUMBER || o->type == LOG2 || o->type == SIZE)
		buf_add_text(out, "NUMBER");
}

/* Appends "; from LOW to HIGH; default N". UINT64_MAX means no upper limit, and no default. */
static void add_range(const struct option *o, struct buf *out)
{
	if (o->type == PATH || o->type == CHOICE || o->type == SET)
		return;
	if (o->high != UINT64_MAX)
		buf_addf(out, "; from %" PRIu64 " to %" PRIu64, o->low, o->high);
	if (o->standard != UINT64_MAX)
		buf_addf(out, "; default %" PRIu64,
			 o->type == LOG2 ? UINT64_C(1) << o->standard : o->standard);
}

static void print_wrapped(const char *text)
{
	size_t column = 0;

	while (*text) {
		size_t word = strcspn(text, " ");

		if (column > 0 && column + 1 + word > WIDTH - strlen(INDENT)) {
			putchar('\n');
			column = 0;
		}
		printf("%s%.*s", column ? " " : INDENT, (int)word, text);
		column += word + (column > 0);
		text += word;
		text += *text == ' ';
	}
	putchar('\n');
}

int help_options(void)
{
	struct buf text = { 0 };

	puts("SNARL_OPTIONS=KEY=VALUE:KEY=VALUE passes options to an instrumented program. The "
	     "commands\n"
	     "of snarl set it; set it yourself to run a program without them, or for "
	     "measurements.\n"
	     "If values are listed, the first one is the default. In a value, write %3a for ':', "
	     "%25 for '%'.\n");
	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		buf_clear(&text);
		add_form(&table[i], &text);
		printf("%-46s  mode: %s\n", buf_string(&text), table[i].modes);
		buf_clear(&text);
		buf_add_text(&text, table[i].meaning);
		add_range(&table[i], &text);
		print_wrapped(buf_string(&text));
	}
	buf_free(&text);
	return fflush(stdout) == 0 ? CMD_OK : CMD_FAILED;
}
