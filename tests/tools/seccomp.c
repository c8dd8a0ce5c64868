/*
 * Runs a command under a seccomp profile, as a container does:
 *
 *	echo '#include <sys/syscall.h>' | cc -E -dM - >numbers
 *	seccomp PROFILE numbers COMMAND...
 *
 * Understands defaultAction, defaultErrnoRet and syscalls with names, action, errnoRet and args of
 * the OCI runtime's format. Names that `numbers` lacks are skipped, as container runtimes do. Exit
 * status 77: this kernel installs no filter.
 */
#include <errno.h>
#include <jansson.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define CODE_MAX 4096u	/* of the kernel: BPF_MAXINSNS */
#define X32_BIT 0x40000000u

static struct sock_filter code[CODE_MAX];
static unsigned short length;

static void fail(const char *what, const char *text)
{
	fprintf(stderr, "seccomp: %s: %s\n", what, text);
	exit(2);
}

static void emit(uint16_t op, uint8_t jt, uint8_t jf, uint32_t k)
{
	if (length == CODE_MAX)
		fail("profile", "too long");
	code[length++] = (struct sock_filter){ op, jt, jf, k };
}

static void load(size_t offset)
{
	emit(BPF_LD | BPF_W | BPF_ABS, 0, 0, (uint32_t)offset);
}

static uint32_t action_of(const json_t *rule, const char *key, const char *number)
{
	const char *action = json_string_value(json_object_get(rule, key));
	const json_t *error = json_object_get(rule, number);

	if (action && strcmp(action, "SCMP_ACT_ALLOW") == 0)
		return SECCOMP_RET_ALLOW;
	if (!action || strcmp(action, "SCMP_ACT_ERRNO") != 0)
		fail("unknown action", action ? action : "(none)");
	return SECCOMP_RET_ERRNO | (uint32_t)(error ? json_integer_value(error) : EPERM);
}

/* The number of the system call in the text "#define __NR_name number"; -1: it is not there. */
static long number_of(const char *numbers, const char *name)
{
	char want[128];
	const char *at;

	snprintf(want, sizeof(want), "#define __NR_%s ", name);
	at = strstr(numbers, want);
	return at ? strtol(at + strlen(want), NULL, 10) : -1;
}

/* Instructions whose `jf` (or `jt`) is the end of the rule. */
struct ends {
	unsigned short at[32];
	bool if_true[32];
	size_t count;
};

static void jump_to_end(struct ends *e, uint32_t value, bool if_true)
{
	if (e->count == sizeof(e->at) / sizeof(e->at[0]))
		fail("profile", "too many conditions");
	e->if_true[e->count] = if_true;
	e->at[e->count++] = length;
	emit(BPF_JMP | BPF_JEQ | BPF_K, 0, 0, value);
}

static void compare_half(struct ends *e, size_t offset, bool masked, uint32_t mask, uint32_t value)
{
	load(offset);
	if (masked)
		emit(BPF_ALU | BPF_AND | BPF_K, 0, 0, mask);
	jump_to_end(e, value, false);
}

static void add_condition(struct ends *e, const json_t *arg)
{
	const char *op = json_string_value(json_object_get(arg, "op"));
	uint64_t value = (uint64_t)json_integer_value(json_object_get(arg, "value"));
	uint64_t second = (uint64_t)json_integer_value(json_object_get(arg, "valueTwo"));
	size_t low = offsetof(struct seccomp_data, args) +
		     8 * (size_t)json_integer_value(json_object_get(arg, "index"));
	bool masked = op && strcmp(op, "SCMP_CMP_MASKED_EQ") == 0;
	uint64_t want = masked ? second : value;

	if (masked || (op && strcmp(op, "SCMP_CMP_EQ") == 0)) {
		compare_half(e, low, masked, (uint32_t)value, (uint32_t)want);
		compare_half(e, low + 4, masked, (uint32_t)(value >> 32), (uint32_t)(want >> 32));
	} else if (op && strcmp(op, "SCMP_CMP_NE") == 0) {
		load(low + 4);
		emit(BPF_JMP | BPF_JEQ | BPF_K, 0, 2, (uint32_t)(value >> 32));
		load(low);
		jump_to_end(e, (uint32_t)value, true);
	} else {
		fail("unknown comparison", op ? op : "(none)");
	}
}

static void add_rule(const json_t *rule, long number)
{
	struct ends e = { .count = 0 };
	const json_t *arg;
	size_t i;

	load(offsetof(struct seccomp_data, nr));
	jump_to_end(&e, (uint32_t)number, false);
	json_array_foreach(json_object_get(rule, "args"), i, arg)
		add_condition(&e, arg);
	emit(BPF_RET | BPF_K, 0, 0, action_of(rule, "action", "errnoRet"));
	for (i = 0; i < e.count; i++) {
		uint8_t distance = (uint8_t)(length - e.at[i] - 1);

		*(e.if_true[i] ? &code[e.at[i]].jt : &code[e.at[i]].jf) = distance;
	}
}

static void compile(const json_t *profile, const char *numbers)
{
	uint32_t other = action_of(profile, "defaultAction", "defaultErrnoRet");
	const json_t *rule, *name;
	size_t i, k;

	load(offsetof(struct seccomp_data, arch));
	emit(BPF_JMP | BPF_JEQ | BPF_K, 1, 0, AUDIT_ARCH_X86_64);
	emit(BPF_RET | BPF_K, 0, 0, other);
	load(offsetof(struct seccomp_data, nr));
	emit(BPF_JMP | BPF_JGE | BPF_K, 0, 1, X32_BIT);
	emit(BPF_RET | BPF_K, 0, 0, other);
	json_array_foreach(json_object_get(profile, "syscalls"), i, rule) {
		json_array_foreach(json_object_get(rule, "names"), k, name) {
			long number = number_of(numbers, json_string_value(name));

			if (number >= 0)
				add_rule(rule, number);
		}
	}
	emit(BPF_RET | BPF_K, 0, 0, other);
}

static const char *read_text(const char *path)
{
	static char text[1 << 20];
	FILE *file = fopen(path, "r");
	size_t got;

	if (!file)
		fail(path, strerror(errno));
	got = fread(text, 1, sizeof(text) - 1, file);
	fclose(file);
	text[got] = 0;
	return text;
}

int main(int argc, char **argv)
{
	struct sock_fprog program;
	json_error_t error;
	json_t *profile;

	if (argc < 4)
		fail("usage", "seccomp PROFILE NUMBERS COMMAND...");
	profile = json_load_file(argv[1], JSON_REJECT_DUPLICATES, &error);
	if (!profile)
		fail(argv[1], error.text);
	compile(profile, read_text(argv[2]));
	program = (struct sock_fprog){ length, code };
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
	    syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) < 0) {
		fprintf(stderr, "seccomp: no filter can be installed: %s\n", strerror(errno));
		return 77;
	}
	execvp(argv[3], argv + 3);
	fail(argv[3], strerror(errno));
}
