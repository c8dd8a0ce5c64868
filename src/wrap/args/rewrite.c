/*
 * Rewrites the command line: adds instrumentation, snarl's assembler and snarl's runtime.
 *
 * Keeping libtsan out: the drivers gcc and clang link libtsan whenever they see -fsanitize=thread,
 * so the option bypasses them. -Xclang passes it to clang's compiler proper; for gcc, a specs file
 * passes it to cc1 and to the link-time optimiser. Compiling and linking in one command, -static
 * and other sanitizers then work as without snarl. Alternatives fail: -fno-sanitize-link-runtime
 * drops the runtime of -fsanitize=undefined too, and an own libtsan under -B fails with -static.
 *
 * Two steps of clang: where possible, clang stops at LLVM IR and passes that to our assembler
 * instead of assembly. The assembler inlines the hooks (wrap/hooks/inline_ir.h) and calls clang
 * again to compile the IR. The driver does not notice, so output files, dependency files and
 * linking stay the same.
 *
 * Linker inputs are passed with -Xlinker. Unlike file names they are not subject to -x, and unlike
 * arguments of -Wl they may contain commas.
 */
#include "wrap/args/rewrite.h"

#include <string.h>

#include "wrap/args/rewrite_dual.h"
#include "wrap/args/scan_options.h"

static void add_xclang(struct args *a, const char *word)
{
	args_add(a, "-Xclang");
	args_add(a, word);
}

static void add_linker(struct args *a, const char *word)
{
	args_add(a, "-Xlinker");
	args_add(a, word);
}

/*
 * A read before a write of the same location keeps its hook, because the atomicity analysis needs
 * both. clang's pass has no hooks for accesses of more than 16 bytes and skips them silently, so
 * the vectoriser must not make any.
 */
void rewrite_clang_instrumentation(const struct scan *s, struct args *out)
{
	add_xclang(out, "-fsanitize=thread");
	add_xclang(out, "-mllvm");
	add_xclang(out, "-tsan-instrument-read-before-write=1");
	add_xclang(out, "-mllvm");
	add_xclang(out, "-tsan-distinguish-volatile=1");
	add_xclang(out, "-mllvm");
	add_xclang(out, "-enable-interleaved-mem-accesses=false");
	add_xclang(out, "-mprefer-vector-width=128");
	for (size_t i = 0; i < s->ignorelists.count; i++)
		add_xclang(out, s->ignorelists.v[i]);
}

/*
 * The options of the second step go through an environment variable. Linux limits one to 128 KB;
 * options of up to 32 KB fit, also with each character quoted.
 */
static bool goes_in_two_steps(const struct scan *s, const struct rewrite_config *config)
{
	size_t size = 0;

	for (size_t i = 0; i < s->options.count; i++)
		size += strlen(s->options.v[i]) + 1;
	return config->two_steps && s->only_c_objects && !s->production && size < 32u << 10;
}

/* These words come before the user's, so that the user's win. */
static void add_compile_head(struct args *a, const struct scan *s,
			     const struct rewrite_config *config, bool inlining)
{
	bool instrument = !s->no_instrument && !s->production;

	if (config->kind == COMPILER_CLANG && instrument) {
		rewrite_clang_instrumentation(s, a);
		args_add(a, REWRITE_CLANG_ROLLED);
		args_add(a, REWRITE_CLANG_PROTECTED);
	}
	if (!s->debug && !s->stops_early)
		args_add(a, "-g");
	if (instrument)
		args_add(a, "-D__SNARL__=1");
	if (config->home->include && s->includes) {
		args_add(a, "-idirafter");
		args_add(a, config->home->include);
	}
	if (inlining && config->kind == COMPILER_CLANG) {
		args_addf(a, "-B%s", config->home->libexec);
		args_add(a, "-fno-integrated-as");
		if (goes_in_two_steps(s, config))
			add_xclang(a, "-emit-llvm");
	}
}

/* The second step gets the user's options again, as many of them affect code generation. */
static void add_codegen(struct args *a, const struct scan *s)
{
	args_add_all(a, &s->options);
	args_add(a, "-fintegrated-as");
	args_add(a, "-mno-relax-all");	/* the runtime finds inlined hooks by their bytes */
	args_add(a, "-Wno-unused-command-line-argument");
	add_xclang(a, "-disable-llvm-passes");
	args_add(a, "-c");
	args_add(a, "-x");
	args_add(a, "ir");
}

/* The runtime comes before the user's libraries and libc, whose functions it interposes. */
static void add_link_head(struct args *a, const struct scan *s, const char *lib)
{
	add_linker(a, "-u");
	add_linker(a, "__tsan_init");
	args_add(a, "-Xlinker");
	args_addf(a, "%s/%s", lib, s->is_static ? "libsnarlrt-static.a" : "libsnarlrt.a");
}

static void add_link_tail(struct args *a, const struct scan *s, const char *lib)
{
	if (s->is_static) {
		args_addf(a, "-Wl,@%s/snarl-wraps.txt", lib);
	} else {
		args_add(a, "-Xlinker");
		args_addf(a, "--dynamic-list=%s/snarl-exports.txt", lib);
	}
	/*
	 * The runtime defines wrappers of libgomp's functions: if the program uses no others, a
	 * linker that is called with --as-needed leaves the library out.
	 */
	if (s->libgomp && !s->is_static)
		args_add(a, "-Wl,--push-state,--no-as-needed,-lgomp,--pop-state");
	args_add(a, "-lpthread");
	args_add(a, "-ldl");
	if (s->no_libc) {
		args_add(a, "-Wl,--start-group");
		args_add(a, "-lc");
		args_add(a, "-lgcc");
		args_add(a, s->is_static ? "-lgcc_eh" : "-lgcc_s");
		args_add(a, "-Wl,--end-group");
	}
}

static void add_user(struct args *a, const struct scan *s, size_t from, size_t to)
{
	for (size_t i = from; i < to; i++)
		args_add(a, s->words.v[i]);
}

static int build(const struct scan *s, const struct rewrite_config *config, struct rewrite *out,
		 struct err *err)
{
	const struct compiler_home *home = config->home;
	bool gcc = config->kind == COMPILER_GCC;
	bool dual = s->production && !s->no_instrument;
	bool inlining = home->libexec && (dual || (!config->no_inline && !s->no_inline)) &&
			!(s->integrated_as && !gcc) && !s->no_instrument;
	bool executable = s->links && !s->shared && !s->relocatable;
	struct args *a = &out->words;

	if (executable && s->is_static && strchr(home->lib, ','))
		return err_set(err,
			       "-static does not work while snarl is in a folder with a comma in "
			       "its name: move '%s', or link without -static",
			       home->lib);
	if (dual && s->compiles && !s->stops_early &&
	    (!home->libexec || (s->integrated_as && !gcc)))
		return err_set(err, home->libexec
					    ? "-fintegrated-as cannot be combined with "
					      "--production: remove one of them"
					    : "--production needs snarl's own assembler, which is "
					      "missing: install snarl again");
	if (s->compiles)
		add_compile_head(a, s, config, inlining);
	out->loops = inlining && !dual && !s->no_loops && !s->intel;
	if (inlining && !gcc && goes_in_two_steps(s, config))
		add_codegen(&out->codegen, s);
	/* Also for a command that only links: gcc's link-time optimiser then compiles. */
	if (inlining && gcc)
		args_addf(a, "-B%s", home->libexec);
	if (executable)
		add_link_head(a, s, home->lib);
	add_user(a, s, 0, s->end);
	if (dual && s->compiles && !s->stops_early)
		rewrite_dual(s, config, a, &out->dual);
	if (gcc && !s->no_instrument && !dual)
		args_addf(a, "-specs=%s/snarl-gcc.specs", home->lib);
	if (executable)
		add_link_tail(a, s, home->lib);
	/*
	 * A shared library finds its hooks in the executable, so -z defs would fail to link it.
	 * This option overrides -z defs in GNU ld, gold, lld and mold.
	 */
	if (s->links && s->shared && !s->relocatable)
		add_linker(a, "--unresolved-symbols=ignore-all");
	add_user(a, s, s->end, s->words.count);
	out->no_inline = dual && (config->no_inline || s->no_inline);
	out->executable_code = !s->pic && !s->shared && !s->relocatable;
	return 0;
}

int rewrite(const struct args *in, const struct rewrite_config *config, struct rewrite *out,
	    struct err *err)
{
	struct scan s;
	int failed;

	*out = (struct rewrite){ 0 };
	failed = scan_read(in, config->kind == COMPILER_CLANG, &s, err);
	if (!failed) {
		out->print = s.print;
		if (s.only_information)
			args_add_all(&out->words, &s.words);
		else
			failed = build(&s, config, out, err);
	}
	scan_free(&s);
	return failed;
}

void rewrite_free(struct rewrite *r)
{
	args_free(&r->words);
	args_free(&r->dual);
	args_free(&r->codegen);
}
