# Counters by Nsight Compute's names, of 1,024 elements: two buffers read, one written, each once, from cold caches.
"$W" run kernels/vecadd/vecadd.sm_86.cubin --gpu rtx-3070 --grid 4 --block 256 --quiet --json - \
  --buf x:f32:1024:iota --buf y:f32:1024:const,value=0.5 --buf z:f32:1024 --arg x --arg y --arg z --arg u32:1024 |
  python3 -c '
import json, sys
c = json.load(sys.stdin)["counters"]
n, warps, sector = 1024, 1024 // 32, 32
want = {
    "sm__ctas_launched.sum": 4,
    "smsp__warps_launched.sum": warps,
    "smsp__inst_executed_op_global_ld.sum": 2 * warps,
    "smsp__inst_executed_op_global_st.sum": warps,
    "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum": 2 * warps,
    "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum": 2 * n * 4 // sector,
    "l1tex__t_sectors_pipe_lsu_mem_global_op_ld_lookup_hit.sum": 0,
    "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum": n * 4 // sector,
    "lts__t_sectors_srcunit_tex_op_read.sum": 2 * n * 4 // sector,
    "lts__t_sectors_srcunit_tex_op_read_lookup_miss.sum": 2 * n * 4 // sector,
    "lts__t_sectors_op_write.sum": n * 4 // sector,
    "lts__t_sectors_op_atom.sum": 0,
    "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum": 0,
    "dram__bytes_read.sum": c["lts__t_sectors_op_read_lookup_miss.sum"] * sector,  # data and code
}
for name, value in want.items():
    print("ok" if c[name] == value else f"{c[name]}, not {value}:", name)
'
