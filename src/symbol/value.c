/*
 * Formats values by the type of the variable they were read from or written to.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "symbol/symbol.h"

#define SMALL 0xffffffull	/* greater values of unknown type are probably addresses: in hex */

static int64_t with_sign(uint64_t value, uint64_t size)
{
	unsigned shift = size < 8 ? 64 - 8 * (unsigned)size : 0;

	return (int64_t)(value << shift) >> shift;
}

/*
 * Appends the shortest text that converts back to the same value. `most`: 9 for float, 17 for
 * double.
 */
static void add_real(double value, int most, struct buf *out)
{
	char text[40];

	for (int digits = most == 9 ? 6 : 15; digits <= most; digits++) {
		snprintf(text, sizeof(text), "%.*g", digits, value);
		if (most == 9 ? strtof(text, NULL) == (float)value : strtod(text, NULL) == value)
			break;
	}
	buf_add_text(out, text);
}

static void add_float(uint64_t value, uint64_t size, struct buf *out)
{
	double wide;
	float narrow;

	if (size == sizeof(narrow)) {
		memcpy(&narrow, &value, sizeof(narrow));
		add_real((double)narrow, 9, out);
	} else {
		memcpy(&wide, &value, sizeof(wide));
		add_real(wide, 17, out);
	}
}

static void add_unknown(uint64_t value, uint64_t size, struct buf *out)
{
	int64_t number = size < 4 ? (int64_t)value : with_sign(value, size);

	if (number >= -(int64_t)SMALL && number <= (int64_t)SMALL)
		buf_addf(out, "%lld", (long long)number);
	else
		buf_add_hex(out, value);
}

static void add_enumerator(const struct symbol_type *t, uint64_t value, struct buf *out)
{
	for (size_t i = 0; i < t->enumerator_count; i++)
		if (with_sign(t->enumerators[i].value, t->size) == with_sign(value, t->size)) {
			buf_add_text(out, t->enumerators[i].name);
			return;
		}
	buf_addf(out, "%lld", (long long)with_sign(value, t->size));
}

void symbol_value(const struct symbol_type *t, uint64_t value, uint64_t size, struct buf *out)
{
	enum symbol_type_kind kind = t && t->size == size ? t->kind : SYMBOL_OTHER;

	if (kind == SYMBOL_BOOL && value > 1)
		kind = SYMBOL_UNSIGNED;
	if (kind == SYMBOL_CHAR && (value < ' ' || value > '~'))
		kind = SYMBOL_SIGNED;
	if (kind == SYMBOL_FLOAT && size != sizeof(float) && size != sizeof(double))
		kind = SYMBOL_OTHER;
	switch (kind) {
	case SYMBOL_OTHER:
		add_unknown(value, size, out);
		break;
	case SYMBOL_SIGNED:
		buf_addf(out, "%lld", (long long)with_sign(value, size));
		break;
	case SYMBOL_UNSIGNED:
		buf_add_dec(out, value);
		break;
	case SYMBOL_CHAR:
		buf_addf(out, "'%c'", (char)value);
		break;
	case SYMBOL_BOOL:
		buf_add_text(out, value ? "true" : "false");
		break;
	case SYMBOL_FLOAT:
		add_float(value, size, out);
		break;
	case SYMBOL_POINTER:
		if (value)
			buf_add_hex(out, value);
		else
			buf_add_text(out, "NULL");
		break;
	case SYMBOL_ENUM:
		add_enumerator(t, value, out);
		break;
	}
}
