/*
 * Notes for whoever looks into snarl itself, on stderr. Findings and errors of
 * commands do not go this way.
 *
 * SNARL_LOG names the modules whose debug notes are wanted, "finish,reader" or
 * "all". Warnings are always shown.
 */
#ifndef BASE_LOG_H
#define BASE_LOG_H

#include <stdbool.h>

bool log_wanted(const char *module);
void log_debug(const char *module, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
void log_warn(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
