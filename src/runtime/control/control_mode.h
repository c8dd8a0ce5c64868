/*
 * The row of mode control in the table of modes (core/mode.h).
 */
#ifndef RUNTIME_CONTROL_CONTROL_MODE_H
#define RUNTIME_CONTROL_CONTROL_MODE_H

#include "runtime/core/mode.h"

extern SNARLRT_HIDDEN const struct mode mode_control;

#endif
