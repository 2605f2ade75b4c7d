#!/usr/bin/env python3
"""What ./bench says of its results is what they are: tables, page, charts.

The results are made up: see sample.py.  What draws is left out where there is no
gnuplot.
"""
import copy
import io
import json
import pathlib
import re
import shutil
import sys
import tempfile
import unittest
from unittest import mock
from xml.etree import ElementTree

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
sys.path[:0] = [str(HERE), str(ROOT / "benchmarks" / "field")]

import axes  # noqa: E402
import charts  # noqa: E402
import lines  # noqa: E402
import measures as m  # noqa: E402
import page  # noqa: E402
import pens  # noqa: E402
import results as r  # noqa: E402
import sample  # noqa: E402
import sections as s  # noqa: E402
import table  # noqa: E402
import wording as w  # noqa: E402


def found_with(change=None):
    """The sample, changed by a function of it."""
    found = copy.deepcopy(SAMPLE)
    if change:
        change(found)
    return r.Results(found)


SAMPLE = sample.sample()
FIELD = found_with()
MISSING = {"what": "Go, and all its peers", "why": "go is not installed"}


def cells_of(found, peer, workload):
    return [cell for cell in found["cells"]
            if (cell["peer"], cell["workload"]) == (peer, workload)]


def set_all(found, peer, workload, number):
    """Let a peer measure this number at every N."""
    for cell in cells_of(found, peer, workload):
        cell["values"] = {"ns": [number, number, number]}


def without(found, peers):
    """As if an adapter had not been built."""
    for adapter in found["adapters"]:
        adapter["peers"] = [peer for peer in adapter["peers"]
                            if peer["name"] not in peers]
    found["adapters"] = [adapter for adapter in found["adapters"]
                         if adapter["peers"]]
    found["cells"] = [cell for cell in found["cells"]
                      if cell["peer"] not in peers]


def without_go(found):
    without(found, ("go_timingwheel", "go_afterfunc"))
    found["missing"] = [MISSING]


def part(text, title):
    """The part of the page below a heading, up to the next one."""
    _, _, rest = text.partition(f"# {title}\n")
    assert rest, f"no heading {title}"
    return re.split(r"^#", rest, maxsplit=1, flags=re.M)[0]


def rows(text):
    """The rows of the first table in a text: title to cells."""
    lines = [line for line in text.split("\n") if line.startswith("| ")]
    split = [[cell.strip() for cell in line.strip("|").split("|")]
             for line in lines]
    return {cells[0]: cells[1:] for cells in split}


def text_of_cell(cell, scale):
    if cell is None:
        return "–"
    if "skipped" in cell:
        return "skipped"
    samples = sorted(sample * scale for sample in next(iter(cell["values"].values())))
    low, median, high = map(w.say, samples)
    return f"{median} ({low}–{high})" if low != high else median


def printed(field, is_terminal=False):
    out = io.StringIO()
    out.isatty = lambda: is_terminal
    table.write(field, out)
    return out.getvalue()


class Numbers(unittest.TestCase):
    def test_medians_and_ranges_are_those_of_the_samples(self):
        value = r.median_of([7.1, 7.3, 7.0], 1)
        self.assertEqual(w.say_range(value), "7.1 (7.0–7.3)")
        self.assertEqual(w.say_range(r.median_of([7.1], 1)), "7.1")
        self.assertEqual(w.say_range(r.median_of([-9.5, -12.5, -2.5], 1)),
                         "-9.5 (-12.5 to -2.5)")

    def test_numbers_keep_two_digits_or_more(self):
        for number, text in ((0, "0"), (0.0, "0"), (0.00098, "0.00098"),
                             (0.3, "0.30"), (0.996, "1.0"), (7, "7"),
                             (7.04, "7.0"), (99.96, "100"), (1234567.8, "1,234,568"),
                             (-977.4, "-977"), (0.0000001, "0")):
            self.assertEqual(w.say(number), text)


class Tables(unittest.TestCase):
    def test_every_number_on_the_page_is_a_median_of_its_cell(self):
        """No cell is invented: recount each table from the raw samples."""
        whole = page.text_of(FIELD)
        kinds = [(n, "uniform") for n in sample.SIZES] + [(1000000, "log-uniform")]
        for measure in m.VIRTUAL:
            shown = rows(part(whole, measure.title.capitalize()))
            for name in sample.SPEEDS:
                cells = {(cell["n"], cell["delays"]): cell
                         for cell in cells_of(SAMPLE, name, measure.workload)}
                expected = [text_of_cell(cells.get(kind), measure.scale)
                            for kind in kinds]
                if set(expected) == {"–"}:
                    self.assertNotIn(FIELD.title(name), shown)
                    continue
                texts = shown[FIELD.title(name)]
                self.assertEqual([text.replace("**", "") for text in texts],
                                 expected)

    def test_a_cell_that_was_not_measured_is_empty(self):
        def change(found):
            found["cells"].remove(cells_of(found, "libev", "arm")[0])
        text = part(page.text_of(found_with(change)), "Arm")
        self.assertEqual(rows(text)["libev"][0], "")
        self.assertNotEqual(rows(text)["libev"][1], "")

    def test_what_a_peer_cannot_has_its_reason_once_and_no_row(self):
        text = page.text_of(FIELD)
        self.assertNotIn("Agrona DeadlineTimerWheel",
                         rows(part(text, "Fire, by jumps")))
        self.assertEqual(text.count("does not say when the next is due"), 1)
        reasons = part(text, "Not in the tables of virtual time")
        self.assertIn("Agrona DeadlineTimerWheel: not fire-jumps: does not say",
                      reasons)
        self.assertIn("Netty HashedWheelTimer: none of these: has a clock of its "
                      "own", reasons)

    def test_a_skipped_cell_says_so_and_why(self):
        text = page.text_of(FIELD)
        shown = rows(part(text, "Arm"))["GLib main loop"]
        self.assertEqual(shown[4], "skipped")
        self.assertIn("GLib main loop at 10,000,000: skipped arm,", text)
        self.assertIn("would take 40 minutes", text)

    def test_the_best_of_a_column_is_bold_and_nobody_else(self):
        def change(found):
            set_all(found, "libev", "arm", 1.0)
        text = part(page.text_of(found_with(change)), "Arm")
        for title, cells in rows(text).items():
            is_bold = any("**" in cell for cell in cells)
            self.assertEqual(is_bold, title == "libev", title)
        self.assertIn("Faster than ours here: libev at 1,000 (1.0, ours ", text)
        self.assertIn("at 1,000,000 log-uniform (1.0, ours ", text)

    def test_two_that_read_the_same_are_both_bold_and_neither_is_ahead(self):
        def change(found):
            set_all(found, "wheel", "arm", 1.04)
            set_all(found, "libev", "arm", 1.0)
        text = part(page.text_of(found_with(change)), "Arm")
        self.assertIn("**1.0**", rows(text)["tickwheel wheel"][0])
        self.assertIn("**1.0**", rows(text)["libev"][0])
        self.assertIn("No peer is faster than ours here.", text)

    def test_ranges_that_overlap_are_said_to(self):
        def change(found):
            for cell in cells_of(found, "wheel", "touch"):
                cell["values"]["ns"] = [2.0, 1.0, 3.0]
            for cell in cells_of(found, "libev", "touch"):
                cell["values"]["ns"] = [1.5, 1.4, 2.5]
        text = part(page.text_of(found_with(change)), "Touch")
        self.assertIn("libev at 1,000 (1.5, ours 2.0, the ranges overlap)", text)

    def test_more_is_better_where_more_is_better(self):
        column = FIELD.column(m.PAIRS_2)
        names = FIELD.thread_safe_names()
        values = {name: value.median
                  for name, value in FIELD.values(names, column).items()}
        self.assertEqual(FIELD.best(names, column), max(values, key=values.get))

    def test_the_memory_access_is_for_scale_and_never_the_best(self):
        text = part(page.text_of(FIELD), "Cancel")
        floor = rows(text)["(one random memory access)"]
        self.assertEqual(len(floor), 6)
        self.assertNotIn("**", " ".join(floor))
        self.assertNotIn("(one random memory access)",
                         rows(part(page.text_of(FIELD), "Arm")))

    def test_thread_safe_ones_and_others_are_in_different_tables(self):
        for title in ("libuv", "libev"):
            self.assertNotIn(title, map(FIELD.title, FIELD.thread_safe_names()))
        self.assertNotIn("netty", FIELD.loop_names())
        self.assertIn("service", FIELD.loop_names())
        self.assertIn("service", FIELD.thread_safe_names())


class Page(unittest.TestCase):
    def test_it_says_first_that_it_is_generated(self):
        lines = page.text_of(FIELD).split("\n")
        self.assertIn("do not edit", lines[0])
        self.assertTrue(lines[4].startswith("This page is generated"))

    def test_a_missing_adapter_is_named_with_its_reason(self):
        field = found_with(without_go)
        text = page.text_of(field)
        self.assertIn("**Missing: Go, and all its peers**: go is not installed.",
                      text)
        self.assertNotIn("RussellLuo", text)
        self.assertIn("missing: Go, and all its peers: go is not installed", printed(field))

    def test_who_was_early_is_named(self):
        text = page.text_of(FIELD)
        self.assertRegex(text, r"Of 1,000,000 timers some ran early in: .*Kafka "
                         r"SystemTimer \(up to [\d,]+ us\)")
        self.assertRegex(text, r"Kafka SystemTimer late, median \([\d.]+, ours "
                         r"[\d.]+, but some ran early\)")

    def test_the_weakest_are_the_largest_ratios(self):
        def change(found):
            set_all(found, "libev", "cancel", 0.01)
        field = found_with(change)
        items = re.findall(r"^\d+\. \*\*([\d.,]+) times\*\*: (.*)$",
                           part(page.text_of(field), "Where tickwheel is weakest"),
                           re.M)
        ratios = [float(ratio.replace(",", "")) for ratio, _ in items]
        self.assertEqual(ratios, sorted(ratios, reverse=True))
        self.assertEqual(len(items), 10)
        self.assertIn("cancel at 1,000,000 log-uniform: tickwheel pool",
                      items[0][1])
        self.assertIn("libev 0.01", items[0][1])

    def test_a_ratio_is_that_of_the_best_of_ours_to_the_best_peer(self):
        def change(found):
            for name in sample.SPEEDS:
                set_all(found, name, "arm", 50)
            set_all(found, "wheel", "arm", 6)
            set_all(found, "libev", "arm", 2)
            set_all(found, "heap", "arm", 4)
        duels = [duel for duel in s.duels_of(found_with(change))
                 if duel.column.measure == m.ARM]
        self.assertEqual({(d.ratio, d.ours, d.theirs) for d in duels},
                         {(3, "wheel", "libev")})

    def test_every_picture_has_words_and_is_one_that_is_drawn(self):
        files = {file for file, _, _ in charts.listed(FIELD)}
        pictures = re.findall(r"!\[(.*?)\]\((.*?)\)\n", page.text_of(FIELD))
        self.assertEqual({path for _, path in pictures},
                         {f"benchmarks/{file}" for file in files})
        for words, _ in pictures:
            self.assertGreater(len(words), 40)

    def test_nothing_ends_in_white_space(self):
        for text in (page.text_of(FIELD), printed(FIELD), page.readme_text(FIELD)):
            self.assertFalse(re.search(r"[ \t]$", text, re.M))

    def test_a_quick_run_is_said_to_be_one_and_breaks_nothing(self):
        def change(found):
            found.update(is_quick=True, repeats=1)
            found["cells"] = [cell for cell in found["cells"]
                              if cell["workload"] in ("arm", "real-idle")
                              and cell["n"] in (1, 10000)]
            for cell in found["cells"]:
                cell["values"] = {name: samples[:1]
                                  for name, samples in cell["values"].items()}
        field = found_with(change)
        text = page.text_of(field)
        self.assertIn("This was a quick run", text)
        self.assertIn("Not measured in this run.", part(text, "Cancel"))
        self.assertNotIn("(", rows(part(text, "Arm"))["libev"][0])
        self.assertIn("quick run", printed(field))
        self.assertEqual([file for file, _, _ in charts.listed(field)],
                         ["arm.svg", "idle.svg"])

    def test_no_results_at_all_are_no_error(self):
        field = found_with(lambda found: found.update(cells=[], adapters=[]))
        self.assertIn("Nothing was measured", page.text_of(field))
        self.assertEqual(charts.listed(field), [])
        printed(field)
        page.readme_text(field)


class Readme(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.TemporaryDirectory()
        self.addCleanup(self.directory.cleanup)
        self.path = pathlib.Path(self.directory.name) / "README.md"

    def test_only_what_is_between_the_marks_is_replaced(self):
        self.path.write_text(f"before\n{page.BEGIN}\noutdated\n{page.END}\nafter\n",
                             encoding="utf-8")
        for _ in range(2):
            page.write_readme(FIELD, self.path)
            text = self.path.read_text(encoding="utf-8")
        self.assertTrue(text.startswith(f"before\n{page.BEGIN}\n"))
        self.assertTrue(text.endswith(f"{page.END}\nafter\n"))
        self.assertNotIn("outdated", text)
        self.assertEqual(text.count("| move a timer, ns |"), 1)

    def test_without_marks_it_is_left_alone(self):
        self.path.write_text("no marks\n", encoding="utf-8")
        with self.assertRaisesRegex(ValueError, "lacks the mark"):
            page.write_readme(FIELD, self.path)
        self.assertEqual(self.path.read_text(encoding="utf-8"), "no marks\n")

    def test_the_best_other_is_named_even_where_it_beats_ours(self):
        def change(found):
            set_all(found, "agrona", "fire-steps", 0.5)
        text = page.readme_text(found_with(change))
        self.assertRegex(text, r"\| fire a timer.* \| 0\.50 \(Agrona ")

    def test_the_median_leaves_ours_out(self):
        def change(found):
            for peer in found_with().virtual_names():
                set_all(found, peer, "rearm", 9.0 if peer in m.OURS else 300.0)
        text = page.readme_text(found_with(change))
        self.assertRegex(text, r"\| move a timer, ns \| 9\.0 .* \| 300 \(of \d+\) \|")


class Terminal(unittest.TestCase):
    def test_it_fits_a_hundred_columns(self):
        for line in printed(FIELD).split("\n"):
            self.assertLessEqual(len(line), 100, line)

    def test_it_is_bold_only_on_a_terminal(self):
        self.assertNotIn("\033", printed(FIELD))
        self.assertIn("\033[1m", printed(FIELD, is_terminal=True))

    def test_stars_dashes_and_skipped_cells(self):
        arm = printed(FIELD).partition("\narm\n")[2].partition("\n\n")[0]
        self.assertEqual({line.split("  ")[0] for line in arm.split("\n")
                          if "*" in line}, {"wahern/timeout"})
        self.assertRegex(arm, r"GLib main loop .* skipped")
        jumps = printed(FIELD).partition("by jumps\n")[2].partition("\n\n")[0]
        self.assertNotIn("Agrona", jumps)
        self.assertRegex(printed(FIELD), r"\nlibuv +[*.0-9]+ ±\d+% +-\n")


class Recorded(unittest.TestCase):
    """What is in docs is what ./bench --pages makes of the recorded results."""

    def setUp(self):
        path = ROOT / "docs/reports/benchmarks/field.json"
        self.field = r.Results(json.loads(path.read_text(encoding="utf-8")))

    def test_the_page_is_that_of_the_results(self):
        kept = (ROOT / "docs/reports/benchmarks.md").read_text(encoding="utf-8")
        self.assertTrue(kept == page.text_of(self.field), "./bench --pages")

    def test_the_readme_is_that_of_the_results(self):
        kept = (ROOT / "README.md").read_text(encoding="utf-8")
        self.assertTrue(page.readme_text(self.field) in kept, "./bench --pages")

    def test_every_chart_is_there(self):
        for file, _, _ in charts.listed(self.field):
            self.assertTrue((ROOT / "docs/reports/benchmarks" / file).exists(), file)


class Charts(unittest.TestCase):
    def test_names_at_the_ends_of_lines_never_overlap(self):
        places = axes.apart([1, 2, 3, 50, 50, 90], 16)
        self.assertEqual(places, sorted(places))
        for one, other in zip(places, places[1:]):
            self.assertGreaterEqual(other - one, 16 - 1e-9)
        self.assertEqual(axes.apart([10, 90], 16), [10, 90])

    def test_ours_are_drawn_last_and_thickest(self):
        lines = list(charts.CHARTS[0].lines(FIELD))
        ours = [line.style.width for line in lines if line.name in m.OURS]
        others = [line.style.width for line in lines if line.name not in m.OURS]
        self.assertGreater(min(ours), max(others))

    def test_no_two_lines_look_the_same(self):
        for look, names in ((pens.virtual_styles(FIELD), FIELD.virtual_names()),
                            (pens.real_styles(FIELD), FIELD.real_names())):
            styles = [look[name] for name in names]
            self.assertEqual(len(set(styles)), len(styles))

    def test_what_was_skipped_has_no_point(self):
        lines = {line.name: line for line in charts.CHARTS[0].lines(FIELD)}
        self.assertEqual(lines["glib"].points[-1][0], 1000000)
        self.assertTrue(lines["glib"].words().endswith(" at 1M"))

    def test_early_is_below_the_line_and_late_above(self):
        self.assertLess(lines.late_place(-1), 0)
        self.assertEqual(lines.late_place(0), 0)
        self.assertGreater(lines.late_place(1000), lines.late_place(100))

    def test_without_gnuplot_it_says_which_package(self):
        with mock.patch("shutil.which", return_value=None):
            with self.assertRaisesRegex(charts.NoGnuplot, "package gnuplot-nox"):
                charts.draw(FIELD, "/nonexistent")

    @unittest.skipUnless(shutil.which("gnuplot"), "gnuplot is not installed")
    def test_files_are_small_the_same_each_time_and_for_light_and_dark(self):
        with tempfile.TemporaryDirectory() as one, \
                tempfile.TemporaryDirectory() as other:
            drawn = charts.draw(FIELD, one)
            charts.draw(FIELD, other)
            self.assertEqual(len(drawn), 14)
            for file, title, _ in drawn:
                text = (pathlib.Path(one) / file).read_text(encoding="utf-8")
                again = (pathlib.Path(other) / file).read_text(encoding="utf-8")
                self.assertEqual(text, again)
                self.assertLess(len(text), 60000)
                ElementTree.fromstring(text.encode())
                sizes = re.findall(r'font-size="([\d.]+)"', text)
                self.assertGreaterEqual(min(map(float, sizes)), 12)
                self.assertIn(f"<title>{title}</title>", text)
                self.assertIn("prefers-color-scheme:dark", text)
                self.assertNotRegex(text, r"(?i)gnuplot [\d.]|[ \t]\n|rgb\(")
                colors = set(re.findall(r"#[0-9a-f]{6}", text))
                self.assertLessEqual(colors, {*pens.DARK, *pens.DARK.values()})

    @unittest.skipUnless(shutil.which("gnuplot"), "gnuplot is not installed")
    def test_one_size_and_equal_values_can_be_drawn(self):
        def change(found):
            found["cells"] = [cell for cell in found["cells"] if cell["n"] in (
                1, 10000) or cell["workload"] == "real-late"]
            for cell in found["cells"]:
                for name in cell.get("values", {}):
                    cell["values"][name] = [5.0]
        with tempfile.TemporaryDirectory() as directory:
            charts.draw(found_with(change), directory)


if __name__ == "__main__":
    unittest.main()
