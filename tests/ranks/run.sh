#!/usr/bin/env bash
# GPUs of one machine in several processes (exec --ranks, docs/several-gpus.md): what a program prints, its table and its JSON are
# byte for byte those of one process, for 1, 2 and 4 of them; what is not served, and programs that do not do the same in
# all of them, are refused with one line. With MPI, too, where mpirun is there. Programs: program.cu, and those of
# tests/exec whose values and times go over links.
#
#   tests/ranks/run.sh    BIN: the program (build/warpstep), NVCC: the compiler
set -u
cd "$(dirname "$0")/../.." || exit 2

# shellcheck source=tests/processes.sh
. tests/processes.sh ranks

refused "without a machine" "--ranks are for the GPUs of a machine" --ranks 2
refused "no number" "mpi, or a number of processes" --ranks x --machine dgx-a100
refused "without time" "not with --functional" --ranks 2 --machine dgx-a100 --functional
refused "real time" "not with --host-time measured" --ranks 2 --machine dgx-a100 --host-time measured
refused "samples" "not with --sample-launches" --ranks 2 --machine dgx-a100 --sample-launches 3
refused "no mpirun" "not started by Open MPI" --ranks mpi --machine dgx-a100

lacking=$(lacks_programs)
if [ -n "$lacking" ]; then
  for name in programs refusals mpi; do echo "ok ranks $name # SKIP $lacking"; done
  exit $failed
fi
stubs=$(dirname "$nvcc")/../lib64/stubs
# build NAME SOURCE OPTION...
build() {
  "$nvcc" -arch=sm_80 -std=c++14 -L "$stubs" -o "$scratch/$1" "$2" "${@:3}" >"$scratch/log" 2>&1 ||
    not_ok "$1" "$(grep -m 1 error "$scratch/log")"
}
build program tests/ranks/program.cu -lcuda
build pair tests/exec/machine_pair.cu
build switch tests/exec/machine_switch.cu

# one RESULT MACHINE COMMAND...: how it ends, and what it says.
one() {
  timeout 300 "$bin" exec --machine "$2" --json "$scratch/$1.json" "${@:3}" >"$scratch/$1.out" 2>"$scratch/$1.err"
  echo "status $?" >>"$scratch/$1.out"
}
# The one process is the reference: it has to have got somewhere.
reference() { # NAME MACHINE WORD COMMAND...
  one "$1" "$2" "${@:4}"
  grep -q "$3" "$scratch/$1.out" || not_ok "$1" "$(tail -n 2 "$scratch/$1.out" | tr '\n' ' ')"
}
same() { # CASE NAME
  local kind
  for kind in out err json; do
    cmp -s "$scratch/$2.$kind" "$scratch/ranks.$kind" && continue
    not_ok "$1" "$kind: $(diff "$scratch/$2.$kind" "$scratch/ranks.$kind" | head -n 2 | tr '\n' ' ')"
    return
  done
  ok "$1"
}
compare() { # NAME MACHINE RANKS COMMAND...
  rm -f "$scratch/ranks.json"
  one ranks "$2" --ranks "$3" "${@:4}"
  same "$1 on $3" "$1"
}

two=2x-rtx-3090-nvlink
reference all $two "2 GPUs: right" "$scratch/program" all
compare all $two 1 "$scratch/program" all
compare all $two 2 "$scratch/program" all
reference fault $two cudaErrorIllegalAddress "$scratch/program" fault
compare fault $two 2 "$scratch/program" fault
reference pair $two "two GPUs: right" "$scratch/pair"
compare pair $two 2 "$scratch/pair"
reference switch dgx-a100 "eight GPUs: right" "$scratch/switch"
compare switch dgx-a100 2 "$scratch/switch"
compare switch dgx-a100 4 "$scratch/switch"

# says CASE LINE RANKS COMMAND...: one line on stderr, besides what is said of a kernel that fails.
says() {
  rm -f "$scratch/first"
  one ranks $two --quiet --ranks "$3" "${@:4}"
  if [ "$(grep -c "$2" "$scratch/ranks.err")" = 1 ] && [ "$(grep -c warpstep: "$scratch/ranks.err")" -le 1 ] &&
    ! grep -q "not seen" "$scratch/ranks.out"; then
    ok "$1"
  else
    not_ok "$1" "$(head -n 2 "$scratch/ranks.err" | tr '\n' ' ')"
  fi
}
says "managed memory" "managed memory with --ranks is not served" 2 "$scratch/program" managed
says "value in a GPU's memory" "waits for a value in the memory of a GPU with --ranks is not served" 2 "$scratch/program" wait
says "texture of another GPU" "not with --ranks" 2 "$scratch/program" texture
says "more than GPUs" "3 processes for 2 GPUs" 3 "$scratch/program" all
says "other launches" "does not do the same" 2 "$scratch/program" launch "$scratch/first"
says "other bytes" "does not do the same" 2 "$scratch/program" data "$scratch/first"
says "one ends" "has ended while others go on" 2 "$scratch/program" less "$scratch/first"

if ! command -v mpirun >/dev/null || ! mpirun --version 2>/dev/null | grep -q "Open MPI"; then
  echo "ok ranks mpi # SKIP no mpirun of Open MPI (Debian: openmpi-bin)"
else
  export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
  rm -f "$scratch/ranks.json"
  timeout 300 mpirun --oversubscribe -n 2 "$bin" exec --ranks mpi --machine $two --json "$scratch/ranks.json" \
    "$scratch/program" all >"$scratch/ranks.out" 2>"$scratch/ranks.err"
  echo "status $?" >>"$scratch/ranks.out"
  same "mpi on 2" all
fi
[ $failed -eq 0 ]
