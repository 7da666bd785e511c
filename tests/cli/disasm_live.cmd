# Live registers, uniform registers and predicates at each instruction: the numbers of nvdisasm --print-life-ranges (13.5).
$W disasm --live --no-ctrl kernels/vecadd/vecadd.sm_86.cubin
