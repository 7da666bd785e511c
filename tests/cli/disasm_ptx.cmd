$W disasm tests/data/fat.ptx.fatbin
