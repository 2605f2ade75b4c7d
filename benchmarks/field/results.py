"""What ./bench has measured, and the questions that every report asks of it.

A *cell* is one peer at one workload and one N, measured a few times.
"""
import statistics
from dataclasses import dataclass, replace

from measures import (BESIDE, EARLY, FLOOR, OURS, README_SIZE, TOUCH_MEMORY, Column,
                      is_real, ours_of, theirs_of)
from wording import is_same


@dataclass(frozen=True)
class Value:
    """The median of what was measured, and the range of all of it."""

    median: float
    low: float
    high: float
    count: int


@dataclass(frozen=True)
class Duel:
    """The best of ours and the best of theirs; above 1, theirs is better."""

    ratio: float
    column: Column
    ours: str
    theirs: str


def median_of(samples, scale):
    scaled = [sample * scale for sample in samples]
    return Value(statistics.median(scaled), min(scaled), max(scaled), len(scaled))


class Results:
    """What was found, with what is asked of it again and again.

    In what follows they are called the field, after those who are in it.
    """

    def __init__(self, found):
        self.found = found
        self.peers = {peer["name"]: peer for adapter in found["adapters"]
                      for peer in adapter["peers"]}
        self.languages = {peer["name"]: adapter["language"]
                          for adapter in found["adapters"]
                          for peer in adapter["peers"]}
        self.cells = {(cell["peer"], cell["workload"], cell["n"], cell["delays"]):
                      cell for cell in found["cells"]}
        self.sizes_of = {}
        for _, workload, n, delays in self.cells:
            self.sizes_of.setdefault((workload, delays), set()).add(n)

    def title(self, name):
        title = self.peers.get(name, {}).get("title", BESIDE.get(name, name))
        return f"({title})" if name in BESIDE else title

    def cell(self, name, column):
        key = (name, column.measure.workload, column.n, column.delays)
        return self.cells.get(key, {})

    def value(self, name, column):
        """What was measured; None if there is no such number."""
        samples = self.cell(name, column).get("values", {}).get(
            column.measure.value)
        return median_of(samples, column.measure.scale) if samples else None

    def values(self, names, column):
        pairs = ((name, self.value(name, column)) for name in names)
        return {name: value for name, value in pairs if value}

    def why_skipped(self, name, column):
        return self.cell(name, column).get("skipped")

    def why_not(self, name, workload):
        """Why a peer cannot do it; None if it can."""
        peer = self.peers.get(name, {})
        if workload in peer.get("can", []):
            return None
        reasons = peer.get("cannot", {})
        return reasons.get(workload, reasons.get("", "its adapter does not say"))

    def sizes(self, workload, delays="uniform"):
        return sorted(self.sizes_of.get((workload, delays), ()))

    def column(self, measure, n=README_SIZE):
        """The measure at n, or at the largest size below it; or None."""
        sizes = [size for size in self.sizes(measure.workload) if size <= n]
        return Column(measure, sizes[-1]) if sizes else None

    # Who is in a table.

    def virtual_names(self):
        return tuple(name for name, peer in self.peers.items()
                     if name not in BESIDE
                     and not all(map(is_real, peer["can"])))

    def real_names(self):
        return tuple(name for name, peer in self.peers.items()
                     if name not in BESIDE and any(map(is_real, peer["can"])))

    def is_thread_safe(self, name):
        """Whether two threads can use it at once: then it can do pairs in two."""
        return name in OURS or "real-pairs-2" in self.peers[name]["can"]

    def thread_safe_names(self):
        return tuple(filter(self.is_thread_safe, self.real_names()))

    def loop_names(self):
        """Those that one thread uses, and ours to compare them with."""
        return tuple(name for name in self.real_names()
                     if name in OURS or not self.is_thread_safe(name))

    def is_early(self, name, column):
        """Whether, where this was measured, some ran before they were due."""
        early = self.value(name, replace(column, measure=EARLY))
        return (column.measure.workload == EARLY.workload and early is not None
                and early.high > 0)

    # Who wins.

    def best(self, names, column):
        """The name with the best median, or None."""
        values = self.values(names, column)
        sign = -1 if column.measure.is_more_better else 1
        return min(values, default=None,
                   key=lambda name: sign * values[name].median)

    def winners(self, names, column):
        """The best one, and those whose number reads the same."""
        if not column.measure.is_race:
            return set()
        values = self.values(names, column)
        best = self.best(names, column)
        return {name for name, value in values.items()
                if is_same(value.median, values[best].median)}

    def ahead_of_ours(self, names, column):
        """The peers that beat the best of ours, best first."""
        ours = self.best(ours_of(names), column)
        if ours is None or not column.measure.is_race:
            return []
        mark = self.value(ours, column).median
        sign = -1 if column.measure.is_more_better else 1
        values = self.values(theirs_of(names), column)
        ahead = [name for name, value in values.items()
                 if sign * value.median < sign * mark
                 and not is_same(value.median, mark)]
        return sorted(ahead, key=lambda name: sign * values[name].median)

    def duel(self, names, column):
        """Ours against theirs; None where there is no ratio to speak of."""
        ours = self.best(ours_of(names), column)
        theirs = self.best(theirs_of(names), column)
        if ours is None or theirs is None or not column.measure.is_race:
            return None
        our, their = (self.value(name, column).median for name in (ours, theirs))
        if our <= 0 or their <= 0:
            return None
        ratio = their / our if column.measure.is_more_better else our / their
        return Duel(ratio, column, ours, theirs)


def beside_column(name, column):
    """The column in which to look for a row that is no peer's."""
    if name == FLOOR:
        return replace(column, measure=TOUCH_MEMORY, delays="uniform")
    return column
