$W isa --check
