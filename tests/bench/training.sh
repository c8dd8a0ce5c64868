# training KERNEL: arguments for runs that snarl learn learns from: short, but long enough that the
# threads meet. What two threads never did at once teaches nothing.
training() {
	case $1 in
	fft) echo 2 32 ;;
	lu) echo 4 ;;
	radix) echo 1 4096 ;;
	ocean) echo 3 32 ;;
	barnes) echo 2 100 ;;
	pipeline) echo 6 ;;
	counter) echo 2000 ;;
	*) echo 500 ;;
	esac
}
