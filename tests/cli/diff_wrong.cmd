# A run that faulted, one without cycles, and a program that lost a launch are no improvement, however few cycles they have.
report() { echo "{\"kernel\": \"k\", \"launch\": {}, \"gpu\": {\"preset\": \"g\"}, \"result\": {\"status\": \"$1\"}, \"stats\": {\"gpu\": {\"cycles\": $2}}}"; }
program() { echo "{\"launches\": [$1]}"; }
cd $T
report unchecked 100 >good.json; report fault 10 >fault.json; report stopped 10 >stopped.json; report ok 0 >untimed.json
l='{"launch": 1, "kernel": "k", "cycles": 100, "faulted": false}'
program "$l, $l" >two.json; program "$l" >one.json
for b in fault stopped untimed; do $W diff good.json $b.json --fail-above 5 >out; echo "$b $?"; done
$W diff good.json fault.json >out; echo "fault $?"; grep -c 'status fault' out
$W diff two.json one.json --fail-above 5 >out; echo "lost $?"
$W diff two.json two.json --fail-above 5 >out; echo "same $?"
