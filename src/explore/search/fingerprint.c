#include "explore/search/fingerprint.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/hash.h"

#define DIGITS (FINGERPRINT_SIZE - 1)

static uint64_t add_text(uint64_t hash, const char *text)
{
	return hash_bytes(hash, text, strlen(text) + 1);
}

/*
 * Adds the message of a failed assertion without its numbers: lines, values, process ids. The name
 * of the program before the first ": " may be a path.
 */
static uint64_t add_message(uint64_t hash, const char *text)
{
	const char *start = strstr(text, ": ");

	for (const char *p = start ? start + 2 : text; *p; p++)
		if (!isdigit((unsigned char)*p))
			hash = hash_bytes(hash, p, 1);
	return hash;
}

static uint64_t hash_site(const struct oracle_site *site, struct places *places)
{
	const struct places_module *m = places_module(places, site->pc);
	const char *base = m ? strrchr(m->path, '/') : NULL;
	uint64_t hash = add_text(HASH_START, site->op);
	struct symbol_frame f;

	places_frame(places, site->pc, &f);
	return add_text(hash, f.function ? f.function : base ? base : "?");
}

void fingerprint_of(const struct oracle_result *r, struct places *places,
		    char out[FINGERPRINT_SIZE])
{
	uint64_t hash = add_text(HASH_START, oracle_failure_name(r->failure)), sum = 0;

	hash = hash_bytes(hash, &r->number, sizeof(r->number));
	if (r->failure == ORACLE_ASSERT)
		hash = add_message(hash, r->text);
	/* A sum: the order of a deadlock's threads does not matter. */
	for (size_t i = 0; i < r->key_site_count; i++)
		if (r->sites[i].pc)
			sum += hash_site(&r->sites[i], places);
	hash = hash_bytes(hash, &sum, sizeof(sum));
	snprintf(out, FINGERPRINT_SIZE, "%0*llx", DIGITS,
		 (unsigned long long)(hash >> (64 - 4 * DIGITS)));
}

bool fingerprint_is_valid(const char *text)
{
	return strlen(text) == DIGITS && strspn(text, "0123456789abcdef") == DIGITS;
}
