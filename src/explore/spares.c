#include "explore/spares.h"

#include <time.h>

#include "explore/strays.h"

#define STRAYS_SECONDS 1	/* all processes of the machine are looked at for that */

void spares_free(struct spares *p)
{
	while (p->count > 0)
		server_close(&p->server[--p->count]);
	strays_end_all(NULL, 0);
}

static bool fits(const struct server *s, const struct server_config *c)
{
	const struct server_config *has = &s->config;

	return has->target == c->target && has->backend == c->backend && has->options == c->options &&
	       has->exec == c->exec && has->keep == c->keep && has->plan_size >= c->plan_size &&
	       has->profile_size == c->profile_size;
}

int spares_open(struct spares *p, struct server *s, const struct server_config *config, struct err *err)
{
	while (p && p->count > 0) {
		*s = p->server[--p->count];
		if (fits(s, config)) {
			s->config.timeout = config->timeout;
			return 0;
		}
		server_close(s);
	}
	return server_open(s, config, err);
}

void spares_close(struct spares *p, struct server *s)
{
	if (p && p->count < SPARES_MOST && s->state == SERVER_IDLE && s->depth == 0)
		p->server[p->count++] = *s;
	else
		server_close(s);
}

void spares_end_strays(struct spares *p)
{
	pid_t keep[SPARES_MOST];
	struct timespec now;

	if (!p) {
		strays_end_all(NULL, 0);
		return;
	}
	clock_gettime(CLOCK_MONOTONIC, &now);
	if (p->looked && now.tv_sec - p->looked < STRAYS_SECONDS)
		return;
	p->looked = now.tv_sec;
	for (unsigned i = 0; i < p->count; i++)
		keep[i] = p->server[i].pid;
	strays_end_all(keep, p->count);
}
