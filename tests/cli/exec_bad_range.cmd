$W exec --time-kernels 7..3 ./no-such-program
