$W asm no/such.sass
