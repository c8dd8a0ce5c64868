#include "cmd/terminal.h"

#include <langinfo.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

void terminal_style(int fd, struct report_style *style)
{
	const char *no_colour = getenv("NO_COLOR"), *term = getenv("TERM");
	bool tty = isatty(fd);
	struct winsize size = { 0 };

	*style = (struct report_style){ .width = 100 };
	setlocale(LC_CTYPE, "");
	style->ascii = strcmp(nl_langinfo(CODESET), "UTF-8") != 0;
	style->colour = tty && !(no_colour && *no_colour) && !(term && strcmp(term, "dumb") == 0);
	if (tty && ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col)
		style->width = size.ws_col;
}
