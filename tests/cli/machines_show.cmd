$W machines --show 2x-rtx-3090-nvlink
$W machines --show hgx-h100 | grep -A 9 joined
$W machines --resolve gh200 | grep mbps
