/*
 * Demangles the C++ names of symbol tables. Names from debug information are readable already.
 */
#ifndef SYMBOL_DEMANGLE_H
#define SYMBOL_DEMANGLE_H

/* Returns a new string, or NULL if `name` is not mangled or cannot be demangled. */
char *demangle(const char *name);

#endif
