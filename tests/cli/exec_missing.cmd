$W exec ./no-such-program
