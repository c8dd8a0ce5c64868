struct Shape {
	virtual int area() const = 0;
	virtual ~Shape() {}
};

template <class T> struct Counter {
	static T next()
	{
		static T n = 10;

		return n++;
	}
};

Shape *make_other(int r);
int other_next();
