/*
 * Names and classes of event kinds and calls; the table is kinds.def.
 */
#ifndef TRACE_READ_KINDS_H
#define TRACE_READ_KINDS_H

#include <stddef.h>

#include "abi/trace_roles.h"

/* As in text traces; NULL if there is no such kind. */
const char *kind_name(unsigned kind);

enum trace_class kind_class(unsigned kind);	/* TRACE_CLASS_NONE if unknown */
const char *kind_class_name(enum trace_class class);

/* 16-byte records after the primary one. */
unsigned kind_extra(unsigned kind);

/* -1 if there is none of that name. */
int kind_find(const char *name, size_t size);

/* Whether `detail` holds a size, and so the event has one. */
static inline int kind_has_size(unsigned kind)
{
	return (trace_roles(kind) & ROLE_SIZED) != 0;
}

/* enum trace_call; NULL, -1 as above. */
const char *call_name(unsigned call);
int call_find(const char *name, size_t size);

/* __ATOMIC_RELAXED.. as "relaxed".."seq_cst"; NULL, -1 as above. */
const char *order_name(unsigned order);
int order_find(const char *name, size_t size);

#endif
