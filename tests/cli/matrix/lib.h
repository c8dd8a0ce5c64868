/* The library of the matrix test; linked statically, dynamically or dlopen'ed. */
#ifndef MATRIX_LIB_H
#define MATRIX_LIB_H

#ifdef __cplusplus
extern "C" {
#endif

extern long lib_total;

void lib_add(long *value, long amount);	/* reads and writes *value */
long lib_get(const long *value);	/* reads it */
void lib_account(long amount);		/* reads and writes lib_total */

#ifdef __cplusplus
}
#endif
#endif
