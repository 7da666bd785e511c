head -c 1500 kernels/vecadd/vecadd.sm_86.cubin >"$T/x.cubin" && $W run "$T/x.cubin" --functional
