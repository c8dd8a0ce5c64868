/*
 * Lines of source files, for reports.
 */
#ifndef EXPLORE_SOURCE_H
#define EXPLORE_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "explore/places.h"

/*
 * Appends the line without blanks around it, and with what a terminal would take for a
 * command replaced by '?'. False if it cannot be had: the file is looked for as the
 * debugger's data names it, and beside the program, `pc` being in it.
 */
bool source_line(const struct places *places, uint64_t pc, const char *file, uint32_t line,
		 struct buf *out);

/* The same for any text. */
void source_escape(const char *text, size_t size, struct buf *out);

/* How many columns a text takes, a character each; and how many bytes fit into so many. */
size_t source_width(const char *text);
size_t source_fit(const char *text, size_t columns);

#endif
