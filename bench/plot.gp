# plot.gp: the ratios of one family, a line for each method.
# gnuplot -e "family='increment'; title='...'; results='results.csv'; picture='increment.svg'; methods='a b c'" plot.gp

set terminal svg size 800,480 font "sans-serif,13" background rgb "white"
set output picture
set datafile separator ","
set title title noenhanced
set logscale x
set xlabel "rows in a batch"
set ylabel "server time, plain statement = 1"
set format x "%.0f"
set xtics add ("1,000" 1000, "10,000" 10000, "100,000" 100000, "1M" 1000000)
set yrange [0.8:limit]
set grid ytics lc rgb "#dddddd"
set key outside right top noenhanced
pick(method) = sprintf("< awk -F, -v OFS=, '$1 == \"%s\" && $3 == \"%s\" && $4 == \"processor_ratio\" { print $2, $5 }' %s", family, method, results)
plot for [method in methods] pick(method) using 1:2 with linespoints pt 7 ps 0.6 lw 2 title method
