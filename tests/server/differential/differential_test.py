"""differential.py: the masks, the shrinker, the model, and that the whole finds
an altered reply and nothing else."""
import dataclasses
import json
import pathlib
import random
import re
import shutil
import subprocess
import sys
import unittest

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import badlines  # noqa: E402
import masks  # noqa: E402
import model  # noqa: E402
import script  # noqa: E402
import shrink  # noqa: E402
import timed  # noqa: E402
import trial  # noqa: E402
import wire  # noqa: E402
from command import Command, Step  # noqa: E402


def ok(*lines):
    """A reply with statistics or a list."""
    text = "".join(f"{line}\n" for line in ("---", *lines)).encode()
    return b"OK %d\r\n%b\r\n" % (len(text), text)


class Masks(unittest.TestCase):
    def same(self, name, one, other, **options):
        self.assertEqual(masks.masked(name, one, **options),
                         masks.masked(name, other, **options))

    def different(self, name, one, other, **options):
        self.assertNotEqual(masks.masked(name, one, **options),
                            masks.masked(name, other, **options))

    def test_the_order_of_tubes_is_masked_but_not_the_tubes(self):
        for name in ("list-tubes", "list-tubes-watched"):
            self.same(name, ok("- a", "- b"), ok("- b", "- a"))
            self.different(name, ok("- a", "- b"), ok("- a", "- c"))
            self.different(name, ok("- a"), ok("- a", "- a"))

    def test_the_byte_count_of_a_list_is_not_masked(self):
        self.different("list-tubes", b"OK 8\r\n---\n- a\n\r\n",
                       b"OK 9\r\n---\n- a\n\r\n")

    def test_quotes_are_masked_with_the_byte_count_they_change(self):
        self.same("stats-tube", ok('name: "a"', "pause: 0"),
                  ok("name: a", "pause: 0"))
        self.different("stats-tube", ok('name: "a"'), ok("name: b"))
        self.different("stats-tube", ok('name: "a'), ok("name: a"))

    def test_only_stats_may_have_keys_of_its_own_and_only_at_its_end(self):
        self.same("stats", ok("platform: x", "window: 1"), ok("platform: x"))
        self.different("stats", ok("window: 1", "platform: x"),
                       ok("platform: x"))
        self.different("stats-tube", ok("name: a", "window: 1"), ok("name: a"))

    def test_what_describes_the_process_is_masked_in_stats_only(self):
        self.same("stats", ok("pid: 1", "id: a", "uptime: 3"),
                  ok("pid: 2", "id: b", "uptime: 4"))
        self.different("stats-job", ok("id: 1"), ok("id: 2"))

    def test_other_values_are_not_masked(self):
        self.different("stats", ok("cmd-put: 1"), ok("cmd-put: 2"))
        self.different("stats-job", ok("delay: 1"), ok("delay: 2"))
        self.different("stats-job", ok("state: ready"), ok("state: buried"))

    def test_the_order_of_keys_is_not_masked(self):
        self.different("stats", ok("a: 1", "b: 2"), ok("b: 2", "a: 1"))

    def test_times_are_rounded_to_thousands_of_seconds(self):
        self.same("stats-job", ok("age: 0", "time-left: 1000"),
                  ok("age: 3", "time-left: 998"))
        self.different("stats-job", ok("time-left: 0"), ok("time-left: 1000"))
        self.different("stats-job", ok("time-left: 2000"),
                       ok("time-left: 1000"))
        self.different("stats-job", ok("time-left: -1"), ok("time-left: 0"))

    def test_time_left_is_masked_in_timed_scripts(self):
        self.same("stats-tube", ok("pause-time-left: 0"),
                  ok("pause-time-left: 1"), is_timed=True)

    def test_replies_of_other_forms_stay_as_they_are(self):
        for reply in (b"NOT_FOUND\r\n", b"RESERVED 1 3\r\nabc\r\n", b"",
                      b"OK 3\r\nabc\r\n", None):
            self.assertEqual(masks.masked("stats", reply), reply)


class Replies(unittest.TestCase):
    STREAM = [b"INSERTED 1\r\n", b"RESERVED 1 4\r\na\r\nb\r\n",
              b"OK 0\r\n\r\n", b"FOUND 18446744073709551615 0\r\n\r\n",
              b"USING OK\r\n"]

    def test_replies_are_found_wherever_the_stream_is_split(self):
        stream = b"".join(self.STREAM)
        for at in range(len(stream)):
            replies, found = wire.Replies(), []
            for piece in (stream[:at], stream[at:]):
                replies.feed(piece)
                while (reply := replies.next()) is not None:
                    found.append(reply)
            self.assertEqual(found, self.STREAM)
            self.assertEqual(replies.left(), b"")

    def test_a_wrong_byte_count_shows_in_the_reply(self):
        replies = wire.Replies()
        replies.feed(b"RESERVED 1 3\r\nabcd\r\n")
        self.assertEqual(replies.next(), b"RESERVED 1 3\r\nabcd\r")


def steps_of(*numbers):
    return [Step("send", 0, Command("other", b"%d" % number))
            for number in numbers]


def numbers_of(steps):
    return [int(step.command.line) for step in steps]


class Shrinker(unittest.TestCase):
    def test_only_the_steps_that_are_needed_are_left(self):
        def fails(steps):
            return {17, 400, 999} <= set(numbers_of(steps))
        found = shrink.shrink(steps_of(*range(1000)), fails, 60)
        self.assertEqual(numbers_of(found), [17, 400, 999])

    def test_steps_that_are_needed_together_go_together_or_stay(self):
        def fails(steps):
            numbers = numbers_of(steps)
            return 50 in numbers and (3 in numbers) == (4 in numbers)
        found = shrink.shrink(steps_of(*range(64)), fails, 60)
        self.assertEqual(numbers_of(found), [50])

    def test_without_time_the_script_stays_as_it_is(self):
        steps = steps_of(1, 2, 3)
        self.assertEqual(shrink.shrink(steps, lambda _: True, 0), steps)

    def test_steps_become_simpler_if_the_script_still_fails(self):
        put = Command("put", b"put 0 0 1000 5", label=1, body=b"abcde")
        steps = [Step("send", 0, put, is_joined=True, cut=3)]
        found, = shrink.shrink(steps, lambda _: True, 60)
        self.assertEqual(found.command.line, b"put 0 0 1000 1")
        self.assertEqual((found.command.body, found.cut, found.is_joined),
                         (b"x", 0, False))

    def test_pauses_without_steps_become_short(self):
        steps = [Step("send", at=at) for at in (100.0, 101.0, 190.0, 191.0)]
        times = [step.at for step in trial.without_long_pauses(steps)]
        gaps = [b - a for a, b in zip(times, times[1:])]
        self.assertEqual(times[0], trial.START)
        self.assertEqual(gaps, [1.0, trial.PAUSE_MAX, 1.0])


class Model(unittest.TestCase):
    RESERVE = Command("reserve", b"reserve")
    PUT = Command("put", b"put 0 0 1000 0", label=1, ttr=1000)
    LIST = Command("other", b"list-tubes")

    def setUp(self):
        self.model = model.Model(100)
        for number in range(4):
            self.model.open(number)

    def owed(self, number):
        return list(self.model.connections[number].owed)

    def test_a_reserve_without_a_job_waits_for_a_put(self):
        self.model.send(0, self.RESERVE)
        self.assertEqual(self.owed(0), [])
        self.model.send(1, self.PUT)
        self.assertEqual(self.owed(0), [self.RESERVE])
        self.assertEqual(self.owed(1), [self.PUT])
        self.assertFalse(self.model.ends_write)

    def test_commands_behind_a_waiting_reserve_wait_with_it(self):
        self.model.send(0, self.RESERVE)
        self.model.send(0, self.LIST)
        self.assertEqual(self.owed(0), [])
        self.model.send(1, self.PUT)
        self.assertEqual(self.owed(0), [self.RESERVE, self.LIST])
        self.assertTrue(self.model.ends_write)

    def test_a_second_reserve_that_would_wait_on_a_tube_is_refused(self):
        self.model.send(0, self.RESERVE)
        self.assertTrue(self.model.refuses(1, self.RESERVE))
        for command in (Command("watch", b"watch a", tube=b"a"),
                        Command("ignore", b"", tube=b"default")):
            self.model.send(1, command)
        self.assertFalse(self.model.refuses(1, self.RESERVE))

    def test_closing_a_connection_returns_its_jobs(self):
        self.model.send(0, self.PUT)
        self.model.send(0, self.RESERVE)
        self.model.send(1, self.RESERVE)
        self.model.close(0)
        self.assertEqual(self.owed(1), [self.RESERVE])

    def test_an_incomplete_put_takes_an_id(self):
        whole = dataclasses.replace(self.PUT, body=b"abc")
        line = len(self.PUT.line) + 2
        self.model.close(0, whole, line - 1)
        self.assertEqual(self.model.next_id, 1)
        self.model.close(1, whole, line + 1)
        self.assertEqual(self.model.next_id, 2)

    def test_a_pause_ends_with_its_tube(self):
        self.model.send(0, Command("use", b"use a", tube=b"a"))
        self.model.send(1, Command("pause-tube", b"", tube=b"a", delay=1000))
        self.assertEqual(list(self.model.paused), [b"a"])
        self.model.send(0, Command("use", b"use b", tube=b"b"))
        self.assertEqual(list(self.model.paused), [])

    def test_a_ttr_ends_and_wakes_another_connection(self):
        short = dataclasses.replace(self.PUT, ttr=2)
        for number, command in ((0, short), (0, self.RESERVE),
                                (1, self.RESERVE)):
            self.model.send(number, command)
        self.model.advance(1.9)
        self.assertEqual(self.owed(1), [])
        self.model.advance(2.1)
        self.assertEqual(self.owed(1), [self.RESERVE])
        self.assertFalse(self.model.is_quiet(0.2))
        self.model.advance(2.5)
        self.assertTrue(self.model.is_quiet(0.2))


class Scripts(unittest.TestCase):
    def test_a_seed_names_a_script(self):
        for write in (script.everyday, timed.timed):
            one, other, third = (write(seed, 3, 5) for seed in "aab")
            self.assertEqual(one.steps, other.steps)
            self.assertNotEqual(one.steps, third.steps)

    def test_bad_lines_avoid_the_faults_of_beanstalkd(self):
        self.assertIn(b"put", badlines.NEAR_MISSES)
        self.assertIn(b"stats\n", badlines.NEAR_MISSES)
        dice = random.Random(1)
        for _ in range(5000):
            line = badlines.bad_line(dice)
            self.assertNotIn(b"\r", line)
            if len(line) + 2 > badlines.LINE_MAX:
                self.assertNotEqual((len(line) + 1) % badlines.LINE_MAX, 0)


@unittest.skipUnless(shutil.which("beanstalkd"), "beanstalkd is not installed")
class Whole(unittest.TestCase):
    def run_it(self, ours, *options):
        return subprocess.run(
            [sys.executable, str(HERE / "differential.py"), "--ours", ours,
             "--theirs", "beanstalkd", "--seed", "test", *options],
            text=True, capture_output=True, timeout=300, check=False)

    def test_beanstalkd_does_not_differ_from_itself(self):
        done = self.run_it("beanstalkd", "--commands", "5000")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        last = done.stdout.splitlines()[-1]
        figures = json.loads(last.removeprefix("figures: "))
        self.assertGreaterEqual(figures["commands"], 5000)
        self.assertEqual(figures["mismatches"], 0)

    def test_an_altered_reply_is_found_and_the_script_made_short(self):
        done = self.run_it(str(HERE / "altering_proxy.py"), "--commands",
                           "100000")
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        left = re.search(r"^(\d+) steps are left", done.stdout, re.M)
        self.assertLessEqual(int(left[1]), 6, done.stdout)
        self.assertIn("play it again: ", done.stdout)

    def test_a_server_that_does_not_start_is_an_error(self):
        done = self.run_it("false")
        self.assertEqual(done.returncode, 1)
        self.assertIn("exits with 1 at its start", done.stderr)


if __name__ == "__main__":
    unittest.main()
