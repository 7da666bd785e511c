# A folder, a pipe and a device given as a file: one line each, nothing is waited for.
mkfifo $T/pipe
for f in tests/data $T/pipe /dev/zero; do
  for c in run "run --functional" "disasm" "disasm --words sm_86" "trace import" "probe" "validate --suite"; do
    timeout 20 $W $c $f >$T/out 2>$T/err </dev/null
    echo "$? $(wc -l <$T/err)" >>$T/all
  done
  timeout 20 $W gpus --resolve $f >$T/out 2>$T/err </dev/null
  echo "$? $(wc -l <$T/err)" >>$T/all
done
sort $T/all | uniq -c | awk '{ print $2, $3 }'
