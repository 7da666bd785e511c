$W asm tests/cli/spin.sass -o "$T/spin.cubin" || exit 9
env --default-signal=INT timeout --preserve-status --signal=INT 1 \
  $W run "$T/spin.cubin" --gpu rtx-3070 --block 96 --max-cycles 2000000000 --threads 2
