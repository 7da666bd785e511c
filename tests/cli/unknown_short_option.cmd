$W disasm -x
