$d0_0 << EOD
10 1 1 1
20 2 2 2
40 4 4 4
80 8 8 8
120 12 12 12
EOD
$d0_1 << EOD
10 3 3 3
20 5 5 5
40 9 9 9
80 17 17 17
120 25 25 25
EOD
$d0_2 << EOD
10 5 5 5
20 8 8 8
40 14 14 14
80 26 26 26
120 38 38 38
EOD
$d0_3 << EOD
10 7 7 7
20 11 11 11
40 19 19 19
80 35 35 35
120 51 51 51
EOD
$d0_4 << EOD
10 9 9 9
20 14 14 14
40 24 24 24
80 44 44 44
120 64 64 64
EOD
$d0_5 << EOD
10 11 11 11
20 17 17 17
40 29 29 29
80 53 53 53
120 77 77 77
EOD
$d0_6 << EOD
10 13 13 13
20 20 20 20
40 34 34 34
80 62 62 62
120 90 90 90
EOD
$d0_7 << EOD
10 15 15 15
20 23 23 23
40 39 39 39
80 71 71 71
120 103 103 103
EOD
$d0_8 << EOD
10 17 17 17
20 26 26 26
40 44 44 44
80 80 80 80
120 116 116 116
EOD
set terminal svg size 680,416 noenhanced background rgb "white" font "Helvetica,13"
set output 'picture.svg'
set multiplot
set border 3 back
set tics nomirror out
set grid back lc rgb "#dddddd" lt 1 lw 0.5
unset key
set lmargin at screen 0.09485
set rmargin at screen 0.97647
set tmargin at screen 0.91346
set bmargin at screen 0.37500
unset label
unset arrow
set label 'Nine variants' at screen 0.53566,0.96154 center
set label 'seconds' at screen 0.01471,0.64423 center rotate
set label 'agents' at screen 0.53566,0.25721 center
set arrow from screen 0.04412,0.18750 to screen 0.08235,0.18750 nohead lc rgb "#0072b2" lw 1.8 dt 1
set label '' at screen 0.06324,0.18750 point pt 7 ps 0.7 lc rgb "#0072b2"
set label 'utility horizon:0' at screen 0.08971,0.18750 left
set arrow from screen 0.35784,0.18750 to screen 0.39608,0.18750 nohead lc rgb "#e69f00" lw 1.8 dt 1
set label '' at screen 0.37696,0.18750 point pt 6 ps 0.7 lc rgb "#e69f00"
set label 'variant 1' at screen 0.40343,0.18750 left
set arrow from screen 0.67157,0.18750 to screen 0.70980,0.18750 nohead lc rgb "#009e73" lw 1.8 dt 1
set label '' at screen 0.69069,0.18750 point pt 5 ps 0.7 lc rgb "#009e73"
set label 'variant 2' at screen 0.71716,0.18750 left
set arrow from screen 0.04412,0.12981 to screen 0.08235,0.12981 nohead lc rgb "#0072b2" lw 1.8 dt 2
set label '' at screen 0.06324,0.12981 point pt 4 ps 0.7 lc rgb "#0072b2"
set label 'utility horizon:3' at screen 0.08971,0.12981 left
set arrow from screen 0.35784,0.12981 to screen 0.39608,0.12981 nohead lc rgb "#cc79a7" lw 1.8 dt 1
set label '' at screen 0.37696,0.12981 point pt 9 ps 0.7 lc rgb "#cc79a7"
set label 'variant 4' at screen 0.40343,0.12981 left
set arrow from screen 0.67157,0.12981 to screen 0.70980,0.12981 nohead lc rgb "#56b4e9" lw 1.8 dt 1
set label '' at screen 0.69069,0.12981 point pt 8 ps 0.7 lc rgb "#56b4e9"
set label 'variant 5' at screen 0.71716,0.12981 left
set arrow from screen 0.04412,0.07212 to screen 0.08235,0.07212 nohead lc rgb "#0072b2" lw 1.8 dt 3
set label '' at screen 0.06324,0.07212 point pt 11 ps 0.7 lc rgb "#0072b2"
set label 'utility horizon:6' at screen 0.08971,0.07212 left
set arrow from screen 0.35784,0.07212 to screen 0.39608,0.07212 nohead lc rgb "#d55e00" lw 1.8 dt 1
set label '' at screen 0.37696,0.07212 point pt 10 ps 0.7 lc rgb "#d55e00"
set label 'variant 7' at screen 0.40343,0.07212 left
set arrow from screen 0.67157,0.07212 to screen 0.70980,0.07212 nohead lc rgb "#e69f00" lw 1.8 dt 2
set label '' at screen 0.69069,0.07212 point pt 13 ps 0.7 lc rgb "#e69f00"
set label 'variant 8' at screen 0.71716,0.07212 left
unset logscale x
set xrange [5.6:124.4]
set xtics ('25' 25, '50' 50, '75' 75, '100' 100)
unset logscale y
set yrange [-3.6:120.6]
set ytics ('0' 0, '25' 25, '50' 50, '75' 75, '100' 100)
plot $d0_0 using 1:2 with linespoints lc rgb "#0072b2" lw 1.8 dt 1 pt 7 ps 0.7 pointinterval 1, \
  $d0_1 using 1:2 with linespoints lc rgb "#e69f00" lw 1.8 dt 1 pt 6 ps 0.7 pointinterval 1, \
  $d0_2 using 1:2 with linespoints lc rgb "#009e73" lw 1.8 dt 1 pt 5 ps 0.7 pointinterval 1, \
  $d0_3 using 1:2 with linespoints lc rgb "#0072b2" lw 1.8 dt 2 pt 4 ps 0.7 pointinterval 1, \
  $d0_4 using 1:2 with linespoints lc rgb "#cc79a7" lw 1.8 dt 1 pt 9 ps 0.7 pointinterval 1, \
  $d0_5 using 1:2 with linespoints lc rgb "#56b4e9" lw 1.8 dt 1 pt 8 ps 0.7 pointinterval 1, \
  $d0_6 using 1:2 with linespoints lc rgb "#0072b2" lw 1.8 dt 3 pt 11 ps 0.7 pointinterval 1, \
  $d0_7 using 1:2 with linespoints lc rgb "#d55e00" lw 1.8 dt 1 pt 10 ps 0.7 pointinterval 1, \
  $d0_8 using 1:2 with linespoints lc rgb "#e69f00" lw 1.8 dt 2 pt 13 ps 0.7 pointinterval 1
unset multiplot
