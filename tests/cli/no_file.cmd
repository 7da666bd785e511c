$W run
