$W run tests/data/rdc_main.sm_90.cubin tests/data/object.sm_90.cubin --kernel rdc_few
