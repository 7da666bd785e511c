#!/usr/bin/env bash
# Outputs that cannot be written, and memory that is not there: one line, exit status 2, and neither an empty nor a cut-off file, nor another name, is left; what
# was there before stays. Full devices (/dev/full) and a limit of file sizes stand for full disks.
#
#   tests/cli/outputs.sh      BIN: the program (build/warpstep)
set -u
cd "$(dirname "$0")/../.." || exit 2
bin=${BIN:-build/warpstep}
scratch=$(mktemp -d) || exit 2
trap 'rm -rf "$scratch"' EXIT
failed=0
launch=kernels/vecadd/vecadd.launch cubin=kernels/vecadd/vecadd.sm_86.cubin
case=$(echo tests/exec/cases/vecadd-0001-*.case)

# refuses NAME KBYTES COMMAND...: with files of at most KBYTES (or no limit: -) the command says one line and ends with 2, and
# the folder out is as it was.
refuses() {
  local name=$1 limit=$2 why='' before after status
  shift 2
  before=$(cd "$scratch/out" && find . -type f -exec cksum {} + | sort)
  { ( [ "$limit" = - ] || ulimit -f "$limit"; exec "$@" ) >"$scratch/stdout"; } 2>&1 | cat >"$scratch/stderr" # has no limit
  status=${PIPESTATUS[0]}
  after=$(cd "$scratch/out" && find . -type f -exec cksum {} + | sort)
  [ "$status" -eq 2 ] || why="exit status $status"
  [ "$(grep -c . "$scratch/stderr")" -eq 1 ] || why="$why; not one line: $(head -n 3 "$scratch/stderr" | tr '\n' '|')"
  [ "$before" = "$after" ] || why="$why; left: $(diff <(echo "$before") <(echo "$after") | tr '\n' ' ')"
  if [ -z "$why" ]; then
    echo "ok cli output $name"
  else
    echo "not ok cli output $name: $why"
    failed=$((failed + 1))
  fi
}

out=$scratch/out
mkdir "$out"
echo "as it was" >"$out/there"
ln -s loop "$out/loop"
quiet=("$bin" run "$launch" --functional --quiet --no-check)
"$bin" disasm --asm "$cubin" >"$scratch/v.sass" || exit 2
refuses "run --json /dev/full" - "${quiet[@]}" --json /dev/full
refuses "run --json, full disk" 1 "${quiet[@]}" --json "$out/new"
refuses "run --json over a file, full disk" 1 "${quiet[@]}" --json "$out/there"
refuses "run --json, no folder" - "${quiet[@]}" --json "$out/none/new"
refuses "run --out, full disk" 1 "${quiet[@]}" --out "$out/buffers"
refuses "run to a full device" - bash -c "exec '$bin' run '$launch' --functional --no-check >/dev/full"
refuses "run --json - to a full device" - bash -c "exec '$bin' run '$launch' --functional --no-check --quiet --json - >/dev/full"
refuses "asm -o /dev/full" - "$bin" asm "$scratch/v.sass" -o /dev/full
refuses "asm -o, full disk" 1 "$bin" asm "$scratch/v.sass" -o "$out/there"
refuses "trace export, full disk" 1 "$bin" trace export "$launch" --out "$out/traces"
refuses "disasm to a full device" - bash -c "exec '$bin' disasm '$cubin' >/dev/full"
refuses "gpus to a full device" - bash -c "exec '$bin' gpus >/dev/full"
refuses "isa to a full device" - bash -c "exec '$bin' isa --coverage >/dev/full"
refuses "help to a full device" - bash -c "exec '$bin' help run >/dev/full"
timed=("$bin" run "$launch" --quiet --no-check)
for option in --html --pipeline --timeline; do
  refuses "run $option /dev/full" - "${timed[@]}" $option /dev/full
  refuses "run $option, full disk" 1 "${timed[@]}" $option "$out/there"
done
for option in --annotate --details "--check all"; do
  refuses "run $option to a full device" - bash -c "exec '$bin' run '$launch' --no-check $option >/dev/full"
done
refuses "version to a full device" - bash -c "exec '$bin' --version >/dev/full"
refuses "machines to a full device" - bash -c "exec '$bin' machines --show dgx-a100 >/dev/full"
refuses "area to a full device" - bash -c "exec '$bin' area >/dev/full"
refuses "ncu --query-metrics to a full device" - bash -c "exec '$bin' ncu --query-metrics >/dev/full"
refuses "debug to a full device" - bash -c "echo quit | exec '$bin' debug '$launch' >/dev/full"
refuses "probe --emit, full disk" 1 "$bin" probe --emit "$out/probes"
"$bin" trace export "$launch" --out "$scratch/traces" >"$scratch/stdout" || exit 2
refuses "trace import --json /dev/full" - "$bin" trace import "$scratch/traces" --json /dev/full
refuses "trace import --json, full disk" 1 "$bin" trace import "$scratch/traces" --json "$out/there"
"${timed[@]}" --json "$scratch/a.json" && "${timed[@]}" --json "$scratch/b.json" --set launch.latency_cycles=9 || exit 2
refuses "diff to a full device" - bash -c "exec '$bin' diff '$scratch/a.json' '$scratch/b.json' --fail-above 0 >/dev/full"
refuses "exec --json /nowhere" - "$bin" exec --json /dev/full/none true
refuses "exec --json FOLDER" - "$bin" exec --json "$out" true
refuses "run --json, a chain of links without an end" - "${quiet[@]}" --json "$out/loop"
refuses "run --json, a closed descriptor" - "${quiet[@]}" --json /dev/fd/77
refuses "replay --json, full disk" 1 "$bin" run "$case" --functional --quiet --json "$out/new"

# Too little memory for it (ulimit -v, kB) is one line and status 2, wherever it is met: below it the loader gives up (127).
memory() {
  local kb command status met=0 words
  for kb in $(seq 9200 200 14000) 20000 26000 32000 40000 50000 60000 80000 100000; do
    for command in "gpus" "gpus --resolve a100" "area" "disasm $cubin" "run $launch --functional --quiet --no-check" "run $launch --quiet --no-check --threads 2"; do
      read -ra words <<<"$command"
      (ulimit -v "$kb"; WARPSTEP_PRESETS=presets exec "$bin" "${words[@]}") >"$scratch/stdout" 2>"$scratch/stderr"
      status=$?
      case $status in
      0 | 127) continue ;;
      2) [ "$(cat "$scratch/stderr")" = "warpstep: out of host memory: the machine, or a limit (ulimit -v), has too little for this run" ] ||
        echo "$kb kB, $command: $(head -n 2 "$scratch/stderr" | tr '\n' '|')" ;;
      *) echo "$kb kB, $command: exit status $status, $(head -n 1 "$scratch/stderr")" ;;
      esac
      met=$((met + 1))
    done
  done
  [ $met -gt 5 ] || echo "only $met runs were short of memory"
}
# Any one request for memory that fails (tests/cli/starve.c): the same line and status, and no file; or the run can do without, and gives
# what it gives otherwise.
starve() {
  local command words step n status line
  line='warpstep: out of host memory: the machine, or a limit (ulimit -v), has too little for this run'
  "${CC:-gcc}" -O1 -shared -fPIC -o "$scratch/starve.so" tests/cli/starve.c -ldl || echo "no library to preload"
  local commands=("7 run $launch --quiet --no-check --threads 2 --json" "1 run $launch --functional --quiet --no-check --json"
    "31 run $launch --quiet --no-check --html" "23 run $launch --functional --quiet --no-check --check all"
    "7 gpus" "1 disasm $cubin" "1 area" "3 machines --show dgx-a100")
  # A program of Linux on coherent cores in time.
  if printf '.globl _start\n_start: li a0,0\n li a7,93\n ecall\n' >"$scratch/end.s" &&
    riscv64-linux-gnu-gcc -nostdlib -static -o "$scratch/end.riscv" "$scratch/end.s" 2>/dev/null; then
    commands+=("5 exec --quiet --machine fused-rv64 $scratch/end.riscv" "7 exec --quiet --machine c2c-rv64 $scratch/end.riscv")
  fi
  for command in "${commands[@]}"; do
    read -ra words <<<"$command"
    step=${words[0]} words=("${words[@]:1}")
    case ${words[-1]} in --json | --html) words+=("$scratch/starved") ;; esac
    STARVE_COUNT=$scratch/count LD_PRELOAD=$scratch/starve.so "$bin" "${words[@]}" >"$scratch/good"
    [ ! -f "$scratch/starved" ] || mv "$scratch/starved" "$scratch/good"
    for ((n = 0; n < $(cat "$scratch/count"); n += step)); do
      STARVE_AT=$n LD_PRELOAD=$scratch/starve.so "$bin" "${words[@]}" >"$scratch/stdout" 2>"$scratch/stderr"
      status=$?
      if [ $status -eq 0 ]; then
        [ -f "$scratch/starved" ] || mv "$scratch/stdout" "$scratch/starved"
        cmp -s "$scratch/good" "$scratch/starved" || echo "request $n of ${words[*]}: status 0, and another output"
      elif [ $status -ne 2 ] || [ "$(cat "$scratch/stderr")" != "$line" ] || [ -e "$scratch/starved" ]; then
        echo "request $n of ${words[*]}: status $status, $(head -n 1 "$scratch/stderr")"
      fi
      rm -f "$scratch/starved"
    done
    [ "$(cat "$scratch/count")" -gt 3 ] || echo "only $(cat "$scratch/count") requests were seen"
  done
}

# check NAME FUNCTION: which prints what is wrong.
check() {
  local why
  why=$($2 2>&1) why=${why%%$'\n'*}
  case $why in
  '') echo "ok cli output $1" ;;
  SKIP*) echo "ok cli output $1 # $why" ;;
  *)
    echo "not ok cli output $1: $why"
    failed=$((failed + 1))
    ;;
  esac
}

if [ -n "$("$bin" --version 2>/dev/null)" ] && (ulimit -v 200000; "$bin" --version) >/dev/null 2>&1; then
  check "too little memory" memory
  check "a request for memory that fails" starve
else
  echo "ok cli memory # SKIP this build wants more address space than a limit leaves (sanitizer)"
fi

# the names in a folder, one line
names() {
  (cd "$1" && find . ! -name . | sort | tr '\n' ' ')
}

# What can be written is, with the rights of a new file, through links (to nothing, too), and to a pipe.
works() {
  local link=$out/link reader long
  umask 027
  "${quiet[@]}" --json "$out/new" || echo "exit status $?"
  [ "$(stat -c %a "$out/new")" = 640 ] || echo "rights $(stat -c %a "$out/new")"
  chmod 604 "$out/there"
  ln -s there "$link"
  "${quiet[@]}" --json "$link" || echo "exit status $?"
  [ -L "$link" ] && cmp -s "$out/there" "$out/new" || echo "the link's file was not written"
  [ "$(stat -c %a "$out/there")" = 604 ] || echo "rights of the file that was there: $(stat -c %a "$out/there")"
  ln -s "$scratch/further" "$out/dangling"
  ln -s made "$scratch/further"
  "${quiet[@]}" --json "$out/dangling" || echo "exit status $?"
  [ -L "$out/dangling" ] && [ -L "$scratch/further" ] && cmp -s "$scratch/made" "$out/new" || echo "what a link without a file names was not made"
  mkfifo "$scratch/pipe"
  cat "$scratch/pipe" >"$scratch/piped" &
  reader=$!
  "${quiet[@]}" --json "$scratch/pipe" || echo "exit status $?"
  wait $reader
  cmp -s "$scratch/piped" "$out/new" || echo "the pipe got something else"
  long=$out/$(printf '%255s' '' | tr ' ' n)
  "${quiet[@]}" --json "$long" && cmp -s "$long" "$out/new" || echo "a name of 255 bytes was not written"
  [ "$(find "$out" -type f | wc -l)" -eq 3 ] || echo "other files are left: $(ls -A "$out")"
}
check written works

# FILE without the line that says how fast the host was
untimed() {
  grep -v '^Simulation ' "$1"
}

# Files that are open already keep what is in them and what else is written there.
shared() {
  local log=$scratch/log path
  "${quiet[@]}" --json "$scratch/alone"
  "$bin" run "$launch" --functional --no-check >"$scratch/text"
  for path in /dev/stdout /dev/fd/1 /proc/self/fd/1 "$log"; do
    echo before >"$log"
    "$bin" run "$launch" --functional --no-check --json "$path" >>"$log" || echo "$path: exit status $?"
    cmp -s <(echo before; untimed "$scratch/text"; cat "$scratch/alone") <(untimed "$log") || echo "$path: not all of three is in the file: $(wc -c <"$log") bytes"
  done
  for path in /dev/stderr "$log"; do
    echo before >"$log"
    "${quiet[@]}" --json "$path" 2>>"$log" || echo "$path: exit status $?"
    cmp -s <(echo before; cat "$scratch/alone") "$log" || echo "$path, stderr: the file was replaced"
  done
  echo before >"$log"
  "${quiet[@]}" --json /dev/fd/7 7>>"$log" || echo "descriptor 7: exit status $?"
  cmp -s <(echo before; cat "$scratch/alone") "$log" || echo "descriptor 7: the file was replaced"
}
check "open already" shared

# A pipe that nobody reads yet must not be waited for before the program starts.
fifo() {
  mkfifo "$scratch/unread"
  timeout 20 "$bin" exec --quiet --json "$scratch/unread" true || echo "exit status $?"
}
check "exec --json PIPE" fifo

# A file that can be written in a folder that cannot is. Root can write to any folder: somebody else, then.
locked() {
  local dir=$scratch/locked as=()
  mkdir "$dir"
  [ "$(id -u)" -ne 0 ] || as=(setpriv --reuid=65534 --regid=65534 --clear-groups)
  chmod 755 "$scratch"
  { "${as[@]}" test -r "$launch" && "${as[@]}" "$bin" gpus; } >/dev/null 2>&1 ||
    { echo "SKIP the program or its presets are not to be read by others"; return; }
  printf '%100000s' '' >"$dir/file"
  chmod 666 "$dir/file"
  chmod 555 "$dir"
  "${as[@]}" "${quiet[@]}" --json "$dir/file" || echo "exit status $?"
  "${quiet[@]}" --json "$scratch/reference"
  cmp -s "$dir/file" "$scratch/reference" || echo "the file has something else"
  "${as[@]}" "${quiet[@]}" --json "$dir/new" 2>/dev/null && echo "a new file was made"
  # in a folder like /tmp the file of somebody else can be written, not replaced
  [ "$(id -u)" -eq 0 ] || return
  chmod 1777 "$dir"
  printf '%100000s' '' >"$dir/file"
  "${as[@]}" "${quiet[@]}" --json "$dir/file" || echo "sticky folder: exit status $?"
  cmp -s "$dir/file" "$scratch/reference" || echo "sticky folder: the file has something else"
  [ "$(names "$dir")" = "./file " ] || echo "left: $(names "$dir")"
}
check "folder that cannot be written" locked

# A file that is mounted alone (as containers do) cannot be replaced; without /proc files being written have a name meanwhile.
mounted() {
  local dir=$scratch/mounted space=(unshare --user --map-root-user --mount)
  "${space[@]}" mount -t tmpfs none /proc 2>/dev/null || { echo "SKIP no name space to mount in"; return; }
  mkdir "$dir"
  "${quiet[@]}" --json "$scratch/reference"
  printf '%100000s' '' >"$scratch/outside"
  : >"$dir/file"
  # shellcheck disable=SC2016 # the inner shell's variables
  "${space[@]}" bash -c 'mount --bind "$0" "$1" && shift && exec "$@"' "$scratch/outside" "$dir/file" "${quiet[@]}" --json "$dir/file" || echo "exit status $?"
  cmp -s "$scratch/outside" "$scratch/reference" || echo "the mounted file has something else"
  [ "$(names "$dir")" = "./file " ] || echo "left: $(names "$dir")"
  # shellcheck disable=SC2016
  "${space[@]}" bash -c 'mount -t tmpfs none /proc && "$@" && ulimit -f 1 && ! "$@" 2>/dev/null' - "${quiet[@]}" --presets presets --json "$dir/file" ||
    echo "without /proc: exit status $?"
  cmp -s "$dir/file" "$scratch/reference" || echo "without /proc the file has something else"
  [ "$(names "$dir")" = "./file " ] || echo "without /proc, left: $(names "$dir")"
}
check "mounted file, no /proc" mounted

# However the program ends, no temporary name is left (where the file system has files without a name).
killed() {
  local dir=$scratch/killed pid signal i skip=''
  sed "s|\"vecadd.sm|\"$PWD/kernels/vecadd/vecadd.sm|; s|\[64, 1, 1\]|[2000000, 1, 1]|" "$launch" >"$scratch/long.launch"
  for signal in INT TERM KILL; do
    rm -rf "$dir"
    mkdir "$dir"
    env --default-signal=INT "$bin" trace export "$scratch/long.launch" --out "$dir/traces" >/dev/null 2>&1 &
    pid=$!
    for ((i = 0; i < 400; i++)); do # until the trace of the kernel is open
      [ "$(find "/proc/$pid/fd" -lname "$dir/traces/*" 2>/dev/null | wc -l)" -gt 4 ] && break
      kill -0 $pid 2>/dev/null || break
      sleep 0.05
    done
    find "/proc/$pid/fd" -lname "$dir/traces/.ws.*" 2>/dev/null | grep -q . && skip=1
    kill -s $signal $pid 2>/dev/null || echo "$signal: had ended before"
    wait $pid 2>/dev/null && echo "$signal: ended well"
    [ -z "$skip" ] || { echo "SKIP this file system has no files without a name"; return; }
    [ "$(names "$dir")" = "./traces " ] || echo "$signal: left $(names "$dir")"
  done
}
check "ended by a signal" killed

# A failed export leaves the lists and all traces as they were.
exports() {
  local dir=$scratch/exports before
  all() { (cd "$dir" && cksum kernelslist.g kernel-*); }
  "$bin" trace export "$launch" "$launch" --format text --out "$dir" >/dev/null || echo "exit status $?"
  for f in kernelslist.g kernel-1.traceg kernel-2.traceg; do echo mark >>"$dir/$f"; done
  before=$(all) || echo "no list"
  "$bin" trace export "$launch" "$scratch/missing.launch" --format text --out "$dir" >/dev/null 2>&1 && echo "a missing launch was no error"
  [ "$before" = "$(all)" ] || echo "a missing launch replaced something"
  (ulimit -f 1 && "$bin" trace export "$launch" "$launch" --format text --out "$dir") >"$scratch/said" 2>&1 && echo "a full disk was no error"
  grep -q 'cannot write: File too large' "$scratch/said" || cat "$scratch/said"
  [ "$before" = "$(all)" ] || echo "a full disk replaced something"
  rm "$dir/stats.csv"
  mkdir "$dir/stats.csv"
  "$bin" trace export "$launch" --out "$dir" >/dev/null 2>&1 && echo "stats.csv: a folder was no error"
  [ "$before" = "$(all)" ] || echo "without stats.csv something was replaced"
  [ -z "$(find "$dir" -name '*.ws.*')" ] || echo "left: $(names "$dir")"
}
check "trace export, failed" exports
[ $failed -eq 0 ]
