#!/usr/bin/env bash
# Pages of --html (run and exec): their data against reports, then in a headless Chromium what they show, by keyboard, in light, dark,
# narrow and printed (check.py says how). Without a browser those cases are skipped, and so are programs whose Python packages or
# shim libraries are missing.
#
#   tests/html/run.sh [FOLDER]     FOLDER keeps pages and pictures
#
# BIN names the program (build/warpstep), PYTHON an interpreter with Numba or Triton (python3). make refs must have run.
set -u
cd "$(dirname "$0")/../.." || exit 2
W=$(realpath "${BIN:-build/warpstep}")
root=$PWD
scratch=$(mktemp -d) || exit 2
trap 'rm -rf "$scratch"' EXIT
kept=${1:-$scratch/kept}
mkdir -p "$kept"
failed=0
export PYTHONDONTWRITEBYTECODE=1

# verdict NAME STATUS [WHY-SKIPPED]: with a reason it is a skipped case.
verdict() {
  if [ -n "${3:-}" ]; then echo "ok html $1 # SKIP $3"
  elif [ "$2" -eq 0 ]; then echo "ok html $1 $(sed -n 's/^# //p' "$scratch/said" | head -n 1)"; else
    echo "not ok html $1"
    sed 's/^/# /' "$scratch/said"
    failed=1
  fi
}
check() { python3 tests/html/check.py "$@" >"$scratch/said" 2>&1; }
no_browser=''
PYTHONPATH=tests/html python3 -c 'import browser, sys; sys.exit(not browser.find())' || no_browser='no Chromium'
# shown NAME CHECK ARGUMENT...: in the browser.
shown() {
  local name=$1
  shift
  [ -n "$no_browser" ] || check "$@"
  verdict "$name" $? "$no_browser"
}
page() { # NAME OPTION...
  local name=$1
  shift
  "$W" run "$@" --quiet --no-check --html "$kept/$name.html" --json "$kept/$name.json" >"$scratch/said" 2>&1
}

# Kernels: their data, without a browser, and what the page shows of it.
while read -r kernel gpu more; do
  # shellcheck disable=SC2086 # options
  page "$kernel" "kernels/$kernel/$kernel.launch" --gpu "$gpu" $more && check text "$kept/$kernel.html"
  verdict "$kernel on $gpu: one file" $?
  check data "$kept/$kernel.html" "$kept/$kernel.json"
  verdict "$kernel on $gpu: data" $?
  shown "$kernel on $gpu: tables" tables "$kept/$kernel.html" "$kept/$kernel.json"
done <<'END'
sgemm_tiled rtx-3070 --what-if l1_misses,launch,atomics
reduce_shfl a100
bfs rtx-3070
END
"$W" run kernels/sgemm_tiled/sgemm_tiled.launch --gpu rtx-3070 --quiet --no-check --what-if l1_misses,launch,atomics --threads 2 \
  --html "$scratch/two.html" >"$scratch/said" 2>&1 && cmp "$scratch/two.html" "$kept/sgemm_tiled.html" >"$scratch/said" 2>&1
verdict 'two host threads' $?

# Source lines, from a file in this folder that has the compiler's name of it and hostile text; so has the launch file's name.
hostile='</script><script>document.title="hacked"</script><img src=x onerror=document.title="hacked"><!--'
mkdir -p "$scratch/lines/<script>document.title='hacked'<"
for ((i = 1; i <= 40; i++)); do echo "  line $i; // $hostile"; done >"$scratch/lines/lines.cu"
printf '{"schema": "warpstep-run-1", "kernel": "%s", "launch": {}, "stats": {"%s": {"a": 1}, "gpu": {"cycles": 1}}, "gpu": {"parameters": {"sm.max_warps": {"value": "%s"}}}}' \
  "${hostile//\"/\\\"}" "${hostile//\"/\\\"}" "${hostile//\"/\\\"}" >"$scratch/lines/<script>document.title='hacked'</script><script>.json"
(cd "$scratch/lines" && "$W" run "$root/tests/data/lines.sm_86.cubin" --gpu rtx-3070 --kernel second --block 32 --buf in:f32:64:iota \
  --buf out:f32:64 --arg in --arg out --quiet --html "$kept/lines.html" --json "$kept/lines.json" \
  --html-baseline "<script>document.title='hacked'</script><script>.json") >"$scratch/said" 2>&1 &&
  check text "$kept/lines.html" && check data "$kept/lines.html" "$kept/lines.json"
verdict 'source lines, hostile text' $?
shown 'source lines, hostile text in the browser' hostile "$kept/lines.html"
shown 'source lines: tables' tables "$kept/lines.html" "$kept/lines.json"
shown 'by keyboard' keyboard "$kept/lines.html"
shown 'occupancy calculator' occupancy "$kept/sgemm_tiled.html" tests/data/occupancy.csv "$W"
shown 'light, dark, narrow, printed' looks "$kept/sgemm_tiled.html" "$kept"

# Another run to compare with, and a page as a build without the chart library writes it.
page compared kernels/sgemm_tiled/sgemm_tiled.launch --gpu rtx-3070 --set l1.perfect=true --html-baseline "$kept/sgemm_tiled.json"
shown 'baseline' tables "$kept/compared.html" "$kept/compared.json"
[ -n "$no_browser" ] || check changes "$kept/compared.html" "$kept/compared.json" "$kept/sgemm_tiled.json"
verdict 'what changed since the baseline' $? "$no_browser"
python3 - "$kept" <<'P'
import re, sys
text = open(sys.argv[1] + "/sgemm_tiled.html").read()
open(sys.argv[1] + "/plain.html", "w").write(re.sub(r"<script>.*?</script>", "<script></script>", text, count=1, flags=re.S))
P
shown 'without the chart library' tables "$kept/plain.html" "$kept/sgemm_tiled.json"

# Programs.
lacking=''
[ -f "$(dirname "$W")/cuda/libwarpstep-cuda.so" ] || lacking="no shim libraries beside $W"
ldd "$(dirname "$W")/cuda/libwarpstep-cuda.so" 2>/dev/null | grep -q 'lib[au]san' && lacking='a program without sanitizers cannot load these'
program() { # NAME PROGRAM...
  local name=$1
  shift
  timeout 900 "$W" exec --gpu rtx-3070 --quiet --json "$kept/$name.json" --html "$kept/$name.html" "$@" >"$scratch/said" 2>&1 &&
    check text "$kept/$name.html"
}
"${CC:-cc}" -std=gnu11 -o "$scratch/program" tests/timeline/program.c -ldl >"$scratch/said" 2>&1 || exit 2
[ -n "$lacking" ] || program program "$scratch/program" kernels/vecadd/vecadd.sm_86.cubin
verdict 'program' $? "$lacking"
[ -n "$lacking" ] || shown 'program: launches' launches "$kept/program.html" "$kept/program.json"

# More launches than a page shows: the longest is among those.
nvcc=${NVCC:-$(PATH=$PATH:/usr/local/cuda/bin command -v nvcc)}
why=$lacking
[ -n "$nvcc" ] || why='no nvcc'
[ -n "$why" ] || { "$nvcc" -arch=sm_86 -std=c++14 -lineinfo -o "$scratch/many" tests/html/many.cu >"$scratch/said" 2>&1 && program many "$scratch/many"; }
verdict 'many launches' $? "$why"
[ -n "$why" ] || check chosen "$kept/many.html" "$kept/many.json" 32
verdict 'many launches: which are shown' $? "$why"
[ -n "$why" ] || shown 'many launches in the browser' launches "$kept/many.html" "$kept/many.json"

# Two GPUs: what went over links, and launches that waited for it.
[ -n "$why" ] || { "$nvcc" -arch=sm_86 -std=c++14 -lineinfo -o "$scratch/linked" tests/limiter/linked.cu >"$scratch/said" 2>&1 &&
  "$W" exec --machine 2x-rtx-3090-nvlink --quiet --json "$kept/linked.json" --html "$kept/linked.html" "$scratch/linked" >"$scratch/said" 2>&1 &&
  check text "$kept/linked.html"; }
verdict 'two GPUs' $? "$why"
[ -n "$why" ] || check links "$kept/linked.html" "$kept/linked.json"
verdict 'two GPUs: links' $? "$why"
[ -n "$why" ] || { "$W" exec --machine 2x-rtx-3090-nvlink --quiet --threads 3 --html "$scratch/two.html" "$scratch/linked" >"$scratch/said" 2>&1 &&
  cmp "$scratch/two.html" "$kept/linked.html" >"$scratch/said" 2>&1; }
verdict 'two GPUs: three host threads' $? "$why"
[ -n "$why" ] || shown 'two GPUs: links in the browser' linked "$kept/linked.html" "$kept/linked.json"

python=${PYTHON:-$(command -v python3)}
export LD_LIBRARY_PATH=${CUDA:-/usr/local/cuda}/lib64${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
export CUDA_PATH=${CUDA:-/usr/local/cuda} NUMBA_CUDA_LOW_OCCUPANCY_WARNINGS=0
for script in tests/html/page_numba.py tests/clients/client_triton.py; do
  client=${script##*_} client=${client%.py} why=$lacking
  "$python" -c "import numpy, importlib.util as u, sys; sys.exit(not u.find_spec('$client'))" 2>/dev/null ||
    why="$python does not have it"
  [ -n "$why" ] || program "$client" "$python" -W ignore "$script"
  verdict "$client" $? "$why"
  [ -n "$why" ] || shown "$client: launches" launches "$kept/$client.html" "$kept/$client.json"
done
exit "$failed"
