#!/usr/bin/env bash
# CHAI and Rodinia on machines of a CPU and a GPU (docs/rv64.md): programs for the simulated CPU, whose results are checked, with
# copies on fused-rv64 and split-rv64 and on one memory on fused-rv64.
#
#   tools/compat/hetero.sh CHAI RODINIA WORK [NAME...]
#
# CHAI, RODINIA: folders of chai-benchmarks/chai and yuhc/gpu-rodinia; git clones of theirs are copied to WORK, where programs
# are built once. NAME: some of the programs. Prints a row for each run: program, memory, machine, "verified" or what is wrong,
# simulated us of the program and of its kernels. BIN names the simulator. CHAI programs compare their results with the CPU's;
# Rodinia's are held against hetero_check.py. Rodinia runs on one memory with one_memory.h. Exit status 1: something failed.
set -u
[ $# -ge 3 ] || { sed -n '2,/^set/{s/^# \{0,1\}//;/^set/d;p}' "$0" && exit 2; }
root=$(realpath "$(dirname "$0")/../..")
chai=$(realpath "$1") rodinia=$(realpath "$2")
mkdir -p "$3" && work=$(realpath "$3")
shift 3
BIN=$(realpath "${BIN:-$root/build/warpstep}")
export RVCC_DYNAMIC=1
failed=0

chai_programs='SC|-n 16384
PAD|-m 100 -n 99
TRNS|-m 64 -n 64 -s 32 -g 4 -t 0
HSTI|-n 16384
HSTO|-n 16384
RSCT|-m 32 -g 4
RSCD|-m 32 -g 4'

# name|folder|options and files|arguments. Options turn on what prints results.
rodinia_programs='pathfinder|pathfinder|-DBENCH_PRINT pathfinder.cu|2000 64 20
nw|nw|-DTRACEBACK needle.cu|128 10
lud|lud/cuda|-I ../common lud.cu lud_kernel.cu ../common/common.c|-s 64 -v
srad|srad/srad_v2|-DOUTPUT srad.cu|64 64 0 31 0 31 0.5 2
gaussian|gaussian|gaussian.cu|-s 32
bfs|bfs|bfs.cu|graph.txt'

# compile PROGRAM FOLDER OPTION...: in the sources' folder, unless it is there.
compile() {
  local program=$1 folder=$2
  shift 2
  [ -x "$program" ] || (cd "$folder" && "$root/tools/riscv/rvcc.sh" -arch=sm_86 -DcudaThreadSynchronize=cudaDeviceSynchronize \
    -diag-suppress 2464 -o "$program" "$@" >"$program.log" 2>&1)
}

# us FILE: of the program and of its kernels, from the run's JSON.
us() {
  python3 -c 'import json, sys
d = json.load(open(sys.argv[1]))
print(round(d["cpu"]["time_ps"] / 1e6), round(sum(k["end_ps"] - k["start_ps"] for k in d["launches"]) / 1e6, 1))' "$1" 2>/dev/null
}

# run NAME MEMORY MACHINE PROGRAM ARGUMENTS CHECK...: CHECK is given the output and the folder of the run.
run() {
  local name=$1 memory=$2 machine=$3 program=$4 arguments=$5 at=$work/run/$1.$2.$3 verdict
  shift 5
  mkdir -p "$at"
  if [ -d "$work/input/$name" ]; then cp -r "$work/input/$name/." "$at"; fi
  # shellcheck disable=SC2086
  (cd "$at" && timeout "${LIMIT:-900}" "$BIN" exec --quiet --machine "$machine-rv64" --json run.json "$program" $arguments >out 2>err </dev/null)
  local status=$?
  if [ $status -ne 0 ]; then verdict="exit status $status: $(tail -n 1 "$at/err")"; else verdict=$("$@" "$at/out" "$at") && verdict=verified; fi
  [ "$verdict" = verified ] || failed=1
  echo "$name | $memory | $machine | $verdict | $(us "$at/run.json")"
}

# shellcheck disable=SC2317  # these two are given to run
passed() { grep -q "^Test Passed" "$1" || { echo "no \"Test Passed\"" && return 1; }; }

# CUDA-U-Sim: one memory; CUDA-D: copies. On split the first cannot run.
run_chai() {
  local name=$1 arguments="$2 -w 0 -r 1" version option
  for version in D U-Sim; do
    [ -d "$work/chai/CUDA-$version/$name" ] || continue
    [ $version = D ] && option=-DCOPIES || option=-DCUDA_8_0
    compile "$work/bin/$name.$version" "$work/chai/CUDA-$version/$name" -std=c++17 $option -I. \
      kernel.cu kernel.cpp main.cpp || { echo "$name | $version | | does not compile: $work/bin/$name.$version.log" && failed=1 && continue; }
    # Inputs lie where the program is run from.
    mkdir -p "$work/input/$name"
    cp -r "$work/chai/CUDA-$version/$name/input" "$work/input/$name/" 2>/dev/null
    if [ $version = D ]; then
      run "$name" copies fused "$work/bin/$name.D" "$arguments" passed
      run "$name" copies split "$work/bin/$name.D" "$arguments" passed
    else run "$name" one fused "$work/bin/$name.U-Sim" "$arguments" passed; fi
  done
}

# shellcheck disable=SC2317
check_rodinia() { python3 "$root/tools/compat/hetero_check.py" "$1" "$3" "$4" "$2"; }

run_rodinia() {
  local name=$1 folder=$work/rodinia/cuda/$2 options=$3 arguments=$4
  # shellcheck disable=SC2086
  compile "$work/bin/$name.copies" "$folder" $options || { echo "$name | copies | | does not compile" && failed=1 && return; }
  # shellcheck disable=SC2086
  compile "$work/bin/$name.one" "$folder" -include "$root/tools/compat/one_memory.h" $options ||
    { echo "$name | one | | does not compile" && failed=1 && return; }
  run "$name" one fused "$work/bin/$name.one" "$arguments" check_rodinia "$name" "$folder"
  run "$name" copies fused "$work/bin/$name.copies" "$arguments" check_rodinia "$name" "$folder"
  run "$name" copies split "$work/bin/$name.copies" "$arguments" check_rodinia "$name" "$folder"
}

# Fields of cudaDeviceProp that CUDA 13 has not; results that gaussian prints only where its source says so; a graph.
prepare() {
  mkdir -p "$work/bin" "$work/input/bfs"
  [ -d "$work/chai" ] || cp -r "$chai" "$work/chai"
  [ -d "$work/rodinia" ] || cp -r "$rodinia" "$work/rodinia"
  sed -i -e 's/int verbose = 0/int verbose = 1/' -e '/deviceProp\. *\(clockRate\|deviceOverlap\)/d' "$work/rodinia/cuda/gaussian/gaussian.cu"
  python3 -c 'import random
random.seed(1)
n = 1024
edges = [sorted(random.sample(range(n), random.randrange(1, 6))) for _ in range(n)]
print(n)
start = 0
for e in edges:
    print(start, len(e))
    start += len(e)
print(0, start, sep="\n")
for e in edges:
    for v in e: print(v, 1)' >"$work/input/bfs/graph.txt"
}

wanted() {
  [ -z "$only" ] || [[ " $only " == *" $1 "* ]]
}

only=$*
prepare
while IFS='|' read -r name arguments; do
  if wanted "$name"; then run_chai "$name" "$arguments" </dev/null; fi
done <<<"$chai_programs"
while IFS='|' read -r name folder options arguments; do
  if wanted "$name"; then run_rodinia "$name" "$folder" "$options" "$arguments" </dev/null; fi
done <<<"$rodinia_programs"
exit $failed
