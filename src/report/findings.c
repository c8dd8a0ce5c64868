/*
 * Reads what results.json has besides bugs: failures that did not replay, and runs that exceeded a
 * limit.
 */
#include <jansson.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "report/model.h"

static struct report_finding *add(struct report *r, bool inconclusive)
{
	struct report_finding *f;

	r->findings =
		xgrow(r->findings, r->finding_count, &r->finding_capacity, sizeof(*r->findings));
	f = &r->findings[r->finding_count++];
	*f = (struct report_finding){ .inconclusive = inconclusive };
	return f;
}

static const char *member(const json_t *from, const char *key)
{
	const char *text = json_string_value(json_object_get(from, key));

	return text ? text : "";
}

static void read_failure(struct report *r, const json_t *from)
{
	struct report_finding *f = add(r, false);
	const char *text = member(from, "text"), *details = member(from, "details");
	size_t size = strlen(details);

	f->title =
		pool_format(&r->pool, "Failed, not proved: %.*s", (int)strcspn(text, "\n"), text);
	text += strcspn(text, "\n");
	f->text = pool_format(&r->pool, "%s%snot proved, since it did not replay: %s%s%.*s",
			      *text ? text + 1 : "", *text ? "\n" : "", member(from, "why"),
			      size ? "\n" : "", (int)(size ? size - 1 : 0), details);
	f->fingerprint = pool_text(&r->pool, member(from, "fingerprint"));
}

static void read_inconclusive(struct report *r, const json_t *from)
{
	const json_t *first = json_object_get(from, "first");
	json_int_t runs = json_integer_value(json_object_get(from, "runs"));
	struct report_finding *f;

	if (runs <= 0 || !first)
		return;
	f = add(r, true);
	f->title = pool_format(&r->pool, "Inconclusive: %lld of %lld run%s exceeded a limit",
			       (long long)runs,
			       (long long)json_integer_value(json_object_get(r->json, "runs")),
			       runs == 1 ? "" : "s");
	f->text = pool_format(&r->pool,
			      "run %lld: %s\nneither passed nor failed; raise --%s, or give the "
			      "program less to do",
			      (long long)json_integer_value(json_object_get(first, "run")),
			      member(first, "text"), member(first, "limit"));
}

void report_read_findings(struct report *r)
{
	const json_t *from;
	size_t i;

	json_array_foreach(json_object_get(r->json, "findings"), i, from)
		read_failure(r, from);
	read_inconclusive(r, json_object_get(r->json, "inconclusive"));
}
