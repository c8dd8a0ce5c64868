#include <stddef.h>

#include "trace/read/kinds.h"
#include "trace/text/text_words.h"

static const struct text_word access_words[] = {
	{ "volatile", TRACE_VOLATILE, TRACE_VOLATILE },
	{ "vptr", TRACE_VPTR, TRACE_VPTR },
	{ NULL, 0, 0 },
};

#define ORDER_BITS (TRACE_ORDER_MASK << TRACE_ORDER_SHIFT)

static const struct text_word atomic_words[] = {
	{ "relaxed", ORDER_BITS, __ATOMIC_RELAXED << TRACE_ORDER_SHIFT },
	{ "consume", ORDER_BITS, __ATOMIC_CONSUME << TRACE_ORDER_SHIFT },
	{ "acquire", ORDER_BITS, __ATOMIC_ACQUIRE << TRACE_ORDER_SHIFT },
	{ "release", ORDER_BITS, __ATOMIC_RELEASE << TRACE_ORDER_SHIFT },
	{ "acq_rel", ORDER_BITS, __ATOMIC_ACQ_REL << TRACE_ORDER_SHIFT },
	{ "seq_cst", ORDER_BITS, __ATOMIC_SEQ_CST << TRACE_ORDER_SHIFT },
	{ NULL, 0, 0 },
};

static const struct text_word blocking_words[] = {
	{ "timed", TRACE_TIMED, TRACE_TIMED },
	{ "c11", TRACE_C11, TRACE_C11 },
	{ "unwound", TRACE_UNWOUND, TRACE_UNWOUND },
	{ NULL, 0, 0 },
};

static const struct text_word call_words[] = {
	{ "unwound", TRACE_CALL_UNWOUND, TRACE_CALL_UNWOUND },
	{ NULL, 0, 0 },
};

const struct text_word *text_words(unsigned kind)
{
	if (kind == TRACE_CALL_ENTER || kind == TRACE_CALL_LEAVE)
		return call_words;
	switch (kind_class(kind)) {
	case TRACE_CLASS_ACCESS: return access_words;
	case TRACE_CLASS_ATOMIC: return atomic_words;
	case TRACE_CLASS_MUTEX:
	case TRACE_CLASS_RWLOCK:
	case TRACE_CLASS_SPIN:
	case TRACE_CLASS_COND:
	case TRACE_CLASS_SEM:
	case TRACE_CLASS_BARRIER:
	case TRACE_CLASS_ONCE:
	case TRACE_CLASS_THREAD: return blocking_words;
	default: return NULL;
	}
}

enum text_arg text_arg_form(unsigned kind)
{
	unsigned roles = trace_roles(kind);

	if (roles & ROLE_RANGE)
		return TEXT_ARG_NONE;
	if (roles & ROLE_THREAD)
		return TEXT_ARG_THREAD;
	if (roles & (ROLE_WAIT_BEGIN | ROLE_WAIT_END))
		return TEXT_ARG_HEX;
	switch (kind) {
	case TRACE_THREAD_START: return TEXT_ARG_START;
	case TRACE_BLOCKED: return TEXT_ARG_KIND;
	case TRACE_CALL_LEAVE: return TEXT_ARG_SIGNED;
	case TRACE_FUTEX_REQUEUE:
	case TRACE_VALUE: return TEXT_ARG_HEX;
	default: break;
	}
	if (!kind_extra(kind))
		return TEXT_ARG_NONE;
	return kind_class(kind) == TRACE_CLASS_ATOMIC ? TEXT_ARG_HEX : TEXT_ARG_NUMBER;
}
