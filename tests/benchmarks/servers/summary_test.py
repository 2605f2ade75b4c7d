"""The summary of ./bench servers: medians, ratios, and the verdicts on targets."""
import pathlib
import sys
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "benchmarks"
                       / "servers"))

import plan  # noqa: E402
import server  # noqa: E402
import summary  # noqa: E402


def runs_of(**servers):
    """`x` of the measure `m`, for each server: one value for each repeat."""
    return {(name, "m"): [value if value is None else {"x": value}
                          for value in values]
            for name, values in servers.items()}


def target(test, limit, peer=None):
    return summary.Target("label", "m", "x", "ours", peer, test, limit, "x")


class Spreads(unittest.TestCase):
    def test_the_median_and_the_range_of_all_repeats(self):
        runs = runs_of(ours=[3, 9, 1])
        self.assertEqual(summary.spread_of(runs, "ours", "m", "x"),
                         summary.Spread(3, 1, 9, 3))

    def test_failed_repeats_do_not_count(self):
        runs = runs_of(ours=[None, 4, None])
        self.assertEqual(summary.spread_of(runs, "ours", "m", "x"),
                         summary.Spread(4, 4, 4, 1))

    def test_nothing_measured_has_no_spread(self):
        for runs in ({}, runs_of(ours=[]), runs_of(ours=[None])):
            self.assertIsNone(summary.spread_of(runs, "ours", "m", "x"))
        self.assertIsNone(summary.spread_of(runs_of(ours=[1]), "ours", "m", "y"))


class Verdicts(unittest.TestCase):
    def verdict(self, runs, *what):
        return summary.judge(runs, target(*what)).verdict

    def test_ratios_are_those_of_the_same_repeat(self):
        # The machine was twice as fast in the second repeat: ours was not.
        runs = runs_of(ours=[10, 20, 30], peer=[10, 20, 10])
        found = summary.judge(runs, target("ratio >=", 1, "peer"))
        self.assertEqual(found.measured, summary.Spread(1, 1, 3, 3))
        self.assertEqual(found.verdict, "ok")

    def test_a_repeat_that_failed_for_one_gives_no_ratio(self):
        runs = runs_of(ours=[10, None, 30], peer=[5, 1, None])
        found = summary.judge(runs, target("ratio >=", 3, "peer"))
        self.assertEqual(found.measured, summary.Spread(2, 2, 2, 1))
        self.assertEqual(found.verdict, "missed")

    def test_a_peer_of_zero_gives_no_ratio(self):
        runs = runs_of(ours=[10], peer=[0])
        self.assertEqual(self.verdict(runs, "ratio >=", 1, "peer"),
                         "not measured")

    def test_a_limit_that_is_met_exactly_is_met(self):
        self.assertEqual(self.verdict(runs_of(ours=[5]), "<=", 5), "ok")
        self.assertEqual(self.verdict(runs_of(ours=[5]), ">=", 5), "ok")
        self.assertEqual(self.verdict(runs_of(ours=[5.1]), "<=", 5), "missed")
        self.assertEqual(self.verdict(runs_of(ours=[4.9]), ">=", 5), "missed")
        self.assertEqual(self.verdict(runs_of(ours=[3], peer=[2]), "ratio <=",
                                      1.5, "peer"), "ok")

    def test_the_median_decides(self):
        self.assertEqual(self.verdict(runs_of(ours=[1, 9, 2]), "<=", 5), "ok")

    def test_never_means_in_no_repeat(self):
        self.assertEqual(self.verdict(runs_of(ours=[3, -1, 2]), "all >=", 0),
                         "missed")
        self.assertEqual(self.verdict(runs_of(ours=[3, 0, 2]), "all >=", 0),
                         "ok")

    def test_nothing_measured_is_neither_ok_nor_missed(self):
        self.assertEqual(self.verdict({}, "<=", 5), "not measured")
        self.assertEqual(self.verdict(runs_of(ours=[1]), "ratio >=", 1, "peer"),
                         "not measured")


class Tables(unittest.TestCase):
    def test_numbers_have_their_units(self):
        for value, unit, text in ((41234.5, "/s", "41,234/s"), (18.43, "us",
                                  "18.4 us"), (1810.4, "us", "1.81 ms"),
                                  (-2000, "us", "-2 ms"), (1.2345, "x", "1.23x"),
                                  (0.05, "%", "0.05%"), (299.3, "B", "299 B"),
                                  (0, "us", "0 us"), (99.96, "B", "100 B")):
            self.assertEqual(summary.number(value, unit), text)

    def test_a_single_value_has_no_range(self):
        self.assertEqual(summary.shown(summary.spread([2]), "x"), "2.00x")
        self.assertEqual(summary.shown(summary.spread([1, 2, 3]), "x"),
                         "2.00x [1.00x .. 3.00x]")
        self.assertEqual(summary.shown(None, "x"), "-")

    def test_rows_that_no_server_has_are_left_out(self):
        rows = [summary.Row("first", "m", "x", "x"),
                summary.Row("second", "m", "y", "x")]
        table = summary.results_table(runs_of(ours=[1]), ["ours", "peer"], rows)
        self.assertEqual(table.splitlines()[2].split(), ["first", "1.00x", "-"])
        self.assertNotIn("second", table)
        self.assertIsNone(summary.results_table({}, ["ours"], rows))

    def test_a_target_names_its_limit_and_peer(self):
        table = summary.targets_table(runs_of(ours=[3], peer=[2]),
                                      [target("ratio >=", 1.5, "peer")])
        self.assertIn("at least 1.50x peer", table)
        self.assertTrue(table.endswith("ok"))

    def test_the_ratio_by_server_time_is_above_one_if_ours_needs_less(self):
        runs = {(name, "puts-1"): [{"puts_per_s": 1, "server_us_per_put": time}]
                for name, time in (("ours", 4), ("peer", 10))}
        one = target("ratio >=", 1, "peer")._replace(measure="puts-1",
                                                     value="puts_per_s")
        self.assertEqual(summary.by_processor_time(runs, one).median, 2.5)
        self.assertIsNone(summary.by_processor_time(
            runs, one._replace(value="x")))

    def test_notes_say_when_the_rate_is_not_the_servers_alone(self):
        runs = {("ours", "puts-100"): [{"client_cpu_percent": 45,
                                        "server_cpu_percent": 55}],
                ("peer", "puts-10"): [{"client_cpu_percent": 97,
                                       "server_cpu_percent": 80}],
                ("ours", "puts-1"): [{"client_cpu_percent": 45,
                                      "server_cpu_percent": 50}]}
        shared, limited = summary.notes(runs)
        self.assertIn("in puts-100 client", shared)
        self.assertIn("puts-10 (peer)", limited)
        self.assertEqual(summary.notes({("ours", "fill"): [None]}), [])

    def test_a_client_that_stood_still_is_noted(self):
        runs = {("ours", "late"): [
            None, {"late_p99_us": 1000, "client_pass_max_us": 900},
            {"late_p99_us": 1000, "client_pass_max_us": 55000}]}
        self.assertIn("up to 55 ms in late (ours)", summary.notes(runs)[0])
        del runs["ours", "late"][2]
        self.assertEqual(summary.notes(runs), [])


class Plan(unittest.TestCase):
    def test_every_row_and_target_is_measured(self):
        names = {measure.name for measure
                 in plan.measures(plan.FULL, plan.GROUPS)}
        for row in summary.memory_rows() + summary.rate_rows():
            self.assertIn(row.measure, names)
        for one in summary.memory_targets() + summary.durable_targets():
            self.assertIn(one.measure, names)

    def test_targets_name_servers_that_are_measured(self):
        names = {kind.name for kind in server.kinds("a", "b", True)}
        for one in summary.memory_targets() + summary.durable_targets():
            self.assertIn(one.ours, names)
            self.assertIn(one.peer, names | {None})

    def test_servers_take_turns_to_be_first(self):
        self.assertEqual([plan.turns(["a", "b"], repeat)
                          for repeat in range(3)],
                         [["a", "b"], ["b", "a"], ["a", "b"]])

    def test_the_crowd_comes_due_after_twice_the_time_of_its_puts(self):
        self.assertEqual(plan.crowd_delay(1000000, [100000, 200000]), 25)
        self.assertEqual(plan.crowd_delay(1000000, []), 60)


if __name__ == "__main__":
    unittest.main()
