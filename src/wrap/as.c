/*
 * snarl's assembler, libexec/as. Compilers run it because snarl-cc passes -B. It transforms the
 * compiler's assembly and pipes it to the real assembler, which works at the same time. Steps:
 *
 *   1. production builds: compile the source again and merge both texts (dual/second_compile.h)
 *   2. give loops a copy without hooks (loops/loops.h)
 *   3. inline hooks (hooks/inline_asm.h)
 *
 * From clang, LLVM IR comes instead of assembly where possible (args/rewrite.c). Then the steps are
 *
 *   1. turn small copies into plain accesses (hooks/small_copies.h)
 *   2. inline hooks (hooks/inline_ir.h)
 *   3. without a loop that has hooks: the compiler makes the object file from IR
 *      else: the compiler makes assembly, loops get their copies, and the compiler assembles
 *
 * If there are no hooks and nothing to merge, or an option is not supported, this process executes
 * the real assembler. That is SNARL_REAL_AS, or the first other `as` in PATH.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"
#include "wrap/args/as_command.h"
#include "wrap/args/response.h"
#include "wrap/args/rewrite.h"
#include "wrap/dual/second_compile.h"
#include "wrap/hooks/inline_asm.h"
#include "wrap/hooks/inline_ir.h"
#include "wrap/hooks/small_copies.h"
#include "wrap/loops/loops.h"

#define RECURSION_ENV "SNARL_AS_RUNNING"	/* set while snarl's assembler runs a program */
#define BLOCK (1u << 20)	/* bytes of a read and of a pipe: Linux's limit for a pipe */

enum { EXIT_CANNOT = 3 };

/* The pipe to the real assembler or the compiler. */
struct pipe_out {
	int fd;
	bool broken;		/* the reader has exited; its exit code says why */
	size_t used;		/* bytes in buffer */
	char buffer[256u << 10];
};

static void die(const char *what, const char *reason)
{
	fprintf(stderr, "snarl-as: %s: %s\n", what, reason);
	exit(EXIT_CANNOT);
}

/* Maps a regular file; opens a pipe or device for reading. False: it cannot be opened. */
static bool open_input(struct as_input *in)
{
	struct stat st;
	void *map;

	in->fd = strcmp(in->path, "-") == 0 ? 0 : open(in->path, O_RDONLY | O_CLOEXEC);
	if (in->fd < 0 || fstat(in->fd, &st) || S_ISDIR(st.st_mode))
		return false;
	if (!S_ISREG(st.st_mode) || in->fd == 0)
		return true;
	if (st.st_size == 0) {
		in->text = "";
		return true;
	}
	map = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE | MAP_POPULATE, in->fd, 0);
	if (map == MAP_FAILED)
		return true;
	in->text = map;
	in->size = (size_t)st.st_size;
	return true;
}

/* Opens all inputs. False: one cannot be opened, or none has hooks. */
static bool open_inputs(struct as_command *c)
{
	bool wanted = false;

	for (size_t i = 0; i < c->count; i++) {
		struct as_input *in = &c->inputs[i];

		if (!open_input(in))
			return false;
		if (!in->text || inline_has_hooks(in->text, in->size))
			wanted = true;
	}
	return wanted;
}

static void pipe_flush(struct pipe_out *out)
{
	for (size_t done = 0; done < out->used && !out->broken;) {
		ssize_t got = write(out->fd, out->buffer + done, out->used - done);

		if (got > 0)
			done += (size_t)got;
		else if (got < 0 && errno == EPIPE)
			out->broken = true;
		else if (got < 0 && errno != EINTR)
			die("cannot write to the pipe to the assembler", strerror(errno));
	}
	out->used = 0;
}

static void pipe_close(struct pipe_out *out)
{
	pipe_flush(out);
	close(out->fd);
}

static void pipe_write(void *context, const char *text, size_t size)
{
	struct pipe_out *out = context;

	while (size > 0 && !out->broken) {
		size_t part = sizeof(out->buffer) - out->used;

		if (part > size)
			part = size;
		memcpy(out->buffer + out->used, text, part);
		out->used += part;
		text += part;
		size -= part;
		if (out->used == sizeof(out->buffer))
			pipe_flush(out);
	}
}

/* Feeds all whole lines; returns the number of bytes fed. */
static size_t feed_lines(struct inliner *in, const char *text, size_t size,
			 const struct inline_sink *sink)
{
	const char *last = memrchr(text, '\n', size);

	if (!last)
		return 0;
	inliner_feed(in, text, (size_t)(last + 1 - text), sink);
	return (size_t)(last + 1 - text);
}

/* Transforms an input while reading it, in blocks. */
static void stream(struct inliner *in, const struct as_input *from, const struct inline_sink *sink)
{
	size_t room = BLOCK, used = 0;
	char *buffer = xmalloc(room), last = '\n';
	ssize_t got;

	while ((got = read(from->fd, buffer + used, room - used)) != 0) {
		size_t fed;

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			die(from->path, strerror(errno));
		used += (size_t)got;
		last = buffer[used - 1];
		fed = feed_lines(in, buffer, used, sink);
		memmove(buffer, buffer + fed, used - fed);
		used -= fed;
		if (used == room)	/* a line longer than the buffer */
			buffer = xrealloc(buffer, room *= 2);
	}
	inliner_feed(in, buffer, used, sink);
	if (last != '\n')
		sink->write(sink->context, "\n", 1);
	free(buffer);
}

static bool wants_inline(void)
{
	const char *wanted = getenv("SNARL_INLINE");

	return !wanted || strcmp(wanted, "0") != 0;
}

/* Reads the whole input into memory. */
static void read_all(struct as_input *in)
{
	struct buf text = { 0 };
	ssize_t got;

	do {
		got = read(in->fd, buf_reserve(&text, BLOCK), BLOCK);
		if (got > 0)
			text.size += (size_t)got;
	} while (got > 0 || (got < 0 && errno == EINTR));
	if (got < 0)
		die(in->path, strerror(errno));
	in->text = text.data ? (const char *)text.data : "";
	in->size = text.size;
}

/*
 * Production builds: compiles the source again by the command `how` and replaces the input's text
 * by the merged one. If that fails, the input stays as it is.
 */
static void merge_second_compile(struct as_input *in, const char *how)
{
	struct dual_counts counts;
	struct buf merged = { 0 };
	struct err err;

	if (!in->text)
		read_all(in);
	switch (second_compile(how, in->text, in->size, &merged, &counts, &err)) {
	case 1:
		in->text = (const char *)merged.data;
		in->size = merged.size;
		break;
	case -1:
		fprintf(stderr, "snarl-cc: this source is not instrumented: %s\n", err.text);
		break;
	}
}

/* Whether the code may go into a shared library: the default, as that form works everywhere. */
static bool is_pic(void)
{
	const char *pic = getenv(REWRITE_PIC_ENV);

	return !(pic && strcmp(pic, "0") == 0);
}

static bool wants_loops(void)
{
	const char *wanted = getenv(REWRITE_LOOPS_ENV);

	return wanted && strcmp(wanted, "1") == 0;
}

/* Gives loops a copy without hooks. SNARL_LOOPS_WITHOUT=NAME,… leaves out optimisations. */
static size_t add_loops(const char *text, size_t size, bool pic, struct buf *out)
{
	return loops_transform(text, size, pic, loops_without_parse(getenv("SNARL_LOOPS_WITHOUT")),
			       out);
}

/* Replaces the input's text by the output of `transform`. */
static void replace(struct as_input *in,
		    size_t (*transform)(const char *, size_t, bool, struct buf *))
{
	struct buf out = { 0 };

	if (!in->text)
		read_all(in);
	transform(in->text, in->size, is_pic(), &out);
	in->text = out.data ? (const char *)out.data : "";
	in->size = out.size;
}

/* Writes all inputs, transformed, to the pipe and closes it. */
static void transform(struct as_command *c, struct pipe_out *out)
{
	struct inline_sink sink = { pipe_write, out };
	bool inlining = wants_inline();
	struct inliner in;

	inliner_init(&in, is_pic());
	for (size_t i = 0; i < c->count && !out->broken; i++) {
		struct as_input *from = &c->inputs[i];

		if (inlining && c->count == 1 && wants_loops())
			replace(from, add_loops);
		if (!from->text) {
			stream(&in, from, &sink);
			continue;
		}
		if (!inlining) {
			pipe_write(out, from->text, from->size);
			continue;
		}
		inliner_feed(&in, from->text, from->size, &sink);
		if (from->size > 0 && from->text[from->size - 1] != '\n')
			pipe_write(out, "\n", 1);
	}
	pipe_close(out);
}

static bool is_self(const char *path)
{
	struct stat a, b;

	return stat(path, &a) == 0 && stat("/proc/self/exe", &b) == 0 && a.st_dev == b.st_dev &&
	       a.st_ino == b.st_ino;
}

/* Returns the path of the real assembler, from malloc. */
static char *find_real(void)
{
	const char *named = getenv("SNARL_REAL_AS");
	const char *path = getenv("PATH");

	if (named && *named)
		return xstrdup(named);
	if (!path || !*path)
		path = "/usr/local/bin:/usr/bin:/bin";
	for (;;) {
		size_t size = strcspn(path, ":");
		char *as = xasprintf("%.*s%sas", (int)size, path, size ? "/" : "");
		struct stat st;

		if (stat(as, &st) == 0 && S_ISREG(st.st_mode) && access(as, X_OK) == 0 &&
		    !is_self(as))
			return as;
		free(as);
		if (!path[size])
			return xstrdup("/usr/bin/as");
		path += size + 1;
	}
}

static void exec_real(const char *real, char **words)
{
	execvp(real, words);
	fprintf(stderr, "snarl-as: cannot run the assembler '%s': %s; install binutils or set "
		"SNARL_REAL_AS\n", real, strerror(errno));
	_exit(EXIT_CANNOT);
}

/*
 * Starts the real assembler or the compiler. *fd becomes a pipe to its standard input and, unless
 * `from` is NULL, *from a pipe from its standard output. Frees argv.
 */
static pid_t start(const char *program, struct args *argv, bool discard_stderr, int *fd, int *from)
{
	int ends[2], back[2];
	pid_t self = getpid(), pid;

	args_add(argv, "-");
	if (pipe2(ends, O_CLOEXEC) || (from && pipe2(back, O_CLOEXEC)))
		die("cannot create a pipe", strerror(errno));
	(void)fcntl(ends[1], F_SETPIPE_SZ, (int)BLOCK);	/* only for speed; may be refused */
	pid = fork();
	if (pid < 0)
		die("cannot start a process", strerror(errno));
	if (pid == 0) {
		/* Die with the parent, or incomplete assembly would become an object file. */
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() != self)
			_exit(EXIT_CANNOT);
		signal(SIGPIPE, SIG_DFL);
		dup2(ends[0], 0);
		if (from)
			dup2(back[1], 1);
		if (discard_stderr && (ends[1] = open("/dev/null", O_WRONLY | O_CLOEXEC)) >= 0)
			dup2(ends[1], 2);
		exec_real(program, argv->v);
	}
	close(ends[0]);
	*fd = ends[1];
	if (from) {
		close(back[1]);
		*from = back[0];
	}
	args_free(argv);
	return pid;
}

/* Waits for a child; returns its exit code, or dies by the signal that killed it. */
static int wait_for(pid_t pid)
{
	int status;

	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			die("cannot wait for a process", strerror(errno));
	if (WIFSIGNALED(status)) {
		signal(WTERMSIG(status), SIG_DFL);
		raise(WTERMSIG(status));
		return 128 + WTERMSIG(status);
	}
	return WEXITSTATUS(status);
}

/* Transforms assembly and pipes it to the real assembler; returns the exit code. */
static int assemble(const char *real, struct as_command *c)
{
	static struct pipe_out out;
	struct args argv = { 0 };
	pid_t pid;

	args_add(&argv, "as");
	args_add_all(&argv, &c->words);
	signal(SIGPIPE, SIG_IGN);
	pid = start(real, &argv, false, &out.fd, NULL);
	transform(c, &out);
	return wait_for(pid);
}

static bool is_ir(const struct as_command *c)
{
	return c->count == 1 && c->inputs[0].text &&
	       ir_recognise(c->inputs[0].text, c->inputs[0].size);
}

/* Starts the compiler by REWRITE_CODEGEN_ENV. `extra_options`: further options, one per line. */
static pid_t start_compiler(const char *extra_options, const char *output, bool discard_stderr,
			    struct pipe_out *out, int *from)
{
	const char *words = getenv(REWRITE_CODEGEN_ENV);
	struct args argv = { 0 };

	if (!words)
		die("LLVM IR as input", REWRITE_CODEGEN_ENV " is not set; compile with snarl-cc");
	response_parse(words, strlen(words), &argv);
	response_parse(extra_options, strlen(extra_options), &argv);
	args_add(&argv, "-o");
	args_add(&argv, output);
	signal(SIGPIPE, SIG_IGN);
	return start(argv.v[0], &argv, discard_stderr, &out->fd, from);
}

/* Inlines hooks in LLVM IR and lets the compiler make the object file of it. */
static int compile_ir_plain(struct as_input *in, const char *output)
{
	static struct pipe_out out;
	struct inline_sink sink = { pipe_write, &out };
	pid_t pid = start_compiler("", output, false, &out, NULL);

	ir_transform(in->text, in->size, is_pic(), &sink);
	pipe_close(&out);
	return wait_for(pid);
}

/*
 * Inlines hooks in LLVM IR, lets the compiler make assembly of it, gives loops a copy without
 * hooks, and lets the compiler assemble. (GNU as does not accept all of clang's debug information.)
 * The compiler writes only after it has read all, so one process can feed and read it.
 */
static int compile_ir_edited(struct as_input *in, const char *output)
{
	static struct pipe_out out;
	struct inline_sink sink = { pipe_write, &out };
	struct as_input assembly = { .path = "-" };
	pid_t pid = start_compiler("-fno-integrated-as\n-S\n", "-", false, &out, &assembly.fd);
	int code;

	ir_transform(in->text, in->size, is_pic(), &sink);
	pipe_close(&out);
	replace(&assembly, add_loops);
	code = wait_for(pid);
	if (code)
		return code;
	pid = start_compiler("-g0\n-x\nassembler\n", output, true, &out, NULL);
	ir_repair_files(assembly.text, assembly.size, &sink);
	pipe_close(&out);
	/* Errors in inline assembly: the other way reports them with lines of the source. */
	return wait_for(pid) ? compile_ir_plain(in, output) : 0;
}

/* The output file that the command names. */
static const char *output_of(const struct as_command *c)
{
	const char *output = "a.out";

	for (size_t i = 0; i + 1 < c->words.count; i++)
		if (strcmp(c->words.v[i], "-o") == 0)
			output = c->words.v[i + 1];
	return output;
}

int main(int argc, char **argv)
{
	const char *dual = getenv(REWRITE_DUAL_ENV);
	struct as_command command = { 0 };
	struct args in = { 0 };
	struct err err;
	bool hooks;
	char *real;

	if (getenv(RECURSION_ENV))
		die("SNARL_REAL_AS", "leads back to snarl's own assembler; set it to the real one");
	setenv(RECURSION_ENV, "1", 1);
	real = find_real();
	if (argc < 1 || response_expand(argv + 1, (size_t)argc - 1, &in, &err))
		exec_real(real, argv);
	as_command_read(&in, &command);
	hooks = open_inputs(&command);
	if (is_ir(&command)) {
		struct as_input *ir = &command.inputs[0];
		bool loops;

		replace(ir, small_copies_transform);
		loops = wants_loops() && ir_has_loop(ir->text, ir->size);
		return (loops ? compile_ir_edited : compile_ir_plain)(ir, output_of(&command));
	}
	if (command.unsupported || (!dual && (!wants_inline() || !hooks)))
		exec_real(real, argv);
	if (dual && command.count == 1 && command.inputs[0].fd >= 0)
		merge_second_compile(&command.inputs[0], dual);
	return assemble(real, &command);
}
