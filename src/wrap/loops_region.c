/*
 * Finding loops of several blocks. A candidate is what lies between a label and a jump back to it, with one way in, one
 * way out and no calls but hooks. What is run once in every turn can be told if its address is linear; all other
 * accesses have to be off. So it has a gate as a rule (loops.h), and without a list of sites it has its hooks.
 *
 * Values are followed on all ways through a turn: where two meet, what differs is not known.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "trace/format.h"
#include "wrap/hook.h"
#include "wrap/loops_region.h"

#define BLOCKS 32
#define LINES 1500		/* with directives and labels */
#define NONE (-1)
#define OUT (-2)

struct block {
	uint32_t first, last;		/* lines; the last may be a jump */
	uint32_t label;			/* its symbol; 0: it has none */
	int next[2];			/* blocks, or NONE or OUT: as the text goes on, and by a jump */
	uint32_t out;			/* the symbol of a jump out */
	bool once;			/* it is run once in each turn */
};

struct search {
	const struct loops_text *x;
	struct loops_region *r;
	unsigned count, header, latch;
	struct block block[BLOCKS];
	bool seen[BLOCKS], dirty[BLOCKS];
	struct linear_turn in[BLOCKS], start;
};

/* The code of one line, in which a jump may be. */
static bool is_known(const struct loops_text *x, uint32_t line, struct insn *in)
{
	const struct asmtext_line *l = &x->t->lines[line];

	return !l->user && insn_read(l->text, in) && in->kind != INSN_LEAVE;
}

static bool is_jump(const struct insn *in)
{
	return in->kind == INSN_BRANCH || in->kind == INSN_JUMP;
}

/* A label that something refers to. */
static uint32_t label_of(const struct loops_text *x, uint32_t line)
{
	const struct asmtext_line *l = &x->t->lines[line];
	uint32_t symbol = l->kind == ASMTEXT_LABEL ? asmtext_find(x->t, asmtext_verb(l->text)) : 0;

	return symbol && x->named[symbol] ? symbol : 0;
}

static struct block *add_block(struct search *s, uint32_t line)
{
	struct block *b = &s->block[s->count];

	if (s->count == BLOCKS)
		return NULL;
	s->count++;
	*b = (struct block){ .first = line, .label = label_of(s->x, line), .next = { NONE, NONE } };
	return b;
}

/* Splits the text; next is not known yet. */
static bool read_blocks(struct search *s)
{
	struct block *b = NULL;

	for (uint32_t i = s->r->first; i <= s->r->last; i++) {
		const struct asmtext_line *l = &s->x->t->lines[i];
		struct hook hook;
		struct insn in = { 0 };

		if (l->kind == ASMTEXT_SECTION)
			return false;
		if (l->kind == ASMTEXT_LABEL && l->user)
			return false;
		if (l->kind == ASMTEXT_DIRECTIVE && !asmtext_is(asmtext_verb(l->text), ".loc") &&
		    !asmtext_is(asmtext_verb(l->text), ".p2align"))
			return false;
		if (label_of(s->x, i) || (!b && hook_is_code(l))) {
			b = add_block(s, i);
			if (!b || s->x->t->symbols[b->label].taken)
				return false;
		}
		if (b)
			b->last = i;
		if (!hook_is_code(l) || hook_read(l, &hook))
			continue;
		if (!is_known(s->x, i, &in))
			return false;
		if (is_jump(&in))
			b = NULL;
	}
	return s->count > 0;
}

static int block_of(const struct search *s, uint32_t symbol)
{
	for (unsigned i = 0; i < s->count; i++)
		if (symbol && s->block[i].label == symbol)
			return (int)i;
	return OUT;
}

/* The jump at the end of the block, if there is one. */
static bool last_jump(const struct search *s, const struct block *b, struct insn *in)
{
	const struct asmtext_line *l = &s->x->t->lines[b->last];
	struct hook hook;

	return hook_is_code(l) && !hook_read(l, &hook) && insn_read(l->text, in) && is_jump(in);
}

static bool link_blocks(struct search *s)
{
	const struct asmtext *t = s->x->t;

	for (unsigned i = 0; i < s->count; i++) {
		struct block *b = &s->block[i];
		struct insn in = { 0 };
		bool jumps = last_jump(s, b, &in);

		if (!jumps || in.kind == INSN_BRANCH)
			b->next[0] = i + 1 < s->count ? (int)i + 1 : OUT;
		if (!jumps)
			continue;
		b->out = asmtext_find(t, in.operand[0].symbol);
		if (!b->out || t->symbols[b->out].defined != ASMTEXT_ATOM ||
		    t->symbols[b->out].atom != t->lines[s->r->first].atom)
			return false;
		b->next[1] = block_of(s, b->out);
	}
	return true;
}

/* Whether the code before the line goes on there. */
static bool falls_into(const struct asmtext *t, uint32_t line)
{
	while (line-- > 0) {
		const struct asmtext_line *l = &t->lines[line];
		struct asmtext_word verb = asmtext_verb(l->text);

		if (l->kind == ASMTEXT_SECTION)
			return true;
		if (hook_is_code(l))
			return !asmtext_is(verb, "jmp") && !asmtext_is(verb, "ret");
	}
	return true;
}

static uint32_t jumps_within(const struct search *s, uint32_t symbol)
{
	uint32_t count = 0;

	for (unsigned i = 0; i < s->count; i++)
		count += s->block[i].next[1] != NONE && s->block[i].out == symbol;
	return count;
}

/* There is one way in, … */
static bool find_header(struct search *s)
{
	bool falls = falls_into(s->x->t, s->r->first);
	unsigned entries = 0;

	s->header = 0;
	for (unsigned i = 0; i < s->count; i++) {
		const struct block *b = &s->block[i];

		if (!b->label || s->x->references[b->label] == jumps_within(s, b->label) || (falls && i == 0))
			continue;
		if (falls)
			return false;
		s->header = i;
		entries++;
	}
	return falls || entries == 1;
}

/* … and one way out, where a turn ends. */
static bool find_latch(struct search *s)
{
	unsigned exits = 0, backs = 0;

	for (unsigned i = 0; i < s->count; i++)
		for (unsigned k = 0; k < 2; k++) {
			if (s->block[i].next[k] == OUT) {
				s->latch = i;
				s->r->out = k ? s->block[i].out : 0;
				s->r->out_line = s->block[i].last;
				exits++;
			}
			backs += s->block[i].next[k] == (int)s->header;
		}
	return exits == 1 && backs == 1 &&
	       (s->block[s->latch].next[0] == (int)s->header || s->block[s->latch].next[1] == (int)s->header);
}

/* Whether `to` can be reached from behind `from` within a turn, not by way of `without`. */
static bool reaches(const struct search *s, unsigned from, unsigned to, unsigned without)
{
	bool reached[BLOCKS] = { false };
	unsigned stack[BLOCKS], depth = 0;

	stack[depth++] = from;
	while (depth > 0) {
		const struct block *b = &s->block[stack[--depth]];

		for (unsigned k = 0; k < 2; k++) {
			int next = b->next[k];

			if (next < 0 || (unsigned)next == s->header || (unsigned)next == without || reached[next])
				continue;
			reached[next] = true;
			stack[depth++] = (unsigned)next;
		}
	}
	return reached[to];
}

static void find_once(struct search *s)
{
	for (unsigned i = 0; i < s->count; i++)
		s->block[i].once = (i == s->header || i == s->latch || !reaches(s, s->header, s->latch, i)) &&
				   !reaches(s, i, i, BLOCKS);
}

/* With `note`, what is found is kept. */
static bool walk_block(struct search *s, unsigned number, struct linear_turn *turn, bool note)
{
	const struct block *b = &s->block[number];
	struct loops_loop *l = &s->r->loop;

	for (uint32_t i = b->first; i <= b->last; i++) {
		const struct asmtext_line *line = &s->x->t->lines[i];
		struct hook hook;
		struct insn in;

		if (!hook_is_code(line))
			continue;
		if (hook_read(line, &hook)) {
			if (hook.op >> 8 & TRACE_VOLATILE || (note && !loops_add(l, i, &hook, turn)))
				return false;
			if (note && !b->once)
				l->access[l->access_count - 1].at.known = false;
			linear_call(turn, hook.kept);
			continue;
		}
		if (!insn_read(line->text, &in))
			return false;
		if (is_jump(&in)) {
			if (in.reads & ~turn->flags_set)
				return false;
			continue;
		}
		if (!linear_step(turn, &in))
			return false;
		if (note && number == s->latch)
			loops_note(l, turn, line->text, &in);
	}
	return true;
}

/* All places of the stack that are named: so they have the same numbers on all ways. */
static void find_stack(struct search *s)
{
	struct linear_turn turn = s->start;

	for (uint32_t i = s->r->first; i <= s->r->last; i++) {
		const struct asmtext_line *line = &s->x->t->lines[i];
		struct hook hook;
		struct insn in;

		turn.flags_set = INSN_ALL_FLAGS;
		if (hook_is_code(line) && !hook_read(line, &hook) && insn_read(line->text, &in) && !is_jump(&in))
			(void)linear_step(&turn, &in);
	}
	s->start.stack_count = turn.stack_count;
	memcpy(s->start.stack, turn.stack, sizeof(turn.stack));
}

static void meet(struct search *s, int next, const struct linear_turn *turn)
{
	if (next < 0 || (unsigned)next == s->header)
		return;
	if (!s->seen[next]) {
		s->in[next] = *turn;
		s->seen[next] = s->dirty[next] = true;
	} else if (linear_merge(&s->in[next], turn)) {
		s->dirty[next] = true;
	}
}

/* One turn on all ways: what is known where each block begins, and at the end. */
static bool flow_turn(struct search *s)
{
	bool more = true;

	memset(s->seen, 0, sizeof(s->seen));
	memset(s->dirty, 0, sizeof(s->dirty));
	s->in[s->header] = s->start;
	s->seen[s->header] = s->dirty[s->header] = true;
	while (more) {
		more = false;
		for (unsigned i = 0; i < s->count; i++) {
			struct linear_turn turn;

			if (!s->dirty[i])
				continue;
			s->dirty[i] = false;
			more = true;
			turn = s->in[i];
			if (!walk_block(s, i, &turn, false))
				return false;
			if (i == s->latch)
				s->r->end = turn;
			meet(s, s->block[i].next[0], &turn);
			meet(s, s->block[i].next[1], &turn);
		}
	}
	return s->seen[s->latch];
}

/* Until nothing new is tainted. */
static bool flow(struct search *s)
{
	bool more;

	linear_init(&s->start, s->r->follow_stack);
	find_stack(s);
	do {
		more = false;
		if (!flow_turn(s))
			return false;
		for (unsigned i = 0; i < LINEAR_VARIABLES; i++) {
			more |= s->r->end.tainted[i] && !s->start.tainted[i];
			s->start.tainted[i] |= s->r->end.tainted[i];
		}
	} while (more);
	return true;
}

/* How many blocks that are run once come behind this one in a turn: the more, the earlier it is. */
static unsigned behind(const struct search *s, unsigned number)
{
	unsigned count = 0;

	for (unsigned i = 0; i < s->count; i++)
		count += i != number && s->block[i].once && reaches(s, number, i, BLOCKS);
	return count;
}

/* Accesses in the order of a turn; those that may be left out or come often, behind them. */
static bool note_all(struct search *s)
{
	s->r->loop.access_count = 0;
	for (unsigned left = s->count; left-- > 0;)
		for (unsigned i = 0; i < s->count; i++) {
			struct linear_turn turn = s->in[i];

			if (s->seen[i] && s->block[i].once && behind(s, i) == left && !walk_block(s, i, &turn, true))
				return false;
		}
	for (unsigned i = 0; i < s->count; i++) {
		struct linear_turn turn = s->in[i];

		if (!s->seen[i] || (!s->block[i].once && !walk_block(s, i, &turn, true)))
			return false;
	}
	return true;
}

static bool ends_plainly(const struct search *s)
{
	struct insn jump;

	return last_jump(s, &s->block[s->latch], &jump) && jump.kind == INSN_BRANCH && !s->r->end.flags_tainted &&
	       loops_flags_are_dead(s->x->t, s->r->out ? s->x->t->symbols[s->r->out].line : s->r->last + 1);
}

static bool find(struct search *s)
{
	struct loops_region *r = s->r;

	if (!read_blocks(s) || s->count < 2 || !link_blocks(s) || !find_header(s) || !find_latch(s))
		return false;
	find_once(s);
	r->header = s->block[s->header].first;
	r->loop.head = r->first;
	r->loop.jump = r->last;
	r->loop.turn = &r->end;
	return s->block[s->header].label && flow(s) && ends_plainly(s) && note_all(s) && loops_settle(&r->loop);
}

bool loops_region_find(struct loops_region *r, const struct loops_text *x, uint32_t first, uint32_t last, bool follow_stack)
{
	struct search *s;
	bool found;

	if (last - first > LINES)
		return false;
	s = xcalloc(1, sizeof(*s));
	*r = (struct loops_region){ .first = first, .last = last, .follow_stack = follow_stack };
	s->x = x;
	s->r = r;
	found = find(s);
	free(s);
	return found;
}
