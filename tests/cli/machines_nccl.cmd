# Two sockets; below each two switches with two GPUs, each with two links to each of six NVSwitches (DGX A100 user guide).
$W machines --nccl-topology dgx-a100 | python3 -c '
import sys, xml.etree.ElementTree as t
s = t.parse(sys.stdin).getroot()
for c in s:
    print("socket", c.attrib["numaid"])
    for p in c:
        print("  bridge", p.attrib["class"], *(q.attrib["link_speed"] + " x" + q.attrib["link_width"] for q in p))
        for g in p.iter("gpu"):
            links = g.findall("nvlink")
            print("    gpu", g.attrib["dev"], "sm", g.attrib["sm"], "links", sum(int(n.attrib["count"]) for n in links),
                  "to", len(set(n.attrib["target"] for n in links)), *set(n.attrib["tclass"] for n in links))'
$W machines --nccl-topology 2x-rtx-3090-nvlink | grep nvlink
