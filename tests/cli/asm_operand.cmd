printf '.target sm_86\n.kernel k\n  [S01] FADD R1, R2 ;\n' > $T/k.sass
cd $T && $W asm k.sass -o k.cubin
