# A full port into the crossbar stops the memory unit, its full queues the issue stage; nothing is lost.
for queue in 512 1; do
  "$W" run kernels/vecadd/vecadd.sm_86.cubin --gpu rtx-3070 --set gpu.sms=1 --set noc.sm_queue=$queue \
    --set noc.sm_request_bytes=4 --grid 64 --block 256 --quiet --json "$T/$queue.json" --out "$T" \
    --buf x:f32:16384:iota --buf y:f32:16384:const,value=0.5 --buf z:f32:16384 --arg x --arg y --arg z --arg u32:16384
  mv "$T/z.bin" "$T/z$queue.bin"
done
cmp "$T/z512.bin" "$T/z1.bin" && echo same results
python3 -c '
import json, sys
full, free = (json.load(open(f"{sys.argv[1]}/{q}.json"))["stats"] for q in (1, 512))
state = [s["sm"]["warp_state"]["lg_throttle"] for s in (free, full)]
print("issue stalls" if state[1] > state[0] else state)
print("same requests" if free["noc"]["noc_requests"] == full["noc"]["noc_requests"] else "other requests")
' "$T"
