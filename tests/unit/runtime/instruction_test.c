/*
 * Lengths of instructions: one example for each form that runtime/control/instruction_x86_64.c
 * knows.
 */

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "runtime/control/instruction_x86_64.c"

struct example {
	const char *code;
	size_t length;
};

#define CODE(bytes) { bytes, sizeof(bytes) - 1 }

static const struct example examples[] = {
	CODE("\x0f\x05"),				/* syscall */
	CODE("\xf3\x90"),				/* pause */
	CODE("\x90"),					/* nop */
	CODE("\xb8\xca\x00\x00\x00"),			/* mov $202,%eax */
	CODE("\x41\xb8\xca\x00\x00\x00"),		/* mov $202,%r8d */
	CODE("\x48\xb8\x01\x02\x03\x04\x05\x06\x07\x08"),	/* movabs */
	CODE("\x66\xb8\x01\x02"),			/* mov $513,%ax */
	CODE("\x8b\x35\x8a\x85\x02\x00"),		/* mov 0x2858a(%rip),%esi */
	CODE("\x44\x89\xc0"),				/* mov %r8d,%eax */
	CODE("\x8b\x44\x24\x08"),			/* mov 8(%rsp),%eax */
	CODE("\x8b\x04\x25\x01\x02\x03\x04"),		/* mov 0x4030201,%eax */
	CODE("\x48\x8b\x84\x88\x01\x02\x03\x04"),	/* mov 0x4030201(%rax,%rcx,4),%rax */
	CODE("\xf0\x0f\xb1\x0a"),			/* lock cmpxchg %ecx,(%rdx) */
	CODE("\xf6\xc2\x01"),				/* test $1,%dl */
	CODE("\xf6\xd2"),				/* not %dl */
	CODE("\xf7\x05\x01\x02\x03\x04\x01\x00\x00\x00"),	/* testl $1,0x4030201(%rip) */
	CODE("\x66\xf7\xc2\x01\x02"),			/* test $513,%dx */
	CODE("\xe8\x01\x02\x03\x04"),			/* call */
	CODE("\x66\xe8\x01\x02\x03\x04"),		/* call, with a prefix of no effect */
	CODE("\x0f\x84\x01\x02\x03\x04"),		/* je */
	CODE("\xc8\x01\x02\x03"),			/* enter */
	CODE("\xa1\x01\x02\x03\x04\x05\x06\x07\x08"),	/* mov an absolute address,%eax */
	CODE("\x66\x0f\x3a\x0f\xc1\x08"),		/* palignr $8,%xmm1,%xmm0 */
	CODE("\x66\x0f\x38\x00\xc1"),			/* pshufb %xmm1,%xmm0 */
	CODE("\xc5\xf8\x77"),				/* vzeroupper */
	CODE("\xc5\xfd\x6f\x07"),			/* vmovdqa (%rdi),%ymm0 */
	CODE("\xc4\xe3\x7d\x39\xc1\x01"),		/* vextracti128 $1,%ymm0,%xmm1 */
	CODE("\x62\xf1\xfe\x48\x6f\x47\x01"),		/* vmovdqu64 64(%rdi),%zmm0 */
};

static void lengths(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(examples); i++) {
		uint8_t code[INSTRUCTION_MAX + 16] = { 0 };
		size_t got;

		memcpy(code, examples[i].code, examples[i].length);
		got = instruction_length(code, sizeof(code));
		if (got != examples[i].length)
			fail_msg("example %zu: %zu, not %zu", i, got, examples[i].length);
	}
}

/* Opcodes that 64-bit mode does not have, and code that ends in the middle of an instruction. */
static void none(void **state)
{
	static const uint8_t push_es[16] = { 0x06 }, prefixes[16] = { 0x66, 0x66, 0x66 };
	static const uint8_t call[16] = { 0xe8 };

	(void)state;
	assert_int_equal(instruction_length(push_es, sizeof(push_es)), 0);
	assert_int_equal(instruction_length(prefixes, 3), 0);
	assert_int_equal(instruction_length(call, 4), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lengths),
		cmocka_unit_test(none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
