/*
 * Reference of access-interleaving invariants (learn/fold/avio.h; Lu, Tucek, Qin and Zhou, ASPLOS
 * 2006): the unserializable interleavings of one run, as lines "PATTERN p r i x1". For each access
 * i it searches the whole past for p, the thread's access before it to the same cell, and for the
 * remote accesses in between.
 */
#ifndef REFERENCE_AVIO_H
#define REFERENCE_AVIO_H

#include "learn_util.h"

/*
 * An intermediate value leaks: between the thread's last write p and its next write i come only
 * reads. r is the first one of another thread.
 */
static void slow_leak(const struct learn_step *s, size_t i, struct buf *b)
{
	size_t remote = 0;

	for (size_t p = i; p-- > 0;) {
		if (s[p].addr != s[i].addr)
			continue;
		if (s[p].op != IROOT_OP_WRITE) {
			remote = s[p].thread != s[i].thread ? p + 1 : remote;
			continue;
		}
		if (s[p].thread == s[i].thread && remote)
			buf_addf(b, "WRW %zu %zu %zu x1\n", p + 1, remote, i + 1);
		return;
	}
}

static char *slow(const struct learn_step *s, size_t count)
{
	struct buf b = { 0 };

	for (size_t i = 0; i < count; i++) {
		size_t p = i, first = 0, write = 0;
		bool w = s[i].op == IROOT_OP_WRITE, pw;

		while (p > 0 && !(s[p - 1].thread == s[i].thread && s[p - 1].addr == s[i].addr))
			p--;
		if (p-- == 0)
			continue;
		pw = s[p].op == IROOT_OP_WRITE;
		for (size_t r = p + 1; r < i; r++) {
			if (s[r].addr != s[i].addr)
				continue;
			first = first ? first : r;
			write = s[r].op == IROOT_OP_WRITE ? r : write;
		}
		if (!pw && w)
			slow_leak(s, i, &b);
		if (pw && w) {
			if (first && s[first].op == IROOT_OP_READ)
				buf_addf(&b, "WRW %zu %zu %zu x1\n", p + 1, first + 1, i + 1);
		} else if (write) {
			buf_addf(&b, "%cW%c %zu %zu %zu x1\n", pw ? 'W' : 'R', w ? 'W' : 'R', p + 1,
				 write + 1, i + 1);
		}
	}
	return sorted(&b);
}

#endif
