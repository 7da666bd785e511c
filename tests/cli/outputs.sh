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
  ( [ "$limit" = - ] || ulimit -f "$limit"; exec "$@" ) >"$scratch/stdout" 2> >(cat >"$scratch/stderr")
  status=$?
  wait
  after=$(cd "$scratch/out" && find . -type f -exec cksum {} + | sort)
  [ $status -eq 2 ] || why="exit status $status"
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
refuses "exec --json /nowhere" - "$bin" exec --json /dev/full/none true
refuses "replay --json, full disk" 1 "$bin" run "$case" --functional --quiet --json "$out/new"

# Too little memory for it (ulimit -v, kB) is one line and status 2, wherever it is met: below it the loader gives up (127).
memory() {
  local kb command status met=0 words
  for kb in $(seq 9200 400 14000) 20000 26000 32000 40000 50000 60000 80000 100000; do
    for command in "gpus" "gpus --resolve a100" "area" "run $launch --functional --quiet --no-check" "run $launch --quiet --no-check --threads 2"; do
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
why=$(memory 2>&1 | head -n 1)
if [ -n "$("$bin" --version 2>/dev/null)" ] && (ulimit -v 200000; "$bin" --version) >/dev/null 2>&1; then
  if [ -z "$why" ]; then echo "ok cli memory"; else echo "not ok cli memory: $why"; failed=$((failed + 1)); fi
else
  echo "ok cli memory # SKIP this build wants more address space than a limit leaves (sanitizer)"
fi

# What can be written is, with the rights of a new file, through links, and to a pipe.
works() {
  local link=$out/link
  umask 027
  "${quiet[@]}" --json "$out/new" || echo "exit status $?"
  [ "$(stat -c %a "$out/new")" = 640 ] || echo "rights $(stat -c %a "$out/new")"
  ln -s there "$link"
  "${quiet[@]}" --json "$link" || echo "exit status $?"
  [ -L "$link" ] && cmp -s "$out/there" "$out/new" || echo "the link's file was not written"
  "${quiet[@]}" --json >(cat >"$scratch/piped") || echo "exit status $?"
  sleep 0.2
  cmp -s "$scratch/piped" "$out/new" || echo "the pipe got something else"
  [ "$(find "$out" -type f | wc -l)" -eq 2 ] || echo "other files are left: $(ls "$out")"
}
why=$(works | head -n 1)
if [ -z "$why" ]; then
  echo "ok cli output written"
else
  echo "not ok cli output written: $why"
  failed=$((failed + 1))
fi
[ $failed -eq 0 ]
