#!/usr/bin/env bash
# campaign.sh [--seed N] [--files N] [--count N] [--size FROM,TO] [--until HHMM] DIR: random kernels about divergence on the simulator.
#
# File after file of generate.py (a seed each, --count kernels), each kernel for five targets and on three inputs: as -O3, -O1, -G and without
# optimisation, one file of twenty also with time. DIR keeps the log, DIR/summary the runs, the kernels among them, and the runs
# that differed, faulted or hung, per target and mode; `campaign.sh --summary DIR` prints it again. Status 1 when a run failed. GPUS names
# others (87=jetson-orin,100=b200 …). Needs nvcc and numpy. Nearly all time is nvcc's: kernels share a file, since its headers cost as much as ten of them, and one PTX is
# made into the code of sm_80 and later; every fifth file has a PTX of its own for each target. A file that the compiler
# unrolls for minutes is halved until only what holds it up is left out.
set -u
cd "$(dirname "$0")/../.." || exit 2
BIN=${BIN:-build/warpstep} PYTHON=${PYTHON:-python3}
seed=1 files=1000000 count=48 size=2,5 until=''
summary() { # LOG: lines "sm_86 -O3  143 runs of 48 kernels, 0 differ, 0 faults or hangs  [runner]"
  awk '/ runs of / {
      match($0, /[0-9]+ runs/); key = substr($0, 1, RSTART - 1); gsub(/ +$/, "", key)
      if ($0 !~ /--functional/) key = key " timed"
      rest = substr($0, RSTART); split(rest, f, /[ ,]+/)
      runs[key] += f[1]; kernels[key] += f[4]; differ[key] += f[6]; fault[key] += f[8]
      all += f[1]; built += f[4]; bad += f[6] + f[8]
    }
    /^SLOW/ { slow++ }
    END {
      for (k in runs) printf "%-40s %6d kernels, %6d runs, %d differ, %d faults or hangs\n", k, kernels[k], runs[k], differ[k], fault[k] | "sort"
      close("sort")
      printf "%d kernels, %d runs, %d failed; %d parts of files left out, too slow to compile\n", built, all, bad, slow
      exit bad != 0
    }' "$1"
}
while [ $# -gt 1 ]; do
  case $1 in
  --seed) seed=$2 ;;
  --files) files=$2 ;;
  --count) count=$2 ;;
  --size) size=$2 ;;
  --until) until=$2 ;;
  --summary) summary "$2/log" && exit 0 || exit 1 ;;
  *) break ;;
  esac
  shift 2
done
[ $# -eq 1 ] || { sed -n '2s/^# //p' "$0" >&2; exit 2; }
out=$1
mkdir -p "$out" || exit 2
gpus=${GPUS:-75=rtx-2080ti,80=a100,86=rtx-3070,90=h100,120=rtx-5070ti}
IFS=, read -ra pairs <<<"$gpus"
archs=$(IFS=, && echo "${pairs[*]%%=*}")
# Of twenty files: mode, whether with cooperative groups (long code where nothing is optimised: fewer kernels), whether with time, too.
none='-Xcicc -O0 -Xptxas -O0'
plan=('-O3|0' '-O1|0' '-O3|1' '-G|0' '-O3|0' '-O1|1' "$none|0" '-O3|0' '-O1|0' '-O3|0|timed'
  '-O3|1' '-G|0' '-O3|0' '-O1|0' '-G|1' '-O3|0' "$none|0" '-O1|0' "$none|1" '-O3|0')
for ((n = 0; n < files; n++)); do
  [ -n "$until" ] && [ "$(date +%H%M)" -ge "$until" ] && break
  IFS='|' read -r mode cg timed <<<"${plan[$((n % ${#plan[@]}))]}"
  kernels=$count runners=(--runner "$BIN exec --gpu {gpu} --functional --quiet") share=(--share)
  case $cg$mode in 1-G | 1-X*) kernels=$((count / 4)) ;; esac
  [ "$timed" ] && runners+=(--runner "$BIN exec --gpu {gpu} --quiet")
  [ $((n % 5)) -eq 4 ] && share=()
  "$PYTHON" tools/divergence/generate.py --seed $((seed + n)) --count "$kernels" --cg "$cg" --inputs 3 --size "$size" --arch "$archs" \
    "${share[@]}" "--opt=$mode" --gpus "$gpus" "${runners[@]}" --out "$out" >>"$out/log" 2>&1
  rm -f "$out/s$((seed + n))".*
done
summary "$out/log" | tee "$out/summary"
exit "${PIPESTATUS[0]}"
