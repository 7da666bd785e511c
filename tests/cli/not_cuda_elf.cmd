$W disasm "$W"
