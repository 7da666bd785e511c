echo hello >"$T/x.cubin" && $W run "$T/x.cubin" --functional
