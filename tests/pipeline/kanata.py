"""Reads pipeline files for the viewer Konata: Kanata 0004, by its description (docs/kanata-log-format.md of
github.com/shioyadan/Konata). Raises Broken for whatever the format does not allow."""
import re


class Broken(Exception):
    pass


class Instruction:
    def __init__(self, number, order, thread, cycle):
        self.number, self.order, self.thread, self.begin = number, order, thread, cycle
        self.label, self.tooltip = "", ""
        self.lanes = {0: [], 1: []}  # [name, from, until]; until None: open
        self.producers = []
        self.end = self.flushed = None

    def stage(self, name):
        """[from, until) of a stage of lane 0; None: it was not in it."""
        found = [s for s in self.lanes[0] if s[0] == name]
        if len(found) > 1:
            raise Broken(f"instruction {self.number} is in stage {name} twice")
        return (found[0][1], found[0][2]) if found else None

    @property
    def issued(self):
        return self.stage("Is")[0]

    @property
    def executes(self):
        return next((s[1] for s in self.lanes[0] if "X" in s[0]), None)


def need(condition, line, text):
    if not condition:
        raise Broken(f"line {line}: {text}")


class Reader:
    def __init__(self):
        self.now, self.all, self.retired = None, [], 0

    def instruction(self, text, line):
        need(text.isdigit() and int(text) < len(self.all), line, f"no instruction {text}")
        x = self.all[int(text)]
        need(x.end is None, line, f"instruction {text} has left already")
        return x

    def command(self, line, words):
        kind, args = words[0], words[1:]
        counts = {"C=": 1, "C": 1, "I": 3, "L": 3, "S": 3, "E": 3, "R": 3, "W": 3}
        need(kind in counts and len(args) == counts[kind], line, "unknown command or wrong number of fields")
        need(self.now is not None or kind == "C=", line, "C= comes first")
        getattr(self, "on_" + ("start" if kind == "C=" else kind.lower()))(line, *args)

    def on_start(self, line, cycle):
        need(self.now is None and cycle.isdigit(), line, "a second C=, or no number")
        self.now = int(cycle)

    def on_c(self, line, cycles):
        need(re.fullmatch(r"[1-9]\d*", cycles), line, "cycles go forward")
        self.now += int(cycles)

    def on_i(self, line, number, order, thread):
        need(number == str(len(self.all)), line, "ids count up in the order of the file")
        self.all.append(Instruction(int(number), int(order), int(thread), self.now))

    def on_l(self, line, number, kind, text):
        x = self.instruction(number, line)
        need(kind in "012" and text, line, "label of type 0, 1 or 2")
        if kind == "0":
            x.label += text
        else:
            x.tooltip += text

    def on_s(self, line, number, lane, name):
        stages = self.instruction(number, line).lanes[int(lane)]
        if stages and stages[-1][2] is None:
            stages[-1][2] = self.now
            need(stages[-1][1] < self.now, line, "a stage of no cycle")
        stages.append([name, self.now, None])

    def on_e(self, line, number, lane, name):
        stages = self.instruction(number, line).lanes[int(lane)]
        need(stages and stages[-1][0] == name and stages[-1][2] is None, line, f"{name} is not the stage it is in")
        stages[-1][2] = self.now

    def on_w(self, line, consumer, producer, kind):
        x = self.instruction(consumer, line)
        need(producer.isdigit() and int(producer) < len(self.all) and kind == "0", line, "arrow from nowhere")
        x.producers.append(self.all[int(producer)])

    def on_r(self, line, number, order, flushed):
        x = self.instruction(number, line)
        need(order == str(self.retired) and flushed in "01", line, "retire ids count up")
        self.retired += 1
        x.end, x.flushed = self.now, flushed == "1"
        for stages in x.lanes.values():
            if stages and stages[-1][2] is None:
                stages[-1][2] = self.now


def read(path):
    """All instructions, in the order in which they appear."""
    with open(path, encoding="utf-8") as f:
        lines = f.read().split("\n")
    need(lines[0] == "Kanata\t0004", 1, "not Kanata 0004")
    need(lines[-1] == "", len(lines), "cut off")
    reader = Reader()
    for i, text in enumerate(lines[1:-1], 2):
        reader.command(i, text.split("\t"))
    for x in reader.all:
        need(x.end is not None, 0, f"instruction {x.number} never leaves")
        for p in x.producers:
            need(x.executes is not None and p.executes is not None, 0, "an arrow between stages without X")
            need(p.thread == x.thread and p.issued < x.issued, 0, "an arrow back in time, or to another warp")
    return reader.all
