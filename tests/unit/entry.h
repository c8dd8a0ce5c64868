/*
 * Included before the text of each test file, by the Makefile. UNIT_TEST is the name of the file
 * without its ending. The main() of the file becomes NAME_main(), so that one program can hold
 * several.
 */
#define ENTRY_OF_(name) name##_main
#define ENTRY_OF(name) ENTRY_OF_(name)
#define main(...) \
	ENTRY_OF(UNIT_TEST)(int argc, char **argv); \
	int ENTRY_OF(UNIT_TEST)(__attribute__((unused)) int argc, \
				__attribute__((unused)) char **argv)
