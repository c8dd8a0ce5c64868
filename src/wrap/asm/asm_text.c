#include "wrap/asm/asm_text.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#define MAX_PUSHED 16	/* sections on the stack of .pushsection; compilers push one or two */

/* State while parsing. */
struct reading {
	struct asmtext *t;
	uint32_t section, before;	/* the current section and, for .previous, the one before */
	uint32_t stack[MAX_PUSHED];	/* of .pushsection */
	size_t depth;			/* entries of stack */
	bool user;			/* in inline assembly */
};

static bool is_one_of(struct asmtext_word word, const char *const *list, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (asmtext_is(word, list[i]))
			return true;
	return false;
}

uint32_t asmtext_find(const struct asmtext *t, struct asmtext_word name)
{
	const uint64_t *at = strmap_find(&t->by_name, name.at, name.size);

	return at ? (uint32_t)*at : 0;
}

/* Returns the symbol of that name, new if need be. */
static uint32_t intern(struct asmtext *t, struct asmtext_word name)
{
	bool added;
	uint64_t *at = strmap_put(&t->by_name, name.at, name.size, &added);

	if (!added)
		return (uint32_t)*at;
	*at = t->symbol_count;
	t->symbols = xgrow(t->symbols, t->symbol_count, &t->symbol_room, sizeof(*t->symbols));
	t->symbols[t->symbol_count] = (struct asmtext_symbol){ .name = name };
	return (uint32_t)t->symbol_count++;
}

static uint32_t add_atom(struct asmtext *t, uint32_t section, uint32_t symbol, uint32_t line)
{
	t->atoms = xgrow(t->atoms, t->atom_count, &t->atom_room, sizeof(*t->atoms));
	t->atoms[t->atom_count] = (struct asmtext_atom){ .section = section,
							 .symbol = symbol,
							 .first = line,
							 .last = line,
							 .label = line,
							 .labels_only = true };
	return (uint32_t)t->atom_count++;
}

/* Takes the first operand from *rest: it ends at a comma or blank, and is returned unquoted. */
static struct asmtext_word take_operand(struct asmtext_word *rest)
{
	const char *end = rest->at + rest->size, *at = rest->at, *from;
	bool quoted;

	while (at < end && (*at == ' ' || *at == '\t' || *at == ','))
		at++;
	quoted = at < end && *at == '"';
	from = at += quoted;
	while (at < end &&
	       (quoted ? *at != '"' : *at != ',' && *at != ' ' && *at != '\t' && *at != '#'))
		at++;
	rest->at = at + (quoted && at < end);
	rest->size = (uint32_t)(end - rest->at);
	return (struct asmtext_word){ from, (uint32_t)(at - from) };
}

/* What follows the verb in the line. */
static struct asmtext_word operands(struct asmtext_word line, struct asmtext_word verb)
{
	const char *from = verb.at + verb.size;

	return (struct asmtext_word){ from, (uint32_t)(line.at + line.size - from) };
}

/* Sets the flags that GNU as gives to a section of this name by default. */
static void flags_by_name(struct asmtext_section *s)
{
	static const char *const not_loaded[] = { ".comment", ".note.GNU-stack", ".llvm_addrsig" };

	s->exec = asmtext_starts(s->name, ".text");
	s->debug = asmtext_starts(s->name, ".debug_");
	s->write = asmtext_starts(s->name, ".data") || asmtext_starts(s->name, ".bss") ||
		   asmtext_starts(s->name, ".tdata") || asmtext_starts(s->name, ".tbss") ||
		   asmtext_starts(s->name, ".init_array") || asmtext_starts(s->name, ".fini_array");
	s->alloc = !s->debug && !is_one_of(s->name, not_loaded, ARRAY_SIZE(not_loaded));
}

static void flags_by_text(struct asmtext_section *s, struct asmtext_word flags)
{
	s->exec = memchr(flags.at, 'x', flags.size);
	s->write = memchr(flags.at, 'w', flags.size);
	s->alloc = memchr(flags.at, 'a', flags.size);
	s->debug = !s->alloc && asmtext_starts(s->name, ".debug_");
}

/*
 * Returns the section of that name and group, or 0: sections of one name in different groups are
 * different. A directive without flags names no group and means the last section of the name.
 */
static uint32_t find_section(const struct asmtext *t, struct asmtext_word name,
			     struct asmtext_word group, bool flags)
{
	for (size_t i = t->section_count; i-- > 1;)
		if (asmtext_same(t->sections[i].name, name) &&
		    (!flags || asmtext_same(t->sections[i].group, group)))
			return (uint32_t)i;
	return 0;
}

/* Returns the section that a directive names, new if need be; `rest` is behind the name. */
static uint32_t enter_section(struct asmtext *t, struct asmtext_word name,
			      struct asmtext_word rest, struct asmtext_word line)
{
	struct asmtext_section s = { .name = name, .line = line, .pending = SIZE_MAX };
	struct asmtext_word flags = take_operand(&rest), word;
	uint32_t found;

	if (flags.size && memchr(flags.at, 'G', flags.size)) {
		take_operand(&rest);	/* the type */
		if (memchr(flags.at, 'M', flags.size))
			take_operand(&rest);
		s.group = take_operand(&rest);
	}
	found = find_section(t, name, s.group, flags.size > 0);
	if (found)
		return found;
	/* Quotes mean that there are flags: clang writes "" for a section with none. */
	word = (struct asmtext_word){ name.at + name.size, 0 };
	word.size = (uint32_t)(line.at + line.size - word.at);
	if (memchr(word.at, '"', word.size) && asmtext_starts(line, "\t.section"))
		flags_by_text(&s, flags);
	else
		flags_by_name(&s);
	t->sections = xgrow(t->sections, t->section_count, &t->section_room, sizeof(*t->sections));
	t->sections[t->section_count] = s;
	return (uint32_t)t->section_count++;
}

static void change_section(struct reading *r, uint32_t to)
{
	r->before = r->section;
	r->section = to;
}

/* Handles a directive that changes the section; false if the line is none. */
static bool read_section(struct reading *r, struct asmtext_word verb, struct asmtext_word line)
{
	static const char *const plain[] = { ".text", ".data", ".bss" };
	struct asmtext_word rest = operands(line, verb), name;

	if (is_one_of(verb, plain, ARRAY_SIZE(plain))) {
		change_section(
			r, enter_section(r->t, verb, (struct asmtext_word){ verb.at, 0 }, line));
	} else if (asmtext_is(verb, ".section") || asmtext_is(verb, ".pushsection")) {
		if (asmtext_is(verb, ".pushsection") && r->depth < MAX_PUSHED)
			r->stack[r->depth++] = r->section;
		name = take_operand(&rest);
		change_section(r, enter_section(r->t, name, rest, line));
	} else if (asmtext_is(verb, ".popsection")) {
		if (r->depth > 0)
			change_section(r, r->stack[--r->depth]);
	} else if (asmtext_is(verb, ".previous")) {
		change_section(r, r->before);
	} else {
		return false;
	}
	return true;
}

/* Assigns the pending lines of the section to the atom that now begins. */
static void assign_pending(struct asmtext *t, uint32_t section, uint32_t atom)
{
	struct asmtext_section *s = &t->sections[section];

	for (size_t i = s->pending; i < t->line_count; i++) {
		struct asmtext_line *l = &t->lines[i];

		if (l->section != section || l->atom || l->kind != ASMTEXT_DIRECTIVE)
			continue;
		l->atom = atom;
		if (i < t->atoms[atom].first)
			t->atoms[atom].first = (uint32_t)i;
	}
	s->pending = SIZE_MAX;
}

static bool digit_at(struct asmtext_word w, size_t i)
{
	return i < w.size && w.at[i] >= '0' && w.at[i] <= '9';
}

/*
 * Whether this label begins an exception table. A table has many labels inside, of which none may
 * begin an atom.
 */
static bool begins_table(struct asmtext_word name)
{
	return (asmtext_starts(name, ".LLSDA") && (digit_at(name, 6) ||
		(name.size > 7 && name.at[6] == 'C' && digit_at(name, 7)))) ||
	       asmtext_starts(name, "GCC_except_table") || asmtext_starts(name, ".Lexception");
}

/* Whether a label in the section begins an atom, rather than belonging to the open one. */
static bool begins_atom(const struct asmtext *t, const struct asmtext_section *s,
			struct asmtext_word name)
{
	if (!s->alloc)
		return false;
	if (s->exec)
		return !asmtext_local(name);
	if (asmtext_starts(s->name, ".gcc_except_table") && !begins_table(name))
		return false;
	return !(s->open && t->atoms[s->open].labels_only);
}

static void define(struct asmtext *t, uint32_t symbol, enum asmtext_defined how, uint32_t atom,
		   uint32_t line)
{
	struct asmtext_symbol *s = &t->symbols[symbol];

	s->defined = (uint8_t)how;
	s->atom = atom;
	s->line = line;
}

static void read_label(struct reading *r, struct asmtext_word name, struct asmtext_line *l)
{
	struct asmtext *t = r->t;
	uint32_t symbol = intern(t, name), line = (uint32_t)t->line_count;
	struct asmtext_section *s = &t->sections[r->section];

	l->kind = ASMTEXT_LABEL;
	if (begins_atom(t, s, name)) {
		s->open = s->last = add_atom(t, r->section, symbol, line);
		assign_pending(t, r->section, s->open);
	}
	if (s->open) {
		struct asmtext_atom *a = &t->atoms[s->open];

		l->atom = s->open;
		if (asmtext_local(t->symbols[a->symbol].name) && !asmtext_local(name) &&
		    a->labels_only) {
			a->symbol = symbol;
			a->label = line;
		}
	}
	define(t, symbol, ASMTEXT_ATOM, s->open, line);
}

/*
 * Handles directives that declare or define symbols. True: the symbols in this line are no
 * references.
 */
static bool read_declaration(struct reading *r, struct asmtext_word verb, struct asmtext_word line)
{
	static const char *const symbol_only[] = {
		".type", ".size", ".hidden", ".protected", ".internal", ".local", ".loc", ".file",
		".ident", ".symver", ".addrsig", ".addrsig_sym", ".globl", ".global", ".weak",
	};
	struct asmtext *t = r->t;
	struct asmtext_word rest = operands(line, verb), name;
	uint32_t at = (uint32_t)t->line_count, symbol;

	if (asmtext_is(verb, ".globl") || asmtext_is(verb, ".global") ||
	    asmtext_is(verb, ".weak")) {
		symbol = intern(t, take_operand(&rest));
		t->symbols[symbol].global = true;
	} else if (asmtext_is(verb, ".comm") || asmtext_is(verb, ".lcomm")) {
		define(t, intern(t, take_operand(&rest)), ASMTEXT_COMMON, 0, at);
		return true;
	} else if (asmtext_is(verb, ".set") || asmtext_is(verb, ".equ")) {
		name = take_operand(&rest);
		define(t, intern(t, name), ASMTEXT_SET, 0, at);
		return true;
	}
	return is_one_of(verb, symbol_only, ARRAY_SIZE(symbol_only));
}

/* Directives that, in data sections, stand before the label of the symbol that they are about. */
static bool precedes_symbol(struct asmtext_word verb)
{
	static const char *const list[] = {
		".align", ".p2align", ".balign", ".type", ".globl", ".global", ".weak", ".hidden",
		".protected", ".internal", ".local", ".comm",
	};

	return is_one_of(verb, list, ARRAY_SIZE(list));
}

/* Adds the references and labels in a line. `jump`: it is a call or jump. */
static void read_refs(struct asmtext *t, const struct asmtext_line *l, bool jump)
{
	const struct asmtext_section *s = &t->sections[l->section];
	const char *at = l->text.at;
	struct asmtext_word word;
	bool label;

	while (asmtext_next(l->text, &at, &word, &label)) {
		uint32_t symbol;

		if (label) {
			if (asmtext_local(word))
				define(t, intern(t, word), ASMTEXT_ATOM, l->atom,
				       (uint32_t)t->line_count);
			else if (l->atom)
				t->atoms[l->atom].defines_symbol = true;
			continue;
		}
		symbol = intern(t, word);
		t->symbols[symbol].address_taken |= !jump;
		if (!l->atom)
			continue;
		t->atoms[l->atom].has_refs |= !s->exec;
		t->refs = xgrow(t->refs, t->ref_count, &t->ref_room, sizeof(*t->refs));
		t->refs[t->ref_count++] = (struct asmtext_ref){ l->atom, symbol };
	}
}

/* Assigns the line to the open atom of its section, or makes it pending. */
static void assign_atom(struct asmtext *t, struct asmtext_line *l, struct asmtext_word verb)
{
	struct asmtext_section *s = &t->sections[l->section];

	if (!s->alloc)
		return;
	if (!s->exec && s->open && precedes_symbol(verb) &&
	    !asmtext_starts(s->name, ".gcc_except_table"))
		s->open = 0;
	l->atom = s->open;
	if (!l->atom && asmtext_is(verb, ".cfi_endproc"))
		l->atom = s->last;	/* clang writes it behind .size, which closes the atom */
	if (!l->atom) {
		if (s->pending == SIZE_MAX)
			s->pending = t->line_count;
		return;
	}
	t->atoms[l->atom].labels_only = false;
	if (asmtext_is(verb, ".size"))
		s->open = 0;
}

static bool has_comment(struct asmtext_word line, const char *text)
{
	return memmem(line.at, line.size, text, strlen(text));
}

/* Compilers mark the beginning and the end of inline assembly by comments. */
static void read_comment(struct reading *r, struct asmtext_word line, const char *at)
{
	struct asmtext_word comment = { at, (uint32_t)(line.at + line.size - at) };

	if (asmtext_starts(comment, "#APP") || has_comment(comment, "Start of file scope inline"))
		r->user = true;
	else if (asmtext_starts(comment, "#NO_APP") ||
		 has_comment(comment, "End of file scope inline"))
		r->user = false;
}

static int read_line(struct reading *r, struct asmtext_line *l, struct err *err)
{
	static const char *const unsupported[] = {
		".intel_syntax", ".macro", ".include", ".rept", ".irp", ".subsection", ".altmacro",
	};
	struct asmtext *t = r->t;
	struct asmtext_word verb = asmtext_verb(l->text);
	const char *end = l->text.at + l->text.size;

	l->section = r->section;
	l->user = r->user;
	if (verb.size == 0 && verb.at < end && *verb.at == '#')
		read_comment(r, l->text, verb.at);
	if (verb.size == 0 && !r->user)
		return 0;
	if (r->user) {
		/* gcc puts labels of its own before #NO_APP. */
		l->kind = ASMTEXT_CODE;
		if (asmtext_local(verb) && verb.at + verb.size + 1 == end &&
		    verb.at[verb.size] == ':')
			l->kind = ASMTEXT_LABEL;
		assign_atom(t, l, verb);
		read_refs(t, l, false);
		return 0;
	}
	if (is_one_of(verb, unsupported, ARRAY_SIZE(unsupported)))
		return err_set(err, "the compiler's assembly has '%.*s', which snarl does not read",
			       (int)verb.size, verb.at);
	if (verb.at + verb.size < end && verb.at[verb.size] == ':') {
		read_label(r, verb, l);
	} else if (read_section(r, verb, l->text)) {
		l->kind = ASMTEXT_SECTION;
	} else {
		l->kind = verb.at[0] == '.' ? ASMTEXT_DIRECTIVE : ASMTEXT_CODE;
		assign_atom(t, l, verb);
		if (!read_declaration(r, verb, l->text) && t->sections[l->section].alloc)
			read_refs(t, l, asmtext_starts(verb, "call") || verb.at[0] == 'j');
	}
	return 0;
}

/* Adds an empty section, symbol and atom, so that index 0 means "none". */
static void begin(struct asmtext *t)
{
	t->sections = xgrow(NULL, 0, &t->section_room, sizeof(*t->sections));
	t->sections[t->section_count++] = (struct asmtext_section){ .pending = SIZE_MAX };
	t->symbols = xgrow(NULL, 0, &t->symbol_room, sizeof(*t->symbols));
	t->symbols[t->symbol_count++] = (struct asmtext_symbol){ 0 };
	add_atom(t, 0, 0, 0);
}

int asmtext_read(struct asmtext *t, const char *text, size_t size, struct err *err)
{
	const char *end = text + size;
	struct reading r = { .t = t };
	struct asmtext_word name = { ".text", 5 };

	*t = (struct asmtext){ 0 };
	begin(t);
	r.section = r.before = enter_section(t, name, (struct asmtext_word){ name.at, 0 }, name);
	while (text < end) {
		const char *newline = memchr(text, '\n', (size_t)(end - text));
		const char *stop = newline ? newline : end;
		struct asmtext_line l = { .text = { text, (uint32_t)(stop - text) } };

		if (read_line(&r, &l, err))
			return -1;
		if (l.atom)
			t->atoms[l.atom].last = (uint32_t)t->line_count;
		t->lines = xgrow(t->lines, t->line_count, &t->line_room, sizeof(*t->lines));
		t->lines[t->line_count++] = l;
		text = newline ? newline + 1 : end;
	}
	return 0;
}

void asmtext_free(struct asmtext *t)
{
	free(t->lines);
	free(t->sections);
	free(t->atoms);
	free(t->symbols);
	free(t->refs);
	strmap_free(&t->by_name);
	*t = (struct asmtext){ 0 };
}
