/*
 * Reference of the recording filter's verdict on an access (runtime/record/shadow_decide.h): is it
 * kept, and what does the shadow of its memory become? It decides granule by granule and at once,
 * on an array of shadow values. The filter under test decides later, and for whole loops.
 */
#ifndef REFERENCE_SHADOW_FILTER_H
#define REFERENCE_SHADOW_FILTER_H

#include <stdbool.h>
#include <stdint.h>

/* an unused address whose shadow does not meet that of ASan */
#define MEMORY 0x600000000000ull
#define GRANULES 1024u
#define ID 7u	/* of the thread that accesses */

static uint16_t model[GRANULES];	/* what the shadow of each granule should be */

/*
 * Returns whether the access is kept. `reset`: the memory was shared before it was last freed;
 * `touched`: it was in use before.
 */
static bool model_decide(uint64_t addr, uint64_t size, bool cut, bool reset, bool touched)
{
	bool keep = false;

	for (uint64_t g = (addr - MEMORY) / 8; g <= (addr + size - 1 - MEMORY) / 8; g++) {
		if (reset || (model[g] != 0 && model[g] / 2 != ID))
			keep = true;
		else if (cut && !touched && model[g] == ID * 2)
			model[g] = ID * 2 + 1;
	}
	return keep;
}

#endif
