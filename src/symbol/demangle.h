/*
 * C++ names of symbol tables in readable form. Names from debug information
 * need no such thing.
 */
#ifndef SYMBOL_DEMANGLE_H
#define SYMBOL_DEMANGLE_H

/* A new string, or NULL if `name` is not mangled or cannot be undone here. */
char *demangle(const char *name);

#endif
