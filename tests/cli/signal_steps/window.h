extern int shared[16];

/* Before each round: what the runtime has learnt of calls is the same in all of them. */
void settle(void);
void window(int which);
