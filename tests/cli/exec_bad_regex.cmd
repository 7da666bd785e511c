$W exec --time-kernels "(" ./no-such-program
