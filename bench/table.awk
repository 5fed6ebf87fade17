# table.awk -v family=F -v measure=M: a Markdown table of lines
# "family,size,method,measure,value", with a row for each method and a column
# for each size.

BEGIN { FS = "," }

$1 == family && $4 == measure {
	if (!($2 in seen_size))
		sizes[++nsizes] = $2
	if (!($3 in seen_method))
		methods[++nmethods] = $3
	seen_size[$2] = seen_method[$3] = 1
	value[$2, $3] = $5
}

END {
	header = "| |"
	line = "|---|"
	for (i = 1; i <= nsizes; i++) {
		header = header " " sizes[i] " |"
		line = line "---:|"
	}
	print header
	print line
	for (j = 1; j <= nmethods; j++) {
		row = "| " methods[j] " |"
		for (i = 1; i <= nsizes; i++)
			row = row " " value[sizes[i], methods[j]] " |"
		print row
	}
}
