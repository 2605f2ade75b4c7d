"""The results as plain text, for a terminal of 100 columns.

Medians, and half the range in percent where there is room for it.  A star is at
the best of each column; what stands for a number that is not there is explained
at the end.
"""
import measures as m
import results as r
import sections as s
import wording as w

WIDTH = 100
NAME_WIDTH_MIN, NAME_WIDTH_MAX = 16, 28
BOLD, PLAIN = "\033[1m", "\033[0m"


def scatter(value):
    """Half the range, in percent of the median."""
    if value.count < 2 or value.median == 0:
        return ""
    return f" ±{abs((value.high - value.low) / 2 / value.median):.0%}"


def cell(field, name, column, winners, has_room):
    value = field.value(name, column)
    if value:
        star = "*" if name in winners else ""
        return star + w.say(value.median) + (scatter(value) if has_room else "")
    if field.why_skipped(name, column):
        return w.say_skipped(field, name, column)
    return "-" if name not in m.BESIDE and field.why_not(
        name, column.measure.workload) else ""


def rows_of(field, section, has_room):
    """Names and texts; a peer that can do none of it is left out."""
    winners = [field.winners(section.names, column) for column in section.columns]
    rows = []
    for name in (*section.names, *filter(None, [section.beside])):
        columns = [r.beside_column(name, column) for column in section.columns]
        texts = [cell(field, name, column, best, has_room)
                 for column, best in zip(columns, winners)]
        if any(text not in ("", "-") for text in texts):
            rows.append((name, texts))
    return rows


def shortened(text, width):
    return text if len(text) <= width else text[:width - 1] + "…"


def short(heading):
    return heading.replace("log-uniform", "log")


def headings(columns, width):
    """One line or two, each word where it fits."""
    parts = [short(column.heading).split(" ") for column in columns]
    lines = []
    while any(parts):
        line = []
        for words in parts:
            text = words.pop(0) if words else ""
            while words and len(text) + 1 + len(words[0]) <= width:
                text += " " + words.pop(0)
            line.append(text)
        lines.append(line)
    return lines


def layout(field, section):
    """The rows and the width of their columns, without the scatter if need be."""
    for has_room in (True, False):
        rows = rows_of(field, section, has_room)
        longest = max((len(text) for _, texts in rows for text in texts), default=0)
        width = max([longest, *(len(word) for column in section.columns
                                for word in short(column.heading).split(" "))])
        if NAME_WIDTH_MAX + len(section.columns) * (width + 2) <= WIDTH:
            break
    return rows, width


def has_values(field, section):
    return any(field.values(section.names, column) for column in section.columns)


def write_section(field, section, out, is_bold):
    rows, width = layout(field, section)
    room = WIDTH - len(section.columns) * (width + 2)
    name_width = max(NAME_WIDTH_MIN, min(NAME_WIDTH_MAX, room))
    print(f"\n{section.title}", file=out)
    for line in headings(section.columns, width):
        texts = "".join(f"  {text:>{width}}" for text in line)
        print((" " * name_width + texts).rstrip(), file=out)
    for name, texts in rows:
        line = f"{shortened(field.title(name), name_width):<{name_width}}"
        for text in texts:
            padded = f"  {text:>{width}}"
            is_best = is_bold and text.startswith("*")
            line += f"{BOLD}{padded}{PLAIN}" if is_best else padded
        print(line.rstrip(), file=out)


def write_head(field, out):
    results = field.found
    on = results["machine"]
    print(f"{on['cpu']}, {on['processors']} processors, {on['kernel']}, "
          f"{on['memory_gb']} GB; commit {results['commit']}, seed "
          f"{results['seed']}, measured {w.say_times(results['repeats'])}, "
          f"{results['seconds']:,} s", file=out)
    for missing in results["missing"]:
        print(f"missing: {missing['what']}: {missing['why']}", file=out)
    if results["is_quick"]:
        print("a quick run: do not quote these numbers", file=out)


def write_weakest(field, out):
    lost = [duels[0] for duels in s.weakest(s.duels_of(field))
            if duels[0].ratio > 1][:10]
    if lost:
        print("\nwhere ours is weakest, each workload at its worst: how many times "
              "better the best peer is", file=out)
    for duel in lost:
        print(f"{duel.ratio:6.2f}  {shortened(w.say_duel(field, duel), WIDTH - 8)}",
              file=out)


def write_sections(field, title, sections, out):
    """Those that have something to show; bold only where `out` is a terminal."""
    shown = [section for section in sections if has_values(field, section)]
    if shown:
        print(f"\n{title}", file=out)
    for section in shown:
        write_section(field, section, out, out.isatty())


def write(field, out):
    """Print every table."""
    write_head(field, out)
    write_sections(field, "virtual time, one thread",
                   (*s.virtual_sections(field),
                    *s.virtual_demand_sections(field)), out)
    for title, names in (("real time, thread-safe", field.thread_safe_names()),
                         ("real time, used by one thread", field.loop_names())):
        if m.theirs_of(names) or title.endswith("safe"):
            write_sections(field, title, (*s.real_sections(field, names),
                                          *s.real_demand_sections(field, names)),
                           out)
    write_weakest(field, out)
    print("\n* the best; ± half the range of the repeats; - it cannot; skipped and "
          "empty:\nnot measured.  Why, says the page that was written beside the "
          "charts.", file=out)
