extern int shared[16];

void window(int which);
