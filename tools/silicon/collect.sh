#!/usr/bin/env bash
# Runs the corpus and the MUFU sampler on this machine's GPU and writes what was measured to data/silicon/GPU-DATE/.
#
#   collect.sh [--device N] [--dry-run PRESET] [OUTDIR]
#
# One JSON file per kernel (elapsed times, results of the checks, clocks, driver), mufu.csv and mufu's packed differences,
# and summary.csv over all kernels. What OUTDIR already has is not run again, so a run that was stopped can be resumed;
# after LIMIT seconds (480) no kernel is started any more. KEEP="NAME..." keeps the buffers of these kernels, too (clock
# readings, for example), ONLY="NAME..." runs only these. --dry-run needs no GPU: the simulator's driver stands in, as PRESET.
# Nothing else should use the GPU meanwhile. Status: 0 all match, 1 something does not, 2 it cannot run, 3 stopped by LIMIT.
set -u
cd "$(dirname "$0")/../.." || exit 2

build=${BUILD:-build}
silicon=$build/silicon mufu=$build/mufu warpstep=$build/warpstep
device=0 driver=() repeat=20 limit=${LIMIT:-480} per_kernel=60
while :; do
    case ${1:-} in
    --device) device=$2 && shift 2 ;;
    --dry-run) driver=("$warpstep" exec --functional --quiet --gpu "$2") repeat=1 && shift 2 ;;
    *) break ;;
    esac
done

for tool in "$silicon" "$mufu" "$warpstep"; do
    if [ ! -x "$tool" ]; then
        echo "collect.sh: $tool is missing; run 'make silicon refs' first" >&2
        exit 2
    fi
done
on_gpu() { timeout "$per_kernel" ${driver[@]+"${driver[@]}"} "$silicon" "$@" --device "$device"; }

info=$(on_gpu --info) || exit 2
sm=$(sed -n 's/.*sm_\([0-9]*\),.*/\1/p' <<<"$info")
gpu=$(sed 's/ sm_.*//; s/^NVIDIA //' <<<"$info" | tr 'A-Z ' 'a-z-' | tr -cd 'a-z0-9-')
out=${1:-data/silicon/$gpu-$(date -u +%Y-%m-%d)}
mkdir -p "$out" || exit 2
scratch=$(mktemp -d) || exit 2
trap 'rm -rf "$scratch"' EXIT
stopped=0 failed=0

wanted=()
for launch in kernels/*/*.launch; do
    name=$(basename "$launch" .launch)
    [[ -z ${ONLY:-} || " $ONLY " == *" $name "* ]] && wanted+=("$launch")
done
echo "collect.sh: $info -> $out, ${#wanted[@]} kernels, $(find "$out" -name '*.json' | wc -l) of them measured before"

# time_left: whether another measurement may start; bash counts SECONDS from its own start.
time_left() {
    [ "$SECONDS" -lt "$limit" ] && return
    stopped=1
    return 1
}

# measure LAUNCH: 0 and 1 of the program both ran: a mismatch is a finding, and the JSON file says which. It gets its name
# when it is complete.
measure() {
    local launch=$1 name keep=()
    name=$(basename "$launch" .launch)
    [[ " ${KEEP:-} " == *" $name "* ]] && keep=(--out "$out/$name")
    on_gpu "$launch" --repeat "$repeat" --json "$scratch/json" ${keep[@]+"${keep[@]}"} >"$scratch/out" 2>"$scratch/log"
    case $? in
    0 | 1) mv "$scratch/json" "$out/$name.json" ;;
    4) sed 's/^silicon: //' "$scratch/log" >"$out/$name.skipped" ;; # this GPU has no such code, or the tool cannot
    *) sed "s/^/$name: /" "$scratch/log" >&2 ;;
    esac
}

for launch in "${wanted[@]}"; do
    name=$(basename "$launch" .launch)
    if [ -f "$out/$name.json" ] || [ -f "$out/$name.skipped" ]; then continue; fi
    time_left || break
    measure "$launch"
done

number() { sed -n "s/.*\"$1\": \([0-9]*\).*/\1/p" "$2" | head -1; }
{
    echo "kernel,status,time_ns_min,time_ns_median,sm_mhz"
    for launch in "${wanted[@]}"; do
        name=$(basename "$launch" .launch)
        json=$out/$name.json
        if [ -f "$out/$name.skipped" ]; then
            echo "$name,skipped,,,"
        elif [ ! -f "$json" ]; then
            [ $stopped -eq 0 ] && echo "$name,failed,,,"
        else
            word=mismatch
            grep -q '"status": "ok"' "$json" && word=ok
            echo "$name,$word,$(number time_ns_min "$json"),$(number time_ns_median "$json"),$(number sm_mhz "$json")"
        fi
    done
} >"$out/summary.csv"
grep -qE ',(mismatch|failed),' "$out/summary.csv" && failed=1

case $sm in
75) preset=rtx-2080ti ;;
80) preset=a100 ;;
86) preset=rtx-3070 ;;
90) preset=h200 ;;
100) preset=b200 ;;
120) preset=rtx-5070ti ;;
*) preset= ;;
esac
sample=tools/silicon/mufu_sample.launch
if [ -z "$preset" ]; then
    echo "collect.sh: sm_$sm has no preset: MUFU not compared" >&2
elif [ -z "${ONLY:-}" ] && [ ! -f "$out/mufu.csv" ] && time_left; then
    on_gpu "$sample" --repeat 0 --out "$scratch/gpu" &&
        "$warpstep" run "$sample" --gpu "$preset" --functional --quiet --out "$scratch/model" &&
        "$mufu" pack "$scratch/gpu" "$scratch/model" "$out" &&
        gzip -9nf "$out"/*.delta || failed=1
fi
rows() { grep -cE "$1" "$out/summary.csv"; }
echo "collect.sh: $(rows ',ok,') kernels match, $(rows ',(mismatch|failed),') do not," \
    "$(rows ',skipped,') cannot run here, after $SECONDS s"
if [ $stopped -eq 1 ]; then
    echo "collect.sh: stopped after $limit s; the same command goes on where it stopped" >&2
    exit 3
fi
exit $failed
