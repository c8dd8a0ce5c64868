/*
 * A new thread's state: locale, rounding mode, stack size as requested, fresh thread-local
 * variables. The fork server creates threads before the run, when none of this is known yet. Passes
 * under every schedule.
 */
#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <locale.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/single_threaded.h>
#include <wctype.h>
#include <xmmintrin.h>

static __thread int mine = 7;
static int shared;
static const unsigned short *letters;	/* the locale's table that isalpha() uses */

static void *born(void *arg)
{
	size_t size = 0;
	void *low = NULL;
	pthread_attr_t attr;

	assert(mine == 7 && errno == 0);
	mine = 8;
	errno = EAGAIN;
	assert(_MM_GET_ROUNDING_MODE() == _MM_ROUND_UP);
	assert(MB_CUR_MAX > 1 && iswalpha(L'é') && *__ctype_b_loc() == letters);
	assert(strcmp(setlocale(LC_CTYPE, NULL), "C.UTF-8") == 0);
	assert(!__libc_single_threaded);
	assert(pthread_getattr_np(pthread_self(), &attr) == 0);
	assert(pthread_attr_getstack(&attr, &low, &size) == 0);
	assert((char *)&size > (char *)low && (char *)&size < (char *)low + size);
	assert(!arg || size >= *(const size_t *)arg);
	pthread_attr_destroy(&attr);
	__atomic_fetch_add(&shared, 1, __ATOMIC_RELAXED);
	return NULL;
}

int main(void)
{
	pthread_t threads[4];
	pthread_attr_t odd;
	size_t large = 20 << 20;

	assert(__libc_single_threaded);
	assert(setlocale(LC_ALL, "C.UTF-8"));
	letters = *__ctype_b_loc();
	_MM_SET_ROUNDING_MODE(_MM_ROUND_UP);
	pthread_attr_init(&odd);
	pthread_attr_setstacksize(&odd, large);
	for (int i = 0; i < 4; i++)
		assert(pthread_create(&threads[i], i % 2 ? &odd : NULL, born,
				      i % 2 ? &large : NULL) == 0);
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	assert(shared == 4);
	return 0;
}
