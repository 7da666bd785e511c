#!/usr/bin/env python3
"""Pages of --html against the data they were made of: check.py WHAT PAGE [ARGUMENT...]. Prints what is wrong; status 1.

text PAGE               without a browser: one file that names no other, its JSON in one piece
data PAGE JSON          the report inside is the one of --json; sums of the series and of the listing are the launch's counters
tables PAGE JSON        in a browser: no message, no request; every table has the numbers of the JSON
keyboard PAGE           the way through a page with the keyboard alone
occupancy PAGE CSV BIN  the calculator's numbers are those of the simulator
looks PAGE FOLDER       light, dark, narrow, printed: nothing sticks out, text has contrast; pictures are left in FOLDER
hostile PAGE            what a guest named is text
changes PAGE JSON BASE  the table of changes is that of both reports
chosen PAGE JSON N      pages of programs with many launches: N are shown, the longest among them
links PAGE JSON         what went over links of a machine
linked PAGE JSON        the same in a browser
launches PAGE JSON      pages of a program: each launch can be chosen
"""
import csv
import decimal
import json
import math
import re
import subprocess
import sys

import browser

MARK = '<script type="application/json" id="data">'
TABLE = """(id => {
  const t = document.getElementById(id);
  if (!t) return null;
  const keys = [...t.querySelectorAll("thead tr > *")].map(h => h.dataset.key);
  return [...t.tBodies[0].rows].map(r => Object.fromEntries([...r.cells].map((c, i) =>
    [keys[i] || "", "value" in c.dataset ? Number(c.dataset.value) : c.textContent])));
})"""
wrong = []


def fixed(x):
    """One digit behind the point as the page's toFixed has it: of two that are as near the larger."""
    return decimal.Decimal(x).quantize(decimal.Decimal("0.1"), decimal.ROUND_HALF_UP)


def say(what):
    wrong.append(what)


def same(what, is_, expected):
    if isinstance(is_, float) or isinstance(expected, float):
        if is_ is not None and expected is not None and math.isclose(is_, expected, rel_tol=1e-12, abs_tol=1e-15):
            return
    elif is_ == expected:
        return
    say(f"{what}: {is_!r}, not {expected!r}")


def data_of(path):
    text = open(path, encoding="utf-8").read()
    start = text.index(MARK) + len(MARK)
    return json.loads(text[start:text.index("</script>", start)])


def without_page_keys(report):
    return {k: v for k, v in report.items() if k not in ("usage", "listing", "host")}


# --- without a browser ----------------------------------------------------------------------------


def check_text(path):
    text = open(path, encoding="utf-8").read()
    for pattern in (r"<(script|img|iframe|link)[^>]*\s(src|href)=", r"@import", r"url\((?!#)"):
        for found in re.finditer(pattern, re.sub(r"<script>.*?</script>", "", text, flags=re.S)):
            say(f"names another file: {text[found.start():found.start() + 60]!r}")
    start = text.index(MARK) + len(MARK)
    if "<" in text[start:text.index("</script>", start)]:
        say("a tag could begin in the data")
    if text.count("<script") != text.count("</script>") or "Content-Security-Policy" not in text:
        say("scripts do not end, or no policy keeps it from the network")
    if data_of(path)["schema"] != "warpstep-html-1":
        say("no schema")


def check_usage(report):
    u, s = report["usage"], report["stats"]
    same("warp_insts of the series", sum(u["warp_insts"]), s["warp_insts"])
    same("l1_busy_cycles", sum(u["l1_busy_cycles"]), s["sm"]["mem_busy"])
    same("l2_bytes", sum(u["l2_bytes"]), 32 * sum(s["l2"]["op_sectors"].values()))
    same("dram_bytes", sum(u["dram_bytes"]), s["dram"]["dram_read_bytes"] + s["dram"]["dram_write_bytes"])
    same("end of the series", u["until_cycle"][-1], s["gpu"]["cycles"])
    if not u["until_cycle"] == sorted(set(u["until_cycle"])) or len(u["until_cycle"]) > 512:
        say(f"{len(u['until_cycle'])} points, or not in order")


def check_listing(report):
    listing, sm = report["listing"], report["stats"]["sm"]
    insts = listing["instructions"]
    total = lambda key: sum(i.get(key, 0) for i in insts)
    same("issued", total("issued"), sm["warp_insts"])
    same("threads", total("threads"), sm["thread_insts"])
    same("conflicts", total("conflicts"), sm["shared_conflicts"])
    ended = sm["warp_cycles"] - total("cycles")
    if not 0 <= ended <= sm["warp_state"]["drain"]:
        say(f"{total('cycles')} cycles of {sm['warp_cycles']}")
    for i in insts:
        if sum(i["warp_state"].values()) != i.get("cycles", 0):
            say(f"states of {i['text']} do not add up")
    for i in insts:
        if "line" in i and not any(l["line"] == i["line"] for l in listing["files"][i["file"]]["lines"]):
            if listing["files"][i["file"]]["lines"]:
                say(f"line {i['line']} of {i['text']} is not there")


def check_data(path, report_path):
    page, report = data_of(path), json.load(open(report_path))
    inside = page["runs"][0]["report"]
    same("keys", sorted(without_page_keys(inside)), sorted(without_page_keys(report)))
    for key, value in without_page_keys(report).items():
        if inside.get(key) != value:
            say(f"{key} differs from the report")
    check_usage(inside)
    check_listing(inside)


def check_chosen(path, report_path, most):
    launches = json.load(open(report_path))["launches"]
    shown = [r["number"] for r in data_of(path)["runs"]]
    longest = max(launches, key=lambda l: l["cycles"])["launch"]
    same("launches shown", len(shown), min(int(most), len(launches)))
    same("in order", shown, sorted(shown))
    if longest not in shown:
        say(f"launch {longest}, the longest, is not among {shown}")
    if longest <= int(most):
        say("the longest is one of the first: this shows nothing")


def check_links(path, report_path):
    """The page's links are those of --json, with a series that sums up to their bytes; what linked.cu reads and writes behind links is
    there by formula: 2 MiB from the host, to it, and from GPU 1, in lines of 128 bytes, and 100 hops of 82 warps of which some
    share a line's answer. Pages of launches have a series that goes on to their end."""
    report, page = json.load(open(report_path)), data_of(path)
    links = {(l["from"], l["to"]): l for l in page["program"]["links"]}
    without = [{k: v for k, v in l.items() if not k.startswith("step_")} for l in page["program"]["links"]]
    same("links", without, report["links"])
    for way, l in links.items():
        same(f"series of {way}", sum(l["step_bytes"]), l["bytes"])
    mib = 2 << 20
    same("from GPU 1", (links["gpu1", "gpu0"]["payload_bytes"], links["gpu1", "gpu0"]["messages"]), (mib, mib // 128))
    same("asked of GPU 1", links["gpu0", "gpu1"]["messages"], mib // 128)
    same("to the host", links["gpu0", "cpu0"]["payload_bytes"], mib)
    if not mib < links["cpu0", "gpu0"]["payload_bytes"] <= mib + 100 * 82 * 32:
        say(f"from the host: {links['cpu0', 'gpu0']}")
    bound = [l.get("links", {}).get("requests", 0) for l in report["launches"]]
    same("requests", [bound[0], bound[1], bound[3], bound[4]], [mib // 128] * 3 + [0])
    same("runs", [r["number"] for r in page["runs"]], [1, 2, 3, 4, 5])
    for run in page["runs"]:
        check_usage(run["report"])
        launch = report["launches"][run["number"] - 1]
        same(f"cycles of launch {run['number']}", run["report"]["stats"]["gpu"]["cycles"], launch["cycles"])


# --- in a browser ---------------------------------------------------------------------------------


def opened(path, **how):
    b = browser.Browser(browser.find(), **how)
    b.open("file://" + path)
    return b


def quiet(b):
    for m in b.messages:
        say(f"message: {m}")
    for r in b.requests:
        if not r.startswith(("file://", "data:")):
            say(f"request: {r}")


def rows_of(b, name):
    rows = b.evaluate(f"{TABLE}({json.dumps(name)})")
    if rows is None:
        say(f"no table {name}")
    return rows or []


def by(rows, key):
    return {r[key]: r for r in rows}


def compare_rows(name, rows, key, expected, columns):
    """expected: {value of key: {column: number}}; numbers only."""
    have = by(rows, key)
    same(f"{name}: rows", sorted(map(str, have)), sorted(map(str, expected)))
    for row, values in expected.items():
        for column in columns:
            value = values.get(column)
            if row in have and value is not None:
                same(f"{name}: {row}.{column}", have[row].get(column), value)


def spaced(names):
    return {k.replace("_", " "): v for k, v in names.items()}


def check_state_tables(b, sm):
    for table, group in (("warp-states", "warp_state"), ("issue-slots", "slot")):
        counts, whole = sm[group], sum(sm[group].values())
        compare_rows(table, rows_of(b, table), "name",
                     {k: {"n": n} for k, n in counts.items() if n}, ["n"])
        texts = b.evaluate(f"[...document.querySelectorAll('#{table} tbody tr')].map(r => [r.cells[0].textContent, r.cells[2].textContent])")
        for name, text in texts:
            same(f"{table}: share of {name}", text, f"{fixed(100 * counts[name] / whole)} %")


def check_memory_tables(b, stats):
    sm, l2, dram = stats["sm"], stats["l2"], stats["dram"]
    classes = {c: {"instructions": n, "sectors": sm["class_sectors"][c], "bytes": 32 * sm["class_sectors"][c],
                   "passes": sm["class_passes"][c], "conflicts": sm["class_conflicts"][c]}
               for c, n in sm["mem_class"].items() if n and c != "const"}
    compare_rows("memory-classes", rows_of(b, "memory-classes"), "name", classes,
                 ["instructions", "sectors", "bytes", "passes", "conflicts"])
    levels = {op: {"requests": n, "sectors": l2["op_sectors"][op], "bytes": 32 * l2["op_sectors"][op]}
              for op, n in l2["op_requests"].items()}
    levels["DRAM read"] = {"requests": dram["dram_reads"], "bytes": dram["dram_read_bytes"]}
    levels["DRAM write"] = {"requests": dram["dram_writes"], "bytes": dram["dram_write_bytes"]}
    compare_rows("memory-levels", rows_of(b, "memory-levels"), "name", levels, ["requests", "sectors", "bytes"])


def check_code_table(b, report):
    all_cycles = report["stats"]["sm"]["warp_cycles"]
    expected = report["listing"]["instructions"]
    have = rows_of(b, "instructions")
    same("instructions", len(have), len(expected))
    for row, i in zip(have, expected):
        same("instruction", row["text"], i["text"])
        same(f"issued of {i['text']}", row["issued"], i["issued"])
        same(f"share of {i['text']}", row["share"], i.get("cycles", 0) / all_cycles)
    lines = {}
    for i in expected:
        if "line" in i:
            lines[(i["file"], i["line"])] = lines.get((i["file"], i["line"]), 0) + i["issued"]
    if lines:
        shown = [r["issued"] for r in rows_of(b, "source-lines") if isinstance(r["issued"], (int, float)) and r["issued"]]
        same("issued of source lines", sorted(shown), sorted(lines.values()))


def check_tables(path, report_path):
    report = json.load(open(report_path))
    stats = report["stats"]
    with opened(path) as b:
        quiet(b)
        speed = spaced(report["speed"])
        compare_rows("speed-table", rows_of(b, "speed-table"), "name",
                     speed, ["amount", "peak_per_cycle", "elapsed"])
        compare_rows("roofline-table", rows_of(b, "roofline-table"), "name", report["roofline"], list(report["roofline"]["fp32"]))
        check_state_tables(b, stats["sm"])
        check_memory_tables(b, stats)
        check_code_table(b, report)
        usage = report["usage"]
        rows = rows_of(b, "usage-table")
        same("usage-table: until", [r["until"] for r in rows], usage["until_cycle"])
        for r, n in zip(rows, usage["warp_insts"]):
            peak = report["speed"]["issue_slots"]["peak_per_cycle"] * (r["until"] - r["from"])
            same("usage-table: issue slots", r["share:warp_insts"], n / peak)
        if "what_if" in report:
            compare_rows("what-if", rows_of(b, "what-if"), "name",
                         {w["name"].replace("_", " "): w for w in report["what_if"] if w["seen"]}, ["cycles", "speedup"])
        parameters = {r["key"]: r["value"] for r in rows_of(b, "parameters")}
        same("parameters", parameters, {k: p["value"] for k, p in report["gpu"]["parameters"].items()})
        cards = dict(b.evaluate("[...document.querySelectorAll('#cards > div')].map(d => [d.children[0].textContent, d.children[1].firstChild.data])"))
        same("Cycles", cards["Cycles"], f"{stats['gpu']['cycles']:,}")
        same("Warp instructions", cards["Warp instructions"], f"{stats['warp_insts']:,}")
        same("Time", cards["Time"], f"{stats['gpu']['time_ps'] / 1e6:.2f} µs")
        same("limiter", b.evaluate("document.getElementById('limiter-name').textContent"), report["limiter"]["name"])
        same("evidence", b.evaluate("document.getElementById('limiter-evidence').textContent"), report["limiter"]["evidence"])
        if b.evaluate("typeof Dygraph") != "undefined":
            same("canvas", b.evaluate("document.querySelectorAll('.series canvas').length > 0"), True)
        elif "no chart library" not in b.evaluate("document.getElementById('time').textContent"):
            say("no chart, and the page does not say so")


FOCUS = "document.activeElement.id || document.activeElement.dataset.place || document.activeElement.textContent"


def tab_to(b, condition, most=80):
    for _ in range(most):
        b.key("Tab")
        if b.evaluate(condition):
            return True
    say(f"Tab does not come to {condition}")
    return False


def order_of(b, table, key):
    return [r[key] for r in rows_of(b, table)]


def check_sorting(b):
    heading = "document.activeElement.closest('table')?.id === 'warp-states' && document.activeElement.parentNode.dataset.key"
    if not tab_to(b, f"({heading}) === 'name'"):
        return
    b.key("Enter")
    names = order_of(b, "warp-states", "name")
    same("names, sorted", names, sorted(names))
    b.key("Enter")
    same("names, turned", order_of(b, "warp-states", "name"), names[::-1])
    same("aria-sort", b.evaluate("document.activeElement.parentNode.getAttribute('aria-sort')"), "descending")
    b.key("Tab")
    b.key(" ")
    counts = order_of(b, "warp-states", "n")
    same("counts, sorted", counts, sorted(counts, reverse=True))
    b.key("Tab", shift=True)
    same("back", b.evaluate(heading), "name")


def check_code_keys(b):
    in_sass = "document.activeElement.tagName === 'TR' && document.activeElement.closest('table').id === 'instructions'"
    if not tab_to(b, in_sass):
        return
    first = b.evaluate("document.activeElement.rowIndex")
    b.key("ArrowDown")
    b.key("ArrowDown")
    same("two rows down", b.evaluate("document.activeElement.rowIndex"), first + 2)
    linked = b.evaluate("[...document.querySelectorAll('#source-lines tr.linked')].map(r => r.dataset.place)")
    place = b.evaluate("document.activeElement.dataset.place")
    if place and place not in linked:
        say(f"line {place} is not marked: {linked}")
    details = b.evaluate("document.getElementById('code-details').textContent")
    if "warp-cycles, issued" not in details:
        say(f"details: {details!r}")
    b.key("End")
    same("last row", b.evaluate("document.activeElement === document.querySelector('#instructions tbody').lastChild"), True)
    b.key("Escape")
    same("marked after Escape", b.evaluate("document.querySelectorAll('tr.linked').length"), 0)
    b.key("Home")
    same("first row", b.evaluate("document.activeElement.rowIndex"), 1)


def check_keyboard(path):
    with opened(path) as b:
        b.key("Tab")
        same("first stop", b.evaluate(FOCUS), "Skip to the report")
        same("skip link is visible", b.evaluate("document.activeElement.getBoundingClientRect().left >= 0"), True)
        b.key("Enter")
        same("after skipping", b.evaluate("document.activeElement.id"), "main")
        check_sorting(b)
        check_code_keys(b)
        if tab_to(b, "document.activeElement.id === 'occupancy-registers'"):
            b.evaluate("document.activeElement.select()")
            b.type("255")
            text = b.evaluate("document.getElementById('occupancy-result').textContent")
            if "limited by registers" not in text:
                say(f"255 registers: {text}")
        steps = b.evaluate("[...document.querySelectorAll('a, button, input, select, summary, [tabindex=\"0\"]')].filter(e => e.tabIndex >= 0 && !e.matches('tr')).length")
        hidden = b.evaluate("[...document.querySelectorAll('button, input, select')].filter(e => e.tabIndex < 0).length")
        if hidden or steps < 20:
            say(f"{hidden} of {steps} controls cannot be reached")
        quiet(b)


def limits_of(bin_, preset):
    lines = subprocess.run([bin_, "gpus", "--resolve", preset], capture_output=True, text=True, check=True).stdout.splitlines()
    values = {w[0]: {"value": w[1]} for w in map(str.split, lines) if len(w) > 1 and w[0].startswith("sm.")}
    return {"gpu": {"parameters": values}}


def check_occupancy(path, table, bin_):
    rows = list(csv.DictReader(l for l in open(table) if not l.startswith("#")))
    with opened(path) as b:
        presets = {r["preset"]: limits_of(bin_, r["preset"]) for r in rows}
        b.evaluate(f"globalThis.presets = {json.dumps(presets)}; 0")
        asked = [[r["preset"], int(r["registers"]), int(r["threads"]), int(r["shared"])] for r in rows]
        got = b.evaluate(f"{json.dumps(asked)}.map(([p, registers, threads, shared]) => "
                         "{ const o = occupancyOf(limitsOf(presets[p]), {registers, threads, shared}); return [o.ctas, o.limiter]; })")
        for r, (ctas, limiter) in zip(rows, got):
            if [str(ctas), limiter] != [r["ctas"], r["limiter"]]:
                say(f"{r}: {ctas}, {limiter}")
        report = data_of(path)["runs"][0]["report"]
        is_ = report["occupancy"]
        text = b.evaluate("document.getElementById('occupancy-result').textContent")
        if not text.startswith(f"{is_['ctas']} CTAs = {is_['warps']} of {is_['max_warps']} warps"):
            say(f"{text}: the report has {is_['ctas']} CTAs")
        limits = {r["name"]: r["ctas"] for r in rows_of(b, "occupancy-limits")}
        for name, key in (("CTA slots", "slots"), ("warps", "warps"), ("registers", "registers"), ("shared memory", "shared")):
            if is_["limits"][key] is not None:
                same(f"limit by {name}", limits[name], is_["limits"][key])
    print(f"# {len(rows)} kernels, {len(presets)} GPUs")


def luminance(color):
    parts = [int(color[i:i + 2], 16) / 255 for i in (1, 3, 5)]
    r, g, b = (c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in parts)
    return 0.2126 * r + 0.7152 * g + 0.0722 * b


def contrast(a, b):
    x, y = sorted((luminance(a), luminance(b)))
    return (y + 0.05) / (x + 0.05)


def check_contrast(b, scheme):
    names = ["paper", "panel", "mark", "ink", "faint", "accent", "good", "bad"] + [f"hue-{i}" for i in range(1, 6)]
    c = {n: b.evaluate(f"getComputedStyle(document.documentElement).getPropertyValue('--{n}').trim()") for n in names}
    c = {n: "#" + "".join(2 * x for x in v[1:]) if len(v) == 4 else v for n, v in c.items()}
    for n, ground, least in [("ink", "paper", 7), ("ink", "mark", 7), ("faint", "paper", 4.5), ("faint", "panel", 4.5),
                             ("accent", "paper", 4.5), ("good", "panel", 4.5), ("bad", "panel", 4.5),
                             *((f"hue-{i}", "paper", 3) for i in range(1, 6))]:
        if contrast(c[n], c[ground]) < least:
            say(f"{scheme}: {n} on {ground} has a contrast of {contrast(c[n], c[ground]):.1f}")
    return c["paper"]


def check_looks(path, folder):
    paper = {}
    for scheme, width in (("light", 1280), ("dark", 1280), ("light", 400)):
        with opened(path, width=width, dark=scheme == "dark") as b:
            paper[scheme] = check_contrast(b, scheme)
            over = b.evaluate("document.documentElement.scrollWidth - innerWidth")
            if over > 0:
                say(f"{scheme}, {width} wide: {over} pixels stick out")
            b.screenshot(f"{folder}/{scheme}-{width}.png")
            if (scheme, width) == ("light", 1280):
                b.pdf(f"{folder}/page.pdf")
            quiet(b)
    if luminance(paper["light"]) < 0.9 or luminance(paper["dark"]) > 0.1:
        say(f"paper is {paper}")
    pdf = open(f"{folder}/page.pdf", "rb").read()
    if not pdf.startswith(b"%PDF") or len(re.findall(rb"/Type\s*/Page\b", pdf)) < 2:
        say("printing gives no pages")


def check_hostile(path):
    with opened(path) as b:
        if "hacked" in b.evaluate("document.title") or b.evaluate("document.querySelectorAll('main img, main script, main iframe').length"):
            say("a guest's text became a part of the page")
        text = b.evaluate("document.body.textContent")
        if "</script><script>" not in text:
            say("the hostile text is not shown at all")
        quiet(b)


def numbers(value, path=""):
    if isinstance(value, dict):
        for k, v in value.items():
            yield from numbers(v, f"{path}.{k}" if path else k)
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        yield path, value


def check_changes(path, report_path, base_path):
    report, base = json.load(open(report_path)), json.load(open(base_path))
    now, was = dict(numbers(report["stats"])), dict(numbers(base["stats"]))
    differ = {k: {"was": was[k], "now": n} for k, n in now.items() if k in was and was[k] != n}
    with opened(path) as b:
        compare_rows("changed-numbers", rows_of(b, "changed-numbers"), "key", differ, ["was", "now"])
        same("changed settings", rows_of(b, "changed-settings"), [{"key": "l1.perfect", "was": "false", "now": "true"}])
        share = report["stats"]["gpu"]["cycles"] / base["stats"]["gpu"]["cycles"] - 1
        card = b.evaluate("document.querySelector('#cards small').textContent")
        same("card", card, f"{100 * share:.1f} %, was {base['stats']['gpu']['cycles']:,}")
        quiet(b)


def check_launches(path, report_path):
    report, page = json.load(open(report_path)), data_of(path)
    program = page["program"]
    same("launches", program, report)
    assert page["runs"] and report["launches"], "no launch on the page"
    with opened(path) as b:
        quiet(b)
        compare_rows("launch-table", rows_of(b, "launch-table"), "number",
                     {l["launch"]: {"cycles": l.get("cycles"), "instructions": l["warp_insts"]} for l in report["launches"]},
                     ["cycles", "instructions"])
        for i, run in enumerate(page["runs"]):
            if len(page["runs"]) > 1:
                b.evaluate(f"(s => {{ s.value = {i}; s.dispatchEvent(new Event('change')); }})(document.getElementById('launch'))")
            r = run["report"]
            check_usage(r)
            check_listing(r)
            check_state_tables(b, r["stats"]["sm"])
            launch = report["launches"][run["number"] - 1]
            same("kernel", r["kernel"], launch["kernel"])
            same(f"cycles of launch {run['number']}", r["stats"]["gpu"]["cycles"], launch["cycles"])
            same(f"instructions of launch {run['number']}", r["stats"]["warp_insts"], launch["warp_insts"])
            shown = b.evaluate("document.querySelector('#cards dd').firstChild.data")
            same(f"card of launch {run['number']}", shown, f"{launch['cycles']:,}")
        quiet(b)
    print(f"# {len(page['runs'])} launches shown of {len(report['launches'])}")


def check_linked(path, report_path):
    report = json.load(open(report_path))
    with opened(path) as b:
        quiet(b)
        compare_rows("link-table", rows_of(b, "link-table"), "name",
                     {f"{l['from']} > {l['to']}": {"bytes": l["bytes"], "taken": l["taken_ps"] / report["time_ps"]} for l in report["links"]},
                     ["bytes", "taken"])
        compare_rows("launch-table", rows_of(b, "launch-table"), "number",
                     {l["launch"]: {"gpu": l["gpu"]} for l in report["launches"]}, ["gpu"])
        same("drawings", b.evaluate("document.querySelectorAll('#link-table svg.bars path').length"), len(report["links"]))
        quiet(b)


CHECKS = {name[len("check_"):]: f for name, f in list(globals().items()) if name.startswith("check_")}

if __name__ == "__main__":
    CHECKS[sys.argv[1]](*sys.argv[2:])
    print("\n".join(wrong[:20]), end="\n" if wrong else "")
    sys.exit(bool(wrong))
