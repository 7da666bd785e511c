$W run tests/data/fat.ptx.fatbin --gpu rtx-3070 --functional --arg u64:0 --arg u32:4
