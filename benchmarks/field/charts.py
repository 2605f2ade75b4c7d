"""The charts, as SVG, drawn by gnuplot.

Fourteen lines in one chart can be read only if few of them are loud.  Ours are
thick and in the strongest colours; the best peers of each language are in
colours, too; all others are grey.  Each has a marker and a dash of its own, and
its name and last value stand where its line ends, moved apart.  To place the
names, ranges and margins are set here, in pixels, and never left to gnuplot.

gnuplot writes colours as attributes.  A style sheet that is put into the file
replaces them where the reader prefers dark pages; the background is the file's
own, so that it can be read on any page.
"""
import functools
import math
import pathlib
import re
import shutil
import subprocess
from dataclasses import dataclass
from xml.sax.saxutils import escape

import results as r

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


class NoGnuplot(Exception):
    """Charts cannot be drawn here; all else can."""


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
    "pool_cold": Style(BLUE, 2.5, "(9,5)", 4, True),
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
    theirs = sorted(r.theirs_of(names), key=lambda name: score(
        field, name, names, measures))
    first = list({field.languages[name]: name for name in reversed(theirs)}.values())
    ranked = sorted(first, key=theirs.index) + [
        name for name in theirs if name not in first]
    return {**dict(zip(ranked, [*PEER_STYLES, *OTHERS])), **OUR_STYLES,
            r.FLOOR: FLOOR_STYLE}


def virtual_styles(field):
    return styles(field, field.virtual_names(),
                  (r.ARM, r.CANCEL, r.REARM, r.TOUCH, r.FIRE_STEPS))


def real_styles(field):
    return styles(field, field.real_names(),
                  (r.LATE_99, r.LATEST))


def real_title(field, name):
    """In real time it matters who may call it."""
    is_for_all = name in r.BESIDE or field.is_thread_safe(name)
    mark = "" if is_for_all else " (1 thread)"
    return field.title(name) + mark


# Words for gnuplot.

def quoted(text):
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def font(is_bold=False, size=FONT_SIZE):
    return f'font "sans-serif{":Bold" if is_bold else ""},{size}"'


def text_at(x, y, text, color=INK, is_bold=False, side="left", size=FONT_SIZE):
    """A text at a place in pixels, from the lower left corner."""
    return (f"set label {quoted(text)} at screen {{X:{x:.2f}}}, "
            f"screen {{Y:{y:.2f}}} {side} {font(is_bold, size)} "
            f'textcolor rgb "{color}"')


def leader(x, y, to_x, to_y, color):
    return (f"set arrow from screen {{X:{x:.2f}}}, screen {{Y:{y:.2f}}} to "
            f"screen {{X:{to_x:.2f}}}, screen {{Y:{to_y:.2f}}} nohead lw 0.6 "
            f'lc rgb "{color}"')


def tics(axis, places):
    pairs = ", ".join(f"{quoted(text).replace('%', '%%')} {place:g}"
                      for place, text in places)
    return f'set {axis}tics ({pairs}) textcolor rgb "{INK}"'


def block(name, rows):
    """Numbers, as a table that gnuplot can read by its name."""
    lines = [" ".join(f"{number:g}" for number in row) for row in rows]
    return "\n".join([f"${name} << END", *lines, "END"])


def line_of(style, index):
    return (f"$line{index} using 1:2 with linespoints dt {style.dash} "
            f'lw {style.width} lc rgb "{style.color}" pt {style.point} '
            f"ps {0.9 if style.width > 2 else 0.7} notitle")


def text_width(text, is_bold=False):
    return len(text) * LETTER * (1.08 if is_bold else 1)


# Axes.

def steps_between(low, high):
    """1, 2, 5, 10 ... from the one below `low` to the one above `high`."""
    steps = [digit * 10.0 ** power for power in range(-12, 15)
             for digit in (1, 2, 5)]
    first = max(step for step in steps if step <= low * 1.0001)
    last = min(step for step in steps if step >= high * 0.9999)
    return [step for step in steps if first <= step <= last]


def log_places(low, high):
    """What to write on a logarithmic axis, and the ends of it."""
    steps = steps_between(low * 0.98, high * 1.02)
    powers = [step for step in steps if f"{step:e}".startswith("1.0")]
    shown = powers if len(powers) > 3 else steps
    return steps[0], steps[-1], [(step, f"{step:,.10g}") for step in shown]


def linear_places(high):
    """The same for an axis that begins at 0."""
    step = next(step for step in steps_between(high / 8, high)
                if high / step <= 6)
    count = math.ceil(high / step)
    return 0, count * step, [(i * step, f"{i * step:,.10g}")
                             for i in range(count + 1)]


def apart(wanted, gap):
    """Places as near as can be to those wanted, in their order, a gap apart.

    Those that are too near form a crowd around the middle of what they want.
    """
    crowds = []
    for place in sorted(wanted):
        crowds.append([place])
        while len(crowds) > 1 and top(crowds[-2], gap) + gap > bottom(crowds[-1],
                                                                      gap):
            last = crowds.pop()
            crowds[-1] += last
    return [bottom(crowd, gap) + i * gap for crowd in crowds
            for i in range(len(crowd))]


def bottom(crowd, gap):
    return sum(crowd) / len(crowd) - (len(crowd) - 1) * gap / 2


def top(crowd, gap):
    return bottom(crowd, gap) + (len(crowd) - 1) * gap


# Lines with names at their ends.

@dataclass
class Line:
    name: str
    title: str
    style: Style
    points: list  # pairs of x and y, as on the axes
    last: str     # what is written after the name

    def words(self):
        return f"{self.title}  {self.last}"


@dataclass
class Plot:
    """Where the axes are: in pixels, and in what they show."""

    left: float
    right: float
    bottom: float
    top: float
    x: tuple
    y: tuple
    log: str = ""  # which axes are logarithmic

    def place(self, x, y):
        """In pixels."""
        across = share(x, self.x, "x" in self.log)
        up = share(y, self.y, "y" in self.log)
        return (self.left + across * (self.right - self.left),
                self.bottom + up * (self.top - self.bottom))


def share(value, ends, is_log):
    """How far from one end to the other."""
    low, high = ends
    if is_log:
        value, low, high = map(math.log, (value, low, high))
    return (value - low) / (high - low)


def end_labels(plot, lines):
    """The names, in the order in which the lines end, and lines that lead there."""
    ends = sorted(((plot.place(*line.points[-1]), line) for line in lines),
                  key=lambda end: (end[0][1], end[1].name))
    places = apart([y for (_, y), _ in ends], LINE_HEIGHT)
    over = max(0, places[-1] - plot.top - 6)
    under = max(0, plot.bottom - 30 - places[0] + over)
    for y, ((end_x, end_y), line) in zip(places, ends):
        y += under - over
        color = line.style.color
        yield leader(end_x, end_y, plot.right + 22, y, color)
        yield text_at(plot.right + 26, y, line.words(), color,
                      line.style.is_bold)


def frame(plot):
    return ["unset logscale", f"set logscale {plot.log}" if plot.log else "",
            f"set lmargin at screen {{X:{plot.left}}}",
            f"set rmargin at screen {{X:{plot.right}}}",
            f"set bmargin at screen {{Y:{plot.bottom}}}",
            f"set tmargin at screen {{Y:{plot.top}}}",
            f"set xrange [{plot.x[0]:g}:{plot.x[1]:g}]",
            f"set yrange [{plot.y[0]:g}:{plot.y[1]:g}]",
            f'set border 3 lc rgb "{INK}" lw 0.8',
            f'set grid lc rgb "{GRID}" lw 0.8 dt solid']


def tic_margin(places):
    return 16 + max(text_width(text) for _, text in places)


def label_margin(lines):
    return 34 + max(text_width(line.words(), line.style.is_bold)
                    for line in lines)


def plot_lines(lines):
    """Ours last, so that they are on top."""
    order = sorted(lines, key=lambda line: line.style.width)
    blocks = [block(f"line{i}", line.points) for i, line in enumerate(order)]
    plots = [line_of(line.style, i) for i, line in enumerate(order)]
    return [*blocks, "plot " + ", ".join(plots)]


def axis_names(plot, x_name, y_name, height):
    return [text_at((plot.left + plot.right) / 2, 14, x_name, side="center"),
            text_at(10, height - 44, y_name)]


@dataclass(frozen=True)
class Growth:
    """A measure against N, both axes logarithmic."""

    file: str
    title: str
    measure: r.Measure
    unit: str

    def height_for(self, field):
        return 480

    def lines(self, field):
        look = virtual_styles(field)
        for name in field.virtual_names() + (r.FLOOR,):
            points = self.points(field, name)
            if points:
                yield Line(name, field.title(name), look[name], points,
                           self.last(field, *points[-1]))

    def last(self, field, n, value):
        """The last value, and where that is if the others go on."""
        is_end = n == field.sizes(self.measure.workload)[-1]
        return r.say(value) + ("" if is_end else f" at {r.say_count(n)}")

    def points(self, field, name):
        is_floor = name == r.FLOOR
        if is_floor and self.measure not in r.RANDOM:
            return []
        points = []
        for n in field.sizes(self.measure.workload):
            column = r.Column(self.measure, n)
            value = field.value(name, r.beside_column(name, column)
                                if is_floor else column)
            if value and value.median > 0:
                points.append((n, value.median))
        return points

    def has_data(self, field):
        return any(line.name != r.FLOOR for line in self.lines(field))

    def caption(self, field):
        sizes = field.sizes(self.measure.workload)
        text = f"In {self.unit}, against the number of timers; less is better."
        return text + say_best(field, field.virtual_names(),
                               r.Column(self.measure, sizes[-1]))

    def script(self, field):
        lines = list(self.lines(field))
        sizes = sorted({n for line in lines for n, _ in line.points})
        ends = (sizes[0], sizes[-1]) if len(sizes) > 1 else (
            sizes[0] / 2, sizes[0] * 2)
        heights = [y for line in lines for _, y in line.points]
        low, high, places = log_places(min(heights), max(heights))
        plot = Plot(tic_margin(places), WIDTH - label_margin(lines), 52,
                    self.height_for(field) - 60, ends, (low, high), "xy")
        return [*frame(plot),
                tics("x", [(n, r.say_count(n)) for n in sizes]),
                tics("y", places), *end_labels(plot, lines),
                *axis_names(plot, "timers pending", self.unit,
                            self.height_for(field)),
                *plot_lines(lines)]


# How late: percentiles.

LATEST, EARLIEST_PLACE = 5, -3
PERCENT_PLACES = ((EARLIEST_PLACE, "earliest"), (-2, "1%"), (-0.954, "10%"),
                  (0, "50%"), (0.954, "90%"), (2, "99%"), (3, "99.9%"),
                  (4, "99.99%"), (LATEST, "latest"))


def percent_place(percent):
    """On a scale that opens up towards both ends: log of p / (1 - p)."""
    if percent <= 0:
        return EARLIEST_PLACE
    if percent >= 100:
        return LATEST
    return math.log10(percent / (100 - percent))


def late_place(us):
    """Linear around 0, logarithmic far away, on both sides of it."""
    return math.copysign(math.log10(1 + abs(us) / 10), us)


@dataclass(frozen=True)
class Lateness:
    """Every percentile of how late timers were, with what was early below 0."""

    file: str
    title: str

    def height_for(self, field):
        return 520

    def column(self, field):
        return field.column(r.LATE_99)

    def lines(self, field):
        column = self.column(field)
        look = real_styles(field)
        for name in field.real_names() if column else ():
            values = field.cell(name, column).get("values", {})
            late = sorted((float(key.removeprefix("late_us_")),
                           r.median_of(samples, 1).median)
                          for key, samples in values.items()
                          if key.startswith("late_us_"))
            if late:
                points = [(percent_place(percent), late_place(us))
                          for percent, us in late]
                yield Line(name, real_title(field, name), look[name], points,
                           r.say(late[-1][1]))

    def has_data(self, field):
        return any(self.lines(field))

    def caption(self, field):
        column = self.column(field)
        text = ("By percentile, in us; what is in the band below 0 ran before it "
                "was due.")
        return text + say_best(field, field.real_names(), column, column.measure.title)

    def early_words(self, field, plot):
        """In the band, as many as have room there: who was early, by how much."""
        column = r.replace(self.column(field), measure=r.EARLIEST)
        early = {name: -value.median for name, value in field.values(
            field.real_names(), column).items() if value.median < 0}
        words = ["early: ran before it was due"]
        for name in sorted(early, key=lambda name: -early[name]):
            words.append(f"{field.title(name)}, by {r.say(early[name])} us")
        top = plot.place(0, 0)[1] - 12
        count = max(1, int((top - plot.bottom - 12) // LINE_HEIGHT) + 1)
        for i, text in enumerate(words[:count]):
            yield text_at(plot.right - 8, top - i * LINE_HEIGHT, text, INK, i == 0,
                          "right")

    def script(self, field):
        lines = list(self.lines(field))
        heights = [y for line in lines for _, y in line.points]
        ends = (min(min(heights) - 0.15, late_place(-30)), max(heights) + 0.15)
        places = [(late_place(us), f"{us:,}") for power in range(1, 10)
                  for us in (10 ** power, -10 ** power)
                  if ends[0] <= late_place(us) <= ends[1]]
        plot = Plot(tic_margin(places), WIDTH - label_margin(lines), 52,
                    self.height_for(field) - 60, (EARLIEST_PLACE, LATEST), ends)
        return [*frame(plot), tics("x", PERCENT_PLACES),
                tics("y", [(0, "0"), *places]),
                f"set object rectangle from graph 0, first {ends[0]:g} to "
                f'graph 1, first 0 fc rgb "{BAND}" fs solid noborder behind',
                f"set arrow from graph 0, first 0 to graph 1, first 0 nohead "
                f'lc rgb "{INK}" lw 1.2',
                *self.early_words(field, plot), *end_labels(plot, lines),
                *axis_names(plot, "percent of all timers that were no later",
                            "us late", self.height_for(field)),
                *plot_lines(lines)]


# Bars.

ROW_HEIGHT, PAIR_HEIGHT = 20, 34


@dataclass(frozen=True)
class Bars:
    """Horizontal bars, in panels, the best on top."""

    file: str
    title: str
    panels: tuple
    about: str

    def shown(self, field):
        found = [(panel, panel.rows(field)) for panel in self.panels]
        return [(panel, rows) for panel, rows in found if rows]

    def has_data(self, field):
        return bool(self.shown(field))

    def caption(self, field):
        text = self.about
        for panel, _ in self.shown(field):
            column = panel.columns(field)[-1]
            text += say_best(field, panel.names(field), column, panel.title)
        return text

    def height_for(self, field):
        return 40 + sum(panel.height(field) for panel, _ in self.shown(field))

    def script(self, field):
        top = self.height_for(field) - 40
        lines = ["set multiplot"]
        for panel, rows in self.shown(field):
            lines += panel.script(field, rows, top)
            lines += ["unset label", "unset object"]  # each has its own
            top -= panel.height(field)
        return [*lines, "unset multiplot"]


@dataclass(frozen=True)
class Panel:
    """One or two bars for each peer: of one measure at two N, or of two."""

    title: str
    series: tuple  # pairs of a measure and the N wanted, None for the largest
    is_virtual: bool

    def names(self, field):
        return field.virtual_names() if self.is_virtual else field.real_names()

    def title_of(self, field, name):
        return field.title(name) if self.is_virtual else real_title(field, name)

    def columns(self, field):
        """Those there are; in a short run two may be the same."""
        found = [field.column(measure, n or math.inf) for measure, n in self.series]
        return list(dict.fromkeys(filter(None, found)))

    def rows(self, field):
        """Name and values, best first; None for a value that there is not."""
        columns = self.columns(field)
        rows = []
        for name in self.names(field) + (r.NOTHING,):
            values = [field.value(name, column) for column in columns]
            if any(values):
                rows.append((name, [v.median if v else None for v in values]))
        sign = -1 if self.series[0][0].is_more_better else 1
        return sorted(rows, key=lambda row: (
            row[1][-1] is None, sign * (row[1][-1] or row[1][0] or 0), row[0]))

    def row_height(self):
        return PAIR_HEIGHT if len(self.series) > 1 else ROW_HEIGHT

    def height(self, field):
        return 78 + len(self.rows(field)) * self.row_height()

    def axis(self, values):
        """Its ends, its numbers, and whether it is logarithmic."""
        above = [value for value in values if value > 0]
        if above and max(above) > 20 * min(above):
            low, high, places = log_places(min(above) / 2, max(above))
            return low, high, places, True
        return *linear_places(max(above, default=1)), False

    def script(self, field, rows, top):
        values = [v for _, row in rows for v in row if v is not None]
        low, high, places, is_log = self.axis(values)
        margin = 16 + max(text_width(self.title_of(field, name), name in r.OURS)
                          for name, _ in rows)
        count = len(rows)
        plot = Plot(margin, WIDTH - 70, top - 26 - count * self.row_height(),
                    top - 26, (low, high), (-count, 0), "x" if is_log else "")
        unit = self.series[0][0].unit + (", logarithmic" if is_log else "")
        return [*frame(plot), f'set border 1 lc rgb "{INK}" lw 0.8', tics("x", places),
                "unset ytics",
                text_at(10, top - 10, self.title, is_bold=True),
                *self.legend(field, top - 10),
                text_at((plot.left + plot.right) / 2, plot.bottom - 34, unit,
                        side="center"),
                *self.bars(field, rows, plot)]

    def legend(self, field, y):
        """A filled box and an empty one, with what they are."""
        x = 30 + text_width(self.title, True)
        columns = self.columns(field)
        for i, column in enumerate(columns if len(columns) > 1 else ()):
            text = f"{column.n:,} pending" if column.n != columns[i - 1].n \
                else column.measure.title.split(", ")[-1]
            fill = "solid 1" if i == 0 else "empty"
            yield (f"set object rectangle from screen {{X:{x:.1f}}}, screen "
                   f"{{Y:{y - 5:.1f}}} to screen {{X:{x + 18:.1f}}}, screen "
                   f'{{Y:{y + 5:.1f}}} fc rgb "{GREY}" fs {fill} border lc rgb '
                   f'"{GREY}"')
            yield text_at(x + 24, y, text)
            x += 48 + text_width(text)

    def bars(self, field, rows, plot):
        blocks, plots, words = [], [], []
        height = 0.78 / len(self.series)
        for i, (name, values) in enumerate(rows):
            is_ours = name in r.OURS
            color = OUR_STYLES[name].color if is_ours else GREY
            _, y = plot.place(plot.x[0], -i - 0.5)
            words.append(text_at(plot.left - 8, y, self.title_of(field, name),
                                 color if is_ours else INK, is_ours, "right"))
            for j, value in enumerate(values):
                if value is None:
                    continue
                upper = -i - 0.11 - j * height
                end = max(value, plot.x[0])
                blocks.append(block(f"bar{i}_{j}", [(
                    end, upper, plot.x[0], end, upper - height, upper)]))
                fill = "solid 1 noborder" if j == 0 else "empty border"
                plots.append(f"$bar{i}_{j} using 1:2:3:4:5:6 with boxxyerror "
                             f'lc rgb "{color}" lw 1.2 fs {fill} notitle')
                x, y = plot.place(end, upper - height / 2)
                words.append(text_at(x + 6, y, r.say(value)))
        return [*blocks, *words, "plot " + ", ".join(plots)]


def say_best(field, names, column, before=""):
    """The best of ours and the best peer, in words, for who cannot see it."""
    said = []
    for who, some in (("best of ours", r.ours_of(names)),
                      ("best peer", r.theirs_of(names))):
        best = field.best(some, column)
        if best:
            number = r.say(field.value(best, column).median)
            said.append(f"{who} {field.title(best)} {number}")
    at = f"{column.n:,} timers" if column.n > 1 else ""
    where = ", ".join(filter(None, (before, at)))
    text = f"{where}: {', '.join(said)}." if where else f"{', '.join(said)}."
    return " " + text[0].upper() + text[1:] if said else ""


# All of them.

CHARTS = (
    Growth("arm.svg", "Arming a timer", r.ARM, "ns for each timer"),
    Growth("cancel.svg", "Cancelling a timer", r.CANCEL, "ns for each timer"),
    Growth("rearm.svg", "Moving a random timer", r.REARM, "ns for each move"),
    Growth("touch.svg", "Pushing back a limit of 30 s while time goes by",
           r.TOUCH, "ns for each move"),
    Growth("fire-steps.svg", "Firing, by steps of 1 ms", r.FIRE_STEPS,
           "ns for each timer"),
    Growth("fire-jumps.svg", "Firing, by jumps to the next", r.FIRE_JUMPS,
           "ns for each timer"),
    Growth("worst-step.svg", "The longest step of 1 ms while all fire",
           r.WORST_STEP, "us"),
    Lateness("late.svg", "How late a million timers were, in real time"),
    Bars("idle.svg", "Doing nothing: one core's time with nothing due",
         (Panel("percent of a core", ((r.IDLE, 1), (r.IDLE, None)), False),),
         "Less is better."),
    Bars("bytes.svg", "Memory for each timer",
         (Panel("virtual time, bytes", ((r.BYTES, r.README_SIZE),), True),
          Panel("real time, bytes", ((r.CALL_BYTES, r.README_SIZE),), False)),
         "Less is better."),
    Bars("pairs.svg", "Arm and cancel, again and again",
         (Panel("million pairs a second", ((r.PAIRS_1, None), (r.PAIRS_2, None)),
                False),),
         "More is better."),
    Bars("d1.svg", "D1: limits pushed back by packets",
         (Panel("virtual time, ns for each packet", ((r.D1, None),), True),
          Panel("real time, percent of a core", ((r.REAL_D1, None),), False)),
         "Less is better."),
    Bars("d2.svg", "D2: many long timers",
         (Panel("virtual time, ns for each timer", ((r.D2, None),), True),
          Panel("real time, ms to run all that are due at one instant",
                ((r.DRAIN, None),), False)),
         "Less is better."),
    Bars("d3.svg", "D3: timeouts of requests that are answered",
         (Panel("virtual time, ns for each cancel and arm", ((r.D3, None),), True),
          Panel("real time, million a second", ((r.REAL_D3[0], None),), False)),
         "Virtual time: less is better; real time: more is better."),
)


def title_of(chart, field):
    """With the N that was really drawn, where a title names one."""
    if not isinstance(chart, Lateness):
        return chart.title
    n = chart.column(field).n
    return chart.title.replace("a million", f"{n:,}") \
        if n != r.README_SIZE else chart.title


def listed(field):
    """File, title and caption of each chart there is data for; draws nothing."""
    return [(chart.file, title_of(chart, field), chart.caption(field))
            for chart in CHARTS if chart.has_data(field)]


def script(chart, field):
    """All that gnuplot is told."""
    height = chart.height_for(field)
    lines = [f"set terminal svg size {WIDTH},{height} noenhanced dashed {font()}",
             "set encoding utf8", "set tics nomirror scale 0.5", "unset key",
             text_at(10, height - 18, title_of(chart, field), is_bold=True,
                     size=15)]
    text = "\n".join(lines + chart.script(field)) + "\n"
    text = re.sub(r"\{X:([-\d.]+)\}", lambda m: f"{float(m[1]) / WIDTH:.5f}", text)
    return re.sub(r"\{Y:([-\d.]+)\}", lambda m: f"{float(m[1]) / height:.5f}", text)


def hexadecimal(match):
    return "#" + "".join(f"{int(part):02x}" for part in match.groups())


@functools.cache
def style_sheet():
    rules = "".join(f'[{what}="{light}"]{{{what}:{dark}}}'
                    for light, dark in DARK.items()
                    for what in ("fill", "stroke", "color"))
    return ("<style>text{white-space:pre}"
            f"@media (prefers-color-scheme:dark){{{rules}}}</style>")


def finished(svg, title, caption):
    """gnuplot's file, made smaller, with its words and for light and dark."""
    svg = re.sub(r"rgb\(\s*(\d+),\s*(\d+),\s*(\d+)\)", hexadecimal, svg)
    svg = re.sub(r"(['\"])black\1", f'"{INK}"', svg)
    svg = re.sub(r"(fill|stroke|color)\s?=\s?'(#\w+)'", r'\1="\2"', svg)
    svg = svg.replace('font-family="sans-serif:Bold"',
                      'font-family="sans-serif" font-weight="bold"')
    svg = re.sub(r"<filter.*?</filter>", "", svg, flags=re.S)
    svg = re.sub(r"<title>gnuplot_plot_\w+</title>", "", svg)
    svg = re.sub(r"<g [^>]*>\s*</g>", "", svg)
    svg = re.sub(r"<title>.*?</desc>", lambda _: f"<title>{escape(title)}</title>\n"
                 f"<desc>{escape(caption)}</desc>\n{style_sheet()}", svg, flags=re.S)
    svg = re.sub(r'(<rect x="0" y="0" [^>]*fill=)"none"', rf'\1"{PAPER}"', svg)
    svg = svg.replace("xmlns=", 'role="img" xmlns=', 1)
    lines = (line.strip() for line in svg.split("\n"))
    return "\n".join(line for line in lines if line) + "\n"


def gnuplot(text):
    done = subprocess.run(["gnuplot"], input=text, capture_output=True, text=True,
                          encoding="utf-8")
    if done.returncode != 0 or not done.stdout.rstrip().endswith("</svg>"):
        raise RuntimeError(f"gnuplot failed: {done.stderr.strip()}")
    return done.stdout


def draw(field, directory):
    """Write every chart there is data for; returns what listed() does."""
    if shutil.which("gnuplot") is None:
        raise NoGnuplot("gnuplot is not installed; it is in the package "
                        "gnuplot-nox")
    directory = pathlib.Path(directory)
    directory.mkdir(parents=True, exist_ok=True)
    drawn = listed(field)
    charts = {chart.file: chart for chart in CHARTS}
    for file, title, caption in drawn:
        svg = finished(gnuplot(script(charts[file], field)), title, caption)
        (directory / file).write_text(svg, encoding="utf-8")
    return drawn
