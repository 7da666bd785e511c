"""What a launch leaves behind. Results outlive device and module."""
import collections
import json
from ctypes import byref

from . import _library as c
from ._library import lib

Fault = collections.namedtuple("Fault", "kind kernel where instruction message pc address near_allocation cta thread")


def _pandas():
    try:
        import pandas
    except ImportError:
        raise c.Error("tables need pandas: pip install pandas", 1) from None
    return pandas


def _plots():
    try:
        from matplotlib import pyplot
    except ImportError:
        raise c.Error("plots need matplotlib: pip install matplotlib", 1) from None
    return pyplot


class Result:
    """Of one launch. `end`: "ended", "fault", "cycle limit", "instruction limit", "cancelled"."""

    def __init__(self, handle, kernel):
        try:
            self.kernel = kernel
            self.end = c.ENDS[lib.result_end(handle)]
            self.cycles = lib.result_cycles(handle)
            self.nanoseconds = lib.result_nanoseconds(handle)
            self.instructions = lib.result_instructions(handle)
            self.thread_instructions = lib.result_thread_instructions(handle)
            self._rows = self._read_counters(handle)
            self.counters = {name: value for name, value, _, _ in self._rows}
            self.fault = self._read_fault(handle)
            self.n_hazards = lib.result_hazard_count(handle)
            report = lib.result_hazard_report(handle)
            self.hazards = report.decode() if report else None
            text = lib.result_json(handle)
            self.json = json.loads(text) if text else None
            self.profile = Profile._read(handle, kernel)
        finally:
            lib.result_destroy(handle)

    @staticmethod
    def _read_counters(handle):
        rows = []
        for i in range(lib.result_counter_count(handle)):
            x = c.Counter()
            lib.result_counter_at(handle, i, byref(x))
            rows.append((x.name.decode(), x.value, x.unit.decode(), x.text.decode()))
        return rows

    @staticmethod
    def _read_fault(handle):
        f = c.CFault()
        try:
            lib.result_fault(handle, byref(f))
        except c.Error as e:
            if e.status == c.NOT_FOUND:
                return None
            raise
        return Fault(f.kind_name.decode(), f.kernel.decode(), f.where.decode(), f.instruction.decode(), f.message.decode(), f.pc,
                     f.address, f.near_allocation.decode(), tuple(f.cta), tuple(f.thread))

    @property
    def stalls(self):
        """Cycles of warps by state, the most first."""
        prefix = "sm.warp_state."
        found = {k[len(prefix):]: v for k, v in self.counters.items() if k.startswith(prefix)}
        return dict(sorted(found.items(), key=lambda x: -x[1]))

    def frame(self):
        """Counters as a pandas DataFrame: name (index), value, unit, text."""
        pandas = _pandas()
        return pandas.DataFrame(self._rows, columns=["name", "value", "unit", "text"]).set_index("name")

    def plot_stalls(self, axes=None):
        """Where warps were, as bars. Returns the axes."""
        axes = axes or _plots().subplots()[1]
        found = {k: v for k, v in self.stalls.items() if v}
        axes.barh(list(found)[::-1], list(found.values())[::-1])
        axes.set_xlabel("warp-cycles")
        axes.set_title(f"{self.kernel}: {self.cycles:,} cycles")
        return axes

    def __repr__(self):
        if self.fault:
            return f"<{self.kernel}: {self.fault.message}>"
        time = f"{self.cycles:,} cycles, {self.nanoseconds / 1000:.2f} us" if self.cycles else "without time"
        return f"<{self.kernel}: {self.end}, {time}, {self.instructions:,} warp instructions>"


class Profile:
    """What each instruction that ran cost: `rows`, in the order of the code, with the fields of `Row`; `states` holds its warp-cycles by
    state. Only of launches with profile=True."""

    Row = collections.namedtuple("Row", "where instruction file line pc issued threads warp_cycles sectors passes conflicts live_registers states")

    def __init__(self, kernel, states, rows):
        self.kernel, self.state_names, self.rows = kernel, states, rows

    @classmethod
    def _read(cls, handle, kernel):
        n = lib.result_profile_count(handle)
        if not n:
            return None
        names = [lib.result_state_name(handle, k).decode() for k in range(lib.result_state_count(handle))]
        rows = []
        for i in range(n):
            x = c.ProfileRow()
            lib.result_profile_at(handle, i, byref(x))
            cycles = (lib.result_profile_state(handle, i, k) for k in range(len(names)))
            rows.append(cls.Row(x.where.decode(), x.instruction.decode(), x.file.decode(), x.line, x.pc, x.issued, x.threads,
                                x.warp_cycles, x.sectors, x.passes, x.conflicts, x.live_registers,
                                {s: v for s, v in zip(names, cycles) if v}))
        return cls(kernel, names, rows)

    def frame(self):
        """A pandas DataFrame, a row for each instruction, a column for each state beside the counts."""
        pandas = _pandas()
        fields = self.Row._fields[:-1]
        return pandas.DataFrame([{**dict(zip(fields, r)), **{s: r.states.get(s, 0) for s in self.state_names}} for r in self.rows])

    def lines(self):
        """The same by source line, the most expensive first."""
        f = self.frame()
        f = f[f.line > 0].drop(columns=["where", "instruction", "pc"])
        return f.groupby(["file", "line"]).sum().sort_values("warp_cycles", ascending=False)

    def listing(self, top=None):
        """Text: the code with what it cost; with `top` only so many instructions, the most expensive first."""
        rows = self.rows if top is None else sorted(self.rows, key=lambda r: -r.warp_cycles)[:top]
        total = sum(r.warp_cycles for r in self.rows) or 1
        out = [f"{'warp-cycles':>14} {'%':>6} {'issued':>12} {'lanes':>6}  {'mostly':<22} instruction"]
        for r in rows:
            waits = {s: v for s, v in r.states.items() if s != "selected"}
            mostly = max(waits, key=waits.get) if waits else ""
            lanes = r.threads / r.issued if r.issued else 0
            out.append(f"{r.warp_cycles:>14,} {100 * r.warp_cycles / total:>6.2f} {r.issued:>12,} {lanes:>6.1f}  {mostly:<22} "
                       f"{r.where:<20} {r.instruction}")
        return "\n".join(out)

    def plot(self, axes=None, top=20):
        """The most expensive instructions as bars. Returns the axes."""
        axes = axes or _plots().subplots()[1]
        rows = sorted(self.rows, key=lambda r: -r.warp_cycles)[:top][::-1]
        axes.barh([f"{r.where} {r.instruction[:40]}" for r in rows], [r.warp_cycles for r in rows])
        axes.set_xlabel("warp-cycles")
        axes.set_title(self.kernel)
        return axes

    def __repr__(self):
        return self.listing(top=10)
