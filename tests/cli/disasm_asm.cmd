$W disasm kernels/vecadd/vecadd.sm_86.cubin --asm
