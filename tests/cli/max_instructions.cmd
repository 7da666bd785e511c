$W asm tests/cli/spin.sass -o "$T/spin.cubin" || exit 9
# The limit counts exactly, and one warp has most of it.
$W run "$T/spin.cubin" --functional --quiet --block 96 --max-instructions 100000 --json "$T/out.json"
status=$?
grep -E '"(status|by|warp_insts|warps)":' "$T/out.json"
exit $status
