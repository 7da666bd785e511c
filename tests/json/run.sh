#!/usr/bin/env bash
# docs/json.md against what is printed: a set of runs that together print every key, in both directions (keys.py), and the same
# for a program under exec, which needs nvcc.
#
#   tests/json/run.sh      BIN: the program (build/warpstep), NVCC: the compiler
set -u
cd "$(dirname "$0")/../.." || exit 2
bin=${BIN:-build/warpstep}
program=$(realpath "$bin")
nvcc=${NVCC:-$(PATH=$PATH:/usr/local/cuda/bin command -v nvcc)}
t=$(mktemp -d) || exit 2
trap 'rm -rf "$t"' EXIT
passed=0 failed=0

verdict() { # NAME WHY
  if [ -z "$2" ]; then
    passed=$((passed + 1))
    echo "ok json $1"
  else
    failed=$((failed + 1))
    echo "not ok json $1: $(head -n 5 <<<"$2" | tr '\n' ';')"
  fi
}

vecadd=(kernels/vecadd/vecadd.sm_86.cubin --gpu rtx-3070 --quiet --block 64 --buf y:f32:64 --buf z:f32:64)
"$bin" run kernels/vecadd/vecadd.launch --no-check --quiet --json "$t/timed.json" --json-host
"$bin" run kernels/printf_demo/printf_demo.launch --functional --quiet --no-check --json "$t/functional.json" >/dev/null
"$bin" run "${vecadd[@]}" --json "$t/fault.json" --arg u64:0 --arg y --arg z --arg u32:64 2>/dev/null
(cd tests/data && "$program" run lines.sm_86.cubin --gpu rtx-3070 --kernel second --block 32 --quiet --buf in:f32:64 \
  --buf out:f32:64 --arg in --arg out --json "$t/lines.json" --html "$t/lines.html")
"$bin" run kernels/sort_bitonic/sort_bitonic.launch --no-check --quiet --annotate --json "$t/annotated.json" >/dev/null
head -c 256 /dev/zero >"$t/z.bin"
"$bin" run "${vecadd[@]}" --buf "x:f32:64:zero,expect=$t/z.bin" --json "$t/check.json" --arg x --arg y --arg z --arg u32:64
"$bin" run bench/limiters/spill_slow.launch --quiet --set gpu.sms=2 --json "$t/what_if.json" --what-if tail,barriers >/dev/null
"$bin" run kernels/bfs/bfs.launch --gpu rtx-3070 --no-check --quiet --json "$t/unknown.json" --what-if barriers >/dev/null
"$bin" asm tests/cli/spin.sass -o "$t/spin.cubin"
"$bin" run "$t/spin.cubin" --gpu rtx-3070 --quiet --block 96 --max-cycles 20000 --json "$t/stopped.json" 2>/dev/null
printf 'cubin = ("%s", "%s"); kernel = "rdc_all"; grid = [1]; block = [8];\n' \
  "$PWD/tests/data/rdc_main.sm_%d.cubin" "$PWD/tests/data/rdc_part.sm_%d.cubin" >"$t/linked.launch"
printf 'args = ( { buffer = "o"; }, { u32 = 1; } ); buffers = { o = { type = "i32"; count = 64; fill = "zero"; }; };\n' \
  >>"$t/linked.launch"
"$bin" run "$t/linked.launch" --functional --quiet --json "$t/linked.json"
verdict 'run' "$(tests/json/keys.py warpstep-run-1 "$t"/*.json)"

"$bin" trace export --out "$t/traces" kernels/vecadd/vecadd.launch >/dev/null
mkdir "$t/trace"
"$bin" trace import "$t/traces" --gpu rtx-3070 --json "$t/trace/trace.json" >/dev/null
verdict 'trace import' "$(tests/json/keys.py warpstep-trace-1 "$t"/trace/*.json)"

# A key that is missing in the table, or printed by nobody, is found.
sed 's/"mode":/"modus":/' "$t/timed.json" >"$t/trace/modus.json"
found=$(tests/json/keys.py warpstep-run-1 "$t/trace/modus.json")
missing=''
grep -q '^modus is printed, not documented' <<<"$found" || missing='a key without a row was not found'
grep -q '^mode is documented, not printed' <<<"$found" || missing+=' a row without a key was not found'
verdict 'the check finds both' "$missing"

if [ -z "$nvcc" ] || [ ! -f "$(dirname "$bin")/cuda/libwarpstep-cuda.so" ]; then
  echo "ok json exec # SKIP no nvcc, or no shim libraries beside $bin"
else
  mkdir "$t/exec"
  if "$nvcc" -arch=sm_86 -std=c++14 -o "$t/keys" tests/json/keys.cu 2>"$t/log" &&
    "$nvcc" -arch=sm_86 -std=c++14 -DPARENT -rdc=true -o "$t/parent" tests/json/keys.cu -lcudadevrt 2>"$t/log" &&
    "$nvcc" -arch=sm_86 -std=c++14 -o "$t/linked" tests/limiter/linked.cu 2>"$t/log" &&
    "$nvcc" -arch=sm_86 -std=c++14 -o "$t/polls" tests/polls/polls.cu 2>"$t/log"; then
    "$bin" exec --quiet --json "$t/exec/parent.json" "$t/parent" >/dev/null
    "$bin" exec --quiet --json "$t/exec/host_time.json" --host-time measured "$t/parent" >/dev/null
    "$bin" exec --quiet --json "$t/exec/all.json" "$t/keys" >/dev/null
    "$bin" exec --quiet --json "$t/exec/share.json" --share slices "$t/parent" >/dev/null
    "$bin" exec --quiet --json "$t/exec/spin.json" "$t/polls" flag >/dev/null
    "$bin" exec --quiet --json "$t/exec/strict.json" --spin strict "$t/polls" flag >/dev/null
    "$bin" exec --quiet --json "$t/exec/launches.json" --sample-launches 2 "$t/keys" >/dev/null 2>&1
    "$bin" exec --quiet --json "$t/exec/ctas.json" --sample-ctas 100 "$t/keys" >/dev/null 2>&1
    "$bin" exec --quiet --json "$t/exec/machine.json" --machine 2x-rtx-3090-nvlink "$t/keys" >/dev/null 2>&1
    "$bin" exec --quiet --json "$t/exec/links.json" --machine 2x-rtx-3090-nvlink "$t/linked" >/dev/null 2>&1
    verdict 'exec' "$(tests/json/keys.py warpstep-exec-1 "$t"/exec/*.json)"
    # By kernel in the table, too: shares of all issue slots and warp-cycles.
    "$bin" exec --report "$t/report" "$t/keys" >/dev/null
    why=''
    grep -q '^scale: [0-9]* launches, [0-9]* cycles$' "$t/report" || why="no line of scale: $(tail -n 3 "$t/report")"
    grep -qE '^  issue slots went to  [a-z_]+ [0-9.]+ %, ' "$t/report" || why+=' no slots'
    grep -qE '^  warps were in state  [a-z_]+ [0-9.]+ %, ' "$t/report" || why+=' no states'
    verdict 'stall breakdown of exec' "$why"
    why=$(python3 - "$t/exec/all.json" <<'P'
import json, sys
for l in json.load(open(sys.argv[1]))["launches"]:
    if "slot" in l and (l["slot"]["selected"] != l["warp_insts"] or l["warp_state"]["selected"] != l["warp_insts"]):
        print("launch", l["launch"], "issued", l["warp_insts"], "but", l["slot"]["selected"], l["warp_state"]["selected"])
P
)
    verdict 'every instruction of exec takes a slot' "$why"
  else
    verdict 'exec' "keys.cu: $(head -n 1 "$t/log")"
  fi
fi

# Bytes between the SMs of a cluster: three rounds of two copies of 1 KiB for each of twelve CTAs; a word for each value whose bin
# another CTA has.
traffic() {
  local k
  for k in cluster_copies cluster_histogram; do
    "$bin" run kernels/$k/$k.launch --gpu h200 --quiet --no-check --json "$t/$k.json" || echo "$k: status $?"
  done
  python3 - "$t" <<'P'
import json, struct, sys
def sent(name): return json.load(open(f"{sys.argv[1]}/{name}.json"))["stats"]["sm"]["cluster_bytes"]
values, bins, block, ctas, cluster = 20000, 2048, 256, 12, 4
x = struct.unpack(f"<{values}I", open("build/ref/cluster_histogram/x.bin", "rb").read())
away = sum(v % bins // (bins // cluster) != i % (ctas * block) // block % cluster for i, v in enumerate(x))
for name, bytes in ("cluster_copies", 12 * 3 * 2 * 1024), ("cluster_histogram", 4 * away):
    if sent(name) != bytes: print(name, "sent", sent(name), "bytes, not", bytes)
P
}
verdict 'bytes between the SMs of a cluster' "$(traffic)"

echo "json: $passed passed, $failed failed"
[ "$failed" -eq 0 ]
