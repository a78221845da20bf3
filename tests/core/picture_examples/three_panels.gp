$d0_0 << EOD
0 1 0.6 1.4
4 0.2 0.12 0.28
8 0.111111 0.066667 0.155556
12 0.076923 0.046154 0.107692
16 0.058824 0.035294 0.082353
20 0.047619 0.028571 0.066667
24 0.04 0.024 0.056
28 0.034483 0.02069 0.048276
32 0.030303 0.018182 0.042424
36 0.027027 0.016216 0.037838
40 0.02439 0.014634 0.034146
44 0.022222 0.013333 0.031111
48 0.020408 0.012245 0.028571
52 0.018868 0.011321 0.026415
56 0.017544 0.010526 0.024561
EOD
$d0_1 << EOD
0 2 1.8 2.2
4 0.4 0.36 0.44
8 0.222222 0.2 0.244444
12 0.153846 0.138462 0.169231
16 0.117647 0.105882 0.129412
20 0.095238 0.085714 0.104762
24 0.08 0.072 0.088
28 0.068966 0.062069 0.075862
32 0.060606 0.054545 0.066667
36 0.054054 0.048649 0.059459
40 0.04878 0.043902 0.053659
44 0.044444 0.04 0.048889
48 0.040816 0.036735 0.044898
52 0.037736 0.033962 0.041509
56 0.035088 0.031579 0.038596
EOD
$d0_2 << EOD
0 1.5 1.5 1.5
56 0.026316 0.026316 0.026316
EOD
$d1_0 << EOD
0 1 0.6 1.4
4 0.2 0.12 0.28
8 0.111111 0.066667 0.155556
12 0.076923 0.046154 0.107692
16 0.058824 0.035294 0.082353
20 0.047619 0.028571 0.066667
24 0.04 0.024 0.056
28 0.034483 0.02069 0.048276
32 0.030303 0.018182 0.042424
36 0.027027 0.016216 0.037838
40 0.02439 0.014634 0.034146
44 0.022222 0.013333 0.031111
48 0.020408 0.012245 0.028571
52 0.018868 0.011321 0.026415
56 0.017544 0.010526 0.024561
EOD
$d1_1 << EOD
0 2 1.8 2.2
4 0.4 0.36 0.44
8 0.222222 0.2 0.244444
12 0.153846 0.138462 0.169231
16 0.117647 0.105882 0.129412
20 0.095238 0.085714 0.104762
24 0.08 0.072 0.088
28 0.068966 0.062069 0.075862
32 0.060606 0.054545 0.066667
36 0.054054 0.048649 0.059459
40 0.04878 0.043902 0.053659
44 0.044444 0.04 0.048889
48 0.040816 0.036735 0.044898
52 0.037736 0.033962 0.041509
56 0.035088 0.031579 0.038596
EOD
$d1_2 << EOD
0 1.5 1.5 1.5
56 0.026316 0.026316 0.026316
EOD
$d2_0 << EOD
0 1 0.6 1.4
4 0.2 0.12 0.28
8 0.111111 0.066667 0.155556
12 0.076923 0.046154 0.107692
16 0.058824 0.035294 0.082353
20 0.047619 0.028571 0.066667
24 0.04 0.024 0.056
28 0.034483 0.02069 0.048276
32 0.030303 0.018182 0.042424
36 0.027027 0.016216 0.037838
40 0.02439 0.014634 0.034146
44 0.022222 0.013333 0.031111
48 0.020408 0.012245 0.028571
52 0.018868 0.011321 0.026415
56 0.017544 0.010526 0.024561
EOD
$d2_1 << EOD
0 2 1.8 2.2
4 0.4 0.36 0.44
8 0.222222 0.2 0.244444
12 0.153846 0.138462 0.169231
16 0.117647 0.105882 0.129412
20 0.095238 0.085714 0.104762
24 0.08 0.072 0.088
28 0.068966 0.062069 0.075862
32 0.060606 0.054545 0.066667
36 0.054054 0.048649 0.059459
40 0.04878 0.043902 0.053659
44 0.044444 0.04 0.048889
48 0.040816 0.036735 0.044898
52 0.037736 0.033962 0.041509
56 0.035088 0.031579 0.038596
EOD
$d2_2 << EOD
0 1.5 1.5 1.5
56 0.026316 0.026316 0.026316
EOD
$d2_3 << EOD
0 3 3 3
20 0.142857 0.142857 0.142857
56 0.052632 0.052632 0.052632
EOD
$d2_4 << EOD
0 4 4 4
20 0.190476 0.190476 0.190476
56 0.070175 0.070175 0.070175
EOD
$d2_5 << EOD
0 5 5 5
20 0.238095 0.238095 0.238095
56 0.087719 0.087719 0.087719
EOD
$d2_6 << EOD
0 6 6 6
20 0.285714 0.285714 0.285714
56 0.105263 0.105263 0.105263
EOD
$d2_7 << EOD
0 7 7 7
20 0.333333 0.333333 0.333333
56 0.122807 0.122807 0.122807
EOD
$d2_8 << EOD
0 8 8 8
20 0.380952 0.380952 0.380952
56 0.140351 0.140351 0.140351
EOD
set terminal svg size 830,660 noenhanced background rgb "white" font "Helvetica,13"
set output 'picture.svg'
set multiplot
set border 3 back
set tics nomirror out
set grid back lc rgb "#dddddd" lt 1 lw 0.5
unset key
set lmargin at screen 0.08675
set rmargin at screen 0.48072
set tmargin at screen 0.94545
set bmargin at screen 0.60606
unset label
unset arrow
set label '(a)' at screen 0.28373,0.97576 center
set label 'gap' at screen 0.02108,0.77576 center rotate
set label 'round' at screen 0.28373,0.53182 center
unset logscale x
set xrange [-2.24:58.24]
set xtics ('0' 0, '20' 20, '40' 40)
unset logscale y
set yrange [-0.07705296:2.28757896]
set ytics ('0' 0, '0.5' 0.5, '1' 1, '1.5' 1.5, '2' 2)
plot $d0_0 using 1:3:4 with filledcurves lc rgb "#0072b2" fs transparent solid 0.150 noborder, \
  $d0_1 using 1:3:4 with filledcurves lc rgb "#e69f00" fs transparent solid 0.150 noborder, \
  $d0_0 using 1:2 with linespoints lc rgb "#0072b2" lw 1.8 dt 1 pt 7 ps 0.7 pointinterval 2, \
  $d0_1 using 1:2 with linespoints lc rgb "#e69f00" lw 1.8 dt 1 pt 6 ps 0.7 pointinterval 2, \
  $d0_2 using 1:2 with linespoints lc rgb "#009e73" lw 1.8 dt 1 pt 5 ps 0.7 pointinterval 1
set lmargin at screen 0.58675
set rmargin at screen 0.98072
set tmargin at screen 0.94545
set bmargin at screen 0.60606
unset label
unset arrow
set label '(b)' at screen 0.78373,0.97576 center
set label 'gap' at screen 0.51205,0.77576 center rotate
set label 'round' at screen 0.78373,0.53182 center
unset logscale x
set xrange [-2.24:58.24]
set xtics ('0' 0, '20' 20, '40' 40)
set logscale y
set yrange [0.008500745086:2.72413768]
set ytics ('0.01' 0.01, '0.1' 0.1, '1' 1)
plot $d1_0 using 1:3:4 with filledcurves lc rgb "#0072b2" fs transparent solid 0.150 noborder, \
  $d1_1 using 1:3:4 with filledcurves lc rgb "#e69f00" fs transparent solid 0.150 noborder, \
  $d1_0 using 1:2 with linespoints lc rgb "#0072b2" lw 1.8 dt 1 pt 7 ps 0.7 pointinterval 2, \
  $d1_1 using 1:2 with linespoints lc rgb "#e69f00" lw 1.8 dt 1 pt 6 ps 0.7 pointinterval 2, \
  $d1_2 using 1:2 with linespoints lc rgb "#009e73" lw 1.8 dt 1 pt 5 ps 0.7 pointinterval 1
set lmargin at screen 0.08675
set rmargin at screen 0.48072
set tmargin at screen 0.44545
set bmargin at screen 0.10606
unset label
unset arrow
set label '(c)' at screen 0.28373,0.47576 center
set label 'gap' at screen 0.02108,0.27576 center rotate
set label 'round' at screen 0.28373,0.03182 center
set arrow from screen 0.57229,0.43030 to screen 0.60361,0.43030 nohead lc rgb "#0072b2" lw 1.8 dt 1
set label '' at screen 0.58795,0.43030 point pt 7 ps 0.7 lc rgb "#0072b2"
set label 'corn' at screen 0.60964,0.43030 left
set arrow from screen 0.57229,0.39394 to screen 0.60361,0.39394 nohead lc rgb "#e69f00" lw 1.8 dt 1
set label '' at screen 0.58795,0.39394 point pt 6 ps 0.7 lc rgb "#e69f00"
set label 'my own' at screen 0.60964,0.39394 left
set arrow from screen 0.57229,0.35758 to screen 0.60361,0.35758 nohead lc rgb "#009e73" lw 1.8 dt 1
set label '' at screen 0.58795,0.35758 point pt 5 ps 0.7 lc rgb "#009e73"
set label 'slab' at screen 0.60964,0.35758 left
set arrow from screen 0.57229,0.32121 to screen 0.60361,0.32121 nohead lc rgb "#cc79a7" lw 1.8 dt 1
set label '' at screen 0.58795,0.32121 point pt 4 ps 0.7 lc rgb "#cc79a7"
set label 'v0' at screen 0.60964,0.32121 left
set arrow from screen 0.57229,0.28485 to screen 0.60361,0.28485 nohead lc rgb "#56b4e9" lw 1.8 dt 1
set label '' at screen 0.58795,0.28485 point pt 9 ps 0.7 lc rgb "#56b4e9"
set label 'v1' at screen 0.60964,0.28485 left
set arrow from screen 0.57229,0.24848 to screen 0.60361,0.24848 nohead lc rgb "#d55e00" lw 1.8 dt 1
set label '' at screen 0.58795,0.24848 point pt 8 ps 0.7 lc rgb "#d55e00"
set label 'v2' at screen 0.60964,0.24848 left
set arrow from screen 0.57229,0.21212 to screen 0.60361,0.21212 nohead lc rgb "#0072b2" lw 1.8 dt 2
set label '' at screen 0.58795,0.21212 point pt 11 ps 0.7 lc rgb "#0072b2"
set label 'v3' at screen 0.60964,0.21212 left
set arrow from screen 0.57229,0.17576 to screen 0.60361,0.17576 nohead lc rgb "#e69f00" lw 1.8 dt 2
set label '' at screen 0.58795,0.17576 point pt 10 ps 0.7 lc rgb "#e69f00"
set label 'v4' at screen 0.60964,0.17576 left
set arrow from screen 0.57229,0.13939 to screen 0.60361,0.13939 nohead lc rgb "#009e73" lw 1.8 dt 2
set label '' at screen 0.58795,0.13939 point pt 13 ps 0.7 lc rgb "#009e73"
set label 'v5' at screen 0.60964,0.13939 left
unset logscale x
set xrange [-2.24:58.24]
set xtics ('0' 0, '20' 20, '40' 40)
unset logscale y
set yrange [-0.30905296:8.31957896]
set ytics ('0' 0, '2.5' 2.5, '5' 5, '7.5' 7.5)
plot $d2_0 using 1:3:4 with filledcurves lc rgb "#0072b2" fs transparent solid 0.150 noborder, \
  $d2_1 using 1:3:4 with filledcurves lc rgb "#e69f00" fs transparent solid 0.150 noborder, \
  $d2_0 using 1:2 with linespoints lc rgb "#0072b2" lw 1.8 dt 1 pt 7 ps 0.7 pointinterval 2, \
  $d2_1 using 1:2 with linespoints lc rgb "#e69f00" lw 1.8 dt 1 pt 6 ps 0.7 pointinterval 2, \
  $d2_2 using 1:2 with linespoints lc rgb "#009e73" lw 1.8 dt 1 pt 5 ps 0.7 pointinterval 1, \
  $d2_3 using 1:2 with linespoints lc rgb "#cc79a7" lw 1.8 dt 1 pt 4 ps 0.7 pointinterval 1, \
  $d2_4 using 1:2 with linespoints lc rgb "#56b4e9" lw 1.8 dt 1 pt 9 ps 0.7 pointinterval 1, \
  $d2_5 using 1:2 with linespoints lc rgb "#d55e00" lw 1.8 dt 1 pt 8 ps 0.7 pointinterval 1, \
  $d2_6 using 1:2 with linespoints lc rgb "#0072b2" lw 1.8 dt 2 pt 11 ps 0.7 pointinterval 1, \
  $d2_7 using 1:2 with linespoints lc rgb "#e69f00" lw 1.8 dt 2 pt 10 ps 0.7 pointinterval 1, \
  $d2_8 using 1:2 with linespoints lc rgb "#009e73" lw 1.8 dt 2 pt 13 ps 0.7 pointinterval 1
unset multiplot
