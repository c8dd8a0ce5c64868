/* A library that is opened, in programs with and without the runtime. */
static int calls;

static __attribute__((noinline)) int inside(int x)
{
	static int n = 1;

	return n++ * x;
}

int plugin_work(int x)
{
	calls++;
	return inside(x) + calls;
}
