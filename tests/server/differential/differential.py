#!/usr/bin/env python3
"""Plays random scripts to two servers, and compares every reply.

usage: differential.py --ours PROGRAM --theirs PROGRAM [OPTION...]

Both programs take the options of beanstalkd: -l, -p and -z.  Each script starts
on fresh servers.  Replies have to be equal byte for byte, but for what masks.py
lists.  A script that finds a mismatch is made short and printed, and the exit
status is 1.

A script uses all commands of beanstalkd on several connections and tubes, with
bodies of many sizes, bad lines, many commands in one write, writes split within
a command, waiting reserves, commands behind them, and closed connections.  What
it leaves out:

- CRs without LF, and some lines that are too long: see badlines.py;
- reserve-with-timeout with 2^31 or more: beanstalkd 1.12 keeps 32 bits of it;
- commands behind `quit` in one write: see Player.play_send();
- which of several jobs a waiting connection gets when the connection that holds
  them ends: see model.py;
- with --timing, the end of a TTR while its connection is silent: beanstalkd 1.12
  may miss it, see Player.wait_until()."""
import argparse
import concurrent.futures
import json
import secrets
import signal
import sys

sys.dont_write_bytecode = True

# pylint: disable=wrong-import-position
import player  # noqa: E402
import report  # noqa: E402
import script  # noqa: E402
import servers  # noqa: E402
import shrink  # noqa: E402
import timed  # noqa: E402
import trial  # noqa: E402

COMMANDS = 200_000       # without --commands
COMMANDS_TIMED = 2_000
SHRINK_SECONDS = 120
SHRINK_PATIENCE = 2.0    # seconds to wait for a reply while shrinking
SHRINK_TRIES = 3         # to make the mismatch occur again
TOGETHER = 6             # timed scripts at the same time: they mostly wait


def arguments():
    parser = argparse.ArgumentParser(
        description="Plays random scripts to two servers, and compares every "
                    "reply.")
    parser.add_argument("--ours", required=True, metavar="PROGRAM")
    parser.add_argument("--theirs", required=True, metavar="PROGRAM")
    parser.add_argument("--commands", type=int, metavar="N",
                        help=f"stop after so many commands ({COMMANDS:,}, with "
                             f"--timing {COMMANDS_TIMED:,})")
    parser.add_argument("--seed", default=None, help="default: another each "
                                                     "time")
    parser.add_argument("--connections", type=int, default=5, metavar="K")
    parser.add_argument("--timing", action="store_true",
                        help="use delays, TTRs and pauses that end")
    parser.add_argument("--durable", action="store_true",
                        help="start ours with -b and a new directory")
    parser.add_argument("--script", type=int, metavar="I",
                        help="play only script number I of the seed")
    options = parser.parse_args()
    if options.connections < 3:
        parser.error("--connections has to be 3 or more")
    options.seed = options.seed or secrets.token_hex(4)
    if options.commands is None:
        options.commands = COMMANDS_TIMED if options.timing else COMMANDS
    return options


class Run:
    def __init__(self, options):
        self.options = options
        self.trial = trial.Trial(options.ours, options.theirs, options.timing,
                                 is_durable=options.durable)
        self.commands = 0
        self.scripts = 0
        self.unfit = 0
        self.mismatches = 0

    def write(self, index):
        write = timed.timed if self.options.timing else script.everyday
        return write(self.options.seed, index, self.options.connections)

    def play(self):
        """Play scripts until a mismatch, or until there were enough commands.
        Returns the exit status."""
        status = 0
        for index, written, (commands, failure) in self.results():
            self.commands += commands
            self.scripts += 1
            if failure:
                self.mismatches += 1
                self.explain(index, written, failure)
                status = 1
                break
        figures = {"commands": self.commands, "scripts": self.scripts,
                   "mismatches": self.mismatches, "seed": self.options.seed}
        if self.unfit:
            print(f"{self.unfit} scripts were left out: the machine is too "
                  "slow for their times")
            status = status or (0 if self.scripts else 1)
        print("figures:", json.dumps(figures), flush=True)
        return status

    def indexes(self):
        """The numbers of the scripts to play."""
        if self.options.script is not None:
            yield self.options.script
            return
        index = 0
        while self.commands < self.options.commands:
            yield index
            index += 1

    def results(self):
        """Yields the number, the script and the result of each script."""
        if not self.options.timing:
            for index in self.indexes():
                written = self.write(index)
                yield index, written, self.trial.run(written)
            return
        with concurrent.futures.ThreadPoolExecutor(TOGETHER) as pool:
            indexes, running = self.indexes(), {}
            while True:
                while len(running) < TOGETHER:
                    index = next(indexes, None)
                    if index is None:
                        break
                    written = self.write(index)
                    future = pool.submit(self.trial.run_until_fit, written)
                    running[future] = index, written
                if not running:
                    return
                done, _ = concurrent.futures.wait(
                    running, return_when=concurrent.futures.FIRST_COMPLETED)
                for future in done:
                    index, written = running.pop(future)
                    try:
                        yield index, written, future.result()
                    except player.Unfit:
                        self.unfit += 1

    def explain(self, index, written, failure):
        """Shrink the script, and print what is left of it."""
        steps = written.steps[:failure.mismatch.step + 1]
        print(f"mismatch in script {index} of seed {self.options.seed} after "
              f"{len(steps):,} steps; it is being made short", flush=True)
        again = trial.Trial(self.options.ours, self.options.theirs,
                            self.options.timing, SHRINK_PATIENCE,
                            self.options.durable)
        last = failure

        def fails(candidate):
            nonlocal last
            found = again.failure_of(written, candidate)
            last = found or last
            return found is not None

        if any(fails(steps) for _ in range(SHRINK_TRIES)):
            steps = shrink.shrink(steps, fails, SHRINK_SECONDS)
            print(f"{len(steps):,} steps are left, servers have the options "
                  f"{' '.join(written.options())}:")
        else:
            print(f"it did not occur again in {SHRINK_TRIES} runs; the first "
                  "run:")
        for line in report.mismatch(last, self.replay(index)):
            print("  " + line)

    def replay(self, index):
        options = self.options
        words = [sys.argv[0], "--ours", options.ours, "--theirs",
                 options.theirs, "--seed", options.seed, "--connections",
                 str(options.connections), "--script", str(index)]
        words += ["--timing"] if options.timing else []
        return words + (["--durable"] if options.durable else [])


def end(number, _frame):
    servers.kill_all()
    sys.exit(128 + number)


def main():
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        signal.signal(number, end)
    try:
        sys.exit(Run(arguments()).play())
    except servers.Broken as broken:
        sys.exit(f"differential.py: {broken}")


if __name__ == "__main__":
    main()
