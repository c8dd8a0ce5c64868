struct mix_box {
	int a[20];
	double b;
};

extern const char *const names[];
int table(int x);
int mix2_twin(int x);
int mix2_same(int (*twin)(int), int (*table_there)(int), const char *const *names_there);
