$d0_0 << EOD
3 10 8 12
10 3 2.4 3.6
30 1 0.8 1.2
100 0.3 0.24 0.36
EOD
$d0_1 << EOD
3 4 2.8 5.2
10 1.2 0.84 1.56
30 0.4 0.28 0.52
100 0.12 0.084 0.156
EOD
$d0_2 << EOD
3 0.02 0.02 0.02
10 0.02 0.02 0.02
30 0.02 0.02 0.02
100 0.02 0.02 0.02
EOD
$d0_3 << EOD
3 2.886751 0.015484741 7.216878
10 1.581139 0.015484741 3.952847
30 0.912871 0.015484741 2.282177
100 0.5 0.015484741 1.25
EOD
set terminal svg size 680,330 noenhanced background rgb "white" font "Helvetica,13"
set output 'picture.svg'
set multiplot
set border 3 back
set tics nomirror out
set grid back lc rgb "#dddddd" lt 1 lw 0.5
unset key
set lmargin at screen 0.09485
set rmargin at screen 0.68382
set tmargin at screen 0.89091
set bmargin at screen 0.21212
unset label
unset arrow
set label 'Loss at epsilon 10' at screen 0.38934,0.95152 center
set label 'test loss' at screen 0.01471,0.55152 center rotate
set label 'privacy budget ε' at screen 0.38934,0.06364 center
set arrow from first 100,0.5 to screen 0.69853,0.54460 nohead lc rgb "#0072b2" lw 0.7
set arrow from screen 0.69853,0.54460 to screen 0.73676,0.54460 nohead lc rgb "#0072b2" lw 1.8 dt 1
set label '' at screen 0.71765,0.54460 point pt 7 ps 0.7 lc rgb "#0072b2"
set label 'it''s a `variant` of' at screen 0.74412,0.59308 left
set label '"mine" that has a long' at screen 0.74412,0.54460 left
set label 'name' at screen 0.74412,0.49611 left
set arrow from first 100,0.3 to screen 0.69853,0.44157 nohead lc rgb "#d55e00" lw 0.7
set arrow from screen 0.69853,0.44157 to screen 0.73676,0.44157 nohead lc rgb "#d55e00" lw 1.8 dt 1
set label '' at screen 0.71765,0.44157 point pt 4 ps 0.7 lc rgb "#d55e00"
set label 'ldp' at screen 0.74412,0.44157 left
set arrow from first 100,0.12 to screen 0.69853,0.38702 nohead lc rgb "#e69f00" lw 0.7
set arrow from screen 0.69853,0.38702 to screen 0.73676,0.38702 nohead lc rgb "#e69f00" lw 1.8 dt 1
set label '' at screen 0.71765,0.38702 point pt 8 ps 0.7 lc rgb "#e69f00"
set label 'decor' at screen 0.74412,0.38702 left
set arrow from first 100,0.02 to screen 0.69853,0.23726 nohead lc rgb "#777777" lw 0.7
set arrow from screen 0.69853,0.23726 to screen 0.73676,0.23726 nohead lc rgb "#777777" lw 1.8 dt 3
set label 'none' at screen 0.74412,0.23726 left
set logscale x
set xrange [2.607390656:115.0575574]
set xtics ('3' 3, '10' 10, '30' 30, '100' 100)
set logscale y
set yrange [0.015484741:15.49912911]
set ytics ('0.1' 0.1, '1' 1, '10' 10)
plot $d0_0 using 1:3:4 with filledcurves lc rgb "#d55e00" fs transparent solid 0.150 noborder, \
  $d0_1 using 1:3:4 with filledcurves lc rgb "#e69f00" fs transparent solid 0.150 noborder, \
  $d0_3 using 1:3:4 with filledcurves lc rgb "#0072b2" fs transparent solid 0.150 noborder, \
  $d0_0 using 1:2 with linespoints lc rgb "#d55e00" lw 1.8 dt 1 pt 4 ps 0.7 pointinterval 1, \
  $d0_1 using 1:2 with linespoints lc rgb "#e69f00" lw 1.8 dt 1 pt 8 ps 0.7 pointinterval 1, \
  $d0_2 using 1:2 with lines lc rgb "#777777" lw 1.8 dt 3, \
  $d0_3 using 1:2 with linespoints lc rgb "#0072b2" lw 1.8 dt 1 pt 7 ps 0.7 pointinterval 1
unset multiplot
