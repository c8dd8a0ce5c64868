/*
 * Names and classes of event kinds, calls and memory orders. The kinds are in abi/kinds.def.
 */
#ifndef TRACE_READ_KINDS_H
#define TRACE_READ_KINDS_H

#include <stddef.h>

#include "abi/trace_roles.h"

/* The kind's name in text traces; NULL if there is no such kind. */
const char *kind_name(unsigned kind);

enum trace_class kind_class(unsigned kind);	/* TRACE_CLASS_NONE if unknown */
const char *kind_class_name(enum trace_class class);

/* Number of extra records behind the primary one. */
unsigned kind_extra(unsigned kind);

/* The kind with that name, -1 if there is none. */
int kind_find(const char *name, size_t size);

/* Whether the event's detail holds the size of the access. */
static inline int kind_has_size(unsigned kind)
{
	return (trace_roles(kind) & ROLE_SIZED) != 0;
}

/* Names of enum trace_call; NULL or -1 if there is none. */
const char *call_name(unsigned call);
int call_find(const char *name, size_t size);

/* Names of __ATOMIC_RELAXED ("relaxed") to __ATOMIC_SEQ_CST ("seq_cst"); NULL or -1 if none. */
const char *order_name(unsigned order);
int order_find(const char *name, size_t size);

#endif
