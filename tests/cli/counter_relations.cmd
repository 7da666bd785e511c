# What Nsight Compute's names promise of each other, over kernels that use every kind of access: hits and misses are the
# whole, a request is 1 to 4 sectors of a line, no more is missed than asked for, rates are percentages. Prints only what is not so.
for kernel in vecadd transpose_naive hist_global atomics local_array surf_rw tex_filter2d cp_async printf_demo spmv_vector; do
  for gpu in rtx-3070 a100; do
    "$W" run kernels/$kernel/$kernel.launch --gpu $gpu --quiet --no-check --json "$T/$kernel.$gpu.json" >"$T/log" || cat "$T/log"
  done
done
"$W" run kernels/tensor_boxes/tensor_boxes.launch --gpu h200 --quiet --no-check --json "$T/tensor_boxes.h200.json"
python3 - "$T"/*.json <<'CODE'
import json, sys
def at_most(a, b, what):
    if c[a] > c[b] * 1.0: print(path, what, a, c[a], b, c[b])
for path in sys.argv[1:]:
    c = json.load(open(path))["counters"]
    for name, value in c.items():
        if value is not None and (value < 0 or value > 1e15 or (name.endswith(".pct") and value > 100)):
            print(path, name, value)
        whole = name.replace("_lookup_miss", "").replace("_lookup_hit", "")
        if whole != name: at_most(name, whole, "part")
        if name.replace("_lookup_miss", "_lookup_hit") in c and "_lookup_miss" in name:
            hits = c[name.replace("_lookup_miss", "_lookup_hit")]
            if hits + value != c[whole]: print(path, name, hits, value, c[whole])
        if "_requests_" in name:
            sectors = name.replace("_requests_", "_sectors_")
            at_most(name, sectors, "requests")
            if name.startswith("lts__") and c[sectors] > 4 * c[name]: print(path, name, c[name], c[sectors])
        if "bank_conflicts" in name: at_most(name, name.replace("data_bank_conflicts_pipe_lsu_", "data_pipe_lsu_wavefronts_"), "conflicts")
    whole = sum(c[f"lts__t_sectors_op_{op}.sum"] for op in ("read", "write", "atom", "red"))
    if whole != c["lts__t_sectors.sum"]: print(path, "operations", whole, c["lts__t_sectors.sum"])
    at_most("l1tex__t_sectors_lookup_miss.sum", "lts__t_sectors_srcunit_tex.sum", "misses go to L2")
print(len(sys.argv) - 1, "runs")
CODE
