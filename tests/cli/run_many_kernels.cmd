$W run tests/data/fat.program --functional
