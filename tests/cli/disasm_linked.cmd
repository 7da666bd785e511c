$W disasm tests/data/rdc_main.sm_86.cubin tests/data/rdc_part.sm_86.cubin --no-ctrl
