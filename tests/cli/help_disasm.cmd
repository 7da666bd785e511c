$W help disasm
