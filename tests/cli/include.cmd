# @include would read any file, however long.
echo '@include "/dev/zero"' >$T/x.launch
cp $T/x.launch $T/x.cfg
cp $T/x.launch $T/x.suite
cd $T
timeout 20 $W run x.launch
timeout 20 $W gpus --resolve ./x.cfg
timeout 20 $W validate --suite ./x.suite
