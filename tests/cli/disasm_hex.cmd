$W disasm kernels/vecadd/vecadd.sm_86.cubin --hex --no-ctrl | sed -n 3p
