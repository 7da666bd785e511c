cat > $T/w <<'W'
gpu = "rtx-3070"; source = "here";
windows = ( { name = "two NOPs"; code = "CLK | 2*NOP | CLK"; cycles = 3; gap = "none"; } );
W
$W probe $T/w
