$W asm tests/cli/spin.sass -o "$T/spin.cubin" || exit 9
# Also when the tests themselves run with SIGINT ignored. The limit ends it should the signal get lost.
env --default-signal=INT timeout --preserve-status --signal=INT 1 \
  $W run "$T/spin.cubin" --functional --quiet --block 96 --max-instructions 20000000000
