$d0_0 << EOD
1 17.8 17.5 17.9
2 1.4 0.2 8.2
3 0.2 0 1.7
4 0.01 0 0.16
EOD
$d0_1 << EOD
1 17.9 17.9 17.9
2 17.9 17.9 17.9
3 17.9 17.9 17.9
4 17.9 17.9 17.9
EOD
$d0_2 << EOD
1 17.8 17.8 17.8
2 10.4 10.4 10.4
3 1.2 1.2 1.2
4 0.1 0.1 0.1
EOD
$d1_0 << EOD
1 10 9 11
2 0.2 4.768088334e-08 3
3 0.0001 1e-07 0.001
4 1e-07 4.768088334e-08 1e-06
EOD
$d1_1 << EOD
1 10 10 10
2 10 10 10
3 10 10 10
4 10 10 10
EOD
$d1_2 << EOD
1 10.2 10.2 10.2
2 4 4 4
3 0.01 0.01 0.01
4 1e-05 1e-05 1e-05
EOD
set terminal svg size 830,330 noenhanced background rgb "white" font "Helvetica,13"
set output 'picture.svg'
set multiplot
set border 3 back
set tics nomirror out
set grid back lc rgb "#dddddd" lt 1 lw 0.5
unset key
set lmargin at screen 0.08675
set rmargin at screen 0.39699
set tmargin at screen 0.89091
set bmargin at screen 0.21212
unset label
unset arrow
set label '' at screen 0.24187,0.95152 center
set label 'epsilon' at screen 0.03012,0.55152 center rotate
set label 'distance' at screen 0.24187,0.06364 center
unset logscale x
set xrange [0.82:4.18]
set xtics ('1' 1, '2' 2, '3' 3, '4' 4)
unset logscale y
set yrange [-0.716:18.616]
set ytics ('0' 0, '5' 5, '10' 10, '15' 15)
plot $d0_0 using 1:2:3:4 with yerrorbars lc rgb "#0072b2" lw 1.8 dt 1 pt 7 ps 0.7, \
  $d0_0 using 1:2 with linespoints lc rgb "#0072b2" lw 1.8 dt 1 pt 7 ps 0.7 pointinterval 1, \
  $d0_1 using 1:2 with lines lc rgb "#d55e00" lw 1.8 dt 2, \
  $d0_2 using 1:2 with linespoints lc rgb "#e69f00" lw 1.8 dt 1 pt 6 ps 0.7 pointinterval 1
set lmargin at screen 0.50301
set rmargin at screen 0.81325
set tmargin at screen 0.89091
set bmargin at screen 0.21212
unset label
unset arrow
set label '(b)' at screen 0.65813,0.95152 center
set label 'divergence' at screen 0.42831,0.55152 center rotate
set label 'distance' at screen 0.65813,0.06364 center
set arrow from first 4,10 to screen 0.82530,0.86253 nohead lc rgb "#d55e00" lw 0.7
set arrow from screen 0.82530,0.86253 to screen 0.85663,0.86253 nohead lc rgb "#d55e00" lw 1.8 dt 2
set label 'local DP' at screen 0.86265,0.86253 left
set arrow from first 4,1e-05 to screen 0.82530,0.39358 nohead lc rgb "#e69f00" lw 0.7
set arrow from screen 0.82530,0.39358 to screen 0.85663,0.39358 nohead lc rgb "#e69f00" lw 1.8 dt 1
set label '' at screen 0.84096,0.39358 point pt 6 ps 0.7 lc rgb "#e69f00"
set label 'muffliato' at screen 0.86265,0.39358 left
set arrow from first 4,1e-07 to screen 0.82530,0.23939 nohead lc rgb "#0072b2" lw 0.7
set arrow from screen 0.82530,0.23939 to screen 0.85663,0.23939 nohead lc rgb "#0072b2" lw 1.8 dt 1
set label '' at screen 0.84096,0.23939 point pt 7 ps 0.7 lc rgb "#0072b2"
set label 'mean, least to' at screen 0.86265,0.26364 left
set label 'largest' at screen 0.86265,0.21515 left
unset logscale x
set xrange [0.82:4.18]
set xtics ('1' 1, '2' 2, '3' 3, '4' 4)
set logscale y
set yrange [4.768088334e-08:23.07004239]
set ytics ('10⁻⁷' 1e-07, '10⁻⁵' 1e-05, '10⁻³' 0.001, '10⁻¹' 0.1, '10¹' 10)
plot $d1_0 using 1:2:3:4 with yerrorbars lc rgb "#0072b2" lw 1.8 dt 1 pt 7 ps 0.7, \
  $d1_0 using 1:2 with linespoints lc rgb "#0072b2" lw 1.8 dt 1 pt 7 ps 0.7 pointinterval 1, \
  $d1_1 using 1:2 with lines lc rgb "#d55e00" lw 1.8 dt 2, \
  $d1_2 using 1:2 with linespoints lc rgb "#e69f00" lw 1.8 dt 1 pt 6 ps 0.7 pointinterval 1
unset multiplot
