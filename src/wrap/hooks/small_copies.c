/*
 * A filter over the lines of LLVM IR. The result of the call stays defined even if nothing uses it,
 * since LLVM wants unnamed values numbered without gaps. New values have names, so they fit
 * anywhere.
 *
 * The read and its hook come before the hook of the write: in a controlled run, another thread may
 * run in between.
 */
#include "wrap/hooks/small_copies.h"

#include <stdlib.h>
#include <string.h>

#include "wrap/asm/asm_text.h"

#define MAX_BYTES 16	/* the widest access that has a hook */

/* A call of memcpy, memmove or memset. */
struct copy {
	struct asmtext_word result;	/* such as %7 */
	const char *pointer;		/* the type of pointers: "i8*" up to LLVM 14, else "ptr" */
	struct asmtext_word to, from;	/* operands; from: empty for a fill */
	unsigned fill;			/* the byte of a fill */
	unsigned size;			/* bytes */
	struct asmtext_word rest;	/* metadata behind the call: its source location */
};

static bool take(struct asmtext_word *w, const char *text)
{
	uint32_t size = (uint32_t)strlen(text);

	if (w->size < size || memcmp(w->at, text, size) != 0)
		return false;
	w->at += size;
	w->size -= size;
	return true;
}

/* Takes a decimal number of at most `most`. */
static bool take_number(struct asmtext_word *w, unsigned most, unsigned *number)
{
	uint32_t size = 0;

	for (*number = 0; size < w->size && w->at[size] >= '0' && w->at[size] <= '9'; size++) {
		*number = *number * 10 + (unsigned)(w->at[size] - '0');
		if (*number > most)
			return false;
	}
	w->at += size;
	w->size -= size;
	return size > 0;
}

/* Takes the text up to a comma or closing parenthesis at nesting depth 0. Names may be quoted. */
static struct asmtext_word take_part(struct asmtext_word *w)
{
	struct asmtext_word part = { w->at, 0 };
	bool quoted = false;
	unsigned depth = 0;

	for (; part.size < w->size; part.size++) {
		char c = w->at[part.size];

		if (c == '"')
			quoted = !quoted;
		if (quoted)
			continue;
		if (depth == 0 && (c == ',' || c == ')'))
			break;
		depth += (c == '(' || c == '[' || c == '{' || c == '<') -
			 (unsigned)(c == ')' || c == ']' || c == '}' || c == '>');
	}
	w->at += part.size;
	w->size -= part.size;
	return part;
}

/* Takes a pointer: a value, or a constant expression. False for others, such as with attributes. */
static bool take_pointer(struct asmtext_word *w, const struct copy *c, struct asmtext_word *value)
{
	if (!take(w, c->pointer) || !take(w, " "))
		return false;
	*value = take_part(w);
	return asmtext_starts(*value, "%") || asmtext_starts(*value, "@") ||
	       asmtext_starts(*value, "bitcast (") || asmtext_starts(*value, "getelementptr ");
}

/* Takes the function's name and parenthesis. `own`: the module defines memcpy and others itself. */
static bool take_name(struct asmtext_word *w, bool own, bool *fills)
{
	if (!take(w, "@__tsan_mem") && (own || !take(w, "@mem")))
		return false;
	*fills = take(w, "set(");
	return *fills || take(w, "cpy(") || take(w, "move(");
}

static bool take_rest(struct asmtext_word rest)
{
	unsigned number;

	return rest.size == 0 || (take(&rest, ", !dbg !") &&
				  take_number(&rest, UINT32_MAX / 16, &number) && rest.size == 0);
}

static bool parse(struct asmtext_word line, bool own, struct copy *c)
{
	bool fills;

	*c = (struct copy){ .pointer = "ptr" };
	if (!take(&line, "  %"))
		return false;
	c->result = (struct asmtext_word){ line.at - 1, 1 };
	for (; line.size && *line.at != ' '; line.at++, line.size--)
		c->result.size++;
	if (!take(&line, " = "))
		return false;
	take(&line, "tail ");
	if (!take(&line, "call "))
		return false;
	if (!take(&line, "ptr ")) {
		c->pointer = "i8*";
		if (!take(&line, "i8* "))
			return false;
	}
	if (!take_name(&line, own, &fills) || !take_pointer(&line, c, &c->to) || !take(&line, ", "))
		return false;
	if (fills ? !take(&line, "i32 ") || !take_number(&line, 255, &c->fill)
		  : !take_pointer(&line, c, &c->from))
		return false;
	if (!take(&line, ", i64 ") || !take_number(&line, MAX_BYTES, &c->size) || !take(&line, ")"))
		return false;
	c->rest = line;
	return c->size > 0 && (c->size & (c->size - 1)) == 0 && take_rest(line);
}

static void add_word(struct buf *out, struct asmtext_word w)
{
	buf_add(out, w.at, w.size);
}

/* Ends an instruction with the metadata of the call that it replaces. */
static void end_instruction(struct buf *out, const struct copy *c)
{
	add_word(out, c->rest);
	buf_add_char(out, '\n');
}

/* The LLVM type that holds the bytes. */
static const char *type_of(const struct copy *c)
{
	switch (c->size) {
	case 1:
		return "i8";
	case 2:
		return "i16";
	case 4:
		return "i32";
	case 8:
		return "i64";
	}
	return "<2 x i64>";
}

static void write_hook(struct buf *out, const struct copy *c, const char *kind,
		       struct asmtext_word at)
{
	buf_addf(out, "  call void @__tsan_%s%s%u(%s ", c->size > 1 ? "unaligned_" : "", kind,
		 c->size, c->pointer);
	add_word(out, at);
	buf_add_char(out, ')');
	end_instruction(out, c);
}

/* If pointers are typed, casts `at` to the needed type, as the value %snarl.WHAT.NUMBER. */
static void write_cast(struct buf *out, const struct copy *c, const char *what, size_t number,
		       struct asmtext_word at)
{
	if (c->pointer[0] == 'p')
		return;
	buf_addf(out, "  %%snarl.%s.%zu = bitcast i8* ", what, number);
	add_word(out, at);
	buf_addf(out, " to %s*", type_of(c));
	end_instruction(out, c);
}

/* Writes the pointer operand of a load or store, which need not be aligned. */
static void write_address(struct buf *out, const struct copy *c, const char *what, size_t number,
			  struct asmtext_word at)
{
	if (c->pointer[0] == 'p') {
		buf_add_text(out, ", ptr ");
		add_word(out, at);
	} else {
		buf_addf(out, ", %s* %%snarl.%s.%zu", type_of(c), what, number);
	}
	buf_add_text(out, ", align 1");
	end_instruction(out, c);
}

static void write_load(struct buf *out, const struct copy *c, size_t number)
{
	write_hook(out, c, "read", c->from);
	write_cast(out, c, "from", number, c->from);
	buf_addf(out, "  %%snarl.value.%zu = load %s", number, type_of(c));
	write_address(out, c, "from", number, c->from);
}

/* Writes the value to be stored: the loaded one, or the constant of a fill. */
static void write_value(struct buf *out, const struct copy *c, size_t number)
{
	long long bytes =
		(long long)(c->fill * 0x0101010101010101u) >> (c->size < 8 ? 64 - 8 * c->size : 0);

	if (c->from.size)
		buf_addf(out, "%%snarl.value.%zu", number);
	else if (c->size == MAX_BYTES)
		buf_addf(out, "<i64 %lld, i64 %lld>", bytes, bytes);
	else
		buf_addf(out, "%lld", bytes);
}

static void write_copy(struct buf *out, const struct copy *c, size_t number)
{
	if (c->from.size)
		write_load(out, c, number);
	write_hook(out, c, "write", c->to);
	write_cast(out, c, "to", number, c->to);
	buf_addf(out, "  store %s ", type_of(c));
	write_value(out, c, number);
	write_address(out, c, "to", number, c->to);
	buf_add_text(out, "  ");
	add_word(out, c->result);
	buf_addf(out, " = bitcast %s ", c->pointer);
	add_word(out, c->to);
	buf_addf(out, " to %s", c->pointer);
	end_instruction(out, c);
}

/* Whether the module defines memcpy, memmove or memset itself. */
static bool defines_own(const char *text, const char *end)
{
	while ((text = memmem(text, (size_t)(end - text), "\ndefine ", 8))) {
		const char *stop = memchr(text + 1, '\n', (size_t)(end - text - 1));
		size_t size = (size_t)((stop ? stop : end) - text);

		if (memmem(text, size, " @memcpy(", 9) || memmem(text, size, " @memmove(", 10) ||
		    memmem(text, size, " @memset(", 9))
			return true;
		text += size;
	}
	return false;
}

size_t small_copies_transform(const char *text, size_t size, bool pic, struct buf *out)
{
	const char *end = text + size, *kept = text;	/* text before `kept` is written */
	bool own = defines_own(text, end);
	size_t count = 0;

	(void)pic;
	while (text < end) {
		const char *newline = memchr(text, '\n', (size_t)(end - text));
		const char *stop = newline ? newline : end;
		struct copy c;

		if (parse((struct asmtext_word){ text, (uint32_t)(stop - text) }, own, &c)) {
			buf_add(out, kept, (size_t)(text - kept));
			write_copy(out, &c, count++);
			kept = newline ? newline + 1 : end;
		}
		text = newline ? newline + 1 : end;
	}
	buf_add(out, kept, (size_t)(end - kept));
	return count;
}
