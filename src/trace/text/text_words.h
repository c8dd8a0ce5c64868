/*
 * Tables that text_write.c and text_read.c share: the words for `detail`, and the form of each
 * kind's argument.
 */
#ifndef TRACE_TEXT_TEXT_WORDS_H
#define TRACE_TEXT_TEXT_WORDS_H

#include "abi/trace_format.h"

struct text_word {
	const char *name;
	unsigned mask, bits;	/* (detail & mask) == bits */
};

/* The words for the detail of a kind, ended by a NULL name; NULL if it has none. */
const struct text_word *text_words(unsigned kind);

enum text_arg {
	TEXT_ARG_NONE,		/* the kind has no argument, or it is the size */
	TEXT_ARG_NUMBER,	/* decimal */
	TEXT_ARG_SIGNED,	/* decimal, may be negative */
	TEXT_ARG_HEX,		/* an object, or a value in memory */
	TEXT_ARG_THREAD,	/* a thread's name, written before the object */
	TEXT_ARG_KIND,		/* the name of an event kind */
	TEXT_ARG_START,		/* parent and ordinal, left out if the thread's name says them */
};

enum text_arg text_arg_form(unsigned kind);

#endif
