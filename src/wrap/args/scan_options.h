/*
 * What a compiler's command line asks for, as far as wrapping it depends on
 * that. Unknown options are passed on untouched.
 */
#ifndef WRAP_ARGS_SCAN_OPTIONS_H
#define WRAP_ARGS_SCAN_OPTIONS_H

#include <stdbool.h>

#include "base/err.h"
#include "wrap/args/args.h"

/* An input among the words. */
struct scan_input {
	size_t at;
	bool source;		/* something to compile */
};

struct scan {
	struct args words;	/* the user's, without what is ours to say */
	size_t end;		/* index of "--" in words, or their count */
	struct args options;	/* words but for inputs, their languages and outputs */
	struct args ignorelists;	/* clang's -fsanitize-ignorelist=…, taken out of words */
	struct scan_input *inputs;
	size_t input_count, input_room;
	bool only_information;	/* --version and the like: nothing is compiled */
	bool compiles;		/* a source of C, C++ or the like among the inputs */
	bool includes;		/* one of them is not preprocessed yet */
	bool links;		/* up to an executable or library */
	bool stops_early;	/* -E, -M, -fsyntax-only: no code is made */
	bool shared;
	bool relocatable;	/* ld -r */
	bool is_static;		/* -static, -static-pie */
	bool no_libc;		/* -nostdlib and the like: no libc unless named */
	bool pic;		/* -fPIC, -fpic; not -fPIE */
	bool debug;		/* some level of -g chosen, be it none */
	bool intel;		/* -masm=intel */
	bool integrated_as;	/* clang -fintegrated-as asked for */
	bool only_c_objects;	/* C and C++ become objects, straight, and nothing else is made */
	/* Our own options; they are taken out. */
	bool no_inline;		/* --no-inline, --snarl-no-inline */
	bool no_loops;		/* --no-loops, --snarl-no-loops */
	bool no_instrument;	/* --snarl-no-instrument */
	bool production;	/* --production */
	bool print;		/* --snarl-print */
};

/*
 * Reads the command line without argv[0] and without response files. Returns
 * -1 if it cannot be instrumented. scan_free in either case.
 */
int scan_read(const struct args *in, bool clang, struct scan *s, struct err *err);

void scan_free(struct scan *s);

#endif
