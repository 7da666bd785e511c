$W isa
