/*
 * Writes the merged text. A paired function begins with one nop of 5 bytes within 8 aligned bytes.
 * The runtime turns it into a jump by a single store, and no thread can be in the middle of it.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "wrap/dual/dual_internal.h"

/* Label, with the section's name behind it, where inst's part of a debug section begins. */
#define PART ".Linst.part"
#define ENTRY_NOP "\t.byte 0x0f,0x1f,0x44,0x00,0x00\n"

static bool is_one_of(struct asmtext_word word, const char *const *list, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (asmtext_is(word, list[i]))
			return true;
	return false;
}

static void add_line(struct buf *out, struct asmtext_word line)
{
	buf_add(out, line.at, line.size);
	buf_add_char(out, '\n');
}

/* Whether code may jump to the label: gcc's .L12, clang's .LBB3_4, or no local label. */
static bool is_target(struct asmtext_word name)
{
	if (!asmtext_local(name))
		return true;
	if (name.size > 2 && name.at[2] >= '0' && name.at[2] <= '9')
		return true;
	return asmtext_starts(name, ".LBB") && memchr(name.at, '_', name.size);
}

static bool is_alignment(struct asmtext_word verb)
{
	static const char *const list[] = { ".p2align", ".align", ".balign" };

	return is_one_of(verb, list, ARRAY_SIZE(list));
}

/*
 * Returns the line behind which the nop goes: before the first instruction, but behind directives,
 * so that line number and unwind information apply to it. It is before any jump target, and behind
 * endbr64, which must stay first.
 */
static size_t entry_line(const struct asmtext *t, uint32_t atom, bool *endbr)
{
	size_t entry = t->atoms[atom].label;

	*endbr = false;
	for (size_t i = entry + 1; i <= t->atoms[atom].last; i++) {
		const struct asmtext_line *l = &t->lines[i];
		struct asmtext_word verb = asmtext_verb(l->text);

		if (l->kind == ASMTEXT_SECTION || l->user || is_alignment(verb) ||
		    (l->kind == ASMTEXT_LABEL && is_target(verb)))
			break;
		if (l->kind == ASMTEXT_CODE) {
			*endbr = asmtext_is(verb, "endbr64");
			return *endbr ? i : entry;
		}
		entry = i;
	}
	return entry;
}

static void write_plain(const struct dual *d, struct buf *out)
{
	const struct asmtext *t = &d->plain;
	size_t entry = SIZE_MAX;

	for (size_t i = 0; i < t->line_count; i++) {
		uint32_t atom = t->lines[i].atom;

		if (atom && t->atoms[atom].label == i && d->paired[atom]) {
			bool endbr;

			entry = entry_line(t, atom, &endbr);
			buf_addf(out, "\t.p2align 3\n%s.Linst.entry%u:\n",
				 endbr ? "\t.nops 4\n" : "", d->paired[atom]);
		}
		add_line(out, t->lines[i].text);
		if (i == entry)
			buf_add_text(out, ENTRY_NOP);
	}
}

/* Writes the merged text's name of a symbol of inst, where it is defined or referred to. */
static void add_name(const struct dual *d, uint32_t symbol, struct asmtext_word word, bool defining,
		     struct buf *out)
{
	const struct asmtext_symbol *s = &d->inst.symbols[symbol];
	enum dual_resolution resolution =
		symbol ? (enum dual_resolution)d->resolution[symbol] : DUAL_PLAIN;

	if (defining && dual_is_function(&d->inst, s->atom))
		resolution = DUAL_INST;
	if (resolution == DUAL_INST && asmtext_local(word)) {
		buf_add_text(out, ".Linst.");
		buf_add(out, word.at + 2, word.size - 2);
		return;
	}
	if (resolution == DUAL_TWIN)
		word = d->plain.symbols[d->twin[symbol]].name;
	if (resolution == DUAL_MISSING && !defining) {
		buf_add_char(out, '0');		/* only debug information refers to it */
		return;
	}
	buf_add(out, word.at, word.size);
	if (resolution == DUAL_INST)
		buf_add_text(out, ".inst");
}

/* Writes a line of inst with file numbers and symbols replaced. */
static void add_renamed(const struct dual *d, struct asmtext_word line, struct buf *out)
{
	static const char *const defining[] = { ".type", ".size" };
	struct asmtext_word verb = asmtext_verb(line), word;
	bool local_only = asmtext_is(verb, ".loc"), label;
	bool define = is_one_of(verb, defining, ARRAY_SIZE(defining));
	const char *at, *copied;

	line = dual_renumber_file(d, line, out);
	at = copied = line.at;
	while (asmtext_next(line, &at, &word, &label)) {
		uint32_t symbol = asmtext_find(&d->inst, word);

		if (asmtext_starts(word, ".debug_")) {
			/* The section's name means its start, which is plain's part now. */
			buf_add(out, copied, (size_t)(word.at - copied));
			buf_add_text(out, PART);
			copied = word.at;
			continue;
		}
		if (!symbol || (local_only && !asmtext_local(word)))
			continue;
		buf_add(out, copied, (size_t)(word.at - copied));
		add_name(d, symbol, word, define || label, out);
		copied = word.at + word.size;
	}
	buf_add(out, copied, (size_t)(line.at + line.size - copied));
	buf_add_char(out, '\n');
}

/*
 * Writes the directive that enters a section of inst. A group that plain does not have is
 * dissolved: the linker might keep another object's group of that name, without instrumented
 * functions.
 */
static void add_section(const struct dual *d, uint32_t section, struct buf *out)
{
	const struct asmtext_section *s = &d->inst.sections[section];
	bool group = s->group.size && strmap_find(&d->groups, s->group.at, s->group.size);

	if (s->exec && group)
		buf_addf(out, "\t.section .snarl.text,\"axG\",@progbits,%.*s,comdat\n",
			 (int)s->group.size, s->group.at);
	else if (s->exec && asmtext_is(s->name, ".text"))
		buf_add_text(out, "\t.section .snarl.text,\"ax\",@progbits\n");
	else if (s->exec)
		buf_addf(out, "\t.section .snarl.text,\"ax\",@progbits,unique,%u\n", section);
	else if (s->group.size && !group && !memmem(s->name.at, s->name.size, ".DW.ref.", 8))
		buf_addf(out, "\t.section %.*s,\"a%s\",@progbits\n", (int)s->name.size, s->name.at,
			 s->write ? "w" : "");
	else
		add_line(out, s->line);
}

/*
 * Whether the line only declares a symbol. *wanted: it goes into the merged text, because plain
 * does not declare the symbol itself.
 */
static bool is_declaration(const struct dual *d, struct asmtext_word line, bool *wanted)
{
	static const char *const list[] = {
		".globl", ".global", ".weak", ".hidden", ".protected", ".internal", ".local",
		".symver", ".comm", ".lcomm", ".ident", ".addrsig", ".addrsig_sym", ".set", ".equ",
		".file",
	};
	struct asmtext_word verb = asmtext_verb(line), word = { line.at, 0 };
	const char *at = line.at;
	uint32_t symbol;
	bool label;

	if (!is_one_of(verb, list, ARRAY_SIZE(list)))
		return false;
	*wanted = false;
	if (!asmtext_next(line, &at, &word, &label))
		return true;
	symbol = asmtext_find(&d->inst, word);
	if (asmtext_is(verb, ".set") || asmtext_is(verb, ".equ"))
		*wanted = asmtext_local(word);
	else if (asmtext_is(verb, ".weak") || asmtext_is(verb, ".hidden"))
		*wanted = symbol && (!d->inst.symbols[symbol].defined ||
				     (d->resolution[symbol] == DUAL_PLAIN &&
				      d->keep[d->inst.symbols[symbol].atom] &&
				      !dual_is_function(&d->inst, d->inst.symbols[symbol].atom)));
	return true;
}

/* Whether the line of inst goes into the merged text. */
static bool is_wanted(const struct dual *d, const struct asmtext_line *l)
{
	const struct asmtext_section *s = &d->inst.sections[l->section];
	bool wanted;

	if (l->kind == ASMTEXT_SECTION || l->kind == ASMTEXT_OTHER)
		return false;
	if (!l->user && is_declaration(d, l->text, &wanted))
		return wanted;
	if (s->debug)
		return d->debug;
	if (l->kind == ASMTEXT_DIRECTIVE && !d->debug && asmtext_is(asmtext_verb(l->text), ".loc"))
		return false;
	if (l->atom && d->keep[l->atom])
		return true;
	/* Labels of a function that is left out stay: its debug information refers to them. */
	return s->exec && l->kind == ASMTEXT_LABEL && asmtext_local(asmtext_verb(l->text));
}

/* Enters section `to` unless it is the current one. `begun`: by section, whether it was entered. */
static void enter_section(const struct dual *d, uint32_t to, uint32_t *section, bool *begun,
			  struct buf *out)
{
	const struct asmtext_section *s = &d->inst.sections[to];

	if (to == *section)
		return;
	add_section(d, to, out);
	*section = to;
	if (s->debug && !begun[to])
		buf_addf(out, PART "%.*s:\n", (int)s->name.size, s->name.at);
	begun[to] = true;
}

static void write_inst(const struct dual *d, struct buf *out)
{
	const struct asmtext *t = &d->inst;
	bool *begun = xcalloc(t->section_count, sizeof(*begun));
	uint32_t section = 0;

	if (d->debug)
		buf_add(out, d->new_files.data, d->new_files.size);
	for (size_t i = 0; i < t->line_count; i++) {
		const struct asmtext_line *l = &t->lines[i];

		if (is_wanted(d, l)) {
			enter_section(d, l->section, &section, begun, out);
			add_renamed(d, l->text, out);
		}
		if (l->atom && t->atoms[l->atom].last == i && d->keep[l->atom] &&
		    dual_is_function(t, l->atom)) {
			enter_section(d, l->section, &section, begun, out);
			buf_addf(out, ".Linst.end%u:\n", l->atom);
		}
	}
	free(begun);
}

void dual_write(const struct dual *d, struct buf *out)
{
	write_plain(d, out);
	write_inst(d, out);
}
