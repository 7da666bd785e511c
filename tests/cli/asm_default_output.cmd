cp tests/asm/clock_pair.sass $T/ && $W asm $T/clock_pair.sass && $W disasm $T/clock_pair.cubin --no-ctrl | tail -n +2
