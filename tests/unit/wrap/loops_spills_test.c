/*
 * Stack slots in registers: exact text of the loads before the copy without hooks, and the stores
 * behind it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "wrap/loops/loops.h"

#define HEAD "\t.text\n\t.type\tf, @function\nf:\n"
#define TAIL "\t.size\tf, .-f\n"
#define HOOK "\tmovq\t%rbx, %rdi\n\tcall\t__tsan_read8@PLT\n"
#define STEP "\taddq\t$8, %rbx\n\tcmpq\t%rbp, %rbx\n"
#define NEXT STEP "\tjne\t.L3\n"
#define BEGIN "\t.p2align 4,,10\n.Lsnarlf0:\n"
#define END STEP "\tjne\t.Lsnarlf0\n"

/* The code from behind the slots of the descriptor to the recording. */
static char *copy_of(const char *loop)
{
	char *text = xasprintf(HEAD "%s\tret\n" TAIL, loop), *copy;
	struct buf out = { 0 };
	const char *from, *to;

	if (loops_transform(text, strlen(text), false, 0, &out) == 0)
		fail_msg("not taken: %s", text);
	from = strstr(buf_string(&out), "\tmovq\t%rbx, -16(%rsp)\n");
	assert_non_null(from);
	from = strchr(from, '\n') + 1;
	to = strstr(from, "\tnopw\t");
	assert_non_null(to);
	copy = xasprintf("%.*s", (int)(to - from), from);
	buf_free(&out);
	free(text);
	return copy;
}

static void check(const char *loop, const char *want)
{
	char *got = copy_of(loop);

	assert_string_equal(got, want);
	free(got);
}

static void test_turns(void **state)
{
	(void)state;
	/* A value that goes from iteration to iteration: loaded and stored. */
	check(".L3:\n" HOOK
	      "\tmovsd\t8(%rsp), %xmm0\n\taddsd\t(%rbx), %xmm0\n\tmovsd\t%xmm0, 8(%rsp)\n" NEXT,
	      "\tmovq\t8(%rsp), %xmm15\n" BEGIN
	      "\tmovq\t%xmm15, %xmm0\n\taddsd\t(%rbx), %xmm0\n\tmovapd\t%xmm0, %xmm15\n" END
	      "\tmovq\t%xmm15, 8(%rsp)\n");
	/* A value that is only read: not stored. */
	check(".L3:\n" HOOK
	      "\tmovsd\t8(%rsp), %xmm0\n\taddsd\t(%rbx), %xmm0\n\tmovsd\t%xmm0, (%rbx)\n" NEXT,
	      "\tmovq\t8(%rsp), %xmm15\n" BEGIN
	      "\tmovq\t%xmm15, %xmm0\n\taddsd\t(%rbx), %xmm0\n\tmovsd\t%xmm0, (%rbx)\n" END);
	/* A value that each iteration writes before reading: not loaded. */
	check(".L3:\n" HOOK "\tmovsd\t(%rbx), %xmm1\n\tmovsd\t%xmm1, 8(%rsp)\n" HOOK
	      "\tmovsd\t8(%rsp), %xmm0\n"
	      "\taddsd\t%xmm0, %xmm1\n" NEXT,
	      BEGIN "\tmovsd\t(%rbx), %xmm1\n\tmovapd\t%xmm1, %xmm15\n\tmovq\t%xmm15, "
		    "%xmm0\n\taddsd\t%xmm0, %xmm1\n" END "\tmovq\t%xmm15, 8(%rsp)\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_turns),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
