$W run tests/data/rdc_part.program tests/data/rdc_part.sm_86.cubin --kernel rdc_few
