"""Words for gnuplot, and places on axes.

To place the names of lines, ranges and margins are set here, in pixels, and
never left to gnuplot.
"""
import math

from pens import FONT_SIZE, INK, LETTER


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
