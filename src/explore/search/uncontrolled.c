#include "explore/search/uncontrolled.h"

#include "base/plural.h"

static void raise_count(uint32_t *to, uint64_t *pc, uint32_t number, uint64_t at)
{
	if (number > *to) {
		*to = number;
		*pc = at;
	}
}

void uncontrolled_add(struct ctl_uncontrolled *to, const struct ctl_uncontrolled *run)
{
	raise_count(&to->children, &to->fork_pc, run->children, run->fork_pc);
	raise_count(&to->foreign, &to->foreign_pc, run->foreign, run->foreign_pc);
	raise_count(&to->sharing, &to->sharing_pc, run->sharing, run->sharing_pc);
	if (run->child_threads > to->child_threads)
		to->child_threads = run->child_threads;
}

bool uncontrolled_any(const struct ctl_uncontrolled *u)
{
	return u->children || u->foreign || u->sharing;
}

static const char *processes(uint32_t count)
{
	return count == 1 ? "process" : "processes";
}

/* Ends a line with the place in parentheses. A call's pc is the address after the call. */
static void add_place(const char *what, uint64_t pc, struct places *places, struct buf *out)
{
	struct symbol_frame f = { 0 };

	if (pc)
		places_frame(places, pc - 1, &f);
	if (f.file && f.line)
		buf_addf(out, " (%s at %s:%u)", what, f.file, f.line);
	buf_add_char(out, '\n');
}

void uncontrolled_describe(const struct ctl_uncontrolled *u, struct places *places,
			   const char *prefix, struct buf *out)
{
	if (u->children) {
		buf_addf(out, "%s%u child %s with %u thread%s ran uncontrolled", prefix, u->children,
			 processes(u->children), u->child_threads, plural(u->child_threads));
		add_place("forked", u->fork_pc, places, out);
	}
	if (u->foreign) {
		buf_addf(out, "%s%u thread%s ran uncontrolled, made in a way that snarl does not see",
			 prefix, u->foreign, plural(u->foreign));
		add_place("running", u->foreign_pc, places, out);
	}
	if (u->sharing) {
		buf_addf(out, "%s%u child %s used memory that processes share, uncontrolled",
			 prefix, u->sharing, processes(u->sharing));
		add_place("accessed", u->sharing_pc, places, out);
	}
}

static void add_site(const char *name, uint64_t pc, struct places *places, struct json *j)
{
	struct symbol_frame f = { 0 };

	if (pc)
		places_frame(places, pc - 1, &f);
	json_open(j, name, '{');
	json_text(j, "file", f.file ? f.file : "");
	json_number(j, "line", f.line);
	json_close(j, '}');
}

void uncontrolled_json(const struct ctl_uncontrolled *u, struct places *places, struct json *j)
{
	json_open(j, "uncontrolled", '{');
	json_number(j, "child_processes", u->children);
	json_number(j, "child_threads", u->child_threads);
	json_number(j, "other_threads", u->foreign);
	json_number(j, "sharing_processes", u->sharing);
	if (u->children)
		add_site("forked", u->fork_pc, places, j);
	if (u->foreign)
		add_site("running", u->foreign_pc, places, j);
	if (u->sharing)
		add_site("accessed", u->sharing_pc, places, j);
	json_close(j, '}');
}
