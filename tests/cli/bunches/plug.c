/* With rows.S a library. */
typedef void row(char *p, long hooks);
row again, pair, around, many;

void run(char *p, long hooks)
{
	pair(p, hooks);
	around(p, hooks);
	many(p, hooks);
	again(p, hooks);
}
