# ratios.awk: from lines "family,method,size,round,batches,processor,clock,memory,pid"
# make lines "family,size,method,measure,value", the medians over the rounds.
#
# Each method is compared with the first one of its family in the same round;
# one that ends in _on with the one that ends in _off, and in the family
# planning all with the one that ends in _without, of which the difference in
# microseconds is told.

BEGIN { FS = OFS = "," }

function median(values, n,    i, j, swap)
{
	for (i = 2; i <= n; i++)
		for (j = i; j > 1 && values[j] < values[j - 1]; j--) {
			swap = values[j]
			values[j] = values[j - 1]
			values[j - 1] = swap
		}
	return n % 2 ? values[(n + 1) / 2] : (values[n / 2] + values[n / 2 + 1]) / 2
}

# The value below which a part of n sorted values lies.
function quantile(values, n, part)
{
	return values[int((n - 1) * part + 1.5)]
}

function base_of(family, method)
{
	if (family == "planning")
		sub(/_(off|on)$/, "_without", method)
	else if (family ~ /^statements/)
		sub(/_on$/, "_off", method)
	else
		method = first[family]
	return method
}

{
	if (!($1 in first))
		first[$1] = $2
	if (!(($1, $3, $2) in rounds))
		order[++n] = $1 OFS $3 OFS $2
	rounds[$1, $3, $2]++
	processor[$1, $3, $2, $4] = $6
	clock[$1, $3, $2, $4] = $7
}

function print_measure(name, format,    i, n, values)
{
	n = rounds[family, size, method]
	for (i = 0; i < rounds[family, size, method]; i++)
		values[i + 1] = name == "processor_ratio" ? processor[family, size, method, i] / processor[family, size, base, i] : \
			name == "clock_ratio" ? clock[family, size, method, i] / clock[family, size, base, i] : \
			name == "added_microseconds" ? processor[family, size, method, i] - processor[family, size, base, i] : \
			processor[family, size, method, i] / size
	printf "%s,%s,%s,%s," format "\n", family, size, method, name, median(values, n)
	if (name == "processor_ratio") {
		printf "%s,%s,%s,%s_from,%.3f\n", family, size, method, name, quantile(values, n, 0.25)
		printf "%s,%s,%s,%s_to,%.3f\n", family, size, method, name, quantile(values, n, 0.75)
	}
}

END {
	for (k = 1; k <= n; k++) {
		split(order[k], part, OFS)
		family = part[1]
		size = part[2]
		method = part[3]
		base = base_of(family, method)
		if (family == "planning") {
			print_measure("added_microseconds", "%.2f")
			continue
		}
		print_measure("processor_ratio", "%.3f")
		print_measure("clock_ratio", "%.3f")
		print_measure("microseconds_a_key", "%.3f")
	}
}
