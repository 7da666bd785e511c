$W run tests/data/rdc.sm_86.cubin
