$W run --help | head -n 1
