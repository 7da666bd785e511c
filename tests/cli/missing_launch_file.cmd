$W run no/such.launch --functional
