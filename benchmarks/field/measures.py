"""What ./bench measures: the numbers that every workload gives, and of whom.

A *measure* is one of the numbers that a workload gives; a *column* is a measure at
an N.

Nothing about a peer is known here but which ones are ours: its title, and what
it can and cannot do, come from its adapter.
"""
import re
from dataclasses import dataclass

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


def is_real(workload):
    return workload.startswith("real-")


def ours_of(names):
    return [name for name in names if name in OURS]


def theirs_of(names):
    return [name for name in names if name not in OURS and name not in BESIDE]


def plain(measure):
    """Its title, where it is clear to which of D1 to D3 it belongs."""
    return re.sub(r"^D\d, ", "", measure.title)


def heading(measure):
    return f"{plain(measure)}, {measure.unit}"
