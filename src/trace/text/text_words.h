/*
 * What text.c writes and textread.c reads: the words for `detail`, and what
 * the argument of each kind is.
 */
#ifndef TRACE_TEXT_TEXT_WORDS_H
#define TRACE_TEXT_TEXT_WORDS_H

#include "abi/trace_format.h"

struct text_word {
	const char *name;
	unsigned mask, bits;	/* (detail & mask) == bits */
};

/* Ends with a NULL name; NULL if the kind has none. */
const struct text_word *text_words(unsigned kind);

enum text_arg {
	TEXT_ARG_NONE,		/* the kind has no argument, or it is the size */
	TEXT_ARG_NUMBER,
	TEXT_ARG_SIGNED,
	TEXT_ARG_HEX,		/* an object, or a value in memory */
	TEXT_ARG_THREAD,	/* a thread, written before the object */
	TEXT_ARG_KIND,
	TEXT_ARG_START,
};

enum text_arg text_arg_form(unsigned kind);

#endif
