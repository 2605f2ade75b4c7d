"""Who is drawn in which colour, and how.

Few lines of a chart can be loud.  Ours are thick and in the strongest colours;
the best peers of each language are in colours, too; all others are grey.  Each
has a marker and a dash of its own.
"""
import math
from dataclasses import dataclass

import measures as m


WIDTH = 800
FONT_SIZE = 12
LETTER = 6.7  # pixels, of a letter of that size, rather too many than too few
LINE_HEIGHT = 16

# On a light page, and on a dark one.
INK, GRID, GREY, PAPER, BAND = ("#1f2328", "#d8dee4", "#6b7178", "#ffffff",
                                "#fbe3df")
VERMILLION, BLUE = "#d55e00", "#0072b2"
GREEN, WINE, GOLD = "#117733", "#882255", "#8a6d00"
DARK = {INK: "#e6edf3", GRID: "#30363d", GREY: "#98a2ac", PAPER: "#0d1117",
        BAND: "#4a2321", VERMILLION: "#ff8a3d", BLUE: "#58b0ff",
        GREEN: "#4cc38a", WINE: "#e58fc0", GOLD: "#e3c34a"}


@dataclass(frozen=True)
class Style:
    color: str
    width: float
    dash: str
    point: int  # gnuplot's number of a marker
    is_bold: bool = False


OUR_STYLES = {
    "wheel": Style(VERMILLION, 3.5, "solid", 7, True),
    "pool": Style(BLUE, 3.5, "solid", 5, True),
    "service": Style(VERMILLION, 3.5, "solid", 7, True),
    "monitor": Style(BLUE, 3.5, "(9,5)", 5, True),
}
PEER_STYLES = (Style(GREEN, 2, "solid", 9), Style(WINE, 2, "(12,4)", 13),
               Style(GOLD, 2, "(6,3)", 11), Style(INK, 1.6, "(12,3,3,3)", 15))
OTHERS = [Style(GREY, 1.2, dash, point)
          for dash, point in zip(("solid", "(8,4)", "(4,3)", "(10,3,3,3)", "(2,3)",
                                  "(14,4)", "(6,2,2,2,2,2)") * 3,
                                 (8, 12, 10, 14, 1, 2, 3, 6, 4, 9, 13) * 2)]
FLOOR_STYLE = Style(GREY, 1.6, "(1,3)", 0)


# Who gets which colour.

def score(field, name, names, measures):
    """How far a peer is from the best, on average: 0 is best everywhere."""
    ratios = []
    for measure in measures:
        column = field.column(measure)
        value = field.value(name, column) if column else None
        best = field.best(names, column) if value else None
        if best and field.value(best, column).median > 0 and value.median > 0:
            ratio = math.log(value.median / field.value(best, column).median)
            ratios.append(abs(ratio))
    return sum(ratios) / len(ratios) if ratios else math.inf


def styles(field, names, measures):
    """A style for each name, the same in all charts of these measures.

    The best peer of each language has a colour; colours that are left go to the
    best of the others.
    """
    theirs = sorted(m.theirs_of(names), key=lambda name: score(
        field, name, names, measures))
    first = list({field.languages[name]: name for name in reversed(theirs)}.values())
    ranked = sorted(first, key=theirs.index) + [
        name for name in theirs if name not in first]
    return {**dict(zip(ranked, [*PEER_STYLES, *OTHERS])), **OUR_STYLES,
            m.FLOOR: FLOOR_STYLE}


def virtual_styles(field):
    return styles(field, field.virtual_names(),
                  (m.ARM, m.CANCEL, m.REARM, m.TOUCH, m.FIRE_STEPS))


def real_styles(field):
    return styles(field, field.real_names(),
                  (m.LATE_99, m.LATEST))


def real_title(field, name):
    """In real time it matters who may call it."""
    is_for_all = name in m.BESIDE or field.is_thread_safe(name)
    mark = "" if is_for_all else " (1 thread)"
    return field.title(name) + mark
