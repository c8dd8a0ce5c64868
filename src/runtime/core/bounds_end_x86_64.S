/* Where the runtime's code and variables end in each section: see bounds_begin_x86_64.S. */
#ifdef __x86_64__
.macro bound name
	.globl \name
	.hidden \name
\name:
.endm

	.text
	bound snarlrt_text_end
	.section .text.unlikely, "ax", @progbits
	bound snarlrt_cold_end
	.data
	bound snarlrt_data_end
	.section .data.rel.local, "aw", @progbits
	bound snarlrt_data_local_end
	.bss
	bound snarlrt_bss_end
	.section .bss.snarlrt_big, "aw", @nobits
	bound snarlrt_big_end
#endif
	.section .note.GNU-stack, "", @progbits
