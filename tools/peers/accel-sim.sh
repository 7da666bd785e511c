#!/usr/bin/env bash
# Accel-Sim on the same work: launches are exported as traces, run by a local build of Accel-Sim with its
# SM86_RTX3070 configuration, and run by warpstep on rtx-3070. Prints the rows of docs/peers.md.
#
#   ACCELSIM=…/accel-sim-framework/gpu-simulator tools/peers/accel-sim.sh [KERNEL | FILE.launch]...
#
# ACCELSIM must have been built (its README; GPGPU-Sim beside it in gpgpu-sim). BIN names our program (build/warpstep),
# LIMIT the seconds that Accel-Sim may take for one kernel (600). Both programs use one thread; seconds are processor time in
# user mode, memory is the largest resident set. Without kernels: the list below. `make refs` must have run.
set -u
cd "$(dirname "$0")/../.." || exit 2
W=${BIN:-build/warpstep}
limit=${LIMIT:-600}
sim=${ACCELSIM:-}/bin/release/accel-sim.out
if [ ! -x "$sim" ]; then
  echo "tools/peers/accel-sim.sh: no $sim; set ACCELSIM to a built gpu-simulator folder" >&2
  exit 2
fi
kernels=("$@")
[ $# -gt 0 ] || kernels=(vecadd sgemm_tiled saxpy_loop reduce_shfl scan transpose_naive transpose_padded
  hist_shared stencil2d stencil3d heat2d conv2d layernorm softmax nbody mandelbrot spmv_vector spmv_scalar bfs
  sort_bitonic fft_radix2 attention_naive mma_f16 cp_async sha256 nqueens lu stream_triad load_loop monte_carlo_pi)
out=$(mktemp -d) || exit 2
trap 'rm -rf "$out"' EXIT
# The shell of its environment script adds the libraries' path only.
lib=$(dirname "$(find "$ACCELSIM/gpgpu-sim/lib" -name 'libcudart.so' | head -n 1)")
cp "$ACCELSIM"/gpgpu-sim/configs/tested-cfgs/SM86_RTX3070/* "$out"

measure() { # FILE COMMAND...: user seconds and KiB into FILE
  /usr/bin/time -o "$1" -f '%U %M' "${@:2}"
}

echo "| kernel | warp instructions | cycles: warpstep | Accel-Sim | seconds: warpstep | Accel-Sim | MB: warpstep | Accel-Sim |"
echo "|---|--:|--:|--:|--:|--:|--:|--:|"
for k in "${kernels[@]}"; do
  launch=$k name=$(basename "${k%.launch}")
  [ "$k" = "$name" ] && launch=kernels/$k/$k.launch
  "$W" trace export "$launch" --gpu rtx-3070 --out "$out/traces" >/dev/null || continue
  measure "$out/ours" "$W" run "$launch" --gpu rtx-3070 --hazards off --no-check --quiet \
    --json "$out/json" >/dev/null || continue
  if ! (cd "$out" && LD_LIBRARY_PATH=$lib measure theirs timeout "$limit" "$sim" -trace traces/kernelslist.g \
    -config gpgpusim.config -config "$ACCELSIM/configs/tested-cfgs/SM86_RTX3070/trace.config" >log 2>&1); then
    echo "| $name | | | fails: $(grep -m 1 -iE 'error|assert' "$out/log" | head -c 60) | | | | |"
    continue
  fi
  insts=$(sed -n 's/.*"warp_insts": \([0-9]*\).*/\1/p' "$out/json" | head -n 1)
  cycles=$(sed -n 's/.*"cycles": \([0-9]*\).*/\1/p' "$out/json" | head -n 1)
  their=$(sed -n 's/^gpu_tot_sim_cycle = \([0-9]*\).*/\1/p' "$out/log" | tail -n 1)
  awk -v k="$name" -v i="$insts" -v c="$cycles" -v t="$their" '
    {s[NR] = $1; m[NR] = $2 / 1024}
    END {printf "| %s | %d | %d | %d | %.2f | %.2f | %.0f | %.0f |\n", k, i, c, t, s[1], s[2], m[1], m[2]}' \
    <(tail -n 1 "$out/ours") <(tail -n 1 "$out/theirs")
done
