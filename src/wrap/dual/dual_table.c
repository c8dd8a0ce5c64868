/*
 * Writes the table of pairs (abi/production_table.h) and the constructor that passes it to the
 * runtime (runtime/process/production.h). Each record is linked to the section of its function, so
 * that the linker keeps or drops both together.
 */
#include <stdlib.h>

#include "abi/production_table.h"
#include "base/map.h"
#include "wrap/dual/dual_internal.h"

static void add_word(struct buf *out, struct asmtext_word w)
{
	buf_add(out, w.at, w.size);
}

static struct asmtext_word name_of(const struct asmtext *t, uint32_t atom)
{
	return t->symbols[t->atoms[atom].symbol].name;
}

/*
 * Enters the section for a record about function `atom`, linked (flag o) to its plain version if it
 * is paired, else to itself.
 */
static void add_record_section(const struct dual *d, uint32_t atom, struct buf *out)
{
	const struct asmtext_section *s = &d->inst.sections[d->inst.atoms[atom].section];
	bool group = s->group.size && strmap_find(&d->groups, s->group.at, s->group.size);

	buf_addf(out, "\t.section " DUAL_SECTION ",\"a%so\",@progbits,", group ? "G" : "");
	add_word(out, name_of(&d->inst, atom));
	if (!d->pair[atom])
		buf_add_text(out, ".inst");
	if (group) {
		buf_add_char(out, ',');
		add_word(out, s->group);
		buf_add_text(out, ",comdat");
	}
	buf_add_text(out, "\n\t.p2align 2\n");
}

/*
 * Writes a struct dual_record. The entry of a plain function is named by a label of its own,
 * because its symbol may be preempted by another library's.
 */
static void add_record(const struct dual *d, uint32_t caller, uint32_t inst, struct buf *out)
{
	buf_add_text(out, "\t.long ");
	if (caller)
		add_word(out, name_of(&d->inst, caller));
	if (caller)
		buf_add_text(out, ".inst");
	else
		buf_addf(out, ".Linst.entry%u", inst);
	buf_add_text(out, "-.\n\t.long ");
	add_word(out, name_of(&d->inst, inst));
	buf_addf(out, ".inst-.\n\t.long .Linst.end%u-", inst);
	add_word(out, name_of(&d->inst, inst));
	buf_addf(out, ".inst\n\t.long %u\n", caller ? DUAL_INNER : DUAL_PAIR);
}

/* Writes a record for each unpaired function and each instrumented function that refers to it. */
static void add_inner(const struct dual *d, struct buf *out)
{
	struct map seen = { 0 };

	for (size_t i = 0; i < d->inst.ref_count; i++) {
		uint32_t from = d->inst.refs[i].atom,
			 to = d->inst.symbols[d->inst.refs[i].symbol].atom;
		bool added;

		if (from == to || d->resolution[d->inst.refs[i].symbol] != DUAL_INST ||
		    !dual_is_function(&d->inst, from) || !dual_is_function(&d->inst, to) ||
		    d->pair[to] || !d->keep[from] || !d->keep[to])
			continue;
		map_put(&seen, (uint64_t)from << 32 | to, &added);
		if (!added)
			continue;
		add_record_section(d, from, out);
		add_record(d, from, to, out);
	}
	map_free(&seen);
}

/* Fills *counts. */
static void count(const struct dual *d, struct dual_counts *counts)
{
	*counts = (struct dual_counts){ 0 };
	for (size_t i = 1; i < d->inst.atom_count; i++)
		if (dual_is_function(&d->inst, (uint32_t)i) && d->keep[i])
			*(d->pair[i] ? &counts->pairs : &counts->inner) += 1;
	for (size_t i = 1; i < d->plain.atom_count; i++)
		if (dual_is_function(&d->plain, (uint32_t)i) && !d->paired[i])
			counts->plain++;
}

/*
 * The constructor or destructor (%1$s is "init" or "fini"). A comdat group makes it one for each
 * library or program, however many files that has. The runtime's function is weak, because a
 * program without the runtime may open the library.
 */
static const char constructor[] =
	"\t.section .text.__snarl_dual_%1$s,\"axG\",@progbits,__snarl_dual_%1$s,comdat\n"
	"\t.weak __snarl_dual_%1$s\n"
	"\t.hidden __snarl_dual_%1$s\n"
	"\t.type __snarl_dual_%1$s,@function\n"
	"__snarl_dual_%1$s:\n"
	"\tmovq __snarl_dual_module_%1$s@GOTPCREL(%%rip),%%rax\n"
	"\ttestq %%rax,%%rax\n"
	"\tje .Linst.%1$s\n"
	"\tleaq __start_" DUAL_SECTION "(%%rip),%%rdi\n"
	"\tleaq __stop_" DUAL_SECTION "(%%rip),%%rsi\n"
	"\tjmp *%%rax\n"
	".Linst.%1$s:\n"
	"\tret\n"
	"\t.size __snarl_dual_%1$s,.-__snarl_dual_%1$s\n"
	"\t.weak __snarl_dual_module_%1$s\n"
	"\t.section .%1$s_array.00099,\"awG\",@%1$s_array,__snarl_dual_%1$s,comdat\n"
	"\t.p2align 3\n"
	"\t.quad __snarl_dual_%1$s\n";

/*
 * Makes references to hooks weak. In a program without the runtime, hooks are missing, but are
 * never called either: nothing switches functions on.
 */
static void add_weak_hooks(const struct dual *d, struct buf *out)
{
	for (size_t i = 1; i < d->inst.symbol_count; i++) {
		const struct asmtext_symbol *s = &d->inst.symbols[i];

		if (!s->defined && asmtext_starts(s->name, "__tsan_")) {
			buf_add_text(out, "\t.weak ");
			add_word(out, s->name);
			buf_add_char(out, '\n');
		}
	}
	buf_add_text(out, "\t.weak __snarl_tls\n");
}

void dual_write_table(const struct dual *d, struct buf *out, struct dual_counts *counts)
{
	bool reported = false;

	count(d, counts);
	if (counts->pairs == 0)
		return;
	for (size_t i = 1; i < d->inst.atom_count; i++) {
		if (!d->pair[i])
			continue;
		add_record_section(d, (uint32_t)i, out);
		add_record(d, 0, (uint32_t)i, out);
		if (!reported && !d->inst.sections[d->inst.atoms[i].section].group.size) {
			buf_addf(out, "\t.long 0,0,%zu,%u\n", counts->plain, DUAL_COUNT);
			reported = true;
		}
	}
	add_inner(d, out);
	add_weak_hooks(d, out);
	buf_add_text(out,
		     "\t.hidden __start_" DUAL_SECTION "\n\t.hidden __stop_" DUAL_SECTION "\n");
	buf_addf(out, constructor, "init");
	buf_addf(out, constructor, "fini");
}
