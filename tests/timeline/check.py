#!/usr/bin/env python3
"""check.py run FILE JSON: a file of a launch with all its warps, held against its report.
check.py exec FILE JSON SAID: a file of program.c with the warps of CTA 0, held against its launches and what it said of its copies.
check.py pair FILE JSON: a file of pair.c.
check.py part FILE WHOLE SMS FROM TO: the calls, operations and CTAs on the first SMS SMs that begin in [FROM, TO) ns.
check.py clients FILE CTAS PER_SM US [MORE]: files of clients of the Multi-Process Service, one behind the other: of tests/mps/program.cu,
each a kernel of CTAS CTAs of a warp, of which PER_SM are at once on an SM and spin US microseconds, those of each further client MORE longer; with the
warps of CTA 0.
check.py engines FILE BYTES: their copies of so many bytes to the device, which one engine carries.
check.py slices FILE: of pair of tests/share/program.cu in time slices.
check.py library FILE: Perfetto's own description of the format reads the same slices. 77: there is none."""
import collections
import json
import sys

import perfetto_trace


def equal(what, got, wanted):
    if got != wanted:
        sys.exit(f"{what}: {got}, expected {wanted}")


def most_at_once(slices):
    edges = sorted([(s.begin, 1) for s in slices] + [(s.end, -1) for s in slices])
    now = most = 0
    for _, step in edges:
        now += step
        most = max(most, now)
    return most


def is_state(s):
    return not s.args


def check_states(trace, warps, stats):
    """The states of a warp fill its time; all of them together are those of the report."""
    states = collections.Counter()
    for s in trace.under("SMs"):
        if is_state(s):
            states[s.name] += s.end - s.begin
    equal("warp states", {k: v for k, v in states.items() if v}, {k: v for k, v in stats["warp_state"].items() if v})
    tracks = collections.defaultdict(list)
    for s in trace.under("SMs"):
        if is_state(s):
            tracks[s.track].append(s)
    for w in warps:
        inside = sorted((s for s in tracks[w.track] if w.begin <= s.begin and s.end <= w.end), key=lambda s: s.begin)
        equal("first state", inside[0].begin, w.begin)
        for a, b in zip(inside, inside[1:]):
            equal("next state", b.begin, a.end)
        equal("last state", inside[-1].end, w.end)


def run(path, report):
    trace = perfetto_trace.Trace(path)
    with open(report, encoding="utf-8") as f:
        said = json.load(f)
    stats = said["stats"]["sm"]
    kernel, = trace.under("streams")
    equal("cycles of the kernel", (kernel.end - kernel.begin, kernel.args["cycles"]), (said["stats"]["gpu"]["cycles"],) * 2)
    ctas = [s for s in trace.under("SMs") if "cta" in s.args and "warp" not in s.args]
    warps = [s for s in trace.under("SMs") if "warp" in s.args]
    equal("CTAs", sorted(s.args["cta"] for s in ctas), list(range(stats["ctas"])))
    equal("warps", len(warps), stats["warps"])
    equal("warp-cycles", sum(s.end - s.begin for s in warps), stats["warp_cycles"])
    equal("warp-cycles of CTAs", sum(s.end - s.begin for s in ctas) * stats["warps"] // stats["ctas"], stats["warp_cycles"])
    for s in ctas + warps:
        if s.begin < kernel.begin or s.end > kernel.end:
            sys.exit(f"CTA {s.args['cta']} is there before or after the kernel")
    by_sm = collections.defaultdict(list)
    for s in ctas:
        by_sm[trace.path(s.track)[1]].append(s)
    most = max(most_at_once(x) for x in by_sm.values())
    if most > said["stats"]["gpu"]["ctas_per_sm"]:
        sys.exit(f"{most} CTAs at once on an SM")
    check_states(trace, warps, stats)


CALLS = {"cuLaunchKernel": 4, "cuGraphLaunch": 2, "cuEventRecord": 4, "cuMemAlloc_v2": 4, "cuCtxSynchronize": 2}


def check_kernels(trace, launches):
    kernels = {s.args["launch"]: s for s in trace.under("streams") if "launch" in s.args}
    equal("launches", sorted(kernels), [l["launch"] for l in launches])
    for l in launches:
        s = kernels[l["launch"]]
        equal("times of a kernel", (s.args["start_ps"], s.args["end_ps"], s.args["cycles"]), (l["start_ps"], l["end_ps"], l["cycles"]))
        equal("place of a kernel", (s.begin, s.end), (l["start_ps"] // 1000, l["end_ps"] // 1000))
        equal("stream of a kernel", trace.path(s.track)[1].split(" (")[0], f"stream {l['stream']}")
        ctas = [c for c in trace.under("SMs") if c.args.get("launch") == l["launch"] and "warp" not in c.args]
        equal("CTAs", sorted(c.args["cta"] for c in ctas), list(range(l["grid"][0])))
        if min(c.begin for c in ctas) < s.begin or max(c.end for c in ctas) > s.end:
            sys.exit("CTAs that are there before or after their kernel")
        warps = [c for c in trace.under("SMs") if c.args.get("launch") == l["launch"] and "warp" in c.args]
        equal("warps of CTA 0", [(c.args["cta"], c.args["warp"]) for c in warps], [(0, w) for w in range(l["block"][0] // 32)])
    return kernels


def program(path, report, said):
    trace = perfetto_trace.Trace(path)
    with open(report, encoding="utf-8") as f:
        total = json.load(f)
    kernels = check_kernels(trace, total["launches"])
    copies = [s for s in trace.under("streams") if s.name.startswith("copy")]
    with open(said, encoding="utf-8") as f:
        for line in f:
            name, us = line.removeprefix("copy ").rsplit(" ", 1)
            first = next(s for s in copies if s.name == f"copy {name}")
            took = (first.args["end_ps"] - first.args["start_ps"]) / 1e6
            if abs(took - float(us)) > 1e-5 * took:  # events give a float
                sys.exit(f"copy {name}: {took} us, its events say {us}")
    equal("copies", [s.name for s in copies], ["copy to the device", "copy to the host"] * 3)
    equal("bytes", {s.args["bytes"] for s in copies}, {4 << 16})
    equal("engines", [s[1:] for s in trace.under("copy engines")], [s[1:] for s in copies])
    graphs = trace.under("graphs")
    inside = [[s for s in copies + list(kernels.values()) if g.begin <= s.begin and s.end <= g.end] for g in graphs]
    equal("operations of the graphs", [len(x) for x in inside], [3, 3])
    for g, x in zip(graphs, inside):  # nodes of a chain: one behind the other, from beginning to end
        x.sort(key=lambda s: s.begin)
        equal("a graph", (x[0].begin, x[-1].end), (g.begin, g.end))
        equal("its nodes", [b.args["start_ps"] for b in x[1:]], [a.args["end_ps"] for a in x[:-1]])
    equal("moments", collections.Counter(n for _, _, n in trace.instants), {"event": 4, "host function": 1})
    calls = sorted(trace.under("CUDA calls"), key=lambda s: s.begin)
    names = collections.Counter(s.name for s in calls)
    equal("calls", {n: names[n] for n in CALLS}, CALLS)
    for a, b in zip(calls, calls[1:]):
        equal("one call follows the other", b.begin, a.end)  # the host takes no time between them
    equal("end", max(s.end for s in trace.slices), total["time_ps"] // 1000)


def check_links(trace, total):
    """Counters over links: each is there twice, its values over time are its bytes, and what takes it is its bytes at its rate. The
    copy of pair.c goes from GPU 0 to GPU 1, which are not each other's peers, by way of the host, with nothing else on that way."""
    links = {f"{l['from']} > {l['to']}": l for l in total["links"] if l["bytes"]}
    tracks = {trace.path(t): t for t in trace.units}
    equal("links", sorted(tracks), sorted(p for n in links for p in (("links", n), ("links", f"{n} taken"))))
    for name, l in links.items():
        for path, scale, wanted in ((("links", name), 1e-3, l["bytes"]), (("links", f"{name} taken"), 10, l["taken_ps"])):
            values = trace.values[tracks[path]]
            equal(f"{name}: the last value", values[-1][1], 0)
            area = sum(v * (b[0] - a[0]) for a, b in zip(values, values[1:]) for v in [a[1]]) * scale
            if abs(area - wanted) > 1e-9 * wanted + 1:
                sys.exit(f"{path}: {area}, not {wanted}")
        equal(f"{name}: unit", trace.units[tracks["links", name]], "MB/s")
        equal("time of a byte", abs(l["taken_ps"] - l["bytes"] * 1e6 / l["mbps"]) < 1e-3 * l["taken_ps"] + 1, True)
    equal("bytes of the copy", [links[n]["payload_bytes"] for n in ("gpu0 > cpu0", "cpu0 > gpu1")], [4 << 17] * 2)


def pair(path, report):
    """Links are counted (check_links). Each launch is among its GPU's streams, its CTAs on that GPU's SMs; the first two are there at the same time."""
    trace = perfetto_trace.Trace(path)
    with open(report, encoding="utf-8") as f:
        total = json.load(f)
    launches = total["launches"]
    equal("GPUs of the launches", [l["gpu"] for l in launches], [0, 1, 1])
    for gpu in (0, 1):
        mine = {l["launch"]: l for l in launches if l["gpu"] == gpu}
        kernels = {s.args["launch"]: s for s in trace.under(f"GPU {gpu}: streams") if "launch" in s.args}
        equal("times of kernels", {n: (s.args["start_ps"], s.args["end_ps"]) for n, s in kernels.items()},
              {n: (l["start_ps"], l["end_ps"]) for n, l in mine.items()})
        ctas = collections.defaultdict(list)
        for s in trace.under(f"GPU {gpu}: SMs"):
            ctas[s.args["launch"]].append(s)
        equal("CTAs", {n: sorted(c.args["cta"] for c in x) for n, x in ctas.items()}, {n: list(range(l["grid"][0])) for n, l in mine.items()})
        for n, some in ctas.items():
            if min(c.begin for c in some) < kernels[n].begin or max(c.end for c in some) > kernels[n].end:
                sys.exit(f"GPU {gpu}: CTAs that are there before or after their kernel")
    check_links(trace, total)
    first, second = launches[:2]
    if max(first["start_ps"], second["start_ps"]) >= min(first["end_ps"], second["end_ps"]):
        sys.exit("the GPUs work one after the other")
    copies = [(trace.path(s.track)[0], s.name) for s in trace.slices if s.name.startswith("copy")]
    equal("copies", sorted(copies), [("GPU 1: copy engines", "copy to the host"), ("GPU 1: streams", "copy to another GPU"),
                                     ("GPU 1: streams", "copy to the host")])


def part(path, whole, sms, first, end):
    def chosen(t, s):
        place = t.path(s.track)
        return int(first) <= s.begin < int(end) and (place[0] != "SMs" or
                                                      ("warp" not in place[2] and int(place[1].split()[1]) < int(sms)))
    def said(t, some):
        return sorted((t.path(s.track)[:2], s[1:4], sorted(s.args.items(), key=str)) for s in some)
    a, b = perfetto_trace.Trace(path), perfetto_trace.Trace(whole)
    wanted = [s for s in b.slices if chosen(b, s)]
    if not wanted or len(wanted) == len(b.slices):
        sys.exit("nothing, or everything, is chosen")
    equal("slices", said(a, a.slices), said(b, wanted))


def clients(path, ctas, per_sm, us, more=0):
    """Each client has its own tracks. No SM has more CTAs of all clients than fit, none of a client is there twice or is missing; each
    spins its time, within its kernel, which ends when its add has arrived. Who comes when the GPU is full has SMs that others leave."""
    trace = perfetto_trace.Trace(path)
    names = sorted({trace.path(s.track)[0].split(":")[0] for s in trace.slices})
    equal("clients", names, [f"client {i}" for i in range(len(names))])
    by_sm = collections.defaultdict(list)
    for i, name in enumerate(names):
        spins = (float(us) + i * float(more)) * 1000
        kernel, = (s for s in trace.under(f"{name}: streams") if "launch" in s.args)
        stays = trace.under(f"{name}: SMs")
        mine = [s for s in stays if "cta" in s.args and "warp" not in s.args]
        equal(f"{name}: CTAs", sorted(s.args["cta"] for s in mine), list(range(int(ctas))))
        warps = [s for s in stays if "warp" in s.args]
        equal(f"{name}: warps of CTA 0", [(w.args["cta"], w.args["warp"]) for w in warps], [(0, 0)])
        cta, = (s for s in mine if s.args["cta"] == 0)
        equal(f"{name}: when", (min(w.begin for w in warps), max(w.end for w in warps), {trace.path(w.track)[1] for w in warps}),
              (cta.begin, cta.end, {trace.path(cta.track)[1]}))
        waits = sum(s.end - s.begin for s in stays if is_state(s))
        equal(f"{name}: states of those warps", waits, sum(w.end - w.begin for w in warps))
        for s in mine:
            if s.begin < kernel.begin or s.end >= kernel.end or not 0 <= s.end - s.begin - spins < 1500:
                sys.exit(f"{name}: CTA {s.args['cta']} from {s.begin} to {s.end} ns, its kernel from {kernel.begin} to {kernel.end}")
            by_sm[trace.path(s.track)[1]].append(s)
    equal("CTAs of an SM at once", max(most_at_once(x) for x in by_sm.values()), int(per_sm))
    print(" ".join(f"{len(x)}" for x in by_sm.values()))


def engines(path, size):
    """One behind the other; each is its client's."""
    trace = perfetto_trace.Trace(path)
    copies = sorted((s.begin, s.end, trace.path(s.track)[0]) for s in trace.slices
                    if trace.path(s.track)[1] == "to the device" and s.args["bytes"] == int(size))
    equal("whose", sorted(c[2] for c in copies), [f"client {i}: copy engines" for i in range(len(copies))])
    if len(copies) < 2 or any(a[1] > b[0] for a, b in zip(copies, copies[1:])):
        sys.exit(f"copies at once: {copies}")


def slices(path):
    """A process that has the GPU in turns: its only CTA is there from within a microsecond of its kernel's beginning to one before its end,
    turns of others included."""
    trace = perfetto_trace.Trace(path)
    kernel, = (s for s in trace.under("streams") if "launch" in s.args)
    cta, = (s for s in trace.under("SMs") if "cta" in s.args)
    if not (0 <= cta.begin - kernel.begin < 1000 and 0 <= kernel.end - cta.end < 1000):
        sys.exit(f"a CTA from {cta.begin} to {cta.end} ns, its kernel from {kernel.begin} to {kernel.end}")


def library(path):
    try:
        from perfetto.protos.perfetto.trace import perfetto_trace_pb2
    except ImportError:
        sys.exit(77)
    theirs = perfetto_trace_pb2.Trace()
    with open(path, "rb") as f:
        theirs.ParseFromString(f.read())
    ours = perfetto_trace.Trace(path)
    kinds = collections.Counter(p.track_event.type for p in theirs.packet if p.HasField("track_event"))
    equal("events", kinds, {1: len(ours.slices), 2: len(ours.slices), 3: len(ours.instants)} if ours.instants else
          {1: len(ours.slices), 2: len(ours.slices)})
    equal("tracks", {p.track_descriptor.uuid: (p.track_descriptor.name, p.track_descriptor.parent_uuid)
                     for p in theirs.packet if p.HasField("track_descriptor")}, ours.tracks)


if __name__ == "__main__":
    try:
        {"run": run, "exec": program, "pair": pair, "part": part, "clients": clients, "engines": engines, "slices": slices, "library": library}[sys.argv[1]](*sys.argv[2:])
    except perfetto_trace.Broken as e:
        sys.exit(f"{sys.argv[2]}: {e}")
