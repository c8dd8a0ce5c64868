/*
 * Includes the headers of all interposed functions, and declares those that no header declares: the
 * checked forms that _FORTIFY_SOURCE calls, names that <features.h> hides, C++'s operators.
 */
#ifndef RUNTIME_CORE_UNDECLARED_H
#define RUNTIME_CORE_UNDECLARED_H

#include <dlfcn.h>
#include <fcntl.h>
#include <grp.h>
#include <malloc.h>
#include <mqueue.h>
#include <poll.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <wchar.h>

/* operator new and delete, also with std::align_val_t and std::nothrow */
void *_Znwm(size_t size);
void *_Znam(size_t size);
void *_ZnwmRKSt9nothrow_t(size_t size, const void *nothrow);
void *_ZnamRKSt9nothrow_t(size_t size, const void *nothrow);
void *_ZnwmSt11align_val_t(size_t size, size_t align);
void *_ZnamSt11align_val_t(size_t size, size_t align);
void *_ZnwmSt11align_val_tRKSt9nothrow_t(size_t size, size_t align, const void *nothrow);
void *_ZnamSt11align_val_tRKSt9nothrow_t(size_t size, size_t align, const void *nothrow);
void _ZdlPv(void *p);
void _ZdaPv(void *p);
void _ZdlPvm(void *p, size_t size);
void _ZdaPvm(void *p, size_t size);
void _ZdlPvSt11align_val_t(void *p, size_t align);
void _ZdaPvSt11align_val_t(void *p, size_t align);
void _ZdlPvmSt11align_val_t(void *p, size_t size, size_t align);
void _ZdaPvmSt11align_val_t(void *p, size_t size, size_t align);
void _ZdlPvRKSt9nothrow_t(void *p, const void *nothrow);
void _ZdaPvRKSt9nothrow_t(void *p, const void *nothrow);

char *__strdup(const char *s);
char *__strndup(const char *s, size_t n);
int bcmp(const void *a, const void *b, size_t n);

void *__memcpy_chk(void *to, const void *from, size_t n, size_t room);
void *__mempcpy_chk(void *to, const void *from, size_t n, size_t room);
void *__memmove_chk(void *to, const void *from, size_t n, size_t room);
void *__memset_chk(void *to, int c, size_t n, size_t room);
void __explicit_bzero_chk(void *to, size_t n, size_t room);
char *__strcpy_chk(char *to, const char *from, size_t room);
char *__stpcpy_chk(char *to, const char *from, size_t room);
char *__strncpy_chk(char *to, const char *from, size_t n, size_t room);
char *__stpncpy_chk(char *to, const char *from, size_t n, size_t room);
char *__strcat_chk(char *to, const char *from, size_t room);
char *__strncat_chk(char *to, const char *from, size_t n, size_t room);

int __printf_chk(int flag, const char *format, ...);
int __fprintf_chk(FILE *f, int flag, const char *format, ...);
int __vprintf_chk(int flag, const char *format, va_list args);
int __vfprintf_chk(FILE *f, int flag, const char *format, va_list args);
int __dprintf_chk(int fd, int flag, const char *format, ...);
int __vdprintf_chk(int fd, int flag, const char *format, va_list args);
int __sprintf_chk(char *s, int flag, size_t room, const char *format, ...);
int __snprintf_chk(char *s, size_t n, int flag, size_t room, const char *format, ...);
int __vsprintf_chk(char *s, int flag, size_t room, const char *format, va_list args);
int __vsnprintf_chk(char *s, size_t n, int flag, size_t room, const char *format, va_list args);

ssize_t __getdelim(char **restrict line, size_t *restrict n, int end, FILE *restrict f);
ssize_t __read_chk(int fd, void *buf, size_t n, size_t room);
ssize_t __pread_chk(int fd, void *buf, size_t n, off_t at, size_t room);
ssize_t __pread64_chk(int fd, void *buf, size_t n, off64_t at, size_t room);
ssize_t __recv_chk(int fd, void *buf, size_t n, size_t room, int flags);
ssize_t __recvfrom_chk(int fd, void *buf, size_t n, size_t room, int flags,
		       struct sockaddr *from, socklen_t *size);
int __poll_chk(struct pollfd *fds, nfds_t n, int timeout, size_t room);
int __ppoll_chk(struct pollfd *fds, nfds_t n, const struct timespec *timeout,
		const sigset_t *mask, size_t room);
int __open_2(const char *path, int flags);
int __open64_2(const char *path, int flags);
int __openat_2(int dir, const char *path, int flags);
int __openat64_2(int dir, const char *path, int flags);

void __longjmp_chk(struct __jmp_buf_tag env[1], int value) __attribute__((noreturn));
__sighandler_t __sysv_signal(int sig, __sighandler_t handler);
__sighandler_t bsd_signal(int sig, __sighandler_t handler);

void __stack_chk_fail(void) __attribute__((noreturn));

int __libc_start_main(int (*main)(int, char **, char **), int argc, char **argv,
		      int (*init)(int, char **, char **), void (*fini)(void),
		      void (*rtld_fini)(void), void *stack_end);

int __cxa_thread_atexit_impl(void (*run)(void *), void *object, void *dso);

int __cxa_at_quick_exit(void (*handler)(void *), void *library);

#endif
