#include "cmd/progress.h"
#include "base/plural.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define TERMINAL_SECONDS 0.2	/* between updates */
#define PLAIN_SECONDS 5.0
#define BAR_WIDTH 20

void progress_init(struct progress *p, bool quiet, uint64_t runs, double seconds)
{
	*p = (struct progress){ .quiet = quiet, .terminal = isatty(STDERR_FILENO), .runs = runs,
				.seconds = seconds };
	p->next = p->terminal ? TERMINAL_SECONDS : PLAIN_SECONDS;
}

/*
 * Fraction of the limit that is used up, of runs or of time, whichever is larger; -1 without a
 * limit.
 */
static double fraction_done(const struct progress *p, const struct search_stats *s)
{
	double by_runs = p->runs ? (double)s->runs / (double)p->runs : -1;
	double by_time = p->seconds > 0 ? s->seconds / p->seconds : -1;
	double larger = by_runs > by_time ? by_runs : by_time;

	return larger > 1 ? 1 : larger;
}

static void draw_bar(const struct progress *p, const struct search_stats *s)
{
	double fraction = fraction_done(p, s);

	fputs("\r\033[K", stderr);
	if (fraction >= 0) {
		fputc('[', stderr);
		for (int i = 0; i < BAR_WIDTH; i++)
			fputc(i < (int)(fraction * BAR_WIDTH) ? '#' : '.', stderr);
		fprintf(stderr, "] %3d%% ", (int)(fraction * 100));
	}
}

static void print_numbers(const struct progress *p, const struct search_stats *s)
{
	fprintf(stderr, "%s%llu run%s, %.0f/s, ", p->note, (unsigned long long)s->runs,
		plural(s->runs), p->speed);
	/* Parallel runs have no count of interleavings. */
	if (s->interleavings)
		fprintf(stderr, "%llu%s interleaving%s, %llu shared word%s, ",
			(unsigned long long)s->interleavings,
			s->interleavings == COVERAGE_MAX ? "+" : "", plural(s->interleavings),
			(unsigned long long)s->shared, plural(s->shared));
	fprintf(stderr, "%llu failed", (unsigned long long)s->failed);
}

void progress_show(struct progress *p, const struct search_stats *s)
{
	if (p->quiet || s->seconds < p->next)
		return;
	if (s->seconds > p->last_time)
		p->speed = (double)(s->runs - p->last_runs) / (s->seconds - p->last_time);
	p->last_runs = s->runs;
	p->last_time = s->seconds;
	p->next = s->seconds + (p->terminal ? TERMINAL_SECONDS : PLAIN_SECONDS);
	if (p->terminal)
		draw_bar(p, s);
	else
		fputs("snarl: ", stderr);
	print_numbers(p, s);
	if (!p->terminal)
		fputc('\n', stderr);
	p->drawn = p->terminal;
	fflush(stderr);
}

void progress_clear(struct progress *p)
{
	if (p->drawn)
		fputs("\r\033[K", stderr);
	p->drawn = false;
}
