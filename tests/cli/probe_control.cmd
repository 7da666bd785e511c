cat > $T/w <<'W'
gpu = "rtx-3070"; source = "here";
windows = ( { name = "two NOPs"; code = "CLK | NOP{S16} | CLK"; cycles = 3; } );
W
$W probe $T/w
