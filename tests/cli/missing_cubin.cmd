$W run no/such.cubin --functional
