printf '.target sm_86\n.kernel k\n  [S01] FADDD R1, R2, R3 ;\n' > $T/k.sass
cd $T && $W asm k.sass
