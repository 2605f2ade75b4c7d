"""The tables of every report.

A *section* is a table of columns, with a row for each peer of its kind.
"""
from dataclasses import dataclass, replace

import measures as m
from measures import Column, heading


@dataclass(frozen=True)
class Section:
    """A table: what it is about, its columns, the peers that are its rows."""

    title: str
    about: str
    columns: tuple
    names: tuple
    beside: str = ""  # a row that is no peer's


def by_size(field, measure):
    """A column for each N, then those of the other dice."""
    columns = [Column(measure, n, heading=f"{n:,}")
               for n in field.sizes(measure.workload)]
    columns += [Column(measure, n, m.LOG_UNIFORM, f"{n:,} log-uniform")
                for n in field.sizes(measure.workload, m.LOG_UNIFORM)]
    return tuple(columns)


def by_measure(field, *measures):
    """A column for each measure, at the largest N of its workload."""
    found = (field.column(measure, float("inf")) for measure in measures)
    return tuple(replace(column, heading=heading(column.measure))
                 for column in found if column)


def virtual_sections(field):
    names = field.virtual_names()
    for measure, about in m.VIRTUAL.items():
        beside = m.FLOOR if measure in m.RANDOM else ""
        yield Section(measure.title, about, by_size(field, measure), names, beside)


def at_sizes(field, measures):
    """The columns of several measures: one tuple for each N."""
    for n in field.sizes(measures[0].workload):
        yield n, tuple(Column(measure, n, heading=heading(measure))
                       for measure in measures)


def real_sections(field, names):
    """In real time; `names` are the thread-safe ones, or the others."""
    for n, columns in at_sizes(field, (m.CALL_ARM, m.CALL_REARM, m.CALL_CANCEL,
                                       m.CALL_BYTES)):
        yield Section(f"calls, {n:,} timers", "Delays of one to two minutes: arm "
                      "all, move random ones, cancel all in random order.",
                      columns, names)
    yield Section("pairs", "Arm and cancel, again and again, all threads on one "
                  "facility. Million pairs a second: more is better.",
                  by_measure(field, m.PAIRS_1, m.PAIRS_2), names)
    for n, columns in at_sizes(field, m.LATE):
        yield Section(f"lateness, {n:,} timers", "How long after it was due each "
                      "callback ran. Below 0 it ran early. CPU is the process's "
                      "time for each.", columns, names)
    columns = tuple(Column(m.IDLE, n, heading=f"{n:,} pending, %")
                    for n in field.sizes(m.IDLE.workload))
    yield Section("idle", "The process's time, with nothing due for ten minutes. "
                  "Percent of a core.", columns, names)


def virtual_demand_sections(field):
    names = field.virtual_names()
    for title, about, measures in (
            ("D1", "Connections with a limit of 30 s and a packet every 22.5 s; "
             "one in a hundred is silent. For each packet.", (m.D1,)),
            ("D2", "A thousand a ms are armed for half an hour ahead, for a "
             "second; then time goes by. For each timer, and the longest step.",
             (m.D2, m.D2_WORST)),
            ("D3", "Requests with a timeout of 30 s, a hundred a ms of which are "
             "answered in time. For each cancel and arm.", (m.D3,))):
        columns = by_measure(field, *measures)
        yield Section(title + size_of(columns), about, columns, names)


def real_demand_sections(field, names):
    for title, about, measures, beside in (
            ("D1 in real time", "The same in real time. Percent of a core, the "
             "load itself included.", (m.REAL_D1,), m.NOTHING),
            ("D2 in real time", "All armed in one go for half an hour ahead; "
             "percent of a core while they are pending; then all of them at one "
             "instant, until the last has run.", m.REAL_D2, ""),
            ("D3 in real time", "Cancel a random one and arm it again, as often "
             "as it goes. Million a second: more is better.", m.REAL_D3, "")):
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
