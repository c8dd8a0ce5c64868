# Makes tables from samples: medians, ratios over native code of the same compiler, geometric means.
#   results: KERNEL COMPILER VARIANT WALL CPU RSS AFTER BYTES
#   micro:   COMPILER VARIANT NAME NS

function median(key,    list, n, i, j, t) {
	n = split(samples[key], list, " ")
	for (i = 2; i <= n; i++)
		for (j = i; j > 1 && list[j - 1] + 0 > list[j] + 0; j--) {
			t = list[j]; list[j] = list[j - 1]; list[j - 1] = t
		}
	return n % 2 ? list[(n + 1) / 2] : (list[n / 2] + list[n / 2 + 1]) / 2
}

function ratio(what, kernel, cc, variant, base,    b) {
	b = median(what " " kernel " " cc " " base)
	return b > 0 ? median(what " " kernel " " cc " " variant) / b : 0
}

function table(what, title,    c, k, r, v, sum, n, line) {
	printf "\n%s, median of %d\n", title, rounds
	for (c = 1; c <= cc_count; c++) {
		printf "\n%-6s %-10s %9s %7s %7s %7s %11s %8s %9s\n", cc[c], "", "native", "snarl",
			"sites",
			"TSan", "snarl/TSan", "after", "trace"
		delete sum
		for (k = 1; k <= kernel_count; k++) {
			printf "%-6s %-10s %8.3fs", "", kernel[k],
				median(what " " kernel[k] " " cc[c] " native")
			for (v = 1; v <= 3; v++) {
				r = ratio(what, kernel[k], cc[c], variant[v], "native")
				sum[v] += log(r)
				printf " %6.2fx", r
			}
			r = ratio(what, kernel[k], cc[c], "snarl", "tsan")
			sum[4] += log(r)
			printf " %11.2f %7.2fs %6.0f MB\n", r,
				median("after " kernel[k] " " cc[c] " snarl"),
				median("bytes " kernel[k] " " cc[c] " snarl") / 1e6
		}
		printf "%-6s %-10s %9s", "", "geomean", ""
		for (v = 1; v <= 3; v++)
			printf " %6.2fx", exp(sum[v] / kernel_count)
		printf " %11.2f\n", exp(sum[4] / kernel_count)
	}
}

NF == 8 {
	if (!($1 in seen)) {
		seen[$1] = 1
		kernel[++kernel_count] = $1
	}
	key = $1 " " $2 " " $3
	samples["wall " key] = samples["wall " key] " " $4
	samples["cpu " key] = samples["cpu " key] " " $5
	samples["after " key] = samples["after " key] " " $7
	samples["bytes " key] = samples["bytes " key] " " $8
}

NF == 4 {
	if (!($3 in known)) {
		known[$3] = 1
		micro[++micro_count] = $3
	}
	ns[$1 " " $2 " " $3] = $4
}

END {
	cc_count = split(compilers, cc, " ")
	split("snarl sites tsan", variant, " ")
	table("cpu", "CPU time (user + system) over native")
	table("wall", "Wall time over native")
	printf "\nns per operation; in brackets: what the hooks add\n"
	for (c = 1; c <= cc_count; c++) {
		printf "\n%-6s %-14s %8s %18s %18s %18s\n", cc[c], "", "native", "snarl",
			"snarl --no-inline", "TSan"
		for (m = 1; m <= micro_count; m++) {
			base = ns[cc[c] " native " micro[m]]
			printf "%-6s %-14s %8.2f", "", micro[m], base
			n = split("snarl calls tsan", list, " ")
			for (v = 1; v <= n; v++) {
				value = ns[cc[c] " " list[v] " " micro[m]]
				printf " %18s", sprintf("%.2f (%+.2f)", value, value - base)
			}
			printf "\n"
		}
	}
}
