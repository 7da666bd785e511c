#!/usr/bin/env bash
# Runs the corpus and the MUFU sampler on this machine's GPU and writes what was measured to
# data/silicon/GPU-DATE/. collect.sh [--device N] [OUTDIR]
#
# One JSON file per kernel (elapsed times, results of the checks, clocks, driver), mufu.csv and mufu's
# packed differences, and summary.csv over all kernels. KEEP="NAME..." keeps the buffers of these
# kernels, too (clock readings, for example). Nothing else should use the GPU meanwhile.
set -u
cd "$(dirname "$0")/../.." || exit 2

build=${BUILD:-build}
silicon=$build/silicon mufu=$build/mufu warpstep=$build/warpstep
device=0
[ "${1:-}" = --device ] && device=$2 && shift 2

for tool in "$silicon" "$mufu" "$warpstep"; do
    if [ ! -x "$tool" ]; then
        echo "collect.sh: $tool is missing; run 'make silicon refs' first" >&2
        exit 2
    fi
done
info=$("$silicon" --info --device "$device") || exit 2
sm=$(sed -n 's/.*sm_\([0-9]*\),.*/\1/p' <<<"$info")
gpu=$(sed 's/ sm_.*//; s/^NVIDIA //' <<<"$info" | tr 'A-Z ' 'a-z-' | tr -cd 'a-z0-9-')
out=${1:-data/silicon/$gpu-$(date -u +%Y-%m-%d)}
mkdir -p "$out" || exit 2
echo "collect.sh: $info -> $out"

scratch=$(mktemp -d) || exit 2
trap 'rm -rf "$scratch"' EXIT
failed=0
echo "kernel,status,time_ns_min,time_ns_median,sm_mhz" >"$out/summary.csv"
for launch in kernels/*/*.launch; do
    name=$(basename "$launch" .launch)
    keep=()
    [[ " ${KEEP:-} " == *" $name "* ]] && keep=(--out "$out/$name")
    # 0 and 1 both ran: a mismatch is a finding, and the JSON file says which
    "$silicon" "$launch" --device "$device" --repeat 20 --json "$out/$name.json" \
        ${keep[@]+"${keep[@]}"} 2>"$scratch/log"
    status=$?
    case $status in
    0) word=ok ;;
    1) word=mismatch failed=1 ;;
    *) word=failed failed=1 && sed "s/^/$name: /" "$scratch/log" >&2 ;;
    esac
    number() { sed -n "s/.*\"$1\": \([0-9]*\).*/\1/p" "$out/$name.json" 2>/dev/null | head -1; }
    echo "$name,$word,$(number time_ns_min),$(number time_ns_median),$(number sm_mhz)" \
        >>"$out/summary.csv"
done

case $sm in
80) preset=a100 ;;
86) preset=rtx-3070 ;;
90) preset=h200 ;;
*) preset= ;;
esac
if [ -n "$preset" ]; then
    sample=tools/silicon/mufu_sample.launch
    "$silicon" "$sample" --device "$device" --repeat 0 --out "$scratch/gpu" &&
        "$warpstep" run "$sample" --gpu "$preset" --functional --quiet --out "$scratch/model" &&
        "$mufu" pack "$scratch/gpu" "$scratch/model" "$out" &&
        gzip -9nf "$out"/*.delta || failed=1
else
    echo "collect.sh: sm_$sm has no preset: MUFU not compared" >&2
fi
echo "collect.sh: $(grep -c ',ok,' "$out/summary.csv") kernels match, $(grep -vc ',ok,' \
    <(tail -n +2 "$out/summary.csv")) do not"
exit $failed
