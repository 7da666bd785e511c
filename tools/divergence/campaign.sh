#!/usr/bin/env bash
# campaign.sh [--seed N] [--files N] [--count N] [--size FROM,TO] [--until HHMM] DIR: random kernels about divergence on the simulator.
#
# File after file of generate.py (a seed each, --count kernels), for five targets, in turn as -O3, -O1, -G, without optimisation
# and as -O3 with time. DIR keeps the log, DIR/summary the kernels that ran, differed, or faulted or hung, per target and
# mode; `campaign.sh --summary DIR` prints it again. Status 1 when a kernel failed. Needs nvcc and numpy; nearly all time is nvcc's, so
# that files are small (a kernel that the compiler unrolls for minutes holds up only its own) and compiled once per target.
set -u
cd "$(dirname "$0")/../.." || exit 2
BIN=${BIN:-build/warpstep} PYTHON=${PYTHON:-python3}
seed=1 files=1000000 count=16 size=2,5 until=''
summary() { # LOG: lines "sm_86 -O3  16 kernels, 0 differ, 0 faults or hangs  [runner]"
  awk '/ kernels, / {
      match($0, /[0-9]+ kernels/); key = substr($0, 1, RSTART - 1); gsub(/ +$/, "", key)
      if ($0 !~ /--functional/) key = key " timed"
      rest = substr($0, RSTART); split(rest, f, /[ ,]+/)
      ran[key] += f[1]; differ[key] += f[3]; fault[key] += f[5]
      all += f[1]; bad += f[3] + f[5]
    }
    /^SLOW/ { slow++ }
    END {
      for (k in ran) printf "%-40s %6d kernels, %d differ, %d faults or hangs\n", k, ran[k], differ[k], fault[k] | "sort"
      close("sort")
      printf "%d runs, %d failed; %d files left out, too slow to compile\n", all, bad, slow
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
gpus=75=rtx-2080ti,80=a100,86=rtx-3070,90=h100,120=rtx-5070ti
modes=(-O3 -O1 -G '-Xcicc -O0 -Xptxas -O0' -O3 timed)
for ((n = 0; n < files; n++)); do
  [ -n "$until" ] && [ "$(date +%H%M)" -ge "$until" ] && break
  mode=${modes[$((n % ${#modes[@]}))]} runners=(--runner "$BIN exec --gpu {gpu} --functional --quiet")
  if [ "$mode" = timed ]; then
    mode=-O3 runners+=(--runner "$BIN exec --gpu {gpu} --quiet")
  fi
  "$PYTHON" tools/divergence/generate.py --seed $((seed + n)) --count "$count" --size "$size" --arch 75,80,86,90,120 \
    "--opt=$mode" --gpus "$gpus" "${runners[@]}" --out "$out" >>"$out/log" 2>&1
  rm -f "$out/s$((seed + n))".*
done
summary "$out/log" | tee "$out/summary"
exit "${PIPESTATUS[0]}"
