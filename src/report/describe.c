/*
 * Titles, steps and failures in words.
 */
#include "report/describe.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

static const struct {
	const char *failure, *title;
} failures[] = {
	{ "assert", "An assertion failed" },
	{ "signal", "The program crashed" },
	{ "exit", "The program ended with an unexpected exit status" },
	{ "deadlock", "Deadlock" },
	{ "hang", "The program hangs: its threads run, but make no progress" },
	{ "timeout", "The program did not end in time" },
	{ "output", "The output is wrong" },
	{ "check", "The check of the result failed" },
	{ "uaf", "Memory was used after it was freed" },
	{ "double-free", "Memory was freed twice" },
	{ "bad-free", "Memory was freed that was not allocated" },
	{ "misuse", "A lock, condition or thread was misused" },
	{ "overflow", "Memory beside a heap block or a buffer was accessed" },
	{ "processes", "The program started too many processes" },
};

static const struct {
	const char *op, *verb;
} verbs[] = {
	{ "read", "reads" }, { "write", "writes" }, { "read-range", "reads" },
	{ "write-range", "writes" },
	{ "atomic-load", "atomically reads" }, { "atomic-store", "atomically writes" },
	{ "atomic-xchg", "atomically swaps" }, { "atomic-add", "atomically adds to" },
	{ "atomic-sub", "atomically subtracts from" }, { "atomic-and", "atomically masks" },
	{ "atomic-or", "atomically sets bits of" }, { "atomic-xor", "atomically flips bits of" },
	{ "atomic-cas", "atomically replaces" }, { "atomic-cas-fail", "fails to replace" },
	{ "lock", "locks" }, { "trylock", "locks" }, { "timedlock", "locks" },
	{ "unlock", "unlocks" },
	{ "rdlock", "read-locks" }, { "tryrdlock", "read-locks" }, { "timedrdlock", "read-locks" },
	{ "wrlock", "write-locks" }, { "trywrlock", "write-locks" },
	{ "timedwrlock", "write-locks" },
	{ "rwunlock", "unlocks" }, { "spinlock", "locks" }, { "spin-trylock", "locks" },
	{ "spin-unlock", "unlocks" }, { "cond-wait", "begins to wait on" },
	{ "cond-wake", "wakes up on" },
	{ "cond-signal", "signals" }, { "cond-broadcast", "signals all on" },
	{ "sem-wait", "acquires" },
	{ "sem-trywait", "acquires" }, { "sem-timedwait", "acquires" }, { "sem-post", "posts" },
	{ "barrier-enter", "arrives at" }, { "barrier-leave", "leaves" }, { "create", "creates" },
	{ "start", "starts" }, { "end", "ends" }, { "join", "joins" }, { "malloc", "allocates" },
	{ "free", "frees" },
	{ "cancel", "cancels" }, { "detach", "detaches" }, { "use", "uses" },
	{ "misuse", "misuses" }, { "overflow", "leaves the bounds of" },
	{ "once-begin", "runs the initialiser of" }, { "once-end", "has initialised" },
	{ "once-pass", "finds initialised:" },
	{ "assert", "fails its assertion" }, { "crash", "crashes" }, { "abort", "aborts" },
	{ "wait", "waits" }, { "call", "is in a call" }, { "stand", "is here" },
};

static bool is(const char *a, const char *b)
{
	return a && strcmp(a, b) == 0;
}

const struct pattern_row *describe_pattern(const struct report_bug *b)
{
	return pattern_row(pattern_find(b->pattern));
}

bool describe_is_two_variables(const struct report_bug *b)
{
	return describe_pattern(b)->two;
}

void describe_object(const char *object, struct buf *out)
{
	bool heap = strncmp(object, "heap@", 5) == 0, map = strncmp(object, "mmap@", 5) == 0;
	const char *hash = heap || map ? strrchr(object, '#') : NULL, *plus,
		   *place = strstr(object, " (");

	if (!hash) {	/* "left (bank.c:15)" becomes "left": reports show declarations elsewhere */
		buf_add(out, object, place ? (size_t)(place - object) : strlen(object));
		return;
	}
	buf_add_text(out, heap ? "block " : "mapping ");
	buf_add(out, object + 5, (size_t)(hash - object - 5));
	plus = strchr(hash, '+');
	if (strncmp(hash, "#1+", 3) != 0 && strcmp(hash, "#1") != 0)
		buf_add(out, hash, plus ? (size_t)(plus - hash) : strlen(hash));
	if (plus)
		buf_addf(out, " %s", plus);
}

/* The variable of the cause that `variable` does not name; NULL: there is none. */
static const char *second_variable(const struct report_bug *b)
{
	for (size_t i = 0; i < b->site_count; i++)
		if (b->sites[i].cause && b->sites[i].object && b->variable &&
		    strcmp(b->sites[i].object, b->variable) != 0)
			return b->sites[i].object;
	return NULL;
}

static void capital(struct buf *out, size_t start)
{
	if (start < out->size)
		out->data[start] = (uint8_t)toupper(out->data[start]);
}

/* "+8 of the block allocated at q.c:31" for a heap block; describe_object() for anything else. */
static void title_object(const char *object, struct buf *out)
{
	struct buf name = { 0 };
	const char *text, *plus;

	describe_object(object ? object : "something", &name);
	text = buf_string(&name);
	plus = strrchr(text, '+');
	if (object && strncmp(object, "heap@", 5) == 0 && strncmp(text, "block ", 6) == 0)
		buf_addf(out, "%s%sthe block allocated at %.*s", plus ? plus : "",
			 plus ? " of " : "", (int)(plus ? plus - text - 7 : (long)strlen(text) - 6),
			 text + 6);
	else
		buf_add_text(out, text);
	buf_free(&name);
}

/* Appends a title with both threads if the bug is a lock cycle of two threads. */
static bool pair_title(const struct report_bug *b, struct buf *out)
{
	const char *first = NULL, *second = NULL;

	for (size_t i = 0; i < b->site_count; i++) {
		const char *thread = b->sites[i].cause ? b->sites[i].thread : NULL;

		if (!thread || is(first, thread) || is(second, thread))
			continue;
		if (second)
			return false;
		*(first ? &second : &first) = thread;
	}
	if (!second || pattern_find(b->pattern) != PATTERN_LOCK_CYCLE)
		return false;
	buf_addf(out, "Deadlock: threads %s and %s each hold a lock that the other one waits for",
		 first, second);
	return true;
}

void describe_title(const struct report_bug *b, struct buf *out)
{
	const struct pattern_row *p = describe_pattern(b);
	const char *second = describe_is_two_variables(b) ? second_variable(b) : NULL, *gap;

	if (pair_title(b, out))
		return;
	if (second) {
		buf_add_text(out, "Two variables out of step: ");
		describe_object(b->variable, out);
		buf_add_text(out, " and ");
		describe_object(second, out);
		return;
	}
	if (p->title) {
		gap = strstr(p->title, "%s");
		buf_add(out, p->title, gap ? (size_t)(gap - p->title) : strlen(p->title));
		if (gap) {
			title_object(b->variable, out);
			buf_add_text(out, gap + 2);
		}
		return;
	}
	for (size_t i = 0; i < ARRAY_SIZE(failures); i++)
		if (is(b->failure, failures[i].failure)) {
			buf_add_text(out, failures[i].title);
			return;
		}
	buf_addf(out, "The program failed%s%s", b->failure ? ": " : "",
		 b->failure ? b->failure : "");
}

void describe_kind(const struct report_bug *b, struct buf *out)
{
	buf_add_text(out, b->class ? b->class : "failure");
	if (b->pattern || b->failure)
		buf_addf(out, "/%s", b->pattern ? b->pattern : b->failure);
}

void describe_kind_title(const struct report_bug *b, struct buf *out)
{
	const char *any = describe_pattern(b)->any_variable;
	struct report_bug kind = { .pattern = b->pattern, .failure = b->failure,
				   .variable = any ? any : "shared memory" };

	if (describe_is_two_variables(b))
		buf_add_text(out, "Two variables out of step");
	else
		describe_title(&kind, out);
}

static bool is_address(const char *object)
{
	return strncmp(object, "0x", 2) == 0;
}

static bool ends_with(const char *text, const char *end)
{
	size_t size = strlen(text), n = strlen(end);

	return size > n && strcmp(text + size - n, end) == 0;
}

static void waiting(const struct report_step *s, struct buf *out)
{
	if (is(s->op, "join")) {
		buf_add_text(out, "waits for a thread to end");
	} else if (is(s->op, "wait") || is(s->op, "call") || is(s->op, "stand")) {
		buf_add_text(out, "waits");
	} else {
		buf_add_text(out, "waits for ");
		describe_object(s->object ? s->object : "a lock", out);
	}
}

/*
 * The word between value and object, "from" in "reads 100 from balance"; NULL: the value comes
 * last. The value comes first where it matters most, because narrow columns cut off the end.
 */
static const char *value_before(const struct report_step *s)
{
	if (is(s->op, "read") || is(s->op, "atomic-load"))
		return "from";
	return is(s->op, "write") || is(s->op, "atomic-store") ? "to" : NULL;
}

void describe_step(const struct report_bug *b, const struct report_step *s, struct buf *out)
{
	const char *verb = s->op, *between;

	if (s->pending && s->role != REPORT_CAUSE &&
	    (is(b->failure, "deadlock") || is(b->failure, "hang"))) {
		waiting(s, out);
		return;
	}
	for (size_t i = 0; i < ARRAY_SIZE(verbs); i++)
		if (strcmp(verbs[i].op, s->op) == 0)
			verb = verbs[i].verb;
	if (s->pending && s->role == REPORT_CAUSE)
		buf_add_text(out, "(not reached) ");
	if (ends_with(s->op, "-init"))
		verb = "initialises";
	else if (ends_with(s->op, "-destroy"))
		verb = "destroys";
	buf_add_text(out, verb);
	if (is(s->op, "crash") && s->object)
		buf_add_text(out, " accessing");
	else if (!s->object || (is_address(s->object) && s->role == REPORT_FAILURE))
		return;
	between = s->value ? value_before(s) : NULL;
	if (between)
		buf_addf(out, " %s %s", s->value, between);
	buf_add_char(out, ' ');
	describe_object(s->object, out);
	if (s->value && !between)
		buf_addf(out, " = %s", s->value);
}

/* Does the read come before the other thread's write of the same variable? */
static bool reads_old(const struct report_bug *b, const struct report_step *read)
{
	for (size_t i = 0; i < b->step_count; i++) {
		const struct report_step *w = &b->steps[i];

		if (w->number && w->writes && w->thread != read->thread &&
		    is(w->object, read->object))
			return w->number > read->number;
	}
	return false;
}

/* ", which thread 0.2 has held since step 1": the holder of the lock that a step waits for. */
static void describe_holder(const struct report_bug *b, const struct report_step *s,
			    struct buf *out)
{
	for (size_t i = 0; i < b->arrow_count; i++) {
		const struct report_step *by = &b->steps[b->arrows[i].to];

		if (b->arrows[i].kind != REPORT_WAIT || &b->steps[b->arrows[i].from] != s)
			continue;
		buf_addf(out, ", which thread %s has held since ", b->threads[by->thread].name);
		if (by->number)
			buf_addf(out, "step %u", by->number);
		else
			describe_place(&by->at, out);
		return;
	}
}

void describe_effect(const struct report_bug *b, const struct report_step *s, struct buf *out)
{
	const struct pattern_row *p = describe_pattern(b);

	if (!s->number)
		return;
	if (is(b->failure, "deadlock") && s->pending) {
		describe_holder(b, s, out);
		return;
	}
	if (describe_is_two_variables(b) && is(s->op, "read")) {
		buf_add_text(out, reads_old(b, s) ? " before its update" : " after its update");
		return;
	}
	/*
	 * These texts name steps by rank, which is right only if the run kept the order of the
	 * list.
	 */
	if (s->number == s->rank && s->number <= ARRAY_SIZE(p->effect) && p->effect[s->number - 1])
		buf_addf(out, " %s", p->effect[s->number - 1]);
}

/* The number of the event that is `rank`-th in bug.json; `rank` itself if the run lacks it. */
static unsigned number_of(const struct report_bug *b, unsigned rank)
{
	for (size_t i = 0; i < b->step_count; i++)
		if (b->steps[i].rank == rank && b->steps[i].number)
			return b->steps[i].number;
	return rank;
}

void describe_hint(const struct report_bug *b, struct buf *out)
{
	const char *hint = describe_pattern(b)->hint;

	for (const char *t = hint ? hint : ""; *t; t++)
		if (*t == '$')
			buf_addf(out, "%u", number_of(b, (unsigned)(*++t - '0')));
		else
			buf_add_char(out, *t);
}

void describe_failure(const struct report_bug *b, struct buf *out)
{
	const char *text = b->text ? b->text : b->failure ? b->failure : "the run failed";
	size_t start = out->size;

	buf_add(out, text, strcspn(text, "\n"));
	capital(out, start);
}

/* Length of the folder if `text` begins with the path of one of the bug's sources, else 0. */
static size_t folder_at(const struct report_bug *b, const char *text)
{
	for (size_t i = 0; i < b->site_count; i++) {
		const char *file = b->sites[i].at.file, *slash = file ? strrchr(file, '/') : NULL;

		if (slash && strncmp(text, file, strlen(file)) == 0)
			return (size_t)(slash + 1 - file);
	}
	return 0;
}

/* Does describe_effect() name the holder that the line "thread 0.2 waits at ..." is about? */
static bool effect_covers_line(const struct report_bug *b, const char *line)
{
	for (size_t i = 0; i < b->step_count; i++) {
		const struct report_step *s = &b->steps[i];
		const char *name = b->threads[s->thread].name;
		struct buf holder = { 0 };
		bool covered = false;

		if (s->number && s->pending && strncmp(line, "thread ", 7) == 0 &&
		    strncmp(line + 7, name, strlen(name)) == 0 && line[7 + strlen(name)] == ' ') {
			describe_holder(b, s, &holder);
			covered = holder.size > 0;
			buf_free(&holder);
		}
		if (covered)
			return true;
	}
	return false;
}

void describe_details(const struct report_bug *b, bool all_lines, struct buf *out)
{
	const char *p = b->text ? strchr(b->text, '\n') : NULL;

	while (p) {
		const char *end;

		p += 1 + strspn(p + 1, " ");
		end = p + strcspn(p, "\n");
		if (all_lines || !effect_covers_line(b, p)) {
			while (p < end) {
				p += folder_at(b, p);
				buf_add_char(out, *p++);
			}
			if (*end)
				buf_add_char(out, '\n');
		}
		p = *end ? end : NULL;
	}
}

void describe_thread(const struct report_bug *b, size_t thread, struct buf *out)
{
	buf_addf(out, "Thread %s", b->threads[thread].name);
	if (b->threads[thread].function)
		buf_addf(out, " (%s)", b->threads[thread].function);
}

void describe_place(const struct report_place *at, struct buf *out)
{
	const char *slash = at->file ? strrchr(at->file, '/') : NULL;

	if (!at->file)
		return;
	buf_add_text(out, slash ? slash + 1 : at->file);
	if (at->line)
		buf_addf(out, ":%u", at->line);
}

const char *describe_common_file(const struct report_bug *b)
{
	const char *file = NULL;

	for (size_t i = 0; i < b->step_count; i++) {
		const char *other = b->steps[i].at.file;

		if (other && file && strcmp(file, other) != 0)
			return NULL;
		file = other ? other : file;
	}
	return file;
}

void describe_replay_command(const struct report_bug *b, const char *schedule, struct buf *out)
{
	char *path = xasprintf("%s%s%s%s", *b->path == '-' ? "./" : "", b->path,
			       schedule ? "/" : "", schedule ? schedule : "");

	buf_add_text(out, "snarl replay ");
	buf_add_shell_word(out, path);
	free(path);
}
