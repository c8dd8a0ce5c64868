/*
 * Flags: locations that threads of the program poll in a loop until another thread writes (struct
 * iroot_flag of abi/iroot.h). They make strong order from the write to what follows the loop.
 *
 * A thread that makes the same read several times in a row may be polling. If another thread writes
 * there, and the polling thread reads once more and then makes another step, it waited for that
 * write. If it makes another step without such a write, it did not poll a flag.
 */
#include "abi/mix.h"
#include "coverage/fold/fold_internal.h"

#define SPIN_MIN_READS 2u	/* equal reads in a row that make a thread a spinner */
#define SPIN_FLAG_READS 4u	/* equal reads in a row that can make a flag */
#define FLAG_SYNC (1ull << 63)	/* set in addresses of flags, not of other objects */

struct iroot_flag *iroot_flag_add(struct iroot_flag list[IROOT_FLAGS], uint32_t *count,
				  const struct iroot_flag *flag)
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

/* The bit of a site in iroot_flags.bits. */
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

/* Notes that the thread waits for the flag or sets it. If one thread does both, it is no flag. */
static void note_role(struct iroot_profile *p, struct iroot_flag *f, const struct iroot_thread *t,
		      bool reads)
{
	uint64_t bit = 1ull << (t->number & 63), at = (uint64_t)(f - p->flags.at);

	*(reads ? &p->flags.readers[at] : &p->flags.writers[at]) |= bit;
	if (p->flags.readers[at] & p->flags.writers[at])
		f->write = 0;
}

static void add_order(struct iroot_profile *p, struct iroot_thread *t, uint32_t op, uint64_t addr)
{
	const struct iroot_step s = { .thread = t->number, .op = op,
				      .addr = (addr & ~7ull) | FLAG_SYNC };

	iroot_order_step(p, t, &s);
}

static bool touches(const struct iroot_step *step, uint64_t addr)
{
	return (step->op == IROOT_OP_READ || step->op == IROOT_OP_WRITE) &&
	       addr - step->addr < step->size;
}

/*
 * The thread makes another step than its repeated read. If that accesses the polled memory, the
 * memory is a kind of lock and no flag.
 */
static void stop_spinning(struct iroot_profile *p, struct iroot_thread *t,
			  const struct iroot_step *step)
{
	bool waited = t->spin_write && t->spin_read && !touches(step, t->spin_addr);
	struct iroot_flag now = { t->spin_site, waited ? t->spin_write : 0 }, *f;

	p->flags.spinners -= p->flags.spinners > 0;
	if (t->spins < SPIN_FLAG_READS)
		return;
	f = iroot_flag_add(p->flags.at, &p->flags.count, &now);
	if (!f || !f->write)
		return;
	p->flags.bits |= bit_of(f->read) | bit_of(f->write);
	note_role(p, f, t, true);
	if (f->write)
		add_order(p, t, IROOT_OP_WAIT, t->spin_addr);
}

void iroot_flags_before(struct iroot_profile *p, struct iroot_thread *t,
			const struct iroot_step *step)
{
	if (t->spins && step->op == IROOT_OP_READ && step->site == t->spin_site &&
	    step->addr == t->spin_addr) {
		if (t->spin_read)	/* still polling: the thread does not wait for that write */
			t->spin_write = 0;
		t->spin_read = t->spin_write != 0;
		p->flags.spinners += ++t->spins == SPIN_MIN_READS;
		return;
	}
	if (t->spins >= SPIN_MIN_READS)
		stop_spinning(p, t, step);
	t->spins = step->op == IROOT_OP_READ;
	t->spin_site = step->site;
	t->spin_addr = step->addr;
	t->spin_write = 0;
	t->spin_read = false;
}

/* Notes the write in all other threads that poll its memory. Returns true if there are any. */
static bool note_write(struct iroot_profile *p, const struct iroot_thread *t,
		       const struct iroot_step *step)
{
	bool any = false;

	for (uint32_t ref = p->all_threads; ref;) {
		struct iroot_thread *other = iroot_at(p, ref);

		if (other != t && other->spins >= SPIN_MIN_READS &&
		    touches(step, other->spin_addr)) {
			other->spin_write = step->site;
			other->spin_read = false;
			any = true;
		}
		ref = iroot_next_older(p, ref, other->next);
	}
	return any;
}

void iroot_flags_after(struct iroot_profile *p, struct iroot_thread *t,
		       const struct iroot_step *step)
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
			note_role(p, f, t, false);
		if (f->write && !write)
			add_order(p, t, IROOT_OP_WAIT, step->addr);
		signal |= write && f->write;
	}
	if (write && p->flags.spinners > 0)
		signal |= note_write(p, t, step);
	if (signal)
		add_order(p, t, IROOT_OP_SIGNAL, step->addr);
}
