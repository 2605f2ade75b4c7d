"""Charts of bars: what each peer needs for one thing."""
import math
from dataclasses import dataclass

import measures as m
import wording as w
from axes import block, linear_places, log_places, text_at, text_width, tics, top
from lines import Plot, frame, say_best
from pens import GREY, INK, OUR_STYLES, WIDTH, real_title


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
        for name in self.names(field) + (m.NOTHING,):
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
        margin = 16 + max(text_width(self.title_of(field, name), name in m.OURS)
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
            is_ours = name in m.OURS
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
                words.append(text_at(x + 6, y, w.say(value)))
        return [*blocks, *words, "plot " + ", ".join(plots)]
