/*
 * Checks of compilers and snarl's own files, and a trial that compiles, records and dumps a
 * program.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/proc.h"
#include "cmd/doctor/doctor.h"
#include "wrap/args/compiler.h"

static const char trial_source[] =
	"#include <pthread.h>\n"
	"static int counter;\n"
	"static void *work(void *arg) { counter++; return arg; }\n"
	"int main(void)\n"
	"{\n"
	"\tpthread_t thread;\n"
	"\tcounter = 1;\n"
	"\tif (pthread_create(&thread, 0, work, 0))\n"
	"\t\treturn 1;\n"
	"\treturn pthread_join(thread, 0) || counter != 2;\n"
	"}\n";

/*
 * Fills `out` with the first line of --version, "gcc (Debian 12.2.0-14) 12.2.0". False: not
 * installed.
 */
static bool version_of(const char *compiler, char *out, size_t size)
{
	char *argv[] = { (char *)compiler, (char *)"--version", NULL };
	struct buf text = { 0 };
	int code = proc_run(argv, &text, false, NULL);

	snprintf(out, size, "%.*s", (int)strcspn(buf_string(&text), "\n"), buf_string(&text));
	buf_free(&text);
	return code == 0;
}

static void check_compiler(struct doctor_finding *f, const char *name, const char *other)
{
	char version[128], ignored[128];
	bool has_other;

	if (version_of(name, version, sizeof(version))) {
		doctor_report(f, DOCTOR_OK, "%s", version);
		return;
	}
	has_other = version_of(other, ignored, sizeof(ignored));
	doctor_report(f, has_other ? DOCTOR_WARN : DOCTOR_FAIL, "%s is not installed", name);
	doctor_advise(f, has_other ? "%s suffices; to have both: apt-get install %s" :
				     "%s is not installed either: apt-get install %s",
		      other, name);
}

static void check_gcc(struct doctor_finding *f)
{
	check_compiler(f, "gcc", "clang");
}

static void check_clang(struct doctor_finding *f)
{
	check_compiler(f, "clang", "gcc");
}

static void check_files(struct doctor_finding *f)
{
	struct compiler_home home = { 0 };
	struct err err;

	if (compiler_find_home(getenv("SNARL_HOME"), &home, &err) < 0) {
		doctor_report(f, DOCTOR_FAIL, "%s", err.text);
		doctor_advise(f, "install snarl again, or set SNARL_HOME to where it is");
		return;
	}
	if (home.libexec) {
		doctor_report(f, DOCTOR_OK, "%s, %s/as", home.lib, home.libexec);
	} else {
		doctor_report(f, DOCTOR_WARN, "%s, but snarl's assembler is missing", home.lib);
		doctor_advise(f, "programs will record more slowly, since every access is a call; "
				 "install snarl again");
	}
	compiler_home_free(&home);
}

struct trial {
	char folder[64];
	char *own;		/* folder of snarl's executables */
	const char *compiler;
	struct buf output;
};

/* The path of a file in the folder of the trial, as a new string. */
#define IN(t, name) xasprintf("%s/%s", (t)->folder, (name))

/* Runs a command of the trial. Returns 0, or -1 after reporting that `what` failed. */
static int step(struct trial *t, struct doctor_finding *f, const char *what, char *const argv[])
{
	struct err err = { .text = "" };
	int code;

	buf_clear(&t->output);
	code = proc_run(argv, &t->output, true, &err);
	if (code == 0)
		return 0;
	doctor_report(f, DOCTOR_FAIL, "%s with %s failed: %.150s", what, t->compiler,
		   code < 0 ? err.text : buf_string(&t->output));
	f->text[strcspn(f->text, "\n")] = '\0';
	doctor_advise(f, "try it by hand: %s %s …", argv[0], argv[1]);
	return -1;
}

static int write_source(struct trial *t)
{
	char *path = IN(t, "trial.c");
	FILE *file = fopen(path, "we");
	int result = file && fputs(trial_source, file) >= 0 ? 0 : -1;

	if (file && fclose(file) != 0)
		result = -1;
	free(path);
	return result;
}

/* Checks that the trace contains the accesses of the second thread. */
static int judge(struct trial *t, struct doctor_finding *f)
{
	const char *text = buf_string(&t->output);

	if (strstr(text, "\"name\":\"counter\"") && strstr(text, "\"thread\":\"0.1\"") &&
	    strstr(text, "\"function\":\"work\""))
		return 0;
	doctor_report(f, DOCTOR_FAIL, "recorded with %s, but the trace lacks the accesses",
		   t->compiler);
	doctor_advise(f, "please report this with the output of snarl doctor --json");
	return -1;
}

static void run_trial(struct trial *t, struct doctor_finding *f)
{
	char *cc = xasprintf("%s/snarl-cc", t->own), *snarl = xasprintf("%s/snarl", t->own);
	char *source = IN(t, "trial.c"), *program = IN(t, "trial"), *trace = IN(t, "trace");
	char *compile[] = { cc, "-O1", "-pthread", source, "-o", program, NULL };
	char *record[] = { snarl, "record", "--quiet", "--out", trace, "--", program, NULL };
	char *dump[] = { snarl, "dump", "--json", trace, NULL };

	setenv("SNARL_CC", t->compiler, 1);
	if (write_source(t) < 0) {
		doctor_report(f, DOCTOR_FAIL, "cannot write in %s: %s", t->folder, strerror(errno));
		doctor_advise(f, "check that the disk is not full");
	} else if (step(t, f, "compiling", compile) == 0 &&
		   step(t, f, "recording", record) == 0 && step(t, f, "dumping", dump) == 0 &&
		   judge(t, f) == 0) {
		doctor_report(f, DOCTOR_OK, "compiled, recorded and dumped with %s", t->compiler);
	}
	unsetenv("SNARL_CC");
	free(cc);
	free(snarl);
	free(source);
	free(program);
	free(trace);
}

static void check_trial(struct doctor_finding *f, const char *compiler)
{
	const char *temporary = getenv("TMPDIR");
	struct trial t = { .compiler = compiler };
	char version[128];

	if (!version_of(compiler, version, sizeof(version))) {
		doctor_report(f, DOCTOR_OK, "%s is not installed: skipped", compiler);
		return;
	}
	if (!temporary || strlen(temporary) > 40)
		temporary = "/tmp";
	snprintf(t.folder, sizeof(t.folder), "%s/snarl-doctor.XXXXXX", temporary);
	t.own = proc_own_folder();
	if (!t.own || !mkdtemp(t.folder)) {
		doctor_report(f, DOCTOR_FAIL, "cannot make a folder in %s: %s", temporary,
			   strerror(errno));
		doctor_advise(f, "set TMPDIR to a folder that can be written");
	} else {
		run_trial(&t, f);
		proc_remove_tree(t.folder);
	}
	free(t.own);
	buf_free(&t.output);
}

static void check_trial_gcc(struct doctor_finding *f)
{
	check_trial(f, "gcc");
}

static void check_trial_clang(struct doctor_finding *f)
{
	check_trial(f, "clang");
}

const struct doctor_check doctor_tools[] = {
	{ "gcc", check_gcc },
	{ "clang", check_clang },
	{ "files", check_files },
	{ "trial-gcc", check_trial_gcc },
	{ "trial-clang", check_trial_clang },
	{ 0 },
};
