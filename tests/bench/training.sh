# training KERNEL: arguments for runs that snarl learn learns from: short, but long enough that the
# threads meet, and that loops turn twice: what never happened in them teaches nothing.
training() {
	case $1 in
	fft) echo 2 32 ;;
	lu) echo 4 ;;
	radix) echo 2 4096 ;;
	ocean) echo 3 32 ;;
	barnes) echo 2 100 ;;
	pipeline) echo 6 ;;
	counter) echo 2000 ;;
	*) echo 500 ;;
	esac
}
