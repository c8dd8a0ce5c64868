/*
 * snarl learn --dump: the rules of a database as text.
 */
#include "cmd/learn/learn.h"

#include <stdlib.h>
#include <string.h>

#include "cmd/numbers.h"
#include "learn/compile.h"
#include "learn/fold/lifetx.h"

int learn_parse_granularity(const struct cmd *cmd, const char *text, uint64_t *out)
{
	int code = numbers_count(cmd, "--granularity", text, 1, 64, out);

	if (code == CMD_OK && (*out & (*out - 1)))
		return cmd_usage(cmd, "--granularity needs 1, 2, 4, 8, 16, 32 or 64, not '%s'",
				 text);
	return code;
}

void learn_describe_site(const struct known_site *s, struct buf *out)
{
	const char *slash = strrchr(s->file, '/');

	if (*s->file && s->line)
		buf_addf(out, "%s:%u", slash ? slash + 1 : s->file, s->line);
	else
		buf_add_text(out, s->key);
	buf_addf(out, " %s", learn_access_name(s->access));
	if (*s->function && strcmp(s->function, "??") != 0 && *s->file)
		buf_addf(out, " in %s", s->function);
}

/* The sites that site `m` followed in passing runs (`seen`), or could have followed. */
static void dump_pairs(const struct known *k, uint32_t m, bool seen, const char *title,
		       struct buf *out)
{
	for (size_t i = 0; i < k->pair_count; i++)
		if (k->pairs[i].second == m && (seen ? k->pairs[i].seen > 0 :
						       !k->pairs[i].seen && k->pairs[i].expected)) {
			buf_addf(out, "    %s ", title);
			learn_describe_site(&k->sites[k->pairs[i].first], out);
			if (seen)
				buf_addf(out, " (%llu run%s)", (unsigned long long)k->pairs[i].seen,
					 k->pairs[i].seen == 1 ? "" : "s");
			buf_add_char(out, '\n');
		}
}

static void dump_site(const struct known *k, uint32_t i, const uint32_t *marks, uint64_t threshold,
		      struct buf *out)
{
	const struct known_site *s = &k->sites[i];

	buf_add_text(out, "  ");
	learn_describe_site(s, out);
	buf_addf(out, ": %llu run%s", (unsigned long long)s->runs, s->runs == 1 ? "" : "s");
	if (known_holds(s, threshold))
		buf_add_text(out, ", invariant");
	else if (s->broken)
		buf_addf(out, ", broken apart in %llu", (unsigned long long)s->broken);
	if (marks[i] & RULES_OPEN)
		buf_add_text(out, ", open");
	if (marks[i] & RULES_LATE)
		buf_add_text(out, ", never first");
	if (marks[i] & RULES_CHECK)
		buf_add_text(out, ", checked");
	if (marks[i] & RULES_IN_TX)
		buf_add_text(out, ", in a transaction");
	if (s->cuts & LIFETX_BEFORE)
		buf_add_text(out, ", cut before it");
	buf_add_char(out, '\n');
	dump_pairs(k, i, true, "follows", out);
	dump_pairs(k, i, false, "may follow", out);
}

/* A function whose runs were interleaved (`cuts`), or that is a transaction, with its sites. */
static void dump_function(const struct known *k, uint32_t f, const uint32_t *marks, struct buf *out)
{
	const struct known_site *s = &k->sites[f];

	if (!s->cuts && !(marks[f] & RULES_HOLDS_TX))
		return;
	buf_add_text(out, "  ");
	learn_describe_site(s, out);
	buf_addf(out, ":%s%s%s\n", marks[f] & RULES_HOLDS_TX ? " transaction" : "",
		 s->cuts & LIFETX_ENTRY ? " cut at entry" : "",
		 s->cuts & LIFETX_EXIT ? " cut at exit" : "");
	for (size_t i = 0; i < k->member_count; i++)
		if (k->members[i].first == f && marks[f] & RULES_HOLDS_TX) {
			buf_add_text(out, "    ");
			learn_describe_site(&k->sites[k->members[i].second], out);
			buf_add_char(out, '\n');
		}
}

void learn_dump(const struct known *k, uint64_t threshold, struct buf *out)
{
	uint32_t *marks = compile_marks(k, threshold);

	buf_addf(out, "%s: %zu run%s\n\nplaces\n", k->program, k->run_count,
		 k->run_count == 1 ? "" : "s");
	for (uint32_t i = 0; i < k->count; i++)
		if (k->sites[i].access <= LEARN_WRITE)
			dump_site(k, i, marks, threshold, out);
	buf_add_text(out, "\nfunctions\n");
	for (uint32_t i = 0; i < k->count; i++)
		if (k->sites[i].access == LEARN_FUNCTION)
			dump_function(k, i, marks, out);
	buf_add_text(out, "\nbroken apart\n");
	for (size_t i = 0; i < k->triple_count; i++) {
		const struct known_triple *t = &k->triples[i];

		buf_addf(out, "  %s ", avio_pattern_name(t->pattern));
		learn_describe_site(&k->sites[t->p], out);
		buf_add_text(out, ", ");
		learn_describe_site(&k->sites[t->r], out);
		buf_add_text(out, ", ");
		learn_describe_site(&k->sites[t->i], out);
		buf_addf(out, " (%llu)\n", (unsigned long long)t->runs);
	}
	buf_add_text(out, "\nruns: new places, broken invariants, pairs, expected pairs, cuts\n");
	for (size_t i = 0; i < k->run_count; i++) {
		const struct store_news *n = &k->runs[i].news;

		buf_addf(out, "  %zu %s: %llu %llu %llu %llu %llu\n", i + 1, k->runs[i].how,
			 (unsigned long long)n->sites, (unsigned long long)n->broken,
			 (unsigned long long)n->pairs, (unsigned long long)n->expected,
			 (unsigned long long)n->cuts);
	}
	free(marks);
}
