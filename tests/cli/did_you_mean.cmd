# What is misspelt is named; what is nothing like it is not.
say() { "$W" "$@" 2>&1 >/dev/null | grep -o "did you mean.*" || echo "nothing near: $*"; }
vecadd=kernels/vecadd/vecadd.sm_86.cubin
say runn
say help capure
say --verison
say run --gup a100 $vecadd
say run $vecadd --gpu rtx3070
say run $vecadd --set issue.polcy=gto
say run $vecadd --set max_warps=16
say run $vecadd --set issue.policy=got
say run $vecadd --kernel vecad
say run tests/data/rdc_main.program tests/data/rdc_part.program --kernel rdc_al
say disasm $vecadd --kernel vec_add
say run $vecadd --buf x:f32:32:iota,strat=1 --arg x
say gpus --resolve a1000
say probe bank
say validate --suite hecbench-rtx3080
printf 'cubin = "x"; gird = [1];\n' >"$T/x.launch"
say run "$T/x.launch"
printf 'inherit = "sm68";\n' >"$T/x.cfg"
say gpus --resolve "$T/x.cfg"
say simulate
say run $vecadd --gpu gtx-9999
say run $vecadd --kernel nonsense
printf 'gpu = ["rtx-3070"]; vry = ();\n' >"$T/x.sweep"
say sweep "$T/x.sweep"
say ncu --section SpeedOfLigt true
say ncu --section Nonsense true
