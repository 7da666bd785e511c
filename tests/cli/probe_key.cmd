cat > $T/w <<'W'
gpu = "rtx-3070"; source = "here";
windows = ( { name = "two NOPs"; code = "CLK | NOP | CLK"; cycle = 3; } );
W
$W probe $T/w
