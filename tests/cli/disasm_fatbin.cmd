$W disasm tests/data/fat.program --kernel inner --no-ctrl
