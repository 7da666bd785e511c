printf "cubin = \"x\";\nfrob = 3;\n" >"$T/x.launch" && $W run "$T/x.launch" --functional
