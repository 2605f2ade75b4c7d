"""The runner of ./bench: what is measured, how often, and what is left out."""
import io
import pathlib
import stat
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "benchmarks"
                       / "field"))

import adapters  # noqa: E402
import measure  # noqa: E402
import plan  # noqa: E402

# An adapter that answers at once.  Its peer "dead" dies, "lost" forgets a number,
# and "poor" declines.
FAKE = '''#!/usr/bin/env python3
import json, sys, time
words = sys.argv[1:]
if words[0] == "describe":
    print(json.dumps({"language": "None", "toolchain": "none", "flags": "",
        "peers": [{"name": name, "title": name, "version": "1", "settings": "",
                   "can": ["arm", "real-late"], "cannot": {"": "is not there"}}
                  for name in ("fast", "slow", "dead", "lost", "poor")]}))
elif words[0] == "dice":
    print("delays", DICE)
elif words[1] == "dead":
    sys.exit("dead: it has no heart")
elif words[1] == "poor":
    print("too many for me", file=sys.stderr)
    sys.exit(3)
elif words[1] == "lost":
    print("ns")
else:
    with open(LOG, "a") as log:
        print(*words[1:], file=log)
    print("ns", words[3])
'''


class Runner(unittest.TestCase):
    def setUp(self):
        self.place = tempfile.TemporaryDirectory()
        self.log = pathlib.Path(self.place.name) / "log"
        self.adapter = self.fake(1)

    def tearDown(self):
        self.place.cleanup()

    def fake(self, dice):
        path = pathlib.Path(self.place.name) / f"adapter{dice}"
        path.write_text(FAKE.replace("LOG", repr(str(self.log))).replace(
            "DICE", str(dice)))
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
        return adapters.Adapter([str(path)])

    def measured(self, peers, sizes, repeats=1):
        rows = [("arm", n, "uniform") for n in sizes]
        cells = plan.cells(rows, [self.adapter], peers)
        found = None
        for found in measure.measure_all(cells, 5, repeats, out=io.StringIO()):
            pass
        return {(cell.peer, cell.n): own for cell, own in found.items()}

    def test_all_are_measured_once_before_any_is_again(self):
        self.measured(["fast"], [10, 20], 2)
        self.assertEqual(self.log.read_text().splitlines(),
                         ["fast arm 10 uniform 5", "fast arm 20 uniform 5",
                          "fast arm 10 uniform 6", "fast arm 20 uniform 6"])

    def test_every_sample_is_kept(self):
        own = self.measured(["fast"], [10], 3)["fast", 10]
        self.assertEqual(own.values, {"ns": [10, 10, 10]})
        self.assertIsNone(own.skipped)

    def test_one_that_dies_is_left_out_with_its_last_words(self):
        found = self.measured(["dead", "fast"], [10], 2)
        self.assertEqual(found["dead", 10].skipped,
                         "failed: dead: it has no heart")
        self.assertEqual(found["dead", 10].values, {})
        self.assertEqual(found["fast", 10].values, {"ns": [10, 10]})

    def test_a_repeat_that_fails_takes_nothing_from_the_others(self):
        own = measure.Measured()
        own.add({"ns": 1})
        own.fail(adapters.Failed("no luck"))
        own.add({"ns": 3})
        self.assertEqual(own.values, {"ns": [1, 3]})
        self.assertEqual(own.failures, ["no luck"])
        self.assertIsNone(own.skipped)

    def test_one_that_declines_has_not_failed(self):
        self.assertEqual(self.measured(["poor"], [10])["poor", 10].skipped,
                         "too many for me")

    def test_an_answer_that_is_no_number_is_a_failure(self):
        self.assertIn("no result", self.measured(["lost"], [10])["lost", 10].skipped)

    def test_what_would_take_too_long_is_not_begun(self):
        cell = plan.Cell("slow", "arm", 10_000, "uniform")
        found = {}
        for n, ns in ((100, 3e4), (1_000, 3e5)):
            found[cell._replace(n=n)] = own = measure.Measured()
            own.add({"ns": ns})
        self.assertEqual(measure.reason_to_skip(cell, found),
                         "would take about 60 s")
        self.assertIsNone(measure.reason_to_skip(cell, found, 61))

    def test_what_is_paid_by_the_step_is_not_taken_for_a_cost_of_each_timer(self):
        cell = plan.Cell("loop", "fire-steps", 1_000_000, "uniform")
        found = {}
        for n, ns in ((1_000, 2e6), (100_000, 2e4)):
            self.assertIsNone(measure.reason_to_skip(cell, found))
            found[cell._replace(n=n)] = own = measure.Measured()
            own.add({"ns": ns})
        self.assertIsNone(measure.reason_to_skip(cell, found))

    def test_moving_is_as_much_work_with_many_timers_as_with_few(self):
        cell = plan.Cell("pool", "rearm", 10_000_000, "uniform")
        found = {}
        for n, ns in ((100_000, 25), (1_000_000, 138)):
            found[cell._replace(n=n)] = own = measure.Measured()
            own.add({"ns": ns})
        self.assertIsNone(measure.reason_to_skip(cell, found, 12))
        self.assertEqual(measure.reason_to_skip(cell, found),
                         "would take about 11 s")

    def test_what_takes_as_long_at_any_size_is_not_spared(self):
        cell = plan.Cell("fast", "real-late", 1_000_000, "uniform")
        own = measure.Measured()
        own.add({"cpu_ns": 1e9, "ns": 1e9})
        self.assertIsNone(measure.reason_to_skip(cell, {cell._replace(n=10): own}))

    def test_what_was_stopped_is_not_tried_at_a_larger_size(self):
        cell = plan.Cell("slow", "arm", 10_000, "uniform")
        own = measure.Measured()
        own.skipped, own.is_too_long = "takes more than 60 s", True
        self.assertEqual(
            measure.reason_to_skip(cell, {cell._replace(n=1_000): own}),
            "takes more than 60 s at 1,000")
        self.assertIsNone(measure.reason_to_skip(
            cell, {cell._replace(n=100_000): own}))

    def test_a_measurement_that_does_not_end_is_stopped(self):
        self.adapter.command = ["sleep"]
        with self.assertRaises(adapters.TooLong):
            self.adapter.ask(60, limit=0.1)

    def test_other_dice_are_noticed(self):
        self.assertTrue(adapters.throws_as(self.adapter, self.adapter))
        self.assertFalse(adapters.throws_as(self.adapter, self.fake(2)))

    def test_an_adapter_without_its_tools_is_missing_and_no_failure(self):
        def build_none():
            adapters.need("no-such-tool-anywhere")
        told = []
        saved = dict(adapters.BUILDERS)
        adapters.BUILDERS["None"] = build_none
        try:
            built, missing = adapters.build(["None"], told.append)
        finally:
            adapters.BUILDERS.clear()
            adapters.BUILDERS.update(saved)
        self.assertEqual(built, [])
        self.assertEqual(missing, [{
            "what": "None, and all its peers",
            "why": "no-such-tool-anywhere is not installed"}])
        self.assertIn("no-such-tool-anywhere", told[-1])

    def test_an_adapter_says_which_of_its_peers_were_not_built(self):
        self.adapter.described["missing"] = [{"name": "libev", "why": "no header"}]
        saved = dict(adapters.BUILDERS), adapters.Adapter
        adapters.BUILDERS["None"] = list
        adapters.Adapter = lambda command: self.adapter
        try:
            built, missing = adapters.build(["None"], str)
        finally:
            adapters.BUILDERS.clear()
            adapters.BUILDERS.update(saved[0])
            adapters.Adapter = saved[1]
        self.assertEqual(built, [self.adapter])
        self.assertEqual(missing, [{"what": "libev", "why": "no header"}])

    def test_only_those_who_can_are_asked(self):
        rows = [("arm", 10, "uniform"), ("cancel", 10, "uniform")]
        cells = plan.cells(rows, [self.adapter], None)
        self.assertEqual({cell.workload for cell in cells}, {"arm"})
        self.assertEqual(len(cells), 5)

    def test_sizes_given_by_hand_are_for_what_has_several(self):
        rows = plan.chosen(plan.full(), ["arm", "real-idle", "real-d1"], [7, 8])
        self.assertEqual(rows, [("arm", 7, "uniform"), ("arm", 8, "uniform"),
                                ("arm", 7, "log-uniform"),
                                ("arm", 8, "log-uniform"),
                                ("real-idle", 7, "uniform"),
                                ("real-idle", 8, "uniform"),
                                ("real-d1", 100_000, "uniform")])


if __name__ == "__main__":
    unittest.main()
