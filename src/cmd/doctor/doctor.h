/*
 * What the files of snarl doctor share: a check, its result, and the tables of checks.
 */
#ifndef CMD_DOCTOR_DOCTOR_H
#define CMD_DOCTOR_DOCTOR_H

#include <stdbool.h>

enum doctor_level {
	DOCTOR_OK,
	DOCTOR_WARN,	/* a feature is slow or missing */
	DOCTOR_FAIL,	/* snarl cannot work */
};

/* The result of a check; zeros before it runs. */
struct doctor_finding {
	enum doctor_level level;
	char text[256];		/* the state that the check found */
	char advice[256];	/* consequence, and what to do; empty if the level is DOCTOR_OK */
};

struct doctor_check {
	const char *name;
	void (*check)(struct doctor_finding *f);
};

/* Set level and text, or the advice, of a result. */
void doctor_report(struct doctor_finding *f, enum doctor_level level, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
void doctor_advise(struct doctor_finding *f, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* --file: prints whether a program or library is a production build; returns the exit code. */
int doctor_file(const char *path, bool json);

/* Tables of checks, ended by a NULL name. */
extern const struct doctor_check doctor_machine[];	/* processor and kernel */
extern const struct doctor_check doctor_tools[];	/* compilers, files, and a trial */

#endif
