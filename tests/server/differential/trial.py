"""One run of a script on fresh servers."""
import dataclasses
import shutil
import tempfile

import player
import servers

ATTEMPTS = 6       # at a script whose times the machine does not keep
PAUSE_MAX = 6.0    # seconds after which nothing short still runs
START = 0.5        # when the first step of a timed script is played


@dataclasses.dataclass
class Failure:
    mismatch: player.Mismatch
    log: list
    states: tuple      # what has become of the servers


@dataclasses.dataclass
class Trial:
    """Runs scripts on pairs of servers."""
    ours: str
    theirs: str
    is_timed: bool = False
    patience: float = 10.0  # seconds to wait for a reply
    is_durable: bool = False  # ours keeps its jobs in a directory

    def run(self, script, steps=None):
        """Returns the number of commands and the Failure, if there is one.
        Raises player.Unfit if the machine is too slow."""
        steps = script.steps if steps is None else steps
        both = []
        directory = tempfile.mkdtemp() if self.is_durable else None
        try:
            for binary in (self.ours, self.theirs):
                options = script.options()
                if directory and binary == self.ours:
                    options = [*options, "-b", directory]
                both.append(servers.Server(binary, options))
            play = player.Player(*both, script.limit, self.patience,
                                 self.is_timed, self.is_durable)
            try:
                play.play(steps)
            except player.Mismatch as mismatch:
                states = tuple(server.state() for server in both)
                return play.commands, Failure(mismatch, play.log, states)
            return play.commands, None
        finally:
            for server in both:
                server.stop()
            if directory:
                shutil.rmtree(directory)

    def run_until_fit(self, script, steps=None):
        """Like run(), but runs a timed script again if it was unfit.  After
        ATTEMPTS, raises player.Unfit."""
        for _ in range(ATTEMPTS - 1):
            try:
                return self.run(script, steps)
            except player.Unfit:
                pass
        return self.run(script, steps)

    def failure_of(self, script, steps):
        """The Failure of `steps`, or None.  Steps whose replies would depend on
        timing do not fail."""
        try:
            if self.is_timed:
                steps = without_long_pauses(steps)
                return self.run_until_fit(script, steps)[1]
            return self.run(script, steps)[1]
        except player.Unfit:
            return None


def without_long_pauses(steps):
    """The steps of a timed script, with shorter pauses where many steps were
    removed."""
    shift, before, moved = None, 0.0, []
    for step in steps:
        if shift is None:
            shift = step.at - START
        elif step.at - before > PAUSE_MAX:
            shift += step.at - before - PAUSE_MAX
        before = step.at
        moved.append(dataclasses.replace(step, at=step.at - shift))
    return moved
