#!/usr/bin/env bash
# The silicon kit (tools/silicon) with the simulator's driver in the place of the GPU's: kernels run and match, what was
# measured is not measured again, what cannot run is said to be skipped. BIN names the program.
set -u
cd "$(dirname "$0")/../.." || exit 2
bin=${BIN:-build/warpstep}
export BUILD=${bin%/*} ONLY="vecadd scan sudoku tex_offset mma_fp8"
out=$(mktemp -d) || exit 2
failed=0

collect() { tools/silicon/collect.sh --dry-run rtx-3070 "$out" >"$out.log" 2>&1; }
trap 'rm -rf "$out" "$out.log"' EXIT
verdict() { # STATUS NAME
    if [ "$1" -eq 0 ]; then echo "ok silicon $2"; else
        echo "not ok silicon $2"
        sed 's/^/# /' "$out.log"
        failed=1
    fi
}
summary() { cut -d , -f 1,2 "$out/summary.csv" | tr '\n' ' '; }

collect
verdict $? "kernels run on the driver"
[ "$(summary)" = "kernel,status mma_fp8,skipped scan,ok sudoku,ok tex_offset,skipped vecadd,ok " ]
verdict $? "what matches, what cannot run here"

sed -i 's/"status": "ok"/"status": "mismatch"/' "$out/scan.json"
rm "$out/vecadd.json"
LIMIT=0 collect
[ $? -eq 3 ] && [ "$(summary)" = "kernel,status mma_fp8,skipped scan,mismatch sudoku,ok tex_offset,skipped " ]
verdict $? "stops at its limit"
collect
[ $? -eq 1 ] && [ "$(summary)" = "kernel,status mma_fp8,skipped scan,mismatch sudoku,ok tex_offset,skipped vecadd,ok " ]
verdict $? "goes on where it stopped; a mismatch is its status"

rm "$out/scan.json"
"$bin" exec --functional --quiet --gpu rtx-3070 "$BUILD/silicon" kernels/scan/scan.launch --device 1 2>"$out.log"
[ $? -eq 2 ] && grep -q 'there is no GPU 1' "$out.log"
verdict $? "a GPU that is not there"
exit $failed
