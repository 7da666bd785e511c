$W help asm
