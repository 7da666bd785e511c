#!/usr/bin/env bash
# CUDA programs of the simulated RISC-V CPU (docs/rv64.md): own ones (tests/rv64_cuda/programs/*.cu) on the machines fused-rv64,
# split-rv64 and c2c-rv64, and programs of tests/exec, which check themselves. They come compiled (tests/rv64_cuda/build.sh); one
# is compiled here where nvcc is.
#
#   tests/rv64_cuda/run.sh [NAME...]    BIN: the program (build/warpstep)
#
# NAME: of tests/rv64_cuda/prebuilt. Needs the C library of Debian's cross compiler for RISC-V, xz; else every test is
# skipped.
set -u
cd "$(dirname "$0")/../.." || exit 1

BIN=${BIN:-build/warpstep}
NVCC=${NVCC:-$(PATH=$PATH:/usr/local/cuda/bin command -v nvcc)}
export NVCC WARPSTEP_RISCV=${WARPSTEP_RISCV:-$(dirname "$BIN")/riscv64}
LIMIT="timeout -k 1 ${RV64_LIMIT:-120}"
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
failed=0

lacking=
[ -e /usr/riscv64-linux-gnu/lib/libc.so.6 ] || lacking="no C library for RISC-V"
command -v xz >/dev/null || lacking="no xz"

# verdict NAME STATUS: ok when STATUS is 0.
verdict() {
  if [ "$2" -eq 0 ]; then echo "ok $1"; else
    echo "not ok $1"
    failed=1
  fi
}

unpack() {
  for name in "$@"; do
    if xz -dc "tests/rv64_cuda/prebuilt/$name.xz" >"$out/$name"; then chmod +x "$out/$name"; else verdict "unpack $name" 1; fi
  done
}

on() {
  local machine=$1
  shift
  $LIMIT "$BIN" exec --quiet --machine "$machine-rv64" "$@" </dev/null
}

# passes NAME MACHINE [ARGUMENT...]: it ends well, and says and reports the same again with two threads.
passes() {
  local name=$1 machine=$2 threads status=0
  shift 2
  for threads in 1 2; do
    on "$machine" --threads $threads --json "$out/now.json" "$out/$name" "$@" >"$out/now" 2>&1 || status=1
    [ -e "$out/first" ] || { mv "$out/now" "$out/first" && mv "$out/now.json" "$out/first.json" && continue; }
    cmp "$out/first" "$out/now" 2>&1 && cmp "$out/first.json" "$out/now.json" 2>&1 || status=1
  done
  [ "$(tail -n 1 "$out/first")" = PASS ] || status=1
  [ $status -eq 0 ] || cat "$out/first"
  rm -f "$out"/first*
  verdict "$name on $machine $*" $status
}

# Four cores and eight SMs at work at once, on one, two and three threads: the same text and report, by each protocol.
beside() {
  local protocol threads status
  unpack busy
  for protocol in mi mesi hammer vi_hammer hsc; do
    sed "s/protocol = (\"hsc\"/protocol = (\"$protocol\"/" presets/machines/fused-rv64.cfg >"$out/busy-rv64"
    status=0
    for threads in 1 2 3; do
      on "$out/busy" --set gpu.sms=8 --threads $threads --json "$out/busy$threads.json" "$out/busy" 96 32 >"$out/busy$threads" 2>&1 || status=1
      [ "$(tail -n 1 "$out/busy$threads")" = PASS ] || status=1
      cmp "$out/busy1" "$out/busy$threads" 2>&1 && cmp "$out/busy1.json" "$out/busy$threads.json" 2>&1 || status=1
    done
    [ $status -eq 0 ] || cat "$out/busy1"
    verdict "four cores beside eight SMs under $protocol" $status
  done
}

# well COMMAND...: it ends with 0, PASS its last line.
well() {
  "$@" >"$out/text" 2>&1 </dev/null && [ "$(tail -n 1 "$out/text")" = PASS ]
}

# once NAME MACHINE [ARGUMENT...]: it ends well.
once() {
  local name=$1 machine=$2
  shift 2
  well on "$machine" "$out/$name" "$@"
  verdict "$name on $machine $*" $?
}

# ends NAME MACHINE STATUS PATTERN ARGUMENT: one line on stderr, and this exit status.
ends() {
  local name=$1 machine=$2 expected=$3 pattern=$4 status
  shift 4
  on "$machine" "$out/$name" "$@" >"$out/text" 2>&1
  status=$?
  [ $status -eq "$expected" ] && [ "$(wc -l <"$out/text")" -eq 1 ] && grep -qE "$pattern" "$out/text"
  status=$?
  [ $status -eq 0 ] || cat "$out/text"
  verdict "$name on $machine ends: $*" $status
}

own() {
  local machine apart='memory of the GPU, which this machine.s CPU does not reach'
  unpack flags overlap threads functions symbols hostile pointers printing sharing
  for name in flags overlap threads functions symbols hostile printing sharing; do passes $name fused; done
  passes flags c2c
  passes sharing c2c
  for name in flags overlap threads functions symbols hostile sharing; do once $name split; done
  passes sharing fused own
  passes sharing c2c own
  once pointers fused shared
  once pointers c2c shared
  once pointers split apart
  ends hostile split 139 "SIGSEGV: load at address 0x[0-9a-f]+, $apart, at pc .*fatal" load
  ends hostile split 139 "SIGSEGV: store at address 0x[0-9a-f]+, $apart, at pc .*cudaMalloc" device
  ends hostile fused 139 'SIGSEGV: store at address 0x123, at pc 0x[0-9a-f]+ \(cudaMalloc' out
  ends hostile fused 139 'SIGSEGV: store at address 0xffffffffffffffff, at pc' top
  ends hostile fused 139 'SIGSEGV: store at address 0x[0-9a-f]+ not allowed, at pc' text
  ends hostile fused 139 'SIGSEGV: load at address 0x10, at pc 0x[0-9a-f]+ \(cudaLaunchKernel' args
  ends hostile fused 139 'SIGSEGV: load at address 0x8, at pc 0x[0-9a-f]+ \(cudaLaunchKernel' array
  ends hostile fused 139 'SIGSEGV: load at address 0x10, at pc .*fatal' name
  ends hostile fused 139 'SIGSEGV: load at address 0x7fff00000000, at pc' far
}

# Protocols and numbers of cores make no difference but in time. The machine's name ends in -rv64.
variants() {
  local protocol
  for protocol in mi mesi hammer vi_hammer; do
    sed "s/protocol = (\"hsc\"/protocol = (\"$protocol\"/" presets/machines/fused-rv64.cfg >"$out/$protocol-rv64"
    well on "$out/$protocol" "$out/sharing" own
    verdict "sharing under $protocol" $?
  done
}

# value FILE KEY: of a machine.
value() { sed -nE "s/^ *$2 *= \(([0-9]+),.*/\1/p" "$1"; }

# A line that the other side has costs its way through the home, by the machine's parameters: in cycles of a core (32 bytes of a link in
# each; requests and data pass between the clusters, 8, 8 and 72 bytes) what the core waits longer than for a line of its own; and
# for the GPU, which is heard in the next turn, as told in the turn behind it, up to two turns more (80 cycles of an SM each).
# Under hammer a core waits for memory's answer, too.
probes() {
  local protocol gpu file=$out/probes-rv64 key at l2 home hop memory core sm status
  unpack probes
  for protocol in hsc mi mesi hammer vi_hammer; do
    for gpu in 20 120; do
      sed "s/protocol = (\"hsc\"/protocol = (\"$protocol\"/; s/gpu_cycles = (20/gpu_cycles = ($gpu/" presets/machines/fused-rv64.cfg >"$file"
      l2=$(value "$file" l2_cycles) home=$(value "$file" home_cycles) hop=$(value "$file" hop_cycles) memory=$(value "$file" memory_latency_ns)
      core=$((2 * l2 + 5 * hop + home + gpu)) sm=$(((2 * gpu + home + l2 + 5 * hop) * 13 / 20))
      case $protocol in *hammer) [ $((l2 + 4 * hop + home + 2 * memory + l2)) -lt $core ] || core=$((2 * l2 + 4 * hop + home + 2 * memory)) ;; esac
      well on "$out/probes" "$out/probes"
      status=$?
      declare -A got=()
      while read -r key at; do got[$key]=$at; done <"$out/text"
      at=$((got[cpu-behind-gpu] - got[cpu-own]))
      if [ $at -lt $core ] || [ $at -gt $((core + 3)) ]; then status=1 && echo "# a core: $at, not $core"; fi
      at=$((got[gpu-behind-cpu] - got[gpu-own]))
      if [ $at -lt $sm ] || [ $at -gt $((sm + 160)) ]; then status=1 && echo "# the GPU: $at, not $sm"; fi
      verdict "probes under $protocol, $gpu cycles" $status
    done
  done
}

# The same behind a link: its port is a cache of the protocol. On a crossbar a core's request takes one hop to the home, the
# forward one to the port, the answer one back; the GPU is told as on fused, in cycles of an SM at 1980 MHz, of which a turn has
# fewer than 80; what is printed is rounded down.
linked_probes() {
  local protocol gpu file=$out/linked-rv64 key at l2 home hop core sm status
  for protocol in hsc mesi mi; do
    for gpu in 12 112; do
      sed "s/protocol = (\"hsc\"/protocol = (\"$protocol\"/; s/topology = (\"mesh\"/topology = (\"crossbar\"/; s/gpu_cycles = (12/gpu_cycles = ($gpu/" \
        presets/machines/c2c-rv64.cfg >"$file"
      l2=$(value "$file" l2_cycles) home=$(value "$file" home_cycles) hop=$(value "$file" hop_cycles)
      core=$((2 * l2 + 3 * hop + home + gpu)) sm=$(((2 * gpu + home + l2 + 3 * hop) * 1980 / 3100))
      well on "$out/linked" "$out/probes"
      status=$?
      declare -A got=()
      while read -r key at; do got[$key]=$at; done <"$out/text"
      at=$((got[cpu-behind-gpu] - got[cpu-own]))
      if [ $at -lt $core ] || [ $at -gt $((core + 3)) ]; then status=1 && echo "# a core: $at, not $core"; fi
      at=$((got[gpu-behind-cpu] - got[gpu-own]))
      if [ $at -lt $((sm - 1)) ] || [ $at -gt $((sm + 160)) ]; then status=1 && echo "# the GPU: $at, not $sm"; fi
      verdict "probes behind a link under $protocol, $gpu cycles" $status
    done
  done
}

# A counter of the GPU's translations.
of_pages() { sed -nE "/\"gpu_pages\"/,/\}/s/.*\"$1\": ([0-9]+).*/\1/p" "$out/now.json"; }

# Pages of 4 KiB that a kernel walks through, and one of the driver for its result: each is asked for once and walked for once; a
# walk reads the page's entry, the first of 512 neighbours that of their table, too, the very first of either size one more; those
# that nobody touched before are brought. Each costs what the operating system takes, one after the other. All of it again on two
# threads.
walks() {
  local pages fresh status expected got
  unpack pages
  for pages in 10 512 600 1500; do
    for fresh in 0 $((pages / 3)); do
      on fused --json "$out/now.json" "$out/pages" $pages $fresh >"$out/text" 2>&1
      status=$?
      expected="$((pages + 1)) $((pages + 1)) $((pages + (pages + 511) / 512 + 1 + 3)) $fresh"
      got="$(of_pages asks) $(of_pages walks) $(of_pages reads) $(of_pages faults)"
      [ "$got" = "$expected" ] || { status=1 && echo "# asks, walks, entries, pages brought: $got, not $expected"; }
      verdict "pages $pages, of which $fresh are brought" $status
    done
  done
  passes pages fused 700 200
  on c2c --json "$out/now.json" "$out/pages" 100 50 >"$out/text" 2>&1 && ! grep -q gpu_pages "$out/now.json"
  verdict "pages on c2c, whose GPU has translations of its own" $?
}

# Scenarios of CPU and GPU under all protocols: results right, the same text, and the figures of tests/rv64_cuda/figures.txt, to the
# last one. Those hold for the C library that the file names, for a program without an environment. UPDATE=1 writes them anew.
scenario() {
  local name=$1 machine=$2 protocol=$3
  shift 3
  sed "s/protocol = (\"hsc\"/protocol = (\"$protocol\"/" "presets/machines/$machine-rv64.cfg" >"$out/machine.cfg"
  # shellcheck disable=SC2086
  (cd "$out" && well env -i $LIMIT "$bin" exec --quiet --machine "$out/machine.cfg" --sysroot "$out/root" --json now.json ./scenarios "$name" "$@")
  verdict "$name on $machine under $protocol" $?
  python3 tests/rv64_cuda/figures.py "$name $machine $protocol" "$out/now.json" "$out/text" >>"$out/figures" || verdict "figures of $name" 1
}

# The loader of the guest reads a cache of libraries and looks in folders: those of this machine may be there or not, so that its
# instructions would count what is installed here.
sysroot() {
  mkdir -p "$out/root/etc" "$out/root/lib" && : >"$out/root/etc/ld.so.cache" &&
    ln -s /usr/riscv64-linux-gnu/lib/*.so* "$out/root/lib" && ln -s . "$out/root/lib/riscv64-linux-gnu"
}

scenarios() {
  local name protocol bin library
  sysroot || verdict "system root of scenarios" 1
  command -v python3 >/dev/null || { echo "ok scenarios # SKIP no python3" && return; }
  bin=$(realpath "$BIN")
  library="C library $(cat /usr/riscv64-linux-gnu/lib/{libc.so.6,ld-linux-riscv64-lp64d.so.1} | sha256sum | cut -c1-16)"
  unpack scenarios
  echo "$library" >"$out/figures"
  for name in hello backprop bh memcpy_load; do
    for protocol in mi mesi hammer vi_hammer hsc; do scenario $name fused $protocol; done
  done
  for name in backprop memcpy_load; do
    for protocol in hammer vi_hammer; do scenario $name split $protocol copies; done
  done
  [ -z "${UPDATE:-}" ] || cp "$out/figures" tests/rv64_cuda/figures.txt
  if [ "$(head -n 1 tests/rv64_cuda/figures.txt)" = "$library" ]; then
    diff tests/rv64_cuda/figures.txt "$out/figures"
    verdict "figures of scenarios" $?
  else echo "ok figures of scenarios # SKIP another C library"; fi
}

# A CPU without time beside a GPU with it.
functional() {
  for name in flags overlap sharing; do
    well on fused --functional-cpu "$out/$name"
    verdict "$name with --functional-cpu" $?
  done
}

# … and with time from an instruction on, with GPUs at work or before they are.
forwarded() {
  for to in 60000 100000 200000; do
    well on fused --fast-forward $to "$out/sharing"
    verdict "sharing with --fast-forward $to" $?
  done
}

# A program that checks itself.
checks() {
  unpack "$1"
  on fused "$out/$1" >"$out/text" 2>&1
  verdict "$1 on fused" $?
}

# The way from a source to a program, linked statically.
compiled() {
  local why=
  command -v riscv64-linux-gnu-g++ >/dev/null || why="no riscv64-linux-gnu-g++"
  [ -n "$NVCC" ] && [ -x "$NVCC" ] || why="no nvcc"
  [ -e "$WARPSTEP_RISCV/libcudart.a" ] || why="no $WARPSTEP_RISCV/libcudart.a"
  if [ -n "$why" ]; then echo "ok compile # SKIP $why" && return; fi
  tools/riscv/rvcc.sh -arch=sm_86 -o "$out/flags" tests/rv64_cuda/programs/flags.cu >"$out/log" 2>&1 || cat "$out/log"
  passes flags fused
}

if [ -n "$lacking" ]; then
  echo "ok CUDA programs of the simulated CPU # SKIP $lacking"
  exit 0
fi
if [ $# -eq 0 ]; then
  own
  variants
  probes
  linked_probes
  beside
  walks
  scenarios
  functional
  forwarded
  compiled
  set -- exec_vecadd exec_reduce exec_bfs exec_streams exec_host_memory exec_host_threads exec_matmul exec_symbols exec_textures
fi
for name in "$@"; do checks "$name"; done
exit $failed
