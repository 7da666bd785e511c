# Nothing is lost: the listing's columns add up to the counters of the same run. bank conflicts, shuffles, barriers, atomics.
for k in sort_bitonic reduce_shfl hist_shared; do
  $W run kernels/$k/$k.launch --quiet --annotate --json $T/$k.json >$T/$k.txt || exit 9
  counter() { sed -n "s/^ *\"$1\": \([0-9]*\),*$/\1/p" $T/$k.json | head -n 1; }
  # cycles: columns 1 to 14, issued: 23 to 34, conflicts: 52 to 60; also the line behind the listing has cycles
  sums=$(awk '/^Instructions of/ {on = 1} !on || !/^ *[0-9]/ {next}
    {gsub(/,/, "_"); c = substr($0, 1, 14); gsub(/_/, "", c); cycles += c}
    /of warps that had ended/ {next}
    {i = substr($0, 23, 12); gsub(/_/, "", i); issued += i; x = substr($0, 52, 9); gsub(/_/, "", x); conflicts += x}
    END {print cycles, issued, conflicts + 0}' $T/$k.txt)
  echo "$k $([ "$sums" = "$(counter warp_cycles) $(counter warp_insts) $(counter shared_conflicts)" ] && echo adds up || echo "$sums")"
done
