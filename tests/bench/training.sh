# training KERNEL: prints arguments for training runs: short, but long enough that the threads meet
# and loops iterate twice. Nothing can be learnt from what never happens in them.
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
