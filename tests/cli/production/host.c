/*
 * Opens and closes the library three times; prints what it computes and how many functions are on.
 */
#include <dlfcn.h>
#include <stdio.h>

unsigned __snarl_dual_count(unsigned *of) __attribute__((weak));

int main(int argc, char **argv)
{
	for (int i = 0; i < 3; i++) {
		void *handle = dlopen(argv[argc - 1], RTLD_NOW);
		int (*work)(int) = handle ? (int (*)(int))dlsym(handle, "plugin_work") : NULL;

		if (!work) {
			puts(dlerror());
			return 1;
		}
		printf("%d %d\n", work(i + 3), work(5));
		if (__snarl_dual_count) {
			unsigned of, on = __snarl_dual_count(&of);

			printf("%s of %u\n", on == 0 ? "none" : on == of ? "all" : "some", of);
		}
		dlclose(handle);
	}
	return 0;
}
