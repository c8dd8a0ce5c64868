/*
 * Where the runtime's code and variables begin in each section. The Makefile links this file before
 * all others of the runtime, and bounds_end_x86_64.S after them (core/bounds.h).
 */
#ifdef __x86_64__
.macro bound name
	.globl \name
	.hidden \name
\name:
.endm

	.text
	bound snarlrt_text_begin
	.section .text.unlikely, "ax", @progbits
	bound snarlrt_cold_begin
	.data
	bound snarlrt_data_begin
	.section .data.rel.local, "aw", @progbits
	bound snarlrt_data_local_begin
	.bss
	bound snarlrt_bss_begin
	.section .bss.snarlrt_big, "aw", @nobits
	bound snarlrt_big_begin
#endif
	.section .note.GNU-stack, "", @progbits
