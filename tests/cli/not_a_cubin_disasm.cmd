$W disasm kernels/vecadd/vecadd.cu
