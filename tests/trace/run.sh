#!/usr/bin/env bash
# Traces: what export writes, import times. With the cubin beside it a trace takes exactly the cycles of the run it came
# from (kernels without spinning: a trace has as many turns of a loop as the run without time had); without, it runs to
# the end with the same instructions. BIN names the program. `make refs` must have run.
set -u
cd "$(dirname "$0")/../.." || exit 2
W=${BIN:-build/warpstep}
out=$(mktemp -d) || exit 2
trap 'rm -rf "$out"' EXIT
failed=0

verdict() { # STATUS NAME
  if [ "$1" -eq 0 ]; then
    echo "ok trace $2"
  else
    failed=$((failed + 1))
    echo "not ok trace $2"
    cat "$out/log"
  fi
}

field() { # NAME JSON: its first number
  sed -n "s/.*\"$1\": \([0-9]*\).*/\1/p" "$2" | head -n 1
}

round_trip() { # KERNEL FORM GPU SM
  local k=$1 dir=$out/$1-$2
  {
    "$W" trace export "kernels/$k/$k.launch" --gpu "$3" --out "$dir" --format "$2" &&
      "$W" trace import "$dir" --gpu "$3" --cubin "kernels/$k/$k.sm_$4.cubin" --json "$out/import" &&
      "$W" run "kernels/$k/$k.launch" --gpu "$3" --hazards off --no-check --quiet --json "$out/run" &&
      "$W" trace import "$dir" --gpu "$3" --json "$out/guess"
  } >"$out/log" 2>&1 || return 1
  local insts cycles
  insts=$(field warp_insts "$out/run")
  cycles=$(field cycles "$out/run")
  {
    echo "run: $insts instructions, $cycles cycles"
    echo "import: $(field warp_insts "$out/import"), $(field cycles "$out/import")"
    echo "without cubin: $(field warp_insts "$out/guess")"
  } >"$out/log"
  [ "$insts" ] && [ "$insts" = "$(field warp_insts "$out/import")" ] &&
    [ "$cycles" = "$(field cycles "$out/import")" ] && [ "$insts" = "$(field warp_insts "$out/guess")" ]
}

for k in vecadd sgemm_tiled divergence nqueens local_array generic_ptr mma_f16 cp_async scan; do
  round_trip $k xz rtx-3070 86
  verdict $? "$k, xz"
done
round_trip reduce_shfl text rtx-3070 86
verdict $? "reduce_shfl, text"
round_trip nbody tracez rtx-3070 86
verdict $? "nbody, tracez"
round_trip vecadd tracez a100 80
verdict $? "vecadd on a100, tracez"

# The code beside the trace must be the code that was traced.
"$W" trace import "$out/vecadd-xz" --cubin kernels/scan/scan.sm_86.cubin >"$out/log" 2>&1
[ $? -eq 2 ]
verdict $? "another kernel's cubin is refused"

# Generic loads of a whole warp in one window are loads of that memory; one whose lanes lie in two windows, or nowhere, is
# no load of global memory.
cat >"$out/windows.traceg" <<'END'
-kernel name = windows
-nregs = 16
-binary version = 86
-shmem base_addr = 0x7f0000000000
-local mem base_addr = 0x7f0100000000
-accelsim tracer version = 5
-grid dim = (1,1,1)
-block dim = (32,1,1)

#traces format = x
#BEGIN_TB

thread block = 0,0,0
warp = 0
insts = 5
0000 ffffffff 1 R4 LD.E 1 R2 4 1 0x7f0000000000 4
0010 ffffffff 1 R5 LD.E 1 R2 4 1 0x7f0100000000 0
0020 00000003 1 R6 LD.E 1 R2 4 0 0x7f0000000010 0x7f0100000010
0030 00000003 1 R7 LD.E 1 R2 0
0040 ffffffff 0 EXIT 0 0

#END_TB
END
"$W" trace import "$out/windows.traceg" --json "$out/windows" >"$out/log" 2>&1 &&
  python3 - "$out/windows" >>"$out/log" 2>&1 <<'END'
import json, sys
sm = json.load(open(sys.argv[1]))["kernels"][0]["sm"]
loads = {k: v for k, v in sm["mem_class"].items() if v}
print(loads)
assert loads == {"shared_ld": 1, "local_ld": 1}, loads
END
verdict $? "windows of generic loads"

lines=$(xz -dc "$out/vecadd-xz/kernel-1.traceg.xz" | grep -c '^[0-9a-f]\{4\} ')
said=$(xz -dc "$out/vecadd-xz/kernel-1.traceg.xz" | awk '/^insts = / {n += $3} END {print n}')
echo "$lines lines, $said announced" >"$out/log"
[ "$lines" = "$said" ]
verdict $? "warps announce their lines"

# A whole program: as many traces as launches, the copies in between.
nvcc=${NVCC:-$(PATH=$PATH:/usr/local/cuda/bin command -v nvcc)}
if [ -x "$nvcc" ] && [ -f "$(dirname "$W")/cuda/libwarpstep-cuda.so" ]; then
  {
    "$nvcc" -arch sm_86 -std=c++14 -cudart shared -o "$out/app" tests/exec/convolution.cu &&
      "$W" exec --gpu rtx-3070 --trace "$out/program" --quiet "$out/app" &&
      "$W" trace import "$out/program" --gpu rtx-3070 --cubin "$out/app"
  } >"$out/log" 2>&1 && [ "$(grep -c '^kernel-' "$out/program/kernelslist.g")" -eq \
    "$(grep -c '^_Z' "$out/log")" ] && grep -q '^MemcpyHtoD,0x' "$out/program/kernelslist.g"
  verdict $? "a program under exec"
else
  echo "ok trace a program under exec # SKIP no nvcc or no shim libraries"
fi
[ $failed -eq 0 ]
