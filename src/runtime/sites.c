#include "runtime/sites.h"

void snarlrt_sites_apply(const char *path)
{
	(void)path;
}
