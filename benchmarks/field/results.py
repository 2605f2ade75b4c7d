"""What ./bench has measured, and the questions that every report asks of it.

A *cell* is one peer at one workload and one N, measured a few times.  A *measure*
is one of the numbers that a workload gives; a *column* is a measure at an N; a
*section* is a table of columns, with a row for each peer of its kind.

Nothing about a peer is known here but which ones are ours: its title, and what
it can and cannot do, come from its adapter.
"""
import math
import re
import statistics
from dataclasses import dataclass, replace

OURS = ("wheel", "pool", "service", "monitor")

# Not peers: what one access to memory costs, and the load without any timers.
FLOOR, NOTHING = "floor", "nothing"
BESIDE = {FLOOR: "one random memory access", NOTHING: "the load, no timers"}

LOG_UNIFORM = "log-uniform"
README_SIZE = 1000000


@dataclass(frozen=True)
class Measure:
    """One of the numbers that a workload gives, and how it is shown."""

    workload: str
    title: str
    value: str = "ns"
    unit: str = "ns"
    scale: float = 1
    is_more_better: bool = False
    is_race: bool = True  # false: nobody wins by having more or less of it


@dataclass(frozen=True)
class Column:
    measure: Measure
    n: int
    delays: str = "uniform"
    heading: str = ""


@dataclass(frozen=True)
class Value:
    """The median of what was measured, and the range of all of it."""

    median: float
    low: float
    high: float
    count: int


@dataclass(frozen=True)
class Section:
    """A table: what it is about, its columns, the peers that are its rows."""

    title: str
    about: str
    columns: tuple
    names: tuple
    beside: str = ""  # a row that is no peer's


@dataclass(frozen=True)
class Duel:
    """The best of ours and the best of theirs; above 1, theirs is better."""

    ratio: float
    column: Column
    ours: str
    theirs: str


# What is measured.

ARM = Measure("arm", "arm")
CANCEL = Measure("cancel", "cancel")
CANCEL_DROP = Measure("cancel+drop", "cancel and drop")
REARM = Measure("rearm", "rearm")
TOUCH = Measure("touch", "touch")
FIRE_STEPS = Measure("fire-steps", "fire, by steps")
FIRE_JUMPS = Measure("fire-jumps", "fire, by jumps")
WORST_STEP = Measure("worst-step", "worst step", unit="us", scale=0.001)
BYTES = Measure("bytes", "memory", "bytes", "bytes")
TOUCH_MEMORY = Measure("touch-memory", "one random memory access", is_race=False)

# What goes to timers in an order that is not that of memory.
RANDOM = (CANCEL, CANCEL_DROP, REARM, TOUCH, FIRE_STEPS, FIRE_JUMPS)

VIRTUAL = {
    ARM: "Arm all. ns each.",
    CANCEL: "Cancel all, in random order: the call alone. ns each.",
    CANCEL_DROP:
        "The same, then move time past all deadlines: what cancelling costs "
        "later is included. ns each.",
    REARM: "All pending; move random ones to new random delays. ns each.",
    TOUCH: "A limit of 30 s, each timer pushed back every 10 s while time goes "
           "by; what that costs later is included. ns each.",
    FIRE_STEPS: "Move time to the end by steps of 1 ms; everything fires. ns for "
                "each timer.",
    FIRE_JUMPS: "The same, by jumps to when the peer says the next is due. ns "
                "for each timer.",
    WORST_STEP: "The longest single step of firing by steps. us.",
    Measure("empty", "empty step"):
        "All pending far away; a step of 1 ms with nothing due. ns each.",
    BYTES: "Bytes of memory for each pending timer.",
}

D1 = Measure("d1", "D1, a move")
D2 = Measure("d2", "D2, a timer")
D2_WORST = Measure("d2", "D2, worst step", "worst_ns", "us", 0.001)
D3 = Measure("d3", "D3, cancel and arm")

CALL_ARM = Measure("real-calls", "arm", "arm_ns")
CALL_REARM = Measure("real-calls", "rearm", "rearm_ns")
CALL_CANCEL = Measure("real-calls", "cancel", "cancel_ns")
CALL_BYTES = Measure("real-calls", "memory", "bytes", "bytes")
PAIRS_1 = Measure("real-pairs-1", "pairs, 1 thread", "million_a_second",
                  "million/s", is_more_better=True)
PAIRS_2 = Measure("real-pairs-2", "pairs, 2 threads", "million_a_second",
                  "million/s", is_more_better=True)
EARLIEST = Measure("real-late", "earliest", "late_us_0", "us", is_race=False)
LATE_50 = Measure("real-late", "late, median", "late_us_50", "us")
LATE_99 = Measure("real-late", "late, 99%", "late_us_99", "us")
LATEST = Measure("real-late", "latest", "late_us_100", "us")
EARLY = Measure("real-late", "early", "early", "timers", is_race=False)
LATE = (EARLIEST, LATE_50, LATE_99,
        Measure("real-late", "late, 99.9%", "late_us_99.9", "us"),
        LATEST,
        EARLY,
        Measure("real-late", "CPU for each", "cpu_ns"))
IDLE = Measure("real-idle", "idle", "percent", "%")
REAL_D1 = Measure("real-d1", "D1, CPU", "percent", "%")
DRAIN = Measure("real-d2", "D2, all at one instant", "drain_ms", "ms")
REAL_D2 = (Measure("real-d2", "D2, arm", "arm_ns"),
           Measure("real-d2", "D2, memory", "bytes", "bytes"),
           Measure("real-d2", "D2, pending", "percent", "%"), DRAIN,
           Measure("real-d2", "D2, CPU of firing", "cpu_ns"))
REAL_D3 = (Measure("real-d3", "D3, cancel and arm", "million_a_second",
                   "million/s", is_more_better=True),
           Measure("real-d3", "D3, memory", "bytes", "bytes"))


# Reading.

def is_real(workload):
    return workload.startswith("real-")


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


def ours_of(names):
    return [name for name in names if name in OURS]


def theirs_of(names):
    return [name for name in names if name not in OURS and name not in BESIDE]


def beside_column(name, column):
    """The column in which to look for a row that is no peer's."""
    if name == FLOOR:
        return replace(column, measure=TOUCH_MEMORY, delays="uniform")
    return column


# The tables.

def by_size(field, measure):
    """A column for each N, then those of the other dice."""
    columns = [Column(measure, n, heading=f"{n:,}")
               for n in field.sizes(measure.workload)]
    columns += [Column(measure, n, LOG_UNIFORM, f"{n:,} log-uniform")
                for n in field.sizes(measure.workload, LOG_UNIFORM)]
    return tuple(columns)


def by_measure(field, *measures):
    """A column for each measure, at the largest N of its workload."""
    found = (field.column(measure, float("inf")) for measure in measures)
    return tuple(replace(column, heading=heading(column.measure))
                 for column in found if column)


def plain(measure):
    """Its title, where it is clear to which of D1 to D3 it belongs."""
    return re.sub(r"^D\d, ", "", measure.title)


def heading(measure):
    return f"{plain(measure)}, {measure.unit}"


def virtual_sections(field):
    names = field.virtual_names()
    for measure, about in VIRTUAL.items():
        beside = FLOOR if measure in RANDOM else ""
        yield Section(measure.title, about, by_size(field, measure), names, beside)


def at_sizes(field, measures):
    """The columns of several measures: one tuple for each N."""
    for n in field.sizes(measures[0].workload):
        yield n, tuple(Column(measure, n, heading=heading(measure))
                       for measure in measures)


def real_sections(field, names):
    """In real time; `names` are the thread-safe ones, or the others."""
    for n, columns in at_sizes(field, (CALL_ARM, CALL_REARM, CALL_CANCEL,
                                       CALL_BYTES)):
        yield Section(f"calls, {n:,} timers", "Delays of one to two minutes: arm "
                      "all, move random ones, cancel all in random order.",
                      columns, names)
    yield Section("pairs", "Arm and cancel, again and again, all threads on one "
                  "facility. Million pairs a second: more is better.",
                  by_measure(field, PAIRS_1, PAIRS_2), names)
    for n, columns in at_sizes(field, LATE):
        yield Section(f"lateness, {n:,} timers", "How long after it was due each "
                      "callback ran. Below 0 it ran early. CPU is the process's "
                      "time for each.", columns, names)
    columns = tuple(Column(IDLE, n, heading=f"{n:,} pending, %")
                    for n in field.sizes(IDLE.workload))
    yield Section("idle", "The process's time, with nothing due for ten minutes. "
                  "Percent of a core.", columns, names)


def virtual_demand_sections(field):
    names = field.virtual_names()
    for title, about, measures in (
            ("D1", "Connections with a limit of 30 s and a packet every 22.5 s; "
             "one in a hundred is silent. For each packet.", (D1,)),
            ("D2", "A thousand a ms are armed for half an hour ahead, for a "
             "second; then time goes by. For each timer, and the longest step.",
             (D2, D2_WORST)),
            ("D3", "Requests with a timeout of 30 s, a hundred a ms of which are "
             "answered in time. For each cancel and arm.", (D3,))):
        columns = by_measure(field, *measures)
        yield Section(title + size_of(columns), about, columns, names)


def real_demand_sections(field, names):
    for title, about, measures, beside in (
            ("D1 in real time", "The same in real time. Percent of a core, the "
             "load itself included.", (REAL_D1,), NOTHING),
            ("D2 in real time", "All armed in one go for half an hour ahead; "
             "percent of a core while they are pending; then all of them at one "
             "instant, until the last has run.", REAL_D2, ""),
            ("D3 in real time", "Cancel a random one and arm it again, as often "
             "as it goes. Million a second: more is better.", REAL_D3, "")):
        columns = by_measure(field, *measures)
        yield Section(title + size_of(columns), about, columns, names, beside)


def size_of(columns):
    return f", {columns[0].n:,} timers" if columns else ""


def all_sections(field):
    """Every table, in the order of the page."""
    safe, loops = field.thread_safe_names(), field.loop_names()
    yield from virtual_sections(field)
    yield from virtual_demand_sections(field)
    for names in (safe, loops):
        yield from real_sections(field, names)
        yield from real_demand_sections(field, names)


def duels_of(field):
    """The best of ours against the best of theirs, in every column once.

    In real time ours is thread-safe; it meets those that are not, too.
    """
    names = tuple(dict.fromkeys(field.virtual_names() + field.real_names()))
    columns = dict.fromkeys(column for section in all_sections(field)
                            for column in section.columns)
    return list(filter(None, (field.duel(names, column) for column in columns)))


def weakest(duels):
    """For each measure all its duels, the worst first; the worst measure first.

    By measure, because one that is lost is lost at every N, and would hide the
    others.
    """
    by_measure = {}
    for duel in sorted(duels, key=lambda duel: -duel.ratio):
        by_measure.setdefault(duel.column.measure, []).append(duel)
    return list(by_measure.values())


# Numbers.

def say(number):
    """Two digits at least, no more than it is worth; counts are whole."""
    size = abs(number)
    if size >= 99.95 or size == 0 or isinstance(number, int):
        return f"{number:,.0f}"
    if size >= 0.995:
        return f"{number:.1f}"
    decimals = min(1 - math.floor(math.log10(size)), 5)
    text = f"{number:.{decimals}f}"
    return "0" if float(text) == 0 else text


def is_same(one, other):
    """Whether two numbers read the same; 7 does as 7.0."""
    return float(say(one).replace(",", "")) == float(say(other).replace(",", ""))


def say_skipped(field, name, column):
    """What stands for a number that there is none of, though there could be."""
    is_failure = field.why_skipped(name, column).startswith("failed")
    return "failed" if is_failure else "skipped"


def say_once(field, value):
    """A mark at what was measured less often than the rest."""
    return "¹" if value.count == 1 < field.found["repeats"] else ""


def say_times(number):
    return {1: "once", 2: "twice"}.get(number, f"{number} times")


def say_count(number):
    """100000 as 100k: for the axes of charts."""
    for unit, letter in ((1000000, "M"), (1000, "k")):
        if number >= unit and number % unit == 0:
            return f"{number // unit}{letter}"
    return f"{number:,}"


def say_range(value):
    """7.1 (7.0–7.3); the range only if there is one."""
    text, low, high = map(say, (value.median, value.low, value.high))
    if low == high:
        return text
    return f"{text} ({low} to {high})" if value.low < 0 else f"{text} ({low}–{high})"


def say_size(column):
    delays = f" {column.delays}" if column.delays != "uniform" else ""
    return f"{column.n:,}{delays}"


def say_where(column):
    """The column in words: arm at 1,000; in real time where it is."""
    at = f" at {say_size(column)}" if column.n > 1 else ""
    real = " (real time)" if is_real(column.measure.workload) else ""
    return f"{column.measure.title}{at}{real}"


def say_duel(field, duel):
    """arm at 1,000: wheel 7.0 ns, the best peer 3.5 ns."""
    our, their = (say(field.value(name, duel.column).median)
                  for name in (duel.ours, duel.theirs))
    mark = "" if not is_real(duel.column.measure.workload) \
        or field.is_thread_safe(duel.theirs) else ", which one thread uses"
    mark += ", which ran some early" if field.is_early(duel.theirs, duel.column) \
        else ""
    unit = duel.column.measure.unit
    return (f"{say_where(duel.column)}: {field.title(duel.ours)} {our} {unit}, "
            f"{field.title(duel.theirs)} {their} {unit}{mark}")


def word_for(columns):
    units = {column.measure.unit for column in columns if column.measure.is_race}
    if units <= {"ns", "us", "ms"}:
        return "faster"
    return "smaller" if units == {"bytes"} else "better"


def say_ahead(field, name, names, column, is_by_size):
    """at 1,000 (12.0, ours 13.1)."""
    ours = field.value(field.best(ours_of(names), column), column)
    theirs = field.value(name, column)
    is_near = theirs.low <= ours.high and ours.low <= theirs.high
    near = ", the ranges overlap" if is_near and theirs.count > 1 else ""
    near += ", but some ran early" if field.is_early(name, column) else ""
    where = f"at {say_size(column)}" if is_by_size else plain(column.measure)
    return f"{where} ({say(theirs.median)}, ours {say(ours.median)}{near})"


def verdict(field, names, columns):
    """A sentence that says which peers beat all of ours, and where."""
    raced = [column for column in columns if column.measure.is_race]
    met = [column for column in raced
           if field.best(ours_of(names), column) is not None
           and field.best(theirs_of(names), column) is not None]
    if not met:
        return "Here ours meets no peer."
    is_by_size = len({column.measure for column in columns}) < len(columns)
    ahead = {}
    for column in met:
        for name in field.ahead_of_ours(names, column):
            ahead.setdefault(name, []).append(
                say_ahead(field, name, names, column, is_by_size))
    word = word_for(met)
    if not ahead:
        return f"No peer is {word} than ours here."
    said = "; ".join(f"{field.title(name)} {', '.join(places)}"
                     for name, places in ahead.items())
    return f"{word.capitalize()} than ours here: {said}."
