/*
 * What the terminal can do that something is printed on.
 */
#ifndef CMD_TERMINAL_H
#define CMD_TERMINAL_H

#include "report/format.h"

/* Of a file descriptor; -1, or none of a terminal: 100 columns without colour. */
void terminal_style(int fd, struct report_style *style);

#endif
