"""Charts of lines: what grows with N, and how late timers were.

The name and the last value of a line stand where it ends, moved apart.
"""
import math
from dataclasses import dataclass, replace

import measures as m
import results as r
import wording as w
from axes import (apart, block, bottom, leader, line_of, log_places, text_at,
                  text_width, tics, top)
from pens import (BAND, GRID, INK, LINE_HEIGHT, Style, WIDTH, real_styles,
                  real_title, virtual_styles)


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


def say_best(field, names, column, before=""):
    """The best of ours and the best peer, in words, for who cannot see it."""
    said = []
    for who, some in (("best of ours", m.ours_of(names)),
                      ("best peer", m.theirs_of(names))):
        best = field.best(some, column)
        if best:
            number = w.say(field.value(best, column).median)
            said.append(f"{who} {field.title(best)} {number}")
    at = f"{column.n:,} timers" if column.n > 1 else ""
    where = ", ".join(filter(None, (before, at)))
    text = f"{where}: {', '.join(said)}." if where else f"{', '.join(said)}."
    return " " + text[0].upper() + text[1:] if said else ""


@dataclass(frozen=True)
class Growth:
    """A measure against N, both axes logarithmic."""

    file: str
    title: str
    measure: m.Measure
    unit: str

    def height_for(self, field):
        return 480

    def lines(self, field):
        look = virtual_styles(field)
        for name in field.virtual_names() + (m.FLOOR,):
            points = self.points(field, name)
            if points:
                yield Line(name, field.title(name), look[name], points,
                           self.last(field, *points[-1]))

    def last(self, field, n, value):
        """The last value, and where that is if the others go on."""
        is_end = n == field.sizes(self.measure.workload)[-1]
        return w.say(value) + ("" if is_end else f" at {w.say_count(n)}")

    def points(self, field, name):
        is_floor = name == m.FLOOR
        if is_floor and self.measure not in m.RANDOM:
            return []
        points = []
        for n in field.sizes(self.measure.workload):
            column = m.Column(self.measure, n)
            value = field.value(name, r.beside_column(name, column)
                                if is_floor else column)
            if value and value.median > 0:
                points.append((n, value.median))
        return points

    def has_data(self, field):
        return any(line.name != m.FLOOR for line in self.lines(field))

    def caption(self, field):
        sizes = field.sizes(self.measure.workload)
        text = f"In {self.unit}, against the number of timers; less is better."
        return text + say_best(field, field.virtual_names(),
                               m.Column(self.measure, sizes[-1]))

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
                tics("x", [(n, w.say_count(n)) for n in sizes]),
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
        return field.column(m.LATE_99)

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
                           w.say(late[-1][1]))

    def has_data(self, field):
        return any(self.lines(field))

    def caption(self, field):
        column = self.column(field)
        text = ("By percentile, in us; what is in the band below 0 ran before it "
                "was due.")
        return text + say_best(field, field.real_names(), column, column.measure.title)

    def early_words(self, field, plot):
        """In the band, as many as have room there: who was early, by how much."""
        column = replace(self.column(field), measure=m.EARLIEST)
        early = {name: -value.median for name, value in field.values(
            field.real_names(), column).items() if value.median < 0}
        words = ["early: ran before it was due"]
        for name in sorted(early, key=lambda name: -early[name]):
            words.append(f"{field.title(name)}, by {w.say(early[name])} us")
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
