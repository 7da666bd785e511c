#!/usr/bin/env bash
# Validation rows of group quick against their recorded errors; then that a model made slower is caught. BIN names the
# program. `--record` in the place of the test: warpstep validate --suite S --record, and say in the commit why errors grew.
set -u
cd "$(dirname "$0")/../.." || exit 2
bin=${BIN:-build/warpstep}
failed=0

verdict() { # STATUS NAME
  if [ "$1" -eq 0 ]; then echo "ok validate $2"; else
    echo "not ok validate $2"
    failed=1
  fi
}

"$bin" validate --quiet
verdict $? "quick rows within their recorded errors"

# Half the clock doubles nearly all times.
"$bin" validate --quiet --suite textbook-rtx-2080ti --only '^vector_add-262144$' --set gpu.clock_khz=700000 >/dev/null
[ $? -eq 1 ]
verdict $? "a worse model is refused"

# Several values of a parameter: a line for each, the error of half the clock far larger.
"$bin" validate --suite textbook-rtx-2080ti --only '^vector_add-262144$' --set gpu.clock_khz=1350000,700000 2>&1 |
  awk '/gpu.clock_khz=/ { e[++n] = $2 } END { exit !(n == 2 && e[2] > e[1] + 20) }'
verdict $? "a mean error for each setting"

# Tables of profilers, matched by kernel, grid and block with a program that runs twice.
built=$(mktemp -d) || exit 2
nvcc=${NVCC:-$(PATH=$PATH:/usr/local/cuda/bin command -v nvcc)}
if [ ! -x "$nvcc" ]; then
  echo "ok validate tables of profilers # SKIP no nvcc"
elif "$nvcc" -arch=sm_86 -std=c++14 -cudart shared -o "$built/two" tests/validate/two.cu; then
  for table in details:3 raw:2 trace:2 sum:2 own:2; do
    "$bin" validate --gpu rtx-3080 --data "tests/validate/tables/${table%:*}.csv" "$built/two" 2>/dev/null |
      awk -v n="${table#*:}" '/all, held out/ { right = $4 == n } END { exit !right }'
    verdict $? "table ${table%:*}"
  done
  "$bin" validate --gpu rtx-3080 --data tests/validate/tables/details.csv "$built/two" 2>/dev/null |
    grep -q '^  other.*no launch of that kernel, grid and block'
  verdict $? "a launch that did not happen"
else
  verdict 1 "two.cu compiles"
fi

# HeCBench's compiler finds its own headers and none of /usr/local/include.
clang=$(command -v "${CLANG:-clang++-19}")
if [ ! -x "$clang" ]; then
  echo "ok validate headers of HeCBench # SKIP no clang++-19"
else
  mkdir -p "$built/source/folders-cuda" "$built/toolkit"
  printf '#include <algorithm>\n#include <cmath>\n#include <cstdlib>\n#include <vector>\nstd::vector<double> v(1, std::sqrt(2.0));\n' \
    >"$built/source/folders-cuda/main.cpp"
  # shellcheck disable=SC2016 # make's own variable
  printf 'all:\n\t$(CC) -v -x c++ -fsyntax-only main.cpp 2>folders\n' >"$built/source/folders-cuda/Makefile"
  CLANG=$clang tools/validation/hecbench.sh "$built/source" "$built/toolkit" folders-cuda >"$built/said" &&
    grep -q '^ /usr/include' "$built/source/folders-cuda/folders" &&
    ! grep -q '^ /usr/local/include' "$built/source/folders-cuda/folders"
  verdict $? "headers of HeCBench"
fi
rm -rf "$built"

# docs/guesses.md lists every guess of a preset with the measurement that would settle it; a list that lacks one
# is refused.
guesses=tools/validation/guesses.py
"$guesses" --check
verdict $? "guesses are listed with their measurements"

# What was fitted once is never called held out again.
splits=tools/validation/splits.py
"$splits" --check
verdict $? "rows are fitted or held out as listed"

# The first table of docs/accuracy.md is what the recorded errors give.
summary=tools/validation/summary.py
"$summary" --check
verdict $? "the table of docs/accuracy.md is that of the recorded errors"

# So are its lines of published ladders. What a part of one takes by the published figure: by hand, 56.21 ms of 66 SMs are
# 56,210 * 24 / 4,096 * 66 / 2 us for 24 rows of 4,096 on two SMs; 15.8 % of 186.4 TFLOP/s of 108 SMs are 3,984 us for
# one head on eight (docs/accuracy.md); 59.92 TFLOP/s of 108 SMs are 2,293.7 us for 1,024 rows on 27.
tools/validation/ladders.py --check
verdict $? "lines of ladders are those of the recorded errors"
tools/validation/kernelbench.py --check
verdict $? "the table of PyTorch's operators is that of the recorded errors"
PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=tools/validation python3 - <<'END'
import sys
import ladders
WANT = {("product-4070ti-super", "v1"): 10868.7, ("attention-a100", "1"): 3984, ("bf16-a100", "v1"): 2293.7}
for (name, step), want in WANT.items():
    row = next(r for r in ladders.read_rows(ladders.DATA / f"{name}.csv")[1] if r["id"] == step)
    got = ladders.expected_us(ladders.LADDERS[name], row)
    if abs(got / want - 1) > 2e-4:
        sys.exit(f"{name} {step}: {got}, by hand {want}")
END
verdict $? "the time of a part of a ladder is that by hand"

tree=$(mktemp -d) || exit 2
trap 'rm -rf "$tree"' EXIT
mkdir -p "$tree/data/validation"
cp -r presets docs "$tree"
cp data/validation/settle.csv "$tree/data/validation"
refused() { # TEXT: the list is refused with these words
  "$guesses" --check --root "$tree" 2>&1 | grep -q "$1"
}
"$guesses" --check --root "$tree"
verdict $? "the same tree elsewhere"
sed -i '0,/doc: [^"]*/s//guess/' "$tree/presets/rtx-3070.cfg"
refused 'does not list the guesses\|no measurement for'
verdict $? "a guess that is not listed is refused"
sed -i '0,/"guess"/s//"guess"  /' "$tree/presets/rtx-3070.cfg"
refused 'values are tagged guess'
verdict $? "a guess of another form is refused"
cp presets/rtx-3070.cfg "$tree/presets"
echo 'nowhere.,none' >>"$tree/data/validation/settle.csv"
refused 'no guess begins with nowhere'
verdict $? "a measurement of nothing is refused"

cp data/validation/*.csv data/validation/*.suite "$tree/data/validation"
sed -i '/^[^,]*,fitted,/s/,fitted,/,held-out,/' "$tree/data/validation/tuning-rtx-a6000.csv"
"$splits" --check --root "$tree" | grep 'is called held-out and stands in fitted.csv' >/dev/null
verdict $? "a fitted row that comes back as held out is refused"
sed -n 's/^\(tuning-rtx-a6000,[^,]*\),.*/\1/p' data/validation/fitted.csv >>"$tree/data/validation/held-out.csv"
"$splits" --check --root "$tree" | grep 'what was fitted once is not held out' >/dev/null
verdict $? "so is one in both lists"

# Errors of 10, -20 and 30 % of 100, 200 and 300 us, and a fitted row of 50 %: mean 20.0 %, p90 28.0 %, in order.
toy=$tree/toy
mkdir -p "$toy/data/validation" "$toy/docs"
touch "$toy/data/validation/toy.suite"
printf '# a comment\nid,split,measured\na,held-out,100\nb,held-out,200\nc,held-out,300\nd,fitted,400\n' >"$toy/data/validation/toy.csv"
printf 'id,error_pct\na,10\nb,-20\nc,30\nd,50\n' >"$toy/data/validation/toy.recorded.csv"
# shellcheck disable=SC2016 # a document's own backticks
printf '| board | what | 3 | 20.0 %% | 28.0 %% | 1.000 | `--suite toy` |\n' >"$toy/docs/accuracy.md"
"$summary" --check --root "$toy"
verdict $? "a summary by hand"
sed -i 's/20.0/19.9/' "$toy/docs/accuracy.md"
"$summary" --check --root "$toy" | grep 'toy has 3, 19.9 %, 28.0 %, 1.000 .* the recorded errors give 3, 20.0 %' >/dev/null
verdict $? "a mean that was not updated is refused"
: >"$toy/docs/accuracy.md"
"$summary" --check --root "$toy" | grep 'no line of the suite toy' >/dev/null
verdict $? "a suite that the page lacks is refused"
exit $failed
