"""Writes random scripts.  A seed and a number name a script."""
import bisect
import collections
import itertools
import random

import model
import vocabulary
from command import Command, Step

STEPS = 2000    # of an everyday script
LIMITS = (65535, 65535, 65535, 100, 5000, 200_000)  # of bodies

JOINED = 0.9    # chance that the next command is of the same connection
CUT = 0.02      # chance that a write is split within a command
ENDS = 0.006    # chance that a connection is closed
WAITS = 0.03    # chance that a connection starts to wait on a quiet tube
WAKES = 0.15    # chance, while one waits, that another wakes it

QUIET_TUBES = (b"quiet", b"calm", b"still")  # that jobs rarely get into


class Script:
    """Steps, and the options that the servers need for them."""

    def __init__(self, name, limit, steps):
        self.name = name
        self.limit = limit
        self.steps = steps

    def options(self):
        return ["-z", str(self.limit)]


class Writer:
    """Writes one script.  It keeps a model up to date, as player.py will."""

    def __init__(self, name, connections, times):
        self.rng = random.Random(name)
        self.name = name
        self.connections = connections
        self.model = model.Model(self.rng.choice(LIMITS))
        self.words = vocabulary.Vocabulary(self.rng, self.model, times)
        self.steps = []
        self.current = 0  # the connection that sends
        self.plan = collections.deque()  # (connection, command) to come

    def write(self, count):
        drain_at = (self.rng.randrange(count * 8 // 10, count)
                    if self.rng.random() < 0.15 else None)
        while len(self.steps) < count:
            if len(self.steps) == drain_at:
                self.steps.append(Step("drain"))
                self.model.is_draining = True
            elif self.rng.random() < ENDS:
                self.add_end()
            else:
                self.add_send()
        return Script(self.name, self.model.limit, self.steps)

    def connection(self):
        """The model of the current connection, which is opened if needed."""
        if self.current not in self.model.connections:
            self.model.open(self.current)
        return self.model.connections[self.current]

    def plan_wait(self):
        """A connection leaves its tubes, and reserves on one of its own."""
        number = self.rng.randrange(self.connections)
        c = self.model.connections.get(number)
        if c is None or c.waiting:
            return
        tube = self.rng.choice(QUIET_TUBES)
        self.plan.append((number, Command("watch", b"watch " + tube,
                                          tube=tube)))
        for other in c.watched:
            self.plan.append((number, Command("ignore", b"ignore " + other,
                                              tube=other)))
        self.plan.append((number, self.words.reserve(c)))

    def plan_wake(self):
        """One connection gives jobs to a tube that another waits for."""
        rng = self.rng
        waiting = [c for c in self.model.connections.values() if c.waiting]
        number = rng.randrange(self.connections)
        c = self.model.connections.get(number)
        if not waiting or c is None or c.waiting:
            return
        tube = rng.choice(rng.choice(waiting).watched)
        words = self.words
        self.plan.append((number, Command("use", b"use " + tube, tube=tube)))
        for _ in range(rng.randrange(1, 5)):
            make = rng.choice((words.put, words.put, words.kick,
                               words.kick_job, words.release, words.bury,
                               words.pause, words.reserve_job, words.poll))
            self.plan.append((number, make(c)))

    def choose(self):
        """One of the methods of the vocabulary, by weight."""
        weights = self.words.weights()
        sums = list(itertools.accumulate(weights.values()))
        at = bisect.bisect(sums, self.rng.random() * sums[-1])
        return list(weights)[at]

    def next_command(self):
        """The command that the plan or else chance says, or None.  Sets the
        current connection, and returns whether it has changed, too."""
        rng = self.rng
        if not self.plan and rng.random() < WAITS:
            self.plan_wait()
        elif not self.plan and rng.random() < WAKES:
            self.plan_wake()
        before = self.current
        if self.plan:
            self.current, command = self.plan.popleft()
            return command, self.current != before
        if rng.random() > JOINED:
            self.current = rng.randrange(self.connections)
        c = self.connection()
        if c.waiting and rng.random() < 0.8:
            return None, False  # mostly leave waiting connections alone
        return self.choose()(c), self.current != before

    def add_send(self, at=0.0):
        command, is_other = self.next_command()
        if command is None:
            return
        self.connection()
        if self.model.refuses(self.current, command):
            return
        cut = 0
        if self.rng.random() < CUT:
            cut = self.rng.randrange(1, len(command.encode(10)))
        self.steps.append(Step("send", self.current, command, not is_other,
                               cut, at))
        self.model.send(self.current, command)
        self.end_quitters()

    def add_end(self, at=0.0):
        """Close a connection, completely or by halves."""
        rng = self.rng
        self.current = rng.randrange(self.connections)
        c = self.connection()
        if c.queue or self.model.chooses(c):
            return
        if rng.random() < 0.3:
            self.steps.append(Step("shutdown", self.current, at=at))
            self.model.shut_down(self.current)
            self.end_quitters()
            return
        command, cut = None, 0
        if not c.waiting and rng.random() < 0.5:
            command = self.choose()(c)
            cut = rng.randrange(1, len(command.encode(10)))
            if len(command.body) > self.model.limit:
                # beanstalkd counts such a put when its line has come,
                # tickwheeld when its body has.
                command, cut = None, 0
        self.steps.append(Step("close", self.current, command, cut=cut, at=at))
        self.model.close(self.current, command, cut)

    def end_quitters(self):
        """Forget the connections that the server closes now."""
        for c in list(self.model.connections.values()):
            c.owed.clear()
            if c.has_quit or c.is_half_closed:
                self.model.close(c.number)


def everyday(seed, index, connections):
    name = f"{seed}.{index}"
    return Writer(name, connections, vocabulary.Everyday()).write(STEPS)
