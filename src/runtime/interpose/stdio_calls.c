/*
 * stdio. libc writes a stream's buffer by internal calls that are not interposed. So the functions
 * on streams are noted as OUTPUT, with the number of bytes that they put into the stream. Streams
 * without a descriptor (memory, cookies) are not noted.
 *
 * Formatting into memory is noted as a write of the buffer. Strings that %s reads are not noted.
 *
 * In mode control a call on a stream is a scheduling point that waits for the stream's lock
 * (control/model/stdio.h).
 */
#undef __OPTIMIZE__	/* otherwise <stdio.h> defines some functions inline */
#include "runtime/control/model/stdio.h"
#include "runtime/interpose/call.h"

static void note_printed(FILE *f, long bytes, const void *pc)
{
	int saved = errno, fd;

	if (bytes <= 0 || !snarlrt_wants_events())
		return;
	fd = fileno_unlocked(f);
	if (fd >= 0)
		snarlrt_note_output(fd, bytes, pc);
	errno = saved;
}

#define FWRITE_FN(name)                                                                            \
	SNARLRT_INTERPOSE size_t name(const void *p, size_t size, size_t n, FILE *f)               \
	{                                                                                          \
		size_t put;                                                                        \
                                                                                                   \
		snarlrt_real_ready();                                                              \
		if (snarlrt_wants_events())                                                        \
			snarlrt_range(false, p, size * n, SNARLRT_PC());                           \
		stdio_turn(f, SNARLRT_PC());                                                       \
		put = REAL(name)(p, size, n, f);                                                   \
		stdio_over(f);                                                                     \
		note_printed(f, (long)(put * size), SNARLRT_PC());                                 \
		return put;                                                                        \
	}

FWRITE_FN(fwrite)
FWRITE_FN(fwrite_unlocked)

#define FPUTS_FN(name)                                                                             \
	SNARLRT_INTERPOSE int name(const char *s, FILE *f)                                         \
	{                                                                                          \
		size_t n = 0;                                                                      \
		int got;                                                                           \
                                                                                                   \
		snarlrt_real_ready();                                                              \
		if (snarlrt_wants_events()) {                                                      \
			n = REAL(strlen)(s);                                                       \
			snarlrt_range(false, s, n + 1, SNARLRT_PC());                              \
		}                                                                                  \
		stdio_turn(f, SNARLRT_PC());                                                       \
		got = REAL(name)(s, f);                                                            \
		stdio_over(f);                                                                     \
		if (got >= 0)                                                                      \
			note_printed(f, (long)n, SNARLRT_PC());                                    \
		return got;                                                                        \
	}

FPUTS_FN(fputs)
FPUTS_FN(fputs_unlocked)

SNARLRT_INTERPOSE int puts(const char *s)
{
	size_t n = 0;
	int got;

	snarlrt_real_ready();
	if (snarlrt_wants_events()) {
		n = REAL(strlen)(s);
		snarlrt_range(false, s, n + 1, SNARLRT_PC());
	}
	stdio_turn(stdout, SNARLRT_PC());
	got = REAL(puts)(s);
	stdio_over(stdout);
	if (got >= 0)
		note_printed(stdout, (long)n + 1, SNARLRT_PC());
	return got;
}

#define FPUTC_FN(name)                                                                             \
	SNARLRT_INTERPOSE int name(int c, FILE *f)                                                 \
	{                                                                                          \
		int got;                                                                           \
                                                                                                   \
		snarlrt_real_ready();                                                              \
		stdio_turn(f, SNARLRT_PC());                                                       \
		got = REAL(name)(c, f);                                                            \
		stdio_over(f);                                                                     \
		if (got != EOF)                                                                    \
			note_printed(f, 1, SNARLRT_PC());                                          \
		return got;                                                                        \
	}

#undef putc
#undef putc_unlocked
FPUTC_FN(fputc)
FPUTC_FN(fputc_unlocked)
FPUTC_FN(putc)
FPUTC_FN(putc_unlocked)

#define PUTCHAR_FN(name)                                                                           \
	SNARLRT_INTERPOSE int name(int c)                                                          \
	{                                                                                          \
		int got;                                                                           \
                                                                                                   \
		snarlrt_real_ready();                                                              \
		stdio_turn(stdout, SNARLRT_PC());                                                  \
		got = REAL(name)(c);                                                               \
		stdio_over(stdout);                                                                \
		if (got != EOF)                                                                    \
			note_printed(stdout, 1, SNARLRT_PC());                                     \
		return got;                                                                        \
	}

#undef putchar
#undef putchar_unlocked
PUTCHAR_FN(putchar)
PUTCHAR_FN(putchar_unlocked)

/* May block on a full pipe. */
SNARLRT_INTERPOSE int fflush(FILE *f)
{
	SNARLRT_CALL(c, TRACE_CALL_WRITE, f ? fileno_unlocked(f) : SNARLRT_NO_FD);
	int got;

	stdio_turn(f, SNARLRT_PC());
	got = REAL(fflush)(f);
	stdio_over(f);
	return (int)snarlrt_call_leave(&c, got);
}

SNARLRT_INTERPOSE size_t fread(void *p, size_t size, size_t n, FILE *f)
{
	size_t got;

	snarlrt_real_ready();
	got = unlikely(ctl_on()) ? ctl_fread(p, size, n, f, SNARLRT_PC())
				 : REAL(fread)(p, size, n, f);
	if (snarlrt_wants_events())
		snarlrt_range(true, p, got * size, SNARLRT_PC());
	return got;
}

SNARLRT_INTERPOSE char *fgets(char *s, int n, FILE *f)
{
	char *got;

	snarlrt_real_ready();
	got = unlikely(ctl_on()) ? ctl_fgets(s, n, f, SNARLRT_PC()) : REAL(fgets)(s, n, f);
	if (got && snarlrt_wants_events())
		snarlrt_range(true, s, REAL(strlen)(s) + 1, SNARLRT_PC());
	return got;
}

/*
 * Define printf and its relatives. Those with `...` call the real function that takes a va_list.
 * `call` uses `rest`; `before` and `after` run before and after it.
 */
#define PRINT_FN(name, params, last, before, call, after)                                          \
	SNARLRT_INTERPOSE int name params                                                          \
	{                                                                                          \
		const void *pc = SNARLRT_PC();                                                     \
		va_list rest;                                                                      \
		int got;                                                                           \
                                                                                                   \
		snarlrt_real_ready();                                                              \
		before;                                                                            \
		va_start(rest, last);                                                              \
		got = call;                                                                        \
		va_end(rest);                                                                      \
		after;                                                                             \
		return got;                                                                        \
	}

#define VPRINT_FN(name, params, before, call, after)                                               \
	SNARLRT_INTERPOSE int name params                                                          \
	{                                                                                          \
		const void *pc = SNARLRT_PC();                                                     \
		int got;                                                                           \
                                                                                                   \
		snarlrt_real_ready();                                                              \
		before;                                                                            \
		got = call;                                                                        \
		after;                                                                             \
		return got;                                                                        \
	}

static void fd_point(int fd, const void *pc)
{
	if (unlikely(ctl_on()))
		ctl_source_point(fd, pc);
}

static void note_printed_fd(int fd, long bytes, const void *pc)
{
	if (snarlrt_wants_events())
		snarlrt_note_output(fd, bytes, pc);
}

/* `n`: size of the buffer; `length`: the result of the call */
static void note_formatted(char *s, size_t n, long length, const void *pc)
{
	if (length >= 0 && n > 0 && snarlrt_wants_events())
		snarlrt_range(true, s, (size_t)length < n ? (size_t)length + 1 : n, pc);
}

#define F const char *restrict format

PRINT_FN(printf, (F, ...), format, stdio_turn(stdout, pc), REAL(vprintf)(format, rest),
	 stdio_over(stdout); note_printed(stdout, got, pc))
PRINT_FN(__printf_chk, (int flag, F, ...), format, stdio_turn(stdout, pc),
	 REAL(__vprintf_chk)(flag, format, rest), stdio_over(stdout); note_printed(stdout, got, pc))
PRINT_FN(fprintf, (FILE *restrict f, F, ...), format, stdio_turn(f, pc),
	 REAL(vfprintf)(f, format, rest), stdio_over(f); note_printed(f, got, pc))
PRINT_FN(__fprintf_chk, (FILE *restrict f, int flag, F, ...), format, stdio_turn(f, pc),
	 REAL(__vfprintf_chk)(f, flag, format, rest), stdio_over(f); note_printed(f, got, pc))
PRINT_FN(dprintf, (int fd, F, ...), format, fd_point(fd, pc), REAL(vdprintf)(fd, format, rest),
	 note_printed_fd(fd, got, pc))
PRINT_FN(__dprintf_chk, (int fd, int flag, F, ...), format, fd_point(fd, pc),
	 REAL(__vdprintf_chk)(fd, flag, format, rest), note_printed_fd(fd, got, pc))
PRINT_FN(sprintf, (char *restrict s, F, ...), format, (void)0, REAL(vsprintf)(s, format, rest),
	 note_formatted(s, SIZE_MAX, got, pc))
PRINT_FN(__sprintf_chk, (char *restrict s, int flag, size_t room, F, ...), format, (void)0,
	 REAL(__vsprintf_chk)(s, flag, room, format, rest), note_formatted(s, SIZE_MAX, got, pc))
PRINT_FN(snprintf, (char *restrict s, size_t n, F, ...), format, (void)0,
	 REAL(vsnprintf)(s, n, format, rest), note_formatted(s, n, got, pc))
PRINT_FN(__snprintf_chk, (char *restrict s, size_t n, int flag, size_t room, F, ...), format,
	 (void)0, REAL(__vsnprintf_chk)(s, n, flag, room, format, rest),
	 note_formatted(s, n, got, pc))

VPRINT_FN(vprintf, (F, va_list rest), stdio_turn(stdout, pc), REAL(vprintf)(format, rest),
	  stdio_over(stdout); note_printed(stdout, got, pc))
VPRINT_FN(__vprintf_chk, (int flag, F, va_list rest), stdio_turn(stdout, pc),
	  REAL(__vprintf_chk)(flag, format, rest), stdio_over(stdout);
	  note_printed(stdout, got, pc))
VPRINT_FN(vfprintf, (FILE *restrict f, F, va_list rest), stdio_turn(f, pc),
	  REAL(vfprintf)(f, format, rest), stdio_over(f); note_printed(f, got, pc))
VPRINT_FN(__vfprintf_chk, (FILE *restrict f, int flag, F, va_list rest), stdio_turn(f, pc),
	  REAL(__vfprintf_chk)(f, flag, format, rest), stdio_over(f); note_printed(f, got, pc))
VPRINT_FN(vdprintf, (int fd, F, va_list rest), fd_point(fd, pc), REAL(vdprintf)(fd, format, rest),
	  note_printed_fd(fd, got, pc))
VPRINT_FN(__vdprintf_chk, (int fd, int flag, F, va_list rest), fd_point(fd, pc),
	  REAL(__vdprintf_chk)(fd, flag, format, rest), note_printed_fd(fd, got, pc))
VPRINT_FN(vsprintf, (char *restrict s, F, va_list rest), (void)0, REAL(vsprintf)(s, format, rest),
	  note_formatted(s, SIZE_MAX, got, pc))
VPRINT_FN(__vsprintf_chk, (char *restrict s, int flag, size_t room, F, va_list rest), (void)0,
	  REAL(__vsprintf_chk)(s, flag, room, format, rest), note_formatted(s, SIZE_MAX, got, pc))
VPRINT_FN(vsnprintf, (char *restrict s, size_t n, F, va_list rest), (void)0,
	  REAL(vsnprintf)(s, n, format, rest), note_formatted(s, n, got, pc))
VPRINT_FN(__vsnprintf_chk, (char *restrict s, size_t n, int flag, size_t room, F, va_list rest),
	  (void)0, REAL(__vsnprintf_chk)(s, n, flag, room, format, rest),
	  note_formatted(s, n, got, pc))

#define GETC_FN(name)                                                                     \
	SNARLRT_INTERPOSE int name(FILE *f)                                               \
	{                                                                                 \
		snarlrt_real_ready();                                                     \
		return unlikely(ctl_on()) ? ctl_getc(f, SNARLRT_PC()) : REAL(name)(f);    \
	}

#undef getc
GETC_FN(getc)
GETC_FN(fgetc)

#undef getchar
SNARLRT_INTERPOSE int getchar(void)
{
	snarlrt_real_ready();
	return unlikely(ctl_on()) ? ctl_getc(stdin, SNARLRT_PC()) : REAL(getchar)();
}

#define GETLINE_FN(name, params, args)                                                    \
	SNARLRT_INTERPOSE ssize_t name params                                             \
	{                                                                                 \
		ssize_t got;                                                              \
                                                                                          \
		snarlrt_real_ready();                                                     \
		if (likely(!ctl_on()))                                                    \
			return REAL(name) args;                                           \
		if (!ctl_stdio_input(f, SNARLRT_PC()))                                    \
			return -1;                                                        \
		got = REAL(name) args;                                                    \
		stdio_over(f);                                                            \
		return got;                                                               \
	}

GETLINE_FN(getline, (char **restrict line, size_t *restrict n, FILE *restrict f), (line, n, f))
GETLINE_FN(getdelim, (char **restrict line, size_t *restrict n, int end, FILE *restrict f),
	   (line, n, end, f))
GETLINE_FN(__getdelim, (char **restrict line, size_t *restrict n, int end, FILE *restrict f),
	   (line, n, end, f))

SNARLRT_INTERPOSE int fclose(FILE *f)
{
	snarlrt_real_ready();
	stdio_turn(f, SNARLRT_PC());
	return REAL(fclose)(f);
}

SNARLRT_INTERPOSE void flockfile(FILE *f)
{
	snarlrt_real_ready();
	stdio_turn(f, SNARLRT_PC());
	REAL(flockfile)(f);
	stdio_over(f);		/* waiters check the lock again, and now find it held */
}

SNARLRT_INTERPOSE void funlockfile(FILE *f)
{
	snarlrt_real_ready();
	REAL(funlockfile)(f);
	stdio_over(f);
}
