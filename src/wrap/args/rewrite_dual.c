/*
 * Commands of a production build. Each source is compiled twice with the same options. The plain
 * compilation also does everything else that the user asked for: objects, dependencies, warnings.
 * The second compilation, which our assembler starts, makes only instrumented assembly
 * (wrap/dual/second_compile.h).
 *
 * Within a file, gcc uses two facts about a function that may differ between its versions: which
 * registers it preserves, and that it needs no aligned stack. -fno-ipa-ra and
 * -fno-ipa-stack-alignment forbid that. With -gno-as-loc-support gcc writes the line table itself,
 * so that the merged assembly can have two.
 */
#include "wrap/args/rewrite_dual.h"

#include <string.h>

#include "base/mem.h"

static bool starts(const char *word, const char *prefix)
{
	return strncmp(word, prefix, strlen(prefix)) == 0;
}

static bool is_one_of(const char *word, const char *const *list, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(word, list[i]) == 0)
			return true;
	return false;
}

/*
 * Returns how many words from here on the second compilation does not get: options for outputs
 * that only the plain compilation makes, and for the linker. 0: `word` is passed on.
 */
static size_t words_dropped(const char *word)
{
	static const char *const with_value[] = {
		"-o", "-MF", "-MT", "-MQ", "-MJ", "-aux-info", "-dumpbase", "-dumpbase-ext",
		"-dumpdir", "--output", "-serialize-diagnostics", "--serialize-diagnostics",
		"-dependency-file", "-Xlinker", "-T", "-u", "-z", "-e", "-l", "-L",
	};
	static const char *const without_value[] = {
		"-c", "-S", "--compile", "--assemble", "-pipe", "-v", "-###", "-fstack-usage",
		"-MD", "-MMD", "-MP", "-MG", "-gsplit-dwarf", "-shared", "-static", "-static-pie",
		"-rdynamic", "-s", "-r", "--verbose",
	};
	static const char *const prefixes[] = {
		"-o", "-save-temps", "--save-temps", "-fdump-", "-fcallgraph-info", "-ftime-trace",
		"-Werror", "-Wp,-M", "-Wl,", "-l", "-L", "-fopt-info", "-fsave-optimization-record",
	};

	if (is_one_of(word, with_value, ARRAY_SIZE(with_value)))
		return 2;
	if (is_one_of(word, without_value, ARRAY_SIZE(without_value)))
		return 1;
	for (size_t i = 0; i < ARRAY_SIZE(prefixes); i++)
		if (starts(word, prefixes[i]))
			return 1;
	return 0;
}

/* The input that is the word with this index, or NULL. */
static const struct scan_input *input_at(const struct scan *s, size_t at)
{
	for (size_t i = 0; i < s->input_count; i++)
		if (s->inputs[i].at == at)
			return &s->inputs[i];
	return NULL;
}

/* Options whose next word is a value, which could look like one of the options above. */
static bool takes_value(const char *word)
{
	static const char *const list[] = {
		"-I", "-D", "-U", "-x", "-include", "-imacros", "-iquote", "-isystem", "-idirafter",
		"-isysroot", "-Xclang", "-mllvm", "-Xassembler", "-Xpreprocessor", "--param",
		"-include-pch", "-target", "--sysroot", "-B",
	};

	return is_one_of(word, list, ARRAY_SIZE(list));
}

static void add_user(const struct scan *s, struct args *dual)
{
	for (size_t i = 0; i < s->words.count; i++) {
		const char *word = s->words.v[i];
		const struct scan_input *input = input_at(s, i);

		if (input) {
			if (input->source)
				args_addf(dual, "%c%s", REWRITE_SOURCE, word);
		} else if (i == s->end) {
			;	/* "--" */
		} else if (words_dropped(word)) {
			i += words_dropped(word) - 1;
		} else if (strcmp(word, "-g3") == 0 || strcmp(word, "-ggdb3") == 0) {
			args_add(dual, "-g2");	/* the plain version has the macros */
		} else {
			args_add(dual, word);
			if (takes_value(word) && i + 1 < s->words.count)
				args_add(dual, s->words.v[++i]);
		}
	}
}

static void add_inst_words(const struct scan *s, const struct rewrite_config *config,
			   struct args *dual)
{
	struct args words = { 0 };

	if (config->kind == COMPILER_GCC) {
		args_addf(&words, "-specs=%s/snarl-gcc.specs", config->home->lib);
		args_add(&words, "-U__SANITIZE_THREAD__");	/* both compile the same program */
	} else {
		rewrite_clang_instrumentation(s, &words);
	}
	for (size_t i = 0; i < words.count; i++)
		args_addf(dual, "%c%s", REWRITE_INST, words.v[i]);
	args_free(&words);
}

static void add_both(struct args *a, const char *word, struct args *dual)
{
	args_add(a, word);
	args_add(dual, word);
}

void rewrite_dual(const struct scan *s, const struct rewrite_config *config, struct args *plain,
		  struct args *dual)
{
	bool any = false;

	for (size_t i = 0; i < s->input_count; i++)
		any |= s->inputs[i].source;
	if (!any)
		return;
	if (!s->debug)
		args_add(dual, "-g");
	if (config->home->include) {
		args_add(dual, "-idirafter");
		args_add(dual, config->home->include);
	}
	if (config->kind == COMPILER_CLANG) {
		args_add(dual, "-fno-integrated-as");
		args_add(dual, "-Qunused-arguments");
		args_addf(dual, "%c%s", REWRITE_INST, REWRITE_CLANG_ROLLED);
	}
	args_add(dual, "-w");
	add_user(s, dual);
	if (config->kind == COMPILER_GCC) {
		add_both(plain, "-fno-ipa-ra", dual);
		add_both(plain, "-fno-ipa-stack-alignment", dual);
		add_both(plain, "-gno-as-loc-support", dual);
	}
	add_inst_words(s, config, dual);
}
