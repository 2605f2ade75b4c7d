"""What is measured: which workloads, at which sizes, on whom."""
import collections

Cell = collections.namedtuple("Cell", "peer workload n delays")

SIZES = [1_000, 10_000, 100_000, 1_000_000, 10_000_000]
FEW_SIZES = [1_000, 100_000, 1_000_000]
BY_SIZE = ["touch-memory", "arm", "cancel", "rearm", "touch", "fire-steps",
           "worst-step"]
BY_FEW_SIZES = ["fire-jumps", "cancel+drop", "empty", "bytes"]
LOG_UNIFORM = ["arm", "cancel", "rearm", "fire-steps", "fire-jumps"]
REAL = [("real-calls", 10_000), ("real-calls", 1_000_000),
        ("real-pairs-1", 1), ("real-pairs-2", 1),
        ("real-late", 10_000), ("real-late", 1_000_000),
        ("real-idle", 1), ("real-idle", 1_000_000),
        ("real-d1", 100_000), ("real-d2", 1_000_000), ("real-d3", 300_000)]
LOADS = [("d1", 100_000), ("d2", 1_000_000), ("d3", 300_000)]

QUICK_SIZES = [10_000, 1_000_000]
QUICK_BY_SIZE = ["touch-memory", "arm", "cancel", "rearm", "fire-steps",
                 "worst-step", "bytes"]
QUICK_REAL = [("real-pairs-1", 1), ("real-pairs-2", 1),
              ("real-late", 100_000), ("real-idle", 1)]

WORKLOADS = BY_SIZE + BY_FEW_SIZES + [name for name, _ in LOADS] + list(
    dict.fromkeys(name for name, _ in REAL))


def full():
    """All there is, as (workload, n, delays)."""
    rows = [(workload, n, "uniform") for workload in BY_SIZE for n in SIZES]
    rows += [(workload, n, "uniform")
             for workload in BY_FEW_SIZES for n in FEW_SIZES]
    rows += [(workload, 1_000_000, "log-uniform") for workload in LOG_UNIFORM]
    return rows + [(workload, n, "uniform") for workload, n in LOADS + REAL]


def quick():
    rows = [(workload, n, "uniform")
            for workload in QUICK_BY_SIZE for n in QUICK_SIZES]
    return rows + [(workload, n, "uniform") for workload, n in QUICK_REAL]


def chosen(rows, workloads, sizes):
    """Those rows that were asked for.  Sizes given by hand are for workloads that
    have several; D1 to D3 and pairs have one."""
    if workloads:
        rows = [row for row in rows if row[0] in workloads]
    if not sizes:
        return rows
    fixed = {name for name, _ in LOADS + REAL
             if len([n for other, n in LOADS + REAL if other == name]) == 1}
    named = dict.fromkeys((workload, delays) for workload, _, delays in rows
                          if workload not in fixed)
    return [(workload, n, delays) for workload, delays in named
            for n in sizes] + [row for row in rows if row[0] in fixed]


def cells(rows, adapters, peers):
    """A cell for each row and each peer that can, and the adapter to ask."""
    plan = {}
    for workload, n, delays in rows:
        for adapter in adapters:
            for name, peer in adapter.peers.items():
                if workload in peer["can"] and (not peers or name in peers):
                    plan[Cell(name, workload, n, delays)] = adapter
    return plan
