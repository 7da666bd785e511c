$W asm
