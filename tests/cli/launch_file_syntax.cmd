printf "cubin = ;\n" >"$T/x.launch" && $W run "$T/x.launch" --functional
