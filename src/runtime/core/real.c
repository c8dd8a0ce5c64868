/*
 * Finds the functions behind the interposers by dlsym(RTLD_NEXT).
 *
 * The first caller may be ld.so, which uses the interposed malloc once relocation is done. A failed
 * look-up allocates its error message, and so enters the interposed malloc while functions are
 * being resolved. Therefore the heap functions come first in reals.def: that call finds them.
 */
#include "runtime/core/real.h"
#include "runtime/core/runtime.h"

#include <dlfcn.h>
#include <errno.h>

#ifdef SNARLRT_STATIC

bool snarlrt_real_done = true;

void snarlrt_real_resolve(void)
{
}

#else

bool snarlrt_real_done;
struct snarlrt_reals snarlrt_reals;

static const struct {
	const char *name, *version;
} wanted[] = {
#define REAL_FN(name, version) { #name, version },
#include "runtime/core/reals.def"
#undef REAL_FN
};

_Static_assert(sizeof(snarlrt_reals) == ARRAY_SIZE(wanted) * sizeof(void *), "one pointer each");

/* The real dlsym(): the program's, which the runtime would call too, is interposed. */
static __typeof__(&dlsym) find_dlsym(void)
{
	static const char *const versions[] = { "GLIBC_2.34", "GLIBC_2.2.5", "GLIBC_2.17" };
	void *fn = NULL;

	for (size_t i = 0; i < ARRAY_SIZE(versions) && !fn; i++)
		fn = dlvsym(RTLD_NEXT, "dlsym", versions[i]);
	return (__typeof__(&dlsym))fn;
}

/* On some architectures the version does not exist, and the default version is the only one. */
static void *find(__typeof__(&dlsym) by_name, const char *name, const char *version)
{
	void *fn = NULL;

	if (version)
		fn = dlvsym(RTLD_NEXT, name, version);
	if (!fn)
		fn = by_name(RTLD_NEXT, name);
	return fn;
}

void snarlrt_real_resolve(void)
{
	static bool resolving;
	void **out = (void **)&snarlrt_reals;
	__typeof__(&dlsym) by_name;
	bool missing = false;
	int saved = errno;

	if (resolving)
		return;
	resolving = true;
	snarlrt_hide();
	by_name = find_dlsym();
	for (size_t i = 0; i < ARRAY_SIZE(wanted); i++) {
		out[i] = find(by_name, wanted[i].name, wanted[i].version);
		missing |= !out[i];
	}
	if (missing)
		(void)dlerror();	/* clears our error: the program must not see it */
	snarlrt_unhide();
	/* No other thread can exist yet: creating one comes through here. */
	snarlrt_real_done = true;
	errno = saved;
}

#endif
