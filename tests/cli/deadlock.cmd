# Where it waits is named, with time and without.
$W asm tests/cli/deadlock.sass -o $T/alone.cubin || exit 9
for o in --functional "--gpu rtx-3070"; do
  $W run $T/alone.cubin $o --quiet --block 32 2>$T/err
  echo $?
  grep "at alone" $T/err
done
