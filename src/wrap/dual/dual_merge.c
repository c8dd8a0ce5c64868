#include "wrap/dual/dual_merge.h"

#include <stdlib.h>

#include "base/mem.h"
#include "wrap/dual/dual_internal.h"

/* Fills d->groups. */
static void list_groups(struct dual *d)
{
	for (size_t i = 1; i < d->plain.section_count; i++) {
		struct asmtext_word group = d->plain.sections[i].group;

		if (group.size)
			strmap_put(&d->groups, group.at, group.size, NULL);
	}
}

static void merge(struct dual *d, struct buf *out, struct dual_counts *counts)
{
	d->resolution = xcalloc(d->inst.symbol_count, sizeof(*d->resolution));
	d->twin = xcalloc(d->inst.symbol_count, sizeof(*d->twin));
	d->keep = xcalloc(d->inst.atom_count, sizeof(*d->keep));
	d->refers_to_code = xcalloc(d->inst.atom_count, sizeof(*d->refers_to_code));
	d->pair = xcalloc(d->inst.atom_count, sizeof(*d->pair));
	d->paired = xcalloc(d->plain.atom_count, sizeof(*d->paired));
	list_groups(d);
	dual_pair(d);
	dual_write(d, out);
	dual_write_table(d, out, counts);
	free(d->resolution);
	free(d->twin);
	free(d->keep);
	free(d->refers_to_code);
	free(d->pair);
	free(d->paired);
	strmap_free(&d->constants);
	strmap_free(&d->groups);
	map_free(&d->files);
	buf_free(&d->new_files);
}

int dual_merge(const char *plain, size_t plain_size, const char *inst, size_t inst_size, bool gcc,
	       struct buf *out, struct dual_counts *counts, struct err *err)
{
	struct dual d = { .gcc = gcc };
	int result = -1;

	if (asmtext_read(&d.plain, plain, plain_size, err) == 0 &&
	    asmtext_read(&d.inst, inst, inst_size, err) == 0) {
		merge(&d, out, counts);
		result = 0;
	}
	asmtext_free(&d.plain);
	asmtext_free(&d.inst);
	return result;
}
