# Every slot is charged to one reason: the changes add up to that of all slots, which is what the reports say themselves.
$W run kernels/sgemm_reg/sgemm_reg.launch --set gpu.sms=1 --quiet --json $T/a.json &&
  $W run kernels/sgemm_reg/sgemm_reg.launch --set gpu.sms=1 --quiet --set issue.policy=lrr --json $T/b.json || exit 9
all() { sed -n 's/^ *"issue_slots": \([0-9]*\),$/\1/p' $T/$1.json; }
$W diff $T/a.json $T/b.json --all >$T/diff || exit 9
grep '^  issue.policy' $T/diff
sum=$(awk '/^Issue slots/ {on = 1; next} /^$/ {on = 0} on {sum += $4} END {print sum}' $T/diff)
[ "$sum" -eq $(($(all b) - $(all a))) ] && [ "$sum" -ne 0 ] && echo "changes add up"
