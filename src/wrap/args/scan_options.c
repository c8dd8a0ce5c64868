/*
 * Reads a compiler's command line.
 *
 * -fsanitize=thread from the user is dropped, since snarl-cc instruments anyway. Neither
 * -fno-sanitize=thread nor -fno-sanitize=all turns instrumentation off: a file that is silently
 * left out would hide bugs. Only --snarl-no-instrument does. Sanitizers that need shadow memory
 * or interposers of their own are refused.
 */
#include "wrap/args/scan_options.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* Options of gcc or clang whose value is the next word. */
static const char *const with_value[] = {
	"-o", "-x", "-I", "-D", "-U", "-L", "-l", "-u", "-z", "-T", "-e", "-A", "-B", "-F",
	"-include", "-imacros", "-iquote", "-isystem", "-idirafter", "-iprefix", "-iwithprefix",
	"-iwithprefixbefore", "-isysroot", "-imultilib", "-imultiarch", "-iframework",
	"-iframeworkwithsysroot", "-isystem-after", "-cxx-isystem", "-stdlib++-isystem",
	"-ivfsoverlay", "-include-pch", "-MF", "-MT", "-MQ", "-MJ",
	"-Xlinker", "-Xassembler", "-Xpreprocessor", "-Xclang", "-Xanalyzer", "-Xopenmp-target",
	"-Xcuda-ptxas", "-Xcuda-fatbinary", "-Xarch_host", "-Xarch_device", "-Xoffload-linker",
	"-mllvm", "-mthread-model", "-wrapper", "-specs", "-target", "-arch", "-aux-info",
	"-dumpbase", "-dumpbase-ext", "-dumpdir", "-Tbss", "-Tdata", "-Ttext", "-rpath",
	"-working-directory", "-serialize-diagnostics", "-dependency-file", "-dependency-dot",
	"-gcc-toolchain", "-ccc-gcc-name", "-gen-cdb-fragment-path", "-framework", "-dyld-prefix",
	"-fmodules-user-build-path",
	"--param", "--sysroot", "--include", "--imacros", "--output", "--language", "--config",
	"--assert", "--define-macro", "--undefine-macro", "--include-directory",
	"--include-directory-after", "--library-directory", "--prefix", "--for-linker",
	"--for-assembler", "--specs", "--entry", "--undefined", "--dumpbase", "--dumpdir",
	"--force-link", "--machine",
};

static const char *const information[] = {
	"--version", "--help", "--target-help", "-help", "-dumpversion", "-dumpfullversion",
	"-dumpmachine", "-dumpspecs", "-cc1", "-cc1as", "-cc1gen-reproducer",
};

/* Prefixes of options that change the form of debug information, but do not turn it on or off. */
static const char *const debug_details[] = {
	"-gz", "-gno-", "-grecord-", "-gstrict-", "-gas-", "-gcolumn-", "-ginline-", "-gvariable-",
	"-gstatement-", "-ginternal-", "-gpubnames", "-ggnu-pubnames", "-gsimple-template",
	"-gsplit-dwarf", "-gcc-", "-gembed-", "-gdescribe-", "-gdwarf32", "-gdwarf64", "-gtoggle",
};

/* Sanitizers that cannot be combined with snarl. */
static const char *const conflicting[] = {
	"address", "hwaddress", "memory", "leak", "dataflow", "safe-stack", "realtime", "type",
	"numerical", "memtag", "memtag-stack", "memtag-heap", "memtag-globals", "pointer-compare",
	"pointer-subtract",
};

enum input { INPUT_OBJECT, INPUT_SOURCE, INPUT_HEADER, INPUT_ASSEMBLY };

/* State while reading the words. */
struct reading {
	struct scan *s;
	bool clang;
	const char *language;	/* value of -x in effect; NULL: the file name decides */
	bool no_link;		/* -c, -S, -E and others: the command stops before linking */
	size_t inputs, headers;
	bool libraries;		/* -lfoo, or -Wl,foo.o: a linker needs no other input */
	struct args sanitizers;	/* conflicting ones that are on so far */
	const char *machine;	/* option or target that asks for code other than x86-64, or NULL */
	const char *not_production;	/* option that a production build cannot have, or NULL */
};

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

static bool starts_with_one_of(const char *word, const char *const *list, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (starts(word, list[i]))
			return true;
	return false;
}

static enum input input_by_language(const char *language)
{
	size_t size = strlen(language);

	if (starts(language, "assembler"))
		return INPUT_ASSEMBLY;
	if (size > 7 && strcmp(language + size - 7, "-header") == 0)
		return INPUT_HEADER;
	return INPUT_SOURCE;
}

static enum input input_by_name(const char *path)
{
	static const char *const sources[] = {
		"c", "i", "ii", "C", "cc", "cp", "cpp", "cxx", "c++", "CPP", "cppm", "ccm", "cxxm",
		"c++m", "ixx", "m", "mi", "mm", "M", "mii", "ll", "bc", "cu", "cl", "d", "f", "F",
		"for", "ftn", "f90", "F90", "f95", "F95", "f03", "f08", "go", "adb", "ads",
	};
	static const char *const headers[] = {
		"h", "H", "hh", "hp", "hpp", "HPP", "hxx", "h++", "tcc",
	};
	const char *slash = strrchr(path, '/');
	const char *dot = strrchr(slash ? slash : path, '.');

	if (strcmp(path, "-") == 0)
		return INPUT_SOURCE;	/* without -x the drivers take it with -E only, as C */
	if (!dot)
		return INPUT_OBJECT;
	if (is_one_of(dot + 1, sources, ARRAY_SIZE(sources)))
		return INPUT_SOURCE;
	if (is_one_of(dot + 1, headers, ARRAY_SIZE(headers)))
		return INPUT_HEADER;
	if (strcmp(dot, ".s") == 0 || strcmp(dot, ".S") == 0 || strcmp(dot, ".sx") == 0)
		return INPUT_ASSEMBLY;
	return INPUT_OBJECT;
}

/* Whether the input is C or C++, preprocessed or not. */
static bool is_c(const char *language, const char *path)
{
	static const char *const languages[] = { "c", "c++", "cpp-output", "c++-cpp-output" };
	static const char *const names[] = {
		"c", "i", "ii", "C", "cc", "cp", "cpp", "cxx", "c++", "CPP",
	};
	const char *dot = strrchr(path, '.');

	if (language)
		return is_one_of(language, languages, ARRAY_SIZE(languages));
	return dot && is_one_of(dot + 1, names, ARRAY_SIZE(names));
}

/* Whether the input is preprocessed already, so that it includes no header. */
static bool is_preprocessed(const char *language, const char *path)
{
	static const char *const names[] = { "i", "ii", "mi", "mii", "ll", "bc" };
	const char *dot = strrchr(path, '.');

	if (language)
		return strstr(language, "cpp-output") || strcmp(language, "ir") == 0;
	return dot && is_one_of(dot + 1, names, ARRAY_SIZE(names));
}

static void read_input(struct reading *r, const char *path)
{
	enum input input = r->language ? input_by_language(r->language) : input_by_name(path);

	r->inputs++;
	r->s->inputs = xgrow(r->s->inputs, r->s->input_count, &r->s->input_room,
			     sizeof(*r->s->inputs));
	r->s->inputs[r->s->input_count++] = (struct scan_input){
		.at = r->s->words.count,
		.source = input == INPUT_SOURCE && strcmp(path, "-") != 0,
	};
	if (input != INPUT_OBJECT && !is_c(r->language, path))
		r->s->only_c_objects = false;
	if (input == INPUT_HEADER)
		r->headers++;
	if (input == INPUT_SOURCE || input == INPUT_HEADER) {
		r->s->compiles = true;
		r->s->includes |= !is_preprocessed(r->language, path);
	}
}

/* One argument of the linker, `size` bytes of `word`. */
static void read_linker_word(struct scan *s, const char *word, size_t size)
{
	static const char *const relocatable[] = { "-r", "-i", "--relocatable", "-relocatable" };
	static const char *const shared[] = { "-shared", "--shared", "-Bshareable" };
	char copy[32];

	if (size >= sizeof(copy))
		return;
	memcpy(copy, word, size);
	copy[size] = '\0';
	s->relocatable |= is_one_of(copy, relocatable, ARRAY_SIZE(relocatable));
	s->shared |= is_one_of(copy, shared, ARRAY_SIZE(shared));
}

static void read_linker_list(struct scan *s, const char *list)
{
	while (*list) {
		size_t size = strcspn(list, ",");

		read_linker_word(s, list, size);
		list += size;
		list += *list == ',';
	}
}

static void remove_sanitizer(struct reading *r, const char *name)
{
	struct args left = { 0 };

	for (size_t i = 0; i < r->sanitizers.count; i++)
		if (strcmp(r->sanitizers.v[i], name) != 0)
			args_add(&left, r->sanitizers.v[i]);
	args_free(&r->sanitizers);
	r->sanitizers = left;
}

/* -fno-sanitize=all cancels every -fsanitize= before it: removes these words. */
static void remove_all_sanitizers(struct reading *r)
{
	struct args left = { 0 };

	for (size_t i = 0, input = 0; i < r->s->words.count; i++) {
		if (input < r->s->input_count && r->s->inputs[input].at == i)
			r->s->inputs[input++].at = left.count;
		if (!starts(r->s->words.v[i], "-fsanitize="))
			args_add(&left, r->s->words.v[i]);
	}
	args_free(&r->s->words);
	r->s->words = left;
	args_free(&r->sanitizers);
}

/* Passes the list on without `thread`, which only snarl-cc turns on. */
static void read_sanitizers(struct reading *r, const char *option, const char *list, bool on)
{
	struct args names = { 0 };
	char *copy = xmalloc(strlen(option) + strlen(list) + 2), *end, *save = NULL;

	strcpy(copy, list);
	for (char *name = strtok_r(copy, ",", &save); name; name = strtok_r(NULL, ",", &save)) {
		if (strcmp(name, "thread") == 0)
			continue;
		if (!on && strcmp(name, "all") == 0) {
			remove_all_sanitizers(r);
			continue;
		}
		args_add(&names, name);
		if (!on)
			remove_sanitizer(r, name);
		else if (is_one_of(name, conflicting, ARRAY_SIZE(conflicting)) ||
			 starts(name, "kernel-"))
			args_add(&r->sanitizers, name);
	}
	end = stpcpy(copy, option);
	for (size_t i = 0; i < names.count; i++) {
		if (i > 0)
			*end++ = ',';
		end = stpcpy(end, names.v[i]);
	}
	if (names.count > 0)
		args_add(&r->s->words, copy);
	args_free(&names);
	free(copy);
}

/* Handles options of snarl-cc, and those that are changed or dropped. False: pass the word on. */
static bool read_own_option(struct reading *r, const char *word)
{
	struct scan *s = r->s;
	const char *list = strchr(word, '=');

	if (strcmp(word, "--no-inline") == 0 || strcmp(word, "--snarl-no-inline") == 0)
		s->no_inline = true;
	else if (strcmp(word, "--no-loops") == 0 || strcmp(word, "--snarl-no-loops") == 0)
		s->no_loops = true;
	else if (strcmp(word, "--snarl-no-instrument") == 0)
		s->no_instrument = true;
	else if (strcmp(word, "--production") == 0 || strcmp(word, "--snarl-production") == 0)
		s->production = true;
	else if (strcmp(word, "--snarl-print") == 0)
		s->print = true;
	else if (starts(word, "-fsanitize="))
		read_sanitizers(r, "-fsanitize=", list + 1, true);
	else if (starts(word, "-fno-sanitize="))
		read_sanitizers(r, "-fno-sanitize=", list + 1, false);
	else if (r->clang && (starts(word, "-fsanitize-ignorelist=") ||
			      starts(word, "-fsanitize-blacklist=")))
		args_add(&s->ignorelists, word);
	else if (strcmp(word, "-ltsan") == 0)
		;	/* libtool adds it; libtsan would be a second runtime */
	else if (r->clang && strcmp(word, "-faddrsig") == 0)
		;	/* GNU as rejects the directive; it is only a hint for lld */
	else
		return false;
	return true;
}

/* Options that say how far the compiler goes, and what it makes. */
static void read_stage(struct reading *r, const char *word)
{
	static const char *const early[] = {
		"-E", "-M", "-MM", "-fsyntax-only", "--preprocess", "--analyze", "--precompile",
		"-emit-ast", "-rewrite-objc", "-emit-interface-stubs", "-extract-api",
		"--dependencies", "--user-dependencies",
	};
	static const char *const no_link[] = { "-c", "-S", "--compile", "--assemble" };
	static const char *const bare[] = {
		"-nostdlib", "--no-standard-libraries", "-nodefaultlibs", "-nolibc",
	};
	struct scan *s = r->s;

	if (is_one_of(word, information, ARRAY_SIZE(information)) || starts(word, "--help=") ||
	    starts(word, "-print-") || starts(word, "--print-") || starts(word, "--autocomplete="))
		s->only_information = true;
	else if (is_one_of(word, early, ARRAY_SIZE(early)))
		s->stops_early = r->no_link = true;
	else if (is_one_of(word, no_link, ARRAY_SIZE(no_link)))
		r->no_link = true;
	else if (strcmp(word, "-shared") == 0 || strcmp(word, "--shared") == 0)
		s->shared = true;
	else if (strcmp(word, "-r") == 0)
		s->relocatable = true;
	else if (strcmp(word, "-static") == 0 || strcmp(word, "--static") == 0 ||
		 strcmp(word, "-static-pie") == 0 || strcmp(word, "--static-pie") == 0)
		s->is_static = true;
	else if (is_one_of(word, bare, ARRAY_SIZE(bare)))
		s->no_libc = true;
	else if (strcmp(word, "-fopenmp") == 0 || starts(word, "-fopenmp="))
		s->libgomp = r->clang ? strcmp(word, "-fopenmp=libgomp") == 0 : true;
	else if (strcmp(word, "-fno-openmp") == 0)
		s->libgomp = false;
	else if (starts(word, "-Wl,"))
		read_linker_list(s, word + 4);
	r->libraries |= starts(word, "-l") || (starts(word, "-Wl,") && word[4] != '-');
}

/* Options for another processor or word size. */
static void read_machine(struct reading *r, const char *word)
{
	static const char *const others[] = { "-m32", "-mx32", "-m16" };

	if (is_one_of(word, others, ARRAY_SIZE(others)) ||
	    (starts(word, "--target=") && !starts(word, "--target=x86_64")))
		r->machine = word;
	else if (strcmp(word, "-m64") == 0 || starts(word, "--target="))
		r->machine = NULL;
}

/* Options whose output cannot be merged from two compilations. */
static void read_not_production(struct reading *r, const char *word)
{
	static const char *const list[] = {
		"--coverage", "-fprofile-arcs", "-ftest-coverage", "-fprofile-generate",
		"-fprofile-instr-generate", "-fcoverage-mapping", "-masm=intel", "-mcmodel=large",
	};

	if (starts(word, "-flto"))
		r->not_production = word;
	else if (strcmp(word, "-fno-lto") == 0 && r->not_production &&
		 starts(r->not_production, "-flto"))
		r->not_production = NULL;
	else if (starts_with_one_of(word, list, ARRAY_SIZE(list)))
		r->not_production = word;
}

/* Options that say what kind of code the compiler makes. */
static void read_code(struct reading *r, const char *word)
{
	static const char *const not_pic[] = {
		"-fPIE", "-fpie", "-fno-PIC", "-fno-pic", "-fno-PIE", "-fno-pie",
	};
	struct scan *s = r->s;

	if (strcmp(word, "-fPIC") == 0 || strcmp(word, "-fpic") == 0)
		s->pic = true;
	else if (is_one_of(word, not_pic, ARRAY_SIZE(not_pic)))
		s->pic = false;
	else if (starts(word, "-masm="))
		s->intel = strcmp(word, "-masm=att") != 0;
	else if (strcmp(word, "-fintegrated-as") == 0 || strcmp(word, "-integrated-as") == 0 ||
		 strcmp(word, "-ffat-lto-objects") == 0)
		s->integrated_as = true;	/* GNU as has no section for fat LTO */
	else if (strcmp(word, "-fno-integrated-as") == 0 || strcmp(word, "-no-integrated-as") == 0)
		s->integrated_as = false;
	else if (starts(word, "-g") &&
		 !starts_with_one_of(word, debug_details, ARRAY_SIZE(debug_details)))
		s->debug = true;
	else if (starts(word, "--language="))
		r->language = strcmp(word + 11, "none") == 0 ? NULL : word + 11;
	else if (starts(word, "-x"))
		r->language = strcmp(word + 2, "none") == 0 ? NULL : word + 2;
}

/*
 * Whether an option rules out two steps of clang: it asks for other outputs, for other steps on the
 * way to the object, or for an assembler other than clang's.
 */
static bool prevents_two_steps(const char *word)
{
	static const char *const list[] = {
		"-S", "--assemble", "-flto", "-fembed-bitcode", "-gsplit-dwarf", "-save-temps",
		"--save-temps", "-fno-integrated-as", "-no-integrated-as", "-fopenmp-targets",
		"--offload", "-fmodule", "-emit-", "-fthinlto", "-Wa,", "-MJ",
		"-gen-cdb-fragment-path", "-serialize-diagnostics", "--serialize-diagnostics",
		"-ftime-trace", "-fstack-usage", "-fsave-optimization-record",
		"-foptimization-record", "-mbranches-within-32B", "-malign-branch",
		"-x86-align-branch", "-x86-branches", "-mcmodel=large",
	};

	return starts_with_one_of(word, list, ARRAY_SIZE(list));
}

/*
 * Keeps an option for clang's second step, unless it is about inputs and outputs. `value` is the
 * next word if it belongs to the option, else NULL.
 */
static void keep_option(struct scan *s, const char *word, const char *value)
{
	static const char *const about_files[] = {
		"-o", "--output", "-x", "--language", "-c", "--compile",
	};

	if (prevents_two_steps(word) || strcmp(word, "-Xassembler") == 0 ||
	    (value && prevents_two_steps(value)))
		s->only_c_objects = false;
	if (is_one_of(word, about_files, ARRAY_SIZE(about_files)) || starts(word, "-x") ||
	    starts(word, "--language=") || starts(word, "--output=") || starts(word, "-o"))
		return;
	args_add(&s->options, word);
	if (value)
		args_add(&s->options, value);
}

/* An option whose value is the next word. */
static void read_value(struct reading *r, const char *option, const char *value)
{
	if (strcmp(option, "-x") == 0 || strcmp(option, "--language") == 0)
		r->language = strcmp(value, "none") == 0 ? NULL : value;
	else if (strcmp(option, "-Xlinker") == 0 || strcmp(option, "--for-linker") == 0)
		read_linker_word(r->s, value, strlen(value));
	else if (strcmp(option, "-target") == 0)
		r->machine = starts(value, "x86_64") ? NULL : value;
	r->libraries |=
		strcmp(option, "-l") == 0 || (strcmp(option, "-Xlinker") == 0 && value[0] != '-');
}

static void read_words(struct reading *r, const struct args *in)
{
	struct scan *s = r->s;
	bool only_inputs = false;

	s->end = SIZE_MAX;
	for (size_t i = 0; i < in->count; i++) {
		const char *word = in->v[i];

		if (only_inputs || word[0] != '-' || word[1] == '\0') {
			read_input(r, word);
		} else if (strcmp(word, "--") == 0) {
			only_inputs = true;
			s->end = s->words.count;
		} else if (is_one_of(word, with_value, ARRAY_SIZE(with_value)) &&
			   i + 1 < in->count) {
			read_value(r, word, in->v[i + 1]);
			keep_option(s, word, in->v[i + 1]);
			args_add(&s->words, word);
			word = in->v[++i];
		} else if (read_own_option(r, word)) {
			continue;
		} else {
			read_stage(r, word);
			read_code(r, word);
			read_machine(r, word);
			read_not_production(r, word);
			keep_option(s, word, NULL);
		}
		args_add(&s->words, word);
	}
	if (s->end == SIZE_MAX)
		s->end = s->words.count;
}

int scan_read(const struct args *in, bool clang, struct scan *s, struct err *err)
{
	struct reading r = { .s = s, .clang = clang };
	int result = 0;

	*s = (struct scan){ .only_c_objects = true };
	read_words(&r, in);
	s->only_c_objects &= s->compiles && !s->stops_early;
	r.libraries &= r.inputs == 0;
	s->links = !r.no_link && (r.inputs > r.headers || r.libraries);
	if ((r.inputs == 0 && !r.libraries) || s->only_information)
		s->only_information = true;
	else if (r.machine && !s->no_instrument)
		result = err_set(err, "%s: snarl instruments x86-64 code only; "
				 "--snarl-no-instrument compiles without it", r.machine);
	else if (r.sanitizers.count > 0 && !s->no_instrument)
		result = err_set(err, "-fsanitize=%s cannot be combined with snarl's own "
				 "instrumentation: remove it, or build without snarl",
				 r.sanitizers.v[0]);
	else if (s->production && r.not_production && !s->no_instrument)
		result =
			err_set(err,
				"%s cannot be combined with --production, which compiles each file "
				"twice: remove one of them",
				r.not_production);
	args_free(&r.sanitizers);
	return result;
}

void scan_free(struct scan *s)
{
	args_free(&s->words);
	args_free(&s->options);
	args_free(&s->ignorelists);
	free(s->inputs);
	*s = (struct scan){ 0 };
}
