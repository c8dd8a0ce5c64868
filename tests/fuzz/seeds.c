/* seeds DIR: writes each seed of seeds.h to a file in DIR. Runs in the root of the sources. */
#include "seeds.h"

int main(int argc, char **argv)
{
	if (argc != 2)
		return 2;
	for (size_t i = 0; i < ARRAY_SIZE(fuzz_seeds); i++) {
		struct buf b = { 0 };
		char path[512];
		FILE *f;

		fuzz_seeds[i].make(&b);
		snprintf(path, sizeof(path), "%s/%s", argv[1], fuzz_seeds[i].name);
		f = fopen(path, "w");
		if (!f || fwrite(b.data, 1, b.size, f) != b.size || fclose(f) != 0) {
			perror(path);
			return 3;
		}
		buf_free(&b);
	}
	return 0;
}
