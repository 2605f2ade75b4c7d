"""One measurement at a time, in turns, and how long it will still take.

Machines drift from hour to hour, so every cell is measured once, then all of
them again, and again: what is compared was measured side by side.  What is in
real time takes its time; of the rest, what takes too long is measured once, or
not at all."""
import math
import sys
import time

from adapters import Cannot, Failed, TooLong

LIMIT_S = 10      # a single measurement that would take longer is left out,
STOPPED_S = 15    # one that does is stopped,
ONCE_S = 3        # and one that takes more than this is not repeated
QUICK_SHARE = 4   # of all three, in a quick run

# What one timer, or one step of many, of another workload costs tells how long
# these take.
LIKE = {"worst-step": "fire-steps", "bytes": "arm"}
REARM_OPS = 5_000_000


def operations(workload, n):
    """About how many there are, arming first included."""
    if workload == "rearm":
        return n + min(REARM_OPS, 20 * n)
    return n * (6 if workload == "touch" else 2)


class Measured:
    """A cell's samples, or why there are none."""

    def __init__(self):
        self.values = {}
        self.seconds = None   # that one measurement takes
        self.skipped = None
        self.is_too_long = False
        self.failures = []    # of repeats, others having been measured

    def fail(self, error):
        if self.values:
            self.failures.append(str(error))
        elif isinstance(error, (TooLong, Cannot)):
            self.skipped = str(error)
            self.is_too_long = isinstance(error, TooLong)
        else:
            self.skipped = f"failed: {error}"

    def add(self, values):
        for name, value in values.items():
            self.values.setdefault(name, []).append(value)


def guess(cell):
    """Seconds that a cell takes, before it was ever measured."""
    if cell.workload.startswith("real-"):
        fixed = {"real-late": 9, "real-idle": 5, "real-d1": 9, "real-d2": 9,
                 "real-d3": 4}
        return fixed.get(cell.workload, 3)
    return min(0.5 + cell.n * 1e-6, LIMIT_S / 2)


def nanoseconds(cell, measured):
    """What an operation of a cell's kind took, by n."""
    like = cell._replace(workload=LIKE.get(cell.workload, cell.workload))
    return sorted((other.n, min(done.values["ns"]))
                  for other, done in measured.items()
                  if "ns" in done.values and other._replace(n=cell.n) == like)


def foreseen(cell, measured):
    """Seconds that a cell will take, told from two smaller ones of its kind:
    one does not tell what is for each timer and what for each step.  None if
    there are less, or if it takes as long whatever the n."""
    smaller = [pair for pair in nanoseconds(cell, measured) if pair[0] < cell.n]
    if len(smaller) < 2 or cell.workload.startswith("real-"):
        return None
    (n0, ns0), (n, ns) = smaller[-2:]
    growth = math.log(ns / ns0) / math.log(n / n0)
    ns *= (cell.n / n) ** growth
    return operations(cell.workload, cell.n) * ns / 1e9


def reason_to_skip(cell, measured, limit=LIMIT_S):
    """Why not to measure a cell at all, or None."""
    for other, done in measured.items():
        is_smaller = other._replace(n=cell.n) == cell and other.n < cell.n
        if is_smaller and done.is_too_long:
            return f"{done.skipped} at {other.n:,}"
    seconds = foreseen(cell, measured)
    if seconds is not None and seconds > limit:
        return f"would take about {seconds:,.0f} s"
    return None


class Progress:
    """A bar with the time left on a terminal; elsewhere a line now and then."""

    def __init__(self, repeats, out=sys.stderr):
        self.repeats = repeats
        self.total = 0.0
        self.done = 0.0
        self.began = time.monotonic()
        self.out = out
        self.is_terminal = out.isatty()
        self.reported = 0

    def show(self, cell):
        share = min(self.done / self.total, 1) if self.total else 1
        left = self.total - self.done
        if self.is_terminal:
            bar = "#" * int(share * 30)
            self.out.write(f"\r{bar:.<30} {share:4.0%} "
                           f"{left // 60:3.0f}:{left % 60:02.0f} left  "
                           f"{cell.peer:<16} {cell.workload:<12} {cell.n:<10,}")
            self.out.flush()
        elif share * 10 >= self.reported:
            self.reported = int(share * 10) + 1
            self.out.write(f"bench: {share:.0%}, about {left / 60:.0f} minutes "
                           "left\n")
            self.out.flush()

    def end(self):
        if self.is_terminal:
            self.out.write("\r" + " " * 96 + "\r")


def measure_once(cell, adapter, seed, measured, share):
    """Measure a cell once more, unless it is too much."""
    own = measured[cell]
    if own.skipped is None and own.seconds is None:
        own.skipped = reason_to_skip(cell, measured, LIMIT_S / share)
    is_real = cell.workload.startswith("real-")
    is_enough = own.seconds is not None and own.seconds > ONCE_S / share
    if own.skipped is not None or (is_enough and not is_real):
        return
    began = time.monotonic()
    limit = max(STOPPED_S / share, 30 if is_real else 0)
    try:
        own.add(adapter.run(cell, seed, limit))
    except Failed as error:
        own.fail(error)
    own.seconds = time.monotonic() - began


def measure_all(plan, seed, repeats, share=1, out=sys.stderr):
    """Measure every cell so often: after each time all there is, a Measured for
    each.  Of the time that one may take, only a share."""
    measured = {cell: Measured() for cell in plan}
    progress = Progress(repeats, out)
    for repeat in range(repeats):
        for at, (cell, adapter) in enumerate(plan.items()):
            progress.total = time_for_all(plan, measured, repeats - repeat, at,
                                          progress)
            progress.show(cell)
            measure_once(cell, adapter, seed + repeat, measured, share)
            progress.done = time.monotonic() - progress.began
        progress.end()
        yield measured


def time_for_all(plan, measured, repeats_left, at, progress):
    """Seconds from the beginning to the end, as far as can be told."""
    once = [0 if measured[cell].skipped else
            measured[cell].seconds or guess(cell) for cell in plan]
    often = [0 if seconds > ONCE_S and not cell.workload.startswith("real-")
             else seconds for cell, seconds in zip(plan, once)]
    now = once if repeats_left == progress.repeats else often
    return progress.done + sum(now[at:]) + sum(often) * (repeats_left - 1)
