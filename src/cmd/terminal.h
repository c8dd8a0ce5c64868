/*
 * The capabilities of the terminal that a report is printed on.
 */
#ifndef CMD_TERMINAL_H
#define CMD_TERMINAL_H

#include "report/format.h"

/*
 * Fills *style with width, colour and character set for the terminal `fd`. If `fd` is -1 or no
 * terminal: 100 columns, no colour.
 */
void terminal_style(int fd, struct report_style *style);

#endif
