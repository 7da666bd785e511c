#!/usr/bin/env bash
# Some of the pairs of bench/limiters: the limiter of the slow version is named, and what its removal predicts is within 20 % of
# what the fast version takes (tools/limiter/pairs.py runs all). The expected cycles are those of another kernel.
#
#   tests/limiter/run.sh      BIN: the program (build/warpstep)
set -u
cd "$(dirname "$0")/../.." || exit 2
bin=${BIN:-build/warpstep}
passed=0 failed=0

verdict() { # NAME WHY
  if [ -z "$2" ]; then
    passed=$((passed + 1))
    echo "ok limiter $1"
  else
    failed=$((failed + 1))
    echo "not ok limiter $1: $(tail -n 4 <<<"$2" | tr '\n' ';')"
  fi
}

for pair in transpose_banks barrier tail contention occupancy aos_soa; do
  text=$(tools/limiter/pairs.py --bin "$bin" --check 1 "$pair" 2>&1) && text=''
  verdict "$pair" "$text"
done

text=$("$bin" run bench/limiters/barrier_slow.launch --quiet --what-if atomics)
why=''
grep -q 'not in this kernel: atomics' <<<"$text" || why="atomics in a kernel without: $text"
verdict 'nothing to leave out' "$why"

text=$("$bin" run bench/limiters/barrier_slow.launch --what-if barrier 2>&1)
status=$? why=''
[ $status -eq 2 ] || why="status $status is not 2"
grep -q "no cost 'barrier'; did you mean 'barriers'" <<<"$text" || why+=" no hint: $text"
verdict 'a misspelt cost' "$why"

# What removes nothing changes nothing: each ideal.* off is the machine of the preset.
a=$("$bin" run bench/limiters/contention_slow.launch --quiet --json - | grep '"cycles"' | head -n 1)
b=$("$bin" run bench/limiters/contention_slow.launch --quiet --set ideal.banks=true --set ideal.local=true --json - | grep '"cycles"' | head -n 1)
why=''
[ -n "$a" ] && [ "$a" = "$b" ] || why="$a, but $b without bank conflicts and local memory, which it has not"
verdict 'costs that are not there' "$why"

echo "limiter: $passed passed, $failed failed"
[ "$failed" -eq 0 ]
