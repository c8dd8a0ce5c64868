/*
 * Pairs the functions of both texts, and decides what of the instrumented text is kept.
 *
 * A function can be switched if its plain version can jump to the instrumented one at its entry:
 * both have the same name and the same parameters in the same registers. That holds for all global
 * functions. gcc renames local functions whose parameters it changes (f.isra.0, f.constprop.1,
 * f.part.2); these are never paired. clang keeps the name, so local functions are paired only if
 * their address is taken, since clang does not change parameters then. All other functions are
 * copied for instrumented code alone, which was compiled with the same parameters.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "wrap/dual/dual_internal.h"

/* Whether the compiler made the function, to initialise a ThreadSanitizer runtime. */
static bool is_constructor(struct asmtext_word name)
{
	return asmtext_starts(name, "tsan.module_") || asmtext_starts(name, "_sub_I_00099") ||
	       asmtext_starts(name, "_sub_D_00099");
}

static bool same_parameters(const struct dual *d, const struct asmtext_symbol *plain,
			    const struct asmtext_symbol *inst)
{
	if (plain->global != inst->global)
		return false;
	if (plain->global)
		return true;
	if (memchr(plain->name.at, '.', plain->name.size))
		return false;
	return d->gcc || (plain->address_taken && inst->address_taken);
}

/* Resolves a function's symbol, and pairs the function. */
static void resolve_function(struct dual *d, uint32_t atom)
{
	uint32_t symbol = d->inst.atoms[atom].symbol;
	const struct asmtext_symbol *s = &d->inst.symbols[symbol], *p;
	uint32_t found = asmtext_find(&d->plain, s->name);

	p = &d->plain.symbols[found];
	d->resolution[symbol] = DUAL_INST;
	d->keep[atom] = !d->inst.atoms[atom].defines_symbol;
	if (is_constructor(s->name)) {
		d->resolution[symbol] = DUAL_MISSING;
		d->keep[atom] = false;
	} else if (found && p->defined == ASMTEXT_SET) {
		d->resolution[symbol] = DUAL_PLAIN;	/* plain's alias of a function */
		d->keep[atom] = false;
	} else if (found && p->defined == ASMTEXT_ATOM && dual_is_function(&d->plain, p->atom) &&
		   same_parameters(d, p, s)) {
		d->resolution[symbol] = DUAL_PLAIN;
		d->pair[atom] = p->atom;
	}
}

/* Whether it is f$local, clang's local name of a global function f, for calls without the PLT. */
static bool is_alias_label(struct asmtext_word name)
{
	return name.size > 6 && memcmp(name.at + name.size - 6, "$local", 6) == 0;
}

/* Resolves labels in functions, and symbols that .set defines. */
static void resolve_label(struct dual *d, uint32_t symbol)
{
	const struct asmtext_symbol *s = &d->inst.symbols[symbol];
	uint32_t found = asmtext_find(&d->plain, s->name);

	if (s->defined == ASMTEXT_SET && !asmtext_local(s->name))
		d->resolution[symbol] =
			found && d->plain.symbols[found].defined ? DUAL_PLAIN : DUAL_MISSING;
	else if (s->defined == ASMTEXT_SET ||
		 (s->defined == ASMTEXT_ATOM && asmtext_local(s->name) &&
		  (s->atom == 0 || dual_is_function(&d->inst, s->atom))))
		d->resolution[symbol] = DUAL_INST;
	if (s->defined == ASMTEXT_ATOM && is_alias_label(s->name) && found &&
	    d->plain.symbols[found].defined && d->pair[s->atom])
		d->resolution[symbol] = DUAL_PLAIN;
}

/* Whether atom `from` can refer to the symbol in the merged text. */
static bool usable(const struct dual *d, uint32_t from, uint32_t symbol)
{
	const struct asmtext_symbol *s = &d->inst.symbols[symbol];

	switch (d->resolution[symbol]) {
	case DUAL_MISSING: return false;
	case DUAL_INST: return s->atom == 0 || s->atom == from || d->keep[s->atom];
	default: return true;
	}
}

/* Leaves out atoms that refer to missing symbols or to atoms left out, until nothing changes. */
static void drop_broken(struct dual *d)
{
	bool changed = true;

	while (changed) {
		changed = false;
		for (size_t i = 0; i < d->inst.ref_count; i++) {
			const struct asmtext_ref *r = &d->inst.refs[i];

			if (d->keep[r->atom] && !usable(d, r->atom, r->symbol)) {
				d->keep[r->atom] = false;
				changed = true;
			}
		}
	}
}

/* Whether gcc wrote the line table itself. Otherwise the file numbers cannot be translated. */
static bool has_own_lines(const struct asmtext *t)
{
	for (size_t i = 0; i < t->line_count; i++)
		if (t->lines[i].kind == ASMTEXT_DIRECTIVE &&
		    asmtext_is(asmtext_verb(t->lines[i].text), ".loc"))
			return false;
	return true;
}

void dual_pair(struct dual *d)
{
	for (size_t i = 1; i < d->inst.atom_count; i++)
		if (dual_is_function(&d->inst, (uint32_t)i))
			resolve_function(d, (uint32_t)i);
	dual_resolve_data(d);
	for (size_t i = 1; i < d->inst.symbol_count; i++)
		resolve_label(d, (uint32_t)i);
	drop_broken(d);
	d->debug = !d->gcc || has_own_lines(&d->inst);
	dual_number_files(d);
	for (size_t i = 1; i < d->inst.atom_count; i++)
		if (d->pair[i] && d->keep[i])
			d->paired[d->pair[i]] = (uint32_t)i;
		else
			d->pair[i] = 0;
}
