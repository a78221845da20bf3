$d0_0 << EOD
1 5 1 9
2 5.1 1 9.5
EOD
$d0_1 << EOD
1 5.2 0.5 10
2 5.3 1 10
EOD
set terminal svg size 680,330 noenhanced background rgb "white" font "Helvetica,13"
set output 'picture.svg'
set multiplot
set border 3 back
set tics nomirror out
set grid back lc rgb "#dddddd" lt 1 lw 0.5
unset key
set lmargin at screen 0.08382
set rmargin at screen 0.91544
set tmargin at screen 0.89091
set bmargin at screen 0.21212
unset label
unset arrow
set label 'values that hardly differ' at screen 0.49963,0.95152 center
set label 'loss' at screen 0.01471,0.55152 center rotate
set label 'x' at screen 0.49963,0.06364 center
set arrow from first 2,5.3 to screen 0.93015,0.57741 nohead lc rgb "#e69f00" lw 0.7
set arrow from screen 0.93015,0.57741 to screen 0.96838,0.57741 nohead lc rgb "#e69f00" lw 1.8 dt 1
set label '' at screen 0.94926,0.57741 point pt 6 ps 0.7 lc rgb "#e69f00"
set label 'b' at screen 0.97574,0.57741 left
set arrow from first 2,5.1 to screen 0.93015,0.52287 nohead lc rgb "#0072b2" lw 0.7
set arrow from screen 0.93015,0.52287 to screen 0.96838,0.52287 nohead lc rgb "#0072b2" lw 1.8 dt 1
set label '' at screen 0.94926,0.52287 point pt 7 ps 0.7 lc rgb "#0072b2"
set label 'a' at screen 0.97574,0.52287 left
unset logscale x
set xrange [0.96:2.04]
set xtics ('1' 1, '1.25' 1.25, '1.5' 1.5, '1.75' 1.75, '2' 2)
unset logscale y
set yrange [-7.1:17.6]
set ytics ('-5' -5, '0' 0, '5' 5, '10' 10, '15' 15)
plot $d0_0 using 1:3:4 with filledcurves lc rgb "#0072b2" fs transparent solid 0.150 noborder, \
  $d0_1 using 1:3:4 with filledcurves lc rgb "#e69f00" fs transparent solid 0.150 noborder, \
  $d0_0 using 1:2 with linespoints lc rgb "#0072b2" lw 1.8 dt 1 pt 7 ps 0.7 pointinterval 1, \
  $d0_1 using 1:2 with linespoints lc rgb "#e69f00" lw 1.8 dt 1 pt 6 ps 0.7 pointinterval 1
unset multiplot
