#include "explore/bug/identity.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"

const char *identity_member(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text ? text : "";
}

/*
 * Appends the name of an object without line and allocation number, which change with the source:
 * "heap@q.c:31#2+8" becomes "heap@q.c+8". An object that has only an address adds nothing.
 */
static void add_unnumbered(struct buf *out, const char *text)
{
	if (strncmp(text, "0x", 2) == 0)
		return;
	while (*text) {
		if ((*text == ':' || *text == '#') && text[1] >= '0' && text[1] <= '9') {
			text++;
			while (*text >= '0' && *text <= '9')
				text++;
		} else {
			buf_add_char(out, *text++);
		}
	}
}

const char *identity_function(const json_t *site)
{
	const char *function = identity_member(site, "function"),
		   *file = identity_member(site, "file");

	return *function ? function : *file ? file : "?";
}

bool identity_has_cause(const json_t *bug)
{
	return json_is_string(json_object_get(bug, "cause"));
}

/* Only sites that are events of a cause have the member "locks". */
bool identity_uses_site(const json_t *bug, const json_t *site)
{
	return !identity_has_cause(bug) || json_object_get(site, "locks");
}

static int compare_texts(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Appends function, operation and object of each site, sorted: their order is the schedule's. */
static void add_sites(struct buf *out, const json_t *bug)
{
	const json_t *sites = json_object_get(bug, "sites"), *site;
	char **texts = xcalloc(json_array_size(sites) + 1, sizeof(*texts));
	size_t i, count = 0;

	json_array_foreach(sites, i, site) {
		struct buf text = { 0 };

		if (!identity_uses_site(bug, site))
			continue;
		buf_addf(&text, "%s %s ", identity_function(site), identity_member(site, "op"));
		add_unnumbered(&text, identity_member(site, "object"));
		texts[count++] = xstrdup(buf_string(&text));
		buf_free(&text);
	}
	qsort(texts, count, sizeof(*texts), compare_texts);
	for (i = 0; i < count; i++) {
		buf_addf(out, "\n%s", texts[i]);
		free(texts[i]);
	}
	free(texts);
}

void identity_append(struct buf *out, const json_t *bug)
{
	buf_addf(out, "%s %s ", identity_member(bug, "class"), identity_member(bug, "pattern"));
	if (!identity_has_cause(bug))
		buf_addf(out, "%s ", identity_member(bug, "failure"));
	add_unnumbered(out, identity_member(bug, "variable"));
	add_sites(out, bug);
}

uint64_t identity_hash(const json_t *bug)
{
	struct buf text = { 0 };
	uint64_t hash;

	identity_append(&text, bug);
	hash = hash_bytes(HASH_START, text.data, text.size);
	buf_free(&text);
	return hash;
}
