$W run tests/data/rdc_main.sm_86.cubin tests/data/object.sm_90.cubin --kernel rdc_few
