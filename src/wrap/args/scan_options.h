/*
 * What a compiler's command line asks for, as far as snarl-cc needs to know. Options that it does
 * not know are passed on unchanged.
 */
#ifndef WRAP_ARGS_SCAN_OPTIONS_H
#define WRAP_ARGS_SCAN_OPTIONS_H

#include <stdbool.h>

#include "base/err.h"
#include "wrap/args/args.h"

/* An input file among the words. */
struct scan_input {
	size_t at;		/* index in scan.words */
	bool source;		/* it is compiled */
};

struct scan {
	struct args words;	/* the user's, without options that snarl-cc handles itself */
	size_t end;		/* index of "--" in words, or their count */
	struct args options;	/* words without inputs, -x, -c and -o */
	struct args ignorelists;	/* clang's -fsanitize-ignorelist= options, not in words */
	struct scan_input *inputs;
	size_t input_count, input_room;
	bool only_information;	/* --version and the like: nothing is compiled */
	bool compiles;		/* some input is compiled: it is no object and no assembly */
	bool includes;		/* some input is not preprocessed yet */
	bool links;		/* the command makes an executable or a library */
	bool stops_early;	/* -E, -M, -fsyntax-only: no code is made */
	bool shared;		/* -shared */
	bool relocatable;	/* -r */
	bool is_static;		/* -static, -static-pie */
	bool libgomp;		/* -fopenmp for libgomp */
	bool no_libc;		/* -nostdlib and the like: no libc unless a word names it */
	bool pic;		/* -fPIC, -fpic; not -fPIE */
	bool debug;		/* an option chooses a level of -g, also -g0 */
	bool intel;		/* -masm=intel */
	bool integrated_as;	/* the user asks for the compiler's own assembler */
	bool only_c_objects;	/* C and C++ are compiled to objects, with no other output */
	/* Options of snarl-cc, which are not in words. */
	bool no_inline;		/* --no-inline, --snarl-no-inline */
	bool no_loops;		/* --no-loops, --snarl-no-loops */
	bool no_instrument;	/* --snarl-no-instrument */
	bool production;	/* --production, --snarl-production */
	bool print;		/* --snarl-print */
};

/*
 * Reads the command line after argv[0], with response files expanded. Returns -1 with the reason if
 * the command cannot be instrumented. scan_free in either case.
 */
int scan_read(const struct args *in, bool clang, struct scan *s, struct err *err);

void scan_free(struct scan *s);

#endif
