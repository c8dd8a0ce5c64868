/*
 * Resolves data of the instrumented text.
 *
 * A variable must exist once, so instrumented functions use the plain text's. Most variables have
 * the same name in both texts. But gcc numbers static variables of functions (n.0, n.1), and the
 * numbers may differ. Such variables are matched by content, and the match is checked against
 * the functions that use them.
 *
 * A constant may exist twice unless its address matters, as that of a string literal does. So
 * constants of equal content in the same section become one.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "wrap/dual/dual_internal.h"

static bool is_read_only(const struct asmtext_section *s)
{
	return !s->write || asmtext_starts(s->name, ".data.rel.ro");
}

/* Whether the line is a directive about a symbol, rather than content. */
static bool is_about_symbol(struct asmtext_word line)
{
	static const char *const list[] = {
		".type", ".size", ".globl", ".weak", ".hidden", ".local", ".file", ".loc",
	};
	struct asmtext_word verb = asmtext_verb(line);

	for (size_t i = 0; i < ARRAY_SIZE(list); i++)
		if (asmtext_is(verb, list[i]))
			return true;
	return false;
}

/* The atom's next line with content from line `at` on; SIZE_MAX: none. */
static size_t next_content(const struct asmtext *t, uint32_t atom, size_t at)
{
	for (; at <= t->atoms[atom].last; at++)
		if (t->lines[at].atom == atom && t->lines[at].kind == ASMTEXT_DIRECTIVE &&
		    !is_about_symbol(t->lines[at].text))
			return at;
	return SIZE_MAX;
}

static const char *skip_local(const char *at, const char *end)
{
	while (at < end && *at != ' ' && *at != ',' && *at != '-' && *at != '+' && *at != '\t')
		at++;
	return at;
}

/* Whether the lines are equal, except for the names of local labels. */
static bool same_line(struct asmtext_word a, struct asmtext_word b)
{
	const char *x = a.at, *y = b.at, *x_end = x + a.size, *y_end = y + b.size;

	while (x < x_end && y < y_end && *x == *y) {
		if (x_end - x > 2 && y_end - y > 2 && memcmp(x, ".L", 2) == 0 &&
		    memcmp(y, ".L", 2) == 0) {
			x = skip_local(x, x_end);
			y = skip_local(y, y_end);
		} else {
			x++, y++;
		}
	}
	return x == x_end && y == y_end;
}

/* Whether two data atoms have the same section and content. */
static bool same_content(const struct asmtext *a, uint32_t x, const struct asmtext *b, uint32_t y)
{
	size_t i = a->atoms[x].first, k = b->atoms[y].first;

	if (!asmtext_same(a->sections[a->atoms[x].section].name,
			  b->sections[b->atoms[y].section].name))
		return false;
	for (;; i++, k++) {
		i = next_content(a, x, i);
		k = next_content(b, y, k);
		if (i == SIZE_MAX || k == SIZE_MAX)
			return i == k;
		if (!same_line(a->lines[i].text, b->lines[k].text))
			return false;
	}
}

/* What follows the name in ".comm n.0,4,4". */
static struct asmtext_word common_size(const struct asmtext *t, const struct asmtext_symbol *s)
{
	struct asmtext_word line = t->lines[s->line].text;
	const char *comma = memchr(line.at, ',', line.size);

	return (struct asmtext_word){ comma, (uint32_t)(comma ? line.at + line.size - comma : 0) };
}

/* Whether both symbols may be the same variable. */
static bool same_variable(const struct dual *d, uint32_t inst, uint32_t plain)
{
	const struct asmtext_symbol *i = &d->inst.symbols[inst], *p = &d->plain.symbols[plain];

	if (i->defined != p->defined || i->global != p->global)
		return false;
	if (i->defined == ASMTEXT_COMMON)
		return asmtext_same(common_size(&d->inst, i), common_size(&d->plain, p));
	return i->defined == ASMTEXT_ATOM && i->atom && p->atom &&
	       !dual_is_function(&d->plain, p->atom) &&
	       same_content(&d->inst, i->atom, &d->plain, p->atom);
}

/* "n.12" gives "n"; empty if there is no number. */
static struct asmtext_word base_of(struct asmtext_word name)
{
	size_t size = name.size;

	while (size > 0 && name.at[size - 1] >= '0' && name.at[size - 1] <= '9')
		size--;
	if (size < 2 || size == name.size || name.at[size - 1] != '.')
		return (struct asmtext_word){ name.at, 0 };
	return (struct asmtext_word){ name.at, (uint32_t)size - 1 };
}

/* The only symbol of plain that has the same base name and may be the same variable, or 0. */
static uint32_t only_candidate(const struct dual *d, uint32_t inst)
{
	struct asmtext_word base = base_of(d->inst.symbols[inst].name);
	uint32_t only = 0;

	for (size_t i = 1; i < d->plain.symbol_count; i++)
		if (asmtext_same(base, base_of(d->plain.symbols[i].name)) &&
		    same_variable(d, inst, (uint32_t)i)) {
			if (only)
				return 0;
			only = (uint32_t)i;
		}
	return only;
}

/* The plain text's symbol for the variable, or 0. */
static uint32_t find_variable(const struct dual *d, uint32_t symbol)
{
	const struct asmtext_symbol *s = &d->inst.symbols[symbol];
	uint32_t found = asmtext_find(&d->plain, s->name);

	if (s->global || base_of(s->name).size == 0)
		return found && d->plain.symbols[found].defined ? found : 0;
	if (found && same_variable(d, symbol, found))
		return found;
	return only_candidate(d, symbol);
}

/* Resolves a symbol that is not a local label. */
static void resolve_named(struct dual *d, uint32_t symbol)
{
	const struct asmtext_symbol *s = &d->inst.symbols[symbol];
	uint32_t found = s->atom && d->refers_to_code[s->atom] ? 0 : find_variable(d, symbol);

	d->twin[symbol] = found;
	if (found && asmtext_same(d->plain.symbols[found].name, s->name))
		d->resolution[symbol] = DUAL_PLAIN;
	else if (found)
		d->resolution[symbol] = DUAL_TWIN;
	else if (asmtext_starts(s->name, "DW.ref."))
		d->resolution[symbol] = DUAL_PLAIN, d->keep[s->atom] = true;
	else if (s->atom && !s->global &&
		 is_read_only(&d->inst.sections[d->inst.atoms[s->atom].section]))
		d->resolution[symbol] = DUAL_INST, d->keep[s->atom] = true;
	else
		d->resolution[symbol] = DUAL_MISSING;
}

/* Sets *key to a constant's section and content. False: it is no constant, or has references. */
static bool constant_key(const struct asmtext *t, uint32_t atom, struct buf *key)
{
	const struct asmtext_section *s = &t->sections[t->atoms[atom].section];

	if (s->exec || !s->alloc || s->group.size || !is_read_only(s) || t->atoms[atom].has_refs ||
	    asmtext_starts(s->name, ".gcc_except_table"))
		return false;
	buf_clear(key);
	buf_add(key, s->name.at, s->name.size);
	for (size_t i = t->atoms[atom].first; (i = next_content(t, atom, i)) != SIZE_MAX; i++) {
		buf_add_char(key, '\n');
		buf_add(key, t->lines[i].text.at, t->lines[i].text.size);
	}
	return true;
}

/* Fills d->constants. */
static void list_constants(struct dual *d)
{
	struct buf key = { 0 };

	for (size_t i = 1; i < d->plain.atom_count; i++)
		if (asmtext_local(d->plain.symbols[d->plain.atoms[i].symbol].name) &&
		    constant_key(&d->plain, (uint32_t)i, &key))
			*strmap_put(&d->constants, (const char *)key.data, key.size, NULL) =
				d->plain.atoms[i].symbol;
	buf_free(&key);
}

/* Whether the symbol is a pointer that exception tables use; nothing writes it. */
static bool is_stub(struct asmtext_word name)
{
	return name.size > 8 && memcmp(name.at + name.size - 8, ".DW.stub", 8) == 0;
}

/* Resolves a local label of data. */
static void resolve_local(struct dual *d, uint32_t symbol, struct buf *key)
{
	const struct asmtext_symbol *s = &d->inst.symbols[symbol];
	const struct asmtext_atom *a = &d->inst.atoms[s->atom];
	const struct asmtext_section *section = &d->inst.sections[a->section];
	uint32_t found = asmtext_find(&d->plain, s->name);
	const uint64_t *twin = NULL;

	if (a->symbol == symbol && constant_key(&d->inst, s->atom, key))
		twin = strmap_find(&d->constants, (const char *)key->data, key->size);
	if (twin) {
		d->resolution[symbol] = DUAL_TWIN;
		d->twin[symbol] = (uint32_t)*twin;
	} else if (is_read_only(section)) {
		d->resolution[symbol] = DUAL_INST;
		d->keep[s->atom] = true;
	} else if (found && !d->refers_to_code[s->atom] && same_variable(d, symbol, found)) {
		d->resolution[symbol] = DUAL_PLAIN;
	} else if (is_stub(s->name)) {
		d->resolution[symbol] = DUAL_INST;
		d->keep[s->atom] = true;
	} else {
		d->resolution[symbol] = DUAL_MISSING;
	}
}

static void resolve(struct dual *d, uint32_t symbol, struct buf *key)
{
	const struct asmtext_symbol *s = &d->inst.symbols[symbol];
	const struct asmtext_section *section = &d->inst.sections[d->inst.atoms[s->atom].section];

	if (s->defined == ASMTEXT_COMMON)
		resolve_named(d, symbol);
	else if (s->defined != ASMTEXT_ATOM || !s->atom || section->exec)
		return;
	else if (asmtext_starts(section->name, ".gcc_except_table"))
		d->resolution[symbol] = DUAL_INST, d->keep[s->atom] = true;
	else if (asmtext_local(s->name))
		resolve_local(d, symbol, key);
	else
		resolve_named(d, symbol);
}

/*
 * Finds data that refers to labels in functions, such as tables of computed gotos. The plain text's
 * table would lead into the plain version.
 */
static void find_code_tables(struct dual *d)
{
	for (size_t i = 0; i < d->inst.ref_count; i++) {
		const struct asmtext_symbol *s = &d->inst.symbols[d->inst.refs[i].symbol];

		if (asmtext_local(s->name) && dual_is_function(&d->inst, s->atom))
			d->refers_to_code[d->inst.refs[i].atom] = true;
	}
}

/* The references from each atom, as linked lists. */
struct uses {
	uint32_t *first;	/* by atom: index of a reference plus 1, or 0 */
	uint32_t *next;		/* by reference: the next one from the same atom, plus 1, or 0 */
};

static struct uses uses_of(const struct asmtext *t)
{
	struct uses u = { xcalloc(t->atom_count, sizeof(*u.first)),
			  xcalloc(t->ref_count + 1, sizeof(*u.next)) };

	for (size_t i = 0; i < t->ref_count; i++) {
		u.next[i] = u.first[t->refs[i].atom];
		u.first[t->refs[i].atom] = (uint32_t)i + 1;
	}
	return u;
}

/* Whether a plain function uses the twin of a variable, or others with the same base name. */
enum use { USE_NONE, USE_OTHERS, USE_SAME };

/* How the plain function `p` uses the twin of `symbol`. */
static enum use use_in_plain(const struct dual *d, const struct uses *u, uint32_t p,
			     uint32_t symbol)
{
	struct asmtext_word base = base_of(d->inst.symbols[symbol].name);
	enum use use = USE_NONE;

	for (uint32_t r = u->first[p]; r; r = u->next[r - 1]) {
		uint32_t other = d->plain.refs[r - 1].symbol;

		if (other == d->twin[symbol])
			return USE_SAME;
		if (asmtext_same(base, base_of(d->plain.symbols[other].name)))
			use = USE_OTHERS;
	}
	return use;
}

/*
 * Whether the instrumented function `atom` and the plain function `p` use some variable with the
 * base name of `symbol` in common.
 */
static bool shares_one(const struct dual *d, const struct uses *inst, const struct uses *plain,
		       uint32_t atom, uint32_t p, uint32_t symbol)
{
	struct asmtext_word base = base_of(d->inst.symbols[symbol].name);

	for (uint32_t r = inst->first[atom]; r; r = inst->next[r - 1]) {
		uint32_t other = d->inst.refs[r - 1].symbol;

		if (asmtext_same(base, base_of(d->inst.symbols[other].name)) && d->twin[other] &&
		    use_in_plain(d, plain, p, other) == USE_SAME)
			return true;
	}
	return false;
}

/*
 * Leaves out functions whose static variables may be matched wrongly: one that uses n.0 while its
 * plain version uses only n.1.
 */
static void check_statics(struct dual *d)
{
	struct uses inst = uses_of(&d->inst), plain = uses_of(&d->plain);

	for (size_t i = 0; i < d->inst.ref_count; i++) {
		uint32_t atom = d->inst.refs[i].atom, symbol = d->inst.refs[i].symbol;
		uint32_t name, p;

		if (!d->keep[atom] || !d->twin[symbol] || !dual_is_function(&d->inst, atom) ||
		    base_of(d->inst.symbols[symbol].name).size == 0)
			continue;
		name = asmtext_find(&d->plain, d->inst.symbols[d->inst.atoms[atom].symbol].name);
		p = name ? d->plain.symbols[name].atom : 0;
		if (p && use_in_plain(d, &plain, p, symbol) == USE_OTHERS &&
		    !shares_one(d, &inst, &plain, atom, p, symbol))
			d->keep[atom] = false;
	}
	free(inst.first);
	free(inst.next);
	free(plain.first);
	free(plain.next);
}

void dual_resolve_data(struct dual *d)
{
	struct buf key = { 0 };

	list_constants(d);
	find_code_tables(d);
	for (size_t i = 1; i < d->inst.symbol_count; i++)
		resolve(d, (uint32_t)i, &key);
	check_statics(d);
	buf_free(&key);
}
