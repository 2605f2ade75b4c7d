"""What is measured: the runs of bench_servers, and their sizes."""
import collections
import math

# `name` is unique.  `group`: puts, cycles, late, idle, fill or crowd, as in
# --workloads.  `arguments` are those of bench_servers.
Measure = collections.namedtuple("Measure", "name group arguments")

GROUPS = ["puts", "cycles", "late", "idle", "fill", "crowd"]
DURABLE_GROUPS = ["puts", "cycles"]

Sizes = collections.namedtuple(
    "Sizes", "seconds idle_seconds fill_jobs crowd_jobs rest_seconds repeats")
FULL = Sizes(seconds=5, idle_seconds=2, fill_jobs=1000000, crowd_jobs=1000000,
             rest_seconds=10, repeats=3)
QUICK = Sizes(seconds=1, idle_seconds=1, fill_jobs=200000, crowd_jobs=300000,
              rest_seconds=3, repeats=1)

CONNECTIONS = [1, 10, 100]
BATCH = 100
# bench_servers crowd needs 3 seconds after the puts.
CROWD_SPARE_SECONDS = 5
CROWD_DELAY_SECONDS = 60


def measures(sizes, groups):
    """All measures of `groups`, in order.  fill comes before crowd, because
    crowd_delay() needs the rates of fill."""
    found = []
    for group in ("puts", "cycles"):
        for count in CONNECTIONS:
            found.append(Measure(
                f"{group}-{count}", group,
                [group, "--connections", count, "--seconds", sizes.seconds,
                 "--jobs", 1000000]))
    found.append(Measure("late", "late", ["late", "--jobs", 10000, "--span", 5]))
    found.append(Measure("idle", "idle", ["idle", "--connections", 10000,
                                          "--seconds", sizes.idle_seconds]))
    found.append(Measure("fill", "fill", ["fill", "--jobs", sizes.fill_jobs,
                                          "--span", 86400]))
    crowd = ["crowd", "--jobs", sizes.crowd_jobs]
    found.append(Measure("crowd", "crowd", crowd))
    found.append(Measure("crowd-batch", "crowd", crowd + ["--batch", BATCH]))
    return [measure for measure in found if measure.group in groups]


def applies(measure, kind):
    """Whether a measure is one for a server."""
    return not kind.is_durable or measure.group in DURABLE_GROUPS


def crowd_delay(jobs, rates):
    """Seconds from the first put of the crowd until it comes due: twice what
    the puts take at the lowest of `rates`, which are puts per second."""
    if not rates:
        return CROWD_DELAY_SECONDS
    return CROWD_SPARE_SECONDS + math.ceil(2 * jobs / min(rates))


def turns(kinds, repeat):
    """The servers in the order of a repeat; in the next one another is first."""
    first = repeat % len(kinds)
    return kinds[first:] + kinds[:first]
