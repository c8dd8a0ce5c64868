/*
 * What the checks of `snarl doctor` share.
 */
#ifndef CMD_DOCTOR_H
#define CMD_DOCTOR_H

#include <stdbool.h>

enum doctor_level {
	DOCTOR_OK,
	DOCTOR_WARN,	/* something will be slower or missing */
	DOCTOR_FAIL,	/* snarl cannot work */
};

/* What a check found; zeroed before. */
struct doctor_finding {
	enum doctor_level level;
	char text[256];		/* what is the case */
	char advice[256];	/* what it means and what to do; empty if all is well */
};

struct doctor_check {
	const char *name;
	void (*look)(struct doctor_finding *f);
};

void doctor_say(struct doctor_finding *f, enum doctor_level level, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
void doctor_advise(struct doctor_finding *f, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* --file: says how it was built; an exit code. */
int doctor_file(const char *path, bool json);

/* Arrays that end with a NULL name. */
extern const struct doctor_check doctor_machine[];	/* processor and kernel */
extern const struct doctor_check doctor_tools[];	/* compilers, files, and a trial */

#endif
