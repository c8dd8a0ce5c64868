/*
 * Diagnostics about snarl itself, on stderr. Findings and errors of commands are printed by the
 * commands, not here.
 *
 * The environment variable SNARL_LOG lists the modules that print debug messages, for example
 * "finish,reader" or "all". Warnings are always printed.
 */
#ifndef BASE_LOG_H
#define BASE_LOG_H

#include <stdbool.h>

bool log_wanted(const char *module);
void log_debug(const char *module, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
void log_warn(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
