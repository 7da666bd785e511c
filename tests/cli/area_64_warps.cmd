# The same table for 64 warps: 2,624 bits, 0.13 %; 2.03, 3.04 and 7.09 % for 1, 3 and 63 consumers.
$W area --gpu h200 | grep -E "^(control|scoreboard)"
