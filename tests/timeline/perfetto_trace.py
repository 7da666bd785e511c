"""Reads traces of Perfetto: protobuf messages as protos/perfetto/trace of github.com/google/perfetto describes them, without any
library. Raises Broken for what does not parse, and for slices that do not nest."""
import collections
import struct

Slice = collections.namedtuple("Slice", "track begin end name args")


class Broken(Exception):
    pass


def varint(data, at):
    value = shift = 0
    while True:
        if at >= len(data) or shift > 63:
            raise Broken("a varint that does not end")
        value |= (data[at] & 0x7F) << shift
        shift += 7
        at += 1
        if data[at - 1] < 0x80:
            return value, at


def fields(data):
    """(number, value) of a message: int of varints, float of doubles, bytes of the rest."""
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        if key & 7 == 0:
            value, at = varint(data, at)
        elif key & 7 == 1:
            if at + 8 > len(data):
                raise Broken("a field that is cut off")
            value, at = struct.unpack_from("<d", data, at)[0], at + 8
        elif key & 7 == 2:
            n, at = varint(data, at)
            value, at = data[at:at + n], at + n
            if len(value) < n:
                raise Broken("a field that is cut off")
        else:
            raise Broken(f"wire type {key & 7}")
        yield key >> 3, value


def message(data, known):
    """Fields by name; a number that is not known is an error. Repeated fields: name ends with *."""
    found = {}
    for number, value in fields(data):
        name = known.get(number)
        if not name:
            raise Broken(f"field {number}")
        if name.endswith("*"):
            found.setdefault(name, []).append(value)
        elif name in found:
            raise Broken(f"{name} twice")
        else:
            found[name] = value
    return found


PACKET = {8: "timestamp", 10: "sequence", 11: "event", 12: "interned", 13: "flags", 60: "track"}
TRACK = {1: "uuid", 2: "name", 5: "parent", 8: "counter", 11: "order", 12: "rank"}
EVENT = {4: "annotation*", 9: "type", 10: "name", 11: "track", 44: "value"}
COUNTER = {6: "unit"}
INTERNED = {2: "event*", 3: "annotation*"}
NAMED = {1: "iid", 2: "text"}
ANNOTATION = {1: "name", 3: "number", 6: "text"}


class Trace:
    def __init__(self, path):
        self.tracks = {}  # uuid: (name, parent)
        self.slices, self.instants = [], []
        self.units = {}  # of counters, by track
        self.values = collections.defaultdict(list)  # (time, value) of each
        self.writers = {}  # names by their numbers, of each sequence: files may lie one behind the other
        self.open = None
        with open(path, "rb") as f:
            data = f.read()
        for number, packet in fields(data):
            if number != 1:
                raise Broken(f"field {number} of Trace")
            self.packet(message(packet, PACKET))
        if self.open:
            raise Broken("a slice without an end")
        self.check()

    def packet(self, p):
        first = p.get("sequence") not in self.writers
        if p.get("sequence", 0) < 1 or p.get("flags") != (1 if first else 2):
            raise Broken("a packet that does not follow the others")
        if self.open and first:
            raise Broken("a slice without an end")
        self.names = self.writers.setdefault(p["sequence"], {"event*": {}, "annotation*": {}})
        if "interned" in p:
            for table, rows in message(p["interned"], INTERNED).items():
                for row in rows:
                    n = message(row, NAMED)
                    if n["iid"] in self.names[table]:
                        raise Broken("a number for two names")
                    self.names[table][n["iid"]] = n["text"].decode()
        if "track" in p:
            t = message(p["track"], TRACK)
            if t["uuid"] in self.tracks or not t["uuid"] or t.get("parent", 0) not in {0, *self.tracks}:
                raise Broken("a track that is there, or whose group is not")
            self.tracks[t["uuid"]] = (t["name"].decode(), t.get("parent", 0))
            if "counter" in t:
                self.units[t["uuid"]] = message(t["counter"], COUNTER)["unit"].decode()
        if "event" in p:
            self.event(p["timestamp"], message(p["event"], EVENT))

    def event(self, at, e):
        if e["track"] not in self.tracks:
            raise Broken("an event on no track")
        name = self.names["event*"][e["name"]] if "name" in e else None
        if (e["type"] == 4) != (e["track"] in self.units) or (e["type"] == 4) != ("value" in e):
            raise Broken("a value on a track of slices, or a slice on one of values")
        if e["type"] == 4 and not self.open:
            known = self.values[e["track"]]
            if known and known[-1][0] >= at:
                raise Broken("values out of order")
            known.append((at, e["value"]))
            return
        if e["type"] == 3 and not self.open:
            self.instants.append((e["track"], at, name))
        elif e["type"] == 1 and not self.open and name:
            args = {}
            for row in e.get("annotation*", []):
                a = message(row, ANNOTATION)
                args[self.names["annotation*"][a["name"]]] = a["text"].decode() if "text" in a else a["number"]
            self.open = (e["track"], at, name, args)
        elif e["type"] == 2 and self.open and self.open[0] == e["track"] and at >= self.open[1]:
            track, begin, name, args = self.open
            self.slices.append(Slice(track, begin, at, name, args))
            self.open = None
        else:
            raise Broken("a beginning or an end out of place")

    def path(self, track):
        """Names from the top: ("SMs", "SM 0", "CTA slot 1")."""
        name, parent = self.tracks[track]
        return (*(self.path(parent) if parent else ()), name)

    def check(self):
        """Slices of a track nest; a viewer, which sorts by time and pairs an end with the last beginning, sees the same."""
        tracks = collections.defaultdict(list)
        for s in self.slices:
            tracks[s.track].append(s)
        for track, slices in tracks.items():
            events = sorted(((t, i) for i, t in enumerate(t for s in slices for t in (s.begin, s.end))), key=lambda x: x[0])
            stack, seen = [], []
            for t, i in events:
                if i % 2 == 0:
                    stack.append((t, slices[i // 2].name))
                elif not stack:
                    raise Broken(f"{self.path(track)}: an end without a beginning")
                else:
                    begin, name = stack.pop()
                    seen.append((begin, t, name))
            if sorted(seen) != sorted((s.begin, s.end, s.name) for s in slices):
                raise Broken(f"{self.path(track)}: slices overlap")

    def under(self, *top):
        """Slices of the tracks whose path begins so."""
        return [s for s in self.slices if self.path(s.track)[:len(top)] == top]
