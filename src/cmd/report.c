/*
 * snarl report: prints or writes saved results in one of the formats of report/.
 */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "cmd/cmd.h"
#include "cmd/terminal.h"
#include "report/format.h"

static const char usage_head[] =
	"usage: snarl report [options] [DIR]\n"
	"\n"
	"Shows the results of snarl hunt or snarl test. DIR is their folder (default: snarl-out), "
		"or the\n"
	"folder of one bug in it.\n"
	"\n"
	"  -f, --format ";

static const char usage_middle[] =
	"  output format, see below (default: text)\n"
	"  -o, --out PATH       write to PATH, a folder for html (default: stdout; html: beside "
		"the\n"
	"                       results); - is stdout\n"
	"  --width N            columns of text, 40 to 1000 (default: as the terminal, else 100)\n"
	"\n"
	"Formats:\n";

static const char usage_tail[] =
	"\n"
	"  snarl report snarl-out/bugs/B001\n"
	"  snarl report --format html\n";

struct options {
	const struct report_format *format;
	const char *folder;	/* of the results, or of one bug */
	const char *out;	/* of --out, or NULL */
	size_t width;	/* of --width; 0: as the terminal */
};

enum { OPTION_WIDTH = 256, OPTION_HELP };

static const struct option long_options[] = {
	{ "format", required_argument, NULL, 'f' },
	{ "out", required_argument, NULL, 'o' },
	{ "width", required_argument, NULL, OPTION_WIDTH },
	{ "help", no_argument, NULL, OPTION_HELP },
	{ 0 },
};

static int print_help(void)
{
	int width = 8;

	fputs(usage_head, stdout);
	for (size_t i = 0; report_formats[i]; i++)	/* scripts/completions reads this list */
		printf("%s%s", i ? "|" : "", report_formats[i]->name);
	fputs(usage_middle, stdout);
	for (size_t i = 0; report_formats[i]; i++)
		width = cmd_name_width(width, report_formats[i]->name);
	for (size_t i = 0; report_formats[i]; i++)
		printf("  %-*s %s\n", width, report_formats[i]->name, report_formats[i]->summary);
	fputs(usage_tail, stdout);
	return cmd_flush(&cmd_report, CMD_OK);
}

static int unknown_format(const char *name)
{
	const char *names[32], *nearest;
	unsigned count = 0;

	for (; report_formats[count] && count < ARRAY_SIZE(names); count++)
		names[count] = report_formats[count]->name;
	nearest = cmd_nearest(name, names, count);
	if (nearest)
		return cmd_usage(&cmd_report, "no format '%s'; did you mean '%s'?", name, nearest);
	return cmd_usage(&cmd_report, "no format '%s'", name);
}

/* Returns -1 to continue, or an exit code. */
static int parse(int argc, char **argv, struct options *o)
{
	char *end;
	int c;

	while ((c = getopt_long(argc, argv, ":f:o:h", long_options, NULL)) != -1)
		switch (c) {
		case 'f':
			o->format = report_format_find(optarg);
			if (!o->format)
				return unknown_format(optarg);
			break;
		case 'o': o->out = optarg; break;
		case OPTION_WIDTH:
			o->width = strtoul(optarg, &end, 10);
			if (*end || o->width < 40 || o->width > 1000)
				return cmd_usage(&cmd_report,
						 "--width needs a number from 40 to 1000, not '%s'",
						 optarg);
			break;
		case 'h':
		case OPTION_HELP: return print_help();
		default: return cmd_bad_option(&cmd_report, argv, c);
		}
	if (argc - optind > 1)
		return cmd_usage(&cmd_report, "one DIR at a time; unexpected '%s'",
				 argv[optind + 1]);
	if (optind < argc)
		o->folder = argv[optind];
	return -1;
}

/* Writes a format that consists of files, and prints the path of the first page. */
static int write_pages(const struct report *r, const struct options *o)
{
	const char *where = o->out ? o->out : r->path;
	struct err err;

	if (report_write(r, o->format, o->out, &err) < 0)
		return cmd_fail(&cmd_report, "%s", err.text);
	printf("%s/%s\n", where, r->single ? o->format->bug_file : o->format->all_file);
	return cmd_flush(&cmd_report, CMD_OK);
}

/* Prints a format that is one text, or writes it to the file --out. */
static int write_text(const struct report *r, const struct options *o)
{
	bool to_stdout = !o->out || strcmp(o->out, "-") == 0;
	struct report_style style;
	struct buf text = { 0 };
	struct err err;
	int result = 0;

	terminal_style(to_stdout ? STDOUT_FILENO : -1, &style);
	if (o->width)
		style.width = o->width;
	o->format->all(r, &style, &text);
	if (to_stdout)
		fwrite(text.data, 1, text.size, stdout);
	else
		result = report_write_file(o->out, &text, &err);
	buf_free(&text);
	if (result < 0)
		return cmd_fail(&cmd_report, "%s", err.text);
	return cmd_flush(&cmd_report, CMD_OK);
}

static int run(int argc, char **argv)
{
	struct options o = { .format = &report_text, .folder = "snarl-out" };
	struct report r;
	struct err err;
	int code = parse(argc, argv, &o);

	if (code >= 0)
		return code;
	if (report_open(&r, o.folder, true, NULL, &err) < 0)
		code = cmd_fail(&cmd_report, "%s", err.text);
	else if (o.format->bug && !(o.out && strcmp(o.out, "-") == 0))
		code = write_pages(&r, &o);
	else
		code = write_text(&r, &o);
	report_close(&r);
	return code;
}

const struct cmd cmd_report = {
	.name = "report", .summary = "show results as text, HTML, SARIF, JUnit …", .run = run,
};
