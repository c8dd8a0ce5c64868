/*
 * gcc compiles the source again. For clang, the source is first preprocessed without
 * instrumentation: programs can test for it with __has_feature(thread_sanitizer), and both versions
 * must be of the same program.
 *
 * All output goes to memfds, so no temporary files remain.
 */
#include "wrap/dual/second_compile.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/proc.h"
#include "wrap/args/response.h"
#include "wrap/args/rewrite.h"

#define HEAD_LINES 40	/* .file is among these; .note sections may come before it */

/* The command of REWRITE_DUAL_ENV. */
struct plan {
	struct args words;	/* compiler and arguments, with the marks of rewrite.h */
	bool gcc;		/* gcc, else clang */
	size_t sources;		/* number of sources among the words */
	const char *source;	/* the source that the plain text comes from */
	const char *language;	/* value of -x in effect for it, or NULL */
};

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* Returns the source's name from the .file line at the text's start, from malloc; NULL: none. */
static char *find_name(const char *text, size_t size)
{
	const char *end = text + size;

	for (int line = 0; line < HEAD_LINES && text < end; line++) {
		const char *stop = memchr(text, '\n', (size_t)(end - text));
		const char *quote, *last;

		stop = stop ? stop : end;
		quote = memchr(text, '"', (size_t)(stop - text));
		last = memrchr(text, '"', (size_t)(stop - text));
		if (stop - text > 7 && memcmp(text, "\t.file\t", 7) == 0 && quote == text + 7 &&
		    last > quote)
			return xstrndup(quote + 1, (size_t)(last - quote - 1));
		text = stop + 1;
	}
	return NULL;
}

/* Finds the source that the text comes from: the only one, or the only one of that name. */
static int find_source(struct plan *p, const char *name, struct err *err)
{
	const char *language = NULL;
	size_t found = 0;

	for (size_t i = 0; i < p->words.count; i++) {
		const char *word = p->words.v[i];

		if (strcmp(word, "-x") == 0 && i + 1 < p->words.count)
			language = p->words.v[i + 1];
		else if (strncmp(word, "-x", 2) == 0 && word[2])
			language = word + 2;
		if (word[0] != REWRITE_SOURCE)
			continue;
		p->sources++;
		if (strcmp(base_name(word + 1), base_name(name)) == 0 || !p->source) {
			found += strcmp(base_name(word + 1), base_name(name)) == 0;
			p->source = word + 1;
			p->language = language;
		}
	}
	if (p->sources == 1 || found == 1)
		return 0;
	return err_set(err,
		       "%s of the sources in this command are named '%s': compile them one by one",
		       found ? "several" : "none", base_name(name));
}

static bool is_cxx(const struct plan *p)
{
	static const char *const c[] = { ".c", ".i" };
	const char *dot = strrchr(base_name(p->source), '.');

	if (p->language && strcmp(p->language, "none") != 0)
		return strncmp(p->language, "c++", 3) == 0;
	for (size_t i = 0; dot && i < ARRAY_SIZE(c); i++)
		if (strcmp(dot, c[i]) == 0)
			return false;
	return true;
}

/* Appends the words without sources; those for the instrumented compilation if `instrumented`. */
static void add_words(const struct plan *p, bool instrumented, struct args *out)
{
	for (size_t i = 0; i < p->words.count; i++) {
		const char *word = p->words.v[i];

		if (word[0] == REWRITE_INST && instrumented)
			args_add(out, word + 1);
		else if (word[0] != REWRITE_SOURCE && word[0] != REWRITE_INST)
			args_add(out, word);
	}
}

/* Appends the source, with its language. */
static void add_source(const struct plan *p, struct args *out)
{
	if (p->language) {
		args_add(out, "-x");
		args_add(out, p->language);
	} else if (p->sources > 1) {
		args_add(out, "-x");	/* cancels -x of other sources */
		args_add(out, "none");
	}
	args_add(out, p->source);
}

/*
 * Runs the command with files as standard input (-1: none) and output. If it fails, its first line
 * of error output becomes the reason.
 */
static int run(struct args *command, int in, int out, struct err *err)
{
	int said = memfd_create("snarl-said", MFD_CLOEXEC), status;
	struct proc_start start = { .argv = command->v, .in = in, .out = out, .error = said };
	char text[160] = "";
	ssize_t got;
	pid_t pid;

	if (said < 0)
		return err_set(err, "memfd_create: %s", strerror(errno));
	pid = proc_spawn(&start, NULL, err);
	status = pid < 0 ? -1 : proc_wait(pid);
	got = pread(said, text, sizeof(text) - 1, 0);
	close(said);
	if (pid < 0)
		return -1;
	text[got > 0 ? got : 0] = '\0';
	text[strcspn(text, "\n")] = '\0';
	if (status != 0)
		return err_set(err, "the instrumented compilation failed: %s", text);
	return 0;
}

/* Writes the instrumented assembly to the file `out`. */
static int compile(const struct plan *p, int out, struct err *err)
{
	struct args command = { 0 };
	int source = -1, failed = 0;

	if (!p->gcc) {
		source = memfd_create("snarl-source", MFD_CLOEXEC);
		add_words(p, false, &command);
		args_add(&command, "-E");
		args_add(&command, "-o");
		args_add(&command, "-");
		add_source(p, &command);
		failed = source < 0 ? err_set(err, "memfd_create: %s", strerror(errno))
				    : run(&command, -1, source, err);
		args_truncate(&command, 0);
		if (source >= 0)
			lseek(source, 0, SEEK_SET);
	}
	add_words(p, true, &command);
	args_add(&command, "-S");
	args_add(&command, "-o");
	args_add(&command, "-");
	if (p->gcc) {
		add_source(p, &command);
	} else {
		args_add(&command, "-fverbose-asm");	/* for is_file_attribute() */
		args_add(&command, "-Xclang");
		args_add(&command, "-main-file-name");
		args_add(&command, "-Xclang");
		args_add(&command, p->source);
		args_add(&command, "-x");
		args_add(&command, is_cxx(p) ? "c++-cpp-output" : "cpp-output");
		args_add(&command, "-");
	}
	if (!failed)
		failed = run(&command, source, out, err);
	if (source >= 0)
		close(source);
	args_free(&command);
	return failed;
}

static int merge(const struct plan *p, const char *plain, size_t size, struct buf *out,
		 struct dual_counts *counts, struct err *err)
{
	int file = memfd_create("snarl-inst", MFD_CLOEXEC), failed;
	char *text = MAP_FAILED;
	off_t length = 0;

	if (file < 0)
		return err_set(err, "memfd_create: %s", strerror(errno));
	failed = compile(p, file, err);
	if (!failed) {
		length = lseek(file, 0, SEEK_END);
		text = mmap(NULL, (size_t)length, PROT_READ, MAP_PRIVATE, file, 0);
		failed = text == MAP_FAILED
				 ? err_set(err, "the instrumented compilation wrote no assembly")
				 : dual_merge(plain, size, text, (size_t)length, p->gcc, out,
					      counts, err);
	}
	if (text != MAP_FAILED)
		munmap(text, (size_t)length);
	close(file);
	return failed;
}

int second_compile(const char *how, const char *plain, size_t size, struct buf *out,
	  struct dual_counts *counts, struct err *err)
{
	char *name = find_name(plain, size);
	struct args all = { 0 };
	struct plan p = { 0 };
	int result = 0;

	if (!name)
		return 0;
	response_parse(how, strlen(how), &all);
	for (size_t i = 1; i < all.count; i++)
		args_add(&p.words, all.v[i]);
	p.gcc = all.count > 0 && strcmp(all.v[0], "gcc") == 0;
	if (find_source(&p, name, err) || merge(&p, plain, size, out, counts, err))
		result = -1;
	else
		result = 1;
	args_free(&p.words);
	args_free(&all);
	free(name);
	return result;
}
