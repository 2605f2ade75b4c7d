"""Signals that end the tickwheel command.  A show restores the terminal, bench
and sim leave their files as they were, and all end by the signal.

usage: tool_signals_test.py TICKWHEEL
"""
import os
import pathlib
import pty
import resource
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest

ENTER = b"\033[?1049h\033[?25l\033[2J"
LEAVE = b"\033[0m\033[?25h\033[?1049l"

END = b"\0the command has ended\0"

SHOWS = (("demo", "--timers", "1000"),
         ("idle", "--connections", "100", "--seconds", "60"),
         ("purgatory", "--requests", "100", "--keys", "10", "--seconds", "60"))

# The command catches these, writes its summary, and exits with 128 + number.
ASKING = (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGTERM)

# The default action of these ends the process.
FATAL = (signal.SIGABRT, signal.SIGALRM, signal.SIGIO, signal.SIGPIPE,
         signal.SIGPROF, signal.SIGPWR, signal.SIGSYS, signal.SIGTRAP,
         signal.SIGUSR1, signal.SIGUSR2, signal.SIGVTALRM, signal.SIGXCPU,
         signal.SIGXFSZ, signal.SIGRTMIN, signal.SIGRTMAX)


def prepare(ignored):
    """Undo what the command would inherit from us: Python ignores SIGPIPE and
    SIGXFSZ.  No signal leaves a core file."""
    for number in ASKING + FATAL:
        signal.signal(number, signal.SIG_DFL)
    for number in ignored:
        signal.signal(number, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def mark_end(command, terminal):
    """Write END behind the last thing that the command has written."""
    command.wait()
    os.write(terminal, END)


def run_show(show, numbers, ignored=()):
    """Run a show on a terminal, and send it signals as soon as it has entered
    the screen: what it has written, and its status as of Popen.

    We hold the terminal open until END is read: a terminal that hangs up loses
    what was not read."""
    ours, theirs = pty.openpty()
    command = subprocess.Popen(
        (TOOL, *show), stdin=theirs, stdout=theirs, stderr=theirs,
        env={**os.environ, "TERM": "xterm", "LC_ALL": "C.UTF-8"},
        preexec_fn=lambda: prepare(ignored))
    waiter = threading.Thread(target=mark_end, args=(command, theirs))
    waiter.start()
    written, is_sent = b"", False
    while END not in written:
        written += os.read(ours, 65536)
        if ENTER in written and not is_sent:
            is_sent = True
            for number in numbers:
                command.send_signal(number)
    waiter.join()
    os.close(ours)
    os.close(theirs)
    return written[:-len(END)], command.returncode


class ASignalEndsTheShow(unittest.TestCase):
    def test_a_fatal_signal_restores_the_terminal_and_ends_the_command(self):
        for show in SHOWS:
            for number in FATAL:
                with self.subTest(command=show[0], signal=number):
                    written, status = run_show(show, (number,))
                    self.assertIn(ENTER, written)
                    self.assertEqual(written[-len(LEAVE):], LEAVE)
                    self.assertEqual(written.count(LEAVE), 1)
                    self.assertEqual(status, -number)

    def test_a_request_to_end_restores_the_terminal_before_the_summary(self):
        for show in SHOWS:
            for number in ASKING:
                with self.subTest(command=show[0], signal=number):
                    written, status = run_show(show, (number,))
                    drawn, left, summary = written.partition(LEAVE)
                    self.assertIn(ENTER, drawn)
                    self.assertEqual(left, LEAVE)
                    self.assertIn(b"pending" if show[0] == "demo" else
                                  b"program", summary)
                    self.assertNotIn(b"\033", summary)
                    self.assertEqual(status, 128 + number)

    def test_an_ignored_signal_stays_ignored(self):
        written, status = run_show(SHOWS[0], (signal.SIGUSR1, signal.SIGUSR2),
                                   ignored=(signal.SIGUSR1,))
        self.assertEqual(status, -signal.SIGUSR2)
        self.assertEqual(written[-len(LEAVE):], LEAVE)


def is_begun(path):
    """Returns whether a file that had "before" in it is being written."""
    return path.read_text() != "before" or len(os.listdir(path.parent)) > 1


class ASignalEndsAWriter(unittest.TestCase):
    def assert_former_file_stays(self, arguments, number, statuses):
        with tempfile.TemporaryDirectory() as directory:
            path = pathlib.Path(directory, "result")
            path.write_text("before")
            command = subprocess.Popen(
                (TOOL, *arguments, path), stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL, preexec_fn=lambda: prepare(()))
            while not is_begun(path) and command.poll() is None:
                time.sleep(0.001)
            command.send_signal(number)
            self.assertIn(command.wait(), statuses)
            self.assertEqual(path.read_text(), "before")
            self.assertEqual(list(path.parent.iterdir()), [path])

    def test_bench_leaves_the_former_file_and_nothing_beside_it(self):
        for number in ASKING + FATAL:
            with self.subTest(signal=number):
                self.assert_former_file_stays(
                    ("bench", "--n", "1000000", "--repeats", "64", "--json"),
                    number, (-number,))

    def test_sim_leaves_the_former_file_and_nothing_beside_it(self):
        """Ten million timers on six geometries take half a minute."""
        for number in (signal.SIGTERM, signal.SIGUSR1, signal.SIGALRM):
            with self.subTest(signal=number):
                self.assert_former_file_stays(
                    ("sim", "--quiet", "--timers", "10000000", "--engine",
                     "both", "--chart"), number, (-number, 128 + number))


if __name__ == "__main__":
    TOOL = sys.argv.pop(1)
    unittest.main()
