/* The function tables of modes record and profile (core/mode.h). */
#include "runtime/record/record_mode.h"

#include "runtime/record/ring.h"

const struct mode mode_record = {
	.name = "record",
	.id = SNARLRT_RECORD,
	.access = record_access,
	.range = record_range,
	.atomic_begin = record_atomic_begin,
	.atomic_end = record_atomic_end,
	.entry = record_entry,
	.exit = record_exit,
	.note = record_note,
	.wait_begin = record_wait_begin,
	.fresh = record_fresh,
	.depth = record_depth,
	.cut = record_unwind,
	.thread_begin = record_thread_begin,
	.thread_end = snarlrt_thread_exit,
	.forked = record_forked,
};

const struct mode mode_coverage = {
	.name = "profile",
	.id = SNARLRT_RECORD,
	.folds = true,
	.access = record_access,
	.range = record_range,
	.atomic_begin = coverage_atomic_begin,
	.atomic_end = coverage_atomic_end,
	.entry = record_entry,
	.exit = record_exit,
	.note = coverage_note,
	.wait_begin = record_wait_begin,
	.fresh = record_fresh,
	.depth = record_depth,
	.cut = record_unwind,
	.thread_begin = record_thread_begin,
	.thread_end = snarlrt_thread_exit,
	.forked = record_forked,
};
