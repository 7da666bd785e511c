# A captured launch on the GPU it was captured on and on another, and its memory saved.
c=tests/exec/cases/reduce-0001-_Z6reducePKiiPiS1_.case
$W run $c --functional && $W run $c --gpu rtx-a6000 --out $T/o | grep Results && ls $T/o
