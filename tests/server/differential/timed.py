"""Writes random scripts in which delays, TTRs, pauses and timeouts end.

Each step has a time.  The writer chooses the times such that nothing ends close to
a step, and no two things end close to each other: then replies do not depend on
the speed of the machine.  player.py waits for each step's time, and rejects the
run if it comes too late."""
import copy

import script
import vocabulary

STEPS = 60       # of a script, which then takes about 12 s
MARGIN = 0.35    # seconds between steps and ends, and between ends
TRIES = 6        # commands tried at one time


class Short:
    """Times that end soon; a few do not."""

    def delay(self, rng):
        return rng.choice((0, 0, 1, 1, 2, 3, 1000))

    def release_delay(self, rng):
        """See vocabulary.Everyday for the long ones."""
        return rng.choice((0, 0, 1, 1, 2, 3, 1000 * rng.randrange(2, 10**6)))

    def ttr(self, rng):
        return rng.choice((0, 1, 2, 2, 3, 4, 5, 1000))

    def pause(self, rng):
        return rng.choice((0, 1, 1, 2, 1000))

    def timeout(self, rng):
        return rng.choice((None, 1, 1, 2, 3))


class Writer(script.Writer):
    def write(self, count):
        at = MARGIN
        while len(self.steps) < count:
            at = self.next_time(at + self.rng.uniform(0.3, 0.8))
            self.model.advance(at)
            self.end_quitters()
            for _ in range(TRIES):
                if self.rng.random() < 0.03:
                    self.attempt(self.add_end, at)
                else:
                    self.attempt(self.add_send, at)
        return script.Script(self.name, self.model.limit, self.steps)

    def next_time(self, at):
        """The first quiet time from `at` on."""
        while True:
            ahead = copy.deepcopy(self.model)
            ahead.advance(at)
            if ahead.is_quiet(MARGIN):
                return at
            at += 0.05

    def attempt(self, add, at):
        """Add steps, unless something would then end at an unquiet time."""
        before = copy.deepcopy(self.model)
        count = len(self.steps)
        add(at)
        if self.model.is_quiet(MARGIN):
            return
        del self.steps[count:]
        self.plan.clear()
        self.restore(before)

    def restore(self, before):
        self.model = self.words.model = before


def timed(seed, index, connections):
    name = f"{seed}.{index}.timed"
    return Writer(name, connections, Short()).write(STEPS)
