/*
 * Linked into the ASan builds of snarl-cc and as, which run briefly and let the kernel free their
 * memory: that is no leak. The tool and the unit tests are checked for leaks.
 */
int __lsan_is_turned_off(void);

int __lsan_is_turned_off(void)
{
	return 1;
}
