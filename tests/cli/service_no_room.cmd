# A call of a runtime service waits, as a memory instruction does, while the SM has no entry for one more in flight:
# the four warps of two CTAs print through a single entry.
launch="kernels/printf_demo/printf_demo.launch --quiet"
$W run $launch --functional | sort >"$T/functional"
for n in 1 2; do
  $W run $launch --gpu rtx-3070 --set gpu.sms=1 --set mem.pending_entries=1 --threads $n | sort >"$T/timed"
  cmp "$T/functional" "$T/timed" && echo "same $(wc -l <"$T/timed")"
done
