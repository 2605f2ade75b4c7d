"""docs/reports/benchmarks.md, and the part of README.md that shows the results.

Both are made from the results alone: every number, and every sentence about who
is better.  What is not in the results is not on the page.
"""
import pathlib
import statistics
from dataclasses import replace

import charts
import measures as m
import results as r
import sections as s
import wording as w

PICTURES = "benchmarks"  # beside the page
BEGIN = "<!-- field: begin (./bench --pages) -->"
END = "<!-- field: end -->"
WEAKEST_MAX = 10

FAIRNESS = """\
- Every peer throws the same dice: the same delays and the same order from the
  same seed, in every language. `./bench` checks that before it measures. Each
  repeat has another seed.
- Every measurement runs in a process of its own, one at a time. The repeats are
  interleaved: all peers once, then all again. Tables show medians, and in
  brackets the lowest and the highest.
- In virtual time a measurement that takes more than three seconds is not repeated,
  one that would take more than ten is left out; both are marked.
- Only numbers of one run are compared. On shared machines absolute times drift by
  a fifth from hour to hour.
- Virtual time is a number that the benchmark moves: a clock that costs nothing.
  An event loop does one pass of its loop for each step, and where it would sleep it
  is told at once that the time has passed: no system calls are measured. For those
  loops in C that do not tell what is next, that is also how they jump.
- In real time, what can be used by many threads and what cannot are in different
  tables. Ours is in both: the thread-safe service is also set beside event loops,
  which need no locks. In virtual time one thread uses everything; Kafka's wheel, GLib
  and tokio take their locks there, too, and nobody is in the way.
- A timer of tokio's is a Sleep, pinned in an array, that has fired when its waker is
  called. Users have it in a task; the task is not measured.
- Netty and we keep what is armed and soon cancelled out of the larger structure, each
  in its way; that is what pairs measure.
- Memory is what is resident in C and Rust, and in Java and Go what is alive on the
  heap after two full collections. A garbage-collected program needs more than that
  to run. In C an array of handles is part of it, 8 bytes for our pool and service; in
  the others it is not.
- Code that is compiled while it runs has run for two seconds or more before it is
  timed (pairs: one).
- Calls in real time are made twice on the same facility, and the second time
  counts. What a call leaves to other threads is not in its time. Netty's worker files
  what was armed at its next tick; our service gives back what was cancelled when
  something is armed, and that is in the time of arming.
- To touch, and in D1, a timer is pushed back by the cheapest call that a peer has for
  it. Ours has one that notes the new deadline and files the timer anew only when its
  slot comes round, and the monitor is made of it. Who uses another can have the like
  on top of it: Netty's IdleStateHandler does so, and libev's manual shows how; that is
  not in their rows. What moving a timer at once costs is in `rearm`.
- Settings are those that the authors of each recommend, with a tick of 1 ms; they
  are listed above. A timer is moved by the cheapest call that a peer has for it.
- A last row in brackets is no peer and never the best. It is there for scale: what
  one read and write of a random element of N costs, or what the load itself costs
  without any timers."""

LEGEND = """\
In bold: the best of its column, or several that read the same. "–": the peer
cannot do it, for reasons that are listed below the tables. "skipped": it could, but
was not asked to, for reasons listed there, too. "failed": it should have, and did
not. "¹": measured once, because it takes long. Empty: not measured."""

# The rows of README's table: what is measured, in words.
README_VIRTUAL = {m.REARM: "move a timer, ns",
                  m.FIRE_STEPS: "fire a timer, time moved by 1 ms, ns",
                  m.WORST_STEP: "longest of these steps, us"}
README_REAL = {m.PAIRS_2: "arm and cancel, 2 threads, million pairs/s",
               m.LATE_99: "99th percentile of lateness, us",
               m.IDLE: "a core while all timers wait, %"}


# Tables.

def cell(field, name, column, winners):
    value = field.value(name, column)
    if value:
        text = w.say_range(value) + w.say_once(field, value)
        if name not in winners:
            return text
        head, space, tail = text.partition(" ")
        return f"**{head}**{space}{tail}"
    if field.why_skipped(name, column):
        return w.say_skipped(field, name, column)
    is_peer = name not in m.BESIDE
    return "–" if is_peer and field.why_not(name, column.measure.workload) else ""


def row(field, name, columns, winners):
    columns = [r.beside_column(name, column) for column in columns]
    return [cell(field, name, column, best)
            for column, best in zip(columns, winners)]


def table(field, section):
    """The rows: ours first.  A peer that can do none of it has none."""
    winners = [field.winners(section.names, column) for column in section.columns]
    names = sorted(section.names, key=lambda name: name not in m.OURS)
    headings = [column.heading for column in section.columns]
    lines = [f"| | {' | '.join(headings)} |",
             "|---|" + "---:|" * len(headings)]
    for name in (*names, *filter(None, [section.beside])):
        texts = row(field, name, section.columns, winners)
        if any(text not in ("", "–") for text in texts):
            lines.append(f"| {field.title(name)} | {' | '.join(texts)} |")
    return lines


def has_values(field, section):
    return any(field.values(section.names, column) for column in section.columns)


def section_lines(field, section, level="###"):
    title = section.title[0].upper() + section.title[1:]
    lines = ["", f"{level} {title}", "", section.about, ""]
    if not has_values(field, section):
        return lines + ["Not measured in this run."]
    return [*lines, *table(field, section), "",
            w.verdict(field, section.names, section.columns)]


def picture(chart, directory):
    file, title, caption = chart
    alt = f"{title}. {caption}".replace("[", "(").replace("]", ")")
    return ["", f"![{alt}]({directory}/{file})"]


def pictures_of(drawn, *files):
    """The named charts, those of them that there are."""
    lines = []
    for file in files:
        for chart in drawn:
            if chart[0] == f"{file}.svg":
                lines += picture(chart, PICTURES)
    return lines


# What there is no number for.

def reasons(field, workloads):
    """Why not, for each peer: a reason, and the workloads it is the reason for."""
    lines = []
    for name in field.peers:
        if name in m.BESIDE:
            continue
        by_reason = {}
        for workload in workloads:
            why = field.why_not(name, workload)
            if why:
                by_reason.setdefault(why, []).append(workload)
        for why, which in by_reason.items():
            what = "none of these" if len(which) == len(workloads) else \
                "not " + ", ".join(which)
            lines.append(f"- {field.title(name)}: {what}: {why}.")
    return lines


def skipped(field, workloads):
    """What a peer could do but was spared: reason, sizes and workloads."""
    found = {}
    for (name, workload, n, delays), one in field.cells.items():
        if "skipped" in one and workload in workloads:
            dice = f" {delays}" if delays != "uniform" else ""
            where = found.setdefault((name, one["skipped"], f"{n:,}{dice}"), [])
            where.append(workload)
    return [f"- {field.title(name)} at {size}: skipped {', '.join(which)}: {why}."
            for (name, why, size), which in found.items()]


def failures(field, workloads):
    """Repeats that failed, where others did not."""
    return [f"- {field.title(name)} failed {w.say_times(len(one['failures']))} at "
            f"{workload}, {n:,}: {one['failures'][0]}."
            for (name, workload, n, _), one in field.cells.items()
            if "failures" in one and workload in workloads]


def absences(field, title, workloads):
    lines = (reasons(field, workloads) + skipped(field, workloads) +
             failures(field, workloads))
    return ["", f"### {title}", "", *lines] if lines else []


def workloads_of(field, is_wanted):
    """Those of which there is a cell, in the order of the first ones."""
    known = [measure.workload for section in s.all_sections(field)
             for measure in (column.measure for column in section.columns)]
    return [workload for workload in dict.fromkeys(known) if is_wanted(workload)]


# The parts of the page.

def head(results):
    quick = ["", "This was a quick run, to see that everything works. Its numbers "
             "are rough: do not quote them."] if results["is_quick"] else []
    return ["<!-- Made by ./bench --pages from "
            "docs/reports/benchmarks/field.json: do not "
            "edit. -->", "", "# Benchmarks", "",
            "This page is generated, every number and every sentence about who is "
            f"faster, by `./bench --pages` from what `{results['command']}` measured "
            f"on {results['time'][:10]} at commit {results['commit']}. The numbers "
            "are in `docs/reports/benchmarks/field.json`. What the workloads are is said "
            "in "
            "[benchmarks/peers/README.md](../../benchmarks/peers/README.md).", *quick]


def escaped(text):
    return text.replace("|", "\\|")


def builds(results):
    on = results["machine"]
    lines = ["", "## The machine, the builds, the settings", "",
             f"{on['cpu']}, {on['processors']} processors, {on['memory_gb']} GB, "
             f"{on['kernel']}. Seed {results['seed']}, everything measured "
             f"{w.say_times(results['repeats'])}, "
             f"{results['seconds']:,} seconds.", "",
             "| language | compiler or machine | flags |", "|---|---|---|"]
    for adapter in results["adapters"]:
        lines.append(f"| {adapter['language']} | {escaped(adapter['toolchain'])} | "
                     f"{escaped(adapter['flags'])} |")
    for missing in results["missing"]:
        lines += ["", f"**Missing: {missing['what']}**: {missing['why']}."]
    lines += ["", "| peer | language | version | settings |", "|---|---|---|---|"]
    for adapter in results["adapters"]:
        for peer in adapter["peers"]:
            if peer["name"] not in m.BESIDE:
                lines.append(f"| {peer['title']} | {adapter['language']} | "
                             f"{escaped(peer['version'])} | "
                             f"{escaped(peer['settings'])} |")
    return lines


def fairness():
    return ["", "## What is compared, and what is not", "", FAIRNESS, "", LEGEND]


def virtual(field, drawn):
    lines = ["", "## Virtual time, one thread", "",
             "Columns are N, the number of timers; delays are uniform from 1 ms to "
             "60 s, or log-uniform from 1 ms to an hour."]
    for section in s.virtual_sections(field):
        lines += section_lines(field, section)
        workload = section.columns[0].measure.workload if section.columns else ""
        lines += pictures_of(drawn, workload)
    return lines


def real(field, drawn):
    lines = ["", "## Real time, thread-safe", "",
             "Any thread may call these at any time."]
    for section in s.real_sections(field, field.thread_safe_names()):
        lines += section_lines(field, section)
    lines += ["", early_ones(field), *pictures_of(drawn, "late", "idle", "pairs")]
    if len(field.loop_names()) > len(m.ours_of(field.loop_names())):
        lines += ["", "## Real time, used by one thread", "",
                  "No other thread may call these. Ours, which all may call, is here "
                  "to compare."]
        for section in s.real_sections(field, field.loop_names()):
            lines += section_lines(field, section)
    return lines


def early_ones(field):
    """Who ran timers before they were due, and by how much."""
    said = []
    for n in field.sizes(m.EARLY.workload):
        column = m.Column(m.EARLIEST, n)
        early = [f"{field.title(name)} (up to {w.say(-field.value(name, column).low)}"
                 " us)" for name in field.real_names()
                 if field.is_early(name, column)]
        said.append(f"Of {n:,} timers some ran early in: {', '.join(early)}." if early
                    else f"Of {n:,} timers none ran early in any of them.")
    return " ".join(said)


def demands(field, drawn):
    lines = ["", "## Three demands: D1, D2, D3", "",
             "Each is a use in one piece: limits of connections, a million long "
             "timers, timeouts of requests."]
    real_kinds = [("thread-safe", field.thread_safe_names()),
                  ("used by one thread", field.loop_names())]
    both = [list(s.real_demand_sections(field, names)) for _, names in real_kinds]
    for i, section in enumerate(s.virtual_demand_sections(field)):
        lines += section_lines(field, section)
        for (kind, names), sections in zip(real_kinds, both):
            if m.theirs_of(names) and has_values(field, sections[i]):
                titled = replace(sections[i], title=f"{sections[i].title}, {kind}")
                lines += section_lines(field, titled, "####")
        lines += pictures_of(drawn, f"d{i + 1}")
    return lines


def weakest(field):
    duels = s.duels_of(field)
    lost = [duel for duel in duels if duel.ratio > 1]
    lines = ["", "## Where tickwheel is weakest", ""]
    if not duels:
        return lines + ["Nothing was measured that both ours and a peer can do."]
    lines += [f"The best of ours against the best of the peers, in {len(duels)} "
              f"columns of the tables above: a peer is ahead in {len(lost)}. These are "
              f"the workloads in which ours does worst, the worst first, each at the "
              "N where that is so:", ""]
    for i, group in enumerate(s.weakest(duels)[:WEAKEST_MAX], 1):
        worst, *others = group
        rest = [f"{duel.ratio:.2f} at {w.say_size(duel.column)}"
                for duel in others if duel.ratio > 1]
        tail = f" (also behind: {', '.join(rest)})" if rest else ""
        behind = f"**{worst.ratio:.2f} times**" if worst.ratio > 1 else \
            f"{worst.ratio:.2f} times, so ours is not behind"
        lines.append(f"{i}. {behind}: {w.say_duel(field, worst)}{tail}.")
    return lines


def text_of(field):
    drawn = charts.listed(field)
    virtual_workloads = workloads_of(field, lambda w: not m.is_real(w))
    real_workloads = workloads_of(field, m.is_real)
    lines = [*head(field.found), *builds(field.found), *fairness(),
             *virtual(field, drawn),
             *absences(field, "Not in the tables of virtual time",
                       virtual_workloads),
             *real(field, drawn),
             *absences(field, "Not in the tables of real time", real_workloads),
             *demands(field, drawn), *weakest(field)]
    return "\n".join(lines) + "\n"


def replace_file(path, text):
    """Write a file as a whole or not at all."""
    path = pathlib.Path(path)
    part = path.with_name(path.name + ".part")
    part.write_text(text, encoding="utf-8")
    part.replace(path)


def write(field, path):
    replace_file(path, text_of(field))


# README.

def readme_cell(field, name, column):
    title = field.title(name).removeprefix("tickwheel ")
    return f"{w.say(field.value(name, column).median)} ({title})"


def readme_row(field, label, names, column):
    """Ours, the best of the others, and the median of the others."""
    ours = field.best(m.ours_of(names), column)
    others = field.values(m.theirs_of(names), column)
    if ours is None or not others:
        return None
    middle = statistics.median(value.median for value in others.values())
    return (f"| {label} | {readme_cell(field, ours, column)} "
            f"| {readme_cell(field, field.best(others, column), column)} "
            f"| {w.say(float(middle))} (of {len(others)}) |")


def readme_rows(field):
    parts = ((README_VIRTUAL, field.virtual_names()),
             (README_REAL, field.thread_safe_names()))
    rows = [readme_row(field, label, names, column)
            for labels, names in parts for measure, label in labels.items()
            if (column := field.column(measure))]
    return list(filter(None, rows))


def readme_text(field):
    rows = readme_rows(field)
    if not rows:
        return "No peer was measured."
    repeats = field.found["repeats"]
    measured = f"medians of {repeats} runs" if repeats > 1 else "one run"
    column = field.column(m.REARM) or field.column(m.IDLE)
    return "\n".join([
        f"| {column.n:,} timers | tickwheel | best other | median of the others |",
        "|---|---:|---:|---:|", *rows, "",
        f"{field.found['machine']['cpu']}, {measured}. "
        "[docs/reports/benchmarks.md](docs/reports/benchmarks.md) has every peer, "
        "workload and size, and lists where tickwheel is weakest."])


def write_readme(field, path):
    """Replace what is between the marks; without them, say so."""
    old = pathlib.Path(path).read_text(encoding="utf-8")
    before, begin, rest = old.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"{path} lacks the mark {BEGIN} or {END}")
    replace_file(path, f"{before}{BEGIN}\n\n{readme_text(field)}\n\n{END}{after}")
