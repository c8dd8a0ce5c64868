/*
 * What snarl-cc does: finds the compiler and snarl's files, rewrites the command line (rewrite()),
 * sets the environment for snarl's assembler, and executes the compiler.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "wrap/args/response.h"
#include "wrap/args/rewrite.h"

#define RECURSION_ENV "SNARL_CC_RUNNING"	/* set while snarl-cc runs the compiler */

enum { EXIT_USAGE = 2, EXIT_CANNOT = 3 };

static int print_error(bool cxx, const struct err *err, int code)
{
	fprintf(stderr, "snarl-%s: %s\n", cxx ? "c++" : "cc", err->text);
	return code;
}

/* Returns the value of REWRITE_CODEGEN_ENV, from malloc. */
static char *codegen_text(const struct rewrite *r, const char *compiler)
{
	struct args words = { 0 };
	size_t size;
	char *text;

	args_add(&words, compiler);
	args_add_all(&words, &r->codegen);
	text = response_text(&words, &size);
	args_free(&words);
	text = xrealloc(text, size + 1);
	text[size] = '\0';
	return text;
}

/* Prints the command for a shell, with the environment that snarl's assembler needs. */
static void print_command(const struct args *command, const struct rewrite *r)
{
	char *line = args_quote(command), *dual = args_quote(&r->dual);

	if (r->dual.count > 0)
		printf(REWRITE_DUAL_ENV "=%s ", dual);
	if (r->codegen.count > 0) {
		struct args text = { 0 };
		char *quoted;

		args_take(&text, codegen_text(r, command->v[0]));
		quoted = args_quote(&text);
		printf(REWRITE_CODEGEN_ENV "=%s ", quoted);
		free(quoted);
		args_free(&text);
	}
	printf("%s%s%s\n", r->executable_code ? REWRITE_PIC_ENV "=0 " : "",
	       r->loops ? REWRITE_LOOPS_ENV "=1 " : "", line);
	free(line);
	free(dual);
}

/* Sets the environment variables that snarl's assembler reads. */
static void set_environment(const struct rewrite *r, const char *compiler)
{
	if (r->executable_code)
		setenv(REWRITE_PIC_ENV, "0", 1);
	else
		unsetenv(REWRITE_PIC_ENV);
	if (r->loops)
		setenv(REWRITE_LOOPS_ENV, "1", 1);
	else
		unsetenv(REWRITE_LOOPS_ENV);
	if (r->no_inline)
		setenv("SNARL_INLINE", "0", 1);
	if (r->dual.count > 0)
		setenv(REWRITE_DUAL_ENV, r->dual.v[0], 1);
	else
		unsetenv(REWRITE_DUAL_ENV);
	unsetenv(REWRITE_CODEGEN_ENV);
	if (r->codegen.count > 0) {
		char *text = codegen_text(r, compiler);

		setenv(REWRITE_CODEGEN_ENV, text, 1);
		free(text);
	}
}

/* Executes the compiler, whose own command has `own_words` words; returns only on failure. */
static int run(struct args *command, size_t own_words, const struct rewrite *r, struct err *err)
{
	set_environment(r, command->v[0]);
	if (response_shorten(command, own_words, RESPONSE_LIMIT, err))
		return -1;
	execvp(command->v[0], command->v);
	return err_set(err, "cannot run the compiler '%s': %s; set SNARL_CC and SNARL_CXX",
		       command->v[0], strerror(errno));
}

/* Whether the compiler's command names snarl-cc or snarl-c++ itself. */
static bool is_own_compiler(const struct args *command)
{
	for (size_t i = 0; i < command->count; i++) {
		const char *slash = strrchr(command->v[i], '/');

		if (strncmp(slash ? slash + 1 : command->v[i], "snarl-c", 7) == 0)
			return true;
	}
	return false;
}

/* Packs the second compilation's command into one word, the value of REWRITE_DUAL_ENV. */
static void pack_dual(const struct args *command, enum compiler_kind kind, struct rewrite *r)
{
	struct args all = { 0 };
	size_t size;

	if (r->dual.count == 0)
		return;
	args_add(&all, kind == COMPILER_GCC ? "gcc" : "clang");
	args_add_all(&all, command);
	args_add_all(&all, &r->dual);
	args_truncate(&r->dual, 0);
	args_take(&r->dual, response_text(&all, &size));
	args_free(&all);
}

/* Fills *command with the command to execute, and *out; returns 0 or an exit code. */
static int prepare(int argc, char **argv, bool cxx, struct args *command, size_t *own_words,
		   struct rewrite *out, struct err *err)
{
	const char *wanted = getenv("SNARL_INLINE");
	struct compiler_home home;
	struct rewrite_config config = {
		.no_inline = wanted && strcmp(wanted, "0") == 0,
		.home = &home,
	};
	struct args in = { 0 };
	int code = 0;

	compiler_command(getenv("SNARL_CC"), getenv("SNARL_CXX"), cxx, command);
	*own_words = command->count;
	if (getenv(RECURSION_ENV) || is_own_compiler(command)) {
		err_set(err, "the compiler '%s' leads back to snarl-cc; set SNARL_CC and SNARL_CXX "
			"to gcc or clang", command->v[0]);
		return EXIT_USAGE;
	}
	/* Not with a launcher such as ccache, which the second call would confuse. */
	config.two_steps = command->count == 1;
	setenv(RECURSION_ENV, "1", 1);	/* before compiler_ask() runs a program */
	config.kind = compiler_kind(command);
	if (config.kind == COMPILER_UNKNOWN && compiler_ask(command, &config.kind, err))
		return EXIT_CANNOT;
	if (compiler_find_home(getenv("SNARL_HOME"), &home, err))
		return EXIT_CANNOT;
	if (response_expand(argv + 1, argc > 0 ? (size_t)argc - 1 : 0, &in, err) ||
	    rewrite(&in, &config, out, err))
		code = EXIT_USAGE;
	pack_dual(command, config.kind, out);
	if (code == 0)
		args_add_all(command, &out->words);
	args_free(&in);
	compiler_home_free(&home);
	return code;
}

int wrap_main(int argc, char **argv, bool cxx)
{
	struct args command = { 0 };
	struct rewrite out = { 0 };
	struct err err = { "" };
	size_t own_words;
	int code;

	code = prepare(argc, argv, cxx, &command, &own_words, &out, &err);
	if (code)
		print_error(cxx, &err, code);
	else if (out.print)
		print_command(&command, &out);
	else if (run(&command, own_words, &out, &err))
		code = print_error(cxx, &err, EXIT_CANNOT);
	rewrite_free(&out);
	args_free(&command);
	return code;
}
