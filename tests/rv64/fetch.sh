#!/usr/bin/env bash
# Brings the suites that run.sh uses, at the commits it was written for, to build/foreign.
set -eu
cd "$(dirname "$0")/../.."

# get NAME URL COMMIT
get() {
  local to=build/foreign/$1
  [ -d "$to/.git" ] || git init -q "$to"
  git -C "$to" fetch -q --depth 1 "$2" "$3"
  git -C "$to" checkout -q FETCH_HEAD
  echo "$to: $3"
}

get riscv-tests https://github.com/riscv-software-src/riscv-tests 34e6b6d1e7936b526075432fb730d89148623484
get polybench https://github.com/MatthiasJReisinger/PolyBenchC-4.2.1 3e872547cef7e5c9909422ef1e6af03cf4e56072
