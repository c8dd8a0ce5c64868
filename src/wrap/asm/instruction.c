#include "wrap/asm/instruction.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#define ALL INSN_ALL_FLAGS
#define MAYBE 0x80	/* flags may change: a shift by 0 keeps them, a division undefines them */

/* A mnemonic. */
struct name {
	const char *text;
	uint8_t kind;		/* enum insn_kind */
	uint8_t sets;		/* flags, or MAYBE */
	bool sized;		/* a suffix b, w, l or q may follow */
};

static const struct name names[] = {
	{ "mov", INSN_MOVE, 0, true },
	{ "movabs", INSN_MOVE, 0, true },
	{ "lea", INSN_LEA, 0, true },
	{ "add", INSN_ADD, ALL, true },
	{ "sub", INSN_SUB, ALL, true },
	{ "inc", INSN_INC, INSN_OTHER_FLAGS, true },
	{ "dec", INSN_DEC, INSN_OTHER_FLAGS, true },
	{ "neg", INSN_NEG, ALL, true },
	{ "shl", INSN_SHL, MAYBE, true },
	{ "sal", INSN_SHL, MAYBE, true },
	{ "xor", INSN_XOR, ALL, true },
	{ "cmp", INSN_COMPARE, ALL, true },
	{ "test", INSN_COMPARE, ALL, true },
	{ "and", INSN_CHANGE, ALL, true },
	{ "or", INSN_CHANGE, ALL, true },
	{ "not", INSN_CHANGE, 0, true },
	{ "shr", INSN_CHANGE, MAYBE, true },
	{ "sar", INSN_CHANGE, MAYBE, true },
	{ "rol", INSN_CHANGE, MAYBE, true },
	{ "ror", INSN_CHANGE, MAYBE, true },
	{ "bswap", INSN_CHANGE, 0, true },
	{ "imul", INSN_CHANGE, ALL, true },	/* INSN_WIDE with one operand */
	{ "mul", INSN_WIDE, ALL, true },
	{ "div", INSN_WIDE, MAYBE, true },
	{ "idiv", INSN_WIDE, MAYBE, true },
	{ "cltq", INSN_ACC, 0, false },
	{ "cwtl", INSN_ACC, 0, false },
	{ "cqto", INSN_SIGN, 0, false },
	{ "cltd", INSN_SIGN, 0, false },
	{ "movzbw", INSN_SET, 0, false },
	{ "movzbl", INSN_SET, 0, false },
	{ "movzbq", INSN_SET, 0, false },
	{ "movzwl", INSN_SET, 0, false },
	{ "movzwq", INSN_SET, 0, false },
	{ "movsbw", INSN_SET, 0, false },
	{ "movsbl", INSN_SET, 0, false },
	{ "movsbq", INSN_SET, 0, false },
	{ "movswl", INSN_SET, 0, false },
	{ "movswq", INSN_SET, 0, false },
	{ "movslq", INSN_SET, 0, false },
	{ "nop", INSN_NOTHING, 0, true },
	{ "endbr64", INSN_NOTHING, 0, false },
	{ "vzeroupper", INSN_NOTHING, 0, false },
	{ "jmp", INSN_JUMP, 0, true },
	{ "call", INSN_LEAVE, ALL, true },
	{ "ret", INSN_LEAVE, ALL, true },
	{ "comisd", INSN_COMPARE, ALL, false },
	{ "comiss", INSN_COMPARE, ALL, false },
	{ "ucomisd", INSN_COMPARE, ALL, false },
	{ "ucomiss", INSN_COMPARE, ALL, false },
	{ "vcomisd", INSN_COMPARE, ALL, false },
	{ "vcomiss", INSN_COMPARE, ALL, false },
	{ "vucomisd", INSN_COMPARE, ALL, false },
	{ "vucomiss", INSN_COMPARE, ALL, false },
};

static const char *const conditions[] = {
	"o", "no", "b", "c", "nae", "ae", "nb", "nc", "e", "z", "ne", "nz", "be", "na", "a", "nbe",
	"s", "ns", "p", "pe", "np", "po", "l", "nge", "ge", "nl", "le", "ng", "g", "nle",
};

static bool is_condition(struct asmtext_word w)
{
	for (size_t i = 0; i < ARRAY_SIZE(conditions); i++)
		if (asmtext_is(w, conditions[i]))
			return true;
	return false;
}

static bool needs_carry(struct asmtext_word condition)
{
	return memchr(condition.at, 'b', condition.size) ||
	       memchr(condition.at, 'a', condition.size) ||
	       memchr(condition.at, 'c', condition.size);
}

/* The word without its first `skip` bytes. */
static struct asmtext_word behind(struct asmtext_word w, uint32_t skip)
{
	return (struct asmtext_word){ w.at + skip, w.size - skip };
}

/* Bytes that the suffix of a mnemonic stands for; 0: it is no suffix. */
static unsigned suffix_size(char c)
{
	switch (c) {
	case 'b':
		return 1;
	case 'w':
		return 2;
	case 'l':
		return 4;
	case 'q':
		return 8;
	}
	return 0;
}

/* Reads r8 to r15, each with suffix b, w, d or none. */
static bool read_new_register(struct asmtext_word w, struct insn_operand *o)
{
	unsigned number = 0;
	uint32_t at = 1;

	while (at < w.size && at < 3 && w.at[at] >= '0' && w.at[at] <= '9')
		number = number * 10 + (unsigned)(w.at[at++] - '0');
	if (w.at[0] != 'r' || at == 1 || w.at[1] == '0' || number < 8 || number > 15 ||
	    w.size > at + 1)
		return false;
	o->reg = (uint8_t)number;
	o->size = 8;
	if (w.size == at + 1) {
		if (!strchr("bwd", w.at[at]))
			return false;
		o->size = w.at[at] == 'b' ? 1 : w.at[at] == 'w' ? 2 : 4;
	}
	return true;
}

static bool read_general(struct asmtext_word w, struct insn_operand *o)
{
	static const char *const wide[] = { "ax", "cx", "dx", "bx", "sp", "bp", "si", "di" };
	static const char *const low[] = { "al", "cl", "dl", "bl", "spl", "bpl", "sil", "dil" };
	static const char *const high[] = { "ah", "ch", "dh", "bh" };

	for (uint8_t i = 0; i < 8; i++) {
		bool word = asmtext_is(w, wide[i]);
		bool longer = w.size == 3 && (w.at[0] == 'r' || w.at[0] == 'e') &&
			      asmtext_is(behind(w, 1), wide[i]);

		if (!word && !longer && !asmtext_is(w, low[i]) &&
		    !(i < 4 && asmtext_is(w, high[i])))
			continue;
		o->reg = i;
		o->size = word ? 2 : !longer ? 1 : w.at[0] == 'r' ? 8 : 4;
		return true;
	}
	return w.size >= 2 && read_new_register(w, o);
}

/* Reads a register's name, without the %. */
static bool read_register(struct asmtext_word w, struct insn_operand *o)
{
	if (asmtext_starts(w, "xmm") || asmtext_starts(w, "ymm") || asmtext_starts(w, "zmm")) {
		o->kind = INSN_VECTOR;
		o->size = w.at[0] == 'x' ? 16 : w.at[0] == 'y' ? 32 : 64;
		/* An AVX-512 mask such as {%k1} would follow the number. */
		if (w.size < 4 || w.size > 5 || w.at[w.size - 1] > '9')
			return false;
		o->reg = (uint8_t)(w.at[w.size - 1] - '0' +
				   (w.size == 5 ? 10 * (w.at[3] - '0') : 0));
		return true;
	}
	o->kind = INSN_REGISTER;
	return read_general(w, o);
}

static bool is_number_part(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F') ||
	       c == 'x' || c == 'X';
}

/* Takes a number of at most 64 bits from the start of *w. */
static bool take_number(struct asmtext_word *w, int64_t *value)
{
	char text[24];
	uint32_t size = 0;
	char *end;

	while (size < w->size && (is_number_part(w->at[size]) || (size == 0 && w->at[0] == '-')))
		size++;
	if (size == 0 || size >= sizeof(text))
		return false;
	memcpy(text, w->at, size);
	text[size] = '\0';
	*value = (int64_t)(text[0] == '-' ? 0 - strtoull(text + 1, &end, 0)
					  : strtoull(text, &end, 0));
	*w = behind(*w, size);
	return *end == '\0' && end > text + (text[0] == '-');
}

static bool begins_number(struct asmtext_word w)
{
	return w.size && ((w.at[0] >= '0' && w.at[0] <= '9') || w.at[0] == '-');
}

/* Takes symbol or symbol@GOTPCREL from the start of *w. */
static void take_symbol(struct asmtext_word *w, struct insn_operand *o)
{
	uint32_t size = 0;

	while (size < w->size && w->at[size] != '+' && w->at[size] != '-' && w->at[size] != '@')
		size++;
	o->symbol = (struct asmtext_word){ w->at, size };
	*w = behind(*w, size);
	if (w->size && w->at[0] == '@') {
		o->got = asmtext_is(*w, "@GOTPCREL") && o->number == 0;
		o->opaque = !o->got;	/* such as @tpoff: a value that the linker makes */
		*w = behind(*w, w->size);
	}
}

/* Reads a sum of one symbol and numbers: gcc writes 8+symbol, clang symbol+8. */
static bool read_value(struct asmtext_word w, struct insn_operand *o)
{
	int64_t number;

	while (w.size) {
		if (w.at[0] == '+')
			w = behind(w, 1);
		if (begins_number(w)) {
			if (!take_number(&w, &number))
				return false;
			o->number = (int64_t)((uint64_t)o->number + (uint64_t)number);
		} else if (w.size == 0 || o->symbol.size) {
			return false;
		} else {
			take_symbol(&w, o);
		}
		if (w.size && w.at[0] != '+' && w.at[0] != '-')
			return false;
	}
	return true;
}

static struct asmtext_word trim(struct asmtext_word w)
{
	while (w.size && (*w.at == ' ' || *w.at == '\t'))
		w = behind(w, 1);
	while (w.size && (w.at[w.size - 1] == ' ' || w.at[w.size - 1] == '\t'))
		w.size--;
	return w;
}

/* Takes the part up to a comma from *rest, with the comma. */
static struct asmtext_word take_part(struct asmtext_word *rest)
{
	const char *comma = memchr(rest->at, ',', rest->size);
	struct asmtext_word part = *rest;

	if (comma)
		part.size = (uint32_t)(comma - rest->at);
	*rest = behind(*rest, part.size + (comma ? 1 : 0));
	return trim(part);
}

/* Reads base or index of an address; an empty word leaves *reg unchanged. */
static bool read_address_register(struct asmtext_word w, uint8_t *reg)
{
	struct insn_operand o = { 0 };

	if (w.size == 0)
		return true;
	if (asmtext_is(w, "%rip")) {
		*reg = INSN_RIP;
		return true;
	}
	if (w.at[0] != '%' || !read_register(behind(w, 1), &o) || o.kind != INSN_REGISTER ||
	    o.size != 8)
		return false;
	*reg = o.reg;
	return true;
}

static bool read_memory(struct asmtext_word w, struct insn_operand *o)
{
	const char *open = memchr(w.at, '(', w.size);
	struct asmtext_word inner, scale;

	o->kind = INSN_MEMORY;
	o->reg = o->index = INSN_NONE;
	o->scale = 1;
	if (w.at[0] == '%') {
		const char *colon = memchr(w.at, ':', w.size);

		if (!colon)
			return false;
		o->opaque = true;
		w = behind(w, (uint32_t)(colon + 1 - w.at));
	}
	if (!open)
		return read_value(w, o);
	if (w.at[w.size - 1] != ')')
		return false;
	inner = (struct asmtext_word){ open + 1, (uint32_t)(w.at + w.size - 1 - (open + 1)) };
	if (!read_value((struct asmtext_word){ w.at, (uint32_t)(open - w.at) }, o) ||
	    !read_address_register(take_part(&inner), &o->reg) ||
	    !read_address_register(take_part(&inner), &o->index))
		return false;
	scale = trim(inner);
	if (scale.size == 0)
		return true;
	o->scale = (uint8_t)(scale.at[0] - '0');
	return scale.size == 1 && strchr("1248", scale.at[0]) != NULL;
}

static bool read_operand(struct asmtext_word w, struct insn_operand *o)
{
	*o = (struct insn_operand){ .reg = INSN_NONE, .index = INSN_NONE, .scale = 1 };
	if (w.size == 0)
		return false;
	if (w.at[0] == '$') {
		o->kind = INSN_IMMEDIATE;
		return w.size > 1 && read_value(behind(w, 1), o);
	}
	if (w.at[0] == '%' && !memchr(w.at, ':', w.size))
		return w.size > 2 && read_register(behind(w, 1), o);
	return read_memory(w, o);
}

/* Splits the operands at commas outside of parentheses. */
static bool read_operands(struct asmtext_word rest, struct insn *in)
{
	while (rest.size) {
		uint32_t at = 0, depth = 0;

		for (; at < rest.size && (depth > 0 || rest.at[at] != ','); at++)
			depth += (rest.at[at] == '(') - (uint32_t)(rest.at[at] == ')');
		if (in->count == ARRAY_SIZE(in->operand) ||
		    !read_operand(trim((struct asmtext_word){ rest.at, at }),
				  &in->operand[in->count]))
			return false;
		in->count++;
		if (at == rest.size)
			return true;
		rest = behind(rest, at + 1);
		if (trim(rest).size == 0)
			return false;
	}
	return true;
}

static bool has_vector(const struct insn *in)
{
	for (size_t i = 0; i < in->count; i++)
		if (in->operand[i].kind == INSN_VECTOR)
			return true;
	return false;
}

static bool starts_with_one_of(struct asmtext_word verb, const char *const *list, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (asmtext_starts(verb, list[i]))
			return true;
	return false;
}

/* Bytes that a vector instruction stores to memory; 64, an upper limit, if unknown. */
static uint8_t store_size(struct asmtext_word verb, const struct insn *in)
{
	static const char *const of_8[] = { "movsd", "movlp", "movhp", "movq" };
	static const char *const of_4[] = { "movss", "movd" };

	if (verb.at[0] == 'v')
		verb = behind(verb, 1);
	if (starts_with_one_of(verb, of_8, ARRAY_SIZE(of_8)))
		return 8;
	for (size_t i = 0; i < ARRAY_SIZE(of_4); i++)
		if (asmtext_is(verb, of_4[i]))
			return 4;
	return asmtext_starts(verb, "mov") ? in->operand[0].size : 64;
}

/* Classifies an instruction with a vector register: accepted if it writes only its last operand. */
static bool classify_vector(struct asmtext_word verb, struct insn *in)
{
	static const char *const out[] = {
		"mov", "vmov", "cvt", "vcvt", "pextr", "vpextr", "extract", "vextract", "pmovmsk",
		"vpmovmsk",
	};
	const struct insn_operand *last = &in->operand[in->count - 1];

	/* pcmpestri and its kin, vptest, maskmovdqu: they write flags or other memory. */
	if (memmem(verb.at, verb.size, "str", 3) || memmem(verb.at, verb.size, "test", 4) ||
	    memmem(verb.at, verb.size, "maskmov", 7) || memmem(verb.at, verb.size, "comi", 4))
		return false;
	in->size = 64;
	in->kind = INSN_SET;
	if (last->kind == INSN_VECTOR)
		return true;
	if (last->kind == INSN_IMMEDIATE || !starts_with_one_of(verb, out, ARRAY_SIZE(out)))
		return false;
	in->size = last->kind == INSN_REGISTER ? last->size : store_size(verb, in);
	return true;
}

/* Classifies setCC, cmovCC and jCC. */
static bool classify_condition(struct asmtext_word verb, struct insn *in)
{
	in->reads = INSN_ALL_FLAGS;
	if (verb.at[0] == 'j' && is_condition(behind(verb, 1))) {
		in->kind = INSN_BRANCH;
		if (!needs_carry(behind(verb, 1)))
			in->reads = INSN_OTHER_FLAGS;
		return in->count == 1;
	}
	if (asmtext_starts(verb, "set") && is_condition(behind(verb, 3))) {
		in->kind = INSN_CHANGE;		/* the register's other bytes stay */
		in->size = 1;
		return in->count == 1;
	}
	if (!asmtext_starts(verb, "cmov") || in->count != 2 || in->operand[1].kind != INSN_REGISTER)
		return false;
	in->kind = INSN_CHANGE;
	in->size = in->operand[1].size;
	verb = behind(verb, 4);
	if (is_condition(verb))
		return true;
	verb.size--;
	return suffix_size(verb.at[verb.size]) == in->size && is_condition(verb);
}

static bool classify(struct asmtext_word verb, struct insn *in)
{
	unsigned suffix = suffix_size(verb.at[verb.size - 1]);
	struct asmtext_word stem = { verb.at, verb.size - 1 };
	const struct insn_operand *last;

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		bool whole = asmtext_is(verb, names[i].text);

		if (!whole && !(names[i].sized && suffix && asmtext_is(stem, names[i].text)))
			continue;
		if (has_vector(in) && names[i].kind != INSN_COMPARE)
			break;		/* such as movq %xmm0,%rax */
		in->kind = names[i].kind;
		in->sets = names[i].sets & ALL;
		in->maybe_sets = names[i].sets & MAYBE;
		in->size = whole ? 0 : (uint8_t)suffix;
		if (in->count == 0)
			return in->kind >= INSN_ACC;
		last = &in->operand[in->count - 1];
		if (in->size == 0 && last->kind == INSN_REGISTER)
			in->size = last->size;
		if (in->size == 0)
			in->size = 64;
		if (in->kind == INSN_CHANGE && asmtext_starts(verb, "imul") && in->count == 1)
			in->kind = INSN_WIDE;
		if (in->kind == INSN_CHANGE && in->count == 3)
			in->kind = INSN_SET;	/* such as imul $3,%rax,%rcx */
		if (in->kind == INSN_SET && last->kind == INSN_REGISTER)
			in->size = last->size;
		if (in->kind == INSN_WIDE)
			return in->count == 1;
		return in->kind == INSN_COMPARE || last->kind != INSN_IMMEDIATE;
	}
	return in->count > 0 &&
	       (has_vector(in) ? classify_vector(verb, in) : classify_condition(verb, in));
}

static struct asmtext_word without_comment(struct asmtext_word line)
{
	const char *comment = memchr(line.at, '#', line.size);

	if (comment)
		line.size = (uint32_t)(comment - line.at);
	return trim(line);
}

bool insn_read(struct asmtext_word line, struct insn *in)
{
	struct asmtext_word verb, rest;

	line = without_comment(line);
	verb = asmtext_verb(line);
	*in = (struct insn){ 0 };
	if (verb.size < 2 || memchr(line.at, ';', line.size) || memchr(line.at, '{', line.size))
		return false;
	rest = trim(behind(line, (uint32_t)(verb.at + verb.size - line.at)));
	/* Operands of these are code addresses, or have no effect. */
	if (asmtext_starts(verb, "call") || asmtext_starts(verb, "jmp") ||
	    asmtext_starts(verb, "ret") || asmtext_starts(verb, "nop")) {
		if (rest.size && rest.at[0] == '*' && verb.at[0] == 'j')
			return false;
		in->count = verb.at[0] == 'j';
		if (in->count && !read_operand(rest, &in->operand[0]))
			return false;
		in->count = 0;
		return classify(verb, in);
	}
	return read_operands(rest, in) && classify(verb, in);
}
