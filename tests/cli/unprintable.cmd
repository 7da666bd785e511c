# Control characters and bytes that are no UTF-8 do not reach the terminal, wherever they come from.
cd $T
e=$(printf '\033')
$W run "no${e}[31m" 2>&1 | od -An -c | grep -c 033
LC_ALL=C sed "s/vecadd/ve${e}add/g" $OLDPWD/kernels/vecadd/vecadd.sm_86.cubin >esc.cubin
LC_ALL=C sed "s/vecadd/ve$(printf '\377')add/g" $OLDPWD/kernels/vecadd/vecadd.sm_86.cubin >latin.cubin
for f in esc latin; do $W disasm $f.cubin; $W run $f.cubin --functional; done
printf -- '-kernel name = a%s[31m\n-kernel id = 1\n-grid dim = (1,1,1)\n-block dim = (32,1,1)\n-binary version = 86\n#x\n' "$e" >k.traceg
$W trace import k.traceg
$W run $OLDPWD/kernels/vecadd/vecadd.launch --set "name=a${e}"
