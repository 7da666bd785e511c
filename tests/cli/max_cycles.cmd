$W asm tests/cli/spin.sass -o "$T/spin.cubin" || exit 9
# Stopped at the end of a window (at most a few hundred cycles late); the same for two threads.
for n in 1 2; do
  $W run "$T/spin.cubin" --gpu rtx-3070 --quiet --block 96 --max-cycles 50000 --threads $n \
    --json "$T/$n.json"
  echo "exit $?"
done
cmp "$T/1.json" "$T/2.json"
sed -n 's/^ *"cycles": \([0-9]*\),/\1/p' "$T/1.json" | awk '{ print ($1 >= 50000 && $1 < 51000) ? "in time" : $1 }'
