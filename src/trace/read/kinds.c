#include <string.h>

#include "base/mem.h"
#include "trace/codec/codec.h"
#include "trace/read/kinds.h"

static const struct {
	const char *name;
	enum trace_class class;
} kinds[TRACE_KIND_COUNT] = {
#define TRACE_KIND(name, text, extra, class, roles) { text, TRACE_CLASS_##class },
#include "abi/kinds.def"
#undef TRACE_KIND
};

static const char *const classes[] = {
	"none", "access", "func", "atomic", "mutex", "rwlock", "spin", "cond",
	"sem", "barrier", "once", "thread", "heap", "system", "process", "user",
};

static const char *const calls[] = {
#define TRACE_CALL(name, text) text,
#include "abi/calls.def"
#undef TRACE_CALL
};

static const char *const orders[] = {
	"relaxed", "consume", "acquire", "release", "acq_rel", "seq_cst",
};

_Static_assert(ARRAY_SIZE(classes) == TRACE_CLASS_USER + 1, "a name for each class");
_Static_assert(__ATOMIC_RELAXED == 0 && __ATOMIC_SEQ_CST == 5, "orders by number");

static int find(const char *const *names, size_t count, const char *name, size_t size)
{
	for (size_t i = 0; i < count; i++)
		if (strlen(names[i]) == size && !memcmp(names[i], name, size))
			return (int)i;
	return -1;
}

const char *kind_name(unsigned kind)
{
	return kind < TRACE_KIND_COUNT ? kinds[kind].name : NULL;
}

enum trace_class kind_class(unsigned kind)
{
	return kind < TRACE_KIND_COUNT ? kinds[kind].class : TRACE_CLASS_NONE;
}

const char *kind_class_name(enum trace_class class)
{
	return (size_t)class < ARRAY_SIZE(classes) ? classes[class] : NULL;
}

unsigned kind_extra(unsigned kind)
{
	return trace_extra(kind);
}

int kind_find(const char *name, size_t size)
{
	for (size_t i = 0; i < TRACE_KIND_COUNT; i++)
		if (strlen(kinds[i].name) == size && !memcmp(kinds[i].name, name, size))
			return (int)i;
	return -1;
}

const char *call_name(unsigned call)
{
	return call < TRACE_CALL_COUNT ? calls[call] : NULL;
}

int call_find(const char *name, size_t size)
{
	return find(calls, ARRAY_SIZE(calls), name, size);
}

const char *order_name(unsigned order)
{
	return order < ARRAY_SIZE(orders) ? orders[order] : NULL;
}

int order_find(const char *name, size_t size)
{
	return find(orders, ARRAY_SIZE(orders), name, size);
}
