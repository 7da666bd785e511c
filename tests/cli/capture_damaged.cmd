# Cut off, changed in the manifest, changed in a part, of another version.
c=tests/exec/cases/reduce-0001-_Z6reducePKiiPiS1_.case
head -c 3000 $c >$T/cut.case
sed 's/"shared":0/"shared":8/' $c >$T/changed.case
{ head -c -5 $c; printf 'xxxxx'; } >$T/part.case
sed 's/^warpstep-case 1/warpstep-case 9/' $c >$T/version.case
cd $T
for f in cut changed part version; do $W run $f.case --functional; echo $?; done
$W run none.case --functional; echo $?
