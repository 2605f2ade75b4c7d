"""The charts, as SVG, drawn by gnuplot: see pens.py for who is loud in them.

gnuplot writes colours as attributes.  A style sheet that is put into the file
replaces them where the reader prefers dark pages; the background is the file's
own, so that it can be read on any page.
"""
import functools
import pathlib
import re
import shutil
import subprocess
from xml.sax.saxutils import escape

import measures as m
from axes import font, text_at
from bars import Bars, Panel
from lines import Growth, Lateness
from pens import DARK, INK, PAPER, WIDTH


class NoGnuplot(Exception):
    """Charts cannot be drawn here; all else can."""


# All of them.

CHARTS = (
    Growth("arm.svg", "Arming a timer", m.ARM, "ns for each timer"),
    Growth("cancel.svg", "Cancelling a timer", m.CANCEL, "ns for each timer"),
    Growth("rearm.svg", "Moving a random timer", m.REARM, "ns for each move"),
    Growth("touch.svg", "Pushing back a limit of 30 s while time goes by",
           m.TOUCH, "ns for each move"),
    Growth("fire-steps.svg", "Firing, by steps of 1 ms", m.FIRE_STEPS,
           "ns for each timer"),
    Growth("fire-jumps.svg", "Firing, by jumps to the next", m.FIRE_JUMPS,
           "ns for each timer"),
    Growth("worst-step.svg", "The longest step of 1 ms while all fire",
           m.WORST_STEP, "us"),
    Lateness("late.svg", "How late a million timers were, in real time"),
    Bars("idle.svg", "Doing nothing: one core's time with nothing due",
         (Panel("percent of a core", ((m.IDLE, 1), (m.IDLE, None)), False),),
         "Less is better."),
    Bars("bytes.svg", "Memory for each timer",
         (Panel("virtual time, bytes", ((m.BYTES, m.README_SIZE),), True),
          Panel("real time, bytes", ((m.CALL_BYTES, m.README_SIZE),), False)),
         "Less is better."),
    Bars("pairs.svg", "Arm and cancel, again and again",
         (Panel("million pairs a second", ((m.PAIRS_1, None), (m.PAIRS_2, None)),
                False),),
         "More is better."),
    Bars("d1.svg", "D1: limits pushed back by packets",
         (Panel("virtual time, ns for each packet", ((m.D1, None),), True),
          Panel("real time, percent of a core", ((m.REAL_D1, None),), False)),
         "Less is better."),
    Bars("d2.svg", "D2: many long timers",
         (Panel("virtual time, ns for each timer", ((m.D2, None),), True),
          Panel("real time, ms to run all that are due at one instant",
                ((m.DRAIN, None),), False)),
         "Less is better."),
    Bars("d3.svg", "D3: timeouts of requests that are answered",
         (Panel("virtual time, ns for each cancel and arm", ((m.D3, None),), True),
          Panel("real time, million a second", ((m.REAL_D3[0], None),), False)),
         "Virtual time: less is better; real time: more is better."),
)


def title_of(chart, field):
    """With the N that was really drawn, where a title names one."""
    if not isinstance(chart, Lateness):
        return chart.title
    n = chart.column(field).n
    return chart.title.replace("a million", f"{n:,}") \
        if n != m.README_SIZE else chart.title


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
