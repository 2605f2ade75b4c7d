"""Plays a script to both servers, and compares their replies.

Only one connection sends at a time, and the next one sends after all replies that
the model predicts have come.  So the order in which a server serves its
connections does not matter.

Some changes have no reply: a reserve begins to wait, a connection is open or
closed, a server drains.  settle() asks `stats` until both servers report the
change.  It asks both equally often, because `stats` counts itself."""
import functools
import time

import masks
import model
import wire

NUDGE = b"nudge\r\n"  # UNKNOWN_COMMAND, and no counter of a server changes
LATE_MAX = 0.08       # with --timing: seconds that a step may be late
QUIET = 0.2           # with --timing: seconds between a step and any end
AFTER_END = 0.1       # with --timing: see wait_until()
LIMIT_DEFAULT = 65535


class Mismatch(Exception):
    """The replies differ, or one is missing.  `step` is the number of the step
    that was played last."""

    def __init__(self, step, connection, name, ours, theirs):
        super().__init__(f"step {step}")
        self.step = step
        self.connection = connection
        self.name = name  # of the command, see masks.py
        self.ours = ours
        self.theirs = theirs


class Unfit(Exception):
    """The script cannot be played now: the machine is too slow for its times, or
    its replies would depend on timing."""


class Player:
    def __init__(self, ours, theirs, limit, patience=10, is_timed=False,
                 is_durable=False):
        self.sides = (ours, theirs)
        self.model = model.Model(limit)
        self.patience = patience
        self.is_timed = is_timed
        self.mask = functools.partial(masks.masked, is_timed=is_timed,
                                      is_durable=is_durable)
        self.commands = 0
        self.seen = None   # what settle() waited for last
        self.step = 0
        self.log = []      # (connection, "sends" or "gets" or else, what)
        self.start = time.monotonic()

    def play(self, steps):
        """Play all steps.  Raises Mismatch or Unfit."""
        acts = {"send": self.play_send, "close": self.play_close,
                "shutdown": self.play_shutdown, "drain": self.play_drain}
        self.settle()
        at = 0
        while at < len(steps):
            self.step = at
            if self.is_timed:
                self.wait_until(steps[at].at)
            at = acts[steps[at].act](steps, at)
            self.step = at - 1
            if self.is_timed:
                self.check_quiet()
            self.collect()
            self.settle()
        self.check_silence()

    # Steps.

    def open(self, number):
        if number not in self.model.connections:
            self.model.open(number)
            refused = [not side.open(number) for side in self.sides]
            if any(refused):
                self.fail(number, *("accepts no connection" if is_refused
                                    else "accepts" for is_refused in refused))

    def play_send(self, steps, at):
        """Send a command and those that are joined to it, in one write.  Returns
        the number of the next step.

        Where the model sets `ends_write`, the order of what follows would depend
        on timing.  `quit` ends a write, too: bytes that a server has not read
        when it closes reset the connection, and replies get lost."""
        number = steps[at].connection
        self.open(number)
        c = self.model.connections[number]
        pieces = [bytearray()]
        first = at
        while at < len(steps):
            step = steps[at]
            if at > first and not (step.is_joined and step.act == "send"
                                   and step.connection == number
                                   and step.at == steps[first].at
                                   and not self.model.ends_write
                                   and not c.has_quit):
                break
            if not self.model.refuses(number, step.command):
                self.add(step, number, pieces)
            at += 1
        self.send(number, pieces)
        return at

    def add(self, step, number, pieces):
        data = step.command.encode(self.model.id_of(step.command))
        self.log.append((number, "sends", data))
        self.model.send(number, step.command)
        self.commands += 1
        if 0 < step.cut < len(data):
            pieces[-1] += data[:step.cut]
            pieces.append(bytearray(data[step.cut:]))
        else:
            pieces[-1] += data

    def send(self, number, pieces):
        for index, piece in enumerate(pieces):
            if index > 0:
                self.nudge([side.control for side in self.sides])
            self.transmit([side.links[number] for side in self.sides],
                          piece, number)

    def transmit(self, links, data, number):
        stuck = wire.send(links, data, self.patience)
        if stuck:
            self.fail(number, *(f"reads nothing for {self.patience} s"
                                if link in stuck else "reads"
                                for link in links))

    def nudge(self, links):
        """Let both servers read what was sent before: they answer this later."""
        self.transmit(links, NUDGE, None)
        replies = [link.next_reply(self.patience) for link in links]
        if replies[0] != replies[1]:
            self.fail(None, *replies)

    def play_close(self, steps, at):
        step = steps[at]
        self.open(step.connection)
        c = self.model.connections[step.connection]
        if c.queue or self.model.chooses(c):
            return at + 1  # a server may run the queue, or not
        command, cut = step.command, step.cut
        if command and not c.waiting:
            data = command.encode(self.model.id_of(command))
            data = data[:min(cut, len(data) - 1)]  # never all of it
            self.log.append((step.connection, "sends", data))
            self.send(step.connection, [data])
        self.log.append((step.connection, "closes", b""))
        self.forget(step.connection, command, cut)
        return at + 1

    def forget(self, number, command=None, cut=0):
        for side in self.sides:
            side.links.pop(number).close()
        self.model.close(number, command, cut)

    def play_shutdown(self, steps, at):
        number = steps[at].connection
        self.open(number)
        if self.model.chooses(self.model.connections[number]):
            return at + 1
        self.settle()  # or a server could accept it after it is closed
        self.log.append((number, "closes its sending half", b""))
        for side in self.sides:
            side.links[number].shut_down()
        self.model.shut_down(number)
        return at + 1

    def play_drain(self, _steps, at):
        self.log.append((None, "SIGUSR1", b""))
        for side in self.sides:
            side.drain()
        self.model.is_draining = True
        return at + 1

    # Replies.

    def collect(self):
        """Read and compare all replies that the model predicts."""
        while True:
            ready = [c for c in self.model.connections.values() if c.owed]
            for c in ready:
                while c.owed:
                    self.compare(c.number, c.owed.popleft())
            ended = [c for c in self.model.connections.values()
                     if c.has_quit or c.is_half_closed]
            for c in ended:
                self.expect_end(c.number)
                self.forget(c.number)
            if not ended:
                return

    def compare(self, number, command):
        ours, theirs = (side.links[number].next_reply(self.patience)
                        for side in self.sides)
        if ours != theirs or not ours:
            name = command.name or command.verb
            if not (ours and theirs) or (
                    self.mask(name, ours)
                    != self.mask(name, theirs)):
                self.fail(number, ours, theirs, name)
        self.log.append((number, "gets", theirs))

    def expect_end(self, number):
        are_closed = [side.links[number].is_at_end(self.patience)
                      for side in self.sides]
        if not all(are_closed):
            self.fail(number, *("closes the connection" if is_closed else
                                self.left(side.links[number])
                                for side, is_closed
                                in zip(self.sides, are_closed)))
        self.log.append((number, "is closed by the server", b""))

    def left(self, link):
        rest = link.replies.left()
        return (b"more than was expected: " + rest if rest
                else "does not close the connection")

    def settle(self):
        """Wait until both servers report the connections of the model."""
        waiting = sum(1 for c in self.model.connections.values() if c.waiting)
        wanted = (waiting, len(self.model.connections) + 1,
                  self.model.connections_ever + 1, self.model.is_draining)
        if wanted == self.seen:
            return
        self.seen = wanted
        keys = (b"\ncurrent-waiting: %d\n" % waiting,
                b"\ncurrent-connections: %d\n" % wanted[1],
                b"\ntotal-connections: %d\n" % wanted[2],
                b"\ndraining: %b\n" % (b"true" if wanted[3] else b"false"))
        limit = time.monotonic() + self.patience
        polls, last = [0, 0], [None, None]
        while True:
            behind = [i for i in (0, 1) if polls[i] < max(*polls, 1)
                      or not self.reports(last[i], keys)]
            if not behind:
                break
            for i in behind:
                last[i] = self.poll(self.sides[i])
                polls[i] += 1
            if time.monotonic() > limit or not all(last):
                self.fail(None, *last, "stats")
        if (self.mask("stats", last[0])
                != self.mask("stats", last[1])):
            self.fail(None, *last, "stats")

    def poll(self, side):
        wire.send([side.control], b"stats\r\n", self.patience)
        return side.control.next_reply(self.patience)

    def reports(self, reply, keys):
        return reply and all(key in reply for key in keys)

    def check_silence(self):
        """No connection has sent more than the model predicts."""
        for number in self.model.connections:
            links = [side.links[number] for side in self.sides]
            for link in links:
                link.receive(0)
            if any(link.replies.left() or link.is_closed for link in links):
                self.fail(number, *(self.left(link) for link in links))

    def fail(self, number, ours, theirs, name=""):
        raise Mismatch(self.step, number, name, ours, theirs)

    # Time.

    def wait_until(self, at):
        """Wait until a step's time, and read what has come before.

        beanstalkd 1.12 misses the end of a TTR if it reads the clock in that
        very microsecond, which happens to half of them: it waits in a loop.
        Then the job stays reserved until its connection sends anything, so that
        connection sends something at that time."""
        while True:
            end, happen, what = self.model.next_event()
            if end >= at:
                break
            if happen == self.model.end_ttr:
                self.sleep_until(end + AFTER_END)
                number = what.holder.number
                self.nudge([side.links[number] for side in self.sides])
            self.reach(end + AFTER_END)
        self.reach(at)
        self.check_quiet()

    def reach(self, now):
        """Read what has come until `now`."""
        self.sleep_until(now)
        self.model.advance(now)
        self.collect()
        self.settle()

    def sleep_until(self, at):
        left = self.start + at - time.monotonic()
        if left > 0:
            time.sleep(left)
        elif -left > LATE_MAX:
            raise Unfit(f"step {self.step} is late by {-left:.3f} s")

    def check_quiet(self):
        if not self.model.is_quiet(QUIET):
            raise Unfit(f"step {self.step} is too close to another event")
