# ptxas joins loads of neighbouring shared variables to one of 16 bytes, which may reach into the padding behind the last: no
# finding. A load that begins there, and a store into it, are findings.
kernel() { # NAME INSTRUCTION
  printf '.kernel %s\n.shared 12\n  MOV R4, RZ ;\n  %s ;\n  EXIT ;\n' "$1" "$2"
}
{
  echo '.target sm_86'
  kernel joined 'LDS.128 R4, [RZ]'
  kernel wide 'LDS.64 R4, [RZ+0x10]'
  kernel behind 'LDS R4, [RZ+0xc]'
  kernel stored 'STS.128 [RZ], R4'
} >"$T/padding.sass"
$W asm "$T/padding.sass" -o "$T/padding.cubin" --schedule rtx-3070 || exit
for name in joined wide behind stored; do
  $W run "$T/padding.cubin" --kernel $name --grid 1 --block 1 --gpu rtx-3070 --check memcheck --quiet 2>&1 |
    grep -E 'Invalid|SUMMARY'
done
true
