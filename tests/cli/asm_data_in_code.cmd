# Data that leave half an instruction; more zeros than a section may have.
printf '.target sm_86\n.kernel k\n.byte 1\n.section x\n' >$T/byte.sass
{ printf '.target sm_86\n.kernel k\n  EXIT ;\n.section .nv.constant3\n'; for i in 1 2; do echo .zero 67108864; done; } >$T/zero.sass
cd $T
for f in byte zero; do timeout 20 $W asm $f.sass -o x.cubin; echo $?; done
ls
