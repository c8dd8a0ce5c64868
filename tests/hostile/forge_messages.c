/* Sends messages of the fork server on its socket, with pids that are not its own. */
#include <stdint.h>
#include <sys/socket.h>
#include "hostile.h"

__attribute__((constructor)) static void forge(void)
{
	for (uint32_t kind = 0; kind < 8; kind++)
		for (int pid = -2; pid < 3; pid++) {
			int32_t message[4] = { (int32_t)kind, pid, 0, 0 };

			send(199, message, sizeof(message), MSG_NOSIGNAL | MSG_DONTWAIT);
		}
	send(199, "x", 1, MSG_NOSIGNAL | MSG_DONTWAIT);
}

int main(void)
{
	threads();
	return 0;
}
