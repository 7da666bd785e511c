: >"$T/x.launch" && $W run "$T/x.launch"
