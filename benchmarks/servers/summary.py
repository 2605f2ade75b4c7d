"""Medians, ratios, targets, and the tables that show them.

`runs` maps (server, measure) to a list with an element for each repeat: the
values of bench_servers, by name, or None if the measurement failed.
"""
import collections
import statistics

# A number of the table.
Row = collections.namedtuple("Row", "label measure value unit")

# A target of SERVER.md, section 8.  `test` is
#     ratio >=    ours / peer is at least `limit`
#     ratio <=    ours / peer is at most `limit`
#     <=, >=      ours is at most, at least `limit`
#     all >=      ours is at least `limit` in each repeat
Target = collections.namedtuple(
    "Target", "label measure value ours peer test limit unit")

Spread = collections.namedtuple("Spread", "median least greatest count")


def spread(values):
    """None if there are no values."""
    if not values:
        return None
    return Spread(statistics.median(values), min(values), max(values),
                  len(values))


def values_of(runs, server, measure, value):
    """One element for each repeat; None where the value is missing."""
    return [own.get(value) if own is not None else None
            for own in runs.get((server, measure), [])]


def spread_of(runs, server, measure, value):
    return spread([number for number
                   in values_of(runs, server, measure, value)
                   if number is not None])


def ratios_of(runs, target):
    """Ours / peer, of each repeat that has both."""
    ours = values_of(runs, target.ours, target.measure, target.value)
    peer = values_of(runs, target.peer, target.measure, target.value)
    return [own / other for own, other in zip(ours, peer)
            if own is not None and other]


Verdict = collections.namedtuple("Verdict", "measured verdict")


def judge(runs, target):
    """What was measured, as a Spread or None, and `ok`, `missed` or
    `not measured`."""
    if target.test.startswith("ratio"):
        measured = spread(ratios_of(runs, target))
    else:
        measured = spread_of(runs, target.ours, target.measure, target.value)
    if measured is None:
        return Verdict(None, "not measured")
    if target.test == "all >=":
        is_reached = measured.least >= target.limit
    elif target.test.endswith(">="):
        is_reached = measured.median >= target.limit
    else:
        is_reached = measured.median <= target.limit
    return Verdict(measured, "ok" if is_reached else "missed")


def memory_targets(ours="tickwheeld", peer="beanstalkd"):
    found = []
    for what in ("puts", "cycles"):
        for count in (1, 100):
            found.append(Target(
                f"{what}/s, {connections(count)}", f"{what}-{count}",
                f"{what}_per_s", ours, peer, "ratio >=", 1, "x"))
    found += [
        Target("lateness p50", "late", "late_p50_us", ours, None, "<=", 300,
               "us"),
        Target("lateness p99", "late", "late_p99_us", ours, peer, "ratio <=", 1,
               "x"),
        Target("never early: lateness", "late", "late_earliest_us", ours, None,
               "all >=", 0, "us"),
        Target("never early: crowd", "crowd", "crowd_earliest_us", ours, None,
               "all >=", 0, "us"),
        Target("crowd: drained/s", "crowd", "drained_per_s", ours, peer,
               "ratio >=", 1.5, "x"),
        Target("crowd: drained/s, batches", "crowd-batch", "drained_per_s", ours,
               None, ">=", 100000, "/s"),
        Target("idle processor, far jobs", "fill", "rest_cpu_percent", ours,
               None, "<=", 0.1, "%"),
    ]
    return found + crowd_targets(ours)


def crowd_targets(ours):
    """50 ms while the crowd is there, and in the second in which it comes due:
    a server that drains it slowly has more time in which nothing is late."""
    found = []
    for name, title in (("crowd", "crowd"), ("crowd-batch", "batches")):
        for what, value in (("others late", "late"),
                            ("other commands", "command")):
            for prefix, when in (("", ""), ("due_", ", first second")):
                found.append(Target(f"{title}: {what} p99{when}", name,
                                    f"{prefix}{value}_p99_us", ours, None, "<=",
                                    50000, "us"))
    return found


def durable_targets(ours="tickwheeld -b", always="beanstalkd -f0",
                    often="beanstalkd -f50"):
    return [
        Target("puts/s, 100 connections", "puts-100", "puts_per_s", ours,
               always, "ratio >=", 10, "x"),
        Target("puts/s, 100 connections", "puts-100", "puts_per_s", ours,
               often, "ratio >=", 1, "x"),
        Target("puts/s, 1 connection", "puts-1", "puts_per_s", ours, always,
               "ratio >=", 0.8, "x"),
        Target("cycles/s, 100 connections", "cycles-100", "cycles_per_s", ours,
               always, "ratio >=", 5, "x"),
    ]


def connections(count):
    return f"{count} connection" + ("s" if count > 1 else "")


def rate_rows():
    found = []
    for what, each in (("puts", "put"), ("cycles", "cycle")):
        for count in (1, 10, 100):
            name = f"{what}-{count}"
            found.append(Row(f"{what}/s, {connections(count)}", name,
                             f"{what}_per_s", "/s"))
            found.append(Row(f"  server processor time per {each}", name,
                             f"server_us_per_{each}", "us"))
    return found


def memory_rows():
    found = rate_rows() + [
        Row("late: p50", "late", "late_p50_us", "us"),
        Row("late: p99", "late", "late_p99_us", "us"),
        Row("late: earliest", "late", "late_earliest_us", "us"),
        Row("idle: memory per connection", "idle", "rss_per_connection_bytes",
            "B"),
        Row("idle: cycle p50 without", "idle", "alone_cycle_p50_us", "us"),
        Row("idle: cycle p50 beside them", "idle", "crowded_cycle_p50_us", "us"),
        Row("fill: puts/s", "fill", "puts_per_s", "/s"),
        Row("fill: memory per job", "fill", "rss_per_job_bytes", "B"),
        Row("fill: processor at rest", "fill", "rest_cpu_percent", "%"),
    ]
    for name, title in (("crowd", "crowd"), ("crowd-batch", "batches")):
        found.append(Row(f"{title}: drained/s", name, "drained_per_s", "/s"))
        for what, value in (("others late", "late"), ("other puts", "put"),
                            ("other commands", "command")):
            found += [
                Row(f"{title}: {what} p99", name, f"{value}_p99_us", "us"),
                Row("  in its first second", name, f"due_{value}_p99_us", "us"),
                Row("  before the crowd", name, f"quiet_{value}_p99_us", "us"),
            ]
    return found


def number(value, unit):
    """A number with its unit; times in milliseconds from 1 ms on."""
    if unit == "us" and abs(value) >= 1000:
        value, unit = value / 1000, "ms"
    if abs(value) >= 100:
        text = f"{value:,.0f}"
    elif unit in ("x", "%"):
        text = f"{value:.2f}"
    else:
        text = f"{value:.3g}"
    if unit in ("x", "%", "/s"):
        return text + unit
    return f"{text} {unit}"


def shown(found, unit):
    """The median, and the range if there is one."""
    if found is None:
        return "-"
    text = number(found.median, unit)
    if found.count == 1:
        return text
    return (f"{text} [{number(found.least, unit)}"
            f" .. {number(found.greatest, unit)}]")


def limit_text(target):
    sign = "at most" if target.test.endswith("<=") else "at least"
    text = f"{sign} {number(target.limit, target.unit)}"
    return f"{text} {target.peer}" if target.peer else text


def as_table(lines):
    """Columns as wide as their widest cell; the first line is the heading."""
    widths = [max(len(line[i]) for line in lines) for i in range(len(lines[0]))]
    rows = ["  ".join(cell.ljust(width) for cell, width in zip(line, widths))
            for line in lines]
    rows.insert(1, "  ".join("-" * width for width in widths))
    return "\n".join(row.rstrip() for row in rows)


def results_table(runs, servers, rows):
    """None if nothing was measured."""
    lines = [["median [range]", *servers]]
    for row in rows:
        cells = [shown(spread_of(runs, server, row.measure, row.value), row.unit)
                 for server in servers]
        if any(cell != "-" for cell in cells):
            lines.append([row.label, *cells])
    return as_table(lines) if len(lines) > 1 else None


def by_processor_time(runs, target):
    """How many times the processor time of ours the peer needs for the same
    work, or None: a ratio that a busy machine disturbs less than that of the
    rates.  The verdict is about the rates."""
    each = {"puts_per_s": "put", "cycles_per_s": "cycle"}.get(target.value)
    if each is None:
        return None
    swapped = target._replace(value=f"server_us_per_{each}", ours=target.peer,
                              peer=target.ours)
    return spread(ratios_of(runs, swapped))


def targets_table(runs, targets):
    lines = [["target", "of " + targets[0].ours, "measured", "by server time",
              ""]]
    for target in targets:
        found = judge(runs, target)
        lines.append([target.label, limit_text(target),
                      shown(found.measured, target.unit),
                      shown(by_processor_time(runs, target), "x"),
                      found.verdict])
    return as_table(lines)


# Client and server together used at most this much of a processor if the system
# ran both on one, and the client at least this much if it was the limit.
SHARED_PERCENT = 115
LIMIT_PERCENT = 90


def notes(runs):
    """What a reader must know to judge the rates."""
    shared, limited = set(), set()
    for (server, measure), values in runs.items():
        client = spread_of(runs, server, measure, "client_cpu_percent")
        if client is None:
            continue
        if client.median >= LIMIT_PERCENT:
            limited.add(f"{measure} ({server})")
        own = spread_of(runs, server, measure, "server_cpu_percent")
        # With one connection only one of the two runs at a time anyway.
        is_busy = measure.endswith(("-10", "-100"))
        if own and is_busy and client.median + own.median < SHARED_PERCENT:
            shared.add(measure)
    found = []
    if shared:
        found.append(
            f"note: in {', '.join(sorted(shared))} client and server together "
            "got about one processor or less: the rates are those of both, and "
            "the ratio of the servers alone is nearer to that by server time")
    if limited:
        found.append(f"note: the client was the limit in "
                     f"{', '.join(sorted(limited))}")
    return found + stalls(runs)


def stalls(runs):
    """A note if the client itself stood still for longer than the p99 of how
    late jobs were: on a busy machine, and the times contain it."""
    found = []
    for (server, measure), values in sorted(runs.items()):
        longest = [own["client_pass_max_us"] for own in values
                   if own is not None and "client_pass_max_us" in own
                   and own["client_pass_max_us"] > own.get("late_p99_us", 0)]
        if longest:
            found.append(f"{number(max(longest), 'us')} in {measure} ({server})")
    if not found:
        return []
    return ["note: the client stood still for up to " + ", ".join(found)
            + ": times of that length are not the server's"]
