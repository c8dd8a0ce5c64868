/*
 * Linked into the ASan builds of snarl-cc and as, which run once and leave their
 * memory to the kernel: not leaks. The tool and the unit tests are checked.
 */
int __lsan_is_turned_off(void);

int __lsan_is_turned_off(void)
{
	return 1;
}
