/*
 * Numbers of source files in the merged text. clang leaves the line table to the assembler, so both
 * texts share one, and file numbers of the instrumented text must become those of the plain text.
 * They occur in .loc lines and in debug information, where clang's comments mark them. gcc writes
 * line tables itself (-gno-as-loc-support), one for each text.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "wrap/dual/dual_internal.h"

/* A .file line with a number. */
struct file {
	uint64_t number;
	struct asmtext_word folder, name;	/* folder: may be empty */
	struct asmtext_word rest;		/* text of both, with quotes */
};

static bool take_number(const char **at, const char *end, uint64_t *number)
{
	const char *start;

	while (*at < end && (**at == ' ' || **at == '\t'))
		++*at;
	start = *at;
	for (*number = 0; *at < end && **at >= '0' && **at <= '9'; ++*at)
		*number = *number * 10 + (uint64_t)(**at - '0');
	return *at > start;
}

static bool take_string(const char **at, const char *end, struct asmtext_word *word)
{
	const char *open = memchr(*at, '"', (size_t)(end - *at));
	const char *close = open ? memchr(open + 1, '"', (size_t)(end - open - 1)) : NULL;

	if (!close)
		return false;
	*word = (struct asmtext_word){ open + 1, (uint32_t)(close - open - 1) };
	*at = close + 1;
	return true;
}

static bool read_file(struct asmtext_word line, struct file *f)
{
	struct asmtext_word verb = asmtext_verb(line);
	const char *at = verb.at + verb.size, *end = line.at + line.size;

	*f = (struct file){ .number = 0 };
	if (!asmtext_is(verb, ".file") || !take_number(&at, end, &f->number))
		return false;
	f->rest.at = at;
	if (!take_string(&at, end, &f->name))
		return false;
	f->rest.size = (uint32_t)(at - f->rest.at);
	f->folder.at = at;
	if (take_string(&at, end, &f->folder)) {
		struct asmtext_word swap = f->name;

		f->name = f->folder;
		f->folder = swap;
		f->rest.size = (uint32_t)(at - f->rest.at);
	}
	return true;
}

/*
 * Sets *path to the file's full path, so that different spellings compare equal. *root is the
 * folder of the compilation, which file number 0 gives.
 */
static void whole_path(const struct file *f, struct asmtext_word *root, struct buf *path)
{
	buf_clear(path);
	if (f->number == 0)
		*root = f->folder;
	if (f->name.size == 0 || f->name.at[0] != '/') {
		if (root->size && (f->folder.size == 0 || f->folder.at[0] != '/')) {
			buf_add(path, root->at, root->size);
			buf_add_char(path, '/');
		}
		if (f->folder.size) {
			buf_add(path, f->folder.at, f->folder.size);
			buf_add_char(path, '/');
		}
	}
	buf_add(path, f->name.at, f->name.size);
}

void dual_number_files(struct dual *d)
{
	struct strmap known = { 0 };
	struct asmtext_word root = { "", 0 };
	struct buf path = { 0 };
	uint64_t next = 1;
	struct file f;

	for (size_t i = 0; i < d->plain.line_count; i++) {
		if (!read_file(d->plain.lines[i].text, &f))
			continue;
		whole_path(&f, &root, &path);
		*strmap_put(&known, (const char *)path.data, path.size, NULL) = f.number;
		if (f.number >= next)
			next = f.number + 1;
	}
	root.size = 0;
	for (size_t i = 0; i < d->inst.line_count; i++) {
		uint64_t *number;
		bool added;

		if (!read_file(d->inst.lines[i].text, &f))
			continue;
		whole_path(&f, &root, &path);
		number = strmap_put(&known, (const char *)path.data, path.size, &added);
		if (added) {
			*number = next++;
			buf_addf(&d->new_files, "\t.file %lu%.*s\n", (unsigned long)*number,
				 (int)f.rest.size, f.rest.at);
		}
		*map_put(&d->files, f.number, NULL) = *number;
	}
	buf_free(&path);
	strmap_free(&known);
}

/* Writes plain's number of a file of inst, or 0 if that is unknown or greater than `limit`. */
static void add_number(const struct dual *d, uint64_t number, uint64_t limit, struct buf *out)
{
	const uint64_t *mapped = map_find(&d->files, number);

	buf_add_dec(out, mapped && *mapped <= limit ? *mapped : 0);
}

/* Whether clang's comment says that the line holds the number of a file. */
static bool is_file_attribute(struct asmtext_word line)
{
	const char *comment = memrchr(line.at, '#', line.size);
	struct asmtext_word text = { comment,
				     comment ? (uint32_t)(line.at + line.size - comment) : 0 };

	return text.size &&
	       (asmtext_is(text, "# DW_AT_decl_file") || asmtext_is(text, "# DW_AT_call_file"));
}

struct asmtext_word dual_renumber_file(const struct dual *d, struct asmtext_word line,
				       struct buf *out)
{
	struct asmtext_word verb = asmtext_verb(line);
	bool loc = asmtext_is(verb, ".loc");
	const char *at = verb.at + verb.size, *end = line.at + line.size;
	uint64_t number;

	if (d->gcc || (!loc && !is_file_attribute(line)) || !take_number(&at, end, &number))
		return line;
	buf_add(out, line.at, (size_t)(verb.at + verb.size - line.at));
	buf_add_char(out, ' ');
	add_number(d, number, asmtext_is(verb, ".byte") ? UINT8_MAX : UINT16_MAX, out);
	return (struct asmtext_word){ at, (uint32_t)(end - at) };
}
