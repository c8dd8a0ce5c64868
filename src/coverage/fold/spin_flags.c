/*
 * Flags that threads wait for in loops of their own: see iroot_profile.h. A thread that made the same read
 * several times in a row may wait. If somebody writes there, it reads that, and then does something else, then that is
 * what it waited for. If it does something else though nobody has written, it never waits there: a loop like others.
 */
#include "abi/mix.h"
#include "coverage/fold/fold_internal.h"

#define REPEATS 2u		/* reads in a row; who made them is watched */
#define SPINS 4u		/* … and says something when it goes on */
#define SYNC (1ull << 63)	/* an address as one of a synchronisation object that is none of the program's */

struct iroot_flag *iroot_flag_add(struct iroot_flag list[IROOT_FLAGS], uint32_t *count, const struct iroot_flag *flag)
{
	for (uint32_t i = 0; i < *count && i < IROOT_FLAGS; i++)
		if (list[i].read == flag->read) {
			if (list[i].write != flag->write)
				list[i].write = 0;
			return &list[i];
		}
	if (*count >= IROOT_FLAGS)
		return NULL;
	list[*count] = *flag;
	return &list[(*count)++];
}

/* Which sites are of a flag, by hash: most are not. */
static uint64_t bit_of(uint64_t site)
{
	return 1ull << (mix_spread(site) >> 58);
}

void iroot_profile_flag(struct iroot_profile *p, const struct iroot_flag *flag)
{
	iroot_flag_add(p->flags.at, &p->flags.count, flag);
	p->flags.bits |= bit_of(flag->read) | bit_of(flag->write);
}

uint32_t iroot_profile_flags(const struct iroot_profile *p, struct iroot_flag out[IROOT_FLAGS])
{
	uint32_t count = p->flags.count < IROOT_FLAGS ? p->flags.count : IROOT_FLAGS;

	for (uint32_t i = 0; i < count; i++)
		out[i] = p->flags.at[i];
	return count;
}

/* Who waits for a flag and sets it as well takes turns with others. */
static void note_part(struct iroot_profile *p, struct iroot_flag *f, const struct iroot_thread *t, bool reads)
{
	uint64_t bit = 1ull << (t->number & 63), at = (uint64_t)(f - p->flags.at);

	*(reads ? &p->flags.readers[at] : &p->flags.writers[at]) |= bit;
	if (p->flags.readers[at] & p->flags.writers[at])
		f->write = 0;
}

static void order(struct iroot_profile *p, struct iroot_thread *t, uint32_t op, uint64_t addr)
{
	const struct iroot_step s = { .thread = t->number, .op = op, .addr = (addr & ~7ull) | SYNC };

	iroot_order_step(p, t, &s);
}

static bool touches(const struct iroot_step *step, uint64_t addr)
{
	return (step->op == IROOT_OP_READ || step->op == IROOT_OP_WRITE) && addr - step->addr < step->size;
}

/* It goes on with another step than the same read. One to the same memory means that it is a lock. */
static void leave(struct iroot_profile *p, struct iroot_thread *t, const struct iroot_step *step)
{
	bool waited = t->spin_write && t->spin_read && !touches(step, t->spin_addr);
	struct iroot_flag now = { t->spin_site, waited ? t->spin_write : 0 }, *f;

	p->flags.spinners -= p->flags.spinners > 0;
	if (t->spins < SPINS)
		return;
	f = iroot_flag_add(p->flags.at, &p->flags.count, &now);
	if (!f || !f->write)
		return;
	p->flags.bits |= bit_of(f->read) | bit_of(f->write);
	note_part(p, f, t, true);
	if (f->write)
		order(p, t, IROOT_OP_WAIT, t->spin_addr);
}

void iroot_flags_before(struct iroot_profile *p, struct iroot_thread *t, const struct iroot_step *step)
{
	if (t->spins && step->op == IROOT_OP_READ && step->site == t->spin_site && step->addr == t->spin_addr) {
		if (t->spin_read)	/* once more: it was not that */
			t->spin_write = 0;
		t->spin_read = t->spin_write != 0;
		p->flags.spinners += ++t->spins == REPEATS;
		return;
	}
	if (t->spins >= REPEATS)
		leave(p, t, step);
	t->spins = step->op == IROOT_OP_READ;
	t->spin_site = step->site;
	t->spin_addr = step->addr;
	t->spin_write = 0;
	t->spin_read = false;
}

/* Those who spin on what was written. Returns whether there are any. */
static bool tell(struct iroot_profile *p, const struct iroot_thread *t, const struct iroot_step *step)
{
	bool any = false;

	for (uint32_t ref = p->all_threads; ref;) {
		struct iroot_thread *other = iroot_at(p, ref);

		if (other != t && other->spins >= REPEATS && touches(step, other->spin_addr)) {
			other->spin_write = step->site;
			other->spin_read = false;
			any = true;
		}
		ref = iroot_older(p, ref, other->next);
	}
	return any;
}

void iroot_flags_after(struct iroot_profile *p, struct iroot_thread *t, const struct iroot_step *step)
{
	bool write = step->op == IROOT_OP_WRITE, signal = false;
	uint32_t count = p->flags.bits & bit_of(step->site) ? p->flags.count : 0;

	if (!write && step->op != IROOT_OP_READ)
		return;
	for (uint32_t i = 0; i < count && i < IROOT_FLAGS; i++) {
		struct iroot_flag *f = &p->flags.at[i];

		if (!f->write || (write ? f->write : f->read) != step->site)
			continue;
		if (write)
			note_part(p, f, t, false);
		if (f->write && !write)
			order(p, t, IROOT_OP_WAIT, step->addr);
		signal |= write && f->write;
	}
	if (write && p->flags.spinners > 0)
		signal |= tell(p, t, step);
	if (signal)
		order(p, t, IROOT_OP_SIGNAL, step->addr);
}
