long balance;

void deposit(void)
{
	long value;

	lock(&m);
	value   =	balance;
	unlock(&m);
	value += 10;
	lock(&m);
	balance = value;
	unlock(&m);
}
