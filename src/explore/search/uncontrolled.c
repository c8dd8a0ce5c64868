#include "explore/search/uncontrolled.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/plural.h"

static void raise_count(uint32_t *to, uint64_t *pc, uint32_t number, uint64_t at)
{
	if (number > *to) {
		*to = number;
		*pc = at;
	}
}

static void add_start(struct ctl_uncontrolled *to, uint64_t start)
{
	for (uint32_t i = 0; i < to->starts; i++)
		if (to->start[i] == start)
			return;
	if (to->starts < CTL_STARTS)
		to->start[to->starts++] = start;
}

void uncontrolled_add(struct ctl_uncontrolled *to, const struct ctl_uncontrolled *run)
{
	raise_count(&to->children, &to->fork_pc, run->children, run->fork_pc);
	raise_count(&to->foreign, &to->foreign_pc, run->foreign, run->foreign_pc);
	raise_count(&to->sharing, &to->sharing_pc, run->sharing, run->sharing_pc);
	if (run->child_threads > to->child_threads)
		to->child_threads = run->child_threads;
	for (uint32_t i = 0; i < run->starts && i < CTL_STARTS; i++)
		add_start(to, run->start[i]);
}

/* Has the file the name of a hook that each instrumented object calls? */
static bool has_hooks(const char *path)
{
	static const char hook[] = "__tsan_init";
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;
	bool found = true;	/* nothing is said about a file that cannot be read */

	if (fd >= 0 && fstat(fd, &st) == 0 && st.st_size > 0) {
		size_t size = (size_t)st.st_size;
		void *p = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);

		if (p != MAP_FAILED) {
			found = memmem(p, size, hook, sizeof(hook)) != NULL;
			munmap(p, size);
		}
	}
	if (fd >= 0)
		close(fd);
	return found;
}

static const char *file_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static bool is_language_library(const char *name)
{
	static const char *const names[] = { "libstdc++.", "libc++.", "libc.", "libpthread.",
					     "libpthread-", "libc-", "ld-" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (strncmp(name, names[i], strlen(names[i])) == 0)
			return true;
	return false;
}

void uncontrolled_settle(struct ctl_uncontrolled *u, const struct places *places)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < u->starts; i++) {
		const struct places_module *m = places_module(places, u->start[i]);

		if (m && !places_in_program(places, u->start[i]) &&
		    !is_language_library(file_name(m->path)) && !has_hooks(m->path))
			u->start[kept++] = u->start[i];
	}
	u->starts = kept;
}

bool uncontrolled_any(const struct ctl_uncontrolled *u)
{
	return u->children || u->foreign || u->sharing || u->starts;
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

/* The library of start function i; NULL if an earlier one is in the same. */
static const char *library(const struct ctl_uncontrolled *u, uint32_t i,
			   const struct places *places)
{
	const struct places_module *m = places_module(places, u->start[i]);

	for (uint32_t k = 0; k < i; k++)
		if (places_module(places, u->start[k]) == m)
			return NULL;
	return m ? file_name(m->path) : NULL;
}

void uncontrolled_describe(const struct ctl_uncontrolled *u, struct places *places,
			   const char *prefix, struct buf *out)
{
	if (u->children) {
		buf_addf(out, "%s%u child %s with %u thread%s ran uncontrolled", prefix,
			 u->children, processes(u->children), u->child_threads,
			 plural(u->child_threads));
		add_place("forked", u->fork_pc, places, out);
	}
	if (u->foreign) {
		buf_addf(out, "%s%u thread%s ran uncontrolled, made in a way that snarl does "
			 "not see",
			 prefix, u->foreign, plural(u->foreign));
		add_place("running", u->foreign_pc, places, out);
	}
	if (u->sharing) {
		buf_addf(out, "%s%u child %s used memory that processes share, uncontrolled",
			 prefix, u->sharing, processes(u->sharing));
		add_place("accessed", u->sharing_pc, places, out);
	}
	for (uint32_t i = 0; i < u->starts; i++) {
		const char *name = library(u, i, places);

		if (name)
			buf_addf(out, "%s%s runs threads and has no hooks: what it does between "
				      "calls is uncontrolled\n", prefix, name);
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
	json_open(j, "libraries", '[');
	for (uint32_t i = 0; i < u->starts; i++)
		if (library(u, i, places))
			json_text(j, NULL, library(u, i, places));
	json_close(j, ']');
	if (u->children)
		add_site("forked", u->fork_pc, places, j);
	if (u->foreign)
		add_site("running", u->foreign_pc, places, j);
	if (u->sharing)
		add_site("accessed", u->sharing_pc, places, j);
	json_close(j, '}');
}
