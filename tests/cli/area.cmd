# Huerta et al., MICRO 2025, Table 7: 41 bits per warp, 1,968 per SM, 0.09 %; 63 consumers: 2,324, 111,552, 5.32 %.
$W area --gpu rtx-a6000 | grep -E "control|63 consumers"
