# Reads lines "  N HOW: SITES BROKEN PAIRS EXPECTED CUTS" of many programs; draws which share of
# what was learnt from all runs was still missing after N of them, in percent. An invariant that
# breaks later is a false violation that check would have reported.
{
	n = $1 + 0
	for (k = 1; k <= 3; k++) {
		value = k == 1 ? $4 : k == 2 ? $5 : $7
		sum[k, n] += value
		all[k] += value
	}
	if (n > last)
		last = n
}

function x(n) { return 60 + (n - 1) * 520 / (last > 1 ? last - 1 : 1) }
function y(p) { return 260 - p * 2.2 }

END {
	split("false violations in later runs|new pairs|new cuts", what, "|")
	split("#b2182b|#2166ac|#4d9221", colour, "|")
	print "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"640\" height=\"320\"" \
		" font-family=\"sans-serif\" font-size=\"12\">"
	print "<rect width=\"640\" height=\"320\" fill=\"white\"/>"
	print "<text x=\"320\" y=\"20\" text-anchor=\"middle\" font-size=\"14\">" \
		"What is still to be learnt after N passing runs</text>"
	for (p = 0; p <= 100; p += 25) {
		printf "<line x1=\"60\" y1=\"%g\" x2=\"580\" y2=\"%g\" stroke=\"#ddd\"/>\n", y(p),
			y(p)
		printf "<text x=\"54\" y=\"%g\" text-anchor=\"end\">%d %%</text>\n", y(p) + 4, p
	}
	for (n = 1; n <= last; n += last > 20 ? int(last / 10) : 1)
		printf "<text x=\"%g\" y=\"278\" text-anchor=\"middle\">%d</text>\n", x(n), n
	print "<text x=\"320\" y=\"298\" text-anchor=\"middle\">runs</text>"
	for (k = 1; k <= 3; k++) {
		left = all[k]
		printf "<polyline fill=\"none\" stroke=\"%s\" stroke-width=\"2\" points=\"",
			colour[k]
		for (n = 1; n <= last; n++) {
			left -= sum[k, n]
			printf "%.1f,%.1f ", x(n), y(all[k] ? 100 * left / all[k] : 0)
		}
		print "\"/>"
		printf "<text x=\"300\" y=\"%d\" fill=\"%s\">%s (%d in all)</text>\n", 50 + 18 * k,
			colour[k], what[k], all[k]
	}
	print "</svg>"
}
