$W --frobnicate
