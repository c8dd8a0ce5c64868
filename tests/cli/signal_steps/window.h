extern int shared[16];

/* Called before each round, so that the runtime knows the same about calls in all rounds. */
void settle(void);
void window(int which);
