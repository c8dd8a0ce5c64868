/*
 * snarl doctor: runs all checks of the machine and the tools, and prints their results.
 */
#include "cmd/doctor/doctor.h"

#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/json.h"
#include "cmd/cmd.h"

static const char usage[] =
	"usage: snarl doctor [--json]\n"
	"       snarl doctor [--json] --file PROGRAM\n"
	"\n"
	"Checks what snarl needs of this machine, and says what to do about what is missing. The "
		"last\n"
	"checks compile, record and dump a small program with each compiler found.\n"
	"\n"
	"  --json       print one JSON object: "
		"{\"ok\":…,\"checks\":[{\"name\",\"level\",\"text\",\"advice\"}…]}\n"
	"  --file PROGRAM  say instead whether a program or library is a production build, and how "
		"many\n"
	"               of its functions can be switched\n"
	"\n"
	"Exit: 0 snarl works here, 3 something that snarl needs is missing.\n";

void doctor_report(struct doctor_finding *f, enum doctor_level level, const char *format, ...)
{
	va_list list;

	f->level = level;
	va_start(list, format);
	vsnprintf(f->text, sizeof(f->text), format, list);
	va_end(list);
}

void doctor_advise(struct doctor_finding *f, const char *format, ...)
{
	va_list list;

	va_start(list, format);
	vsnprintf(f->advice, sizeof(f->advice), format, list);
	va_end(list);
}

static const char *level_name(enum doctor_level level)
{
	static const char *const name[] = { "ok", "warn", "fail" };

	return name[level];
}

static void print_finding(const struct doctor_check *check, const struct doctor_finding *f,
		   struct json *j)
{
	if (!j) {
		printf("%-5s %-12s %s\n", level_name(f->level), check->name, f->text);
		if (f->advice[0])
			printf("%-5s %-12s %s\n", "", "", f->advice);
		fflush(stdout);
		return;
	}
	json_open(j, NULL, '{');
	json_text(j, "name", check->name);
	json_text(j, "level", level_name(f->level));
	json_text(j, "text", f->text);
	if (f->advice[0])
		json_text(j, "advice", f->advice);
	json_close(j, '}');
}

static bool run_checks(const struct doctor_check *checks, struct json *j)
{
	bool ok = true;

	for (; checks->name; checks++) {
		struct doctor_finding f = { 0 };

		checks->check(&f);
		print_finding(checks, &f, j);
		ok = ok && f.level != DOCTOR_FAIL;
	}
	return ok;
}

static int doctor(bool json)
{
	struct buf out = { 0 };
	struct json writer = { .out = &out }, *j = json ? &writer : NULL;
	bool ok;

	if (j) {
		json_open(j, NULL, '{');
		json_open(j, "checks", '[');
	}
	ok = run_checks(doctor_machine, j);
	ok &= run_checks(doctor_tools, j);
	if (j) {
		json_close(j, ']');
		json_bool(j, "ok", ok);
		json_close(j, '}');
		puts(buf_string(&out));
	} else if (ok) {
		puts("snarl works here");
	} else {
		puts("snarl does not work here");
	}
	buf_free(&out);
	return cmd_flush(&cmd_doctor, ok ? CMD_OK : CMD_FAILED);
}

static int run(int argc, char **argv)
{
	static const struct option options[] = {
		{ "json", no_argument, NULL, 'j' },
		{ "file", required_argument, NULL, 'f' },
		{ "help", no_argument, NULL, 'h' },
		{ 0 },
	};
	const char *file = NULL;
	bool json = false;
	int c;

	while ((c = getopt_long(argc, argv, ":h", options, NULL)) != -1)
		switch (c) {
		case 'j': json = true; break;
		case 'f': file = optarg; break;
		case 'h': fputs(usage, stdout); return cmd_flush(&cmd_doctor, CMD_OK);
		default: return cmd_bad_option(&cmd_doctor, argv, c);
		}
	if (optind < argc)
		return cmd_usage(&cmd_doctor, "unexpected argument '%s'", argv[optind]);
	return file ? doctor_file(file, json) : doctor(json);
}

const struct cmd cmd_doctor = {
	.name = "doctor",
	.summary = "check what this machine supports, and try snarl on it",
	.run = run,
};
