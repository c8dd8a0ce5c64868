/*
 * The sites of a failure in terms of source lines: the caller of a library function that crashed,
 * and the identity of a failure.
 */
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "explore/search/oracle.h"

#define FRAMES 16	/* inlined functions at one pc, innermost first; more are ignored */

static bool has_prefix(const char *text, const char *with)
{
	return text && strncmp(text, with, strlen(with)) == 0;
}

/* Whether `pc` is in a system library, or in snarl's runtime, which is linked into the program. */
static bool is_foreign(struct places *places, uint64_t pc)
{
	const struct places_module *m = places_module(places, pc);
	struct symbol_frame f;

	if (!m || has_prefix(m->path, "/lib") || has_prefix(m->path, "/usr/lib"))
		return true;
	places_frame(places, pc, &f);
	return has_prefix(f.function, "snarlrt_") || has_prefix(f.file, "src/runtime/");
}

/* The function that contains `pc` after inlining: the outermost frame. */
static const char *function_of(struct places *places, uint64_t pc)
{
	struct symbol_frame frames[FRAMES];
	size_t count = symbols_frames(places->symbols, pc, frames, FRAMES);

	return count ? frames[count - 1].function : NULL;
}

/*
 * Finds the program's call of the library function that crashed; returns 0 if it is not known.
 *
 * report->calls are return addresses found on the stack, innermost first. Stale ones, from calls
 * that have returned, come before the right one. That is the last address in the innermost
 * instrumented function, before the return address of this function itself (stack[0]).
 */
static uint64_t find_call(const struct ctl_report *report, struct places *places)
{
	const struct ctl_report_thread *t = NULL;
	uint64_t found = 0, other = 0;
	const char *inner;

	for (uint32_t i = 0; i < report->described && i < CTL_REPORT_THREADS; i++)
		if (report->at[i].number == report->thread)
			t = &report->at[i];
	inner = t && t->inner ? function_of(places, t->inner) : NULL;
	for (size_t i = 0; i < ARRAY_SIZE(report->calls) && report->calls[i]; i++) {
		uint64_t call = report->calls[i];
		const char *function = function_of(places, call);

		if (t && t->stack_count && call == t->stack[0])
			break;
		if (inner && function && strcmp(function, inner) == 0)
			found = call;
		else if (!other && !is_foreign(places, call))
			other = call;
	}
	return found ? found : other;
}

void oracle_refine(struct oracle_result *r, const struct ctl_report *report, struct places *places)
{
	uint64_t call;

	for (uint32_t i = 0; i < report->modules && i < CTL_MODULES; i++)
		if (memchr(report->module[i].path, '\0', sizeof(report->module[i].path)))
			places_add_module(places, report->module[i].path, report->module[i].base);
	if ((r->failure != ORACLE_SIGNAL && r->failure != ORACLE_ASSERT) || !r->site_count)
		return;
	if (r->failure == ORACLE_ASSERT && strstr(r->text, ": Assertion `")) {
		r->site_count = r->key_site_count = 0;	/* the message names file and line */
		return;
	}
	call = is_foreign(places, r->sites[0].pc) ? find_call(report, places) : 0;
	if (call)
		r->sites[0].pc = call;
}

static uint64_t hash_site(const struct oracle_site *site, struct places *places)
{
	struct symbol_frame f;

	places_frame(places, site->pc, &f);
	if (!f.file || !f.line)
		return hash_bytes(HASH_START, &site->pc, sizeof(site->pc));
	return hash_bytes(hash_bytes(HASH_START, f.file, strlen(f.file)), &f.line, sizeof(f.line));
}

uint64_t oracle_identity(const struct oracle_result *r, struct places *places)
{
	const char *class = oracle_class(r->failure);
	uint64_t hash = HASH_START, sum = 0;
	bool has_site = false;

	for (size_t i = 0; i < r->key_site_count; i++)
		if (r->sites[i].pc) {
			sum += hash_site(&r->sites[i], places);
			has_site = true;
		}
	if (has_site) {
		hash = hash_bytes(hash, class, strlen(class));
	} else {
		hash = hash_bytes(hash, &r->failure, sizeof(r->failure));
		hash = hash_bytes(hash, &r->number, sizeof(r->number));
		hash = hash_bytes(hash, r->text, strlen(r->text));
	}
	return hash_bytes(hash, &sum, sizeof(sum));
}
