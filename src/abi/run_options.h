/*
 * The options that the tool passes to the runtime in the environment variable SNARL_OPTIONS, as
 * key=value:key=value. A value holds any byte but ':' and NUL; "%3a" stands for ':' and "%25" for
 * '%'. run_options.def lists the options.
 *
 * The enums below name the values of each CHOICE and SET, in the order of the table.
 */
#ifndef ABI_RUN_OPTIONS_H
#define ABI_RUN_OPTIONS_H

#include <stdint.h>

#define SNARL_OPTIONS_ENV "SNARL_OPTIONS"

enum run_mode {
	RUN_MODE_OFF,
	RUN_MODE_RECORD,
	RUN_MODE_CONTROL,
	RUN_MODE_PROFILE,
	RUN_MODE_CHECK,
	RUN_MODE_GUARD,
};

enum run_fork { RUN_FORK_RECORD, RUN_FORK_OFF };
enum run_filter { RUN_FILTER_ON, RUN_FILTER_OFF };
enum run_times { RUN_TIMES_FEW, RUN_TIMES_ALL };
enum run_backend { RUN_BACKEND_USER, RUN_BACKEND_KERNEL };
enum run_protect { RUN_PROTECT_BOTH, RUN_PROTECT_PSET, RUN_PROTECT_TX };
enum run_places { RUN_PLACES_BREAKABLE, RUN_PLACES_ALL };

/* Bits of `without`. */
#define RUN_WITHOUT_LOOPS 1u	/* loops whose accesses are recorded as a group */

#define RUN_NO_SERVER UINT64_MAX

#define RUN_MEMBER_CHOICE(key, size) uint64_t key;
#define RUN_MEMBER_SET(key, size) uint64_t key;
#define RUN_MEMBER_NUMBER(key, size) uint64_t key;
#define RUN_MEMBER_LOG2(key, size) uint64_t key;
#define RUN_MEMBER_SIZE(key, size) uint64_t key;
#define RUN_MEMBER_PATH(key, size) char key[size];

/* One member for each option, named like its key. */
struct run_options {
#define OPTION(key, type, standard, low, high, values, modes, meaning) RUN_MEMBER_##type(key, high)
#include "abi/run_options.def"
#undef OPTION
};

#endif
