# What --set and its kin cannot be is told before the program starts, by every command that starts one: a program that
# does not look at CUDA's errors would go on without a GPU.
for c in "exec --set" "capture -o $T/cases --set" "sanitize --set" "ncu --param"; do
  # shellcheck disable=SC2086 # a command and its option
  $W $c gpu.sms=abc --gpu rtx-3070 /bin/echo started
  echo $?
done
for o in --set=gpu.sm=3 --set=gpu.sms --set=l1.line=64 --clock=fast --mig=1g.5gb --timeline-sms=7; do
  $W exec --gpu rtx-3070 --set gpu.sms=4 --timeline $T/t $o /bin/echo started
  echo $?
done
$W exec --machine dgx-a100 --set gpu.sms=abc /bin/echo started
$W exec --gpu rtx-3070 --set gpu.sms=8 --timeline $T/t --timeline-sms 7 /bin/echo started
