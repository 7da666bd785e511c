$W asm tests/asm/axpy.sass -o $T/axpy.cubin --schedule rtx-3070 && $W disasm $T/axpy.cubin | grep -o "\[B.*ISETP.GE"
