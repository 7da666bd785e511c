#!/usr/bin/env bash
# The random tester of coherent memory for long (docs/blocks/coherence.md): pieces of a million operations, each protocol in turn,
# with 2 to 16 agents and a seed of their own.
#
#   tests/stress/coherence.sh OPERATIONS [FIRST-SEED] [PROTOCOL...]     OPERATIONS: of each protocol. Make it with make tests
#
# Prints a line for each piece, and at the end or at the first failure, with exit status 1, how many ran.
set -u
cd "$(dirname "$0")/../.." || exit 1

tester=build/tests/test_time_coh piece=1000000
operations=${1:?operations} seed=${2:-1}
shift $(($# < 2 ? $# : 2))
[ $# -gt 0 ] || set -- mi mesi hammer vi_hammer hsc
done=0 status=0
while [ $done -lt "$operations" ] && [ $status -eq 0 ]; do
  for protocol in "$@"; do
    printf 'seed %d, %d agents: ' "$seed" $((2 + seed % 15))
    $tester "$protocol" $((2 + seed % 15)) $piece "$seed" || { status=1 && break; }
  done
  seed=$((seed + 1)) done=$((done + piece))
done
echo "$# protocols, $done operations of each begun, next seed $seed"
exit $status
