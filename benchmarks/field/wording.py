"""Numbers, and who is better, in words: the same in every report."""
import math

from measures import is_real, ours_of, plain, theirs_of


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
